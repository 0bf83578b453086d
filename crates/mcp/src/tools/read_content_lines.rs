//! `read_content_lines`: reads lines of a file with their numbers.
//!
//! Invariant: an answer has whole lines from the first one on, unless a single line exceeds the maximum. `truncated` is
//! set only if something was omitted.

use super::entity::EntityArgs;
use super::read_text::{DEFAULT_CHARS, cut_line_warning, heading, text_within};
use super::request::ToolRequest;
use crate::answer::{Answer, ResponseOptions, ToolProfile, key};
use lockgate_edit::request::parse_line;
use lockgate_engine::{LinesRequest, ReadLines};
use lockgate_error::Error;
use lockgate_protocol::LinesResponse;

tool! {
    ReadContentLines => "read_content_lines", "Read lines of a file",
    &[Toolset::Look], Effect::Reads, RepeatEffect::NoChange, ToolProfile::PLAIN
}

/// The number of lines after the first that are shown by default.
const DEFAULT_LINES: usize = 100;
/// The most characters that are shown if the last line is given.
const MAX_CHARS: usize = 100_000;

/// Reads lines of a file, each after its number, which is not part of the text. Returns `total_lines`, and the
/// `version` for expected_version.
#[derive(Deserialize, JsonSchema)]
struct ReadContentLines {
    /// Absolute, or relative to the first root.
    path: String,
    /// First line, 1 unless given.
    start_line: Option<i64>,
    /// Last line, inclusive; start_line + 100 unless given.
    end_line: Option<i64>,
    #[serde(flatten)]
    entity: EntityArgs,
}

impl TryFrom<ReadContentLines> for LinesRequest {
    type Error = Error;

    fn try_from(input: ReadContentLines) -> Result<LinesRequest, Error> {
        let line = |value: i64, field: &str| parse_line(value, || field.to_owned());
        let start_line = input.start_line.map_or(Ok(1), |start| line(start, "start_line"))?;
        let ahead = start_line.saturating_add(DEFAULT_LINES);
        let end_line = input.end_line.map_or(Ok(ahead), |end| line(end, "end_line"))?;
        Ok(LinesRequest { target: input.entity.fields().into_target(input.path)?, start_line, end_line })
    }
}

fn into_request(input: ReadContentLines) -> Result<ToolRequest, Error> {
    let max_chars = if input.end_line.is_some() { MAX_CHARS } else { DEFAULT_CHARS };
    let request = LinesRequest::try_from(input)?;
    Ok(ToolRequest::read(request, move |reading, options| render(reading, max_chars, options)))
}

/// Renders at most so many characters of lines, each after its number.
pub(super) fn render(reading: &ReadLines, max_chars: usize, options: &ResponseOptions) -> Answer {
    let render = |most| lines(reading, most, max_chars);
    text_within(max_chars, options.forms, |response: &LinesResponse| &response.content, render)
}

struct ShownLines {
    content: String,
    end_line: usize,
    /// True if the end of the first line is not shown.
    is_cut: bool,
}

/// Returns at most `most` characters, and the heading; `max_chars` is the maximum of the call.
fn lines(reading: &ReadLines, most: usize, max_chars: usize) -> (LinesResponse, String) {
    let ShownLines { content, end_line, is_cut } = fitting_lines(reading, most);
    let total_lines = reading.text.lines().count();
    let more = (max_chars < MAX_CHARS).then_some("; with an end_line, more of the line is shown");
    let warning = is_cut.then(|| cut_line_warning(end_line, total_lines, more));
    let truncated = is_cut || end_line < reading.end_line;
    let response = LinesResponse {
        path: reading.path.clone(),
        start_line: reading.start_line,
        end_line,
        total_lines,
        version: reading.text.version().to_string(),
        truncated: truncated.then_some(true),
        warning,
        content,
        key: key(reading.entity.as_ref()),
        resolved_path: reading.resolved_path.clone(),
    };
    let shown = format!("lines {} to {end_line} of {total_lines}", reading.start_line);
    let reason = response.warning.as_deref().unwrap_or("not all of these lines are shown");
    let heading = heading(reading, &shown, truncated.then_some(reason));
    (response, heading)
}

