//! A program that finds nothing in a draft must find the mistake of its canary.

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
        let verdict = trial.judge("a.txt", None, text);
        (outcomes(&verdict)[0].1, trial.runs("log"))
    };
    assert_eq!(outcome("one\n"), (Outcome::Passed, 2), "the draft and the canary");
    assert_eq!(outcome("two\n"), (Outcome::Passed, 3), "the draft");
    assert_eq!(outcome("bad\n"), (Outcome::Found, 4));
}

#[test]
fn a_blind_program_is_broken_until_it_changes() {
    let trial = with_canary("cat > /dev/null; test ! -e '{project}/eyes' || echo 1:bad:seen", "bad");
    let outcome = |text: &str| {
        let verdict = trial.judge("a.txt", None, text);
        let (_, outcome, why) = outcomes(&verdict)[0];
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
        let verdict = trial.judge("a.txt", None, "x\n");
        let why = "on its canary: ended with exit code 9";
        assert_eq!((outcomes(&verdict), trial.runs("log")), (vec![("finder", Outcome::Broken, why)], runs));
    }
}

#[test]
fn what_is_found_in_another_file_is_no_proof() {
    let script = "text=$(cat); case $text in *bad*) echo other.txt:1:bad:seen;; esac";
    let trial = Define::default().gate("finder", script, FILES, "canary: bad").policy("{ tool: finder }", "");
    trial.write("other.txt", "x\n");
    let verdict = trial.judge("a.txt", None, "x\n");
    let why = format!("{BLIND}, but in another file: other.txt:1: seen");
    assert_eq!(outcomes(&verdict), [("finder", Outcome::Broken, why.as_str())]);
}

/// A program that, like compilers, reports only an error elsewhere if the declarations are missing.
const NEEDS: &str = "text=$(cat); case $text in *decl*) printf '%s\\n' \"$text\" | grep -n '^bad' | \
                     sed 's/^\\([0-9]*\\):.*/a.txt:\\1:bad:seen/';; *) echo other.txt:1:gone:no decl;; esac";

#[test]
fn a_canary_behind_the_draft_leaves_the_others_what_they_need() {
    let outcome = |canary: &str, text: &str| {
        let define = Define::default().gate("finder", NEEDS, FILES, &format!("canary: {canary}"));
        let trial = define.policy("{ tool: finder }", "");
        trial.write("other.txt", "x\n");
        let verdict = trial.judge("a.txt", None, text);
        let (_, outcome, why) = outcomes(&verdict)[0];
        (outcome, why.to_owned())
    };
    let behind = r#"{ append: "bad\n", text: "nothing\n" }"#;
    assert_eq!(outcome(behind, "decl\n"), (Outcome::Passed, String::new()));
    // The control: the same mistake in the place of the draft.
    let why = format!("{BLIND}, but in another file: other.txt:1: no decl");
    assert_eq!(outcome(r#""bad\n""#, "decl\n"), (Outcome::Broken, why));
    // The findings must be the mistake that was put there.
    let other = r#"{ append: "bad\n", finds: '^worse ', text: "nothing\n" }"#;
    assert_eq!(outcome(other, "decl\n").0, Outcome::Broken);
    assert_eq!(outcome(&other.replace("worse", "bad"), "decl\n").0, Outcome::Passed);
}

#[test]
fn a_program_that_only_reads_the_file_is_skipped_and_does_not_pass() {
    let outcome = |script: &str| {
        let trial = with_canary(script, r#"{ append: "bad\n", finds: seen bad, text: "worse\n" }"#);
        let verdict = trial.judge("a.txt", None, "x\n");
        let (_, outcome, why) = outcomes(&verdict)[0];
        (outcome, why.to_owned())
    };
    let reads = "grep -n worse | sed 's/^\\([0-9]*\\):.*/\\1:worse:no syntax/'";
    let (skipped, why) = outcome(reads);
    assert_eq!(skipped, Outcome::Skipped);
    assert!(why.starts_with("reads the file, but what it checks for is disabled there"), "{why}");
    let judges = "grep -n bad | sed 's/^\\([0-9]*\\):.*/\\1:bad:seen bad/'";
    assert_eq!(outcome(judges).0, Outcome::Passed, "the control");
    // A draft that ends where the check is disabled is no reason to call the program blind.
    let until_end = format!("sed '/^x$/,$d' | {judges}");
    assert_eq!(outcome(&until_end).0, Outcome::Passed);
}

#[test]
fn a_fixer_that_changes_nothing_is_tried_with_its_canary() {
    let outcome = |script: &str| {
        let define = Define::default().gate(
            "mender",
            script,
            TEXT,
            "role: fix\n    canary: one bad word among others",
        );
        let verdict = define.policy("{ tool: mender }", "").judge("a.txt", None, "x\n");
        (verdict.runs[0].outcome, verdict.runs[0].why.clone())
    };
    assert_eq!(outcome("sed s/bad/good/"), (Outcome::Passed, None));
    assert_eq!(outcome("cat"), (Outcome::Broken, Some(BLIND.to_owned())));
}

#[test]
fn what_was_found_before_is_no_proof_either() {
    let old = |script: &str, canary: &str| {
        let trial = with_canary(script, canary);
        trial.write("a.txt", "bad\nx\n");
        let verdict = trial.judge("a.txt", Some("bad\nx\n"), "bad\ny\n");
        outcomes(&verdict)[0].1
    };
    // A program that reads the file on disk reports the same for every draft.
    assert_eq!(old("cat > /dev/null; echo 1:bad:seen bad", "bad"), Outcome::Broken);
    assert_eq!(old(FINDER, r#""x\nbad""#), Outcome::Found);
}
