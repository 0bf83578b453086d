//! Match level `exact`: the search occurs literally in the LF view.

use std::ops::Range;

use memchr::memmem;

use super::comment::is_line_comment_start;
use super::rebase::{is_word_char, trimmed};
use lockgate_text::{Change, differing_lines};

/// Finds a text in a window of the view, from left to right, without overlap.
///
/// The spans are those of the view. An empty needle is never found.
pub fn occurrences<'a>(
    view: &'a str,
    window: Range<usize>,
    needle: &'a str,
) -> impl Iterator<Item = Range<usize>> + 'a {
    stepping(view, window, needle, needle.len())
}

/// Returns the span of a text that occurs exactly once in a window of the view. Occurrences that overlap count as several,
/// and so does a quoted line that is again the last one of the text, without its newline.
pub fn only_occurrence(view: &str, window: Range<usize>, needle: &str) -> Option<Range<usize>> {
    let mut found = beginnings(view, window.clone(), needle);
    let only = found.next()?;
    (found.next().is_none() && occurrence_at_open_end(view, window, needle).is_none()).then_some(only)
}

/// Finds a quote that ends in a newline at the end of a text that has none there.
pub(super) fn occurrence_at_open_end(view: &str, window: Range<usize>, needle: &str) -> Option<Range<usize>> {
    let open = needle.strip_suffix('\n').filter(|open| !open.is_empty())?;
    let reaches_end = window.end == view.len() && !view.ends_with('\n');
    let is_at_end = reaches_end && view.get(window)?.ends_with(open);
    is_at_end.then(|| view.len() - open.len()..view.len())
}

/// Finds every occurrence of a text, including overlapping ones.
pub(super) fn beginnings<'a>(
    view: &'a str,
    window: Range<usize>,
    needle: &'a str,
) -> impl Iterator<Item = Range<usize>> + 'a {
    stepping(view, window, needle, needle.chars().next().map_or(1, char::len_utf8))
}

fn stepping<'a>(
    view: &'a str,
    window: Range<usize>,
    needle: &'a str,
    step: usize,
) -> impl Iterator<Item = Range<usize>> + 'a {
    let haystack = view.get(window.clone()).filter(|_| !needle.is_empty()).unwrap_or("");
    let found = memmem::Finder::new(needle).into_owned();
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = found.find(haystack.as_bytes().get(from..)?)? + from;
        from = at + step;
        (!needle.is_empty()).then(|| window.start + at..window.start + at + needle.len())
    })
}

/// Returns the changes that replace a hit as a block. At its edges whole lines stay whole lines, and lines that both
/// texts share are not touched.
///
/// If the hit begins at a line start and only one of the two texts ends in a newline, the missing one is added or the
/// extra one dropped, unless it is the whole change. Whole lines with an empty replacement are removed with their
/// line end.
pub(super) fn splice(view: &str, hit: Range<usize>, search: &str, replace: &str) -> Vec<Change> {
    if !is_line_start(view, hit.start) {
        return line_by_line(hit.start, search, replace);
    }
    let after = view.get(hit.end..).unwrap_or_default();
    let blanks = after.len() - after.trim_start_matches([' ', '\t']).len();
    let at_line_end = is_line_end(view, hit.end + blanks);
    let (search_ends_line, replace_ends_line) = (search.ends_with('\n'), replace.ends_with('\n'));
    match (search_ends_line, replace_ends_line) {
        (false, _) if replace.is_empty() && at_line_end => {
            vec![whole_lines(view, hit.start..hit.end + blanks)]
        }
        (true, false) if !replace.is_empty() && search.strip_suffix('\n') != Some(replace) => {
            line_by_line(hit.start, search, &format!("{replace}\n"))
        }
        (false, _) if at_line_end && replace.strip_suffix('\n') != Some(search) => {
            let replace = replace.strip_suffix('\n').unwrap_or(replace);
            // Includes the following line end, so that each unchanged line keeps its own.
            let end = if after.starts_with('\n') { "\n" } else { "" };
            line_by_line(hit.start, &format!("{search}{end}"), &format!("{replace}{end}"))
        }
        (true | false, _) => line_by_line(hit.start, search, replace),
    }
}

/// Returns the changes between two texts, without their common lines.
pub(super) fn line_by_line(start: usize, search: &str, replace: &str) -> Vec<Change> {
    let [old, new] = [search, replace].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let change = |(removed, added): (Range<usize>, Range<usize>)| {
        let before: usize = old.iter().take(removed.start).map(|line| line.len()).sum();
        let [removed, added] = [old.get(removed)?, new.get(added)?].map(<[&str]>::concat);
        trimmed(start + before, &removed, &added)
    };
    differing_lines(&old, &new).into_iter().filter_map(change).collect()
}

