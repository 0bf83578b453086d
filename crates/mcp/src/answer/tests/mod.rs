mod proposed;
mod random;

use proptest::prelude::*;
use rmcp::model::{CallToolResult, ContentBlock, NumberOrString, ServerJsonRpcMessage, ServerResult};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::batch::render_reports;
use super::*;
use crate::tools::{EditCall, edit_code, edit_file, safe_edit_file};
use lockgate_checks::{Finding, GateRun, Outcome, ProgressFn, RunReason, Severity, Watch};
use lockgate_engine::{Status, Workspace};
use lockgate_error::{Best, Code, Difference, EvidenceLine, NextCall, Score};
use lockgate_matching::{MatchInfo, MatchLevel};
use lockgate_protocol::{ChangedRegion, MatchLocation};
use random::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn no_answer_is_larger_than_its_limit(sample in random_answer(), response_options in options()) {
        let (answer, _) = answered(&sample, &response_options);
        let size = on_the_wire(&answer, response_options.forms);
        prop_assert!(size <= response_options.limit, "{size} bytes of {}: {}", response_options.limit, answer.json);
        for field in ["success", "status", "message", "written", "changed"] {
            prop_assert!(answer.json.get(field).is_some(), "{field} is missing");
        }
    }

    #[test]
    fn an_answer_that_fits_whole_is_whole(sample in random_answer(), response_options in options()) {
        let at = |limit| answered(&sample, &ResponseOptions { limit, ..response_options.clone() }).0;
        let whole = at(*ResponseOptions::LIMITS.end());
        let size = size_limit::size(&whole.edit_response, &whole.text, response_options.forms);
        prop_assert_eq!(&at(size + size_limit::ENVELOPE), &whole);
        prop_assert_ne!(&at(size + size_limit::ENVELOPE - 1), &whole);
    }

    #[test]
    fn a_note_is_a_whole_sentence(sample in random_answer(), response_options in options()) {
        let (answer, _) = answered(&sample, &response_options);
        for note in answer.json["notes"].as_array().into_iter().flatten() {
            let note = note.as_str().unwrap();
            prop_assert!(whole(note, &sample.notes), "{note:?}");
            prop_assert!(answer.text.contains(&format!("note: {note}")), "{note:?} is not in the text");
        }
    }

    #[test]
    fn a_diff_that_is_shown_is_whole_or_said_to_be_cut(sample in random_answer(), limit in 1024_usize..40_000) {
        let (answer, whole) = answered(&sample, &ResponseOptions { limit, ..ResponseOptions::default() });
        let shown = answer.json["diff"].as_str().unwrap_or_default();
        let says_so = answer.json["notes"].to_string().contains("the diff is");
        prop_assert_eq!(shown.len() < whole, says_so, "{} of {} bytes, {}", shown.len(), whole, answer.json);
    }
}

/// Found by chance once in thousands of runs: every field is set, each text needs all its bytes, and the limit is the
/// smallest that a caller can request.
#[test]
fn the_smallest_answer_has_room_for_every_field() {
    let longest = "a".repeat(28);
    let sample = RandomAnswer {
        before: "\n".into(),
        edited: vec![0],
        word: longest.clone(),
        path: longest.clone(),
        message: longest.clone(),
        notes: vec![longest.repeat(20)],
        rejection: true,
        ..RandomAnswer::default()
    };
    for forms in [Forms::Both, Forms::Json, Forms::Text] {
        let options =
            ResponseOptions { limit: *ResponseOptions::LIMITS.start(), forms, ..ResponseOptions::default() };
        let (answer, _) = answered(&sample, &options);
        let size = on_the_wire(&answer, options.forms);
        assert!(size <= options.limit, "{size} bytes: {}", answer.json);
    }
}

/// The control: without the levels and hunks of `fit`, the same response is too large.
#[test]
fn unbounded_facts_would_break_the_limit() {
    let place = MatchLocation { line: 1, preview: "x".repeat(60), symbol: None };
    let sample = RandomAnswer {
        before: "some line\n".repeat(2000),
        edited: (0..200).map(|line| line * 10).collect(),
        word: "other".into(),
        path: "a".into(),
        message: "m".into(),
        runs: Vec::new(),
        findings: Vec::new(),
        locations: vec![place; 100],
        notes: Vec::new(),
        ..RandomAnswer::default()
    };
    let (bounded, _) = answered(&sample, &ResponseOptions::default());
    assert!(on_the_wire(&bounded, Forms::Both) <= 8192);
    let (free, _) = answered(&sample, &ResponseOptions { limit: usize::MAX, ..ResponseOptions::default() });
    assert!(on_the_wire(&free, Forms::Both) > 5 * 8192);
    let notes = bounded.json["notes"].to_string();
    assert!(notes.contains("hunks are shown") && notes.contains("not shown: "), "{notes}");
}