/// Returns as many of the lines as fit.
fn fitting_lines(reading: &ReadLines, most: usize) -> ShownLines {
    let lines = reading.text.lines();
    let (mut content, mut used, mut end_line) = (String::new(), 0, reading.start_line.saturating_sub(1));
    for line in reading.start_line..=reading.end_line {
        let separator = if content.is_empty() { "" } else { "\n" };
        let row = format!("{separator}{line}: {}", lines.text(line));
        let characters = row.chars().count();
        if used + characters > most {
            if content.is_empty() {
                return ShownLines {
                    content: row.chars().take(most).collect(),
                    end_line: line,
                    is_cut: true,
                };
            }
            break;
        }
        content += &row;
        used += characters;
        end_line = line;
    }
    ShownLines { content, end_line, is_cut: false }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_edit::request::Target;
    use lockgate_error::Code;
    use lockgate_text::{Buffer, Hints};
    use serde_json::json;

    #[test]
    fn it_asks_for_a_look() {
        let input = parse_input(rmcp::object!({"path": "a", "start_line": 40.0})).unwrap();
        let request = LinesRequest::try_from(input).unwrap();
        assert_eq!(request, LinesRequest { target: Target::File("a".into()), start_line: 40, end_line: 140 });
    }

    fn parsed(start_line: Option<i64>, end_line: Option<i64>) -> Result<(usize, usize), Error> {
        let arguments = json!({"path": "a", "start_line": start_line, "end_line": end_line});
        let input: ReadContentLines = serde_json::from_value(arguments).unwrap();
        let request = LinesRequest::try_from(input)?;
        Ok((request.start_line, request.end_line))
    }

    #[test]
    fn an_absent_line_has_its_default() {
        assert_eq!(parsed(None, None), Ok((1, 101)));
        assert_eq!(parsed(Some(40), None), Ok((40, 140)));
        assert_eq!(parsed(None, Some(7)), Ok((1, 7)));
        assert_eq!(parsed(Some(7), Some(7)), Ok((7, 7)));
        assert!(parsed(Some(i64::MAX), None).is_ok());
    }

    #[test]
    fn a_range_that_no_text_has_is_refused() {
        for (start, end, field) in
            [(Some(0), None, "start_line"), (Some(-1), Some(3), "start_line"), (None, Some(0), "end_line")]
        {
            let error = parsed(start, end).unwrap_err();
            assert_eq!((error.code, error.field.as_deref()), (Code::RangeOutOfBounds, Some(field)));
        }
    }

    fn reading(text: &str, start_line: usize, end_line: usize) -> ReadLines {
        let text = Buffer::read(text.as_bytes().to_vec(), Hints::default()).unwrap();
        ReadLines {
            path: "a.py".into(),
            entity: None,
            resolved_path: None,
            start_line,
            end_line,
            text: text.into(),
        }
    }

    #[test]
    fn each_line_has_its_number() {
        let answer = render(&reading("one\r\ntwo\n\nfour", 2, 4), usize::MAX, &ResponseOptions::default());
        let version = answer.json["version"].as_str().unwrap().to_owned();
        assert_eq!(
            answer.json,
            json!({"path": "a.py", "start_line": 2, "end_line": 4, "total_lines": 4, "version": version,
                "content": "2: two\n3: \n4: four"})
        );
        assert_eq!(answer.text, format!("a.py: lines 2 to 4 of 4, version {version}\n2: two\n3: \n4: four"));
    }

    #[test]
    fn an_empty_text_has_no_lines() {
        let answer = render(&reading("", 1, 0), usize::MAX, &ResponseOptions::default());
        assert_eq!((&answer.json["content"], &answer.json["end_line"]), (&json!(""), &json!(0)));
        assert_eq!(answer.json.get("truncated"), None);
    }

    #[test]
    fn what_is_left_out_is_said() {
        let text = "one\ntwo\nthree\n";
        for (most, content, end) in [
            (22, Some("1: one\n2: two\n3: three"), 3),
            (23, None, 3),
            (21, Some("1: one\n2: two"), 2),
            (13, Some("1: one\n2: two"), 2),
            (12, Some("1: one"), 1),
            (6, Some("1: one"), 1),
            (4, Some("1: o"), 1),
        ] {
            let answer = render(&reading(text, 1, 3), most, &ResponseOptions::default());
            if let Some(content) = content {
                assert_eq!(answer.json["content"], content, "{most}");
            }
            assert_eq!(answer.json["end_line"], end, "{most}");
            let truncated = answer.json["content"] != "1: one\n2: two\n3: three";
            assert_eq!(answer.json.get("truncated").is_some(), truncated, "{most}");
            assert_eq!(answer.text.contains("truncated: "), truncated, "{most}");
        }
    }

    #[test]
    fn a_line_that_is_cut_is_named() {
        let more = "; with an end_line, more of the line is shown";
        for (start, total, rest) in [(1, 3, "; start_line 2 continues after it"), (3, 3, "")] {
            for (max_chars, more) in [(4, more), (MAX_CHARS, "")] {
                let text = ("x".repeat(MAX_CHARS) + "\n").repeat(total);
                let reading = reading(&text, start, total);
                let answer = render(&reading, max_chars, &ResponseOptions::default());
                let warning = format!("only the beginning of line {start} of {total} is shown{rest}{more}");
                assert_eq!(answer.json["warning"], json!(warning));
                assert!(answer.text.contains(&format!("truncated: {warning}\n")), "{start}, {max_chars}");
            }
        }
        let answer = render(&reading("one\ntwo\n", 1, 2), 8, &ResponseOptions::default());
        assert_eq!((&answer.json["truncated"], answer.json.get("warning")), (&json!(true), None));
    }
}