/// Removes whole lines: with their own line end, or at an unterminated end of the text with the one before them.
fn whole_lines(view: &str, hit: Range<usize>) -> Change {
    let span =
        if hit.end < view.len() { hit.start..hit.end + 1 } else { hit.start.saturating_sub(1)..hit.end };
    Change { span, text: String::new() }
}

/// Finds a replacement, with more lines than the search, that is already around a hit byte for byte.
pub(super) fn applied_line(view: &str, hit: &Range<usize>, search: &str, replace: &str) -> Option<usize> {
    let lines = |text: &str| text.trim_end_matches('\n').matches('\n').count();
    let adds_line_end = replace.ends_with('\n') && !search.ends_with('\n');
    let begins_line = !search.starts_with('\n') && search.trim() != replace.trim();
    let search = search.trim_matches('\n');
    // The line end before an added line counts only if the edit adds no other, as in `"\nlimit 1;"` for `";"`.
    let forms = [replace.trim_matches('\n'), replace.trim_end_matches('\n')];
    let adds_lines =
        |replace: &&str| lines(replace) > lines(search) && (begins_line || !replace.starts_with('\n'));
    let replace = forms.into_iter().find(adds_lines).filter(|_| !search.is_empty())?;
    let added_before = replace.len() - replace.trim_start_matches('\n').len();
    let start =
        hit.start + view.get(hit.clone()).map_or(0, |text| text.len() - text.trim_start_matches('\n').len());
    let around = |at: Range<usize>| {
        let from = start.checked_sub(at.start)?;
        let rest = view.get(from..)?.strip_prefix(replace)?;
        // Behind a replacement that ends in the search is the text that was behind the hit before.
        let is_last = at.end == replace.len() && !adds_line_end;
        let is_whole_lines = is_line_start(replace, at.start) && is_line_end(replace, at.end);
        let ends = is_last || is_line_end(rest, 0) || !is_whole_lines;
        let begins = at.start == 0
            || replace.starts_with('\n')
            || can_begin(line_before(view, from), replace, line_before(replace, at.start));
        (ends && begins).then_some(from + added_before)
    };
    beginnings(replace, 0..replace.len(), search).find_map(around)
}

/// Returns true if a replacement that adds lines before a hit may have been written behind `before`, the text before it
/// on its line. `indent` is the text before the hit on its own line.
///
/// A replacement that would be the rest of a comment or of a word was not written there, unless the line of the hit begins
/// with a comment or a word as well. Nor was one behind an indentation that this line does not have.
fn can_begin(before: &str, replace: &str, indent: &str) -> bool {
    let joins = |text: &str| text.ends_with(is_word_char);
    let is_in_word = joins(before) && !joins(indent) && replace.starts_with(is_word_char);
    let is_in_comment = is_line_comment_start(before) && indent.trim().is_empty();
    let is_indent = before.trim().is_empty() && indent.trim().is_empty();
    !is_in_word && !is_in_comment && (!is_indent || indent.starts_with(before))
}

/// Returns the text before an offset on its line.
fn line_before(text: &str, offset: usize) -> &str {
    text.get(..offset).unwrap_or_default().rsplit('\n').next().unwrap_or_default()
}

/// Returns true if a line of a text starts at an offset.
pub(super) fn is_line_start(text: &str, offset: usize) -> bool {
    text.get(..offset).is_none_or(|before| before.is_empty() || before.ends_with('\n'))
}

/// Returns true if a line of a text ends at an offset, with or without a newline.
pub(super) fn is_line_end(text: &str, offset: usize) -> bool {
    let after = text.get(offset..).unwrap_or_default();
    after.is_empty() || after.starts_with('\n')
}

/// Returns true if a span begins and ends at word boundaries.
pub(super) fn has_word_boundaries(text: &str, span: &Range<usize>) -> bool {
    let (before, inside, after) = (text.get(..span.start), text.get(span.clone()), text.get(span.end..));
    let begins = |text: Option<&str>| text.is_some_and(|text| text.starts_with(is_word_char));
    let ends = |text: Option<&str>| text.is_some_and(|text| text.ends_with(is_word_char));
    let is_cut = ends(before) && begins(inside) || ends(inside) && begins(after);
    !is_cut
}

/// Returns true for a blank within a line.
fn is_blank(character: char) -> bool {
    character != '\n' && character.is_whitespace()
}

