//! Renders an answer as text: the diff, the gate results, and finally the outcome.
//!
//! Every command that shows an edit, a diff or a finding uses this module, so their output looks alike.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use clap::builder::styling::Style;

use super::excerpt::Excerpt;
use super::paint::{
    self, ADDED, DONE, FAINT, HUNK, LABEL, REJECTED, REMOVED, WARNING, labelled, paint, visible,
};
use super::verbosity::Verbosity;
use lockgate_mcp::answer::passed_gates;
use lockgate_protocol::{
    BatchResponse, EditResponse, FileChangesSince, FirstDifference, NearestLines, ReportedFinding,
    ReportedGate, ReportedWarning, percent,
};

/// Renders the response to one edit; the excerpts are parts of its file.
pub(super) fn edit(edit: &EditResponse, excerpts: &[Excerpt], verbosity: Verbosity) -> String {
    body(edit, excerpts, verbosity) + &outcome(edit)
}

/// Renders the response to several edits, some of whose files may be left out; `excerpt` returns the text of a file by
/// its path.
pub(super) fn batch(
    batch: &BatchResponse,
    excerpt: impl Fn(&str) -> Option<Excerpt>,
    verbosity: Verbosity,
) -> String {
    let of_file = |file: &EditResponse| {
        let excerpt = file.path.as_deref().and_then(&excerpt);
        let text = body(file, excerpt.as_slice(), verbosity);
        text + &message_with_warning(file)
            .map(|message| labelled(WARNING, "warning", visible(message)))
            .unwrap_or_default()
    };
    let files: String = batch.files.iter().map(of_file).collect();
    files + &edit(&batch.summary(), &[], verbosity)
}

/// Returns the message of a file of a batch if it ends with a warning: nothing else shows that one.
fn message_with_warning(file: &EditResponse) -> Option<&str> {
    let message = file.message.as_deref().filter(|_| file.is_success())?;
    let is_in_message = |warning: &ReportedWarning| warning.in_message && message.ends_with(&warning.text);
    file.validation_warnings.iter().any(is_in_message).then_some(message)
}

/// Renders the details of a response.
fn body(edit: &EditResponse, excerpts: &[Excerpt], verbosity: Verbosity) -> String {
    let mut text = String::new();
    if let Some(diff) = &edit.diff {
        text += &self::diff(diff);
    }
    let every = verbosity == Verbosity::Verbose;
    for finding in edit.findings.iter().filter(|found| every || found.counts || found.blocking) {
        text += &self::finding(edit.path.as_deref().unwrap_or_default(), finding, excerpts);
    }
    let passed = |run: &&ReportedGate| matches!(run.outcome.as_ref(), "passed" | "skipped");
    for run in edit.gates.iter().filter(|run| every || !passed(run)) {
        text += &labelled(LABEL, "gate", gate(run));
    }
    if let Some(passed) = passed_gates(edit).filter(|_| !every) {
        text += &labelled(LABEL, "gates", visible(&passed));
    }
    for place in edit.match_locations.iter().filter(|_| !edit.is_success()) {
        text += &labelled(LABEL, "line", format!("{}: {}", place.line, visible(&place.preview)));
    }
    text += &edit.best.as_ref().map(nearest_lines).unwrap_or_default();
    if let Some(FileChangesSince { noun, version, diff }) = &edit.since {
        text += &diff.as_deref().map(self::diff).unwrap_or_default();
        text += &labelled(LABEL, "since", format!("the {noun} has version {version} now"));
    }
    for warning in edit.unreported() {
        text += &labelled(WARNING, "warning", visible(&warning.text));
    }
    for note in &edit.notes {
        text += &labelled(LABEL, "note", visible(note));
    }
    text
}

/// Renders a unified diff in colours.
pub(super) fn diff(diff: &str) -> String {
    let mut is_header = true;
    diff.lines().fold(String::new(), |text, line| {
        is_header &= !line.starts_with("@@");
        let style = match line.chars().next() {
            Some('@') => HUNK,
            Some(_) if is_header => LABEL,
            Some('+') => ADDED,
            Some('-') => REMOVED,
            Some('\\') => FAINT,
            Some(_) | None => Style::new(),
        };
        text + &paint(style, visible(line)) + "\n"
    })
}

