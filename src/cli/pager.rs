//! Shows long output on a terminal through the user's pager.

use std::io::{IsTerminal as _, Write as _};
use std::process::{Command, Stdio};

use super::paint;
use lockgate_error::Error;

/// The pager if the user has not chosen one.
const DEFAULT_PAGER: &str = "less";
/// Its options, as git sets them: it ends if one screen is enough, keeps colours, and leaves the text on the screen.
const LESS_OPTIONS: &str = "FRX";

/// Prints a text; on a terminal, with the program of `LOCKGATE_PAGER` or `PAGER`, run by the shell as git runs it. An
/// empty value, `cat`, or a pager that cannot be started prints it directly.
///
/// Errors: `IO_FAILED` when standard output fails.
pub(super) fn page(text: &str) -> Result<(), Error> {
    let chosen = ["LOCKGATE_PAGER", "PAGER"].into_iter().find_map(|name| std::env::var(name).ok());
    if std::io::stdout().is_terminal() && show(text, chosen.as_deref().unwrap_or(DEFAULT_PAGER)) {
        return Ok(());
    }
    paint::print(text)
}

/// Shows the text with this pager. False if nothing was shown.
fn show(text: &str, program: &str) -> bool {
    if matches!(program.trim(), "" | "cat") {
        return false;
    }
    let mut command = Command::new("sh");
    command.args(["-c", program]).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", LESS_OPTIONS);
    }
    let Ok(mut child) = command.spawn() else { return false };
    let Some(mut input) = child.stdin.take() else { return false };
    // A person who leaves the pager early closes the pipe.
    let _ = input.write_all(paint::for_stdout(text).as_bytes());
    drop(input);
    // The shell ends with one of these if it cannot run the program.
    child.wait().is_ok_and(|status| !matches!(status.code(), Some(126 | 127)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pager_that_cannot_be_started_shows_nothing() {
        for program in ["", "cat", "/no/such/pager", "/dev/null"] {
            assert!(!show("a\n", program), "{program}");
        }
        assert!(show("a\n", "cat > /dev/null"), "the control");
    }
}
