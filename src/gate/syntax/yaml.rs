//! YAML, read by saphyr: all documents of a stream, event by event.

use saphyr_parser::Parser;

use super::Parse;
use super::fault::Fault;

/// What saphyr says where it does not read on; the text may be good.
const TOO_DEEP: &str = "recursion limit";

/// Reads a stream up to the first fault.
pub(super) fn read(text: &str, _path: &str) -> Parse {
    // Tags that one document declares are used in the next one by files that other readers take.
    let mut parser = Parser::new_from_str(text).keep_tags(true);
    while let Some(event) = parser.next_event() {
        let Err(error) = event else { continue };
        if error.info().contains(TOO_DEEP) {
            return Parse::TooDeep;
        }
        let at = text.char_indices().nth(error.marker().index()).map_or(text.len(), |(at, _)| at);
        return Parse::Read(vec![Fault::new(at, at, error.info())]);
    }
    Parse::Read(Vec::new())
}
