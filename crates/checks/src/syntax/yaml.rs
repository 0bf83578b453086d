//! Parses YAML with granit: all documents of a stream, event by event.

use granit_parser::{Event, Parser};

use super::fault::SyntaxFault;
use super::parse::Parse;

/// Part of the message of granit for a text that nests too deep for it; the text may be valid.
const TOO_DEEP: &str = "recursion limit";

/// Parses a stream up to the first fault.
pub(super) fn read(text: &str, _path: &str) -> Parse {
    read_events(text, &mut |_, _| {})
}

/// Like [`read`], and passes each event to `see` with the number of its first character.
pub(super) fn read_events(text: &str, see: &mut dyn FnMut(Event<'_>, usize)) -> Parse {
    // Some files use tags that an earlier document declares; other parsers accept them.
    let mut parser = Parser::new_from_str(text).keep_tags(true);
    while let Some(event) = parser.next_event() {
        let error = match event {
            Ok((event, span)) => {
                see(event, span.start.index());
                continue;
            }
            Err(error) => error,
        };
        let message = error.info();
        if message.contains(TOO_DEEP) {
            return Parse::TooDeep;
        }
        let at = text.char_indices().nth(error.marker().index()).map_or(text.len(), |(at, _)| at);
        return Parse::faulty(vec![SyntaxFault::new(at, at, message)]);
    }
    Parse::valid(Vec::new())
}
