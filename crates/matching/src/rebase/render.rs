//! Renders each line of the result: an unchanged line of the file, one with the edit's change, or a new one in the
//! file's style.

use std::cell::{Cell, RefCell, RefMut};
use std::collections::HashMap;
use std::ops::Range;

use super::block::{Block, Conflict, MatchSite};
use super::output::OutputLine;
use super::pairs::{ALIKE, similarity, weight};
use super::tokens::{Evidence, merged};
use crate::fold::fold;
use crate::indent::{IndentMap, indent_of, trail_of};
use crate::quotes::swapped;
use crate::rows::NonBlankLines;
use lockgate_text::Lines;

/// The mapping from the block's indentation to the file's.
#[derive(Debug)]
enum Indentation {
    /// One rule maps all lines.
    One(IndentMap),
    /// The first line was quoted without its indentation, which is the first field; the rule maps the other lines.
    Head(String, IndentMap),
    /// No rule maps the lines.
    Unknown,
}

/// Renders the lines of one result.
pub(super) struct LineRenderer<'a> {
    block: &'a Block<'a>,
    site: &'a MatchSite,
    text: Lines<'a>,
    origins: &'a [Option<usize>],
    indentation: Indentation,
    /// By the trailing blanks of quoted lines: those of the same lines in the file, if all of these agree.
    trails: HashMap<&'a str, Option<&'a str>>,
    evidence: Evidence<'a>,
    /// The number of characters in all lines of the search.
    search_chars: usize,
    /// The remaining number of character pairs to compare.
    cells: Cell<usize>,
    /// Set if the first line alone was quoted from its first letter on, without its indentation.
    is_cut: bool,
    /// The last run of added lines that was looked at.
    run: RefCell<AddedRun<'a>>,
    /// Set if the file has all lines exactly as they are quoted.
    alike: bool,
}

/// A run of added lines between two lines that stay.
#[derive(Debug, Default)]
struct AddedRun<'a> {
    first: usize,
    end: usize,
    /// The quoted lines that the run replaces.
    removed: Range<usize>,
    /// By the indentation of the quoted lines that the run replaces: that of the same lines in the file, if all of these
    /// agree.
    replaced: HashMap<&'a str, Option<&'a str>>,
}

/// The maximum number of character pairs that are compared for the lines that one edit adds.
const MAX_CELLS: usize = 1 << 25;

/// The maximum length in bytes of a line that is merged word by word.
const LONGEST: usize = 1 << 16;

