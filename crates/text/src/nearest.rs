//! Suggestions for an unknown word from a list of known ones.

/// The maximum length of a compared word, in characters.
const LONGEST_WORD: usize = 64;
/// The minimum length of a word that is suggested because it is part of the other, in bytes.
const SHORTEST_PART: usize = 4;

/// The minimum length of a word that may be another one with a typing error, in characters.
const SHORTEST_MISSPELT: usize = 3;

/// The maximum number of equally likely candidates.
const MAX_EQUAL: usize = 4;

/// Returns the most likely candidate, or `None`: the one with the fewest typing errors, if they are few for its
/// length or one of the two words contains the other. The first of equal candidates wins. Case does not matter.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_all(word, candidates).first().copied()
}

/// Returns the most likely candidates: the one of [`nearest`], and those that are equally likely, at most 4 in all.
/// None of them is there twice.
pub fn nearest_all<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    if is_long(word) {
        return Vec::new();
    }
    let word = word.to_lowercase();
    let compared = candidates.into_iter().filter(|candidate| !is_long(candidate)).filter_map(|candidate| {
        let other = candidate.to_lowercase();
        // Two swapped neighbours are one error.
        let errors = strsim::osa_distance(&word, &other);
        (is_close(&word, &other, errors) || holds(&word, &other)).then_some((errors, candidate))
    });
    let (mut fewest, mut nearest) = (usize::MAX, Vec::new());
    for (errors, candidate) in compared {
        if errors < fewest {
            fewest = errors;
            nearest.clear();
        }
        if errors == fewest && nearest.len() < MAX_EQUAL && !nearest.contains(&candidate) {
            nearest.push(candidate);
        }
    }
    nearest
}

fn is_long(text: &str) -> bool {
    text.chars().nth(LONGEST_WORD).is_some()
}

/// Returns the only candidate that a name is a misspelling of; `None` if several are equally near.
pub fn correction<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let misspelt = candidates.into_iter().filter(|candidate| is_misspelling(name, candidate));
    match nearest_all(name, misspelt).as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

/// Returns true if a name is another one but for case, separators, and one typing error in each of its parts, as in
/// `startLine` or `serach_contxt`.
///
/// Names that only have parts in common do not count: `replace` and `replace_all`, or `after_line` and `at_line`, may have
/// different meanings.
fn is_misspelling(name: &str, other: &str) -> bool {
    if is_long(name) || is_long(other) {
        return false;
    }
    let (parts, others) = (parts(name), parts(other));
    is_typo(&parts.concat(), &others.concat())
        || parts.len() == others.len() && parts.iter().zip(&others).all(|(part, other)| is_typo(part, other))
}

/// Returns true for equal words, and for longer ones with one error.
fn is_typo(word: &str, other: &str) -> bool {
    let is_short = word.chars().count().min(other.chars().count()) < SHORTEST_MISSPELT;
    word == other || !is_short && strsim::osa_distance(word, other) == 1
}

/// Returns the parts of a name such as `start_line` or `startLine`, in lower case.
fn parts(name: &str) -> Vec<String> {
    let (mut separated, mut was_lower) = (String::new(), false);
    for character in name.chars() {
        if was_lower && character.is_uppercase() {
            separated.push('_');
        }
        was_lower = character.is_lowercase();
        separated.extend(character.to_lowercase());
    }
    let parts = separated.split(|character: char| !character.is_alphanumeric());
    parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
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
    fn equally_near_ones_are_all_named_once() {
        let known = ["CartA.total", "CartB.total", "CartA.total", "CartAB.total"];
        assert_eq!(nearest_all("CartC.total", known), ["CartA.total", "CartB.total"]);
        assert_eq!(nearest_all("CartA.totl", known), ["CartA.total"]);
        assert_eq!(nearest_all("lin", ["line", "lint", "link", "lind", "ling"]).len(), MAX_EQUAL);
        assert_eq!(nearest_all("mypy", known), [""; 0]);
    }

    #[test]
    fn a_name_is_corrected_if_only_one_can_be_meant() {
        let known = ["module", "app_file", "file", "line", "link"];
        for (name, corrected) in [
            ("modul", Some("module")),
            ("AppFile", Some("app_file")),
            ("lin", None),
            ("app", None),
            ("workflow", None),
        ] {
            assert_eq!(correction(name, known), corrected, "{name}");
        }
    }

    #[test]
    fn a_misspelling_has_the_same_parts() {
        for (name, other) in [
            ("startLine", "start_line"),
            ("START-LINE", "start_line"),
            ("startline", "start_line"),
            ("lines_count", "line_count"),
            ("serach_contxt", "search_context"),
            ("replaceal", "replace_all"),
            ("lin", "line"),
            ("contents", "content"),
        ] {
            assert!(is_misspelling(name, other), "{name}");
        }
        for (name, other) in [
            ("replace", "replace_all"),
            ("overwrite", "overwrite_file"),
            ("after_line", "at_line"),
            ("line", "end_line"),
            ("flags", "search_flags"),
            ("insert_content", "content"),
            ("to_line", "at_line"),
            ("og", "go"),
            ("", "go"),
        ] {
            assert!(!is_misspelling(name, other), "{name}");
        }
        assert!(!is_misspelling(&"s".repeat(1_000_000), "s"));
    }

    #[test]
    fn a_huge_word_is_nobodys() {
        assert_eq!(nearest(&"s".repeat(1_000_000), ["s"]), None);
        let long = "s".repeat(LONGEST_WORD);
        assert_eq!(nearest(&long, [long.as_str()]), Some(long.as_str()));
    }
}
