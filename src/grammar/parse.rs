//! Parsing with an eye on the caller, and the stack that it takes.
//!
//! The caller is asked after every hundred operations of the parser, and for every [`CHUNK`] of the text that one of them
//! reads: the grammar of Python reads all comments in a row for every token, and a hundred operations took minutes.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::thread::Builder;

use tree_sitter::{Language, ParseOptions, ParseState, Parser, Tree};

use super::memory::{Meter, Shortage, allowed};

/// Where a text is full of faults, tree-sitter lets go of its memory by calling itself. The stack is reserved, and used
/// only then.
const STACK: usize = 512 << 20;

/// How many bytes of the text an operation reads at most before the caller is asked.
const CHUNK: usize = 8 << 10;

/// Why a parse ended before the end of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParseStop {
    /// It was told to.
    Told,
    /// It would have taken more memory than it may.
    Memory(Shortage),
}

/// Reads a text, on a stack that [`on_stack`] gave; `go_on` is asked after every hundred operations and every chunk of the text
/// that is read.
pub fn parse(
    language: &Language,
    text: &str,
    go_on: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Tree, ParseStop> {
    parse_within(allowed(text.len()), language, text, go_on)
}

/// Reads a text with as many bytes of memory, which count all that tree-sitter has on this thread.
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
    parser.set_language(language).map_err(|_| ParseStop::Told)?;
    let (meter, mut shortage) = (Meter::start(), None);
    let asked = RefCell::new(Asked { go_on, stopped: false });
    let mut glance = |state: &ParseState| {
        let (live, at_the_end) = meter.taken();
        if live.saturating_add(at_the_end) > allowed {
            let rest = text.len() as f64 / state.current_byte_offset().max(1) as f64;
            let needed = (live as f64 * rest) as usize;
            shortage = Some(Shortage { needed: needed.saturating_add(at_the_end), allowed });
            return ControlFlow::Break(());
        }
        asked.borrow_mut().ask()
    };
    let options = ParseOptions::new().progress_callback(&mut glance);
    // Once it was told to stop, the text ends wherever the parser reads on, and so does the operation.
    let mut rest = |offset: usize, _| match asked.borrow_mut().ask() {
        ControlFlow::Continue(()) => {
            let end = offset.saturating_add(chunk).min(text.len());
            text.as_bytes().get(offset..end).unwrap_or_default()
        }
        ControlFlow::Break(()) => b"".as_slice(),
    };
    let tree = parser.parse_with_options(&mut rest, None, Some(options));
    // A tree that was made after the parser was told to stop is that of a part of the text.
    let tree = tree.filter(|_| !asked.borrow().stopped);
    tree.ok_or(shortage.map_or(ParseStop::Told, ParseStop::Memory))
}

/// Asks the caller, until it says to stop.
struct Asked<'a> {
    go_on: &'a mut dyn FnMut() -> ControlFlow<()>,
    stopped: bool,
}

impl Asked<'_> {
    fn ask(&mut self) -> ControlFlow<()> {
        if !self.stopped {
            self.stopped = (self.go_on)().is_break();
        }
        if self.stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Whoever has it stands on a stack that suffices for every text: it stays on the thread that [`deep`] made.
#[derive(Debug)]
pub struct Deep(PhantomData<*const ()>);

/// Runs work on a stack that suffices for every text, and waits for it; why not, where it panicked or there is no such
/// stack.
pub fn on_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    deep(|_| work())
}

/// The same for work on many texts.
#[expect(clippy::disallowed_methods, reason = "one thread, which is waited for at once: no order shows")]
pub fn deep<T: Send>(work: impl FnOnce(&Deep) -> T + Send) -> Result<T, String> {
    std::thread::scope(|scope| {
        let running = Builder::new().stack_size(STACK).spawn_scoped(scope, || work(&Deep(PhantomData)));
        let running = running.map_err(|error| format!("no thread to read on: {error}"))?;
        running.join().map_err(|_| "tree-sitter panicked".to_owned())
    })
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::super::find;
    use super::*;

    /// How often the caller is asked while comments are read in chunks of this size, and told to stop at this time.
    fn asked(chunk: usize, most: usize) -> (usize, bool) {
        let text = format!("x = 1\n{}", "#\n".repeat(2_000));
        let dialect = find("python").unwrap().dialects("a.py").remove(0);
        let mut asked = 0_usize;
        let read = deep(|_| {
            parse_in_chunks(chunk, usize::MAX, &dialect, &text, &mut || {
                asked += 1;
                if asked < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })
        });
        (asked, read.unwrap().is_ok())
    }

    #[test]
    fn whoever_waits_is_asked_within_an_operation_that_reads_the_whole_text() {
        let ((between, _), (within, is_read)) = (asked(usize::MAX, usize::MAX), asked(64, usize::MAX));
        // The control: asked between operations only, the caller waits ten times as long and more.
        assert!(is_read && within > 10 * between, "{within} times, and {between}, read: {is_read}");
        assert_eq!(asked(64, within / 2), (within / 2, false), "it ends when it is told to");
    }

    #[test]
    fn a_character_across_two_chunks_is_read() {
        let dialect = find("python").unwrap().dialects("a.py").remove(0);
        let text = "é = 'äöü€𝄞'\n".repeat(50);
        let read = |chunk| {
            let tree = deep(|_| {
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
