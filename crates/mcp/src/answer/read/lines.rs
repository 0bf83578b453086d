//! Renders the answer of a read: the lines, each with its number.
//!
//! Invariant: the result is whole lines from the first one on, unless a single line exceeds the maximum. `truncated`
//! is set only if something was omitted.

use super::super::entity::{display_name, key};
use crate::answer::Answer;
use lockgate_engine::ReadLines;
use lockgate_protocol::{LinesResponse, Response};
use lockgate_text::escape_name;

struct ShownLines {
    content: String,
    end_line: usize,
    truncated: bool,
}

pub(super) fn lines(reading: &ReadLines, most: usize) -> Answer {
    let ShownLines { content, end_line, truncated } = take_lines(reading, most);
    let response = LinesResponse {
        path: reading.path.clone(),
        start_line: reading.start_line,
        end_line,
        total_lines: reading.text.lines().count(),
        version: reading.text.version().to_string(),
        truncated: truncated.then_some(true),
        content,
        key: key(reading.entity.as_ref()),
        resolved_path: reading.resolved_path.clone(),
    };
    let text = text(&response);
    Answer::new(Response::Lines(response), text)
}

fn text(response: &LinesResponse) -> String {
    let LinesResponse { path, start_line, end_line, total_lines, version, content, key, .. } = response;
    let name = display_name(path, key);
    let mut text = format!("{name}: lines {start_line} to {end_line} of {total_lines}, version {version}\n");
    if let Some(resolved) = &response.resolved_path {
        text += &format!("the path leads to {}\n", escape_name(resolved));
    }
    if response.truncated.is_some() {
        text += "truncated: not all of these lines are shown\n";
    }
    text + content
}

/// Takes as many of the lines as fit.
fn take_lines(reading: &ReadLines, most: usize) -> ShownLines {
    let lines = reading.text.lines();
    let (mut content, mut used, mut end_line) = (String::new(), 0, reading.start_line.saturating_sub(1));
    for line in reading.start_line..=reading.end_line {
        let separator = if content.is_empty() { "" } else { "\n" };
        let row = format!("{separator}{line}: {}", lines.text(line));
        let characters = row.chars().count();
        if used + characters > most {
            if content.is_empty() {
                (content, end_line) = (row.chars().take(most).collect(), line);
            }
            return ShownLines { content, end_line, truncated: true };
        }
        content += &row;
        used += characters;
        end_line = line;
    }
    ShownLines { content, end_line, truncated: false }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_text::{Buffer, Hints};
    use serde_json::json;

    fn reading(text: &str, start_line: usize, end_line: usize) -> ReadLines {
        let text = Buffer::read(text.as_bytes().to_vec(), Hints::default()).unwrap();
        ReadLines {
            path: "a.py".into(),
            entity: None,
            resolved_path: None,
            start_line,
            end_line,
            max_chars: usize::MAX,
            text: text.into(),
        }
    }

    #[test]
    fn each_line_has_its_number() {
        let answer = lines(&reading("one\r\ntwo\n\nfour", 2, 4), usize::MAX);
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
        let answer = lines(&reading("", 1, 0), usize::MAX);
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
            let answer = lines(&reading(text, 1, 3), most);
            if let Some(content) = content {
                assert_eq!(answer.json["content"], content, "{most}");
            }
            assert_eq!(answer.json["end_line"], end, "{most}");
            let truncated = answer.json["content"] != "1: one\n2: two\n3: three";
            assert_eq!(answer.json.get("truncated").is_some(), truncated, "{most}");
            assert_eq!(answer.text.contains("truncated: "), truncated, "{most}");
        }
    }
}
