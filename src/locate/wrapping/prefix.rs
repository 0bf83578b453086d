//! The signs of a diff before the lines of a block.

use super::{Reading, joined, lines};

/// Takes off the first column where the search is the old side of a diff and the replacement its new side.
pub(super) fn off(search: &str, replace: &str) -> Option<Reading> {
    let (old, gone) = side(search, '-')?;
    let (new, come) = side(replace, '+')?;
    (gone || come).then(|| Reading::new(old, new))
}

/// A side without its signs, and whether a line of it had the side's own sign; nothing where a line has none.
fn side(text: &str, sign: char) -> Option<(String, bool)> {
    if text.is_empty() {
        return Some((String::new(), false));
    }
    let strip = |line: &'_ str| -> Option<usize> {
        let signed = line.starts_with([sign, ' ']) || line.is_empty();
        signed.then_some(usize::from(!line.is_empty()))
    };
    let widths: Option<Vec<usize>> = lines(text).map(strip).collect();
    let bare = lines(text).zip(widths?).filter_map(|(line, width)| line.get(width..));
    Some((joined(bare, text), lines(text).any(|line| line.starts_with(sign))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(search: &str, replace: &str) -> Option<(String, String)> {
        off(search, replace).map(|reading| (reading.search, reading.replace))
    }

    #[test]
    fn the_sides_of_a_diff_lose_their_signs() {
        assert_eq!(read(" a\n-b\n", " a\n+c\n"), Some(("a\nb\n".into(), "a\nc\n".into())));
        assert_eq!(read("-  b", "+  c"), Some(("  b".into(), "  c".into())));
        assert_eq!(read(" a\n\n-b\n", ""), Some(("a\n\nb\n".into(), String::new())));
    }

    #[test]
    fn what_is_no_diff_stays() {
        assert_eq!(read("a\n-b\n", "+c\n"), None);
        assert_eq!(read(" a\n b\n", " a\n c\n"), None);
        assert_eq!(read("-a\n", "b\n"), None);
    }
}
