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
mod sarif;
#[cfg(test)]
mod tests;
pub(super) mod uri;
mod value;
mod word;

use std::borrow::Cow;
use std::collections::HashMap;

use self::raw_finding::RawFinding;
use super::error::GateError;
use super::finding::clean;
use crate::policy::{CommandSpec, OutputForm, Stream};
use crate::text::Buffer;

pub(super) use self::formatted::formatted;
pub(super) use self::lsp::diagnosed;
pub(super) use self::raw_finding::{ToolFinding, Whose};

/// The largest number of findings in one output. Omitted findings could be those that an edit introduced, so
/// more are an error.
const MOST_FINDINGS: usize = 10_000;
/// The largest number of findings read from one output: one more than allowed, to detect an excess.
const MOST_READ: usize = MOST_FINDINGS + 1;

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
    fn on(&self, stream: Stream) -> Cow<'a, str> {
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
    fn trouble(&self) -> String {
        let [stderr, stdout] = [self.stderr, self.stdout].map(String::from_utf8_lossy);
        match telling(&stderr).or_else(|| telling(&stdout)) {
            Some(line) => format!("ended with exit code {}: {line}", self.code),
            None => format!("ended with exit code {}", self.code),
        }
    }

    /// Returns an error with a reason and the program's own message on standard error.
    fn broken(&self, why: String) -> GateError {
        let line = telling(&String::from_utf8_lossy(self.stderr)).filter(|line| !why.contains(line.as_str()));
        GateError::Broken(match line {
            Some(line) => format!("{why}; it said: {line}"),
            None => why,
        })
    }
}

/// Returns the first informative line, with the causes that Rust programs print below it; a note of a runtime
/// only if there is nothing else. For a Python traceback this is the last line, and for a usage message the
/// error below it.
fn telling(text: &str) -> Option<String> {
    let said = || notes::lines(text, None).filter(|line| !notes::is_note(line)).map(clean);
    let mut lines = said().filter(|line| !line.is_empty());
    let Some(first) = lines.next() else {
        return text.lines().map(clean).find(|line| !line.is_empty());
    };
    if first.starts_with("Traceback (most recent call last)") {
        return lines.last().or(Some(first));
    }
    if first.to_lowercase().starts_with("usage:") {
        return lines.find(|line| line.to_lowercase().contains("error:")).or(Some(first));
    }
    let mut told = first;
    while let Some(line) = lines.next() {
        let cause = match line.trim() {
            "Caused by:" => lines.next(),
            line => line.strip_prefix("Cause: ").map(str::to_owned),
        };
        if let Some(cause) = cause {
            told = format!("{told}: {}", cause.trim());
        }
    }
    Some(clean(&told))
}

/// Returns the findings of a run over this text, those in the text first and in its order.
///
/// `whose` returns the file that a name in the output refers to.
///
/// Errors: the reason why there is no result, as the end of a sentence that begins with the program's name.
pub(super) fn read(
    command: &CommandSpec,
    said: &ProgramOutput<'_>,
    text: &Buffer,
    whose: &dyn Fn(&str) -> Whose,
) -> Result<Vec<ToolFinding>, GateError> {
    let raws = checked(command, said, text, &|name| whose(name) == Whose::Edited)?;
    Ok(raw_finding::landed(raws, command.output.severity, text, whose))
}

/// Returns the findings of a run over several texts, each at the path that `whose` returns for it, in this
/// order. Findings in other files or in none are added to the first.
///
/// Errors: the reason why there is no result.
pub(super) fn read_all(
    command: &CommandSpec,
    said: &ProgramOutput<'_>,
    texts: &[(&str, &Buffer)],
    whose: &dyn Fn(&str) -> Whose,
) -> Result<Vec<Vec<ToolFinding>>, GateError> {
    let Some((_, first)) = texts.first() else { return Ok(Vec::new()) };
    let places: HashMap<&str, usize> = texts.iter().enumerate().map(|(at, (path, _))| (*path, at)).collect();
    let mut known: HashMap<String, Whose> = HashMap::new();
    let mut sorted: Vec<Vec<(RawFinding, Whose)>> = texts.iter().map(|_| Vec::new()).collect();
    let is_ours = |name: &str| match whose(name) {
        Whose::Edited => true,
        Whose::Other(path) => places.contains_key(path.as_str()),
    };
    for raw in checked(command, said, first, &is_ours)? {
        let meant = match &raw.file {
            Some(name) => known.entry(name.clone()).or_insert_with(|| whose(name)).clone(),
            None => Whose::Edited,
        };
        let (at, meant) = match meant {
            Whose::Edited => (0, Whose::Edited),
            Whose::Other(path) => match places.get(path.as_str()) {
                Some(at) => (*at, Whose::Edited),
                None => (0, Whose::Other(path)),
            },
        };
        if let Some(own) = sorted.get_mut(at) {
            own.push((raw, meant));
        }
    }
    let landed = |(raws, (_, text)): (Vec<(RawFinding, Whose)>, &(&str, &Buffer))| {
        raw_finding::landed_at(raws, command.output.severity, text)
    };
    Ok(sorted.into_iter().zip(texts).map(landed).collect())
}

