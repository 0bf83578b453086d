//! The limit of characters of an answer that shows a text.

use serde::Serialize;

use super::Answer;
use super::forms::Forms;

/// The largest share of a limit that the first lines of an answer may take from the text that is read.
const HEAD_SHARE: usize = 10;

/// Renders a text of at most `most` characters. Where the text form is sent alone, its first lines count as well, unless the
/// limit is short. `content` counts the characters of the text itself.
pub fn text_within<R: Serialize>(
    most: usize,
    forms: Forms,
    content: impl Fn(&R) -> usize,
    render: impl Fn(usize) -> (R, String),
) -> Answer {
    let (mut response, mut text) = render(most);
    // The note that the text is cut makes the first lines longer, once.
    for _ in 0..2 {
        let length = text.chars().count();
        let head = length - content(&response);
        if forms != Forms::Text || length <= most || head > most / HEAD_SHARE {
            break;
        }
        (response, text) = render(most - head);
    }
    Answer::found(&response, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::ResponseOptions;
    use crate::tools::{get_content, read_content_lines};
    use lockgate_engine::ReadLines;
    use lockgate_text::{Buffer, Hints};

    #[test]
    fn a_text_that_is_sent_alone_fits_with_its_first_lines() {
        let reading = |lines: usize, max_chars| ReadLines {
            path: "a.txt".into(),
            entity: None,
            resolved_path: None,
            start_line: 1,
            end_line: lines,
            max_chars,
            text: Buffer::read("0123456789\n".repeat(lines).into_bytes(), Hints::default()).unwrap().into(),
        };
        for (lines, max_chars) in [(20_000, 40_000), (3_635, 40_000), (3_630, 40_000), (200, 2_000)] {
            for answer in [get_content::answer, read_content_lines::answer] {
                let length = |forms| {
                    let options = ResponseOptions { forms, ..ResponseOptions::default() };
                    answer(&reading(lines, max_chars), &options).text.chars().count()
                };
                assert!((max_chars - 140..=max_chars).contains(&length(Forms::Text)), "{lines}");
                assert!(length(Forms::Both) >= length(Forms::Text), "{lines}");
            }
        }
        let short = ResponseOptions { forms: Forms::Text, ..ResponseOptions::default() };
        let answer = get_content::answer(&reading(9, 22), &short);
        assert_eq!(answer.json["content"], "0123456789\n0123456789\n");
    }
}
