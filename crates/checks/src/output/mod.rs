//! Parses a program's result, its exit code and output, into findings or a text.
//!
//! All of it is untrusted, and a failed program must not be taken for one without findings. Anything that
//! differs from the definition is an error with a reason: an undefined exit code, output that cannot be read
//! to its end, a finding without a message, an exit code other than 0 without findings.
//!
//! Invariant: no output causes a panic, and none yields an empty list except one that states it: in its
//! format, and with the exit code 0.
#![deny(clippy::disallowed_methods)]

mod columns;
mod failure;
mod formatted;
mod json;
mod lines;
mod lsp;
pub(super) mod notes;
mod raw_finding;
mod rdjson;
mod repetition;
mod sarif;
mod severity_words;
#[cfg(test)]
mod tests;
pub(super) mod uri;
mod value;

use std::borrow::Cow;
use std::collections::HashMap;

use self::raw_finding::RawFinding;
use super::error::GateError;
use super::finding::sanitize;
use lockgate_policy::{CommandSpec, OutputForm, Stream};
use lockgate_text::Buffer;

pub(super) use self::formatted::formatted;
pub(super) use self::lsp::diagnostic_findings;
pub(super) use self::raw_finding::{NamedFile, ToolFinding};

/// The largest number of findings in one output. Omitted findings could be those that an edit introduced, so
/// more are an error.
const MAX_FINDINGS: usize = 10_000;
/// The largest number of findings read from one output: one more than allowed, to detect an excess.
const MAX_READ: usize = MAX_FINDINGS + 1;

/// The result of a program that ended by itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProgramOutput<'a> {
    pub(super) code: i32,
    /// The bytes of standard output.
    pub(super) stdout: &'a [u8],
    /// The bytes of standard error.
    pub(super) stderr: &'a [u8],
}

impl<'a> ProgramOutput<'a> {
    /// Returns the stream that findings are read from; bytes that are not UTF-8 become U+FFFD.
    fn stream_text(&self, stream: Stream) -> Cow<'a, str> {
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
    fn failure_message(&self) -> String {
        let [stderr, stdout] = [self.stderr, self.stdout].map(String::from_utf8_lossy);
        match informative_line(&stderr).or_else(|| informative_line(&stdout)) {
            Some(line) => format!("ended with exit code {}: {line}", self.code),
            None => format!("ended with exit code {}", self.code),
        }
    }

