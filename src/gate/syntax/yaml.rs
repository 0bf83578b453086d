//! YAML, read by granit: all documents of a stream, event by event.

use granit_parser::{Event, Parser};

use super::Parse;
use super::fault::SyntaxFault;

/// What granit says where it does not read on; the text may be good.
const TOO_DEEP: &str = "recursion limit";

/// Reads a stream up to the first fault.
pub(super) fn read(text: &str, _path: &str) -> Parse {
    read_events(text, &mut |_, _| {})
}

/// The same, and shows each event with the number of the character at which it begins.
pub(super) fn read_events(text: &str, see: &mut dyn FnMut(Event<'_>, usize)) -> Parse {
    // Tags that one document declares are used in the next one by files that other readers take.
    let mut parser = Parser::new_from_str(text).keep_tags(true);
    while let Some(event) = parser.next_event() {
        let error = match event {
            Ok((event, span)) => {
                see(event, span.start.index());
                continue;
            }
            Err(error) => error,
        };
        let said = error.info();
        if said.contains(TOO_DEEP) {
            return Parse::TooDeep;
        }
        let at = text.char_indices().nth(error.marker().index()).map_or(text.len(), |(at, _)| at);
        return Parse::Read(vec![SyntaxFault::new(at, at, said)]);
    }
    Parse::Read(Vec::new())
}
