//! Failures of a server are reported, and never taken for a text without findings.

use super::*;

#[test]
fn no_answer_in_time_is_late_and_never_clean() {
    for way in ["late", "late_bare", "stale", "silent"] {
        let trial = Trial::hasty(way);
        let (outcome, why) = became(&trial.judge("a.txt", None, "fine\n"));
        assert_eq!(outcome, Outcome::TimedOut, "{way}");
        assert!(why.starts_with("timed out: the gate has "), "{way}: {why}");
        assert_eq!(trial.runs(), 0, "{way}: nobody waits as long again for the command");
    }
    // The control: those that answer in time are heard.
    for way in ["push", "bare", "pull"] {
        let trial = Trial::new(way);
        assert_eq!(became(&trial.judge("a.txt", None, "fine\n")), (Outcome::Passed, String::new()), "{way}");
    }
}

#[test]
fn a_hanging_server_is_ended_and_paused() {
    let trial = Trial::hasty("silent");
    let judge = |number: usize| trial.judge("a.txt", None, &format!("{number}\n"));
    assert_eq!([judge(1), judge(2)].map(|verdict| became(&verdict).0), [Outcome::TimedOut; 2]);
    assert_eq!([judge(3), judge(4)].map(|verdict| became(&verdict).0), [Outcome::TimedOut; 2]);
    let (outcome, why) = became(&judge(5));
    assert_eq!(outcome, Outcome::Passed, "{why}");
    assert!(why.contains("is paused because it failed more than once: it timed out"), "{why}");
    assert_eq!(trial.noted("started").len(), 2);
}

#[test]
fn a_dead_server_is_restarted_once_and_then_paused() {
    let trial = Trial::new("mortal");
    for number in 0..3 {
        let (outcome, why) = became(&trial.judge("a.txt", Some(""), &format!("bad {number}\n")));
        assert_eq!(outcome, Outcome::Found);
        let expected = "is paused because it failed more than once: it ended with exit code 3; it said: I give up; its command was run";
        assert!(why.contains(expected), "{why}");
    }
    assert_eq!((trial.noted("started").len(), trial.runs()), (2, 4), "once for the text before");
    // After its rest it is tried again.
    let limits = PoolLimits { restart_delay: Duration::from_millis(1), ..PoolLimits::default() };
    let alone = Trial::with("once", Has::ServerAlone, "", limits);
    assert_eq!(found(&alone.judge("a.txt", None, "bad\n")), ["1:1 new seen bad"]);
    assert_eq!(alone.noted("started").len(), 2);
}

#[test]
fn one_that_dies_of_new_files_goes_on_with_others() {
    let trial = Trial::new("missing");
    let edit = |number: usize| trial.judge("a.txt", Some(""), &format!("bad {number}\n"));
    assert_eq!(became(&edit(0)), (Outcome::Found, String::new()), "the control: it lives with files on disk");
    for number in 0..2 {
        let new = trial.judge("new.txt", None, &format!("bad {number}\n"));
        assert_eq!(found(&new).len(), 1);
        let why = became(&new).1;
        let expected = "gets no files that are not on disk, because it failed on them twice: it ended with exit code 1; it said: no such file; its command was run";
        assert!(why.contains(expected), "{why}");
        assert_eq!(became(&edit(number + 1)), (Outcome::Found, String::new()), "it does not rest");
    }
    assert_eq!(trial.runs(), 2, "the command, for the new files");
    assert_eq!(trial.noted("started").len(), 3, "again after the first death, and for the next file on disk");
}

#[test]
fn a_program_without_a_server_is_not_one_that_died() {
    let trial = Trial::new("none");
    for number in 0..2 {
        let (outcome, why) = became(&trial.judge("a.txt", Some(""), &format!("bad {number}\n")));
        assert_eq!(outcome, Outcome::Found);
        let expected = "its program does not run as a language server: it ended with exit code 2; it said: error: unrecognized subcommand 'server'; its command was run instead";
        assert_eq!(why, expected);
    }
    assert_eq!(trial.noted("started").len(), 1, "it is not started again at once");
    let alone = Trial::with("none", Has::ServerAlone, "", PoolLimits::default());
    let (outcome, why) = became(&alone.judge("a.txt", Some(""), "bad\n"));
    assert_eq!(outcome, Outcome::Unavailable);
    assert!(why.ends_with("it said: error: unrecognized subcommand 'server'"), "{why}");
    // After its rest it is tried again.
    let limits = PoolLimits { restart_delay: Duration::from_millis(1), ..PoolLimits::default() };
    let trial = Trial::with("none", Has::ServerAndCommand, "", limits);
    ["bad\n", "bad bad\n"].iter().for_each(|text| {
        trial.judge("a.txt", Some(""), text);
        std::thread::sleep(Duration::from_millis(5));
    });
    assert!(trial.noted("started").len() > 1);
    let mortal = became(&Trial::new("mortal").judge("a.txt", Some(""), "bad\n")).1;
    assert!(mortal.contains("failed"), "the control: {mortal}");
}

