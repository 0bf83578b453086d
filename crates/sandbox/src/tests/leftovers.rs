//! Processes that a program leaves behind are found and killed, and no others.

use std::fs;
use std::thread;
use std::time::Duration;

use rustix::process::getpid;

use super::for_both_callers;
use super::process_fixture::{CallerKind, LONG, ProcessFixture, exited, timed};
use crate::ProcessOutcome;
use crate::proc::{self, Process};
use crate::watch::Halt;

for_both_callers! {
    a_child_in_the_group_is_ended
    a_chattering_child_is_not_listened_to
    a_daemon_is_ended
    a_daemon_without_environment_is_ended_by_who_adopts_it
    a_tree_is_ended
    a_bomb_is_ended
    a_daemon_of_another_is_left_alone
    a_nameless_daemon_is_ended_and_that_of_another_left_alone
    many_orphans_are_ended
}

/// The time within which a run ends if nothing has to be waited for.
const AT_ONCE: Duration = Duration::from_secs(5);

/// Checks that an orphan existed and was killed.
#[track_caller]
fn ended(fixture: &ProcessFixture, what: &[&str]) {
    let (time, (code, stdout, _)) = timed(|| exited(fixture.run(what, LONG)));
    assert_eq!(code, 0);
    assert!(stdout.parse::<u32>().is_ok_and(|number| number > 1), "no stray was there: {stdout:?}");
    assert!(time < AT_ONCE, "{what:?} took {time:?}");
    assert_eq!(fixture.left(), [], "{what:?}");
}

fn a_child_in_the_group_is_ended(fixture: &ProcessFixture) {
    // Without an environment, only the group identifies the program.
    ended(fixture, &["child", "plain", "exit"]);
    ended(fixture, &["child", "bare", "exit"]);
}

fn a_chattering_child_is_not_listened_to(fixture: &ProcessFixture) {
    let (time, (code, stdout, _)) = timed(|| exited(fixture.run(&["leave-chatter"], LONG)));
    assert_eq!(code, 0);
    assert!(stdout.len() >= 4096 && time < AT_ONCE, "{} bytes in {time:?}", stdout.len());
}

fn a_daemon_is_ended(fixture: &ProcessFixture) {
    ended(fixture, &["leave-daemon", "plain"]);
}

fn a_daemon_without_environment_is_ended_by_who_adopts_it(fixture: &ProcessFixture) {
    match fixture.caller {
        CallerKind::Adopting => ended(fixture, &["leave-daemon", "bare"]),
        CallerKind::Library => {
            let pid = exited(fixture.run(&["leave-daemon", "bare"], LONG)).1;
            let left: Vec<String> = fixture.left().iter().map(ToString::to_string).collect();
            assert_eq!(left, [pid], "what escapes is written at the head of the module");
            fixture.clear();
        }
    }
}

fn a_tree_is_ended(fixture: &ProcessFixture) {
    ended(fixture, &["tree", "50", "exit"]);
}

fn a_bomb_is_ended(fixture: &ProcessFixture) {
    if fixture.caller == CallerKind::Library {
        return;
    }
    let (time, (code, ..)) = timed(|| exited(fixture.run(&["bomb", "100000", "exit"], LONG)));
    assert!(code == 0 && time < AT_ONCE, "{time:?}");
}

fn a_daemon_of_another_is_left_alone(fixture: &ProcessFixture) {
    with_another(fixture, "plain", |own, other| {
        ended(own, &["leave-daemon", "plain"]);
        ended(own, &["child", "bare", "exit"]);
        assert_eq!(zombies(), 0, "what was ended is not reaped");
        assert_eq!(other.left().len(), 2, "the other's daemon was ended");
    });
}

fn a_nameless_daemon_is_ended_and_that_of_another_left_alone(fixture: &ProcessFixture) {
    if fixture.caller == CallerKind::Library {
        return;
    }
    with_another(fixture, "bare", |own, other| {
        ended(own, &["leave-daemon", "bare"]);
        assert_eq!(other.left().len(), 2, "the other's daemon was ended");
    });
}

/// While a program runs, its orphans are its own children, so they are found without a name as well.
fn many_orphans_are_ended(fixture: &ProcessFixture) {
    let limit = Duration::from_millis(1500);
    let ended = fixture.run(&["orphans", "20"], limit);
    assert_eq!(ended, ProcessOutcome::Halted(Halt::TimedOut));
    assert_eq!(fixture.left(), []);
}

/// Runs a test while a program of another fixture with a daemon is running; all daemons end with it.
fn with_another(fixture: &ProcessFixture, kind: &str, test: impl FnOnce(&ProcessFixture, &ProcessFixture)) {
    let other = fixture.another();
    thread::scope(|scope| {
        let run = scope.spawn(|| exited(other.run(&["leave-daemon", &format!("{kind}-wait")], LONG)));
        other.wait_for("ready");
        test(fixture, &other);
        fs::write(other.folder().join("go"), "").unwrap();
        run.join().unwrap();
    });
    assert_eq!(other.left(), []);
}

/// The children of this process that have ended and are not reaped.
fn zombies() -> usize {
    let children = proc::children(getpid()).into_iter();
    children.filter_map(Process::read).filter(|child| child.ended).count()
}
