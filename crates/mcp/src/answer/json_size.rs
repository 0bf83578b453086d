//! How many bytes a value or a text takes as JSON.

/// Returns a prefix of the text that needs at most `bytes` bytes as JSON, marked with `...` if it was cut.
pub(super) fn clip(text: &str, bytes: usize) -> String {
    const MARK: &str = "...";
    let mut used = 0;
    let mut fitting = 0;
    for character in text.chars() {
        used += char_cost(character);
        if used > bytes {
            let start: String = text.chars().take(fitting).collect();
            return start + MARK;
        }
        fitting += usize::from(used + MARK.len() <= bytes);
    }
    text.to_owned()
}

/// Returns the bytes of a text as a JSON string.
pub(super) fn escaped(text: &str) -> usize {
    2 + text.chars().map(char_cost).sum::<usize>()
}

fn char_cost(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        _ => character.len_utf8(),
    }
}
