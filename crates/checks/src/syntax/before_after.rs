//! Finds the faults that an edit added to a file that did not parse before.
//!
//! Such a file is repaired in steps, and many parsers stop at the first fault. So a fault that was not reported before may
//! be old: fixing one uncovers the next. A fault that is not among the old ones is new if
//!
//! * it is in lines that the edit wrote, and the replaced lines and their neighbours had no fault (*struck*); or
//! * every old fault is still there, so none can have hidden it (*added*); or
//! * the grammar has it, and it accepted the text before (*broken*); or
//! * the parser stops at the first fault and now stops before the place that it reached before (*cut short*).
//!
//! A fault in an inserted piece that is valid by itself (*sound*) is not new, if a bracket was open there before.
//!
//! If none is new, tree-sitter decides, because the parser may have stopped before the edit. It reports a fault of its own
//! that was struck, if it finds more faults than before; or an unmatched bracket, if there are more than before and the edit
//! changed the number of brackets in a place without an old fault.
//!
//! Invariant: an edit that leaves the faults unchanged or only removes some has no new fault.

use super::super::delta::{self, ComparedFinding, MarkedFinding, Unmatched};
use super::super::pieces::{ReplacedLines, piece_at, pieces};
use super::brackets::balance;
use super::fault::{self, Pass};
use super::parse_result::Faults;
use super::python_hosts;
use super::table::{ParserKind, Stops};
use super::tree;
use lockgate_text::{Buffer, LineMap};

/// The most lines of a piece that counts as one place: any old fault in it excuses all new ones. In a longer piece each old
/// fault excuses one new fault.
const ONE_PLACE: usize = 12;

/// A parser that reports every fault, so that tree-sitter is not needed.
const REPORTS_ALL: ParserKind = ParserKind::Own(Stops::Never);

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
    /// The inserted pieces that are valid by themselves, below a bracket that was open before.
    pub(super) sound: Vec<ReplacedLines>,
}

/// Marks every fault as new, for a file that parsed before or did not exist.
pub(super) fn all_new(after: &Faults) -> Vec<MarkedFinding> {
    after.iter().map(|(finding, _)| MarkedFinding::fresh(finding.clone())).collect()
}

