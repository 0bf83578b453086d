//! A program that calls a draft clean must have been seen to find something.

use super::*;

fn with_canary(script: &str, canary: &str) -> Trial {
    let log = format!("echo run >> '{{project}}/log'; {script}");
    let define = Define::default().gate("finder", &log, LINES, &format!("canary: {canary}"));
    define.policy("{ tool: finder }", "")
}

const BLIND: &str = "finds nothing in its canary (a text that must not pass)";

#[test]
fn a_program_that_finds_its_canary_passes_and_is_tried_once() {
    let trial = with_canary(FINDER, "bad");
    let outcome = |text: &str| {
        let told = trial.judge("a.txt", None, text);
        (outcomes(&told)[0].1, trial.runs("log"))
    };
    assert_eq!(outcome("one\n"), (Outcome::Passed, 2), "the draft and the canary");
    assert_eq!(outcome("two\n"), (Outcome::Passed, 3), "the draft");
    assert_eq!(outcome("bad\n"), (Outcome::Found, 4));
}

#[test]
fn a_blind_program_is_broken_until_it_changes() {
    let trial = with_canary("cat > /dev/null; test ! -e '{project}/eyes' || echo 1:bad:seen", "bad");
    let outcome = |text: &str| {
        let told = trial.judge("a.txt", None, text);
        let (_, outcome, why) = outcomes(&told)[0];
        (outcome, why.to_owned(), trial.runs("log"))
    };
    let blind = |runs| (Outcome::Broken, BLIND.to_owned(), runs);
    assert_eq!(outcome("one\n"), blind(2));
    assert_eq!(outcome("two\n"), blind(3), "it is not tried again");
    trial.write("eyes", "");
    assert_eq!(outcome("three\n"), (Outcome::Found, String::new(), 4));
}

#[test]
fn each_file_has_its_own_trial() {
    let trial = with_canary(&format!("case $1 in *skipped*) ;; *) {FINDER};; esac"), "bad");
    let outcome = |path: &str| trial.judge(path, None, "x\n").runs[0].outcome;
    assert_eq!(outcome("a.txt"), Outcome::Passed);
    assert_eq!(outcome("skipped.txt"), Outcome::Broken);
    assert_eq!(outcome("b.txt"), Outcome::Passed);
}

#[test]
fn a_canary_that_cannot_be_judged_is_no_proof_and_is_tried_again() {
    let trial = with_canary("text=$(cat); case $text in *bad*) exit 9;; esac", "bad");
    for runs in [2, 3] {
        let told = trial.judge("a.txt", None, "x\n");
        let why = "on its canary: ended with exit code 9";
        assert_eq!((outcomes(&told), trial.runs("log")), (vec![("finder", Outcome::Broken, why)], runs));
    }
}

#[test]
fn what_is_found_in_another_file_is_no_proof() {
    let script = "text=$(cat); case $text in *bad*) echo other.txt:1:bad:seen;; esac";
    let trial = Define::default().gate("finder", script, FILES, "canary: bad").policy("{ tool: finder }", "");
    trial.write("other.txt", "x\n");
    let told = trial.judge("a.txt", None, "x\n");
    assert_eq!(outcomes(&told), [("finder", Outcome::Broken, BLIND)]);
}

#[test]
fn one_that_mends_is_tried_when_it_leaves_a_text_as_it_is() {
    let outcome = |script: &str| {
        let define = Define::default().gate(
            "mender",
            script,
            TEXT,
            "role: fix\n    canary: one bad word among others",
        );
        let told = define.policy("{ tool: mender }", "").judge("a.txt", None, "x\n");
        (told.runs[0].outcome, told.runs[0].why.clone())
    };
    assert_eq!(outcome("sed s/bad/good/"), (Outcome::Passed, None));
    assert_eq!(outcome("cat"), (Outcome::Broken, Some(BLIND.to_owned())));
}

#[test]
fn what_was_found_before_is_no_proof_either() {
    let old = |script: &str, canary: &str| {
        let trial = with_canary(script, canary);
        trial.write("a.txt", "bad\nx\n");
        let told = trial.judge("a.txt", Some("bad\nx\n"), "bad\ny\n");
        outcomes(&told)[0].1
    };
    // One that reads the file on disk says of every draft what it says of that.
    assert_eq!(old("cat > /dev/null; echo 1:bad:seen bad", "bad"), Outcome::Broken);
    assert_eq!(old(FINDER, r#""x\nbad""#), Outcome::Found);
}