/// A rejection with too much of everything.
fn overfull() -> RandomAnswer {
    let place = MatchLocation { line: 1, preview: "some place".into(), symbol: None };
    let found = |line: usize, blocking: bool| Finding {
        blocking,
        ..finding(line, &format!("it {} {line}", if blocking { "blocks" } else { "warns" }))
    };
    let findings = (1..60).map(|line| found(line, line % 3 == 0)).collect();
    RandomAnswer {
        before: "some line\n".repeat(2000),
        edited: (0..200).map(|line| line * 10).collect(),
        word: "other".into(),
        path: "a".into(),
        message: "m".into(),
        locations: vec![place; 100],
        notes: vec!["a note".into(); 50],
        findings,
        rejection: true,
        ..RandomAnswer::default()
    }
}

#[test]
fn what_blocks_comes_first_and_the_limit_is_used() {
    for (forms, least) in [(Forms::Both, 3000), (Forms::Json, 3000), (Forms::Text, 1500)] {
        let at =
            |limit| answered(&overfull(), &ResponseOptions { forms, limit, ..ResponseOptions::default() }).0;
        let (small, large) = (at(least), at(12_000));
        let found = |answer: &Answer, message: &str| {
            answer.text.lines().filter(|line| line.starts_with("line ") && line.contains(message)).count()
        };
        let blocking = |answer: &Answer| found(answer, "it blocks ");
        let warning = |answer: &Answer| found(answer, "it warns ");
        assert!(blocking(&small) > 0, "{}", small.text);
        assert_eq!((warning(&small), small.text.contains("note: a note")), (0, false), "{}", small.text);
        assert_eq!(blocking(&large), 19, "{}", large.text);
        for (answer, limit) in [(&small, least), (&large, 12_000)] {
            let size = on_the_wire(answer, forms);
            assert!(size <= limit && size > limit * 4 / 5, "{size} of {limit} as {forms:?}: {}", answer.text);
        }
    }
}

#[test]
fn a_larger_limit_is_suggested_only_to_a_tool_that_has_one() {
    for has_max_bytes in [true, false] {
        let offers = CallOffers { has_max_bytes, ..CallOffers::default() };
        let (answer, _) = answered(&overfull(), &ResponseOptions { offers, ..ResponseOptions::default() });
        let notes = answer.json["notes"].to_string();
        assert_eq!(
            notes.contains("hunks are shown, a larger max_bytes shows more"),
            has_max_bytes,
            "{notes}"
        );
    }
}

pub(super) fn gate_run(gate: &str, outcome: Outcome, why: Option<&str>) -> GateRun {
    GateRun {
        isolation: None,
        gate: gate.into(),
        outcome,
        ms: 1,
        why: why.map(str::to_owned),
        reason: RunReason::Outcome,
        blocking: false,
        withheld: false,
        softened: false,
        partial: false,
    }
}

#[tokio::test]
async fn an_answer_about_several_edits_has_each_reason_once() {
    let withheld = GateRun { withheld: true, ..gate_run("ruff", Outcome::Skipped, Some("nobody did")) };
    let runs = [gate_run("mypy", Outcome::Broken, Some("exit code 2")), withheld];
    for (forms, warnings, notes) in [(Forms::Text, 1, 1), (Forms::Both, 2, 2)] {
        let mut reports = vec![written(Watch::idle()).await.unwrap(), written(Watch::idle()).await.unwrap()];
        reports.iter_mut().for_each(|report| report.verdict.runs = runs.to_vec());
        let options = ResponseOptions { forms, ..ResponseOptions::default() };
        let text = render_reports(&reports, &options, None).text;
        assert_eq!(text.matches("exit code 2").count(), warnings, "{text}");
        assert_eq!(text.matches("nobody did").count(), notes, "{text}");
        assert_eq!(text.matches("mypy broken").count(), 2, "{text}");
    }
}