impl<'a> LineRenderer<'a> {
    /// Creates the renderer of a block. `quoted` are the lines of its search as they were quoted; those of the block may
    /// have marks of the file.
    pub(super) fn new(
        block: &'a Block<'a>,
        quoted: &NonBlankLines<'a>,
        site: &'a MatchSite,
        text: Lines<'a>,
        origins: &'a [Option<usize>],
    ) -> LineRenderer<'a> {
        let same = (0..block.search.len()).filter(|index| site.differing != Some(*index));
        let pairs: Vec<(&str, &str)> =
            same.map(|index| (quoted.line(index), text.text(site.line(index)))).collect();
        let alike = pairs.iter().all(|(quoted, actual)| quoted.trim() == actual.trim());
        let evidence = if alike { Evidence::default() } else { evidence(&pairs) };
        let all =
            (0..block.search.len()).map(|index| (block.search.line(index), text.text(site.line(index))));
        let indents: Vec<(&str, &str)> =
            all.map(|(quoted, actual)| (indent_of(quoted), indent_of(actual))).collect();
        let new_indents: Vec<&str> = block.replace.lines.iter().map(|line| indent_of(line)).collect();
        let is_indented = |(quoted, _): &(&str, &str)| !quoted.is_empty();
        let is_cut = matches!(indents.as_slice(), [("", first), rest @ ..]
            if !first.is_empty() && rest.iter().any(is_indented));
        let indentation = indentation(&indents, &new_indents);
        let search_chars = block.search.lines.iter().map(|line| weight(line)).sum();
        LineRenderer {
            block,
            site,
            text,
            origins,
            indentation,
            is_cut,
            trails: trails(block, site, text),
            evidence,
            alike,
            search_chars,
            cells: Cell::new(MAX_CELLS),
            run: RefCell::default(),
        }
    }

    /// Renders a row of the replacement.
    pub(super) fn row(&self, row: usize) -> Result<OutputLine, Conflict> {
        let wanted = self.block.replace.line(row);
        match self.origins.get(row).copied().flatten() {
            None => self.added(row, wanted).map(OutputLine::New),
            Some(base) if self.block.search.line(base) == wanted => {
                Ok(OutputLine::File(self.site.line(base)))
            }
            Some(base) => Ok(OutputLine::Edited(self.site.line(base), self.changed(base, row, wanted)?)),
        }
    }

    fn changed(&self, base: usize, row: usize, wanted: &str) -> Result<String, Conflict> {
        let (quoted, line) = (self.block.search.line(base), self.site.line(base));
        let actual = self.text.text(line);
        let conflict = |why| Conflict::new(line, why, quoted, actual);
        if self.site.differing == Some(base) {
            return Err(conflict("the edit changes a line that differs in the file"));
        }
        let indent = if indent_of(quoted) == indent_of(wanted) {
            indent_of(actual).to_owned()
        } else {
            let why = "the edit changes the indentation of a line whose indentation differs";
            self.indent(row, indent_of(wanted)).ok_or_else(|| conflict(why))?
        };
        let body = self.body(quoted.trim(), wanted.trim(), actual.trim()).map_err(conflict)?;
        let same_trail = trail_of(quoted) == trail_of(wanted);
        Ok(indent + &body + if same_trail { trail_of(actual) } else { trail_of(wanted) })
    }

    fn added(&self, row: usize, wanted: &str) -> Result<String, Conflict> {
        let Some(indent) = self.indent(row, indent_of(wanted)).or_else(|| self.sibling(row, wanted)) else {
            let (line, _) = self.site.ends();
            let why = "the indentation of an added line cannot be derived from the file";
            return Err(Conflict::new(line, why, wanted, self.text.text(line)));
        };
        Ok(indent + &self.render_new(wanted.trim()) + self.trail(row, trail_of(wanted)))
    }

    /// Returns the trailing blanks of an added line: those of the line that it replaces, if the edit does not change them,
    /// or those of the file, if quoted lines show what the file has for them.
    fn trail<'t>(&'t self, row: usize, wanted: &'t str) -> &'t str {
        match self.replaced_line(row).filter(|base| trail_of(self.block.search.line(*base)) == wanted) {
            Some(base) => trail_of(self.text.text(self.site.line(base))),
            None => self.trails.get(wanted).copied().flatten().unwrap_or(wanted),
        }
    }

    /// Returns the quoted line that an added line replaces, in a run that replaces as many lines, or at the end of the
    /// block.
    fn replaced_line(&self, row: usize) -> Option<usize> {
        let AddedRun { first, end, removed, .. } = &*self.run_of(row);
        if removed.len() == end - first {
            return Some(removed.start + (row - first));
        }
        let is_last = row + 1 == self.origins.len();
        removed.clone().next_back().filter(|_| is_last)
    }

    /// Applies the edit of a quoted line to a line of the file, both without the blanks at their ends.
    fn body(&self, quoted: &str, wanted: &str, actual: &str) -> Result<String, &'static str> {
        if quoted != actual && quoted.len() > LONGEST {
            return Err("the typographic marks of the line differ, and it is too long to merge");
        }
        if fold(quoted) == fold(actual) {
            return Ok(merged(quoted, wanted, actual, &self.evidence));
        }
        let mixed = "the file uses other string quotes, and the edit mixes both";
        let (quoted, wanted) = swapped(quoted, wanted, actual).ok_or(mixed)?;
        Ok(merged(&quoted, &wanted, actual, &Evidence::default()))
    }

    /// Renders a new line with the file's typographic marks, modelled on the most similar line of the block, if there
    /// is one.
    fn render_new(&self, wanted: &str) -> String {
        if self.alike {
            return wanted.to_owned();
        }
        let Some(remaining) = self.cells.get().checked_sub(self.search_chars * weight(wanted)) else {
            return self.evidence.translate_line(wanted);
        };
        self.cells.set(remaining);
        let nearest = (0..self.block.search.len())
            .filter(|base| self.site.differing != Some(*base))
            .map(|base| (similarity(self.block.search.line(base), wanted), base))
            .filter(|(score, _)| *score >= ALIKE)
            .max_by(|one, other| one.0.total_cmp(&other.0));
        let as_nearest = nearest.and_then(|(_, base)| {
            let actual = self.text.text(self.site.line(base)).trim();
            self.body(self.block.search.line(base).trim(), wanted, actual).ok()
        });
        as_nearest.unwrap_or_else(|| self.evidence.translate_line(wanted))
    }

    /// Maps the indentation by the rule, if there is one.
    fn indent(&self, row: usize, indent: &str) -> Option<String> {
        match &self.indentation {
            Indentation::One(map) => map.apply(indent),
            Indentation::Head(first, _) if row == 0 && indent.is_empty() => Some(first.clone()),
            Indentation::Head(_, map) => map.apply(indent),
            Indentation::Unknown => None,
        }
    }

    /// Returns the run of added lines around a row, computed once for all of its rows.
    fn run_of(&self, row: usize) -> RefMut<'_, AddedRun<'a>> {
        let mut run = self.run.borrow_mut();
        if !(run.first..run.end).contains(&row) {
            *run = self.added_run(row);
        }
        run
    }

    fn added_run(&self, row: usize) -> AddedRun<'a> {
        let (before, rest) = self.origins.split_at_checked(row).unwrap_or_default();
        let first = before.iter().rposition(Option::is_some).map_or(0, |above| above + 1);
        let end = row + rest.iter().position(Option::is_some).unwrap_or(rest.len());
        let origin = |row: usize| self.origins.get(row).copied().flatten();
        let from = first.checked_sub(1).and_then(origin).map_or(0, |above| above + 1);
        let removed = from..origin(end).unwrap_or(self.block.search.len());
        let shown = removed.clone().filter(|base| self.shows_indent(*base));
        let replaced = agreed(shown.map(|base| self.indents(base)));
        AddedRun { first, end, removed, replaced }
    }

    /// Returns the indentation of a quoted line, and that of the same line in the file.
    fn indents(&self, base: usize) -> (&'a str, &'a str) {
        (indent_of(self.block.search.line(base)), indent_of(self.text.text(self.site.line(base))))
    }

    /// Returns true if the indentation of a quoted line is not just missing.
    fn shows_indent(&self, base: usize) -> bool {
        base > 0 || !self.is_cut
    }

    /// Returns the indentation of the lines that a run of added lines replaces, if they agree. Without any, returns that of
    /// the nearest unchanged line with the same indentation in the replacement, the same one for all rows of the run. If
    /// such lines are directly above and below the run, they must be as deep.
    fn sibling(&self, row: usize, wanted: &str) -> Option<String> {
        let Indentation::Unknown = self.indentation else { return None };
        let wanted = indent_of(wanted);
        if row == 0 && self.is_cut && wanted.is_empty() && !self.origins.contains(&Some(0)) {
            return Some(self.indents(0).1.to_owned());
        }
        let run = self.run_of(row);
        if let Some(replaced) = run.replaced.get(wanted) {
            return replaced.map(str::to_owned);
        }
        let (first, end) = (run.first, run.end);
        let unchanged_line = |(other, origin): (usize, &Option<usize>)| {
            let base = (*origin).filter(|base| self.shows_indent(*base))?;
            let (quoted, actual) = self.indents(base);
            let same = indent_of(self.block.replace.line(other)) == wanted && quoted == wanted;
            same.then_some((other, actual))
        };
        let rows = || self.origins.iter().enumerate();
        let above = rows().take(first).rev().find_map(unchanged_line);
        let below = rows().skip(end).find_map(unchanged_line);
        let indent = match (above, below) {
            (Some((above, one)), Some((below, other))) => {
                let distances = (first - above, below + 1 - end);
                if distances == (1, 1) && columns(one) != columns(other) {
                    return None;
                }
                if distances.0 <= distances.1 { one } else { other }
            }
            (Some((_, indent)), None) | (None, Some((_, indent))) => indent,
            (None, None) => return None,
        };
        Some(indent.to_owned())
    }
}