impl BeforeAfter<'_> {
    /// Returns the part of an opinion that is used: only the brackets, if the parser reports every fault, and nothing if the
    /// edit inserted no lines and did not change the number of brackets either.
    pub(super) fn opinion_need(&self) -> OpinionNeed {
        let pieces = self.pieces();
        match self.by {
            REPORTS_ALL
                if self.brackets_changed(&pieces) || pieces.iter().any(ReplacedLines::is_insertion) =>
            {
                OpinionNeed::Brackets
            }
            REPORTS_ALL => OpinionNeed::Nothing,
            ParserKind::Own(_) | ParserKind::Tree => OpinionNeed::Everything,
        }
    }

    /// Returns the pieces that the edit changed.
    pub(super) fn pieces(&self) -> Vec<ReplacedLines> {
        pieces(self.map, self.before.lines().count(), self.after.lines().count())
    }

    /// Returns the faults, compared with those before, plus new ones that only tree-sitter finds.
    pub(super) fn judge(&self, before: &Faults, after: &Faults, opinion: &Opinion) -> Vec<MarkedFinding> {
        let context = self.context(before, after, opinion);
        let fresh = context.fresh(self, before, after);
        let mut judged = MarkedFinding::all(findings(after), fresh);
        if !judged.iter().any(MarkedFinding::is_certain_and_fresh) {
            judged.extend(self.second_look(&context, opinion).into_iter().map(MarkedFinding::fresh));
        }
        judged
    }

    fn context(&self, before: &Faults, after: &Faults, opinion: &Opinion) -> EditContext {
        // A parser that reports every fault needs no second opinion on their places.
        let second = match self.by {
            REPORTS_ALL => ComparedFaults::default(),
            ParserKind::Own(_) | ParserKind::Tree => {
                ComparedFaults::new(&opinion.old, &opinion.new, self.map)
            }
        };
        let (sound, pieces) = self.pieces().into_iter().partition(|piece| self.sound.contains(piece));
        EditContext {
            pieces,
            sound,
            own: ComparedFaults::new(before, after, self.map),
            second,
            last_line: self.after.lines().count(),
        }
    }

    fn second_look(&self, context: &EditContext, opinion: &Opinion) -> Vec<ComparedFinding> {
        let mut found = Vec::new();
        let ends_early = self.by != ParserKind::Tree && self.by != REPORTS_ALL;
        let second = &context.second;
        if ends_early && second.new.len() > second.old.len() {
            let struck = second.new.iter().zip(context.struck(second)).filter(|(_, struck)| *struck);
            found.extend(struck.map(|(finding, _)| finding.clone()));
        }
        let mut pieces = context.pieces.clone();
        pieces.retain(|piece| !context.repairs(piece));
        if found.is_empty() && self.brackets_changed(&pieces) {
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

/// The replaced lines of an edit, and the faults on both sides.
struct EditContext {
    /// The pieces that are not sound.
    pieces: Vec<ReplacedLines>,
    sound: Vec<ReplacedLines>,
    /// The faults of the parser.
    own: ComparedFaults,
    /// The faults of tree-sitter, if its opinion matters.
    second: ComparedFaults,
    /// The number of the last line after the edit.
    last_line: usize,
}

/// The faults of one parser before and after the edit.
#[derive(Default)]
struct ComparedFaults {
    old: Vec<ComparedFinding>,
    new: Vec<ComparedFinding>,
    unmatched: Unmatched,
}

impl ComparedFaults {
    fn new(before: &Faults, after: &Faults, map: &LineMap) -> ComparedFaults {
        let (old, new) = (findings(before), findings(after));
        let unmatched = delta::unmatched(&old, &new, map);
        ComparedFaults { old, new, unmatched }
    }

    /// Returns each fault before the edit, with `true` if the text after it does not have it.
    fn old(&self) -> impl Iterator<Item = (&ComparedFinding, bool)> {
        self.old.iter().zip(self.unmatched.gone.iter().copied())
    }

    /// Returns each fault after the edit, with `true` if it does not match one before it.
    fn new_faults(&self) -> impl Iterator<Item = (&ComparedFinding, bool)> {
        self.new.iter().zip(self.unmatched.new.iter().copied())
    }
}

impl EditContext {
    fn fresh(&self, sides: &BeforeAfter<'_>, before: &Faults, after: &Faults) -> Vec<bool> {
        let Unmatched { gone, new: unmatched } = &self.own.unmatched;
        let struck = self.struck(&self.own);
        let all_stand = !gone.contains(&true);
        let added = all_stand && self.pieces.iter().any(|piece| self.old_faults_in(piece) == 0);
        let reached = self.reach(sides, before);
        // A text that only the compiler rejected had no fault that could hide one of the grammar.
        let was_parsed = sides.by == REPORTS_ALL && before.iter().all(|(_, pass)| *pass == Pass::Scopes);
        let each = unmatched.iter().zip(struck).zip(after);
        each.map(|((&unmatched, struck), (finding, pass))| {
            let short = || {
                reached.is_some_and(|reached| (*pass, finding.line) < reached) && !self.is_excused(finding)
            };
            let broken = was_parsed && *pass < Pass::Scopes;
            unmatched && (struck || added || broken || short()) && !is_allowed_by_host(before, finding, *pass)
        })
        .collect()
    }

    /// Returns the place that the parser reached before the edit, as a pass and a line of the new text. The line is 0 for a
    /// fault that shows at the end of the text, because its cause may be anywhere.
    fn reach(&self, sides: &BeforeAfter<'_>, before: &Faults) -> Option<(Pass, usize)> {
        if sides.by != ParserKind::Own(Stops::AtFirst) {
            return None;
        }
        let (finding, pass) = before.iter().max_by_key(|(finding, pass)| (*pass, finding.line))?;
        if *pass == Pass::OpenBrackets || is_at_end(sides.before, finding) {
            return Some((*pass, 0));
        }
        let replaced = || Some(piece_at(&self.pieces, |piece| piece.old, finding.line)?.new.0);
        Some((*pass, sides.map.new_line_of(finding.line).or_else(replaced)?))
    }

    /// Returns for each fault after the edit `true` if it is unmatched and the edit struck it.
    fn struck(&self, faults: &ComparedFaults) -> Vec<bool> {
        let mut struck = vec![false; faults.new.len()];
        for piece in &self.pieces {
            let mut excused = match self.old_faults_in(piece) {
                0 => 0,
                _ if piece.old_lines().count().max(piece.new_lines().count()) <= ONE_PLACE => usize::MAX,
                some => some,
            };
            for ((finding, is_unmatched), struck) in faults.new_faults().zip(&mut struck) {
                if is_unmatched && self.wrote(piece, finding) {
                    *struck |= excused == 0;
                    excused = excused.saturating_sub(1);
                }
            }
        }
        struck
    }

    /// True if a fault is in a piece that is sound, or that had a fault before.
    fn is_excused(&self, finding: &ComparedFinding) -> bool {
        let is_sound = self.sound.iter().any(|piece| self.wrote(piece, finding));
        is_sound
            || self.pieces.iter().any(|piece| self.wrote(piece, finding) && self.old_faults_in(piece) > 0)
    }

    /// True if a piece removed an old fault, and has no new one in its lines or the next. Two faults may hide each other's
    /// unmatched bracket, so a bracket that is unmatched after the repair of one of them is not new.
    fn repairs(&self, piece: &ReplacedLines) -> bool {
        let (first, last) = (piece.old.0.saturating_sub(1), piece.old.1 + 1);
        let was_in = |(finding, is_gone): (&ComparedFinding, bool)| is_gone && meets(finding, first, last);
        let is_in = |(finding, is_new): (&ComparedFinding, bool)| {
            is_new && meets(finding, piece.new.0, piece.new.1 + 1)
        };
        let both = [&self.own, &self.second];
        both.iter().any(|faults| faults.old().any(was_in))
            && !both.iter().any(|faults| faults.new_faults().any(is_in))
    }

    /// True if a fault is in lines that the edit wrote, or next to lines that it removed.
    fn wrote(&self, piece: &ReplacedLines, finding: &ComparedFinding) -> bool {
        let (first, last) = piece.new;
        let (first, last) = if first <= last { piece.new } else { (last, first.min(self.last_line)) };
        meets(finding, first, last)
    }

    /// Returns the number of old faults in the lines of a piece, plus those next to it that are gone. A fault next to the
    /// piece that is still there was not fixed in it.
    fn old_faults_in(&self, piece: &ReplacedLines) -> usize {
        let (first, last) = piece.old;
        let counts = |(finding, is_gone): &(&ComparedFinding, bool)| {
            meets(finding, first, last) || *is_gone && meets(finding, first.saturating_sub(1), last + 1)
        };
        let count = |faults: &ComparedFaults| faults.old().filter(counts).count();
        count(&self.own).max(count(&self.second))
    }
}

/// True for a fault that the host of the file allows, as the text had such a fault before.
fn is_allowed_by_host(before: &Faults, finding: &ComparedFinding, pass: Pass) -> bool {
    pass == Pass::Scopes
        && python_hosts::may_be_allowed_by_host(&finding.message)
        && before.iter().any(|(old, _)| old.message == finding.message)
}

fn findings(faults: &Faults) -> Vec<ComparedFinding> {
    faults.iter().map(|(finding, _)| finding.clone()).collect()
}

fn lone(buffer: &Buffer, offsets: &[usize]) -> Vec<ComparedFinding> {
    let (lines, text) = (buffer.lines(), buffer.view());
    let finding = |&at: &usize| {
        ComparedFinding::new(lines, fault::place(lines, text, at), tree::lone_bracket(text, at))
    };
    offsets.iter().map(finding).collect()
}

/// True if a finding is in these lines.
fn meets(finding: &ComparedFinding, first: usize, last: usize) -> bool {
    finding.line <= last && finding.end_line >= first
}

/// True if a fault is behind the last character of a text.
fn is_at_end(text: &Buffer, finding: &ComparedFinding) -> bool {
    let lines = text.lines();
    finding.line >= lines.count() && finding.column > lines.text(finding.line).trim_end().chars().count()
}
