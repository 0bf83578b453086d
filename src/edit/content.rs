//! Mode `content`: the whole new text, written as given.

use crate::edit::Planned;
use crate::error::Error;
use crate::text::Buffer;

/// Plans the replacement of the whole text; the file keeps its encoding and byte order mark.
pub fn plan(content: &str, buffer: &Buffer) -> Result<Planned, Error> {
    let plan = buffer.rewrite(content)?;
    Ok(Planned::new(plan, Vec::new()))
}
