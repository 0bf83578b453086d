//! Parsing with cancellation, and on a stack that is large enough.
//!
//! The caller is polled after every hundred operations of the parser, and for every [`CHUNK`] of the
//! text that one operation reads. The Python grammar reads all consecutive comments for every token,
//! and a hundred operations took minutes.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::thread::Builder;

use tree_sitter::{Language, ParseOptions, ParseState, Parser, Tree};

use super::memory::{Meter, Shortage, allowed};

/// In a text full of errors, tree-sitter frees its memory recursively. The stack is only reserved, and
/// used in that case.
const STACK: usize = 512 << 20;

/// The maximum number of bytes that an operation reads before the caller is polled.
const CHUNK: usize = 8 << 10;

/// The reason why a parse stopped before the end of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParseStop {
    /// The caller's `go_on` stopped it.
    Cancelled,
    /// It would have exceeded its memory limit.
    Memory(Shortage),
}

/// Parses a text, on a stack from [`on_stack`]. `go_on` is called after every hundred operations and
/// every chunk of text.
pub fn parse(
    language: &Language,
    text: &str,
    go_on: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Tree, ParseStop> {
    parse_within(allowed(text), language, text, go_on)
}

/// Parses a text within a memory limit in bytes, which covers all of tree-sitter's memory on this
/// thread.
pub(super) fn parse_within(
    allowed: usize,
    language: &Language,
    text: &str,
    go_on: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Tree, ParseStop> {
    parse_in_chunks(CHUNK, allowed, language, text, go_on)
}

fn parse_in_chunks(
    chunk: usize,
    allowed: usize,
    language: &Language,
    text: &str,
    go_on: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Tree, ParseStop> {
    let mut parser = Parser::new();
    parser.set_language(language).map_err(|_| ParseStop::Cancelled)?;
    let (meter, mut shortage) = (Meter::start(), None);
    let poll = RefCell::new(CallerPoll { go_on, stopped: false });
    let mut progress = |state: &ParseState| {
        let (live, at_the_end) = meter.taken();
        if live.saturating_add(at_the_end) > allowed {
            let rest = text.len() as f64 / state.current_byte_offset().max(1) as f64;
            let needed = (live as f64 * rest) as usize;
            shortage = Some(Shortage { needed: needed.saturating_add(at_the_end), allowed });
            return ControlFlow::Break(());
        }
        poll.borrow_mut().poll()
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    // After a stop, the text appears to end at the next read, and so the operation ends.
    let mut rest = |offset: usize, _| match poll.borrow_mut().poll() {
        ControlFlow::Continue(()) => {
            let end = offset.saturating_add(chunk).min(text.len());
            text.as_bytes().get(offset..end).unwrap_or_default()
        }
        ControlFlow::Break(()) => b"".as_slice(),
    };
    let tree = parser.parse_with_options(&mut rest, None, Some(options));
    // A tree that was completed after a stop covers only part of the text.
    let tree = tree.filter(|_| !poll.borrow().stopped);
    tree.ok_or(shortage.map_or(ParseStop::Cancelled, ParseStop::Memory))
}

/// Polls the caller until it stops the parse.
struct CallerPoll<'a> {
    go_on: &'a mut dyn FnMut() -> ControlFlow<()>,
    stopped: bool,
}

impl CallerPoll<'_> {
    fn poll(&mut self) -> ControlFlow<()> {
        if !self.stopped {
            self.stopped = (self.go_on)().is_break();
        }
        if self.stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Proof of running on a stack that is large enough for every text. It cannot leave the thread that
/// [`with_large_stack`] created.
#[derive(Debug)]
pub struct LargeStack(PhantomData<*const ()>);

/// Runs work on a stack that is large enough for every text, and waits for it.
///
/// Errors: the message, if the work panicked or the stack cannot be allocated.
pub fn on_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    with_large_stack(|_| work())
}

/// Runs work on many texts, like [`on_stack`].
#[expect(clippy::disallowed_methods, reason = "one thread, which is waited for at once: no order shows")]
pub fn with_large_stack<T: Send>(work: impl FnOnce(&LargeStack) -> T + Send) -> Result<T, String> {
    std::thread::scope(|scope| {
        let running = Builder::new().stack_size(STACK).spawn_scoped(scope, || work(&LargeStack(PhantomData)));
        let running = running.map_err(|error| format!("cannot start a parser thread: {error}"))?;
        running.join().map_err(|_| "tree-sitter panicked".to_owned())
    })
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::super::find;
    use super::*;

    /// A statement with many comments behind it.
    fn comments() -> String {
        format!("x = 1\n{}", "#\n".repeat(2_000))
    }

    /// Returns how often the caller is polled while comments are read in chunks of this size, with a
    /// stop after `most` polls.
    fn polls(chunk: usize, most: usize) -> (usize, bool) {
        let text = comments();
        let dialect = find("python").unwrap().dialects("a.py").remove(0);
        let mut poll_count = 0_usize;
        let read = with_large_stack(|_| {
            parse_in_chunks(chunk, usize::MAX, &dialect, &text, &mut || {
                poll_count += 1;
                if poll_count < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })
        });
        (poll_count, read.unwrap().is_ok())
    }

    #[test]
    fn the_caller_is_polled_within_an_operation_that_reads_the_whole_text() {
        let ((between, _), (within, is_read)) = (polls(usize::MAX, usize::MAX), polls(64, usize::MAX));
        assert!(is_read && within >= comments().len() / 64, "{within} times, read: {is_read}");
        // Control: polled between operations only, the caller waits more than ten times as long. One pass over the
        // text has 63 chunks, and the grammar decides how often it reads the comments again: more is not certain.
        assert!(within > 10 * between, "{within} times, and {between}");
        assert_eq!(polls(64, within / 2), (within / 2, false), "it ends when it is told to");
    }

    #[test]
    fn a_character_across_two_chunks_is_read() {
        let dialect = find("python").unwrap().dialects("a.py").remove(0);
        let text = "é = 'äöü€𝄞'\n".repeat(50);
        let read = |chunk| {
            let tree = with_large_stack(|_| {
                parse_in_chunks(chunk, usize::MAX, &dialect, &text, &mut || ControlFlow::Continue(()))
            });
            tree.unwrap().unwrap().root_node().to_sexp()
        };
        let whole = read(usize::MAX);
        assert!(!whole.contains("ERROR"));
        for chunk in 4..40 {
            assert_eq!(read(chunk), whole, "{chunk}");
        }
    }
}
