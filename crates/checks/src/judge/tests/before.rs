//! Findings of programs are compared with those before the edit.

use super::*;

#[test]
fn only_what_is_new_blocks() {
    let trial = finder("", "");
    let old = "first\na bad line\nfine\na badly one\n";
    let lines = |after: &str| blocked(&trial.judge("a.txt", Some(old), after));
    let none: [usize; 0] = [];
    assert_eq!(lines("first\na bad line\nfiner\na badly one\n"), none, "another line");
    assert_eq!(lines("first\nnew\na bad line\nfine\na badly one\n"), none, "moved");
    assert_eq!(lines("a bad line\nfine\na badly one\n"), none, "moved to the top");
    assert_eq!(lines("first\na badly one\nfine\na bad line\n"), none, "moved past each other");
    assert_eq!(lines("first\na bad line, still\nfine\na badly one\n"), none, "its line written anew");
    assert_eq!(lines("first\na bad line\nfine\na badly one\na bad line\n"), [5], "a second copy");
    assert_eq!(lines("first\na bad line\nfine\na badly one\nbad\n"), [5], "another one");
    assert_eq!(lines("fine\n"), none, "gone");
    let verdict = trial.judge("a.txt", Some(old), old);
    assert_eq!((found(&verdict), verdict.runs[0].outcome), (vec![(2, false), (4, false)], Outcome::Found));
}

#[test]
fn a_line_that_is_no_better_formatted_than_those_around_it_is_new() {
    let define = Define::default().gate("tidy", "sed 's/^ *//'", TEXT, "");
    let trial = define.policy("{ tool: tidy }", "");
    let old = "one\n two\n three\nfour\n five\n";
    let lines = |after: &str| blocked(&trial.judge("a.txt", Some(old), after));
    assert_eq!(lines("one\n two\n three\nfour\n five\n six\n"), [5]);
    assert_eq!(lines("one\n two\n three\nfour\n five\nsix\n"), [0; 0], "one that is formatted");
    assert_eq!(lines("one\n two\nsix\n three\nfour\n five\n"), [0; 0], "between those that are not");
}

#[test]
fn everything_in_a_new_file_is_new() {
    assert_eq!(blocked(&finder("", "").judge("a.txt", None, "bad\nfine\nbad\n")), [1, 3]);
}

/// Finds a bad word in the text, but cannot look at a text that holds `old`.
fn unable_on_old(on_old: &str) -> Trial {
    let script = format!("text=$(cat); case \"$text\" in *old*) {on_old};; *) echo 1:bad:seen;; esac");
    Define::default().gate("finder", &script, LINES, "").policy("{ tool: finder, timeout: 1s }", "")
}

#[test]
fn a_text_before_that_cannot_be_judged_is_no_clean_one() {
    let outcome = |on_old: &str| {
        let verdict = unable_on_old(on_old).judge("a.txt", Some("old\n"), "new\n");
        assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
        let run = &verdict.runs[0];
        (run.outcome, run.why.clone().unwrap_or_default())
    };
    let (broken, why) = outcome("echo no disk >&2; exit 9");
    assert_eq!(
        (broken, why.as_str()),
        (Outcome::Broken, "on the text before the edit: ended with exit code 9: no disk")
    );
    let late = "on the text before the edit: timed out: the gate has 1s (`timeout` of `finder`)".to_owned();
    assert_eq!(outcome("sleep 60"), (Outcome::TimedOut, late));
}

#[test]
fn a_program_that_did_not_look_at_the_text_before_found_nothing_there() {
    let script = "text=$(cat); case $text in *excluded*) echo excluded;; *) echo 1:bad:seen;; esac";
    let define = Define::default().gate("finder", script, LINES, "unseen: '^excluded$'");
    let trial = define.policy("{ tool: finder }", "");
    let verdict = trial.judge("a.txt", Some("excluded\n"), "x\n");
    assert_eq!((outcomes(&verdict)[0].1, blocked(&verdict)), (Outcome::Found, vec![1]));
    let verdict = trial.judge("a.txt", Some("x\n"), "excluded\n");
    assert_eq!(outcomes(&verdict), [("finder", Outcome::Skipped, "ignored the file: excluded")]);
}

#[test]
fn the_text_before_is_not_checked_if_the_new_one_is_clean() {
    let log = format!("echo run >> '{{project}}/log'; {FINDER}");
    let trial = Define::default().gate("finder", &log, LINES, "").policy("{ tool: finder }", "");
    trial.judge("a.txt", Some("bad\n"), "fine\n");
    assert_eq!(trial.runs("log"), 1);
    trial.judge("a.txt", Some("x bad\n"), "x bad\ny bad\n");
    assert_eq!(trial.runs("log"), 3);
}

