//! Parsing with an eye on the caller, and the stack that it takes.

use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::thread::Builder;

use tree_sitter::{Language, ParseOptions, ParseState, Parser, Tree};

use super::memory::{Meter, Shortage, allowed};

/// Where a text is full of faults, tree-sitter lets go of its memory by calling itself. The stack is reserved, and used
/// only then.
const STACK: usize = 512 << 20;

/// Why a parse ended before the end of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// It was told to.
    Told,
    /// It would have taken more memory than it may.
    Memory(Shortage),
}

/// Reads a text, on a stack that [`on_stack`] gave; `go_on` is asked after every hundred operations.
pub fn parse(
    language: &Language,
    text: &str,
    go_on: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Tree, Stop> {
    parse_within(allowed(text.len()), language, text, go_on)
}

/// Reads a text with as many bytes of memory, which count all that tree-sitter has on this thread.
pub(super) fn parse_within(
    allowed: usize,
    language: &Language,
    text: &str,
    go_on: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Tree, Stop> {
    let mut parser = Parser::new();
    parser.set_language(language).map_err(|_| Stop::Told)?;
    let (meter, mut shortage) = (Meter::start(), None);
    let mut glance = |state: &ParseState| {
        let (live, at_the_end) = meter.taken();
        if live.saturating_add(at_the_end) > allowed {
            let rest = text.len() as f64 / state.current_byte_offset().max(1) as f64;
            let needed = (live as f64 * rest) as usize;
            shortage = Some(Shortage { needed: needed.saturating_add(at_the_end), allowed });
            return ControlFlow::Break(());
        }
        go_on()
    };
    let options = ParseOptions::new().progress_callback(&mut glance);
    let mut rest = |offset: usize, _| text.as_bytes().get(offset..).unwrap_or_default();
    let tree = parser.parse_with_options(&mut rest, None, Some(options));
    tree.ok_or(shortage.map_or(Stop::Told, Stop::Memory))
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
