//! Finds the faults that an edit added to a file that did not parse before.
//!
//! Such a file is repaired in steps, and many parsers stop at the first fault. So a fault that was not reported before may
//! be old: fixing one uncovers the next. A fault that is not among the old ones is new if
//!
//! * it is in lines that the edit wrote, and the replaced lines and their neighbours had no fault (*struck*); or
//! * every old fault is still there, so none can have hidden it (*added*); or
//! * the parser stops at the first fault and now stops before the place that it reached before (*cut short*).
//!
//! If none is new, tree-sitter decides, because the parser may have stopped before the edit. It reports a fault of its own
//! that was struck, if it finds more faults than before; or an unmatched bracket, if there are more than before and the edit
//! changed the number of brackets.
//!
//! Invariant: an edit that leaves the faults unchanged or only removes some has no new fault.

use super::super::delta::{self, ComparedFinding, MarkedFinding, ReplacedLines};
use super::brackets::balance;
use super::table::{ParserKind, Stops};
use super::{fault, tree};
use lockgate_text::{Buffer, LineMap};

/// The most lines of a piece that counts as one place: any old fault in it excuses all new ones. In a longer piece each old
/// fault excuses one new fault.
const ONE_PLACE: usize = 12;

/// A parser that reports every fault, so that tree-sitter is not needed.
const REPORTS_ALL: ParserKind = ParserKind::Own(Stops::Never);

/// Faults in text order, each with the number of the pass that found it.
pub(super) type Faults = Vec<(ComparedFinding, u8)>;

/// The faults that tree-sitter finds on both sides, and the unmatched brackets.
#[derive(Debug, Default)]
pub(super) struct Opinion {
    pub(super) old: Faults,
    pub(super) new: Faults,
    pub(super) old_lone: Vec<usize>,
    pub(super) new_lone: Vec<usize>,
}

/// The part of an [`Opinion`] that can matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OpinionNeed {
    Nothing,
    Brackets,
    Everything,
}

/// The text before and after the edit.
pub(super) struct BeforeAfter<'a> {
    pub(super) before: &'a Buffer,
    pub(super) after: &'a Buffer,
    pub(super) map: &'a LineMap,
    pub(super) by: ParserKind,
}

/// Marks every fault as new, for a file that parsed before or did not exist.
pub(super) fn all_new(after: &Faults) -> Vec<MarkedFinding> {
    after.iter().map(|(finding, _)| MarkedFinding::fresh(finding.clone())).collect()
}

impl BeforeAfter<'_> {
    /// Returns the part of an opinion that [`BeforeAfter::judge`] uses: only the brackets, if the parser reports every
    /// fault, and nothing if the edit did not change their number either.
    pub(super) fn opinion_need(&self) -> OpinionNeed {
        let pieces = || delta::pieces(self.map, self.before.lines().count(), self.after.lines().count());
        match self.by {
            REPORTS_ALL if self.brackets_changed(&pieces()) => OpinionNeed::Brackets,
            REPORTS_ALL => OpinionNeed::Nothing,
            ParserKind::Own(_) | ParserKind::Tree => OpinionNeed::Everything,
        }
    }

    /// Returns the faults, compared with those before, plus new ones that only tree-sitter finds.
    pub(super) fn judge(&self, before: &Faults, after: &Faults, opinion: &Opinion) -> Vec<MarkedFinding> {
        let context = self.context([before, &opinion.old], [after, &opinion.new]);
        let fresh = context.fresh(self, before, after);
        let mut judged = MarkedFinding::all(marks(after), fresh);
        if !judged.iter().any(MarkedFinding::is_certain_and_fresh) {
            judged.extend(self.second_look(&context, opinion).into_iter().map(MarkedFinding::fresh));
        }
        judged
    }

    fn context(
        &self,
        [old_faults, second_old]: [&Faults; 2],
        [new_faults, second_new]: [&Faults; 2],
    ) -> EditContext {
        let (old, new) = (self.before.lines().count(), self.after.lines().count());
        let with_gone = |before: &Faults, after: &Faults| -> Vec<OldFault> {
            let (old, new) = (marks(before), marks(after));
            let gone = delta::unmatched(&old, &new, self.map).gone;
            old.into_iter().zip(gone).map(|(finding, is_gone)| OldFault { finding, is_gone }).collect()
        };
        // A parser that reports every fault needs no second opinion on their places.
        let second = if self.by == REPORTS_ALL { Vec::new() } else { with_gone(second_old, second_new) };
        EditContext {
            pieces: delta::pieces(self.map, old, new),
            faults_of_each: [with_gone(old_faults, new_faults), second],
            last_line: new,
        }
    }

    fn second_look(&self, context: &EditContext, opinion: &Opinion) -> Vec<ComparedFinding> {
        let mut found = Vec::new();
        let ends_early = self.by != ParserKind::Tree && self.by != REPORTS_ALL;
        if ends_early && opinion.new.len() > opinion.old.len() {
            let (old, new) = (marks(&opinion.old), marks(&opinion.new));
            let unmatched = delta::unmatched(&old, &new, self.map).new;
            let struck = context.struck(&new, &unmatched);
            found.extend(
                new.into_iter().zip(struck).filter_map(|(finding, struck)| struck.then_some(finding)),
            );
        }
        if found.is_empty() && self.brackets_changed(&context.pieces) {
            found.extend(self.new_lone(opinion));
        }
        found
    }

    /// True if a piece opens more or fewer brackets than the lines that it replaces.
    fn brackets_changed(&self, pieces: &[ReplacedLines]) -> bool {
        let text = |buffer: &Buffer, (first, last): (usize, usize)| {
            balance(buffer.view().get(buffer.lines().block(first, last)).unwrap_or_default())
        };
        pieces.iter().any(|piece| text(self.before, piece.old) != text(self.after, piece.new))
    }

    /// Returns the first unmatched bracket that is new, if there are more than before.
    fn new_lone(&self, opinion: &Opinion) -> Option<ComparedFinding> {
        if opinion.new_lone.len() <= opinion.old_lone.len() {
            return None;
        }
        let old = lone(self.before, &opinion.old_lone);
        let new = lone(self.after, &opinion.new_lone);
        let unmatched = delta::unmatched(&old, &new, self.map).new;
        new.into_iter().zip(unmatched).find_map(|(finding, unmatched)| unmatched.then_some(finding))
    }
}

