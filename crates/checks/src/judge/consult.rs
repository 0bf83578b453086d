//! Runs a program on drafts, and decides which of its findings are new.
//!
//! Invariant: nothing is called new or old without an answer about the texts before, unless there was no such
//! text, it did not parse, or the program does not handle it. Nothing is called clean by a program that was
//! not seen to find anything.

use std::collections::BTreeSet;

use super::program::GateProgram;
use super::prove::{ProofNote, prove};
use super::repair::Repair;
use crate::delta::{self, ComparedFinding, MarkedFinding};
use crate::draft::Draft;
use crate::error::GateError;
use crate::output::ToolFinding;
use crate::runtime::CachedFindings;
use lockgate_policy::Baseline;
use lockgate_text::Buffer;

/// The findings of a program in one draft.
#[derive(Debug)]
pub(super) struct Findings {
    /// The findings, compared with those before.
    pub(super) marks: Vec<MarkedFinding>,
    /// A note to show with the findings.
    pub(super) note: Option<&'static str>,
}

/// The findings of a program in each draft, or the reason that it gave no answer.
pub(super) type ConsultResults = Vec<Result<Findings, GateError>>;

/// Runs a program on the drafts. `repairs` are those of all drafts that it sees, including those that it does
/// not check.
///
/// Errors: the reason that there is no answer about any draft.
pub(super) fn consult(
    program: &GateProgram<'_>,
    repairs: &[&Repair<'_>],
) -> Result<ConsultResults, GateError> {
    let mut compared = compare(program, repairs)?;
    // What a server finds in a text can depend on the texts that it saw before. It sees both once more before it
    // accuses lines that the edit did not write.
    if program.is_server() && compared.has_new_outside(&program.drafts) {
        program.forget_answers();
        compared = compare(program, repairs).unwrap_or(compared);
    }
    let Comparison { answer, marks } = compared;
    // Old findings prove nothing about the draft: a program that reads the file on disk finds them too.
    let unproven =
        |found: &Vec<MarkedFinding>| !found.iter().any(|mark| mark.fresh && mark.finding.elsewhere.is_none());
    let left: BTreeSet<usize> =
        marks.iter().enumerate().filter(|(_, found)| unproven(found)).map(|(at, _)| at).collect();
    let proven = prove(program, &answer, left);
    let into_findings = |(marks, proven): (Vec<MarkedFinding>, Result<ProofNote, GateError>)| {
        proven.map(|note| Findings { marks, note })
    };
    Ok(marks.into_iter().zip(proven).map(into_findings).collect())
}

/// The findings of a program in the drafts, compared with those before.
struct Comparison {
    /// The findings as the program reports them.
    answer: CachedFindings,
    /// The findings of each draft, and which of them are new.
    marks: Vec<Vec<MarkedFinding>>,
}

impl Comparison {
    /// True if a new finding is in a line that the edit did not write.
    fn has_new_outside(&self, drafts: &[Draft<'_>]) -> bool {
        let is_outside = |draft: &Draft<'_>, mark: &MarkedFinding| {
            let finding = &mark.finding;
            let written = finding.elsewhere.is_none() && draft.wrote_any(finding.line..=finding.end_line);
            mark.fresh && !written
        };
        let mut both = drafts.iter().zip(&self.marks);
        both.any(|(draft, marks)| marks.iter().any(|mark| is_outside(draft, mark)))
    }
}

/// Asks a program about the drafts, and where it finds something, about the texts before.
fn compare(program: &GateProgram<'_>, repairs: &[&Repair<'_>]) -> Result<Comparison, GateError> {
    let answer = program.run_check()?;
    let drafts = &program.drafts;
    let after: Vec<Vec<ComparedFinding>> =
        drafts.iter().zip(answer.iter()).map(|(draft, found)| compared(found, draft.after)).collect();
    // With this baseline, earlier findings do not matter.
    let counts_all = program.rule.baseline == Some(Baseline::All);
    let is_compared = |draft: &Draft<'_>, after: &[ComparedFinding]| {
        let own = draft.before.is_some() && !after.is_empty();
        own || after.iter().any(|finding| finding.elsewhere.is_some())
    };
    let compares = !counts_all && drafts.iter().zip(&after).any(|(draft, after)| is_compared(draft, after));
    let unchanged = drafts.iter().all(|draft| draft.changes_nothing());
    let before = if compares && !unchanged {
        findings_before(program, repairs).map_err(|error| error.with_context("the text before the edit"))?
    } else {
        Vec::new()
    };
    let marked = |(at, (draft, after)): (usize, (&Draft<'_>, Vec<ComparedFinding>))| {
        let new = if counts_all {
            vec![true; after.len()]
        } else if unchanged {
            vec![false; after.len()]
        } else {
            new_findings(draft, before.get(at).map_or(&[], Vec::as_slice), &after)
        };
        MarkedFinding::all(after, new)
    };
    let marks = drafts.iter().zip(after).enumerate().map(marked).collect();
    Ok(Comparison { answer, marks })
}

/// Flags the findings of a draft that are new. In a new file, all of them are; findings that other files had
/// before are old, whatever the draft.
fn new_findings(draft: &Draft<'_>, before: &[ComparedFinding], after: &[ComparedFinding]) -> Vec<bool> {
    match draft.before {
        Some(old) => {
            let lines = (old.lines().count(), draft.after.lines().count());
            let mut new = delta::flag_new(before, after, draft.map, lines);
            let texts = (old.lines(), draft.after.lines());
            delta::settle_stretches(before, after, draft.map, texts, &mut new);
            new
        }
        None => delta::unmatched(before, after, draft.map).new,
    }
}

/// Returns the findings in each text before the edit. There are none if the program skips such texts, or
/// fails on one that does not parse.
fn findings_before(
    program: &GateProgram<'_>,
    repairs: &[&Repair<'_>],
) -> Result<Vec<Vec<ComparedFinding>>, GateError> {
    let nothing = || program.drafts.iter().map(|_| Vec::new()).collect();
    match program.run_check_before() {
        Ok(all) => {
            let both = program.drafts.iter().zip(all.iter());
            Ok(both.map(|(draft, found)| compared(found, draft.before.unwrap_or(draft.after))).collect())
        }
        Err(GateError::Skipped(_) | GateError::LeftOut(_)) => Ok(nothing()),
        Err(GateError::Broken(_)) if repairs.iter().any(|repair| !repair.parsed_before()) => Ok(nothing()),
        Err(error) => Err(error),
    }
}

fn compared(found: &[ToolFinding], text: &Buffer) -> Vec<ComparedFinding> {
    found.iter().map(|finding| compared_finding(finding, text)).collect()
}

fn compared_finding(finding: &ToolFinding, text: &Buffer) -> ComparedFinding {
    let (place, message) = ((finding.line, finding.column), finding.message.clone());
    let compared = match &finding.elsewhere {
        None => ComparedFinding::new(text.lines(), place, message),
        Some(path) => ComparedFinding::elsewhere(path.clone(), place, message),
    };
    let end_line = finding.end_line.unwrap_or(finding.line);
    let is_stretch = finding.end_line.is_some() && finding.elsewhere.is_none();
    ComparedFinding {
        end_line,
        is_stretch,
        code: finding.code.clone(),
        severity: finding.severity,
        identity: finding.identity.clone(),
        ..compared
    }
}
