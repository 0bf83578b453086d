//! Finds the new findings of an edit: those after it that were not there before.
//!
//! Findings are compared as multisets by file, code, message without numbers, and the text of their line. A
//! gate can give a finding an identity, which is compared instead of a message that changes from run to run.
//! A finding that moved with its line is old, and so is one whose line was rewritten. A second copy of an old
//! finding is new. Of two findings at the very start of a text, the text of the first line does not count; nor
//! does that of the last line at its end, or that of any line for two findings at the same line and column.
//! Findings in other files do not move, because the lines of those files are not known here.
//! Of a long line, only both ends and the length are compared: a page of ten megabytes on one line took ten
//! gigabytes when each finding on it had a copy of the line.
//!
//! Invariant: the number of old findings after an edit never exceeds the number of findings before it.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use super::draft::Draft;
use super::finding::Severity;
use super::pieces::{PieceSide, ReplacedLines, piece_index, pieces};
use lockgate_text::{Buffer, LineMap, Lines};

/// The certainty of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Belief {
    /// The finding is a fault in any case.
    Certain,
    /// Valid texts can cause it too.
    Doubtful,
}

/// The maximum length of a line that is kept with a finding, in bytes.
const LONGEST_LINE: usize = 512;

/// The properties of a finding that are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ComparedFinding {
    /// The path of the file, if it is not the edited one.
    pub(super) elsewhere: Option<String>,
    /// The first line of the finding, 1-based.
    pub(super) line: usize,
    /// The last line of the finding, 1-based and inclusive.
    pub(super) end_line: usize,
    /// Set when the finding is about each of these lines, not about something that begins on the first.
    pub(super) is_stretch: bool,
    /// The column, 1-based, in characters of the line.
    pub(super) column: usize,
    /// The name of the rule, if the gate gives one.
    pub(super) code: Option<String>,
    /// The severity that the gate reports; findings are equal whatever it is.
    pub(super) severity: Severity,
    pub(super) message: String,
    /// The parts that are compared instead of the message; empty if the message is compared.
    pub(super) identity: BTreeSet<String>,
    pub(super) belief: Belief,
    /// The trimmed text of its line; empty for another file. Of a long line, both ends and the length.
    pub(super) around: String,
}

impl ComparedFinding {
    /// Creates a finding at a position.
    pub(super) fn new(lines: Lines<'_>, position: (usize, usize), message: String) -> ComparedFinding {
        ComparedFinding::at(position, message, lines.text(position.0).trim())
    }

    /// Creates a finding in another file.
    pub(super) fn elsewhere(path: String, position: (usize, usize), message: String) -> ComparedFinding {
        ComparedFinding { elsewhere: Some(path), ..ComparedFinding::at(position, message, "") }
    }

    fn at((line, column): (usize, usize), message: String, around: &str) -> ComparedFinding {
        ComparedFinding {
            elsewhere: None,
            line,
            end_line: line,
            is_stretch: false,
            column,
            code: None,
            severity: Severity::Error,
            message,
            identity: BTreeSet::new(),
            belief: Belief::Certain,
            around: shortened(around),
        }
    }

    fn key(&self) -> FindingIdentity<'_> {
        let (code, words) = self.identity_text();
        FindingIdentity { elsewhere: self.elsewhere.as_deref(), code, words, around: &self.around }
    }

    /// True if both findings are at the very start of the text, where a finding can be about the whole text, and
    /// differ at most in the text of the first line.
    fn is_same_at_start(&self, before: &ComparedFinding) -> bool {
        [self, before].iter().all(|finding| (finding.line, finding.column) == (1, 1))
            && self.elsewhere == before.elsewhere
            && self.identity_text() == before.identity_text()
    }

    /// Returns the code, and the identity or else the message without its numbers.
    fn identity_text(&self) -> (Option<&str>, String) {
        if !self.identity.is_empty() {
            let parts: Vec<&str> = self.identity.iter().map(String::as_str).collect();
            return (self.code.as_deref(), parts.join("\n"));
        }
        let number = |word: &&str| word.chars().all(|c| c.is_ascii_digit());
        let words = self.message.split(|c: char| !c.is_alphanumeric() && c != '_');
        (self.code.as_deref(), words.filter(|word| !number(word)).collect::<Vec<_>>().join(" "))
    }

    /// Returns the position on one side of `pieces`. `stayed` is its line after the edit, for a finding
    /// outside of all pieces.
    fn position(&self, pieces: &[ReplacedLines], side: PieceSide, stayed: Option<usize>) -> FindingPosition {
        if self.elsewhere.is_some() {
            return FindingPosition::Nowhere;
        }
        match (piece_index(pieces, side, self.line), stayed) {
            (Some(index), _) => FindingPosition::Piece(index),
            (None, Some(line)) => FindingPosition::Line(line),
            (None, None) => FindingPosition::Nowhere,
        }
    }

    /// True if both findings have identities and that of `before` contains this one, as for a run that fails
    /// in fewer places than before.
    fn is_part_of(&self, before: &ComparedFinding) -> bool {
        let is_same = (&self.elsewhere, &self.code) == (&before.elsewhere, &before.code);
        is_same && !self.identity.is_empty() && self.identity.is_subset(&before.identity)
    }

    /// Returns its line after the edit; `None` if the edit removed the line.
    fn rebased_line(&self, map: &LineMap) -> Option<usize> {
        if self.elsewhere.is_some() { Some(self.line) } else { map.new_line_of(self.line) }
    }
}