fn indentation(pairs: &[(&str, &str)], indents: &[&str]) -> Indentation {
    if let [("", actual)] = pairs
        && !actual.is_empty()
        && let [_, rest @ ..] = indents
        && !rest.is_empty()
        && rest.iter().all(|other| other.starts_with(actual))
    {
        // One line, quoted from its first word on: the others may be indented as in the file, or from there on.
        return Indentation::Unknown;
    }
    let head = match pairs {
        // All indentation is missing, and a first line that is deeper than the next one begins no block.
        [("", first), ("", second), rest @ ..]
            if columns(first) > columns(second)
                && !second.is_empty()
                && rest.iter().all(|(quoted, _)| quoted.is_empty())
                && indents.iter().all(|indent| indent.is_empty()) =>
        {
            None
        }
        [("", first), rest @ ..] if !first.is_empty() => {
            IndentMap::explaining(rest, &[]).map(|map| ((*first).to_owned(), map))
        }
        [..] => None,
    };
    match (IndentMap::explaining(pairs, indents), head) {
        // Only the first line's indentation is missing. That is simpler than another unit or other tabs.
        (Some(map), Some((first, rest))) if map.converts_chars() && rest.is_same() => {
            Indentation::Head(first, rest)
        }
        (Some(map), _) => Indentation::One(map),
        (None, Some((first, rest))) => Indentation::Head(first, rest),
        (None, None) => Indentation::Unknown,
    }
}

/// Returns the columns of an indentation whose tabs are eight columns wide.
fn columns(indent: &str) -> usize {
    indent.chars().map(|blank| if blank == '\t' { 8 } else { 1 }).sum()
}