/// Renders a finding with its source line and a caret, or without the line if no excerpt contains it.
pub(super) fn finding(path: &str, finding: &ReportedFinding, excerpts: &[Excerpt]) -> String {
    let (path, excerpts) = match &finding.path {
        Some(elsewhere) => (elsewhere.as_str(), &[][..]),
        None => (path, excerpts),
    };
    let (path, message) = (visible(path), visible(&finding.message));
    let level = match (finding.new, finding.blocking) {
        (true, true) => Level::ERROR,
        (true, false) => Level::WARNING,
        (false, true) => Level::ERROR.with_name("was there before, and blocks"),
        (false, false) => Level::NOTE.with_name("was there before"),
    };
    let title = match &finding.code {
        Some(code) => level.primary_title(message.as_ref()).id(visible(code)),
        None => level.primary_title(message.as_ref()),
    };
    let located =
        excerpts.iter().find_map(|excerpt| Some((excerpt, excerpt.offset(finding.line, finding.column)?)));
    let report = if let Some((excerpt, start)) = located {
        let under = excerpt.text.get(start..).and_then(|rest| rest.chars().next());
        let end = start + under.filter(|under| *under != '\n').map_or(0, char::len_utf8);
        let snippet = Snippet::source(excerpt.text.as_str())
            .line_start(excerpt.first_line)
            .path(path.as_ref())
            .annotation(AnnotationKind::Primary.span(start..end).label(finding.gate.as_str()));
        title.element(snippet)
    } else {
        let place = format!("{path}:{}:{} {}", finding.line, finding.column, finding.gate);
        title.element(Level::NOTE.message(place))
    };
    Renderer::styled().term_width(paint::width()).render(&[report]) + "\n"
}

fn gate(run: &ReportedGate) -> String {
    let style = match run.outcome.as_ref() {
        "passed" | "fixed" => DONE,
        "found" => REJECTED,
        "skipped" => FAINT,
        _ => WARNING,
    };
    let why = run.why.as_deref().map(|why| format!(", {}", visible(why))).unwrap_or_default();
    let isolation = run.isolation.as_deref().map(|level| format!(", isolation {level}")).unwrap_or_default();
    let took = paint(FAINT, format!("{} ms", run.ms));
    format!("{} {}{why}{isolation} {took}", run.gate, paint(style, &run.outcome))
}

/// Renders the most similar lines with their numbers, and the first difference from the searched text.
fn nearest_lines(best: &NearestLines) -> String {
    let (start, end) = (best.start_line, best.end_line);
    let place = format!("lines {start} to {end}, score {}%", percent(best.score));
    let mut text = labelled(LABEL, "best", place);
    for (line, shown) in (best.start_line..).zip(&best.lines) {
        text += &labelled(LABEL, "line", format!("{line}: {}", visible(shown)));
    }
    if let Some(FirstDifference { line, column, asked, found }) = &best.first_difference {
        let (asked, found) = (visible(asked), visible(found));
        text += &labelled(
            LABEL,
            "differs",
            format!("line {line}, column {column}: asked {asked:?}, found {found:?}"),
        );
    }
    text
}

