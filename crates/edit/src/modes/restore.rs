//! Restores the bytes of an earlier version, or the absence of the file.

use crate::planned::PlannedEdit;
use lockgate_error::Error;
use lockgate_text::Buffer;

/// Plans the change of a text into exactly these bytes.
///
/// Only lines that differ are replaced if both have the same encoding; otherwise the whole text is replaced.
///
/// Errors: `NOT_TEXT`, `TOO_LARGE` from 4 GiB on.
pub fn plan(bytes: &[u8], buffer: &Buffer) -> Result<PlannedEdit, Error> {
    let wanted = buffer.read_other(bytes.to_vec())?;
    if buffer.has_same_encoding(&wanted) {
        return Ok(PlannedEdit::new(buffer.plan_to(&wanted)?));
    }
    let planned = PlannedEdit::new(buffer.replace_all(bytes)?);
    Ok(PlannedEdit { new_buffer: Some(wanted), ..planned })
}

/// Plans the removal of the whole text.
///
/// Errors: `INTERNAL` if the plan is invalid.
pub fn remove(buffer: &Buffer) -> Result<PlannedEdit, Error> {
    let planned = PlannedEdit::new(buffer.replace_all(b"")?);
    Ok(PlannedEdit { new_buffer: Some(buffer.read_other(Vec::new())?), ..planned })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_text::Hints;

    #[test]
    fn any_version_becomes_any_other() {
        let versions: [&[u8]; 7] = [
            b"",
            b"a\nb\n",
            b"a\r\nb",
            b"\xEF\xBB\xBFa\nb\n",
            b"\xFF\xFEa\0\n\0",
            b"a\n\xE9\n",
            b"\xEF\xBB\xBF",
        ];
        for from in versions {
            for to in versions {
                let before = Buffer::read(from.to_vec(), Hints::default()).unwrap();
                let planned = plan(to, &before).unwrap();
                let after = planned.new_buffer.unwrap_or_else(|| before.apply(&planned.plan).unwrap());
                assert_eq!(after.bytes(), to, "{from:?} to {to:?}");
            }
        }
    }

    #[test]
    fn only_the_lines_that_differ_are_touched() {
        let before = Buffer::read(b"a\nb\nc\n".to_vec(), Hints::default()).unwrap();
        let planned = plan(b"a\nB\nc\n", &before).unwrap();
        let [splice] = planned.plan.splices() else { panic!("{planned:?}") };
        assert_eq!(splice.span, 2..4);
        assert!(planned.new_buffer.is_none());
    }
}
