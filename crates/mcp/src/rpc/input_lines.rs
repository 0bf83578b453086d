//! Splits the input into lines and skips lines that are too long.
//!
//! Invariant: memory is limited to one message of the maximum length.

use std::io;
use std::time::Instant;

use rmcp::model::RequestId;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

use super::id_scanner::IdScanner;

/// Bytes read at a time.
const CHUNK_BYTES: usize = 64 * 1024;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum InputLine {
    /// A line without its end.
    Line(Vec<u8>),
    /// A line above the limit, which was discarded, and its probable id.
    TooLong(Option<RequestId>),
}

#[derive(Debug)]
pub(super) struct InputLines<R> {
    input: BufReader<R>,
    limit: usize,
    /// The time of the last read from the input.
    read_at: Instant,
}

impl<R: AsyncRead + Unpin> InputLines<R> {
    /// Creates a reader of lines of at most `limit` bytes.
    pub(super) fn new(input: R, limit: usize) -> InputLines<R> {
        InputLines { input: BufReader::with_capacity(CHUNK_BYTES, input), limit, read_at: Instant::now() }
    }

    /// Returns the time at which the end of the last line was read. Lines that arrive together have the same time.
    pub(super) fn read_at(&self) -> Instant {
        self.read_at
    }

    /// Returns the next line that is not empty; `None` at the end of the input.
    pub(super) async fn next(&mut self) -> io::Result<Option<InputLine>> {
        let mut line = Vec::new();
        let mut length = 0_usize;
        let mut scanner = IdScanner::default();
        loop {
            let is_read = self.input.buffer().is_empty();
            let piece = self.input.fill_buf().await?;
            if is_read {
                self.read_at = Instant::now();
            }
            let ended = piece.is_empty();
            let newline = memchr::memchr(b'\n', piece);
            let (text, _) = piece.split_at(newline.unwrap_or(piece.len()));
            let used = text.len() + usize::from(newline.is_some());
            length += text.len();
            line.extend_from_slice(text);
            if length > self.limit {
                scanner.feed(&std::mem::take(&mut line));
            }
            self.input.consume(used);
            if ended && length == 0 {
                return Ok(None);
            }
            if ended || newline.is_some() {
                if length > self.limit {
                    return Ok(Some(InputLine::TooLong(scanner.take())));
                }
                if !line.trim_ascii().is_empty() {
                    return Ok(Some(InputLine::Line(line)));
                }
                (line, length) = (Vec::new(), 0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn frames(input: &[u8], limit: usize) -> Vec<InputLine> {
        let mut frames = InputLines::new(input, limit);
        let mut all = Vec::new();
        while let Some(frame) = frames.next().await.unwrap() {
            all.push(frame);
        }
        all
    }

    fn line(text: &str) -> InputLine {
        InputLine::Line(text.as_bytes().to_vec())
    }

    #[tokio::test]
    async fn lines_are_cut_at_line_feeds() {
        assert_eq!(frames(b"a\n\n  \r\nbc\r\nd", 10).await, [line("a"), line("bc\r"), line("d")]);
        assert_eq!(frames(b"", 10).await, []);
        assert_eq!(frames(b"\n \n", 10).await, []);
    }

    #[tokio::test]
    async fn a_line_over_the_limit_is_named_and_passed_over() {
        let long = format!("{{\"text\":\"{}\",\"id\":5}}\nb\n", "x".repeat(3 * CHUNK_BYTES));
        assert_eq!(
            frames(long.as_bytes(), 100).await,
            [InputLine::TooLong(Some(RequestId::Number(5))), line("b")]
        );
        let fits = frames(long.as_bytes(), long.len()).await;
        assert!(matches!(fits.as_slice(), [InputLine::Line(_), InputLine::Line(_)]), "{}", fits.len());
    }

    #[tokio::test]
    async fn the_limit_itself_is_allowed() {
        assert_eq!(
            frames(b"12345\n123456\n1", 5).await,
            [line("12345"), InputLine::TooLong(None), line("1")]
        );
    }
}