/// Reads the raw findings of a successful run; `is_ours` recognizes names of the edited texts.
fn checked(
    command: &CommandSpec,
    said: &ProgramOutput<'_>,
    text: &Buffer,
    is_ours: &dyn Fn(&str) -> bool,
) -> Result<Vec<RawFinding>, GateError> {
    looked(command, said)?;
    let raws = raws(command, said, text, is_ours).map_err(|why| said.broken(why))?;
    if raws.len() > MOST_FINDINGS {
        return Err(GateError::Broken(format!("reported more than {MOST_FINDINGS} findings")));
    }
    if raws.is_empty() && said.code != 0 {
        return Err(GateError::Broken(format!("found nothing, yet {}", said.trouble())));
    }
    uncrashed(command, said)?;
    Ok(raws)
}

/// Checks that the program read the text: it does not report that it skipped the file, and its exit code is
/// one that its definition names.
fn looked(command: &CommandSpec, said: &ProgramOutput<'_>) -> Result<(), GateError> {
    for stream in [Stream::Stdout, Stream::Stderr] {
        if let Some(unseen) = passed_over(command, said, stream) {
            return Err(GateError::Skipped(format!("ignored the file: {unseen}")));
        }
    }
    if let Some(why) = lacking(command, said) {
        return Err(GateError::Unavailable(why));
    }
    if command.ran.contains(&said.code) { Ok(()) } else { Err(GateError::Broken(said.trouble())) }
}

/// Returns the text on this stream that says that the program skipped the file.
///
/// A formatter writes the text to standard output, which may contain such words. There they count only if
/// they are the whole output.
fn passed_over(command: &CommandSpec, said: &ProgramOutput<'_>, stream: Stream) -> Option<String> {
    let output = said.on(stream);
    let words = command.unseen.as_ref()?.find(&output)?.as_str();
    let is_text = matches!((&command.output.form, stream), (OutputForm::Formatted { .. }, Stream::Stdout));
    let counts = !(is_text && notes::is_on()) || words.trim() == output.trim();
    counts.then(|| clean(words))
}

/// Checks that no crash is reported on the stream without findings: findings before a crash are not a result.
///
/// The readers of each format look for such a line on the other stream. A formatter that rejects a text may
/// quote it.
fn uncrashed(command: &CommandSpec, said: &ProgramOutput<'_>) -> Result<(), GateError> {
    let stream = match (&command.output.form, command.output.from) {
        (OutputForm::Exit(_), _) | (_, Stream::Both) => return Ok(()),
        (OutputForm::Formatted { .. }, _) if said.code != 0 => return Ok(()),
        (OutputForm::Formatted { .. }, _) | (_, Stream::Stdout) => Stream::Stderr,
        (_, Stream::Stderr) => Stream::Stdout,
    };
    let output = said.on(stream);
    match notes::crash(&output).filter(|_| notes::is_on()) {
        Some(line) => {
            let line = telling(&output).unwrap_or_else(|| clean(line));
            Err(GateError::Broken(format!("reports a crash besides its findings: {line}")))
        }
        None => Ok(()),
    }
}

/// Returns the dependencies that a program lacks, and the command that fetches them.
fn lacking(command: &CommandSpec, said: &ProgramOutput<'_>) -> Option<String> {
    let output = if said.code == 0 { return None } else { said.on(Stream::Both) };
    command.missing.iter().find_map(|missing| {
        let said = missing.pattern.find(&output)?;
        let fetch = &missing.fetch;
        Some(format!(
            "dependencies are not on this machine ({}): run `{fetch}`, then retry",
            clean(said.as_str())
        ))
    })
}

/// Returns the error for a program that left part of the draft unread: its own message, if its exit code
/// reports a failure.
pub(super) fn unread(command: &CommandSpec, code: i32, stderr: &[u8]) -> GateError {
    let said = ProgramOutput { code, stdout: b"", stderr };
    looked(command, &said).err().unwrap_or_else(|| said.broken("did not read the whole draft".to_owned()))
}

/// Reads the raw findings in the format of the definition.
fn raws(
    command: &CommandSpec,
    said: &ProgramOutput<'_>,
    text: &Buffer,
    is_ours: &dyn Fn(&str) -> bool,
) -> Result<Vec<RawFinding>, String> {
    let output = || said.on(command.output.from);
    match &command.output.form {
        OutputForm::Json(place) => json::document(&output(), place, command.columns),
        OutputForm::Jsonl(place) => json::lines(&output(), said.code, place, command.columns),
        OutputForm::Sarif => sarif::findings(&output(), command.columns),
        OutputForm::Rdjson => rdjson::findings(&output()),
        OutputForm::Regex { pattern, ignore } => {
            lines::findings(&output(), pattern, ignore.as_ref(), command.columns, is_ours)
        }
        OutputForm::Exit(_) if said.code == 0 => Ok(Vec::new()),
        OutputForm::Exit(message) if message.is_empty() => Ok(vec![failure::failure(said)]),
        OutputForm::Exit(message) => Ok(vec![RawFinding::whole_text(message)]),
        OutputForm::Formatted { errors } => formatted::findings(command, errors.as_ref(), said, text),
    }
}
