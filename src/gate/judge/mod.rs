//! Asks the gates: first those in process, then those that mend, then all programs that check, side by side.
//!
//! Invariant: a judgement cannot fail. Whatever goes wrong in a gate is that gate's [`Outcome`](super::Outcome), and a
//! gate that did not look never counts as one that found nothing.

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
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::Builder;
use std::time::{Duration, Instant};

use self::consult::consult;
use self::count::Count;
use self::fix::{Mended, fix};
use self::program::Program;
use self::repair::Repair;
use self::seats::{Here, Seat, Seats, Tool};
use self::told::Told;
use self::weigh::{Past, Scales};
use super::delta::{self, Mark};
use super::draft::Draft;
use super::finding::Finding;
use super::means::Means;
use super::pattern;
use super::silence::Silence;
use super::syntax;
use super::verdict::Verdict;
use super::watch::{Halt, Limit, Watch};
use crate::policy::{PatternRules, Rule, Terms};
use crate::text::Buffer;

/// Asks each rule's gate about the draft, and weighs what they say by the terms.
///
/// When a gate in process refuses the draft, no program is asked. Where gates mended the draft, the verdict has the new
/// text, and that is what was judged.
pub fn judge(draft: &Draft<'_>, terms: &Terms<'_>, means: &Means<'_>, watch: &Watch) -> Verdict {
    let seats = Seats::of(&terms.rules, draft, means);
    let count = Count::new(watch, seats.count());
    let limit = watch.until(Instant::now() + terms.total);
    let call = Call { terms, means, watch, limit, count };
    let mut board: Board = seats.silent.into_iter().collect();
    board.extend(call.in_process(draft, &seats.here));
    let refuser = board.values().find(|told| told.refuses()).map(|told| told.run.gate.clone());
    if let Some(gate) = refuser {
        let why = Silence::Skipped(format!("{gate} refuses the draft already"));
        let rest = seats.fixers.iter().chain(&seats.checks);
        board.extend(rest.map(|seat| (seat.at, Told::silent(seat.rule, &why, Duration::ZERO))));
        return Told::verdict(board.into_values());
    }
    let mended = call.mend(draft, &seats.fixers, &seats.here, &mut board);
    let left = mended.as_ref().map_or(*draft, |mended| mended.draft(draft));
    board.extend(call.check(&left, &seats.checks));
    Verdict { mended: mended.map(|mended| mended.text), ..Told::verdict(board.into_values()) }
}

/// What each gate said, by its place in the policy.
type Board = BTreeMap<usize, Told>;

/// What a gate found, each with whether the edit brought it.
type Said = Result<Vec<(Mark, bool)>, Silence>;

/// What all gates of one judgement share.
struct Call<'a> {
    terms: &'a Terms<'a>,
    means: &'a Means<'a>,
    watch: &'a Watch,
    limit: Limit<'a>,
    count: Count<'a>,
}

