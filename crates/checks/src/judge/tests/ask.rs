//! Concurrency, slots and time limits of programs.

use std::time::{Duration, Instant};

use super::*;

/// Reads the draft, and waits until the other one has started, too.
fn meet(own: &str, other: &str) -> String {
    format!(
        "cat >/dev/null; touch '{{project}}/{own}'; while ! test -e '{{project}}/{other}'; do sleep 0.01; done"
    )
}

fn meeting(slots: usize) -> Trial {
    let define =
        Define::default().gate("one", &meet("1", "2"), LINES, "").gate("two", &meet("2", "1"), LINES, "");
    let limits = "limits: { total: 2s }";
    let mut trial = define.policy("{ tool: one }, { tool: two }", limits);
    trial.runtime.slots = Slots::new(slots);
    trial
}

#[test]
fn programs_check_side_by_side() {
    let verdict = meeting(2).judge("a.txt", None, "x\n");
    assert_eq!(outcomes(&verdict), [("one", Outcome::Passed, ""), ("two", Outcome::Passed, "")]);
}

/// The control: with one slot they do not meet, and the time of all gates ends both.
#[test]
fn no_more_programs_run_than_there_are_slots() {
    let verdict = meeting(1).judge("a.txt", None, "x\n");
    let all = "timed out: all gates of the call have 2s (`limits.total`)";
    let late = |gate| (gate, Outcome::TimedOut, all);
    assert_eq!(outcomes(&verdict), [late("one"), late("two")]);
}

#[test]
fn a_wait_for_a_slot_is_not_the_gates_own_time() {
    let mut trial = finder(", timeout: 1s", "");
    trial.runtime.slots = Slots::new(1);
    let watch = Watch::idle();
    let slot = trial.runtime.slots.take(watch.until(Instant::now() + Duration::from_secs(9))).unwrap();
    let verdict = std::thread::scope(|scope| {
        let judging = scope.spawn(|| trial.judge("a.txt", None, "x\n"));
        std::thread::sleep(Duration::from_millis(1200));
        drop(slot);
        judging.join().unwrap()
    });
    assert_eq!(outcomes(&verdict), [("finder", Outcome::Passed, "")]);
    assert!(verdict.runs[0].ms < 1200, "{} ms", verdict.runs[0].ms);
}

#[test]
fn the_time_of_all_gates_ends_a_wait_for_a_slot() {
    let mut trial = finder("", "limits: { total: 50ms }");
    trial.runtime.slots = Slots::new(0);
    assert_eq!(
        outcomes(&trial.judge("a.txt", None, "x\n")),
        [("finder", Outcome::TimedOut, "timed out: all gates of the call have 50ms (`limits.total`)")]
    );
}

#[test]
fn a_gate_that_takes_too_long_is_late_and_the_others_are_not() {
    let define = Define::default().gate("slow", "sleep 60", LINES, "").gate("finder", FINDER, LINES, "");
    let trial = define.policy("{ tool: slow, timeout: 100ms }, { tool: finder }", "");
    let verdict = trial.judge("a.txt", None, "bad\n");
    let own = "timed out: the gate has 100ms (`timeout` of `slow`)";
    assert_eq!(outcomes(&verdict), [("slow", Outcome::TimedOut, own), ("finder", Outcome::Found, "")]);
    assert_eq!(blocked(&verdict), [1]);
}

#[test]
fn runs_are_in_the_order_of_the_policy() {
    let define = Define::default().gate("slow", "sleep 0.2", LINES, "").gate("quick", "true", LINES, "");
    let trial = define.policy("{ tool: slow }, { tool: quick }, { tool: syntax }", "");
    let verdict = trial.judge("a.json", None, "{}");
    assert_eq!(
        verdict.runs.iter().map(|run| run.gate.as_str()).collect::<Vec<_>>(),
        ["slow", "quick", "syntax"]
    );
}

#[test]
fn a_caller_that_goes_ends_programs_and_waits() {
    let token = tokio_util::sync::CancellationToken::new();
    let define = Define::default().gate("slow", "touch '{project}/began'; sleep 600", LINES, "").gate(
        "next",
        "touch '{project}/began'; sleep 600",
        LINES,
        "",
    );
    let limits = "limits: { total: 120s }";
    let mut trial = define.policy("{ tool: slow, timeout: 120s }, { tool: next, timeout: 120s }", limits);
    trial.runtime.slots = Slots::new(1);
    let watch = Watch::new(token.clone(), None);
    let (verdict, began) = std::thread::scope(|scope| {
        let judging = scope.spawn(|| trial.watched("a.txt", None, "x\n", &watch));
        let start = Instant::now();
        // One of the two has the slot, the other one waits for it.
        while !trial.path("began").exists() && start.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let began = trial.path("began").exists();
        token.cancel();
        (judging.join().unwrap(), began)
    });
    assert!(began, "a program was running when the caller went");
    // A program that is not ended runs until its time is up, which is reported as another outcome.
    let cancelled = |gate| (gate, Outcome::Skipped, "cancelled");
    assert_eq!(outcomes(&verdict), [cancelled("slow"), cancelled("next")]);
}