#[tokio::test]
async fn a_rejection_of_several_edits_shows_each_finding_once() {
    let mut reports = vec![written(Watch::idle()).await.unwrap(), written(Watch::idle()).await.unwrap()];
    for (line, report) in (1..).zip(&mut reports) {
        report.status = Status::Refused;
        report.verdict.findings = vec![Finding { blocking: true, ..finding(line, &format!("fault {line}")) }];
    }
    let answer = render_reports(&reports, &ResponseOptions::default(), None);
    assert!(answer.text.starts_with("nothing was written: 2 of 2 edits are refused\n"), "{}", answer.text);
    assert_eq!(answer.text.matches("nothing was written").count(), 1, "{}", answer.text);
    assert_eq!((answer.text.matches("fault 1").count(), answer.text.matches("fault 2").count()), (1, 1));
    assert!(answer.json["message"].as_str().unwrap().contains("fault 1"), "{}", answer.json);
}

/// Verified edits of `count` files of a folder; those at `refused` are rejected for a finding with this message.
async fn verified(count: usize, folder: &str, refused: &[usize], message: &str) -> Vec<Report> {
    let mut reports = Vec::new();
    for at in 0..count {
        let mut report = edited(json!({"path": "a.py", "search": "x", "replace": "y"})).await.unwrap();
        report.status = Status::Verified;
        report.target.path = format!("{folder}/module_{at}.py");
        if refused.contains(&at) {
            report.status = Status::Refused;
            report.verdict.findings = vec![Finding { blocking: true, ..finding(1, message) }];
        }
        reports.push(report);
    }
    reports
}

#[tokio::test]
async fn a_rejected_file_has_its_findings_however_many_files_there_are() {
    for (count, at) in [(2, 1), (20, 0), (20, 10), (20, 19), (60, 30), (100, 99)] {
        let reports = verified(count, "src/package", &[at], "no such name").await;
        let path = format!("src/package/module_{at}.py");
        for (forms, limit) in
            [(Forms::Both, 8192), (Forms::Both, 2000), (Forms::Both, 1024), (Forms::Text, 1024)]
        {
            let answer = render_reports(
                &reports,
                &ResponseOptions { forms, limit, ..ResponseOptions::default() },
                None,
            );
            let case = format!("{count} files, {at}, {forms:?}, {limit}: {}", answer.text);
            let message = answer.json["message"].as_str().unwrap();
            assert!(message.contains(&path) && message.contains("no such name"), "{case}");
            assert!(answer.text.contains(&path) && answer.text.contains("no such name"), "{case}");
            let files = answer.json["files"].as_array().unwrap();
            let shown = files.iter().find(|file| file["path"] == path.as_str());
            if limit == 8192 {
                assert_eq!(shown.unwrap()["findings"][0]["message"], "no such name", "{case}");
            }
        }
    }
}

#[tokio::test]
async fn a_rejected_call_shows_the_refused_files_first_and_no_lines_of_the_others() {
    let mut reports = verified(12, "src", &[11], "no such name").await;
    reports[4].verdict.findings = vec![finding(1, "odd")];
    for (forms, shown) in [(Forms::Text, 2), (Forms::Both, 12)] {
        let limit = 16_000;
        let answer =
            render_reports(&reports, &ResponseOptions { forms, limit, ..ResponseOptions::default() }, None);
        let files: Vec<&str> = answer.text.lines().filter(|line| line.contains("src/module_")).collect();
        let at = |number: usize| format!("src/module_{number}.py ");
        assert!(files[0].contains(&at(11)) && files[1].contains(&at(0)), "{}", answer.text);
        assert_eq!(files.len(), 12, "{}", answer.text);
        // The text form has only the lines of the refused file and of that with a finding.
        assert_eq!(answer.text.matches("\n1+ y = 1").count(), shown, "{}", answer.text);
        assert_eq!(answer.text.matches("strict would write this").count(), shown - 1, "{}", answer.text);
        assert!(!answer.text.contains("not shown"), "{}", answer.text);
        assert_eq!(answer.json["files"][0]["path"], "src/module_0.py", "{}", answer.json);
        let is_whole = |file: &Value| file["diff"].is_string() && file["edits"].is_array();
        let whole = answer.json["files"].as_array().unwrap().iter().filter(|file| is_whole(file)).count();
        // The text form sends no JSON.
        assert_eq!(whole, if forms == Forms::Both { 12 } else { 0 }, "{}", answer.json);
    }
}

