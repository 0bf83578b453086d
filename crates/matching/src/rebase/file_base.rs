//! The base of the merge if the replacement was made from the file's text, and only the search has other indentation
//! or other marks.

use super::block::{Block, MatchSite};
use super::pairs::origins;
use crate::indent::{indent_of, trail_of};
use lockgate_text::{Lines, common_prefix};

/// A line of the replacement, with the line of the search that it keeps or changes, and the line of the file.
struct LineVersions<'a> {
    /// Its index in the replacement.
    row: usize,
    quoted: &'a str,
    actual: &'a str,
    wanted: &'a str,
}

impl LineVersions<'_> {
    /// Returns true if only the search has another form of this part of the line.
    fn is_of_file(&self, part: fn(&str) -> &str) -> bool {
        part(self.wanted) == part(self.actual) && part(self.quoted) != part(self.actual)
    }

    /// Returns how many characters of indentation the edit adds.
    fn shift(&self) -> isize {
        indent_of(self.wanted).len().cast_signed() - indent_of(self.quoted).len().cast_signed()
    }

    /// Returns true if the replacement has this part of the line as it is quoted, and not as it is in the file.
    fn is_as_quoted(&self, part: fn(&str) -> &str) -> bool {
        part(self.wanted) == part(self.quoted) && part(self.quoted) != part(self.actual)
    }
}

/// Returns the lines of the search with the file's indentation or marks, if the replacement has those. Otherwise the
/// edit would seem to indent the whole block anew.
///
/// Returns `None` if the replacement was made from the search as it is quoted.
pub(super) fn search_of_file(block: &Block<'_>, site: &MatchSite, text: Lines<'_>) -> Option<Vec<String>> {
    let actual: Vec<&str> = site.lines.iter().map(|line| text.text(*line)).collect();
    let pairs = || block.search.lines.iter().copied().zip(actual.iter().copied());
    let is_exact = pairs().all(|(quoted, actual)| quoted.trim_end() == actual.trim_end());
    if is_exact || site.differing.is_some() {
        return None;
    }
    let trimmed = Block { search: block.search.trimmed(), replace: block.replace.trimmed() };
    let origins = origins(&trimmed);
    let version = |(row, base): (usize, usize)| {
        let (quoted, wanted) = (block.search.line(base), block.replace.line(row));
        Some(LineVersions { row, quoted, actual: actual.get(base)?, wanted })
    };
    let rows = origins.iter().copied().enumerate();
    let versions: Vec<LineVersions<'_>> = rows.filter_map(|(row, origin)| version((row, origin?))).collect();
    let first = if origins.is_empty() { None } else { version((0, 0)) };
    // If only the indentation changes, that is the edit, unless the file has it already in some lines.
    let is_as_quoted = versions.iter().any(|line| line.is_as_quoted(indent_of));
    let differs_from_file = || versions.iter().any(|line| indent_of(line.wanted) != indent_of(line.actual));
    let is_shifted = is_shifted(&versions);
    let is_of_text = trimmed.search != trimmed.replace || !is_as_quoted && !is_shifted && differs_from_file();
    let has_indent = is_of_text
        && (has_indent_of_file(block, &actual, &versions, first)
            || !is_as_quoted && has_unit_of_file(block, &origins, &versions));
    let has_marks = versions.iter().any(|line| line.is_of_file(str::trim))
        && !versions.iter().any(|line| line.is_as_quoted(str::trim));
    let line = |(quoted, actual): (&str, &str)| {
        let indent = indent_of(if has_indent { actual } else { quoted });
        let body = if has_marks { actual } else { quoted };
        [indent, body.trim(), trail_of(quoted)].concat()
    };
    (has_indent || has_marks).then(|| pairs().map(line).collect())
}

