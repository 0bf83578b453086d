//! Renders the answers of read requests; one file for each kind.

mod context;
mod entries;
mod lines;
mod matches;
mod whole;

use super::forms::Forms;
use super::options::ResponseOptions;
use super::{Answer, render_error};
use lockgate_engine::ReadResponse;
use lockgate_error::Error;
use lockgate_protocol::Response;

/// Renders the result of a read request.
pub fn read(result: &Result<ReadResponse, Error>, options: &ResponseOptions) -> Answer {
    match result {
        Ok(ReadResponse::Lines(reading)) => {
            within(reading.max_chars, options.forms, |most| lines::lines(reading, most))
        }
        Ok(ReadResponse::Context(found_context)) => context::context(found_context),
        Ok(ReadResponse::Whole(reading)) => {
            within(reading.max_chars, options.forms, |most| whole::whole(reading, most))
        }
        Ok(ReadResponse::Matches(found)) => matches::matches(found),
        Ok(ReadResponse::Entries(found)) => entries::entries(found),
        Err(error) => render_error(error, options),
    }
}

/// The largest share of a limit that the first lines of an answer may take from the text that is read.
const HEAD_SHARE: usize = 10;

/// Renders a text of at most `most` characters. Where the text form is sent alone, its first lines count as well, unless the
/// limit is short.
fn within(most: usize, forms: Forms, render: impl Fn(usize) -> Answer) -> Answer {
    let mut answer = render(most);
    // The note that the text is cut makes the first lines longer, once.
    for _ in 0..2 {
        let content = match &answer.response {
            Response::Lines(lines) => &lines.content,
            Response::Text(text) => &text.content,
            _ => return answer,
        };
        let length = answer.text.chars().count();
        let head = length - content.chars().count();
        if forms != Forms::Text || length <= most || head > most / HEAD_SHARE {
            return answer;
        }
        answer = render(most - head);
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;
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
            for kind in [ReadResponse::Whole, ReadResponse::Lines] {
                let response = Ok(kind(reading(lines, max_chars)));
                let length = |forms| {
                    let options = ResponseOptions { forms, ..ResponseOptions::default() };
                    read(&response, &options).text.chars().count()
                };
                assert!((max_chars - 140..=max_chars).contains(&length(Forms::Text)), "{lines}");
                assert!(length(Forms::Both) >= length(Forms::Text), "{lines}");
            }
        }
        let short = ResponseOptions { forms: Forms::Text, ..ResponseOptions::default() };
        let answer = read(&Ok(ReadResponse::Whole(reading(9, 22))), &short);
        assert_eq!(answer.json["content"], "0123456789\n0123456789\n");
    }
}