impl Call<'_> {
    /// Asks the gates that need no program, in order.
    fn in_process(&self, draft: &Draft<'_>, seats: &[Seat<'_, Here<'_>>]) -> Board {
        let told = |seat: &Seat<'_, Here<'_>>| {
            self.count.start(&seat.rule.gate.name);
            let told = self.look(draft, seat);
            self.count.end();
            (seat.at, told)
        };
        seats.iter().map(told).collect()
    }

    fn look(&self, draft: &Draft<'_>, seat: &Seat<'_, Here<'_>>) -> Told {
        let start = Instant::now();
        let limit = self.limit.within(seat.rule.timeout);
        let said = self.guarded(|| match seat.how {
            Here::Syntax => Ok(syntax::judge(draft, limit)?),
            Here::Pattern(rules) => Ok(patterns(draft, rules)),
        });
        self.weighed(draft, seat.rule, said, Past::Plain, start.elapsed())
    }

    /// Has the gates that mend go over the draft, each over what the one before left.
    fn mend(
        &self,
        draft: &Draft<'_>,
        fixers: &[Seat<'_, Tool<'_>>],
        here: &[Seat<'_, Here<'_>>],
        board: &mut Board,
    ) -> Option<Mended> {
        let mut mended: Option<Mended> = None;
        for seat in fixers {
            self.count.start(&seat.rule.gate.name);
            let left = mended.as_ref().map_or(*draft, |mended| mended.draft(draft));
            let program = self.program(&left, seat);
            let said = self.guarded(|| fix(&program, &left)).and_then(|new| match new {
                Some(new) => self.accepted(new, draft, here).map(Some),
                None => Ok(None),
            });
            let told = match said {
                Ok(Some((new, again))) => {
                    board.extend(again);
                    let told = Told::fixed(seat.rule, new.told(), program.ran());
                    mended = Some(new);
                    told
                }
                Ok(None) => Told::found(seat.rule, Vec::new(), program.ran()),
                Err(silence) => Told::silent(seat.rule, &silence, program.ran()),
            };
            board.insert(seat.at, told);
            self.count.end();
        }
        mended
    }

    /// Has the gates in process judge what a program made of the draft; a text that they refuse is not taken.
    fn accepted(
        &self,
        new: Mended,
        draft: &Draft<'_>,
        here: &[Seat<'_, Here<'_>>],
    ) -> Result<(Mended, Board), Silence> {
        let draft = new.draft(draft);
        let again: Board = here.iter().map(|seat| (seat.at, self.look(&draft, seat))).collect();
        match again.values().find_map(Told::refusal) {
            Some(why) => Err(Silence::Broken(format!("gave a text that is refused by {why}"))),
            None => Ok((new, again)),
        }
    }

    /// Asks all programs that check, side by side.
    fn check(&self, draft: &Draft<'_>, seats: &[Seat<'_, Tool<'_>>]) -> Board {
        let repair = &Repair::new(draft, self.limit);
        std::thread::scope(|scope| {
            let start = |seat| Builder::new().spawn_scoped(scope, move || self.ask(draft, seat, repair));
            let running: Vec<_> = seats.iter().map(|seat| (seat, start(seat))).collect();
            let ended =
                running.into_iter().map(|(seat, started)| match started.map(|thread| thread.join()) {
                    Ok(Ok(told)) => (seat.at, told),
                    // Gates are guarded: what panicked is the caller's own progress.
                    Ok(Err(panic)) => std::panic::resume_unwind(panic),
                    Err(error) => {
                        let why = Silence::Broken(format!("could not be started beside the others: {error}"));
                        (seat.at, Told::silent(seat.rule, &why, Duration::ZERO))
                    }
                });
            ended.collect()
        })
    }

    fn ask(&self, draft: &Draft<'_>, seat: &Seat<'_, Tool<'_>>, repair: &Repair<'_>) -> Told {
        self.count.start(&seat.rule.gate.name);
        let program = self.program(draft, seat);
        let mut past = Past::Plain;
        let said = self.guarded(|| {
            let marks = consult(&program, draft, repair)?;
            if marks.iter().any(|(_, fresh)| *fresh) {
                past = repair.past();
            }
            Ok(marks)
        });
        self.count.end_beside(&seat.rule.gate.name);
        self.weighed(draft, seat.rule, said, past, program.ran())
    }

    fn program<'a>(&'a self, draft: &Draft<'a>, seat: &Seat<'a, Tool<'a>>) -> Program<'a> {
        Program::new(seat.rule, seat.how, draft.path, self.means, self.limit)
    }

    fn weighed(&self, draft: &Draft<'_>, rule: &Rule, said: Said, past: Past, took: Duration) -> Told {
        let scales = Scales { rule, baseline: self.terms.baseline, draft, past };
        match said {
            Ok(marks) => Told::found(rule, scales.weigh(marks), took),
            Err(silence) => Told::silent(rule, &silence, took),
        }
    }

    /// Runs a gate's work, unless the caller has gone; a panic is the gate's own trouble.
    fn guarded<T>(&self, work: impl FnOnce() -> Result<T, Silence>) -> Result<T, Silence> {
        if self.watch.cancelled() {
            return Err(Silence::Halted(Halt::Cancelled));
        }
        catch_unwind(AssertUnwindSafe(work))
            .unwrap_or_else(|_| Err(Silence::Broken("the gate panicked".to_owned())))
    }
}

/// Looks for patterns in both texts; the one before is looked at only when there is something to compare.
fn patterns(draft: &Draft<'_>, rules: &PatternRules) -> Vec<(Mark, bool)> {
    let look = |buffer: &Buffer| -> Vec<Mark> {
        let findings = pattern::check(rules, draft.path, buffer.view(), draft.beside).into_iter();
        findings.map(|finding| mark(finding, buffer)).collect()
    };
    let after = look(draft.after);
    let Some(before) = draft.before.filter(|_| !after.is_empty()) else {
        return after.into_iter().map(|mark| (mark, true)).collect();
    };
    let lines = (before.lines().count(), draft.after.lines().count());
    let new = delta::brought(&look(before), &after, draft.map, lines);
    after.into_iter().zip(new).collect()
}

fn mark(finding: Finding, buffer: &Buffer) -> Mark {
    let mark = Mark::new(buffer.lines(), (finding.line, finding.column), finding.message);
    Mark { code: finding.code, ..mark }
}
