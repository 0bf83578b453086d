//! What a program wrote, and the checks that hold for every format.

use std::borrow::Cow;

use super::notes;
use crate::error::GateError;
use crate::finding::sanitize;
use lockgate_policy::{CommandSpec, OutputForm, Stream};
use lockgate_text::Buffer;

/// The largest number of findings in one output. Omitted findings could be those that an edit introduced, so
/// more are an error.
pub(super) const MAX_FINDINGS: usize = 10_000;
/// The largest number of findings read from one output: one more than allowed, to detect an excess.
pub(super) const MAX_READ: usize = MAX_FINDINGS + 1;

/// The result of a program that ended by itself.
#[derive(Debug, Clone, Copy)]
pub struct ProgramOutput<'a> {
    pub code: i32,
    /// The bytes of standard output.
    pub stdout: &'a [u8],
    /// The bytes of standard error.
    pub stderr: &'a [u8],
}

impl<'a> ProgramOutput<'a> {
    /// Returns the stream that findings are read from; bytes that are not UTF-8 become U+FFFD.
    pub(crate) fn stream_text(&self, stream: Stream) -> Cow<'a, str> {
        match stream {
            Stream::Stdout => String::from_utf8_lossy(self.stdout),
            Stream::Stderr => String::from_utf8_lossy(self.stderr),
            Stream::Both => {
                let both = [self.stdout, b"\n", self.stderr].concat();
                Cow::Owned(String::from_utf8_lossy(&both).into_owned())
            }
        }
    }

    /// Describes the exit code and the most informative line of output.
    pub(super) fn failure_message(&self) -> String {
        let [stderr, stdout] = [self.stderr, self.stdout].map(String::from_utf8_lossy);
        match informative_line(&stderr).or_else(|| informative_line(&stdout)) {
            Some(line) => format!("ended with exit code {}: {line}", self.code),
            None => format!("ended with exit code {}", self.code),
        }
    }

    /// Returns an error with a reason and the program's own message on standard error.
    pub(super) fn gate_error(&self, why: String) -> GateError {
        let line = informative_line(&String::from_utf8_lossy(self.stderr))
            .filter(|line| !why.contains(line.as_str()));
        GateError::Broken(match line {
            Some(line) => format!("{why}; it said: {line}"),
            None => why,
        })
    }
}

/// Returns the first informative line, with the causes that Rust programs print below it; a note of a runtime
/// only if there is nothing else. For a Python traceback this is the last line, and for a usage message the
/// error below it.
fn informative_line(text: &str) -> Option<String> {
    let all = || notes::lines(text, None).filter(|line| !notes::is_note(line)).map(sanitize);
    let mut lines = all().filter(|line| !line.is_empty());
    let Some(first) = lines.next() else {
        return text.lines().map(sanitize).find(|line| !line.is_empty());
    };
    if first.starts_with("Traceback (most recent call last)") {
        return lines.last().or(Some(first));
    }
    if first.to_lowercase().starts_with("usage:") {
        return lines.find(|line| line.to_lowercase().contains("error:")).or(Some(first));
    }
    let mut message = first;
    while let Some(line) = lines.next() {
        let cause = match line.trim() {
            "Caused by:" => lines.next(),
            line => line.strip_prefix("Cause: ").map(str::to_owned),
        };
        if let Some(cause) = cause {
            message = format!("{message}: {}", cause.trim());
        }
    }
    Some(sanitize(&message))
}

/// Checks that the program read the text: it does not report that it skipped the file, and its exit code is
/// one that its definition names.
pub(super) fn check_ran(command: &CommandSpec, run: &ProgramOutput<'_>) -> Result<(), GateError> {
    for stream in [Stream::Stdout, Stream::Stderr] {
        if let Some(skipped) = skip_message(command, run, stream) {
            return Err(GateError::LeftOut(format!("ignored the file: {skipped}")));
        }
    }
    if let Some(why) = missing_dependencies(command, run) {
        return Err(GateError::Unready(why));
    }
    if command.output.exit_codes.contains(&run.code) {
        Ok(())
    } else {
        Err(GateError::Broken(run.failure_message()))
    }
}

/// Returns the text on this stream that says that the program skipped the file.
///
/// A formatter writes the text to standard output, which may contain such words. There they count only if
/// they are the whole output.
fn skip_message(command: &CommandSpec, run: &ProgramOutput<'_>, stream: Stream) -> Option<String> {
    let output = run.stream_text(stream);
    let words = command.output.ignored_input.as_ref()?.find(&output)?.as_str();
    let is_text = matches!((&command.output.form, stream), (OutputForm::Formatted { .. }, Stream::Stdout));
    let counts = !(is_text && notes::is_on()) || words.trim() == output.trim();
    counts.then(|| sanitize(words))
}

/// Checks that no crash is reported on the stream without findings: findings before a crash are not a result.
///
/// The readers of each format look for such a line on the other stream, and [`check_no_crash_instead`] does so
/// for an exit code. A formatter that rejects a text may quote it.
pub(super) fn check_no_crash(command: &CommandSpec, run: &ProgramOutput<'_>) -> Result<(), GateError> {
    let stream = match (&command.output.form, command.output.from) {
        (OutputForm::Exit(_), _) | (_, Stream::Both) => return Ok(()),
        (OutputForm::Formatted { .. }, _) if run.code != 0 => return Ok(()),
        (OutputForm::Formatted { .. }, _) | (_, Stream::Stdout) => Stream::Stderr,
        (_, Stream::Stderr) => Stream::Stdout,
    };
    let output = run.stream_text(stream);
    match notes::crash(&output).filter(|_| notes::is_on()) {
        Some(line) => {
            let line = informative_line(&output).unwrap_or_else(|| sanitize(line));
            Err(GateError::Broken(format!("reports a crash in addition to findings: {line}")))
        }
        None => Ok(()),
    }
}

/// Checks that a program whose exit code stands for a fixed message did not crash: a crash is not that finding.
///
/// Without a message, the finding quotes the crash, because a command that runs tests reports theirs. If one of
/// the texts has such a line itself, the output may quote it.
pub(super) fn check_no_crash_instead(
    command: &CommandSpec,
    run: &ProgramOutput<'_>,
    texts: &[(&str, &Buffer)],
) -> Result<(), GateError> {
    let has_message = matches!(&command.output.form, OutputForm::Exit(message) if !message.is_empty());
    if !(has_message && notes::is_on()) {
        return Ok(());
    }
    let is_quoted = || texts.iter().any(|(_, text)| text.view().lines().any(notes::is_crash));
    for stream in [Stream::Stderr, Stream::Stdout] {
        let output = run.stream_text(stream);
        if let Some(line) = notes::crash(&output).filter(|_| !is_quoted()) {
            let line = informative_line(&output).unwrap_or_else(|| sanitize(line));
            return Err(GateError::Broken(format!("reports a crash: {line}")));
        }
    }
    Ok(())
}

/// Returns the dependencies that a program lacks, and the command that fetches them.
fn missing_dependencies(command: &CommandSpec, run: &ProgramOutput<'_>) -> Option<String> {
    let output = if run.code == 0 { return None } else { run.stream_text(Stream::Both) };
    command.dependencies.missing.iter().find_map(|missing| {
        let found = missing.pattern.captures(&output)?;
        let found = found.get(1).or_else(|| found.get(0))?;
        let fetch = &missing.fetch;
        Some(format!(
            "dependencies are not on this machine ({}): run `{fetch}`, then retry",
            sanitize(found.as_str())
        ))
    })
}