#[test]
fn a_program_with_another_protocol_is_replaced_by_its_command() {
    for (way, expected) in [
        ("garbage", "wrote something other than the Language Server Protocol"),
        ("huge", "wrote something other than the Language Server Protocol"),
        ("refuses", "refused to start: no licence"),
    ] {
        let expected = if way == "huge" { "announced a message of 99999999999 bytes" } else { expected };
        let trial = Trial::new(way);
        let verdict = trial.judge("a.txt", None, "bad\n");
        assert_eq!(found(&verdict).len(), 1, "{way}");
        assert!(became(&verdict).1.contains(expected), "{way}: {:?}", became(&verdict));
        let alone = Trial::with(way, Has::ServerAlone, "", PoolLimits::default());
        assert_eq!(became(&alone.judge("a.txt", None, "bad\n")).0, Outcome::Unavailable, "{way}");
    }
}

#[test]
fn one_that_takes_too_much_memory_is_ended() {
    let trial = Trial::with("grow", Has::ServerAndCommand, "memory: 100MiB", PoolLimits::default());
    let (outcome, why) = became(&trial.judge("a.txt", None, "bad\n"));
    assert_eq!(outcome, Outcome::Found, "{why}");
    assert!(why.contains("took more than 100 MiB of memory, and was stopped"), "{why}");
    for pid in trial.noted("started") {
        wait_for("its end", || !lives(&pid));
    }
    // The control: what takes less goes on.
    let modest = Trial::with("pull", Has::ServerAlone, "memory: 100MiB", PoolLimits::default());
    assert_eq!(found(&modest.judge("a.txt", None, "bad\n")).len(), 1);
}

#[test]
fn nothing_that_it_asks_for_changes_anything() {
    let settings = r#"settings: '{"x": {"y": 1}}'"#;
    let trial = Trial::with("asks", Has::ServerAlone, settings, PoolLimits::default());
    assert_eq!(found(&trial.judge("a.txt", None, "bad\n")).len(), 1);
    wait_for("its answers", || trial.noted("answer").len() == 3);
    let answers = trial.noted("answer");
    assert!(answers[0].starts_with(r#"a {"result": {"applied": false"#), "{answers:?}");
    assert_eq!(answers[1], r#"b {"result": [1, {"x": {"y": 1}}, null]}"#);
    assert!(answers[2].starts_with(r#"c {"error": {"code": -32601"#), "{answers:?}");
}

/// What a server finds in a text can depend on what it saw before, so it is asked again before a line is accused that the
/// edit did not write.
#[test]
fn what_a_server_finds_only_the_first_time_is_not_new() {
    let trial = Trial::new("first");
    let verdict = trial.judge("a.txt", Some("fine\nmore\n"), "fine\nmore\nbad\n");
    assert_eq!(found(&verdict), ["3:1 new seen bad"]);
    assert_eq!(trial.noted("diagnostic").len(), 4, "both texts, twice");
    // The controls: it is found where nothing was before, and a finding in the edit is believed at once.
    let new = trial.judge("b.txt", None, "fine\n");
    assert_eq!(found(&new), ["1:1 new only this time"]);
    let asked = trial.noted("diagnostic").len();
    assert_eq!(found(&trial.judge("a.txt", Some("fine\n"), "fine\nbad\n")), ["2:1 new seen bad"]);
    assert_eq!(trial.noted("diagnostic").len(), asked + 2);
    // What is found each time is new, wherever it is.
    let trial = Trial::new("pull");
    let edits = [("a.txt", Some("see b.txt\nx\n"), "see b.txt\ny\n"), ("b.txt", Some("old\n"), "other\n")];
    assert_eq!(found(&trial.together(&edits)[0]), ["1:1 new other"]);
}
