//! Asks for confirmation on a terminal before a write.
//!
//! Invariant: only a line from a terminal that begins with `y` confirms.

use std::io::{self, IsTerminal};

use super::outcome::CommandOutcome;
use super::paint;
use lockgate_mcp::answer::ResponseOptions;

/// Runs an operation that may write. If the policy requires a confirmation and a terminal is available, asks and runs
/// the operation again with the confirmed text.
pub(super) fn with_confirmation(
    action: impl Fn(Option<String>) -> (CommandOutcome, ResponseOptions),
) -> (CommandOutcome, ResponseOptions) {
    let (outcome, options) = action(None);
    match outcome.confirmation() {
        Some(question) if ask_person(&question.text) => action(Some(question.id.clone())),
        Some(_) | None => (outcome, options),
    }
}

fn ask_person(question: &str) -> bool {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return false;
    }
    paint::print_error(&format!("{}\nWrite it? [y/N] ", paint::visible(question)));
    let mut line = String::new();
    io::stdin().read_line(&mut line).is_ok() && line.trim_start().starts_with(['y', 'Y'])
}