#[tokio::test]
async fn no_other_file_is_shown_in_place_of_a_rejected_one() {
    for (count, refused) in [(30, &[2, 8, 14, 20, 29][..]), (10, &[0, 9]), (6, &[1, 3, 5])] {
        let reports = verified(count, "src/package", refused, "no such name").await;
        for limit in (1024..2100).step_by(150) {
            let answer =
                render_reports(&reports, &ResponseOptions { limit, ..ResponseOptions::default() }, None);
            let files = answer.json["files"].as_array().unwrap();
            let (rejected, others): (Vec<_>, Vec<_>) =
                files.iter().partition(|file| file["status"] == Status::Refused.name());
            assert!(
                others.is_empty() || rejected.len() == refused.len(),
                "{count}, {limit}: {}",
                answer.text
            );
        }
    }
}

#[tokio::test]
async fn a_file_of_several_is_named_with_its_whole_path() {
    for (count, folder) in [(15, "src/package".to_owned()), (15, "deep/".repeat(20)), (6, "deep/".repeat(40))]
    {
        let reports = verified(count, &folder, &[], "").await;
        let answer = render_reports(&reports, &ResponseOptions::default(), None);
        let files = answer.json["files"].as_array().unwrap();
        assert!(files.len() > count / 2, "{}", answer.text);
        for (at, file) in files.iter().enumerate() {
            let path = format!("{folder}/module_{at}.py");
            assert_eq!((&file["path"], file["version"].is_string()), (&json!(path), true));
            assert!(answer.text.contains(&path), "{}", answer.text);
        }
    }
}

#[tokio::test]
async fn no_answer_about_several_edits_is_larger_than_its_limit() {
    for (count, folder) in [(1, "d".to_owned()), (3, "d".to_owned()), (40, "deep/".repeat(80))] {
        for message in ["short".to_owned(), "long ".repeat(400), "\u{1}".repeat(400)] {
            let mut reports = verified(count, &folder, &[0], &message).await;
            for report in &mut reports {
                report.notes = (0..9).map(|at| format!("{at} {}", message.replace('\u{1}', "x"))).collect();
            }
            for (limit, forms) in [1024, 1500, 2000, 8192]
                .into_iter()
                .flat_map(|limit| [Forms::Both, Forms::Json, Forms::Text].map(|forms| (limit, forms)))
            {
                let options = ResponseOptions { forms, limit, ..ResponseOptions::default() };
                let answer = render_reports(&reports, &options, None);
                let size = on_the_wire(&answer, forms);
                assert!(size <= limit, "{size} bytes of {limit} as {forms:?}: {}", answer.json);
            }
        }
    }
}

/// A path of 104 bytes is in the answer three times, so the rest has to be short.
#[test]
fn the_smallest_answer_has_the_whole_path() {
    let path = format!("{}x.py", "deep/".repeat(20));
    let sample = RandomAnswer {
        before: "line\n".repeat(9),
        edited: vec![0, 4, 8],
        word: "other".into(),
        message: format!("wrote {path} (+3 -3)"),
        path,
        locations: vec![MatchLocation { line: 1, preview: "line".into(), symbol: None }],
        ..RandomAnswer::default()
    };
    for forms in [Forms::Both, Forms::Json, Forms::Text] {
        let limit = *ResponseOptions::LIMITS.start();
        let options = ResponseOptions { limit, forms, ..ResponseOptions::default() };
        let (answer, _) = answered(&sample, &options);
        assert_eq!(answer.json["path"], json!(sample.path));
        assert_eq!(answer.json["message"], json!(sample.message));
        assert!(on_the_wire(&answer, forms) <= limit, "{}", answer.json);
    }
}

#[tokio::test]
async fn a_note_about_gates_is_shown_once_per_connection_where_only_a_model_reads() {
    for (forms, repeats) in [(Forms::Text, false), (Forms::Both, true)] {
        let mut report = written(Watch::idle()).await.unwrap();
        let run = GateRun {
            reason: RunReason::NoProgram,
            ..gate_run("ruff", Outcome::Unavailable, Some("no ruff"))
        };
        let broken = gate_run("mypy", Outcome::Broken, Some("exit code 2"));
        report.verdict.runs = vec![run, broken];
        report.notes = vec!["of this edit".into()];
        let report = Ok(report);
        let options = ResponseOptions { forms, ..ResponseOptions::default() };
        let first = render(&report, &options);
        options.shown_parts.add(first.edit_response.as_ref().unwrap());
        let second = render(&report, &options);
        let note = "note: not checked by ruff: its program is not available here";
        assert!(
            first.text.contains(note) && first.text.contains("mypy is broken (exit code 2), so"),
            "{}",
            first.text
        );
        assert_eq!(second.text.contains(note), repeats, "{}", second.text);
        assert_eq!(second.text.contains("(exit code 2)"), repeats, "{}", second.text);
        assert_eq!(second.text.contains("mypy is broken"), repeats, "{}", second.text);
        assert!(
            second.text.contains("mypy broken") && second.text.contains("of this edit"),
            "{}",
            second.text
        );
    }
}