/// Maps the trailing blanks of quoted lines to those of the file, for lines that have any.
fn trails<'a>(block: &'a Block<'a>, site: &MatchSite, text: Lines<'a>) -> HashMap<&'a str, Option<&'a str>> {
    let trails = block.search.lines.iter().enumerate();
    let trails = trails.map(|(index, line)| (trail_of(line), trail_of(text.text(site.line(index)))));
    agreed(trails.filter(|(quoted, _)| !quoted.is_empty()))
}

/// Maps the blanks of quoted lines to those of the file, if all lines with the same ones agree on them.
fn agreed<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> HashMap<&'a str, Option<&'a str>> {
    let mut all: HashMap<&str, Option<&str>> = HashMap::new();
    for (quoted, actual) in pairs {
        let known = all.entry(quoted).or_insert(Some(actual));
        *known = known.filter(|known| *known == actual);
    }
    all
}

/// Collects the block's evidence of the file's typographic marks.
fn evidence<'a>(pairs: &[(&'a str, &'a str)]) -> Evidence<'a> {
    let mut evidence = Evidence::default();
    for (quoted, actual) in pairs.iter().map(|(quoted, actual)| (quoted.trim(), actual.trim())) {
        if quoted.len() <= LONGEST && fold(quoted) == fold(actual) {
            evidence.record(quoted, actual);
        }
    }
    evidence
}

#[cfg(test)]
mod tests {
    use super::super::rebase;
    use super::*;
    use lockgate_text::{Buffer, Hints};

    /// Rebases a block that is the whole file, and returns the file.
    fn rebased(file: &str, search: &str, replace: &str) -> String {
        let buffer = Buffer::read(file.as_bytes().to_vec(), Hints::default()).unwrap();
        let window = (1, buffer.lines().count());
        let site = MatchSite { lines: (window.0..=window.1).collect(), differing: None, extra: None, window };
        let changes = rebase(&Block::new(search, replace), &site, buffer.lines()).unwrap();
        buffer.apply(&buffer.plan(changes).unwrap()).unwrap().view().to_owned()
    }

    #[test]
    fn an_added_line_has_the_trailing_blanks_of_the_file_if_all_quoted_lines_agree_on_them() {
        for (file, search, replace, expected) in [
            ("a\t\nb\t\nc\n", "a \nb \nc\n", "a \nb \nx \nc\n", "a\t\nb\t\nx\t\nc\n"),
            ("a\t\nb\nc\n", "a \nb \nc\n", "a \nb \nx \nc\n", "a\t\nb\nx \nc\n"),
            ("a\t\nb\nc\n", "a \nb  \nc\n", "a \nb  \nx   \nc\n", "a\t\nb\nx   \nc\n"),
            ("a\t\nb\t\n", "a\nb\n", "a\nx\nb\n", "a\t\nx\nb\t\n"),
        ] {
            assert_eq!(rebased(file, search, replace), expected, "{file:?} {search:?}");
        }
    }

    #[test]
    fn a_line_in_place_of_another_keeps_the_trailing_blanks_of_the_file() {
        for (file, search, replace, expected) in [
            (
                "Roses are red,  \nb\n",
                "Roses are red,\nb\n",
                "The sky is wide,\nb\n",
                "The sky is wide,  \nb\n",
            ),
            ("a\u{3000}\nb\t\nc\n", "a\nb\nc\n", "xxx\nyyy\nc\n", "xxx\u{3000}\nyyy\t\nc\n"),
            ("a  \n", "a\n", "xxx\nyyy\n", "xxx\nyyy  \n"),
            ("a\t\nb  \n", "a\nb\n", "xxx\n", "xxx  \n"),
            // The edit changes the blanks, and no line shows which of two is replaced.
            ("a  \n", "a\n", "xxx \n", "xxx \n"),
            ("a  \n", "a  \n", "xxx\n", "xxx\n"),
            ("a  \nb\n", "a\nb\n", "xxx\nyyy\nb\n", "xxx\nyyy\nb\n"),
        ] {
            assert_eq!(rebased(file, search, replace), expected, "{file:?} {replace:?}");
        }
    }

    #[test]
    fn the_trailing_blanks_of_many_added_lines_take_linear_time() {
        let lines = |range: std::ops::Range<usize>, trail: &str| -> String {
            range.map(|number| format!("{number}{trail}\n")).collect()
        };
        let all = 0..40_000;
        let added = 40_000..80_000;
        let replace = lines(all.clone(), " ") + &lines(added.clone(), " ");
        let expected = lines(all.clone(), "\t") + &lines(added, "\t");
        assert!(rebased(&lines(all.clone(), "\t"), &lines(all, " "), &replace) == expected);
    }
}
