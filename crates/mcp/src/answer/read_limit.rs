//! The limit of characters of an answer that shows a text.

use serde::Serialize;

use super::Answer;
use super::forms::Forms;

/// The largest share of a limit that the first lines of an answer may take from the text that is read.
const HEAD_SHARE: usize = 10;

/// Renders a text of at most `most` characters. Where the text form is sent alone, its first lines count as well, unless
/// the limit is short. `content` counts the characters of the text itself.
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
    Answer::from_response(&response, text)
}