#[tokio::test]
async fn gates_that_passed_are_named_once_per_connection_where_only_a_model_reads() {
    for (forms, again) in [(Forms::Text, "gates ok"), (Forms::Both, "gates ok (ruff, mypy)")] {
        let mut report = written(Watch::idle()).await.unwrap();
        let passed = |gate| gate_run(gate, Outcome::Passed, None);
        report.verdict.runs = vec![passed("ruff"), passed("mypy")];
        let options = ResponseOptions { forms, ..ResponseOptions::default() };
        let mut report = Ok(report);
        let shown = |report: &Result<Report, Error>| {
            let answer = render(report, &options);
            options.shown_parts.add(answer.edit_response.as_ref().unwrap());
            answer.text.lines().find(|line| line.starts_with("gates")).unwrap_or_default().to_owned()
        };
        assert_eq!(shown(&report), "gates ok (ruff, mypy)");
        assert_eq!(shown(&report), again);
        report.iter_mut().for_each(|report| report.verdict.runs.push(passed("black")));
        assert_eq!(shown(&report), "gates ok (ruff, mypy, black)", "another list is named");
    }
}

#[test]
fn findings_that_say_the_same_are_one_line_where_only_a_model_reads() {
    let same = |line: usize| Finding { blocking: true, ..finding(line, "unknown name") };
    let sample = RandomAnswer {
        before: "some line\n".repeat(20),
        edited: vec![3, 9],
        word: "other".into(),
        path: "a".into(),
        message: "m".into(),
        findings: vec![same(4), Finding { blocking: true, ..finding(6, "another") }, same(10)],
        rejection: true,
        ..RandomAnswer::default()
    };
    let text = |forms| answered(&sample, &ResponseOptions { forms, ..ResponseOptions::default() }).0.text;
    let lines = |forms| text(forms).lines().filter(|line| line.contains("unknown name (")).count();
    assert_eq!((lines(Forms::Text), lines(Forms::Both)), (1, 2), "{}", text(Forms::Text));
    assert!(text(Forms::Text).contains("lines 4:1, 10:1 "), "{}", text(Forms::Text));
}

#[test]
fn a_rejection_says_that_nothing_was_written_and_what_to_do() {
    let place = EvidenceLine { line: 7, preview: "x = 1".into(), symbol: Some("f".into()) };
    let error =
        Error::new(Code::AmbiguousMatch, "the text stands in 2 places").field("search").places(vec![place]);
    let answer =
        render_error(&error, &ResponseOptions { path: Some("a.py".into()), ..ResponseOptions::default() });
    assert_eq!(
        answer.json,
        serde_json::json!({
            "success": false, "status": "refused", "code": "AMBIGUOUS_MATCH",
            "message": "nothing was written: the text stands in 2 places",
            "hint": "quote more of the surrounding lines, or narrow the search",
            "field": "search", "path": "a.py", "written": false, "changed": false,
            "match_locations": [{"line": 7, "preview": "x = 1", "symbol": "f"}],
        })
    );
    assert_eq!(
        answer.text,
        "nothing was written: the text stands in 2 places\n\
         AMBIGUOUS_MATCH; quote more of the surrounding lines, or narrow the search\n\
         match at line 7: x = 1 (in f)"
    );
}

#[test]
fn a_field_that_the_message_lacks_is_added_to_it() {
    let error = Error::new(Code::RangeOutOfBounds, "lines count from 1").field("line_edits[2].end_line");
    let text = render_error(&error, &ResponseOptions::default()).text;
    assert!(text.starts_with("nothing was written: line_edits[2].end_line: lines count from 1\n"), "{text}");
}