/// A finding after an edit, compared with those before it.
#[derive(Debug, Clone)]
pub(super) struct MarkedFinding {
    pub(super) finding: ComparedFinding,
    /// Set when the edit introduced the finding.
    pub(super) fresh: bool,
}

impl MarkedFinding {
    /// Marks a finding as introduced by the edit.
    pub(super) fn fresh(finding: ComparedFinding) -> MarkedFinding {
        MarkedFinding { finding, fresh: true }
    }

    /// Marks each finding with the flag at its place: true if the edit introduced it.
    pub(super) fn all(
        findings: impl IntoIterator<Item = ComparedFinding>,
        flags: impl IntoIterator<Item = bool>,
    ) -> Vec<MarkedFinding> {
        let marked = |(finding, fresh)| MarkedFinding { finding, fresh };
        findings.into_iter().zip(flags).map(marked).collect()
    }

    /// True if the edit introduced the finding, and it is a fault in any case.
    pub(super) fn is_certain_and_fresh(&self) -> bool {
        self.fresh && self.finding.belief == Belief::Certain
    }
}

/// Returns a line for comparison: unchanged if short, otherwise both ends with the length between them.
fn shortened(line: &str) -> String {
    if line.len() <= LONGEST_LINE {
        return line.to_owned();
    }
    let start = line.get(..line.floor_char_boundary(LONGEST_LINE / 2)).unwrap_or_default();
    let end = line.get(line.ceil_char_boundary(line.len() - LONGEST_LINE / 2)..).unwrap_or_default();
    format!("{start}\n{}\n{end}", line.len())
}

/// The properties that identify a finding on both sides.
#[derive(PartialEq, Eq, Hash)]
struct FindingIdentity<'a> {
    elsewhere: Option<&'a str>,
    code: Option<&'a str>,
    /// The identity, or else the message without its numbers.
    words: String,
    around: &'a str,
}

/// Marks the findings in the text after an edit. `find_before` returns those in the text before it, and is called only if
/// there is something to compare.
///
/// Errors: those of `find_before`.
pub(super) fn mark_new<E>(
    draft: &Draft<'_>,
    after: Vec<ComparedFinding>,
    find_before: impl FnOnce(&Buffer) -> Result<Vec<ComparedFinding>, E>,
) -> Result<Vec<MarkedFinding>, E> {
    let new = match draft.before.filter(|_| !after.is_empty()) {
        None => vec![true; after.len()],
        Some(before) => {
            let counts = (before.lines().count(), draft.after.lines().count());
            flag_new(&find_before(before)?, &after, draft.map, counts)
        }
    };
    Ok(MarkedFinding::all(after, new))
}

/// Flags each finding after an edit that is new. The pair gives the number of lines before and after the
/// edit.
///
/// A finding without a partner before the edit is new, with four exceptions, whatever the text of its line:
/// its line stayed and had the same finding, its line was rewritten and the replaced lines had the same
/// finding, the last line had the same finding and still has it, or the same finding was at the same line and
/// column. The last two are about the end of a text, or about a text that is longer than a limit.
pub(super) fn flag_new(
    before: &[ComparedFinding],
    after: &[ComparedFinding],
    map: &LineMap,
    (old_count, new_count): (usize, usize),
) -> Vec<bool> {
    let Unmatched { gone, mut new } = unmatched(before, after, map);
    if !gone.contains(&true) {
        return new;
    }
    let mut left: Vec<&ComparedFinding> =
        before.iter().zip(gone).filter_map(|(finding, gone)| gone.then_some(finding)).collect();
    let pieces = pieces(map, old_count, new_count);
    let spot_before = |finding: &ComparedFinding| {
        Some(finding.position(&pieces, |piece| piece.old, map.new_line_of(finding.line)))
    };
    let spot =
        |finding: &ComparedFinding| Some(finding.position(&pieces, |piece| piece.new, Some(finding.line)));
    pair_by(&mut left, after, &mut new, spot_before, spot);
    // A finding that went with its line has no partner: another line has one of its own.
    let stayed = |finding: &ComparedFinding| map.new_line_of(finding.line).is_some();
    let is_last = |finding: &ComparedFinding, count| finding.elsewhere.is_none() && finding.line == count;
    let was_last = |finding: &ComparedFinding| (is_last(finding, old_count) && stayed(finding)).then_some(());
    pair_by(&mut left, after, &mut new, was_last, |finding| is_last(finding, new_count).then_some(()));
    let place =
        |finding: &ComparedFinding| finding.elsewhere.is_none().then_some((finding.line, finding.column));
    let old_place = |finding: &ComparedFinding| place(finding).filter(|_| stayed(finding));
    // What the edit wrote on a line is new there, whatever was at this place before.
    let new_place = |finding: &ComparedFinding| place(finding).filter(|_| !map.touched(finding.line));
    pair_by(&mut left, after, &mut new, old_place, new_place);
    new
}