    /// Returns an error with a reason and the program's own message on standard error.
    fn gate_error(&self, why: String) -> GateError {
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

/// Returns the findings of a run over this text, those in the text first and in its order.
///
/// `resolve` returns the file that a name in the output refers to.
///
/// Errors: the reason why there is no result, as the end of a sentence that begins with the program's name.
pub(super) fn read(
    command: &CommandSpec,
    run: &ProgramOutput<'_>,
    text: &Buffer,
    resolve: &dyn Fn(&str) -> NamedFile,
) -> Result<Vec<ToolFinding>, GateError> {
    let raws = checked_findings(command, run, text, &|name| resolve(name) == NamedFile::Edited)?;
    Ok(raw_finding::locate(raws, command.output.severity, text, resolve))
}

/// Returns the findings of a run over several texts, each at the path that `resolve` returns for it, in this
/// order. Findings in other files or in none are added to the first.
///
/// Errors: the reason why there is no result.
pub(super) fn read_all(
    command: &CommandSpec,
    run: &ProgramOutput<'_>,
    texts: &[(&str, &Buffer)],
    resolve: &dyn Fn(&str) -> NamedFile,
) -> Result<Vec<Vec<ToolFinding>>, GateError> {
    let Some((_, first)) = texts.first() else { return Ok(Vec::new()) };
    let places: HashMap<&str, usize> = texts.iter().enumerate().map(|(at, (path, _))| (*path, at)).collect();
    let mut known: HashMap<String, NamedFile> = HashMap::new();
    let mut sorted: Vec<Vec<(RawFinding, NamedFile)>> = texts.iter().map(|_| Vec::new()).collect();
    let is_ours = |name: &str| match resolve(name) {
        NamedFile::Edited => true,
        NamedFile::Other(path) => places.contains_key(path.as_str()),
    };
    for raw in checked_findings(command, run, first, &is_ours)? {
        let file = match &raw.file {
            Some(name) => known.entry(name.clone()).or_insert_with(|| resolve(name)).clone(),
            None => NamedFile::Edited,
        };
        let (at, file) = match file {
            NamedFile::Edited => (0, NamedFile::Edited),
            NamedFile::Other(path) => match places.get(path.as_str()) {
                Some(at) => (*at, NamedFile::Edited),
                None => (0, NamedFile::Other(path)),
            },
        };
        if let Some(own) = sorted.get_mut(at) {
            own.push((raw, file));
        }
    }
    let locate = |(raws, (_, text)): (Vec<(RawFinding, NamedFile)>, &(&str, &Buffer))| {
        raw_finding::locate_in_files(raws, command.output.severity, text)
    };
    Ok(sorted.into_iter().zip(texts).map(locate).collect())
}

/// Reads the raw findings of a successful run; `is_ours` recognizes names of the edited texts.
fn checked_findings(
    command: &CommandSpec,
    run: &ProgramOutput<'_>,
    text: &Buffer,
    is_ours: &dyn Fn(&str) -> bool,
) -> Result<Vec<RawFinding>, GateError> {
    check_ran(command, run)?;
    let raws = raw_findings(command, run, text, is_ours).map_err(|why| run.gate_error(why))?;
    if raws.len() > MAX_FINDINGS {
        return Err(GateError::Broken(format!("reported more than {MAX_FINDINGS} findings")));
    }
    if raws.is_empty() && run.code != 0 {
        return Err(GateError::Broken(format!("found nothing, yet {}", run.failure_message())));
    }
    check_no_crash(command, run)?;
    Ok(raws)
}

/// Checks that the program read the text: it does not report that it skipped the file, and its exit code is
/// one that its definition names.
fn check_ran(command: &CommandSpec, run: &ProgramOutput<'_>) -> Result<(), GateError> {
    for stream in [Stream::Stdout, Stream::Stderr] {
        if let Some(skipped) = skip_message(command, run, stream) {
            return Err(GateError::Skipped(format!("ignored the file: {skipped}")));
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
/// The readers of each format look for such a line on the other stream. A formatter that rejects a text may
/// quote it.
fn check_no_crash(command: &CommandSpec, run: &ProgramOutput<'_>) -> Result<(), GateError> {
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

/// Returns the dependencies that a program lacks, and the command that fetches them.
fn missing_dependencies(command: &CommandSpec, run: &ProgramOutput<'_>) -> Option<String> {
    let output = if run.code == 0 { return None } else { run.stream_text(Stream::Both) };
    command.dependencies.missing.iter().find_map(|missing| {
        let found = missing.pattern.find(&output)?;
        let fetch = &missing.fetch;
        Some(format!(
            "dependencies are not on this machine ({}): run `{fetch}`, then retry",
            sanitize(found.as_str())
        ))
    })
}

/// Returns the error for a program that left part of the draft unread.
pub(super) fn unread_error(run: &ProgramOutput<'_>) -> GateError {
    run.gate_error("did not read the whole draft".to_owned())
}

/// Reads the raw findings in the format of the definition.
fn raw_findings(
    command: &CommandSpec,
    run: &ProgramOutput<'_>,
    text: &Buffer,
    is_ours: &dyn Fn(&str) -> bool,
) -> Result<Vec<RawFinding>, String> {
    let output = || run.stream_text(command.output.from);
    match &command.output.form {
        OutputForm::Json(place) => json::document(&output(), place, command.output.columns),
        OutputForm::Jsonl(place) => json::lines(&output(), run.code, place, command.output.columns),
        OutputForm::Sarif => sarif::findings(&output(), command.output.columns),
        OutputForm::Rdjson => rdjson::findings(&output()),
        OutputForm::Regex { pattern, ignore } => {
            lines::findings(&output(), pattern, ignore.as_ref(), command.output.columns, is_ours)
        }
        OutputForm::Exit(_) if run.code == 0 => Ok(Vec::new()),
        OutputForm::Exit(message) if message.is_empty() => Ok(vec![failure::failure(run)]),
        OutputForm::Exit(message) => Ok(vec![RawFinding::whole_text(message)]),
        OutputForm::Formatted { errors } => formatted::findings(command, errors.as_ref(), run, text),
    }
}
