//! The lines of patches, and the patches in a text: hunks below a header with the names of the files.

use std::ops::Range;

use crate::path::file_name;
use lockgate_text::Lines;

/// Returns the line ranges of the patches in text order, without those whose new file has the name of the file at `path`.
pub(super) fn of_other_files(lines: Lines<'_>, path: &str) -> Vec<Range<usize>> {
    let mut patches = Vec::new();
    let mut line = 1;
    while line < lines.count() {
        let Some(file) = new_file(lines, line) else {
            line += 1;
            continue;
        };
        let end = end(lines, line + 2);
        if end > line + 2 && file_name(file) != file_name(path) {
            patches.push(line..end);
        }
        line = end;
    }
    patches
}

/// Returns the path of the new file if a header begins at a line.
fn new_file<'t>(lines: Lines<'t>, line: usize) -> Option<&'t str> {
    lines.text(line).strip_prefix("--- ")?;
    let file = lines.text(line + 1).strip_prefix("+++ ")?;
    Some(file.split('\t').next().unwrap_or(file).trim_end())
}

/// Returns the line behind the hunks that begin at a line.
fn end(lines: Lines<'_>, start: usize) -> usize {
    let mut line = start;
    while let Some((old, new)) = hunk(lines.text(line)) {
        line = hunk_end(lines, line + 1, old, new);
    }
    line
}

/// Returns the line behind a hunk with these numbers of lines. A context line without text may lack its mark.
fn hunk_end(lines: Lines<'_>, start: usize, mut old: usize, mut new: usize) -> usize {
    let mut line = start;
    while line <= lines.count() {
        match lines.text(line).bytes().next() {
            Some(b'\\') => {}
            Some(b'-') if old > 0 => old -= 1,
            Some(b'+') if new > 0 => new -= 1,
            Some(b' ') | None if old > 0 && new > 0 => (old, new) = (old - 1, new - 1),
            _ => break,
        }
        line += 1;
    }
    line
}

/// Returns the mark at the start of a line of a diff, and the rest of the line.
pub(super) fn marked(text: &str) -> Option<(char, &str)> {
    let mark = text.chars().next().filter(|mark| matches!(mark, '+' | '-'))?;
    let rest = text.get(1..)?;
    // `--` is a comment in many languages, `---` a rule or the start of a page, `->` an arrow.
    let other = rest.starts_with(mark) || rest.starts_with(['=', '>']) || rest.trim().is_empty();
    (!other).then_some((mark, rest))
}

/// Returns the numbers of lines of the hunk with this header, such as `@@ -1,2 +3,4 @@`: before and after.
pub(super) fn hunk(text: &str) -> Option<(usize, usize)> {
    let (head, _) = text.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = head.split_once(" +")?;
    Some((count(old)?, count(new)?))
}

fn count(range: &str) -> Option<usize> {
    let (start, count) = range.split_once(',').unwrap_or((range, "1"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(start) && is_number(count)).then(|| count.parse().unwrap_or(usize::MAX))
}
