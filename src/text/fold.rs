//! Names as file systems compare them.

use unicode_normalization::UnicodeNormalization;

use super::steering::is_ignorable;

/// Gives one form for all spellings that some file system takes for the same name: without regard to case, to composed and
/// compatible characters, and to those that are not seen.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.chars().filter(|c| !c.is_control()).map(|c| c.to_ascii_lowercase()).collect();
    }
    let visible = |c: &char| !is_ignorable(*c) && !c.is_control();
    // Upper before lower case, so that letters with no small form of their own (dotless i, long s) meet the others.
    let cased = text.nfkc().filter(visible).flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    cased.nfkc().filter(visible).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_name_meet() {
        for (one, other) in [
            ("Makefile", "MAKEFILE"),
            ("caf\u{e9}", "cafe\u{301}"),
            ("straße", "STRASSE"),
            ("\u{17f}ecret", "Secret"),
            ("a\u{200d}b", "ab"),
            ("\u{ff41}.py", "a.py"),
            ("D\u{131}r", "DIR"),
        ] {
            assert_eq!(fold(one), fold(other), "{one} {other}");
        }
        assert_ne!(fold("a.py"), fold("b.py"));
    }
}
