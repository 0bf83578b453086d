//! Parsing with an eye on the caller, and the stack that it takes.

use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::thread::Builder;

use tree_sitter::{Language, ParseOptions, ParseState, Parser, Tree};

/// Where a text is full of faults, tree-sitter lets go of its memory by calling itself. The stack is reserved, and used
/// only then.
const STACK: usize = 512 << 20;

/// Reads a text, on a stack that [`on_stack`] gave; `go_on` is asked after every hundred operations. Nothing where it
/// broke off.
pub fn parse(language: &Language, text: &str, go_on: &mut dyn FnMut() -> ControlFlow<()>) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(language).ok()?;
    let mut glance = |_: &ParseState| go_on();
    let options = ParseOptions::new().progress_callback(&mut glance);
    let mut rest = |offset: usize, _| text.as_bytes().get(offset..).unwrap_or_default();
    parser.parse_with_options(&mut rest, None, Some(options))
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
