//! Terminal output: shared styles, and escaping of text from files.
//!
//! Invariant: content of files and requests reaches the terminal only through [`visible`], so that it cannot send
//! control sequences. Output that is not a terminal has no colours.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};

use clap::builder::styling::{AnsiColor, Style, Styles};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use lockgate_error::{Code, Error};
use lockgate_text::is_control_or_bidi;

/// Style of labels and states of success: written, passed, works.
pub(super) const DONE: Style = AnsiColor::Green.on_default().bold();
/// Style of labels and states of failure: rejected edits, blocking findings, gates that do not work.
pub(super) const REJECTED: Style = AnsiColor::Red.on_default().bold();
pub(super) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
pub(super) const TITLE: Style = Style::new().bold().underline();
pub(super) const LABEL: Style = Style::new().bold();
pub(super) const FAINT: Style = Style::new().dimmed();
/// Style of added lines in a diff.
pub(super) const ADDED: Style = AnsiColor::Green.on_default();
/// Style of removed lines in a diff.
pub(super) const REMOVED: Style = AnsiColor::Red.on_default();
/// Style of the `@@` line of a hunk in a diff, and of placeholders in help.
pub(super) const HUNK: Style = AnsiColor::Cyan.on_default();

/// The clap styles for help and usage errors.
pub(super) const HELP: Styles = Styles::styled()
    .header(TITLE)
    .usage(TITLE)
    .literal(LABEL)
    .placeholder(HUNK)
    .valid(DONE)
    .invalid(WARNING)
    .error(REJECTED);

/// Returns the text in a style.
pub(super) fn paint(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Returns a line with a label in a fixed-width column; further lines are indented.
pub(super) fn labelled(style: Style, label: &str, text: impl Display) -> String {
    let text = text.to_string().replace('\n', "\n          ");
    format!("{style}{label:<9}{style:#} {text}\n")
}

/// Replaces characters that could control a terminal or reorder a line.
///
/// Tabs and line ends stay; C0 controls become their Unicode pictures.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_control_or_bidi) {
        return Cow::Borrowed(text);
    }
    let shown = |character| if is_control_or_bidi(character) { picture(character) } else { character };
    Cow::Owned(text.chars().map(shown).collect())
}

/// Escapes a text and puts it on one line, so that content of a policy cannot imitate lockgate's output.
pub(super) fn visible_line(text: &str) -> String {
    visible(text).replace('\n', "\u{240a}").replace('\t', "\u{2409}")
}

fn picture(control: char) -> char {
    match control {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(control)).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\u{7f}' => '\u{2421}',
        _ => char::REPLACEMENT_CHARACTER,
    }
}

/// Prints to standard output, without colours if that is not a terminal.
///
/// A closed pipe is not an error; the rest is discarded.
pub(super) fn print(text: &str) -> Result<(), Error> {
    let mut out = anstream::stdout();
    ignore_broken_pipe(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Returns a text with the colours that standard output would show.
pub(super) fn for_stdout(text: &str) -> Cow<'_, str> {
    match anstream::AutoStream::choice(&io::stdout()) {
        anstream::ColorChoice::Never => Cow::Owned(anstream::adapter::strip_str(text).to_string()),
        _ => Cow::Borrowed(text),
    }
}

/// Returns the number of columns of the terminal of standard output; without a terminal, as many as a line may need.
pub(super) fn width() -> usize {
    match rustix::termios::tcgetwinsize(io::stdout()) {
        Ok(size) if size.ws_col > 0 && io::stdout().is_terminal() => usize::from(size.ws_col),
        Ok(_) | Err(_) => usize::from(u16::MAX),
    }
}

/// Prints a JSON value, indented.
pub(super) fn print_json(value: &serde_json::Value) -> Result<(), Error> {
    print_bytes(format!("{value:#}\n").as_bytes())
}

/// Prints a JSON value on one line.
pub(super) fn print_json_line(value: &serde_json::Value) -> Result<(), Error> {
    print_bytes(format!("{value}\n").as_bytes())
}

/// Prints bytes unchanged to standard output, for programs.
pub(super) fn print_bytes(text: &[u8]) -> Result<(), Error> {
    let mut out = io::stdout();
    ignore_broken_pipe(out.write_all(text).and_then(|()| out.flush()))
}

/// True unless standard output is a pipe whose other end is closed, or a terminal that is gone.
pub(super) fn has_reader() -> bool {
    let out = io::stdout();
    // Errors and hang-ups are reported without being asked for.
    let mut polled = [PollFd::new(&out, PollFlags::empty())];
    !matches!(poll(&mut polled, Some(&Timespec::default())), Ok(1..))
}

/// Prints to standard error; errors there cannot be reported.
pub(super) fn print_error(text: &str) {
    let _ = anstream::stderr().write_all(text.as_bytes());
}

fn ignore_broken_pipe(result: io::Result<()>) -> Result<(), Error> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::new(Code::IoFailed, format!("cannot write to standard output: {error}")))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_steers_nothing_is_the_same() {
        assert!(matches!(visible("\tnaïve «text»\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn escapes_controls_and_bidi_marks_are_shown() {
        assert_eq!(visible("a\u{1b}[2Jb\u{7f}\r\n"), "a\u{241b}[2Jb\u{2421}\u{240d}\n");
        assert_eq!(visible("\u{202e}evil\u{9b}\u{61c}"), "\u{fffd}evil\u{fffd}\u{fffd}");
    }

    #[test]
    fn lines_below_a_label_are_in_its_column() {
        assert_eq!(labelled(Style::new(), "hint", "one\ntwo"), "hint      one\n          two\n");
    }

    #[test]
    fn only_a_reader_that_went_away_is_no_failure() {
        assert!(ignore_broken_pipe(Err(io::ErrorKind::BrokenPipe.into())).is_ok());
        assert!(ignore_broken_pipe(Err(io::ErrorKind::StorageFull.into())).is_err());
    }
}