/// Pairs the findings that are `left` of those before the edit with new ones of the same identity and the same
/// key. Removes them from `left`, and the flags of their partners. A finding without a key has no partner.
fn pair_by<'f, K: Eq + Hash>(
    left: &mut Vec<&'f ComparedFinding>,
    after: &'f [ComparedFinding],
    new: &mut [bool],
    old_key: impl Fn(&ComparedFinding) -> Option<K>,
    new_key: impl Fn(&ComparedFinding) -> Option<K>,
) {
    let mut open: HashMap<_, Vec<usize>> = HashMap::new();
    for (index, finding) in left.iter().enumerate().rev() {
        if let Some(key) = old_key(finding) {
            open.entry((key, finding.identity_text())).or_default().push(index);
        }
    }
    let mut paired: HashSet<usize> = HashSet::new();
    for (finding, new) in after.iter().zip(new).filter(|(_, new)| **new) {
        let Some(key) = new_key(finding) else { continue };
        if let Some(index) = open.get_mut(&(key, finding.identity_text())).and_then(Vec::pop) {
            paired.insert(index);
            *new = false;
        }
    }
    let mut index = 0..;
    left.retain(|_| index.next().is_some_and(|index| !paired.contains(&index)));
}

/// Corrects the flags of stretches of lines, as formatters report them.
///
/// A stretch grows, splits and joins with others, so its first line and its message say little. It is old if
/// each of its lines was found before: the line stayed and was in a stretch, has the text of a line in a
/// stretch, or replaced such a line. If a line stayed and was not found before, the flag of its stretch does
/// not change: the edit changed the context, or the program's differences came out otherwise.
pub(super) fn settle_stretches(
    before: &[ComparedFinding],
    after: &[ComparedFinding],
    map: &LineMap,
    (old, now): (Lines<'_>, Lines<'_>),
    new: &mut [bool],
) {
    if !after.iter().any(|finding| finding.is_stretch) {
        return;
    }
    let found = before
        .iter()
        .filter(|finding| finding.is_stretch)
        .flat_map(|finding| finding.line..=finding.end_line);
    let found: BTreeSet<usize> = found.collect();
    let stayed: HashSet<usize> = found.iter().filter_map(|&line| map.new_line_of(line)).collect();
    let mut texts: HashMap<&str, usize> = HashMap::new();
    for &line in &found {
        *texts.entry(old.text(line).trim()).or_default() += 1;
    }
    let pieces = pieces(map, old.count(), now.count());
    let in_place_of = |piece: &ReplacedLines| piece.old_lines().filter(|line| found.contains(line)).count();
    let mut replaced: HashMap<usize, usize> =
        pieces.iter().enumerate().map(|(at, piece)| (at, in_place_of(piece))).collect();
    let stretches = || after.iter().enumerate().filter(|(_, finding)| finding.is_stretch);
    let all = stretches()
        .flat_map(|(index, finding)| (finding.line..=finding.end_line).map(move |line| (index, line)));
    let (in_stretches, in_pieces): (Vec<_>, Vec<_>) = all.partition(|(_, line)| stayed.contains(line));
    for (_, line) in in_stretches {
        take(&mut texts, now.text(line).trim());
    }
    let (mut fresh, mut unsettled) = (HashSet::new(), HashSet::new());
    for (index, line) in in_pieces {
        if take(&mut texts, now.text(line).trim()) {
            continue;
        }
        match piece_index(&pieces, |piece| piece.new, line) {
            None => drop(unsettled.insert(index)),
            Some(at) if take(&mut replaced, at) => {}
            Some(_) => drop(fresh.insert(index)),
        }
    }
    for (index, _) in stretches() {
        match new.get_mut(index) {
            Some(flag) if fresh.contains(&index) => *flag = true,
            Some(flag) if !unsettled.contains(&index) => *flag = false,
            _ => {}
        }
    }
}

/// A position that is comparable on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum FindingPosition {
    /// A line that stayed, by its number after the edit.
    Line(usize),
    /// Rewritten lines, by their index among all pieces.
    Piece(usize),
    /// No position that can be compared.
    Nowhere,
}

