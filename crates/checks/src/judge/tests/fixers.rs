//! Fixers: gates that change the draft before the checks run.

use super::*;

fn text(verdict: &Verdict) -> Option<&str> {
    verdict.fixed.as_ref().map(|text| std::str::from_utf8(text.bytes()).unwrap())
}

fn with_fixers(scripts: &[&str], rules: &str) -> Trial {
    let define = scripts.iter().zip(1..).fold(Define::default(), |define, (script, number)| {
        define.gate(&format!("fix{number}"), script, TEXT, "role: fix")
    });
    let fixer = |number| format!("{{ tool: fix{number}, timeout: 2s }}");
    let fixers: Vec<String> = (1..=scripts.len()).map(fixer).collect();
    let define = define.gate("finder", FINDER, LINES, "");
    define.policy(&format!("{{ tool: syntax }}, {}{rules}", fixers.join(", ")), "")
}

/// One fixer, with further options of its entry.
fn with_fixer(script: &str, options: &str, rules: &str) -> Trial {
    let define = Define::default().gate("fix1", script, TEXT, "role: fix").gate("finder", FINDER, LINES, "");
    define.policy(&format!("{{ tool: syntax }}, {{ tool: fix1{options} }}{rules}"), "")
}

const LEFT_ONE: &str = "left 1 line outside of the edit unchanged (`scope: file` changes them)";
const LEFT_TWO: &str = "left 2 lines outside of the edit unchanged (`scope: file` changes them)";

#[test]
fn each_fixer_gets_the_text_of_the_one_before_and_checks_get_the_last() {
    let trial = with_fixers(&["sed s/badly/bad/", "sed s/bad/good/", "cat"], ", { tool: finder }");
    let verdict = trial.judge("a.txt", Some("x\n"), "x\nbadly one\nbad two\n");
    assert_eq!(text(&verdict), Some("x\ngood one\ngood two\n"));
    let none = ("syntax", Outcome::Skipped, "not for this language");
    let one = ("fix1", Outcome::Fixed, "changed 1 line");
    let two = ("fix2", Outcome::Fixed, "changed 2 lines");
    let passed = |gate| (gate, Outcome::Passed, "");
    assert_eq!(outcomes(&verdict), [none, one, two, passed("fix3"), passed("finder")]);
}

#[test]
fn a_text_that_needs_no_fix_stays_the_draft() {
    let verdict = with_fixers(&["cat"], "").judge("a.txt", None, "x\n");
    assert_eq!((text(&verdict), outcomes(&verdict)[1]), (None, ("fix1", Outcome::Passed, "")));
}

#[test]
fn one_that_prints_the_text_twice_changes_nothing() {
    let verdict = with_fixers(&["sed p"], "").judge("a.txt", None, "one bad word\n");
    let (gate, outcome, why) = outcomes(&verdict)[1];
    assert_eq!((text(&verdict), gate, outcome), (None, "fix1", Outcome::Broken), "{why}");
    assert!(why.contains("more than once"), "{why}");
    // The control: a text that repeats itself does so afterwards.
    let verdict = with_fixers(&["sed s/bad/good/"], "").judge("a.txt", None, "one bad\none bad\n");
    assert_eq!(text(&verdict), Some("one good\none good\n"));
}

#[test]
fn one_that_fails_changes_nothing_and_the_others_go_on() {
    let trial =
        with_fixers(&["sed s/bad/worse/; exit 9", "exec sleep 60", "sed s/bad/good/"], ", { tool: finder }");
    let verdict = trial.judge("a.txt", None, "one bad word\n");
    assert_eq!(text(&verdict), Some("one good word\n"), "{:?}", verdict.runs);
    let kinds: Vec<_> = outcomes(&verdict).iter().map(|(gate, outcome, _)| (*gate, *outcome)).collect();
    assert_eq!(
        kinds,
        [
            ("syntax", Outcome::Skipped),
            ("fix1", Outcome::Broken),
            ("fix2", Outcome::TimedOut),
            ("fix3", Outcome::Fixed),
            ("finder", Outcome::Passed)
        ]
    );
}

#[test]
fn the_file_keeps_its_line_ends_and_byte_order_mark() {
    let trial = with_fixers(&["sed s/bad/good/"], "");
    let verdict = trial.judge("a.txt", Some("\u{feff}a\r\nb\r\n"), "\u{feff}a\r\nbad\r\nb\r\n");
    assert_eq!(text(&verdict), Some("\u{feff}a\r\ngood\r\nb\r\n"));
}