#[test]
fn a_one_line_edit_is_answered_briefly() {
    let sample = RandomAnswer {
        before: "    value = compute(1)\n".repeat(100_000),
        edited: vec![50_000],
        word: "    value = compute(2)".into(),
        path: "src/app.py".into(),
        message: "wrote src/app.py (+1 -1)".into(),
        runs: vec![GateRun {
            isolation: None,
            gate: "syntax".into(),
            outcome: Outcome::Passed,
            ms: 3,
            why: None,
            reason: RunReason::Outcome,
            blocking: false,
            withheld: false,
            softened: false,
            partial: false,
        }],
        findings: Vec::new(),
        locations: Vec::new(),
        notes: Vec::new(),
        ..RandomAnswer::default()
    };
    for forms in [Forms::Both, Forms::Json, Forms::Text] {
        let (answer, _) = answered(&sample, &ResponseOptions { forms, ..ResponseOptions::default() });
        let size = on_the_wire(&answer, forms);
        let limit = if forms == Forms::Both { 1088 } else { 768 };
        assert!(size <= limit, "{size} bytes as {forms:?}");
    }
}

#[test]
fn the_text_shows_the_changed_lines_with_their_numbers() {
    let sample = RandomAnswer {
        before: "a\nb\nc\n".into(),
        edited: vec![1],
        word: "x".into(),
        ..RandomAnswer::default()
    };
    for forms in [Forms::Both, Forms::Text] {
        let text = answered(&sample, &ResponseOptions { forms, ..ResponseOptions::default() }).0.text;
        assert!(text.contains("\n2- b\n2+ x") && !text.contains("@@"), "{text}");
    }
}

#[test]
fn a_range_that_moved_or_grew_is_described_by_its_lines() {
    for ((start_line, end_line), (new_start_line, new_end_line), description) in [
        ((1, 1), (1, 2), Some("line 1 became lines 1-2")),
        ((3, 5), (4, 4), Some("lines 3-5 became line 4")),
        ((3, 2), (3, 3), Some("added line 3")),
        ((3, 4), (3, 2), Some("removed lines 3-4")),
        ((3, 4), (3, 4), None),
    ] {
        let region = ChangedRegion { start_line, end_line, new_start_line, new_end_line, found: None };
        assert_eq!(text::moved_region(&region).as_deref(), description);
    }
}

#[test]
fn a_hunk_that_is_too_large_is_shown_in_part() {
    let sample = RandomAnswer {
        before: "some line\n".repeat(2000),
        edited: (0..400).map(|line| line * 5).collect(),
        word: "other".into(),
        ..RandomAnswer::default()
    };
    let options = ResponseOptions { forms: Forms::Text, limit: 2000, ..ResponseOptions::default() };
    let text = answered(&sample, &options).0.text;
    assert!(text.contains("\n1- some line\n1+ other\n") && text.contains("of 400 hunks are shown"), "{text}");
    assert!(!text.contains(" became ") && !text.contains(" edits"), "ranges that stay say nothing: {text}");
}

#[tokio::test]
async fn an_edit_says_how_its_text_was_found() {
    let mut report =
        edited(json!({"path": "a.py", "line_edits": [{"start_line": 1, "end_line": 1, "new_content": "y"}]}))
            .await
            .unwrap();
    report.matches.replacements = Some(1);
    let score = Score::from_distance(2, 100);
    let found = |level, runner_up| Some(MatchInfo { level, score, candidates: 1, runner_up, line: 20 });
    report.matches.info = found(MatchLevel::Indent, Some(Score::from_distance(1, 2)));
    let report = Ok(report);
    let answer = |profile| render(&report, &ResponseOptions { profile, ..ResponseOptions::default() });
    let plain = answer(ToolProfile::PLAIN);
    let wanted = json!({"tier": "indent", "score": 0.98, "candidates": 1, "runner_up": 0.5});
    assert_eq!(plain.json["edits"][0]["match"], wanted, "{}", plain.json);
    let line = "\nfound by tier indent, score 98%, candidates 1, the next best place 50%\n";
    assert!(plain.text.contains(line), "{}", plain.text);
    let message = |profile| answer(profile).json["message"].clone();
    assert_eq!(message(edit_file::TOOL.profile), "Successfully replaced 1 occurrence(s) in a.py");
    assert_eq!(message(edit_code::TOOL.profile), "Replaced block at line 20 (Match Score: 98%)");
    let Ok(mut report) = report else { return };
    report.matches.info = found(MatchLevel::Exact, None);
    let exact = render(&Ok(report), &ResponseOptions::default());
    assert_eq!(exact.json["edits"][0]["match"], json!({"tier": "exact", "score": 0.98, "candidates": 1}));
    assert!(!exact.text.contains("found by"), "{}", exact.text);
}

