//! Renders the answer of a read of a whole text, with normalized line ends.
//!
//! Invariant: the result is whole lines from the first one on, unless a single line exceeds the maximum. `truncated`
//! is set only if something was omitted.

use super::super::entity::{display_name, key};
use crate::answer::Answer;
use lockgate_engine::ReadLines;
use lockgate_protocol::{Response, TextResponse};
use lockgate_text::escape_name;

pub(super) fn whole(reading: &ReadLines, most: usize) -> Answer {
    let (lines, first) = (reading.text.lines(), reading.start_line);
    let start = if first > 1 { lines.span(first).start } else { 0 };
    let (rest, total_lines) = (reading.text.view().get(start..).unwrap_or_default(), lines.count());
    let content = take_lines(rest, most);
    let truncated = content.len() < rest.len();
    let response = TextResponse {
        path: reading.path.clone(),
        content: content.to_owned(),
        total_lines,
        version: reading.text.version().to_string(),
        truncated,
        key: key(reading.entity.as_ref()),
        resolved_path: reading.resolved_path.clone(),
        warning: truncated.then(|| warning(content, first, total_lines)),
    };
    let text = text(&response);
    Answer::new(Response::Text(response), text)
}

fn text(response: &TextResponse) -> String {
    let TextResponse { path, content, total_lines, version, key, resolved_path, warning, .. } = response;
    let mut text = format!("{}: {total_lines} lines, version {version}\n", display_name(path, key));
    if let Some(resolved) = resolved_path {
        text += &format!("the path leads to {}\n", escape_name(resolved));
    }
    if let Some(warning) = warning {
        text += &format!("truncated: {warning}\n");
    }
    text + content
}

/// Returns as many whole lines as fit into `most` characters, or a prefix of the first line if that is longer.
fn take_lines(text: &str, most: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(most) else { return text };
    let whole = text.get(..end).unwrap_or_default();
    whole.rfind('\n').and_then(|last| whole.get(..=last)).unwrap_or(whole)
}

fn warning(content: &str, first: usize, total: usize) -> String {
    match content.matches('\n').count() {
        0 => format!("only the beginning of line {first} of {total} is shown"),
        lines => {
            let next = first + lines;
            format!("only lines {first} to {} of {total} are shown; start_line {next} continues", next - 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_text::{Buffer, Hints};
    use serde_json::{Value, json};

    fn reading(text: &str) -> ReadLines {
        let text = Buffer::read(text.as_bytes().to_vec(), Hints::default()).unwrap();
        ReadLines {
            path: "a".into(),
            entity: None,
            resolved_path: None,
            start_line: 1,
            end_line: 1,
            max_chars: usize::MAX,
            text: text.into(),
        }
    }

    #[test]
    fn a_text_is_shown_as_it_is() {
        let answer = whole(&reading("one\r\n\ntwo"), usize::MAX);
        let version = answer.json["version"].as_str().unwrap().to_owned();
        assert_eq!(
            answer.json,
            json!({"path": "a", "content": "one\n\ntwo", "total_lines": 3, "version": version, "truncated": false})
        );
        assert_eq!(answer.text, format!("a: 3 lines, version {version}\none\n\ntwo"));
    }

    #[test]
    fn what_is_left_out_is_said() {
        for (most, content, warning) in [
            (9, "äne\ntwo\n", None),
            (8, "äne\ntwo\n", None),
            (7, "äne\n", Some("only lines 1 to 1 of 2 are shown; start_line 2 continues")),
            (4, "äne\n", Some("only lines 1 to 1 of 2 are shown; start_line 2 continues")),
            (3, "äne", Some("only the beginning of line 1 of 2 is shown")),
        ] {
            let answer = whole(&reading("äne\ntwo\n"), most);
            assert_eq!(answer.json["content"], content, "{most}");
            assert_eq!(answer.json["truncated"], warning.is_some());
            assert_eq!(answer.json.get("warning").and_then(Value::as_str), warning);
            assert_eq!(answer.text.contains("truncated: "), warning.is_some());
        }
    }
}
