//! Mode `content`: replaces the whole text.

use crate::planned::PlannedEdit;
use lockgate_error::{Code, Error};
use lockgate_text::Buffer;

/// Plans the replacement of the whole text. The file keeps its encoding and byte order mark.
///
/// Errors: `TOO_LARGE` if the content has more characters than the result may have bytes, `NOT_ENCODABLE`.
pub fn plan(content: &str, buffer: &Buffer, limit: u64) -> Result<PlannedEdit, Error> {
    let characters = content.chars().count() as u64;
    if characters > limit {
        let message = format!("the content is too large: at least {characters} bytes, limit {limit} bytes");
        return Err(Error::new(Code::TooLarge, message).field("content"));
    }
    Ok(PlannedEdit::new(buffer.rewrite(content)?, Vec::new()))
}