/// Returns true if the first line of a hit lacks all or part of its indentation. The hit has several lines, or is the
/// rest of one line and the replacement does not fit there unchanged.
pub(super) fn begins_in_indent(view: &str, hit: &Range<usize>, replace: &str) -> bool {
    let found = view.get(hit.clone()).unwrap_or_default();
    let before = view.get(..hit.start).unwrap_or_default();
    // Only the blanks before the hit are looked at: the line may be long, and have many hits.
    let above = before.trim_end_matches(is_blank);
    let line = before.get(above.len()..).unwrap_or_default();
    if line.is_empty() || !is_line_start(view, above.len()) {
        return false;
    }
    let at_line_end = found.ends_with('\n') || is_line_end(view, hit.end);
    let indented = |other: &str| other.trim().is_empty() || other.starts_with(line);
    let fits = !replace.trim().is_empty()
        && !found.starts_with([' ', '\t'])
        && found.ends_with('\n') == replace.ends_with('\n')
        && (!found.ends_with('\n') || replace.lines().nth(1).is_none())
        && replace.lines().next().is_some_and(|first| !first.trim().is_empty() && !first.starts_with(line))
        && replace.lines().skip(1).all(indented);
    found.trim_end_matches('\n').contains('\n') || at_line_end && !fits
}

