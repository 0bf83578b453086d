//! Renders an answer as text: the diff, the gate results, and finally the outcome.
//!
//! `demo` and `edit` both use this module, so their output looks alike.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use clap::builder::styling::Style;

use super::answer::{BestMatch, ChangesSince, EditAnswer, FindingAnswer, FirstDifference, GateRunAnswer};
use super::excerpt::Excerpt;
use super::paint::{ADDED, DONE, FAINT, HUNK, LABEL, REJECTED, REMOVED, WARNING, labelled, paint, visible};

/// Renders an answer in full; the excerpts belong to its files, in order.
pub(super) fn answer(answer: &EditAnswer, excerpts: &[Excerpt]) -> String {
    let of_file = |(at, file): (usize, &EditAnswer)| {
        body(file, excerpts.get(at..).map_or(&[][..], |rest| rest.get(..1).unwrap_or_default()))
    };
    let files: String = answer.files.iter().enumerate().map(of_file).collect();
    let own = if answer.files.is_empty() { excerpts } else { &[] };
    files + &body(answer, own) + &outcome(answer)
}

/// Renders the details of an answer.
fn body(answer: &EditAnswer, excerpts: &[Excerpt]) -> String {
    let mut text = String::new();
    if let Some(diff) = &answer.diff {
        text += &self::diff(diff);
    }
    for finding in &answer.findings {
        text += &self::finding(answer.path.as_deref().unwrap_or_default(), finding, excerpts);
    }
    text += &gates(&answer.gates);
    for place in answer.match_locations.iter().filter(|_| answer.status == "refused") {
        text += &labelled(LABEL, "line", format!("{}: {}", place.line, visible(&place.preview)));
    }
    text += &answer.best.as_ref().map(nearest_lines).unwrap_or_default();
    if let Some(ChangesSince { version, diff }) = &answer.since {
        text += &diff.as_deref().map(self::diff).unwrap_or_default();
        text += &labelled(LABEL, "since", format!("the file has version {version} now"));
    }
    for warning in answer.unreported() {
        text += &labelled(WARNING, "warning", visible(warning));
    }
    for note in &answer.notes {
        text += &labelled(LABEL, "note", visible(note));
    }
    text
}

/// Renders a unified diff in colours.
pub(super) fn diff(diff: &str) -> String {
    let mut in_hunk = false;
    diff.lines().fold(String::new(), |text, line| {
        in_hunk |= line.starts_with("@@");
        text + &paint(style_of(line, in_hunk), visible(line)) + "\n"
    })
}

fn style_of(line: &str, in_hunk: bool) -> Style {
    match line.chars().next() {
        Some('@') => HUNK,
        Some(_) if !in_hunk => LABEL,
        Some('+') => ADDED,
        Some('-') => REMOVED,
        Some('\\') => FAINT,
        Some(_) | None => Style::new(),
    }
}

/// Renders a finding with its source line and a caret, or without the line if no excerpt contains it.
pub(super) fn finding(path: &str, finding: &FindingAnswer, excerpts: &[Excerpt]) -> String {
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
    let Some((excerpt, start)) = located else {
        let place = format!("{path}:{}:{} {}", finding.line, finding.column, finding.gate);
        return Renderer::styled().render(&[title.element(Level::NOTE.message(place))]) + "\n";
    };
    let under = excerpt.text.get(start..).and_then(|rest| rest.chars().next()).filter(|under| *under != '\n');
    let end = start + under.map_or(0, char::len_utf8);
    let snippet = Snippet::source(excerpt.text.as_str())
        .line_start(excerpt.first_line)
        .path(path.as_ref())
        .annotation(AnnotationKind::Primary.span(start..end).label(finding.gate.as_str()));
    Renderer::styled().render(&[title.element(snippet)]) + "\n"
}

fn gates(runs: &[GateRunAnswer]) -> String {
    runs.iter().map(|run| labelled(LABEL, "gate", gate(run))).collect()
}

fn gate(run: &GateRunAnswer) -> String {
    let style = match run.outcome.as_str() {
        "passed" | "fixed" => DONE,
        "found" => REJECTED,
        "skipped" => FAINT,
        _ => WARNING,
    };
    let why = run.why.as_deref().map(|why| format!(", {}", visible(why))).unwrap_or_default();
    let apart = run.isolation.as_deref().map(|level| format!(", isolation {level}")).unwrap_or_default();
    let took = paint(FAINT, format!("{} ms", run.ms));
    format!("{} {}{why}{apart} {took}", run.gate, paint(style, &run.outcome))
}

