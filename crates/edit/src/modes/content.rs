//! Mode `content`: replaces the whole text.

use crate::planned::PlannedEdit;
use lockgate_error::{Code, Error};
use lockgate_text::{Buffer, Encoding};

/// The byte order mark as a character.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Plans the replacement of the whole text. The file keeps its encoding and byte order mark; in a new or empty file, a
/// byte order mark of the content becomes that of the file.
///
/// Errors: `TOO_LARGE` if the content has more characters than the result may have bytes, `NOT_ENCODABLE`.
pub fn plan(content: &str, buffer: &Buffer, limit: u64) -> Result<PlannedEdit, Error> {
    let characters = content.chars().count() as u64;
    if characters > limit {
        let message = format!("the content is too large: at least {characters} bytes, limit {limit} bytes");
        return Err(Error::new(Code::TooLarge, message).field("content"));
    }
    if buffer.bytes().is_empty()
        && buffer.encoding() == Encoding::Utf8
        && content.starts_with(BYTE_ORDER_MARK)
    {
        let bytes = content.as_bytes();
        let planned = PlannedEdit::new(buffer.replace_all(bytes)?);
        return Ok(PlannedEdit { new_buffer: Some(buffer.read_other(bytes.to_vec())?), ..planned });
    }
    Ok(PlannedEdit::new(buffer.rewrite(content)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_of_a_new_file_is_no_part_of_its_text() {
        let content = "\u{feff}{\"a\": 1}\r\n";
        let before = Buffer::default();
        let planned = plan(content, &before, 100).unwrap();
        assert_eq!(before.apply(&planned.plan).unwrap().bytes(), content.as_bytes());
        let after = planned.new_buffer.unwrap();
        assert_eq!((after.view(), after.bytes()), ("{\"a\": 1}\n", content.as_bytes()));
        assert!(after.has_byte_order_mark());
        assert!(plan("{}", &before, 100).unwrap().new_buffer.is_none());
    }
}