/// Returns true if a hit of lines omits the trailing blanks of its last line, or begins with the end of the line
/// above.
pub(super) fn is_ragged(view: &str, hit: &Range<usize>) -> bool {
    let found = view.get(hit.clone()).unwrap_or_default();
    let after = view.get(hit.end..).unwrap_or_default();
    let at_line_start = is_line_start(view, hit.start);
    let rest = after.trim_start_matches(is_blank);
    let is_blank_to_end = rest.len() < after.len() && is_line_end(rest, 0);
    let trails = !found.ends_with('\n') && is_blank_to_end;
    at_line_start && trails || !at_line_start && found.starts_with('\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(view: &str, needle: &str) -> Vec<Range<usize>> {
        occurrences(view, 0..view.len(), needle).collect()
    }

    #[test]
    fn matches_do_not_overlap() {
        assert_eq!(all("aaaa", "aa"), [0..2, 2..4]);
        assert_eq!(all("aaab", "aa"), vec![0..2]);
    }

    #[test]
    fn beginnings_do() {
        assert_eq!(beginnings("aaa", 0..3, "aa").collect::<Vec<_>>(), [0..2, 1..3]);
        assert_eq!(beginnings("ééé", 0..6, "éé").collect::<Vec<_>>(), [0..4, 2..6]);
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

    fn spliced(view: &str, search: &str, replace: &str) -> String {
        let hit = occurrences(view, 0..view.len(), search).next().unwrap();
        let mut text = view.to_owned();
        for Change { span, text: new } in splice(view, hit, search, replace).into_iter().rev() {
            text.replace_range(span, &new);
        }
        text
    }

    #[test]
    fn whole_lines_stay_whole_lines() {
        assert_eq!(spliced("a\nb\n", "a\n", "c"), "c\nb\n");
        assert_eq!(spliced("a\nb\n", "a", "c\n"), "c\nb\n");
        assert_eq!(spliced("a\nb\n", "a", ""), "b\n");
        assert_eq!(spliced("a\nb", "b", ""), "a");
        assert_eq!(spliced("a\nb\n", "a\n", ""), "b\n");
        assert_eq!(spliced("a  \nb\n", "a", "c\n"), "c  \nb\n");
        assert_eq!(spliced("a  \nb\n", "a", ""), "b\n");
    }

    #[test]
    fn lines_that_stay_are_not_touched() {
        let changes = splice("a\nb\nc\n", 0..6, "a\nb\nc\n", "x\nb\ny\n");
        assert_eq!(changes.iter().map(|change| change.span.clone()).collect::<Vec<_>>(), [0..1, 4..5]);
    }

    #[test]
    fn a_line_end_goes_with_its_line() {
        let changes = splice("a\nb\nc\n", 0..3, "a\nb", "a");
        assert_eq!(changes, [Change { span: 2..4, text: String::new() }]);
    }

    #[test]
    fn a_newline_that_is_the_whole_change_is_made() {
        assert_eq!(spliced("a\nb\n", "a\n", "a"), "ab\n");
        assert_eq!(spliced("a\nb\n", "a", "a\n"), "a\n\nb\n");
        assert_eq!(spliced("a b\n", "a", "c\n"), "c\n b\n");
        assert_eq!(spliced("x a\n", "a", "c\n"), "x c\n\n");
        assert_eq!(spliced("x a\n", "a", ""), "x \n");
    }

    #[test]
    fn a_replacement_around_the_hit_is_already_applied() {
        let is_applied = |view: &str, search: &str, replace: &str| {
            let hit = occurrences(view, 0..view.len(), search).next().unwrap();
            super::applied_line(view, &hit, search, replace).is_some()
        };
        assert!(is_applied("import a\nimport b\n", "import a\n", "import a\nimport b\n"));
        assert!(is_applied("x\ny\nz\n", "z", "y\nz"));
        assert!(!is_applied("import a\nimport bc\n", "import a\n", "import a\nimport b\n"));
        assert!(!is_applied("f(ab)\n", "ab", "ab)"), "no line more");
    }

    #[test]
    fn a_replacement_at_the_end_of_another_line_is_not_applied() {
        let is_applied = |view: &str, search: &str, replace: &str| {
            let hit = occurrences(view, 0..view.len(), search).next().unwrap();
            super::applied_line(view, &hit, search, replace).is_some()
        };
        for (view, search, replace) in [
            ("# import a\nimport b\n", "import b", "import a\nimport b"),
            ("# import a\nimport b\n", "import b\n", "import a\nimport b\n"),
            ("    # import a\n    import b\n", "import b", "import a\n    import b"),
            ("max_retries = 10\ntimeout_s = 1\n", "timeout_s = 1", "retries = 10\ntimeout_s = 1"),
            ("if x:\n    y = 1\nz = 2\n", "z = 2", "y = 1\nz = 2"),
            ("a\n  if x:\n    y = 1\n  z = 2\n", "z = 2", "y = 1\n  z = 2"),
            ("elif x:\n    y = 1\n", "y = 1", "if x:\n    y = 1"),
            // The line end that the edit adds.
            ("one\ntwo(a)\n", "two", "one\ntwo\n"),
            ("two\nonerous\n", "two", "two\none"),
            // A blank line.
            ("one\ntwo;\n", "two", "\ntwo"),
            ("one\n    two\n", "two", "\n    two"),
            ("one\ntwo\n", "two\n", "\ntwo\n"),
        ] {
            assert!(!is_applied(view, search, replace), "{view:?}");
        }
        for (view, search, replace) in [
            // The indentation that the quote left out.
            ("    one\n    two\n", "two", "one\n    two"),
            ("    if x:\n        f()\n", "f()", "if x:\n        f()"),
            // A part of a line.
            ("x = (\n    value\n);\n", "value", "(\n    value\n)"),
            ("return f(a)\ng(b)\n", "f(a)", "f(a)\ng(b)"),
            ("Fruit: cherries, plums,\napples\n", "apples", "cherries, plums,\napples"),
            ("x = 1  # one\ntwo\n", "two", "one\ntwo"),
            // The rest of a comment, of an item of a list, and of a word.
            ("/// one\n/// two\n", "two", "one\n/// two"),
            ("# image: a\n# image: b\n", "image: b", "image: a\n# image: b"),
            ("# Title\n\n## Usage\n", "Usage", "Title\n\n## Usage"),
            ("/* one\n   two */\n", "two", "one\n   two"),
            (" * one\n * two\n", "two", "one\n * two"),
            ("* a\n* b\n", "b", "a\n* b"),
            ("const userName = 2;\nconst userId = 1;\n", "Id = 1;", "Name = 2;\nconst userId = 1;"),
            // The text that was behind the hit.
            ("one()\n\ntwo(a)\n", "two(", "one()\n\ntwo("),
            ("one\n;\ntwo; three\n", "two", "one\n;\ntwo"),
            // The line end before the added line.
            ("one\ntwo;\n", ";", "\ntwo;"),
            ("one\n  two # a\n", " # a\n", "\n  two # a\n"),
        ] {
            assert!(is_applied(view, search, replace), "{view:?}");
        }
    }

    #[test]
    fn lines_without_their_blanks_are_not_those_of_the_text() {
        let in_indent = |view: &str, search: &str, replace: &str| {
            let hit = occurrences(view, 0..view.len(), search).next().unwrap();
            begins_in_indent(view, &hit, replace)
        };
        assert!(in_indent("  a\n  b\n", "a\n  b", "c"));
        assert!(
            in_indent("  a\n", "a\n", "c") && in_indent("  a\n", "a", "") && in_indent("  a\n", "a", "b\na")
        );
        assert!(in_indent("  a\n", "a", "  b") && in_indent("  a\n", "a", "  b\n  c"));
        assert!(
            !in_indent("  a\n", "a", "b")
                && !in_indent("  a\n", "a", "b\n  a")
                && !in_indent("  a b\n", "a", "")
        );
        let ragged = |view: &str, search: &str| {
            is_ragged(view, &occurrences(view, 0..view.len(), search).next().unwrap())
        };
        assert!(ragged("a\nb  \n", "a\nb") && ragged("a\n\nb\n", "\n\nb"));
        assert!(ragged("a\u{3000}\u{c}", "a") && !ragged("a \u{b}b\n", "a"));
        assert!(!ragged("a\n\nb\n", "a\n\nb") && !ragged("x\na b\n", "a"));
    }
}
