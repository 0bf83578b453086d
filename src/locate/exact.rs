//! Rung `exact`: the bytes of the LF view are those of the search.

use std::ops::Range;

use memchr::memmem;

/// Finds a text in a window of the view, from left to right, without overlap.
///
/// The spans are those of the view. An empty needle is found nowhere.
pub fn occurrences<'a>(
    view: &'a str,
    window: Range<usize>,
    needle: &'a str,
) -> impl Iterator<Item = Range<usize>> + 'a {
    let haystack = view.get(window.clone()).filter(|_| !needle.is_empty()).unwrap_or("");
    let found = memmem::Finder::new(needle).into_owned();
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = found.find(haystack.as_bytes().get(from..)?)? + from;
        from = at + needle.len();
        (!needle.is_empty()).then(|| window.start + at..window.start + from)
    })
}

#[cfg(test)]
mod tests {
    use super::occurrences;

    fn all(view: &str, needle: &str) -> Vec<std::ops::Range<usize>> {
        occurrences(view, 0..view.len(), needle).collect()
    }

    #[test]
    fn matches_do_not_overlap() {
        assert_eq!(all("aaaa", "aa"), [0..2, 2..4]);
        assert_eq!(all("aaab", "aa"), vec![0..2]);
    }

    #[test]
    fn an_empty_needle_is_nowhere() {
        assert!(all("", "").is_empty());
        assert!(all("ab", "").is_empty());
    }

    #[test]
    fn only_the_window_is_searched() {
        let found: Vec<_> = occurrences("ab ab ab", 2..5, "ab").collect();
        assert_eq!(found, vec![3..5]);
    }
}
