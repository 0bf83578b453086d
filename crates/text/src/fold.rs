//! Folding of names, as file systems compare them.

use unicode_normalization::UnicodeNormalization;

use super::control_chars::is_ignorable;

/// Returns one form for all spellings that some file system treats as the same name. Ignores case, the difference
/// between composed and compatibility characters, and invisible characters.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.chars().filter(|c| !c.is_control()).map(|c| c.to_ascii_lowercase()).collect();
    }
    let visible = |c: &char| !is_ignorable(*c) && !c.is_control();
    // Upper case in between, so that letters without a lower case form of their own (dotless i, long s) fold to the same
    // letter, and lower case before it for those without an upper case form, such as the capital sharp s.
    let lower = text.nfkc().filter(visible).flat_map(char::to_lowercase);
    let cased = lower.flat_map(char::to_uppercase).flat_map(char::to_lowercase);
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
            ("STRA\u{1e9e}E", "strasse"),
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