/// An edit of `a.py` that holds `x = 1`.
async fn edited(request: serde_json::Value) -> Result<Report, Error> {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("a.py"), "x = 1\n").unwrap();
    let workspace = Workspace::open(&[root.path().to_owned()]).unwrap();
    let EditCall { request, .. } = safe_edit_file::parse_edit(request.as_object().cloned().unwrap()).unwrap();
    workspace.edit(request, Watch::idle()).await
}

/// An edit of `a.py` that the gates let through, in a folder of its own.
async fn written(watch: Watch) -> Result<Report, Error> {
    let root = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(&[root.path().to_owned()]).unwrap();
    let request = json!({"path": "a.py", "content": "x = 1\n"}).as_object().cloned().unwrap();
    let EditCall { request, .. } = safe_edit_file::parse_edit(request).unwrap();
    workspace.edit(request, watch).await
}

#[tokio::test]
async fn a_job_that_panics_does_not_claim_that_nothing_was_written() {
    let panics: ProgressFn = Box::new(|_, _, _| panic!("on purpose"));
    let stopped = written(Watch::new(CancellationToken::new(), Some(panics))).await;
    let answer =
        render(&stopped, &ResponseOptions { path: Some("a.py".into()), ..ResponseOptions::default() });
    assert!(!answer.is_success());
    let message = answer.json["message"].as_str().unwrap();
    assert!(message.starts_with("it is not known whether the file was written: "), "{message}");
    assert!(
        !answer.text.contains("nothing was written") && answer.text.contains("read the file"),
        "{}",
        answer.text
    );
    assert_eq!((answer.json.get("written"), answer.json.get("changed")), (None, None), "{}", answer.json);
    assert_eq!((&answer.json["hint"], &answer.json["code"]), (&json!("read the file"), &json!("INTERNAL")));
}

#[tokio::test]
async fn a_gate_that_should_have_looked_and_has_not_is_warned_of() {
    let mut report = written(Watch::idle()).await.unwrap();
    let warned = |report: Report| {
        let answer = render(&Ok(report), &ResponseOptions::default());
        (answer.json["validation_warnings"].clone(), answer.text)
    };
    let run = |outcome, why: Option<&str>| GateRun {
        isolation: None,
        gate: "syntax".into(),
        outcome,
        ms: 1,
        why: why.map(str::to_owned),
        reason: if outcome == Outcome::TimedOut { RunReason::TimeLimit } else { RunReason::Outcome },
        blocking: false,
        withheld: false,
        softened: false,
        partial: false,
    };
    report.verdict.runs = vec![
        run(Outcome::TimedOut, Some("timed out")),
        run(Outcome::Broken, Some("the gate panicked")),
        run(Outcome::Broken, None),
        run(Outcome::Passed, None),
        run(Outcome::Found, None),
        run(Outcome::Skipped, Some("not for this language")),
    ];
    let (listed, text) = warned(report);
    let warnings = [
        "syntax timed out, so it did not check the edit",
        "syntax is broken (the gate panicked), so it did not check the edit",
        "syntax is broken, so it did not check the edit",
    ];
    assert_eq!(listed, json!(warnings));
    assert!(warnings.iter().all(|warning| text.contains(&format!("\nwarning: {warning}"))), "{text}");
}

/// A finding as gates give them.
fn finding(line: usize, message: &str) -> Finding {
    Finding { gate: "syntax".into(), fresh: true, counts: true, ..Finding::new(line, 1, message) }
}

#[tokio::test]
async fn a_warning_is_told_once_whatever_the_findings_say() {
    let mut report = written(Watch::idle()).await.unwrap();
    report.verdict.findings = vec![finding(1, ""), finding(2, "odd")];
    report.warnings = vec!["the weather is odd".into()];
    let answer = render(&Ok(report), &ResponseOptions::default());
    assert_eq!(
        answer.json["validation_warnings"],
        json!(["the weather is odd", "line 1, column 1: syntax: ", "line 2, column 1: syntax: odd"])
    );
    let warnings: Vec<&str> = answer.text.lines().filter(|line| line.starts_with("warning: ")).collect();
    assert_eq!(warnings, ["warning: the weather is odd"]);
}