#[test]
fn a_fix_that_an_in_process_gate_rejects_is_not_applied() {
    let trial = with_fixers(&["sed 's/[]]//'", "sed s/1/2/"], "");
    let verdict = trial.judge("a.json", Some("[0]\n"), "[1, 3, 4]\n");
    assert_eq!(text(&verdict), Some("[2, 3, 4]\n"), "{:?}", verdict.runs);
    assert_eq!(outcomes(&verdict)[0], ("syntax", Outcome::Passed, ""));
    let (gate, outcome, why) = outcomes(&verdict)[1];
    assert_eq!((gate, outcome), ("fix1", Outcome::Broken));
    assert!(why.starts_with("gave a text that is rejected by syntax on line "), "{why}");
}

#[test]
fn an_empty_text_for_one_that_is_not_is_not_applied() {
    for script in ["true", "echo"] {
        let verdict = with_fixers(&[script], "").judge("a.txt", None, "x\n");
        assert_eq!((text(&verdict), outcomes(&verdict)[1].1), (None, Outcome::Broken), "{script}");
    }
}

#[test]
fn what_it_changed_counts_as_written_by_the_edit() {
    let trial = with_fixer("sed 's/^two$/badly/'", ", scope: file", ", { tool: finder }");
    let verdict = trial.judge("a.txt", Some("one\ntwo\n"), "ONE\ntwo\n");
    assert_eq!((text(&verdict), blocked(&verdict)), (Some("ONE\nbadly\n"), vec![2]));
}

#[test]
fn an_edit_that_changes_nothing_is_not_fixed() {
    let verdict = with_fixers(&["sed s/bad/good/"], "").judge("a.txt", Some("bad\n"), "bad\n");
    assert_eq!(
        (text(&verdict), outcomes(&verdict)[1]),
        (None, ("fix1", Outcome::Skipped, "the edit changes nothing"))
    );
}

/// Indentation by a formatter is not damage by the edit; indentation that it leaves as the edit wrote it is.
#[test]
fn the_indentation_of_a_formatter_is_no_damage() {
    let before = "function a() {\n\tb();\n\tc();\n\td();\n\te();\n}\n";
    let warned = |script: &str, line: &str| {
        let define = Define::default().gate("fix1", script, TEXT, "role: fix");
        let trial = define.policy("{ tool: damage }, { tool: fix1, scope: file }", "");
        let verdict =
            trial.judge("a.js", Some(before), &before.replace("\te();", &format!("\te();\n{line}")));
        assert_eq!(outcomes(&verdict)[1].1, Outcome::Fixed, "{:?}", verdict.runs);
        verdict.findings.iter().any(|found| found.code.as_deref() == Some("tabs_to_spaces"))
    };
    let to_spaces = "sed 's/\\t/    /'";
    assert!(!warned(to_spaces, "\tbad();"));
    assert!(!warned(to_spaces, "\tbad();\n\tgood();"));
    assert!(warned("sed s/bad/worse/", "    good();\n\tbad();"), "the edit wrote spaces, and they stay");
    assert!(!warned("sed 's/^    /\\t/'", "    good();"), "the edit wrote spaces, and they went");
}

/// Fixers of space and line ends, each with a text that it would change in every line.
#[test]
fn only_the_edit_is_fixed_in_a_text_that_was_not_formatted() {
    for (script, before, edited, expected, left) in [
        ("sed 's/ *$//'", "a \nb \nc \n", "a \nB  \nc \n", "a \nB\nc \n", LEFT_TWO),
        ("expand -t 4", "a\tx\nb\tx\nc\tx\n", "a\tx\nb\ty\nc\tx\n", "a\tx\nb   y\nc\tx\n", LEFT_TWO),
        ("sed 's/ *$//; $a\\'", "a \nb \nc", "A \nb \nc", "A\nb \nc", LEFT_TWO),
        ("sed '$a\\'", "a\nb", "A\nb", "A\nb", LEFT_ONE),
    ] {
        let part = with_fixer(script, "", "").judge("a.txt", Some(before), edited);
        let why = part.runs[1].why.clone().unwrap_or_default();
        assert_eq!(text(&part).unwrap_or(edited), expected, "{script}: {why}");
        assert!(why.ends_with(left), "{script}: {why}");
        // The whole text is fixed if the policy says so.
        let all = with_fixer(script, ", scope: file", "").judge("a.txt", Some(before), edited);
        assert_ne!(text(&all), Some(expected), "{script}");
    }
}

