//! Control, bidirectional and invisible characters: the one list for all texts that are shown, named or compared.
//!
//! Invariant: a text without a character that [`is_control_or_bidi`] accepts moves no cursor, hides nothing and reads
//! in its stored order.

use std::borrow::Cow;

/// Returns true if a character could control a terminal, reorder the text around it, break a line invisibly, or is
/// invisible.
///
/// False for `\n`, `\t` and the two selectors of an emoji's presentation.
pub fn is_control_or_bidi(character: char) -> bool {
    match character {
        '\n' | '\t' | '\u{fe0e}' | '\u{fe0f}' => false,
        '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}' => true,
        other => other.is_control() || is_ignorable(other),
    }
}

/// Returns a name for use within a line. It is quoted and escaped if a character breaks the line, is invisible or is
/// misleading.
pub fn escape_name(name: &str) -> Cow<'_, str> {
    let pretends =
        name.chars().any(|character| is_control_or_bidi(character) || matches!(character, '\n' | '\t'));
    if pretends { Cow::Owned(format!("{name:?}")) } else { Cow::Borrowed(name) }
}

/// Returns true if a character has Unicode's Default_Ignorable_Code_Point: it is invisible, and some file systems
/// drop it.
///
/// The marks that change the direction of text are included.
pub fn is_ignorable(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_pretends_is_quoted() {
        for plain in ["a.py", "a b.py", "\u{e9}.py", "\"a\""] {
            assert_eq!(escape_name(plain), plain);
        }
        assert_eq!(escape_name("x (version 0)\n1: y"), "\"x (version 0)\\n1: y\"");
        assert!(
            !escape_name("\u{1b}[2J\u{202e}a\t")
                .chars()
                .any(|shown| is_control_or_bidi(shown) || shown == '\t')
        );
    }

    #[test]
    fn every_way_to_deceive_a_reader_is_known() {
        for (what, characters) in [
            ("controls", "\0\u{7}\u{8}\u{b}\r\u{1b}\u{7f}\u{85}\u{9b}"),
            (
                "direction",
                "\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}",
            ),
            ("no width", "\u{ad}\u{200b}\u{200c}\u{200d}\u{2060}\u{feff}\u{3164}\u{e0041}\u{e0101}"),
            ("lines and notes", "\u{2028}\u{2029}\u{fff9}\u{fffa}\u{fffb}"),
        ] {
            for character in characters.chars() {
                assert!(is_control_or_bidi(character), "{what}: {character:?}");
            }
        }
    }

    #[test]
    fn what_people_write_is_left_alone() {
        for text in
            ["a\tb\n", "naïve «text» — ok", "файл", "ملف", "日本語", "⚠\u{fe0f} ☺\u{fe0e}", "\u{fffd}"]
        {
            assert!(!text.chars().any(is_control_or_bidi), "{text:?}");
        }
    }
}
