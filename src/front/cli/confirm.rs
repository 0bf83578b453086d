//! How the person at a terminal is asked before a write.
//!
//! Invariant: only a line that begins with `y` is an agreement, and only one that comes from a terminal.

use std::io::{self, IsTerminal};

use super::done::CommandOutcome;
use super::paint;
use crate::front::answer::ResponseOptions;

/// Does something that may write; where the policy has a person asked, and there is one, asks and does it again. The
/// deed takes what was agreed to.
pub(super) fn asking(
    deed: impl Fn(Option<String>) -> (CommandOutcome, ResponseOptions),
) -> (CommandOutcome, ResponseOptions) {
    let (done, shape) = deed(None);
    match done.question() {
        Some(question) if agrees(&question.text) => deed(Some(question.about.clone())),
        Some(_) | None => (done, shape),
    }
}

fn agrees(question: &str) -> bool {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return false;
    }
    paint::complain(&format!("{}\nWrite it? [y/N] ", paint::visible(question)));
    let mut line = String::new();
    io::stdin().read_line(&mut line).is_ok() && line.trim_start().starts_with(['y', 'Y'])
}