/// The findings without a partner on the other side.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Unmatched {
    /// For each finding before the edit: true if it is gone.
    pub(super) gone: Vec<bool>,
    /// For each finding after the edit: true if it is new.
    pub(super) new: Vec<bool>,
}

/// Matches the findings of both sides; of several equal ones, those that stayed on their line are the old ones.
pub(super) fn unmatched(before: &[ComparedFinding], after: &[ComparedFinding], map: &LineMap) -> Unmatched {
    let mut open: HashMap<_, Pair> = HashMap::new();
    for (index, finding) in before.iter().enumerate() {
        open.entry(finding.key()).or_default().old.push(index);
    }
    for (index, finding) in after.iter().enumerate() {
        open.entry(finding.key()).or_default().new.push(index);
    }
    let mut result = Unmatched { gone: vec![false; before.len()], new: vec![false; after.len()] };
    for pair in open.into_values() {
        pair.settle(before, after, map, &mut result);
    }
    for (finding, new) in after.iter().zip(&mut result.new).filter(|(_, new)| **new) {
        let partner = before
            .iter()
            .zip(&result.gone)
            .position(|(old, gone)| *gone && (finding.is_part_of(old) || finding.is_same_at_start(old)));
        if let Some(partner) = partner {
            *new = false;
            if let Some(gone) = result.gone.get_mut(partner) {
                *gone = false;
            }
        }
    }
    result
}

/// The equal findings of both sides by their index, in the order of the text.
#[derive(Default)]
struct Pair {
    old: Vec<usize>,
    new: Vec<usize>,
}

impl Pair {
    /// Matches findings that stayed on their line first, then the rest in the order of the text.
    fn settle(
        mut self,
        before: &[ComparedFinding],
        after: &[ComparedFinding],
        map: &LineMap,
        result: &mut Unmatched,
    ) {
        let mut stay: HashMap<usize, usize> = HashMap::new();
        for line in self.old.iter().filter_map(|&index| before.get(index)?.rebased_line(map)) {
            *stay.entry(line).or_default() += 1;
        }
        let mut stayed: HashMap<usize, usize> = HashMap::new();
        self.new.retain(|&index| {
            let line = after.get(index).map_or(0, |finding| finding.line);
            let stays = take(&mut stay, line);
            *stayed.entry(line).or_default() += usize::from(stays);
            !stays
        });
        self.old.retain(|&index| {
            let line = before.get(index).and_then(|finding| finding.rebased_line(map));
            !line.is_some_and(|line| take(&mut stayed, line))
        });
        let moved = self.old.len().min(self.new.len());
        for &index in self.old.iter().skip(moved) {
            set(&mut result.gone, index);
        }
        for &index in self.new.iter().skip(moved) {
            set(&mut result.new, index);
        }
    }
}

/// Decrements the count of a key; false if there is none left.
fn take<K: Eq + Hash>(counts: &mut HashMap<K, usize>, key: K) -> bool {
    let Some(count) = counts.get_mut(&key).filter(|count| **count > 0) else { return false };
    *count -= 1;
    true
}