#[test]
fn a_new_formatted_or_mostly_rewritten_text_is_fixed_whole() {
    let trial = with_fixer("sed 's/ *$//; s/^1/0/'", "", "");
    assert_eq!(text(&trial.judge("a.txt", None, "a \nb \n")), Some("a\nb\n"), "new");
    let verdict = trial.judge("a.txt", Some("a\nb\nc\n"), "a\nb \nc\n");
    assert_eq!(
        (text(&verdict), &*verdict.runs[1].why.clone().unwrap()),
        (Some("a\nb\nc\n"), "changed 1 line")
    );
    let verdict = trial.judge("a.txt", Some("a \nb \nc \n"), "A \nB \nc \n");
    assert_eq!(text(&verdict), Some("A\nB\nc\n"), "two of three lines");
    let verdict = trial.judge("a.txt", Some("a \nb \nc \n"), "A \nb \nc \n");
    assert_eq!(text(&verdict), Some("A\nb \nc \n"), "one of three lines");
}

#[test]
fn a_part_that_does_not_hold_alone_leaves_the_edit_as_it_is_and_says_so() {
    // It changes each line at every run, so its text of a part differs from that of the draft.
    let verdict = with_fixer("sed 's/^/+/'", "", "").judge("a.txt", Some("a\nb\nc\n"), "a\nB\nc\n");
    assert_eq!(
        (text(&verdict), verdict.runs[1].outcome, verdict.runs[1].partial),
        (None, Outcome::Skipped, true)
    );
    let why = verdict.runs[1].why.clone().unwrap();
    assert!(why.starts_with("left the edit unformatted: ") && why.contains("`scope: file`"), "{why}");
    let verdict =
        with_fixer("sed 's/^/+/'", ", scope: file", "").judge("a.txt", Some("a\nb\nc\n"), "a\nB\nc\n");
    assert_eq!(text(&verdict), Some("+a\n+B\n+c\n"));
    // A part that an in-process gate rejects: one of two brackets.
    let (before, after) = ("[\n0,\n1\n]\n", "[\n0,\n1 ]\n");
    let verdict = with_fixer("tr '[]' '()'", "", "").judge("a.json", Some(before), after);
    assert_eq!((text(&verdict), verdict.runs[1].outcome), (None, Outcome::Skipped), "{:?}", verdict.runs);
}

#[test]
fn no_line_changes_its_block_where_the_neighbours_keep_their_indentation() {
    // Two spaces become four in all lines: taken alone, the edited line would belong to the `if`.
    let script = r"sed 's/^    /        /; t; s/^  /    /; s/ *= */ = /'";
    let before = "def f():\n  if a:\n    b=1\n  c=2\n  d=3\n";
    let after = before.replace("c=2", "c=4");
    let verdict = with_fixer(script, "", "").judge("a.py", Some(before), &after);
    assert_eq!(text(&verdict), Some(&*before.replace("c=2", "c = 4")), "{:?}", verdict.runs);
    // The parser alone would let the other text pass.
    let joined = before.replace("  c=2", "    c = 4");
    let verdict = with_fixer("cat", "", "").judge("a.py", Some(before), &joined);
    assert_eq!(verdict.runs[0].outcome, Outcome::Passed);
}

#[test]
fn the_text_before_is_formatted_once_for_many_edits() {
    let script = "echo x >> {project}/runs; sed 's/ *$//'";
    let trial = with_fixer(script, "", "");
    let before = "a \nb \nc \n";
    let once = |after: &str| {
        let verdict = trial.judge("a.txt", Some(before), after);
        (text(&verdict).map(str::to_owned), trial.runs("runs"))
    };
    assert_eq!(
        once("A  \nb \nc \n"),
        (Some("A\nb \nc \n".to_owned()), 3),
        "the draft, the text before, the part"
    );
    assert_eq!(once("B  \nb \nc \n"), (Some("B\nb \nc \n".to_owned()), 5), "the draft and the part");
    // The result for the part is cached if the part is the text before.
    let verdict = trial.judge("a.txt", Some("B\nb \nc \n"), "B\nC  \nc \n");
    assert_eq!((text(&verdict), trial.runs("runs")), (Some("B\nC\nc \n"), 7));
    // If nothing is changed outside of the edit, there is no further run.
    let trial = with_fixer(script, "", "");
    trial.judge("a.txt", Some("a\nb\nc\n"), "a\nb \nc\n");
    assert_eq!(trial.runs("runs"), 1);
}
