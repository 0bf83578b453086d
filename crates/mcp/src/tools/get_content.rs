//! `get_content`: reads a whole text, with normalized line ends.
//!
//! Invariant: an answer has whole lines from the first one on, unless a single line exceeds the maximum. `truncated` is
//! set only if something was omitted.

use super::entity::EntityArgs;
use super::fields::parse_number;
use super::read_text::{DEFAULT_CHARS, cut_line_warning, heading, text_within};
use super::request::ToolRequest;
use crate::answer::{Answer, ResponseOptions, ToolProfile, counted, key};
use lockgate_edit::request::parse_line;
use lockgate_engine::{LinesRequest, ReadLines};
use lockgate_error::Error;
use lockgate_protocol::TextResponse;

tool! {
    GetContent => "get_content", "Read a file",
    &[Toolset::Look], Effect::Reads, RepeatEffect::NoChange, ToolProfile::PLAIN
}

/// The most characters that a caller can ask for.
const MAX_CHARS: usize = 1_000_000;

/// Reads a whole file, or its rest from a line on, with its `version`.
#[derive(Deserialize, JsonSchema)]
struct GetContent {
    /// Absolute, or relative to the first root.
    path: String,
    /// From 1.
    start_line: Option<i64>,
    /// Maximum characters, 40,000 unless given.
    max_chars: Option<i64>,
    #[serde(flatten)]
    entity: EntityArgs,
}

fn into_request(input: GetContent) -> Result<ToolRequest, Error> {
    let start_line = input.start_line.map_or(Ok(1), |line| parse_line(line, || "start_line".to_owned()))?;
    let max_chars = parse_number(input.max_chars, DEFAULT_CHARS, &(1..=MAX_CHARS), "max_chars")?;
    let target = input.entity.fields().into_target(input.path)?;
    let request = LinesRequest { start_line, ..LinesRequest::from(target) };
    Ok(ToolRequest::read(request, move |reading, options| render(reading, max_chars, options)))
}

/// Renders at most so many characters of a text, from the first of its lines on.
pub(super) fn render(reading: &ReadLines, max_chars: usize, options: &ResponseOptions) -> Answer {
    let render = |most| whole(reading, most, max_chars);
    text_within(max_chars, options.forms, |response: &TextResponse| &response.content, render)
}

/// Returns at most `most` characters, and the heading; `max_chars` is the number that the caller chose.
fn whole(reading: &ReadLines, most: usize, max_chars: usize) -> (TextResponse, String) {
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
        warning: truncated.then(|| warning(content, first, total_lines, max_chars)),
    };
    let start = if first > 1 { format!(", shown from line {first}") } else { String::new() };
    let shown = counted(total_lines, "line") + &start;
    let heading = heading(reading, &shown, response.warning.as_deref());
    (response, heading)
}

/// Returns as many whole lines as fit into `most` characters, or a prefix of the first line if that is longer.
fn take_lines(text: &str, most: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(most) else { return text };
    let whole = text.get(..end).unwrap_or_default();
    whole.rfind('\n').and_then(|last| whole.get(..=last)).unwrap_or(whole)
}

fn warning(content: &str, first: usize, total: usize, max_chars: usize) -> String {
    match content.matches('\n').count() {
        0 => {
            let more = (max_chars < MAX_CHARS).then_some("; a larger max_chars shows more of the line");
            cut_line_warning(first, total, more)
        }
        lines => {
            let next = first + lines;
            format!("only lines {first} to {} of {total} are shown; start_line {next} continues", next - 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_edit::request::Target;
    use lockgate_error::Code;
    use lockgate_text::{Buffer, Hints};
    use serde_json::{Value, json};

    #[test]
    fn it_asks_for_a_whole_text() {
        let request = parse(rmcp::object!({"path": "a", "start_line": 3})).unwrap();
        assert_eq!(request.target().unwrap().display_path(), "a");
        let wanted = LinesRequest { start_line: 3, ..LinesRequest::from(Target::File("a".into())) };
        assert_eq!(format!("{request:?}"), format!("Read({wanted:?})"));
        let arguments = json!({"path": "a", "entity_type": "file", "app_id": "1"});
        let error = parse(arguments.as_object().cloned().unwrap()).unwrap_err();
        assert_eq!((error.code, error.field.as_deref()), (Code::InvalidInput, Some("app_id")));
    }

    fn reading(text: &str) -> ReadLines {
        let text = Buffer::read(text.as_bytes().to_vec(), Hints::default()).unwrap();
        ReadLines {
            path: "a".into(),
            entity: None,
            resolved_path: None,
            start_line: 1,
            end_line: 1,
            text: text.into(),
        }
    }

    #[test]
    fn a_text_is_shown_as_it_is() {
        let answer = render(&reading("one\r\n\ntwo"), usize::MAX, &ResponseOptions::default());
        let version = answer.json["version"].as_str().unwrap().to_owned();
        assert_eq!(
            answer.json,
            json!({"path": "a", "content": "one\n\ntwo", "total_lines": 3, "version": version, "truncated": false})
        );
        assert_eq!(answer.text, format!("a: 3 lines, version {version}\none\n\ntwo"));
        let answer = render(&reading("one\n"), usize::MAX, &ResponseOptions::default());
        assert!(answer.text.starts_with("a: 1 line, version "), "{}", answer.text);
    }

    #[test]
    fn the_first_line_of_a_rest_is_named() {
        let reading = ReadLines { start_line: 2, ..reading("one\ntwo\nthree\n") };
        let answer = render(&reading, usize::MAX, &ResponseOptions::default());
        let version = answer.json["version"].as_str().unwrap();
        assert_eq!(answer.text, format!("a: 3 lines, shown from line 2, version {version}\ntwo\nthree\n"));
    }

    #[test]
    fn what_is_left_out_is_said() {
        for (most, content, warning) in [
            (9, "äne\ntwo\n", None),
            (8, "äne\ntwo\n", None),
            (7, "äne\n", Some("only lines 1 to 1 of 2 are shown; start_line 2 continues")),
            (4, "äne\n", Some("only lines 1 to 1 of 2 are shown; start_line 2 continues")),
            (
                3,
                "äne",
                Some(
                    "only the beginning of line 1 of 2 is shown; start_line 2 continues after it; \
                     a larger max_chars shows more of the line",
                ),
            ),
        ] {
            let answer = render(&reading("äne\ntwo\n"), most, &ResponseOptions::default());
            assert_eq!(answer.json["content"], content, "{most}");
            assert_eq!(answer.json["truncated"], warning.is_some());
            assert_eq!(answer.json.get("warning").and_then(Value::as_str), warning);
            assert_eq!(answer.text.contains("truncated: "), warning.is_some());
        }
    }

    #[test]
    fn a_cut_line_names_only_calls_that_show_more() {
        let cut = "only the beginning of line 1 of 1 is shown";
        assert_eq!(warning("a", 1, 1, 1), format!("{cut}; a larger max_chars shows more of the line"));
        assert_eq!(warning("a", 1, 1, MAX_CHARS), cut);
        let last = "only the beginning of line 2 of 3 is shown; start_line 3 continues after it";
        assert_eq!(warning("a", 2, 3, MAX_CHARS), last);
    }
}