/// Returns true if the replacement begins at the depth of the file's block, and the search at another one. A line around
/// the quoted ones has the depth of the search: `if a {` puts them one level deeper.
///
/// `first` has the first lines of search and replacement, whatever became of the quoted one. The block may begin with its
/// shallowest line, or with a deeper one; then a line that stays must have the file's indentation, and none that of the quote.
fn has_indent_of_file(
    block: &Block<'_>,
    actual: &[&str],
    versions: &[LineVersions<'_>],
    first: Option<LineVersions<'_>>,
) -> bool {
    let begins_as_file = first.is_some_and(|first| first.is_of_file(indent_of));
    if versions.is_empty() {
        return begins_as_file;
    }
    let own = common_indent(actual);
    let has_own_depth =
        common_indent(&block.replace.lines) == own && common_indent(&block.search.lines) != own;
    let any_of_file = versions.iter().any(|line| line.is_of_file(indent_of));
    let none_as_quoted = !versions.iter().any(|line| line.is_as_quoted(indent_of));
    begins_as_file && any_of_file && none_as_quoted || has_own_depth && (any_of_file || none_as_quoted)
}

/// Returns true if the edit adds or removes the same indentation in all indented lines: it moves the block.
fn is_shifted(versions: &[LineVersions<'_>]) -> bool {
    let is_indented =
        |line: &&LineVersions<'_>| !indent_of(line.quoted).is_empty() || !indent_of(line.wanted).is_empty();
    let mut shifts = versions.iter().filter(is_indented).map(LineVersions::shift);
    shifts.next().is_some_and(|first| first != 0 && shifts.all(|shift| shift == first))
}

/// Returns true if lines that stay inside the same lines have the file's indentation, and show that only the search has
/// another unit: by other blanks, or because lines of different depth differ by different amounts. Lines that differ by the
/// same amount may be indented by the edit.
fn has_unit_of_file(block: &Block<'_>, origins: &[Option<usize>], versions: &[LineVersions<'_>]) -> bool {
    let nested = nested_as_quoted(block, origins);
    let is_of_file =
        |line: &&LineVersions<'_>| nested.get(line.row) == Some(&true) && line.is_of_file(indent_of);
    let lines = || versions.iter().filter(is_of_file);
    let has_other_blanks = |line: &LineVersions<'_>| {
        let (quoted, wanted) = (indent_of(line.quoted), indent_of(line.wanted));
        !quoted.starts_with(wanted) && !wanted.starts_with(quoted)
    };
    let shift = lines().next().map(LineVersions::shift);
    lines().any(|line| has_other_blanks(line) || Some(line.shift()) != shift)
}

/// Returns, for each line of the replacement, true if it keeps or changes a quoted line, and is inside the same lines.
fn nested_as_quoted(block: &Block<'_>, origins: &[Option<usize>]) -> Vec<bool> {
    let (quoted, wanted) = (outer_lines(&block.search.lines), outer_lines(&block.replace.lines));
    // The quote shows what encloses a line only if no later one is shallower.
    let widths = || block.search.lines.iter().map(|line| indent_of(line).len());
    let is_shallowest = |base: usize| widths().nth(base) == widths().min();
    let mut nested: Vec<bool> = Vec::with_capacity(origins.len());
    for (origin, outer) in origins.iter().zip(wanted) {
        let quoted_outer = origin.and_then(|base| quoted.get(base).copied());
        nested.push(match (quoted_outer, outer) {
            (Some(None), None) => origin.is_some_and(is_shallowest),
            (Some(Some(base)), Some(row)) => {
                origins.get(row) == Some(&Some(base)) && nested.get(row) == Some(&true)
            }
            (None, _) | (Some(None), Some(_)) | (Some(Some(_)), None) => false,
        });
    }
    nested
}

/// Returns, for each line, the nearest line above with less indentation.
fn outer_lines(lines: &[&str]) -> Vec<Option<usize>> {
    let mut open: Vec<(usize, usize)> = Vec::new();
    let outer = |(index, line): (usize, &&str)| {
        let width = indent_of(line).len();
        while open.pop_if(|(_, outer)| *outer >= width).is_some() {}
        let outer = open.last().map(|(index, _)| *index);
        open.push((index, width));
        outer
    };
    lines.iter().enumerate().map(outer).collect()
}