fn outcome(edit: &EditResponse) -> String {
    let style = if edit.is_success() { DONE } else { REJECTED };
    let code = edit.code.as_deref().map(|code| format!("{code}: ")).unwrap_or_default();
    let message = visible(edit.message.as_deref().unwrap_or_default());
    let mut text = labelled(style, edit.status.as_deref().unwrap_or_default(), format!("{code}{message}"));
    if let Some(version) = edit.version.as_ref().filter(|_| edit.is_success()) {
        let was = edit.previous_version.as_ref().map(|version| format!(", was {version}"));
        let outside = edit.bytes_outside_edit.as_ref().filter(|_| edit.written == Some(true));
        let outside = outside.map(|found| format!("; bytes outside the edit {}", visible(found)));
        let version = [Some(version.clone()), was, outside].into_iter().flatten().collect::<String>();
        text += &labelled(LABEL, "version", version);
    }
    let next = edit.next.as_ref().and_then(|next| serde_json::to_string(next).ok());
    for (label, value) in [("edit", &edit.edit_id), ("hint", &edit.hint), ("next", &next)] {
        text += &value.as_deref().map(|value| labelled(LABEL, label, visible(value))).unwrap_or_default();
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plain(styled: &str) -> String {
        anstream::adapter::strip_str(styled).to_string()
    }

    fn found(new: bool, blocking: bool) -> ReportedFinding {
        ReportedFinding {
            gate: "syntax".into(),
            line: 3,
            column: 3,
            code: Some("E1\u{1b}[2J".into()),
            message: "unexpected \u{1b}indent".into(),
            new,
            blocking,
            ..ReportedFinding::default()
        }
    }

    #[test]
    fn a_caret_marks_the_position() {
        let excerpts = [Excerpt::whole("zero\n"), Excerpt { first_line: 2, text: "one\nä\tüx = 3\n".into() }];
        let shown = plain(&finding("a.py", &found(true, true), &excerpts));
        let mut lines = shown.lines().skip_while(|line| !line.starts_with("3 |"));
        let (source, caret) = (lines.next().unwrap(), lines.next().unwrap());
        assert_eq!(source.chars().position(|c| c == 'ü'), caret.chars().position(|c| c == '^'), "{shown}");
        assert!(shown.starts_with("error[E1\u{241b}[2J]: unexpected \u{241b}indent"), "{shown}");
        assert!(shown.contains("a.py:3:3") && caret.ends_with("^ syntax"), "{shown}");
    }

    #[test]
    fn a_finding_without_its_line_is_shown() {
        let shown = plain(&finding("a.py", &found(true, false), &[]));
        assert!(shown.starts_with("warning[") && shown.contains("a.py:3:3 syntax"), "{shown}");
        let before = plain(&finding("a.py", &found(false, false), &[]));
        assert!(before.starts_with("was there before["), "{before}");
        let elsewhere = ReportedFinding { path: Some("b.py".into()), ..found(true, true) };
        let shown = plain(&finding("a.py", &elsewhere, &[Excerpt::whole("zero\none\ntwo\n")]));
        assert!(shown.contains("b.py:3:3 syntax") && !shown.contains("two"), "{shown}");
    }

    #[test]
    fn a_diff_is_coloured_by_its_lines_and_not_by_its_head() {
        let shown = diff("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+--- new\n");
        assert!(
            shown.contains(&paint(LABEL, "+++ b/x")) && shown.contains(&paint(ADDED, "+--- new")),
            "{shown:?}"
        );
        assert!(
            shown.contains(&paint(REMOVED, "-old")) && shown.contains(&paint(HUNK, "@@ -1 +1 @@")),
            "{shown:?}"
        );
    }

    #[test]
    fn a_warning_is_shown_unless_a_finding_or_the_message_contains_it() {
        let warning =
            |text: &str, in_message, finding| ReportedWarning { text: text.into(), in_message, finding };
        let response = EditResponse {
            validation_warnings: vec![
                warning("not found", true, None),
                warning("line 3, column 3: syntax: ", false, Some(0)),
                warning("line 9, column 3: syntax: ", false, Some(1)),
                warning("syntax is broken", false, None),
            ],
            findings: vec![found(true, false)],
            ..EditResponse::default()
        };
        let shown = plain(&edit(&response, &[], Verbosity::Normal));
        let warnings: Vec<&str> = shown.lines().filter(|line| line.starts_with("warning  ")).collect();
        let wanted = ["warning   line 9, column 3: syntax: ", "warning   syntax is broken"];
        assert_eq!(warnings, wanted, "{shown}");
    }

    #[test]
    fn a_batch_shows_the_warning_in_the_message_of_a_file() {
        let warning = |text: &str| ReportedWarning { text: text.into(), in_message: true, finding: None };
        let file = |message: &str| EditResponse {
            status: Some("unchanged".into()),
            message: Some(message.into()),
            validation_warnings: vec![warning("not found"), warning("said by a note")],
            ..EditResponse::default()
        };
        let response = BatchResponse {
            success: true,
            status: "unchanged".into(),
            message: "2 files unchanged".into(),
            files: vec![file("a.py is unchanged: not found"), file("b.py is unchanged")],
            ..BatchResponse::default()
        };
        assert_eq!(
            plain(&batch(&response, |_| None, Verbosity::Normal)),
            "warning   a.py is unchanged: not found\nunchanged 2 files unchanged\n"
        );
    }

    #[test]
    fn a_file_of_a_batch_is_shown_with_its_own_lines() {
        let response = BatchResponse {
            status: "refused".into(),
            // The first file of the call is left out.
            files: vec![EditResponse {
                path: Some("b.py".into()),
                findings: vec![found(true, true)],
                ..EditResponse::default()
            }],
            ..BatchResponse::default()
        };
        let excerpt = |path: &str| Some(Excerpt::whole(&format!("one\ntwo\nline three of {path}\n")));
        let shown = plain(&batch(&response, excerpt, Verbosity::Normal));
        assert!(shown.contains("3 | line three of b.py\n"), "{shown}");
    }

    #[test]
    fn what_comes_nearest_is_shown_with_the_call_that_would_work() {
        let response: EditResponse = serde_json::from_value(
            json!({"success": false, "status": "refused", "code": "NO_MATCH", "message": "none",
            "hint": "quote", "next": {"tool": "safe_edit_file", "arguments": {"path": "a"}},
            "best": {"start_line": 9, "end_line": 9, "score": 0.85, "lines": ["x\u{1b}"],
                "first_difference": {"line": 9, "column": 2, "asked": "y", "found": ""}}}),
        )
        .unwrap();
        assert_eq!(
            plain(&edit(&response, &[], Verbosity::Normal)),
            "best      lines 9 to 9, score 85%\nline      9: x\u{241b}\ndiffers   line 9, column 2: asked \"y\", found \"\"\n\
             refused   NO_MATCH: none\nhint      quote\nnext      {\"tool\":\"safe_edit_file\",\"arguments\":{\"path\":\"a\"}}\n"
        );
    }

    #[test]
    fn a_rejection_ends_with_its_hint() {
        let response: EditResponse = serde_json::from_value(json!({"success": false, "status": "refused", "code": "AMBIGUOUS_MATCH", "message": "two",
            "hint": "quote more", "match_locations": [{"line": 3, "preview": "a"}, {"line": 7, "preview": "b"}]}))
        .unwrap();
        assert_eq!(
            plain(&edit(&response, &[], Verbosity::Normal)),
            "line      3: a\nline      7: b\nrefused   AMBIGUOUS_MATCH: two\nhint      quote more\n"
        );
    }
}