/// The replaced lines of an edit and the faults before it.
struct EditContext {
    pieces: Vec<ReplacedLines>,
    /// The parser's faults before the edit, and tree-sitter's.
    faults_of_each: [Vec<OldFault>; 2],
    /// The number of the last line after the edit.
    last_line: usize,
}

/// A fault before the edit.
struct OldFault {
    finding: ComparedFinding,
    /// Set when the text after the edit does not have it.
    is_gone: bool,
}

impl EditContext {
    fn fresh(&self, sides: &BeforeAfter<'_>, before: &Faults, after: &Faults) -> Vec<bool> {
        let (old, new) = (marks(before), marks(after));
        let unmatched = delta::unmatched(&old, &new, sides.map);
        let struck = self.struck(&new, &unmatched.new);
        let all_stand = !unmatched.gone.contains(&true);
        let added = all_stand && self.pieces.iter().any(|piece| self.old_faults_in(piece) == 0);
        let reached = self.reach(sides, before);
        let each = unmatched.new.iter().zip(struck).zip(after);
        each.map(|((&unmatched, struck), (finding, pass))| {
            let short = || {
                reached.is_some_and(|reached| (*pass, finding.line) < reached) && !self.is_excused(finding)
            };
            unmatched && (struck || added || short())
        })
        .collect()
    }

    /// Returns the place that the parser reached before the edit, as a pass and a line of the new text. `None` for a fault at
    /// the end of the file, whose cause may be anywhere.
    fn reach(&self, sides: &BeforeAfter<'_>, before: &Faults) -> Option<(u8, usize)> {
        if sides.by != ParserKind::Own(Stops::AtFirst) {
            return None;
        }
        let (finding, pass) = before.iter().max_by_key(|(finding, pass)| (*pass, finding.line))?;
        let lines = sides.before.lines();
        let past_all = finding.column > lines.text(finding.line).trim_end().chars().count();
        if past_all && finding.line >= lines.count() {
            return None;
        }
        let replaced = || Some(self.pieces.iter().find(|piece| within(finding.line, piece.old))?.new.0);
        Some((*pass, sides.map.new_line_of(finding.line).or_else(replaced)?))
    }

    /// Returns for each fault `true` if it is a candidate that the edit struck.
    fn struck(&self, marks: &[ComparedFinding], candidates: &[bool]) -> Vec<bool> {
        let mut struck = vec![false; marks.len()];
        for piece in &self.pieces {
            let mut excused = match self.old_faults_in(piece) {
                0 => 0,
                _ if length(piece.old).max(length(piece.new)) <= ONE_PLACE => usize::MAX,
                some => some,
            };
            for ((finding, &candidate), struck) in marks.iter().zip(candidates).zip(&mut struck) {
                if candidate && self.wrote(piece, finding) {
                    *struck |= excused == 0;
                    excused = excused.saturating_sub(1);
                }
            }
        }
        struck
    }

    /// True if a fault is in a piece that had a fault before.
    fn is_excused(&self, finding: &ComparedFinding) -> bool {
        self.pieces.iter().any(|piece| self.wrote(piece, finding) && self.old_faults_in(piece) > 0)
    }

    /// True if a fault is in lines that the edit wrote, or next to lines that it removed.
    fn wrote(&self, piece: &ReplacedLines, finding: &ComparedFinding) -> bool {
        let (first, last) = piece.new;
        let (first, last) = if first <= last { piece.new } else { (last, first.min(self.last_line)) };
        finding.line <= last && finding.end_line >= first
    }

    /// Returns the number of old faults in the lines of a piece, plus those next to it that are gone. A fault next to the
    /// piece that is still there was not fixed in it.
    fn old_faults_in(&self, piece: &ReplacedLines) -> usize {
        let meets = |finding: &ComparedFinding, first: usize, last: usize| {
            finding.line <= last && finding.end_line >= first
        };
        let (first, last) = piece.old;
        let counts = |OldFault { finding, is_gone }: &&OldFault| {
            meets(finding, first, last) || (*is_gone && meets(finding, first.saturating_sub(1), last + 1))
        };
        self.faults_of_each
            .iter()
            .map(|faults| faults.iter().filter(counts).count())
            .max()
            .unwrap_or_default()
    }
}

fn marks(faults: &Faults) -> Vec<ComparedFinding> {
    faults.iter().map(|(finding, _)| finding.clone()).collect()
}

fn lone(buffer: &Buffer, offsets: &[usize]) -> Vec<ComparedFinding> {
    let (lines, text) = (buffer.lines(), buffer.view());
    let finding = |&at: &usize| {
        ComparedFinding::new(lines, fault::place(lines, text, at), tree::lone_bracket(text, at))
    };
    offsets.iter().map(finding).collect()
}

fn within(line: usize, (first, last): (usize, usize)) -> bool {
    (first..=last).contains(&line)
}

fn length((first, last): (usize, usize)) -> usize {
    (last + 1).saturating_sub(first)
}
