//! Asks the gates: first those in process, then those that mend, then all programs that check, side by side.
//!
//! The drafts of one call are judged together: a program that looks at one of them sees the others in the places of their
//! files, and where a gate in process refuses one, no program is asked about any.
//!
//! Invariant: a judgement cannot fail. Whatever goes wrong in a gate is that gate's [`Outcome`](super::Outcome), and a
//! gate that did not look never counts as one that found nothing.

mod call;
mod consult;
mod count;
mod fix;
mod program;
mod repair;
mod seats;
#[cfg(test)]
mod tests;
mod told;
mod weigh;

use std::collections::BTreeMap;
use std::thread::Builder;
use std::time::{Duration, Instant};

use self::call::Call;
use self::count::Count;
use self::fix::Mended;
use self::seats::{Seat, Seats, Tool};
use self::told::Told;
use super::company::Companion;
use super::draft::Draft;
use super::means::Means;
use super::silence::Silence;
use super::verdict::Verdict;
use super::watch::Watch;
use crate::policy::Terms;

/// One draft of a call, with what it is judged by.
#[derive(Debug)]
pub struct Case<'a> {
    /// The draft.
    pub draft: Draft<'a>,
    /// What it is judged by.
    pub terms: Terms<'a>,
    /// What its programs may use.
    pub means: Means<'a>,
    /// Whether the file goes, so that there is no text after the edit.
    pub removed: bool,
    /// Drafts of one number lie beside each other, by their roots and paths; others never meet.
    pub among: usize,
}

/// What each gate said, by its place in the policy.
type Board = BTreeMap<usize, Told>;

/// Asks each rule's gate about one draft, and weighs what they say by the terms.
///
/// When a gate in process refuses the draft, no program is asked. Where gates mended the draft, the verdict has the new
/// text, and that is what was judged.
pub fn judge(draft: &Draft<'_>, terms: &Terms<'_>, means: &Means<'_>, watch: &Watch) -> Verdict {
    let case = Case { draft: *draft, terms: terms.clone(), means: *means, removed: false, among: 0 };
    judge_all(&[case], watch).into_iter().next().unwrap_or_default()
}

/// Judges the drafts of one call together; gives a verdict for each, in their order.
pub fn judge_all(cases: &[Case<'_>], watch: &Watch) -> Vec<Verdict> {
    let began = Instant::now();
    let seats: Vec<Seats<'_>> =
        cases.iter().map(|case| Seats::of(&case.terms, &case.draft, &case.means)).collect();
    let count = Count::new(watch, seats.iter().map(Seats::count).sum());
    let round = |(case, seats)| Round::new(Call::new(case, watch, began, &count), seats);
    let mut rounds: Vec<Round<'_>> = cases.iter().zip(seats).map(round).collect();
    if let Some(refusal) = rounds.iter().find_map(Round::refusal) {
        rounds.iter_mut().for_each(|round| round.leave(&refusal));
    } else {
        rounds.iter_mut().for_each(Round::mend);
        check(&mut rounds);
    }
    rounds.into_iter().map(Round::verdict).collect()
}

/// One draft on its way through the gates.
struct Round<'a> {
    call: Call<'a>,
    seats: Seats<'a>,
    board: Board,
    mended: Option<Mended>,
}

impl<'a> Round<'a> {
    /// Asks the gates in process.
    fn new(call: Call<'a>, mut seats: Seats<'a>) -> Round<'a> {
        let mut board: Board = std::mem::take(&mut seats.silent).into_iter().collect();
        board.extend(call.in_process(&seats.here));
        Round { call, seats, board, mended: None }
    }

    /// The file and the gate in process that refuses it, if one does.
    fn refusal(&self) -> Option<(&'a str, String)> {
        let refuser = self.board.values().find(|told| told.refuses())?;
        Some((self.call.case.draft.path, refuser.run.gate.clone()))
    }

    /// Asks no program, as a draft of the call is refused already.
    fn leave(&mut self, (path, gate): &(&str, String)) {
        let why = if *path == self.call.case.draft.path {
            format!("{gate} refuses the draft already")
        } else {
            format!("{gate} refuses {path} already")
        };
        let why = Silence::Skipped(why);
        let rest = self.seats.fixers.iter().chain(&self.seats.checks);
        self.board.extend(rest.map(|seat| (seat.at, Told::silent(seat.rule, &why, Duration::ZERO))));
    }

    fn mend(&mut self) {
        self.mended = self.call.mend(&self.seats.fixers, &self.seats.here, &mut self.board);
    }

    /// The draft as the gates that mend left it.
    fn left(&self) -> Draft<'_> {
        let draft = &self.call.case.draft;
        self.mended.as_ref().map_or(*draft, |mended| mended.draft(draft))
    }

    fn companion(&self) -> Companion<'_> {
        let (draft, case) = (self.left(), &self.call.case);
        let judged_by = self.seats.checks.iter().map(|seat| seat.rule.gate.name.as_str()).collect();
        Companion {
            root: case.means.root,
            path: draft.path,
            language: draft.language,
            text: (!case.removed).then_some(draft.after),
            judged_by,
            among: case.among,
        }
    }

    fn verdict(self) -> Verdict {
        Verdict { mended: self.mended.map(|mended| mended.text), ..Told::verdict(self.board.into_values()) }
    }
}

/// Asks all programs that check about all drafts, side by side; each sees the other drafts of its root.
fn check(rounds: &mut [Round<'_>]) {
    let said: Vec<Board> = {
        let all: Vec<Companion<'_>> = rounds.iter().map(Round::companion).collect();
        let drafts: Vec<Draft<'_>> = rounds.iter().map(Round::left).collect();
        let company = |at: usize, round: &Round<'_>| -> Vec<&Companion<'_>> {
            let others = all.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, other)| other);
            let (root, among) = (round.call.case.means.root, round.call.case.among);
            others.filter(|other| other.root == root && other.among == among).collect()
        };
        let companies: Vec<_> = rounds.iter().enumerate().map(|(at, round)| company(at, round)).collect();
        let repairs: Vec<_> =
            rounds.iter().zip(&drafts).map(|(round, draft)| round.call.repair(draft)).collect();
        std::thread::scope(|scope| {
            let parts = rounds.iter().zip(&drafts).zip(&companies).zip(&repairs);
            let running: Vec<Vec<_>> = parts
                .map(|(((round, draft), company), repair)| {
                    let start = |seat| {
                        let ask = move || round.call.ask(draft, seat, company, repair);
                        (seat, Builder::new().spawn_scoped(scope, ask))
                    };
                    round.seats.checks.iter().map(start).collect()
                })
                .collect();
            running.into_iter().map(|seats| seats.into_iter().map(ended).collect()).collect()
        })
    };
    rounds.iter_mut().zip(said).for_each(|(round, said)| round.board.extend(said));
}

type Started<'s> = std::io::Result<std::thread::ScopedJoinHandle<'s, Told>>;

fn ended((seat, started): (&Seat<'_, Tool<'_>>, Started<'_>)) -> (usize, Told) {
    match started.map(|thread| thread.join()) {
        Ok(Ok(told)) => (seat.at, told),
        // Gates are guarded: what panicked is the caller's own progress.
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        Err(error) => {
            let why = Silence::Broken(format!("could not be started beside the others: {error}"));
            (seat.at, Told::silent(seat.rule, &why, Duration::ZERO))
        }
    }
}