#[tokio::test]
async fn findings_that_were_there_before_are_counted_in_the_text_and_whole_in_the_json() {
    let mut report = written(Watch::idle()).await.unwrap();
    let old = |line| Finding { fresh: false, counts: false, ..finding(line, "long known") };
    report.verdict.findings = [vec![finding(1, "odd")], (2..=13).map(old).collect()].concat();
    let known = render(&Ok(report), &ResponseOptions::default());
    assert!(known.text.contains("line 1:1 error: odd (syntax, new)"), "{}", known.text);
    assert!(known.text.lines().any(|line| line.ends_with("; 12 old findings")), "{}", known.text);
    assert!(!known.text.contains("long known"), "{}", known.text);
    assert_eq!(known.json["findings"].as_array().unwrap().len(), 4, "{}", known.json);
    // The control: those that count by the baseline are listed one by one.
    let mut report = written(Watch::idle()).await.unwrap();
    report.verdict.findings =
        (2..=13).map(|line| Finding { fresh: false, ..finding(line, "long known") }).collect();
    let counted = render(&Ok(report), &ResponseOptions::default()).text;
    assert_eq!(counted.matches("error: long known (syntax").count(), 12, "{counted}");
    assert!(!counted.contains("old finding"), "{counted}");
}

#[tokio::test]
async fn the_text_counts_only_findings_that_it_would_show() {
    let old = |line| Finding { fresh: false, counts: false, ..finding(line, "long known") };
    let new = |line| Finding { blocking: true, ..finding(line, "odd") };
    for (count, forms, note) in [
        (1, Forms::Text, None),
        (1, Forms::Both, Some("note: not shown: 6 findings")),
        (25, Forms::Text, Some("note: not shown: 5 findings")),
    ] {
        let mut report = written(Watch::idle()).await.unwrap();
        report.status = Status::Refused;
        report.verdict.findings = (1..=count).map(new).chain((30..39).map(old)).collect();
        let text = render(&Ok(report), &ResponseOptions { forms, ..ResponseOptions::default() }).text;
        let shown = text.lines().find(|line| line.starts_with("note: not shown"));
        assert_eq!(shown, note, "{text}");
    }
}

#[tokio::test]
async fn what_the_message_ends_with_is_said() {
    let mut report = written(Watch::idle()).await.unwrap();
    report.status = Status::Unchanged;
    report.warnings = vec!["not found".into(), "found".into()];
    let answer = render(&Ok(report), &ResponseOptions::default());
    assert_eq!(answer.json["message"], "a.py is unchanged: not found");
    assert_eq!(answer.json["validation_warnings"], json!(["not found", "found"]));
    let warnings: Vec<&str> = answer.text.lines().filter(|line| line.starts_with("warning: ")).collect();
    assert_eq!(warnings, ["warning: found"]);
}

#[tokio::test]
async fn every_error_that_is_left_out_is_counted() {
    let mut report = written(Watch::idle()).await.unwrap();
    report.status = Status::Refused;
    report.verdict.findings =
        (1..=25).map(|line| Finding { blocking: true, ..finding(line, &"long ".repeat(20)) }).collect();
    let report = Ok(report);
    for limit in [2000, 8192, 1 << 20] {
        let answer = render(&report, &ResponseOptions { limit, ..ResponseOptions::default() });
        let missing = 25 - answer.json["errors"].as_array().map_or(0, Vec::len);
        let noun = if missing == 1 { "error" } else { "errors" };
        let notes = answer.json["notes"].to_string();
        assert!(missing > 0 && notes.contains(&format!(", {missing} {noun}")), "{limit}: {notes}");
    }
}

/// Whether a note is a whole sentence: one of the answer's own, or one that was given.
fn whole(note: &str, given: &[String]) -> bool {
    let one = "1 (proposed call|line of best|match location|edit|entry of line_map|gate|finding|error|warning|note)";
    let many = r"([2-9]|\d\d+) (lines of best|match locations|edits|entries of line_map|gates|findings|errors|warnings|notes)";
    let count = format!("({one}|{many})");
    let own = [
        format!("not shown: {count}(, {count})*"),
        r"the diff is cut: \d+ of \d+ hunks are shown(, a larger max_bytes shows more)?".to_owned(),
        "more is not shown|the diff is cut|the diff is not shown".to_owned(),
    ];
    let own = regex::Regex::new(&format!("^({})$", own.join("|"))).unwrap();
    own.is_match(note) || given.iter().any(|given| given == note)
}

/// Renders the result of one edit.
fn render(result: &Result<Report, Error>, options: &ResponseOptions) -> Answer {
    match result {
        Ok(report) => render_report(report, options),
        Err(error) => render_error(error, options),
    }
}