/// Returns the longest indentation with which all lines begin.
fn common_indent<'a>(lines: &[&'a str]) -> &'a str {
    let common = |one: &'a str, other: &'a str| {
        one.get(..common_prefix(one.as_bytes(), other.as_bytes())).unwrap_or_default()
    };
    lines.iter().map(|line| indent_of(line)).reduce(common).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_text::{Buffer, Hints};

    fn based(file: &str, search: &str, replace: &str) -> Option<String> {
        let buffer = Buffer::read(file.as_bytes().to_vec(), Hints::default()).unwrap();
        let window = (1, buffer.lines().count());
        let lines = (window.0..=window.1).collect();
        let site = MatchSite { lines, differing: None, extra: None, window };
        search_of_file(&Block::new(search, replace), &site, buffer.lines()).map(|lines| lines.join("\n"))
    }

    #[test]
    fn a_replacement_indented_like_the_file_was_made_from_it() {
        let file = "    if a:\n        b()\n";
        let text = Some("    if a:\n        b()".to_owned());
        let replace = "    if a:\n        c()\n        b()\n";
        for search in
            ["if a:\n    b()\n", "if a:\nb()\n", "\tif a:\n\t\tb()\n", "      if a:\n          b()\n"]
        {
            assert_eq!(based(file, search, replace), text, "{search:?}");
        }
        for replace in ["    another(1)\n", "    if a:\n        one()\n"] {
            assert_eq!(based("    one()\n", "one()\n", replace).as_deref(), Some("    one()"), "{replace:?}");
        }
    }

    #[test]
    fn the_first_line_decides_if_the_shallowest_one_is_dropped() {
        let file = "        a(1)\n    beta = 2\n";
        let search = "    a(1)\nbeta = 2\n";
        let text = Some("        a(1)\n    beta = 2".to_owned());
        assert_eq!(based(file, search, "        a(1)\n        log(2)\n"), text);
        assert_eq!(based(file, search, "        log(2)\n"), text);
        assert_eq!(based(file, search, "    beta = 2\n"), text, "the first line that stays");
        assert_eq!(based(file, search, "    log(2)\n    stop()\n"), None);
        assert_eq!(based(file, search, "    a(1)\n    stop()\n"), None);
        assert_eq!(based(file, search, "beta = 2\n"), None);
    }

    #[test]
    fn a_body_without_its_header_is_at_the_depth_of_the_header() {
        let file = "        if x:\n            y(1)\n            z(2)\n";
        let text = Some("        if x:\n            y(1)\n            z(2)".to_owned());
        let replace = "        y(1)\n        z(2)\n";
        for search in
            ["if x:\n    y(1)\n    z(2)\n", "            if x:\n                y(1)\n                z(2)\n"]
        {
            assert_eq!(based(file, search, replace), text, "{search:?}");
        }
        assert_eq!(based(file, "if x:\n    y(1)\n    z(2)\n", "y(1)\nz(2)\n"), None);
        // The first line alone is indented, and by chance as in the file.
        assert_eq!(based("    a\n    b\n", "a\nb\n", "    a\nb\n"), None);
    }

    #[test]
    fn a_replacement_that_indents_the_search_was_made_from_that() {
        let file = "    a()\n    b()\n";
        assert_eq!(based(file, "a()\nb()\n", "if c:\n    a()\n    b()\n"), None);
        assert_eq!(based(file, "a()\nb()\n", "    a()\n    b()\n"), None, "nothing else changes");
        assert_eq!(based(file, "a()\nb()\n", "a()\nif c:\n    b()\n"), None);
        for replace in ["a:\n    b()\n    c()\n", "a:\n  c:\n    b()\n"] {
            assert_eq!(based("a:\n    b()\n", "a:\n  b()\n", replace), None, "another unit: {replace:?}");
        }
        let with_text = "        a()\n        c(\"\"\"\nd\"\"\")\n        b()\n";
        assert_eq!(based("a()\nb()\n", "        a()\n        b()\n", with_text), None, "a line of a text");
        assert_eq!(based(file, "    a()\n    b()  \n", "        a()\n        c()\n"), None, "quoted exactly");
    }

    #[test]
    fn lines_that_stay_in_their_block_and_have_the_indentation_of_the_file_are_not_indented() {
        let file = "a:\n    b()\n    if d:\n        e()\n";
        let text = Some(file.trim_end().to_owned());
        for search in ["a:\n  b()\n  if d:\n    e()\n", "a:\n\tb()\n\tif d:\n\t\te()\n"] {
            for replace in [
                "a:\n    b(1)\n    if d:\n        e()\n",
                "a:\n    c()\n    b()\n    if d:\n        e()\n",
                "a:\n    if d:\n        e()\n    c()\n",
                "a:\n    b()\n    if d:\n        e()\n        c()\n",
            ] {
                assert_eq!(based(file, search, replace), text, "{search:?} {replace:?}");
            }
        }
    }

    #[test]
    fn lines_that_another_line_encloses_are_indented() {
        let file = "a:\n    b()\n";
        for replace in ["a:\n  c:\n    b()\n", "c:\n  a:\n    b()\n"] {
            assert_eq!(based(file, "a:\n  b()\n", replace), None, "{replace:?}");
        }
        let nested = "a:\n  c:\n    b()\n";
        assert_eq!(based(nested, "a:\n    c:\n        b()\n", "a:\n    b()\n"), None, "one level less");
        let block = "  c()\n  if a:\n    if b:\n      d()\n";
        let search = "    c()\n    if a:\n        if b:\n            d()\n";
        assert_eq!(based(block, search, "if a:\n    if b:\n        d()\n"), None, "all are shifted alike");
        let tail = "    c();\n  }\n}\n";
        assert_eq!(based(tail, "        c();\n    }\n}\n", "    c();\n}\n}\n"), None, "a tail moves");
        assert_eq!(based(file, "a:\n  b()\n", file), None, "nothing else changes");
    }

    #[test]
    fn one_line_of_the_file_s_text_is_indented_anew() {
        let file = "        a()\n        if b:\n            c()\n        d()\n";
        let replace = "        a()\n        if b:\n            c()\n            d()\n";
        assert_eq!(based(file, "a()\nif b:\n    c()\nd()\n", replace).as_deref(), Some(file.trim_end()));
        // A line has the quoted indentation: the other one is moved.
        let file = "  total = []\n  foo(2)\n";
        assert_eq!(based(file, "    total = []\n    foo(2)\n", "    total = []\n  foo(2)\n"), None);
        let file = "        a(1)\n    b(1)\n";
        assert_eq!(based(file, "    a(1)\nb(1)\n", "    a(1)\n    b(1)\n"), None);
        // All lines are moved, in the unit of the quote.
        let file = "    a();\n    if (x) {\n        b();\n    }\n";
        let search = "  a();\n  if (x) {\n    b();\n  }\n";
        assert_eq!(based(file, search, "    a();\n    if (x) {\n      b();\n    }\n"), None);
    }

    #[test]
    fn a_replacement_with_the_marks_of_the_file_was_made_from_it() {
        let file = "x = \"a\"\ny = \"b\"\n";
        let search = "x = 'a'\ny = 'b'\n";
        assert_eq!(based(file, search, "x = \"a\"\nz = \"b\"\n").as_deref(), Some("x = \"a\"\ny = \"b\""));
        assert_eq!(based(file, search, "x = \"a\"\ny = 'b'\nz = 1\n"), None, "half of it is as quoted");
    }
}
