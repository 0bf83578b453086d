//! The lines in which a search looks.

use std::ops::Range;

use crate::edit::{LineWindow, Scene, Search};
use crate::error::{Code, Error};
use crate::locate::Field;
use crate::text::Buffer;

/// Some lines of a text, and what a message calls them.
pub(super) struct Window<'a> {
    pub(super) buffer: &'a Buffer,
    pub(super) scene: Scene<'a>,
    first: usize,
    last: usize,
    /// As in `the file`.
    pub(super) name: String,
}

impl<'a> Window<'a> {
    /// The lines that a search names; the whole text where it names none.
    ///
    /// Errors: `RANGE_OUT_OF_BOUNDS` beyond the text.
    pub(super) fn of(search: &Search, buffer: &'a Buffer, scene: Scene<'a>) -> Result<Window<'a>, Error> {
        let count = buffer.lines().count();
        let whole = Window { buffer, scene, first: 1, last: count, name: "the file".to_owned() };
        match search.lines {
            None => Ok(whole),
            Some(LineWindow { end, .. }) if end > count => {
                let message = format!("Line {end} is out of bounds (file has {count} lines)");
                Err(Error::new(Code::RangeOutOfBounds, message).field("lines.end"))
            }
            Some(LineWindow { start, end }) => {
                Ok(Window { first: start, last: end, name: format!("lines {start} to {end}"), ..whole })
            }
        }
    }

    /// The lines as bytes of the view.
    pub(super) fn bytes(&self) -> Range<usize> {
        self.field().window()
    }

    /// The lines as a field to locate a block in.
    pub(super) fn field(&self) -> Field<'a> {
        Field::new(self.buffer, self.first, self.last)
    }
}
