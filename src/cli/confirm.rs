//! Asks for confirmation on a terminal before a write.
//!
//! Invariant: only the line `y` or `yes` from a terminal confirms.

use std::io::{self, IsTerminal};

use super::paint;
use lockgate_mcp::answer::{EditResult, ResponseOptions};

/// The next step without a terminal.
const NO_TERMINAL: &str = "leave the file alone, or have a person run the command in a terminal, which asks; standard input \
                           and standard error must be the terminal, so give texts in files, not with `-`";

/// Runs an operation that may write. If the policy requires a confirmation and a terminal is available, asks and runs
/// the operation again with the confirmed text. The error without a terminal says that one is needed.
pub(super) fn with_confirmation(
    action: impl Fn(Option<String>) -> (EditResult, ResponseOptions),
) -> (EditResult, ResponseOptions) {
    let (result, options) = action(None);
    match result.question() {
        Some(_) if !has_terminal() => (result.map_error(|error| error.hint(NO_TERMINAL)), options),
        Some(question) if ask_person(&question.text) => action(Some(question.id.clone())),
        Some(_) | None => (result, options),
    }
}

fn has_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

fn ask_person(question: &str) -> bool {
    paint::print_error(&format!("{}\nWrite it? [y/N] ", paint::visible(question)));
    let mut line = String::new();
    io::stdin().read_line(&mut line).is_ok() && is_yes(&line)
}

/// True if the line that a person typed agrees: `y` or `yes`, in either case.
pub(super) fn is_yes(line: &str) -> bool {
    let answer = line.trim();
    ["y", "yes"].iter().any(|yes| answer.eq_ignore_ascii_case(yes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_yes_agrees() {
        for yes in ["y\n", "Y\n", " yes \r\n", "Yes\n", "YES"] {
            assert!(is_yes(yes), "{yes:?}");
        }
        for other in ["", "\n", "n\n", "you must be joking\n", "yes?\n", "y n\n", "ye\n", "yeah\n"] {
            assert!(!is_yes(other), "{other:?}");
        }
    }
}
