//! A program that does not end by itself is ended, in time.

use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::for_both_callers;
use super::process_fixture::{CallerKind, LONG, ProcessFixture, timed};
use crate::watch::{Halt, Watch};
use crate::{Order, ProcessOutcome, run};

for_both_callers! {
    whatever_does_not_end_is_ended_in_time
    a_program_that_ends_on_request_ends_early
    a_caller_that_goes_is_noticed
    nothing_is_started_for_a_caller_that_has_gone
}

/// The time after its limit within which a program must be ended.
const SOON: Duration = Duration::from_secs(2);

fn whatever_does_not_end_is_ended_in_time(fixture: &ProcessFixture) {
    let limit = Duration::from_millis(600);
    for what in [
        &["sleep"][..],
        &["stubborn"],
        &["stop"],
        &["close-and-sleep"],
        &["flood", "stderr", "100000"],
        &["child", "bare-session", "sleep"],
        &["tree", "50", "sleep"],
        &["bomb", "100000", "sleep"],
    ] {
        if what[0] == "bomb" && fixture.caller == CallerKind::Library {
            continue;
        }
        let (time, ended) = timed(|| fixture.run(what, limit));
        assert_eq!(ended, ProcessOutcome::Halted(Halt::TimedOut), "{what:?}");
        assert!(time >= limit && time < limit + SOON, "{what:?} took {time:?}");
        assert_eq!(fixture.left(), [], "{what:?}");
    }
}

fn a_program_that_ends_on_request_ends_early(fixture: &ProcessFixture) {
    let (limit, grace) = (Duration::from_millis(400), Duration::from_millis(200));
    let (time, _) = timed(|| fixture.run(&["stubborn"], limit));
    assert!(time >= limit + grace, "killed {time:?} after its start");
    // On a busy machine it may be late, but not each time.
    let was_asked = (0..10).any(|_| {
        let (time, _) = timed(|| fixture.run(&["polite"], limit));
        time < limit + grace && fixture.folder().join("asked").exists()
    });
    assert!(was_asked, "was never asked, or waited for too long");
}

fn a_caller_that_goes_is_noticed(fixture: &ProcessFixture) {
    let mut gone = Instant::now();
    let (shown, moment) = (&fixture, &mut gone);
    let ended = fixture.cancelled(&["leave-daemon", "plain-wait"], move || {
        shown.wait_for("ready");
        assert_eq!(shown.left().len(), 2, "the program and its daemon");
        *moment = Instant::now();
    });
    assert_eq!(ended, ProcessOutcome::Halted(Halt::Cancelled));
    assert!(gone.elapsed() < SOON, "{:?}", gone.elapsed());
}

fn nothing_is_started_for_a_caller_that_has_gone(fixture: &ProcessFixture) {
    let nowhere = fixture.folder().join("nowhere");
    let order = Order { program: &nowhere, ..fixture.order(&[], None) };
    let (token, later) = (CancellationToken::new(), Instant::now() + LONG);
    let watch = Watch::new(token.clone(), None);
    assert!(
        matches!(run(&order, watch.until(later)), ProcessOutcome::Broken(_)),
        "it would be seen if it were started"
    );
    assert_eq!(run(&order, watch.until(Instant::now())), ProcessOutcome::Halted(Halt::TimedOut));
    token.cancel();
    assert_eq!(run(&order, watch.until(later)), ProcessOutcome::Halted(Halt::Cancelled));
}
