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
mod program_output;
mod raw_finding;
mod rdjson;
mod repetition;
mod sarif;
mod severity_words;
#[cfg(test)]
mod tests;
pub(super) mod uri;
mod value;

use std::collections::HashMap;

use self::program_output::{MAX_FINDINGS, check_no_crash, check_no_crash_instead, check_ran};
use self::raw_finding::RawFinding;
use super::error::GateError;
use super::finding::without_hidden;
use lockgate_policy::{CommandSpec, OutputForm};
use lockgate_text::Buffer;

pub(super) use self::formatted::formatted;
pub(super) use self::lsp::diagnostic_findings;
pub(super) use self::program_output::ProgramOutput;
pub(super) use self::raw_finding::{NamedFile, ToolFinding};

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
    Ok(read_all(command, run, &[("", text)], resolve)?.into_iter().flatten().collect())
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
    let places: HashMap<&str, usize> = texts.iter().enumerate().map(|(at, (path, _))| (*path, at)).collect();
    let mut known: HashMap<String, NamedFile> = HashMap::new();
    let mut sorted: Vec<Vec<(RawFinding, NamedFile)>> = texts.iter().map(|_| Vec::new()).collect();
    let is_edited = |file: &NamedFile| match file {
        NamedFile::Edited => true,
        NamedFile::Other(path) => places.contains_key(path.as_str()),
    };
    // A name can be coloured. As it is, it may be that of a file.
    let resolve = |name: &str| match resolve(name) {
        file if is_edited(&file) => file,
        other => {
            let visible = without_hidden(name);
            let found = (visible != name).then(|| resolve(&visible));
            found.filter(is_edited).unwrap_or(other)
        }
    };
    let is_ours = |name: &str| is_edited(&resolve(name));
    for raw in checked_findings(command, run, texts, &is_ours)? {
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
    texts: &[(&str, &Buffer)],
    is_ours: &dyn Fn(&str) -> bool,
) -> Result<Vec<RawFinding>, GateError> {
    let Some((_, text)) = texts.first() else { return Ok(Vec::new()) };
    check_ran(command, run)?;
    check_no_crash_instead(command, run, texts)?;
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