fn set(flags: &mut [bool], index: usize) {
    if let Some(flag) = flags.get_mut(index) {
        *flag = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_text::{Buffer, Hints};

    fn buffer(text: &str) -> Buffer {
        Buffer::read(text.as_bytes().to_vec(), Hints::default()).unwrap()
    }

    /// One finding for each line that holds `bad`.
    fn marks(buffer: &Buffer) -> Vec<ComparedFinding> {
        let lines = buffer.lines();
        let bad = (1..=lines.count()).filter(|&line| lines.text(line).contains("bad"));
        bad.map(|line| ComparedFinding::new(lines, (line, 2), format!("bad at {line}"))).collect()
    }

    fn new_lines(before: &str, after: &str) -> Vec<usize> {
        let (old, new) = (buffer(before), buffer(after));
        let map = old.rewrite(after).unwrap().line_map(&old, &new);
        let marks_after = marks(&new);
        let flags = unmatched(&marks(&old), &marks_after, &map).new;
        marks_after.iter().zip(flags).filter(|(_, new)| *new).map(|(finding, _)| finding.line).collect()
    }

    #[test]
    fn only_what_is_new_counts() {
        let none: [usize; 0] = [];
        assert_eq!(new_lines(" bad\n", " bad\n"), none);
        assert_eq!(new_lines("", " bad\n"), [1]);
        assert_eq!(new_lines(" bad\nx\n", "y\nz\n bad\nx\n"), none, "moved down");
        assert_eq!(new_lines(" bad\na\nb\nc\n", "a\nb\nc\n bad\n"), none, "moved away");
        assert_eq!(new_lines(" bad\nx\n", "    bad\nx\n"), none, "indented");
        assert_eq!(new_lines(" bad\nx\n", " bad\nx\n bad\n"), [3], "a second copy below");
        assert_eq!(new_lines("x\n bad\n", " bad\nx\n bad\n"), [1], "a second copy above");
        assert_eq!(new_lines(" bad\nx\n bad\n", " bad\nx\n"), none, "one of two gone");
        assert_eq!(new_lines(" bad 1\n", " bad 2\n"), [1], "another line");
    }

    #[test]
    fn a_finding_about_the_whole_text_does_not_hang_on_its_first_line() {
        let (old, new) = (buffer("a\n"), buffer("b\n"));
        let map = old.rewrite("b\n").unwrap().line_map(&old, &new);
        let whole =
            |buffer: &Buffer| vec![ComparedFinding::new(buffer.lines(), (1, 1), "no title".to_owned())];
        assert_eq!(unmatched(&whole(&old), &whole(&new), &map).new, [false]);
    }

    #[test]
    fn a_finding_stays_old_when_its_line_is_written_anew() {
        let lines = |before: &str, after: &str| {
            let (old, new) = (buffer(before), buffer(after));
            let map = old.rewrite(after).unwrap().line_map(&old, &new);
            let (old_marks, new_marks) = (marks(&old), marks(&new));
            let counts = (old.lines().count(), new.lines().count());
            let flags = flag_new(&old_marks, &new_marks, &map, counts);
            new_marks
                .iter()
                .zip(flags)
                .filter(|(_, new)| *new)
                .map(|(finding, _)| finding.line)
                .collect::<Vec<_>>()
        };
        let none: [usize; 0] = [];
        assert_eq!(lines(" bad\nx\n", " bad and more\nx\n"), none);
        assert_eq!(lines(" bad\nx\n", " bad one\n bad two\nx\n"), [2], "one of two");
        assert_eq!(lines(" bad\nx\ny\n", " mended\nx\n bad\n"), none, "as it was, elsewhere");
        assert_eq!(lines(" bad\nx\ny\n", " mended\nx\n bad z\n"), [3], "another one, elsewhere");
        assert_eq!(lines(" bad 1\n bad 2\n", " bad 3\n bad 4\n bad 5\n"), [3]);
    }

    /// Returns the findings of a formatter that removes leading space: one for each run of lines with some.
    fn runs(buffer: &Buffer) -> Vec<ComparedFinding> {
        let lines = buffer.lines();
        let is_found = |line: usize| (1..=lines.count()).contains(&line) && lines.text(line).starts_with(' ');
        let begins = (1..=lines.count()).filter(|&line| is_found(line) && !is_found(line - 1));
        let run = |line: usize| {
            let end_line = (line..).take_while(|&line| is_found(line)).last().unwrap();
            let message =
                format!("{} lines differ, expected `{}`", end_line + 1 - line, lines.text(line).trim());
            ComparedFinding { end_line, is_stretch: true, ..ComparedFinding::new(lines, (line, 1), message) }
        };
        begins.map(run).collect()
    }

    /// Returns the first lines of the new runs: by their first line and message alone, and by all of their
    /// lines.
    fn new_runs(before: &str, after: &str) -> (Vec<usize>, Vec<usize>) {
        let (old, now) = (buffer(before), buffer(after));
        let map = old.rewrite(after).unwrap().line_map(&old, &now);
        let (old_marks, marks) = (runs(&old), runs(&now));
        let mut flags = flag_new(&old_marks, &marks, &map, (old.lines().count(), now.lines().count()));
        let first_lines = |flags: &[bool]| {
            let new = marks.iter().zip(flags).filter(|(_, new)| **new);
            new.map(|(finding, _)| finding.line).collect::<Vec<_>>()
        };
        let naive = first_lines(&flags);
        settle_stretches(&old_marks, &marks, &map, (old.lines(), now.lines()), &mut flags);
        (naive, first_lines(&flags))
    }

    #[test]
    fn a_stretch_is_old_where_each_of_its_lines_was_found_before() {
        let none = Vec::new;
        assert_eq!(new_runs("x\n a\n b\n", "x\n a\n b\n c\n"), (none(), vec![2]), "it grows at its end");
        assert_eq!(new_runs("x\n a\n b\n", "x\n a\n c\n b\n"), (none(), vec![2]), "it grows within");
        assert_eq!(new_runs("x\n a\n b\n", "x\n a\ny\n b\n"), (vec![4], none()), "it splits");
        assert_eq!(new_runs("x\n a\ny\n b\n", "x\n a\n b\n").1, none(), "two join");
        assert_eq!(new_runs("x\n a\n b\n", "x\n b\n").1, none(), "its first line goes");
        assert_eq!(new_runs("x\n a\n b\n c\n", "x\n a\n d\n c\n").1, none(), "a line of it is written anew");
        assert_eq!(new_runs("x\n a\n c\n", "x\n a2\n d\n e\n c\n").1, vec![2], "one becomes three");
        assert_eq!(new_runs("x\n a\n b\ny\n", "y\nx\n a\n b\n").1, none(), "it moves");
        assert_eq!(new_runs("x\n a\n b\ny\n", "x\n a\n b\ny\n a\n b\n").1, vec![5], "a second copy");
        assert_eq!(new_runs("x\ny\nz\n", "x\n y\nz\n").1, vec![2], "a line that was fine");
        assert_eq!(new_runs("x\n", " x\n").1, vec![1]);
        let (old, now) = (buffer("x\n a\nb\n c\n"), buffer("y\n a\nb\n c\n"));
        let map = old.rewrite(now.view()).unwrap().line_map(&old, &now);
        let joined = ComparedFinding { end_line: 4, ..runs(&now)[0].clone() };
        for was in [false, true] {
            let mut flags = [was];
            let texts = (old.lines(), now.lines());
            settle_stretches(&runs(&old), std::slice::from_ref(&joined), &map, texts, &mut flags);
            assert_eq!(flags, [was], "a line between two stretches that is counted with them");
        }
        assert_eq!(new_runs("", " x\n").1, vec![1]);
    }

    #[test]
    fn a_finding_on_the_first_line_moves_with_it() {
        let (old, new) = (buffer("bad\nx\n"), buffer("y\nbad\nx\n"));
        let map = old.rewrite(new.view()).unwrap().line_map(&old, &new);
        let findings =
            |text: &Buffer, line| vec![ComparedFinding::new(text.lines(), (line, 1), "bad".to_owned())];
        assert_eq!(flag_new(&findings(&old, 1), &findings(&new, 2), &map, (2, 3)), [false]);
        assert_eq!(flag_new(&findings(&old, 1), &findings(&new, 3), &map, (2, 3)), [true]);
        let back = new.rewrite(old.view()).unwrap().line_map(&new, &old);
        assert_eq!(flag_new(&findings(&new, 2), &findings(&old, 1), &back, (3, 2)), [false]);
    }

    /// Returns the flags of findings at these lines and columns, each with its message.
    fn flags(
        (old_text, old_places): (&str, &[(usize, usize, &str)]),
        (new_text, new_places): (&str, &[(usize, usize, &str)]),
    ) -> Vec<bool> {
        let (old, new) = (buffer(old_text), buffer(new_text));
        let map = old.rewrite(new.view()).unwrap().line_map(&old, &new);
        let findings = |text: &Buffer, places: &[(usize, usize, &str)]| {
            let finding = |(line, column, message): &(usize, usize, &str)| {
                ComparedFinding::new(text.lines(), (*line, *column), (*message).to_owned())
            };
            places.iter().map(finding).collect::<Vec<_>>()
        };
        let counts = (old.lines().count(), new.lines().count());
        flag_new(&findings(&old, old_places), &findings(&new, new_places), &map, counts)
    }

    #[test]
    fn a_finding_about_the_end_of_a_text_stays_there() {
        let end = "no newline at end of file";
        let places = [(2, 2, end)];
        let before = ("a\nb", places.as_slice());
        assert_eq!(flags(before, ("a\nb\nlonger", &[(3, 7, end)])), [false], "appended");
        assert_eq!(flags(before, ("a\nb\nc\nd", &[(3, 2, end)])), [true], "not on the last line");
        assert_eq!(flags(before, ("a\nb\nc", &[(3, 2, "another")])), [true], "another finding");
        assert_eq!(flags(before, ("a\nb\nc", &[(3, 2, end), (3, 1, end)])), [false, true], "a second one");
        assert_eq!(
            flags(("a\nb", &[(1, 1, end)]), ("a\nb\nc", &[(3, 2, end)])),
            [true],
            "not at the end before"
        );
        assert_eq!(flags(before, ("a", &[(1, 2, end)])), [true], "the last line was removed");
        assert_eq!(
            flags(before, ("a\nb\nc", &[(2, 2, end), (3, 2, end)])),
            [false, true],
            "it stayed on its line"
        );
    }

    #[test]
    fn a_finding_about_the_whole_text_stays_at_its_line_and_column() {
        let long = |count: usize| format!("file has too many lines ({count}). Maximum allowed is 3");
        let (before, after) = (long(4), long(5));
        let places = [(4, 1, before.as_str())];
        let old = ("a\nb\nc\nd\n", places.as_slice());
        assert_eq!(flags(old, ("z\na\nb\nc\nd\n", &[(4, 1, &after)])), [false], "a line above");
        assert_eq!(flags(old, ("z\na\nb\nc\nd\n", &[(3, 1, &after)])), [true], "at another line");
        assert_eq!(flags(old, ("z\na\nb\nc\nd\n", &[(4, 2, &after)])), [true], "at another column");
        assert_eq!(flags(old, ("z\na\nb\nc\nd\n", &[(4, 1, "unused x")])), [true], "another finding");
        let two = [(4, 1, after.as_str()), (5, 1, after.as_str())];
        assert_eq!(flags(old, ("z\na\nb\nc\nd\n", &two)), [true, false], "the old one, and one more");
        let removed = ("a\nb\nbad c\nbad d\n", [(3, 1, "bad x")].as_slice());
        assert_eq!(flags(removed, ("a\nb\nbad d\n", &[(3, 1, "bad x")])), [true], "that line was removed");
        let elsewhere = |line| ComparedFinding::elsewhere("b.go".to_owned(), (line, 1), "x".to_owned());
        let named = |name: &str| ComparedFinding { message: format!("no {name}"), ..elsewhere(1) };
        assert_eq!(flag_new(&[named("f")], &[named("g")], &LineMap::default(), (1, 1)), [true]);
    }

    #[test]
    fn findings_that_change_places_with_the_first_line_are_old() {
        let (old, new) = (buffer("bad a\nbad b\n"), buffer("bad b\nbad a\n"));
        let map = old.rewrite(new.view()).unwrap().line_map(&old, &new);
        let at = |text: &Buffer, line| ComparedFinding::new(text.lines(), (line, 1), "bad".to_owned());
        let both = |text: &Buffer| [at(text, 1), at(text, 2)];
        assert_eq!(flag_new(&both(&old), &both(&new), &map, (2, 2)), [false, false]);
        let (old, new) = (buffer("bad a\nx\ny\n"), buffer("y\nx\nbad b\n"));
        let map = old.rewrite(new.view()).unwrap().line_map(&old, &new);
        assert_eq!(flag_new(&[at(&old, 1)], &[at(&new, 3)], &map, (3, 3)), [true], "another line");
    }

    #[test]
    fn a_finding_with_an_identity_is_compared_by_it() {
        let (old, new) = (buffer("a\n"), buffer("b\n"));
        let map = old.rewrite(new.view()).unwrap().line_map(&old, &new);
        let failed = |text: &Buffer, message: &str, parts: &[&str]| ComparedFinding {
            identity: parts.iter().map(ToString::to_string).collect(),
            ..ComparedFinding::new(text.lines(), (1, 1), message.to_owned())
        };
        let is_new = |before: ComparedFinding, after: ComparedFinding| {
            flag_new(&[before], &[after], &map, (1, 1)) == [true]
        };
        let before = || failed(&old, "failed in 12s at a", &["FAILED a", "FAILED b"]);
        assert!(!is_new(before(), failed(&new, "failed in 9ms at b", &["FAILED a", "FAILED b"])));
        assert!(!is_new(before(), failed(&new, "failed in 9ms", &["FAILED b"])), "in fewer places");
        assert!(is_new(before(), failed(&new, "failed in 12s at a", &["FAILED a", "FAILED c"])));
        assert!(is_new(before(), failed(&new, "failed in 12s at a", &["FAILED a", "FAILED b", "FAILED c"])));
        // The control: by their messages they are new.
        assert!(is_new(failed(&old, "failed in 12s at a", &[]), failed(&new, "failed in 9ms at a", &[])));
        let twice = [failed(&new, "x", &["FAILED a"]), failed(&new, "y", &["FAILED b"])];
        assert_eq!(flag_new(&[before()], &twice, &map, (1, 1)), [false, true], "one old finding excuses one");
    }

    #[test]
    fn a_name_with_another_number_is_another_name() {
        let identity = |message: &str| {
            ComparedFinding::new(buffer(" bad\n").lines(), (1, 2), message.to_owned()).identity_text().1
        };
        assert_eq!(identity("line too long (101 > 88)"), identity("line too long (95 > 88)"));
        assert_ne!(identity("undefined name `x1`"), identity("undefined name `x2`"));
        assert_ne!(identity("undefined name `x_1`"), identity("undefined name `x_2`"));
    }

    #[test]
    fn another_name_is_new_where_no_line_tells_it_apart() {
        let (old, new) = (buffer("x1\n"), buffer("x2\n"));
        let map = old.rewrite(new.view()).unwrap().line_map(&old, &new);
        let first = |buffer: &Buffer, name: &str| {
            ComparedFinding::new(buffer.lines(), (1, 1), format!("undefined {name}"))
        };
        assert_eq!(unmatched(&[first(&old, "x1")], &[first(&new, "x2")], &map).new, [true]);
        let elsewhere =
            |name: &str| ComparedFinding::elsewhere("b.go".to_owned(), (1, 1), format!("undefined: {name}"));
        assert_eq!(unmatched(&[elsewhere("Foo1")], &[elsewhere("Foo2")], &map).new, [true]);
    }

    #[test]
    fn the_lines_of_another_file_do_not_move_with_the_edit() {
        let (old, new) = (buffer("a\nb\n"), buffer("x\na\nb\n"));
        let map = old.rewrite(new.view()).unwrap().line_map(&old, &new);
        let elsewhere = |file: &str, line| {
            ComparedFinding::elsewhere(file.to_owned(), (line, 1), "undefined: f".to_owned())
        };
        let found = |after: &[ComparedFinding]| unmatched(&[elsewhere("b.go", 1)], after, &map).new;
        assert_eq!(found(&[elsewhere("b.go", 1)]), [false]);
        assert_eq!(found(&[elsewhere("b.go", 7)]), [false], "it moved by itself");
        assert_eq!(found(&[elsewhere("b.go", 1), elsewhere("b.go", 2)]), [false, true], "a second one");
        assert_eq!(found(&[elsewhere("c.go", 1)]), [true], "in a third file");
    }

    #[test]
    fn how_grave_a_finding_is_does_not_make_it_another() {
        let text = buffer(" bad\n");
        let graver = marks(&text);
        let milder = vec![ComparedFinding { severity: Severity::Info, ..graver[0].clone() }];
        assert_eq!(unmatched(&milder, &graver, &LineMap::default()).new, [false]);
    }

    #[test]
    fn codes_and_words_tell_findings_apart() {
        let text = buffer(" bad\n");
        let map = LineMap::default();
        let plain = marks(&text);
        let coded = vec![ComparedFinding { code: Some("E1".to_owned()), ..plain[0].clone() }];
        let worded = vec![ComparedFinding { message: "worse at 1".to_owned(), ..plain[0].clone() }];
        let counted = vec![ComparedFinding { message: "bad at 77".to_owned(), ..plain[0].clone() }];
        assert_eq!(unmatched(&plain, &coded, &map).new, [true]);
        assert_eq!(unmatched(&plain, &worded, &map).new, [true]);
        assert_eq!(unmatched(&plain, &counted, &map), Unmatched { gone: vec![false], new: vec![false] });
    }

    #[test]
    fn pieces_are_what_lies_between_the_lines_that_stayed() {
        let found = |before: &str, after: &str| {
            let (old, new) = (buffer(before), buffer(after));
            let map = old.rewrite(after).unwrap().line_map(&old, &new);
            let pieces = pieces(&map, old.lines().count(), new.lines().count());
            pieces.into_iter().map(|piece| (piece.old, piece.new)).collect::<Vec<_>>()
        };
        assert_eq!(found("a\nb\nc\n", "a\nx\nc\n"), [((2, 2), (2, 2))]);
        assert_eq!(found("a\nb\nc\n", "a\nc\n"), [((2, 2), (2, 1))]);
        assert_eq!(found("a\nc\n", "a\nb\nc\n"), [((2, 1), (2, 2))]);
        assert_eq!(found("a\n", "x\na\ny\n"), [((1, 0), (1, 1)), ((2, 1), (3, 3))]);
        assert_eq!(found("a\n", "a\n"), []);
        assert_eq!(found("a\n", ""), [((1, 1), (1, 0))]);
    }

    proptest::proptest! {
        #[test]
        fn as_many_are_new_as_the_multisets_differ_by(
            before in proptest::collection::vec(0..4_u8, 0..12),
            after in proptest::collection::vec(0..4_u8, 0..12),
        ) {
            let text = |lines: &[u8]| lines.iter().map(|n| format!(" bad {}\n", "x".repeat(*n as usize))).collect::<String>();
            let (old, new) = (buffer(&text(&before)), buffer(&text(&after)));
            let map = old.rewrite(new.view()).unwrap().line_map(&old, &new);
            let result = unmatched(&marks(&old), &marks(&new), &map);
            for kind in 0..4 {
                let count = |lines: &[u8]| lines.iter().filter(|n| **n == kind).count();
                let flagged = |lines: &[u8], flags: &[bool]| lines.iter().zip(flags).filter(|(n, flag)| **n == kind && **flag).count();
                proptest::prop_assert_eq!(flagged(&after, &result.new), count(&after).saturating_sub(count(&before)));
                proptest::prop_assert_eq!(flagged(&before, &result.gone), count(&before).saturating_sub(count(&after)));
            }
        }
    }

    #[test]
    fn findings_on_a_long_line_do_not_each_have_a_copy_of_it() {
        let line = "é ".repeat(100_000);
        let text = Buffer::read(line.clone().into_bytes(), Hints::default()).unwrap();
        let finding = |column| ComparedFinding::new(text.lines(), (1, column), "bad".to_owned());
        let size: usize = (2..1002).map(|column| finding(column).around.len()).sum();
        // The control: a copy each would be 300 MB.
        assert!(size < 1000 * (LONGEST_LINE + 20) && line.len() * 1000 > 100 * size, "{size}");
        // The line is still recognized after a move, and differs from another one.
        assert_eq!(shortened(&line), shortened(&line.clone()));
        assert_ne!(shortened(&line), shortened(&format!("{line}{line}")));
        assert_ne!(shortened(&line), shortened(&line.replacen('é', "aa", 1)));
        assert_eq!(shortened("short"), "short");
    }
}