/// Renders the most similar lines with their numbers, and the first difference from the searched text.
fn nearest_lines(best: &BestMatch) -> String {
    let percent = (best.score * 100.0).floor();
    let place = format!("lines {} to {}, score {percent}%", best.start_line, best.end_line);
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

fn outcome(answer: &EditAnswer) -> String {
    let style = if answer.success { DONE } else { REJECTED };
    let code = answer.code.as_deref().map(|code| format!("{code}: ")).unwrap_or_default();
    let mut text = labelled(style, &answer.status, format!("{code}{}", visible(&answer.message)));
    if let Some(version) = answer.version.as_deref().filter(|_| answer.success) {
        let was = answer.previous_version.iter().map(|version| format!(", was {version}"));
        let outside = answer.bytes_outside_edit.iter().filter(|_| answer.written);
        let outside = outside.map(|found| format!("; bytes outside the edit {}", visible(found)));
        text += &labelled(
            LABEL,
            "version",
            was.chain(outside).fold(version.to_owned(), |text, more| text + &more),
        );
    }
    if let Some(id) = &answer.edit_id {
        text += &labelled(LABEL, "edit", visible(id));
    }
    if let Some(hint) = &answer.hint {
        text += &labelled(LABEL, "hint", visible(hint));
    }
    if let Some(next) = &answer.next {
        text += &labelled(LABEL, "next", visible(&next.to_string()));
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

    fn found(new: bool, blocking: bool) -> FindingAnswer {
        FindingAnswer {
            gate: "syntax".into(),
            path: None,
            line: 3,
            column: 3,
            code: Some("E1\u{1b}[2J".into()),
            message: "unexpected \u{1b}indent".into(),
            new,
            blocking,
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
        let elsewhere = FindingAnswer { path: Some("b.py".into()), ..found(true, true) };
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
        let place = json!({"gate": "syntax", "line": 1, "column": 1, "message": "", "new": true});
        let edit_answer = EditAnswer::read(
            &json!({"success": true, "status": "unchanged", "message": "a.py is unchanged: not found",
            "validation_warnings": ["not found", "line 1, column 1: syntax: ", "syntax is broken"],
            "findings": [place]}),
        )
        .unwrap();
        let shown = plain(&answer(&edit_answer, &[]));
        let warnings: Vec<&str> = shown.lines().filter(|line| line.starts_with("warning  ")).collect();
        assert_eq!(warnings, ["warning   syntax is broken"], "{shown}");
    }

    #[test]
    fn what_comes_nearest_is_shown_with_the_call_that_would_work() {
        let edit_answer = EditAnswer::read(
            &json!({"success": false, "status": "refused", "code": "NO_MATCH", "message": "none",
            "hint": "quote", "next": {"tool": "safe_edit_file", "arguments": {"path": "a"}},
            "best": {"start_line": 9, "end_line": 9, "score": 0.85, "lines": ["x\u{1b}"],
                "first_difference": {"line": 9, "column": 2, "asked": "y", "found": ""}}}),
        )
        .unwrap();
        assert_eq!(
            plain(&answer(&edit_answer, &[])),
            "best      lines 9 to 9, score 85%\nline      9: x\u{241b}\ndiffers   line 9, column 2: asked \"y\", found \"\"\n\
             refused   NO_MATCH: none\nhint      quote\nnext      {\"tool\":\"safe_edit_file\",\"arguments\":{\"path\":\"a\"}}\n"
        );
    }

    #[test]
    fn a_refusal_ends_with_its_hint() {
        let edit_answer = EditAnswer::read(&json!({"success": false, "status": "refused", "code": "AMBIGUOUS_MATCH", "message": "two",
            "hint": "quote more", "match_locations": [{"line": 3, "preview": "a"}, {"line": 7, "preview": "b"}]}))
        .unwrap();
        assert_eq!(
            plain(&answer(&edit_answer, &[])),
            "line      3: a\nline      7: b\nrefused   AMBIGUOUS_MATCH: two\nhint      quote more\n"
        );
    }
}
