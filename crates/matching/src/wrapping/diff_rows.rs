//! Removes the number and the sign before the lines of a diff, as in `17- old` and `17+ new`.
//!
//! The file must have the quoted lines at exactly these numbers, and no line of its own that begins so. Rows of the
//! replacement may be text: they are removed only if all of its lines are rows of one sign, with the numbers from that of the
//! quote on.

use std::collections::HashSet;

use super::alternative::{AlternativeEdit, lines};
use super::gutter::{joined_with_blanks, split_digits};

/// A line with its number and a sign, which is a colon before a match of a search.
#[derive(Debug, Clone, Copy)]
struct DiffRow<'l> {
    number: usize,
    sign: char,
    text: &'l str,
}

impl<'l> DiffRow<'l> {
    fn parse(line: &'l str) -> Option<DiffRow<'l>> {
        let (number, rest) = split_digits(line);
        let (sign, text) = rest.split_at_checked(1)?;
        let sign = sign.chars().next().filter(|sign| ['-', '+', ':'].contains(sign))?;
        // The blank of a blank line may have been cut off.
        let text = if text.is_empty() { text } else { text.strip_prefix(' ')? };
        let number = number.parse().ok().filter(|_| !number.starts_with('0'))?;
        Some(DiffRow { number, sign, text })
    }

    /// Parses a text whose lines all are rows, with numbers that rise by one.
    fn parse_all(text: &'l str) -> Option<Vec<DiffRow<'l>>> {
        let rows: Vec<DiffRow<'_>> = lines(text).map(DiffRow::parse).collect::<Option<_>>()?;
        let mut pairs = rows.iter().zip(rows.iter().skip(1));
        pairs.all(|(one, next)| one.number.checked_add(1) == Some(next.number)).then_some(rows)
    }
}

/// Returns the edit without its rows: none if it is not certain what those of the replacement are. Returns `None` if the
/// texts are no rows of a diff, so that they are read in another way.
pub(super) fn remove(search: &str, replace: &str) -> Option<Vec<AlternativeEdit>> {
    let quote = DiffRow::parse_all(search)?;
    let first = quote.first()?.number;
    let range = first..first.saturating_add(quote.len().max(lines(replace).count()));
    let has_sign = |rows: &[DiffRow<'_>], sign: char| rows.iter().any(|row| row.sign == sign);
    let sign = common_sign(&quote);
    if sign.is_none() && has_sign(&quote, '+') {
        return None;
    }
    let new_rows = DiffRow::parse_all(replace).filter(|rows| match common_sign(rows) {
        // A number, a colon and a line may be the output of another tool.
        _ if sign == Some(':') => false,
        Some('+') => true,
        Some('-') => sign == Some('+') || sign == Some('-') && quote.len() > 1,
        _ => false,
    });
    let is_added = sign == Some('+');
    let new = match new_rows.filter(|rows| rows.first().is_some_and(|row| row.number == first)) {
        Some(rows) if has_text_rows(&quote) && !are_text_rows(&rows) => return Some(Vec::new()),
        Some(rows) => bare(&rows, replace),
        None => {
            let in_range: Vec<DiffRow<'_>> =
                lines(replace).filter_map(DiffRow::parse).filter(|row| range.contains(&row.number)).collect();
            let may_be_rows = has_sign(&in_range, '+') || is_added && !in_range.is_empty();
            if may_be_rows && !has_text_rows(&quote) && !is_text(replace, search) {
                return Some(Vec::new());
            }
            Some(replace.to_owned()).filter(|_| is_added)?
        }
    };
    let blank_lines = quote.iter().take_while(|row| row.text.trim().is_empty()).count();
    Some(vec![AlternativeEdit {
        line: Some(first.saturating_add(blank_lines)),
        keeps_indent: true,
        has_diff_rows: true,
        ..AlternativeEdit::new(bare(&quote, search), new)
    }])
}

/// Returns true if a line of a text begins as the rows of a diff do.
pub(super) fn has_rows(text: &str) -> bool {
    text.lines().filter_map(|line| DiffRow::parse(line.trim_start())).any(|row| row.sign != ':')
}

/// Returns true if a replacement has lines without a number, and no row of the quote: then none of its lines is a row.
fn is_text(replace: &str, search: &str) -> bool {
    let quoted: HashSet<&str> = lines(search).collect();
    let is_bare = |line: &str| !line.trim().is_empty() && DiffRow::parse(line).is_none();
    lines(replace).any(is_bare) && !lines(replace).any(|line| quoted.contains(line))
}

/// Returns the sign of all rows, if they have the same.
fn common_sign(rows: &[DiffRow<'_>]) -> Option<char> {
    let sign = rows.first()?.sign;
    rows.iter().all(|row| row.sign == sign).then_some(sign)
}

fn bare(rows: &[DiffRow<'_>], like: &str) -> String {
    let texts: Vec<&str> = rows.iter().map(|row| row.text).collect();
    joined_with_blanks(&texts, like)
}

/// Returns true if the text of a row begins as a row does.
fn has_text_rows(rows: &[DiffRow<'_>]) -> bool {
    rows.iter().any(|row| DiffRow::parse(row.text).is_some())
}

/// Returns true if the texts of all rows that are not blank begin as rows do.
fn are_text_rows(rows: &[DiffRow<'_>]) -> bool {
    rows.iter().all(|row| row.text.trim().is_empty() || DiffRow::parse(row.text).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns both texts without rows; empty ones if the edit is rejected, and `None` if it is read in another way.
    fn read(search: &str, replace: &str) -> Option<(String, String)> {
        let edits = remove(search, replace)?;
        assert!(edits.iter().all(|edit| edit.line.is_some() && edit.keeps_indent), "{edits:?}");
        Some(edits.into_iter().next().map(|edit| (edit.search, edit.replace)).unwrap_or_default())
    }

    #[test]
    fn the_rows_of_a_diff_are_removed_from_both_texts() {
        for (search, replace, bare) in [
            ("2-   g(x);", "2+   g(x, 1);", ("  g(x);", "  g(x, 1);")),
            ("2- a\n3- b\n", "2+ c\n3+ d\n4+ e\n", ("a\nb\n", "c\nd\ne\n")),
            ("2- a\n3-\n4- b", "2- a\n3-\n4- c", ("a\n\nb", "a\n\nc")),
            ("2+ a\n3+ b", "2- c", ("a\nb", "c")),
            ("2+ a\n3+ b", "c\n", ("a\nb", "c\n")),
            ("2+ a", "", ("a", "")),
            ("1- a\n2: b\n3- c", "1+ a\n2+ d\n3+ c", ("a\nb\nc", "a\nd\nc")),
            ("5- 3: x", "5+ 3: y", ("3: x", "3: y")),
            ("2+ a", "9+ years", ("a", "9+ years")),
        ] {
            let bare = Some((bare.0.to_owned(), bare.1.to_owned()));
            assert_eq!(read(search, replace), bare, "{search:?} {replace:?}");
        }
        assert_eq!(remove("7+\n8+ a", "b").unwrap()[0].line, Some(8), "the first line that is not blank");
    }

    #[test]
    fn an_edit_with_rows_that_may_be_text_is_rejected() {
        for (search, replace) in [
            ("2- a", "2- a\n2+ b"),
            ("2- a", "2- a\n3+ b"),
            ("2- a\n3- b", "2- a\n3+ b"),
            ("2- a\n3: b", "3+ b"),
            ("2: a", "2+ b"),
            ("2: a\n3: b", "2+ a\n3+ c"),
            ("2+ a", "2: b"),
            ("2+ a", "2- b\n2+ c"),
            ("2- a\n3- b", "2- a\n3+ c\nb"),
            ("5- 3+ years", "5+ years"),
            ("5- 3: x\n6- 4: y", "5- x\n6- y"),
        ] {
            assert_eq!(read(search, replace), Some(Default::default()), "{search:?} {replace:?}");
        }
    }

    #[test]
    fn other_texts_are_read_in_another_way() {
        for (search, replace) in [
            ("a", "2+ x"),
            ("2- a", "b"),
            ("2- a", "2- b"),
            ("2- a", "18+ years"),
            ("5- 3+ years", "4+ years"),
            ("2: a", "3+ b"),
            ("2: a\n3: b", "a\n3+ c\nb"),
            ("2: 1+ a\n3: 2+ b", "2+ a\n3+ c"),
            ("2- a\n3- b", "x"),
            ("2- a\n3- b", ""),
            ("2- a\n3+ b", "2+ a"),
            ("2- a\n4- b", "2+ a"),
            ("2\u{2192}a", "2+ b"),
            ("02- a", "02+ b"),
            ("2-a", "2+a"),
            ("2024-01-02", "2024-01-03"),
            ("2024- a", "2025- a"),
        ] {
            assert_eq!(read(search, replace), None, "{search:?} {replace:?}");
        }
    }
}
