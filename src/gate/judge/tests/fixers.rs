//! Gates that mend the draft before the checks look at it.

use super::*;

fn text(verdict: &Verdict) -> Option<&str> {
    verdict.mended.as_ref().map(|text| std::str::from_utf8(text.bytes()).unwrap())
}

fn mending(scripts: &[&str], rules: &str) -> Trial {
    let define = scripts.iter().zip(1..).fold(Define::default(), |define, (script, number)| {
        define.gate(&format!("fix{number}"), script, TEXT, "role: fix")
    });
    let fixer = |number| format!("{{ tool: fix{number}, timeout: 2s }}");
    let fixers: Vec<String> = (1..=scripts.len()).map(fixer).collect();
    let define = define.gate("finder", FINDER, LINES, "");
    define.policy(&format!("{{ tool: syntax }}, {}{rules}", fixers.join(", ")), "")
}

#[test]
fn each_mends_what_the_one_before_left_and_the_checks_see_the_last() {
    let trial = mending(&["sed s/badly/bad/", "sed s/bad/good/", "cat"], ", { tool: finder }");
    let told = trial.judge("a.txt", Some("x\n"), "x\nbadly one\nbad two\n");
    assert_eq!(text(&told), Some("x\ngood one\ngood two\n"));
    let none = ("syntax", Outcome::Skipped, "not for this language");
    let one = ("fix1", Outcome::Fixed, "changed 1 line");
    let two = ("fix2", Outcome::Fixed, "changed 2 lines");
    let passed = |gate| (gate, Outcome::Passed, "");
    assert_eq!(outcomes(&told), [none, one, two, passed("fix3"), passed("finder")]);
}

#[test]
fn a_text_that_needs_no_mending_stays_the_draft() {
    let told = mending(&["cat"], "").judge("a.txt", None, "x\n");
    assert_eq!((text(&told), outcomes(&told)[1]), (None, ("fix1", Outcome::Passed, "")));
}

#[test]
fn one_that_fails_changes_nothing_and_the_others_go_on() {
    let trial =
        mending(&["sed s/bad/worse/; exit 9", "exec sleep 60", "sed s/bad/good/"], ", { tool: finder }");
    let told = trial.judge("a.txt", None, "one bad word\n");
    assert_eq!(text(&told), Some("one good word\n"), "{:?}", told.runs);
    let kinds: Vec<_> = outcomes(&told).iter().map(|(gate, outcome, _)| (*gate, *outcome)).collect();
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
fn the_file_keeps_its_dress() {
    let trial = mending(&["sed s/bad/good/"], "");
    let told = trial.judge("a.txt", Some("\u{feff}a\r\nb\r\n"), "\u{feff}a\r\nbad\r\nb\r\n");
    assert_eq!(text(&told), Some("\u{feff}a\r\ngood\r\nb\r\n"));
}

#[test]
fn what_a_gate_in_process_refuses_is_not_taken() {
    let trial = mending(&["sed 's/[]]//'", "sed s/1/2/"], "");
    let told = trial.judge("a.json", Some("[0]\n"), "[1, 3, 4]\n");
    assert_eq!(text(&told), Some("[2, 3, 4]\n"), "{:?}", told.runs);
    assert_eq!(outcomes(&told)[0], ("syntax", Outcome::Passed, ""));
    let (gate, outcome, why) = outcomes(&told)[1];
    assert_eq!((gate, outcome), ("fix1", Outcome::Broken));
    assert!(why.starts_with("gave a text that is refused by syntax on line "), "{why}");
}

#[test]
fn an_empty_text_for_one_that_is_not_is_not_taken() {
    for script in ["true", "echo"] {
        let told = mending(&[script], "").judge("a.txt", None, "x\n");
        assert_eq!((text(&told), outcomes(&told)[1].1), (None, Outcome::Broken), "{script}");
    }
}

#[test]
fn what_it_changed_counts_as_written_by_the_edit() {
    let trial = mending(&["sed 's/^two$/badly/'"], ", { tool: finder }");
    let told = trial.judge("a.txt", Some("one\ntwo\n"), "ONE\ntwo\n");
    assert_eq!((text(&told), blocked(&told)), (Some("ONE\nbadly\n"), vec![2]));
}

#[test]
fn an_edit_that_changes_nothing_is_not_mended() {
    let told = mending(&["sed s/bad/good/"], "").judge("a.txt", Some("bad\n"), "bad\n");
    assert_eq!(
        (text(&told), outcomes(&told)[1]),
        (None, ("fix1", Outcome::Skipped, "the edit changes nothing"))
    );
}

/// How a formatter indents is no accident of the edit; what it leaves as the edit wrote it is.
#[test]
fn the_indentation_of_a_formatter_is_no_damage() {
    let before = "function a() {\n\tb();\n\tc();\n\td();\n\te();\n}\n";
    let warned = |script: &str, line: &str| {
        let define = Define::default().gate("fix1", script, TEXT, "role: fix");
        let trial = define.policy("{ tool: damage }, { tool: fix1 }", "");
        let told = trial.judge("a.js", Some(before), &before.replace("\te();", &format!("\te();\n{line}")));
        assert_eq!(outcomes(&told)[1].1, Outcome::Fixed, "{:?}", told.runs);
        told.findings.iter().any(|found| found.code.as_deref() == Some("tabs_to_spaces"))
    };
    let to_spaces = "sed 's/\\t/    /'";
    assert!(!warned(to_spaces, "\tbad();"));
    assert!(!warned(to_spaces, "\tbad();\n\tgood();"));
    assert!(warned("sed s/bad/worse/", "    good();\n\tbad();"), "the edit wrote spaces, and they stay");
    assert!(!warned("sed 's/^    /\\t/'", "    good();"), "the edit wrote spaces, and they went");
}
