//! Suggestions for an unknown word from a list of known ones.

/// The maximum length of a compared word, in characters.
const LONGEST_WORD: usize = 64;
/// The minimum length of a word that is suggested because it is part of the other, in bytes.
const SHORTEST_PART: usize = 4;

/// Returns the most likely candidate, or `None`: the one with the fewest typing errors, if they are few for its
/// length or one of the two words contains the other. The first of equal candidates wins. Case does not matter.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let is_long = |text: &str| text.chars().nth(LONGEST_WORD).is_some();
    if is_long(word) {
        return None;
    }
    let word = word.to_lowercase();
    let compared = candidates.into_iter().filter(|candidate| !is_long(candidate)).filter_map(|candidate| {
        let other = candidate.to_lowercase();
        // Two swapped neighbours are one error.
        let errors = strsim::osa_distance(&word, &other);
        (is_close(&word, &other, errors) || holds(&word, &other)).then_some((errors, candidate))
    });
    compared.min_by_key(|(errors, _)| *errors).map(|(_, candidate)| candidate)
}

/// Returns true for at most one error in two characters, then one for every three more.
fn is_close(word: &str, other: &str, errors: usize) -> bool {
    let (one, two) = (word.chars().count(), other.chars().count());
    errors * 3 <= one.max(two) || errors == 1 && one.min(two) >= 2
}

/// Returns true if one word contains the other.
fn holds(word: &str, other: &str) -> bool {
    word.len().min(other.len()) >= SHORTEST_PART && (word.contains(other) || other.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_intended_word_is_close_or_none() {
        let known = ["path", "content", "line_edits", "syntax", "markdown-structure", "ruff", "go", "c"];
        for (word, wanted) in [
            ("sytnax", Some("syntax")),
            ("Syntax", Some("syntax")),
            ("markdown_structure", Some("markdown-structure")),
            ("markdown", Some("markdown-structure")),
            ("ruf", Some("ruff")),
            ("contnet", Some("content")),
            ("line_edit", Some("line_edits")),
            ("file_path", Some("path")),
            ("og", Some("go")),
            ("mypy", None),
            ("old", None),
            ("x", None),
            ("", None),
            ("pattern", None),
        ] {
            assert_eq!(nearest(word, known), wanted, "{word}");
        }
    }

    #[test]
    fn the_nearer_one_wins_then_the_first() {
        assert_eq!(nearest("lines", ["line_edits", "line", "lined"]), Some("line"));
        assert_eq!(nearest("content", ["old_content", "contents"]), Some("contents"));
    }

    #[test]
    fn a_huge_word_is_nobodys() {
        assert_eq!(nearest(&"s".repeat(1_000_000), ["s"]), None);
        let long = "s".repeat(LONGEST_WORD);
        assert_eq!(nearest(&long, [long.as_str()]), Some(long.as_str()));
    }
}
