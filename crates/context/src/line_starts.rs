//! The offsets where lines begin, and the conversion of numbers that the index stores in 32 bits.

/// The offsets where the lines of a text of at most 4 GiB begin.
#[derive(Debug)]
pub(super) struct LineStarts {
    starts: Vec<u32>,
    pub(super) count: u32,
}

impl LineStarts {
    pub(super) fn new(view: &str) -> LineStarts {
        let line_ends = memchr::memchr_iter(b'\n', view.as_bytes());
        // A text of line ends alone has as many lines as bytes, so the list must not grow beyond its length.
        let mut starts = Vec::with_capacity(line_ends.clone().count() + 1);
        starts.extend(std::iter::once(0).chain(line_ends.map(|end| small(end + 1))));
        let open = !view.is_empty() && !view.ends_with('\n');
        LineStarts { count: small(starts.len() - 1 + usize::from(open)), starts }
    }

    /// Returns the line of an offset, from 1.
    pub(super) fn line(&self, at: usize) -> u32 {
        let at = small(at);
        small(self.starts.partition_point(|start| *start <= at).max(1))
    }

    /// Returns the offset where a line begins. After a final line end, one more line begins at the end of the text;
    /// `None` for the lines after that.
    pub(super) fn start(&self, line: u32) -> Option<usize> {
        let start = self.starts.get(usize::try_from(line.checked_sub(1)?).ok()?)?;
        usize::try_from(*start).ok()
    }
}

/// Converts a number for the index; one that is too large becomes the largest.
pub(super) fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Converts a number of the index, such as that of a line.
pub(super) fn wide(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