#[test]
fn what_an_edit_breaks_in_another_file_blocks_and_what_was_broken_there_does_not() {
    let script = r"text=$(cat); echo other.txt:7:undefined:no old; case $text in *gone*) echo other.txt:3:undefined:no f;; esac";
    let trial = Define::default().gate("finder", script, FILES, "").policy("{ tool: finder }", "");
    trial.write("other.txt", &"x\n".repeat(9));
    let verdict = trial.judge("a.txt", Some("here\n"), "gone\n");
    let findings: Vec<_> =
        verdict.findings.iter().map(|it| (it.elsewhere.as_deref(), it.line, it.fresh, it.blocking)).collect();
    assert_eq!(findings, [(Some("other.txt"), 3, true, true), (Some("other.txt"), 7, false, false)]);
    let again = trial.judge("a.txt", Some("gone\n"), "gone\nmore\n");
    assert_eq!((blocked(&again).len(), again.findings.len()), (0, 2));
}

/// Finds bad words, but in a text with an open bracket reports only that, with this command.
fn parsing(on_fault: &str) -> Trial {
    let script =
        format!("cat > \"$0.text\"; if grep -q 'x = (' < \"$0.text\"; then {on_fault}; else {FINDER} < \"$0.text\"; fi")
            .replace("$0", "{project}/seen")
            .replace("grep -n bad |", "grep -n bad \"{project}/seen.text\" |")
            .replace(" < \"{project}/seen.text\"; fi", "; fi");
    Define::default().gate("finder", &script, LINES, "").policy("{ tool: syntax }, { tool: finder }", "")
}

#[test]
fn findings_that_a_syntax_error_hid_do_not_block_its_repair() {
    for on_fault in ["echo 1:invalid:open bracket", "exit 9"] {
        let trial = parsing(on_fault);
        let before = "x = (\ny = 'bad'\nz = 2\n";
        let verdict = trial.judge("a.py", Some(before), "x = 1\ny = 'bad'\nz = 'bad'\n");
        let finder: Vec<_> = verdict.findings.iter().filter(|it| it.gate == "finder").collect();
        let findings: Vec<_> = finder.iter().map(|it| (it.line, it.blocking, it.message.as_str())).collect();
        let hidden = "seen bad (hidden before by a syntax error)";
        assert_eq!(findings, [(3, true, "seen bad"), (2, false, hidden)], "{on_fault}");
    }
}

#[test]
fn a_fault_that_stays_hides_nothing_and_a_good_text_hid_nothing() {
    let trial = parsing("echo 1:invalid:open bracket");
    let stays = trial.judge("a.py", Some("x = (\ny = 2\n"), "x = (\ny = 3\n");
    assert_eq!(blocked(&stays).len(), 0, "{:?}", stays.findings);
    let good = trial.judge("a.py", Some("x = 1\ny = 2\n"), "x = 1\ny = 'bad'\n");
    assert_eq!(blocked(&good), [2]);
    assert!(good.findings.iter().all(|it| !it.message.contains("hidden")));
}

/// Judges one edit by the exit code of a script.
fn by_exit_code(script: &str, before: &str, after: &str) -> Verdict {
    let define = Define::default().gate("all", script, "{ text: exit }", "");
    define.policy("{ tool: all }", "").judge("a.txt", Some(before), after)
}

#[test]
fn a_run_that_fails_as_before_brings_nothing_whatever_the_time_it_took() {
    let varying = "echo started; cat > /dev/null; echo \"FAILED adds in /tmp/run.$$ at 0x$$ after 0.$$s\"; echo took $$ms; exit 1";
    let verdict = by_exit_code(varying, "x\n", "y\n");
    assert!(!verdict.refuses() && !verdict.findings[0].fresh, "{:?}", verdict.findings);
    // The control: another failure with otherwise similar output.
    let another = "if grep -q y; then echo FAILED takes; else echo FAILED adds; fi; exit 1";
    let verdict = by_exit_code(another, "x\n", "y\n");
    assert!(
        verdict.refuses() && verdict.findings[0].message.contains("FAILED takes"),
        "{:?}",
        verdict.findings
    );
}

#[test]
fn a_run_that_fails_in_fewer_places_is_no_worse() {
    let lines = "sed s/^/FAILED\\ /; exit 1";
    assert!(!by_exit_code(lines, "one\ntwo\n", "one\n").refuses());
    assert!(by_exit_code(lines, "one\n", "one\ntwo\n").refuses(), "in more places");
}
