//! What the answers of the tools that read a text share: their limit of characters, and their first lines.

use serde::Serialize;

use crate::answer::{Answer, Forms, display_name, key};
use lockgate_engine::ReadLines;
use lockgate_text::escape_name;

/// The most characters that are shown by default.
pub(super) const DEFAULT_CHARS: usize = 40_000;

/// The largest share of a limit that the first lines of an answer may take from the text that is read.
const HEAD_SHARE: usize = 10;

/// Answers with a text of at most `most` characters. Where the text form is sent alone, its first lines count as well,
/// unless the limit is short. `render` returns the response and these lines, `content` the text in the response.
pub(super) fn text_within<R: Serialize>(
    most: usize,
    forms: Forms,
    content: impl Fn(&R) -> &str,
    render: impl Fn(usize) -> (R, String),
) -> Answer {
    let (mut response, mut heading) = render(most);
    // The note that the text is cut makes the first lines longer, once.
    for _ in 0..2 {
        let head = heading.chars().count();
        let length = head + content(&response).chars().count();
        if forms != Forms::Text || length <= most || head > most / HEAD_SHARE {
            break;
        }
        (response, heading) = render(most - head);
    }
    let text = heading + content(&response);
    Answer::from_response(&response, text)
}

/// Returns the warning that a line is cut; `more` says how to see more of it.
pub(super) fn cut_line_warning(line: usize, total: usize, more: Option<&str>) -> String {
    let rest = (line < total).then(|| format!("; start_line {} continues after it", line + 1));
    let (rest, more) = (rest.unwrap_or_default(), more.unwrap_or_default());
    format!("only the beginning of line {line} of {total} is shown{rest}{more}")
}

/// Returns the lines before the content of an answer: which text it is, what is shown of it and what is left out.
pub(super) fn heading(reading: &ReadLines, shown: &str, omitted: Option<&str>) -> String {
    let name = display_name(&reading.path, &key(reading.entity.as_ref()));
    let mut heading = format!("{name}: {shown}, version {}\n", reading.text.version());
    if let Some(resolved) = &reading.resolved_path {
        heading += &format!("the path leads to {}\n", escape_name(resolved));
    }
    if let Some(omitted) = omitted {
        heading += &format!("truncated: {omitted}\n");
    }
    heading
}
