//! Renders the result of `lockgate init` as text and JSON.

use std::process::ExitCode;

use serde_json::{Value, json};

use crate::cli::output_format::OutputFormat;
use crate::cli::paint::{self, DONE, FAINT, LABEL, WARNING, labelled, paint, visible};
use crate::cli::show;
use crate::cli::verbosity::Verbosity;
use lockgate_error::{Code, Error};
use lockgate_text::diff::unified;
use lockgate_text::{Buffer, Hints};

/// The status of the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum FileStatus {
    Written,
    /// It was deleted, because it had nothing else; JSON says `written`.
    Removed,
    /// It already had the content.
    #[default]
    Unchanged,
    /// It was shown but not written.
    Proposed,
    /// It was not changed; the error gives the reason.
    Refused,
}

impl FileStatus {
    /// Returns the value in JSON.
    fn name(self) -> &'static str {
        match self {
            FileStatus::Written | FileStatus::Removed => "written",
            FileStatus::Unchanged => "unchanged",
            FileStatus::Proposed => "proposed",
            FileStatus::Refused => "refused",
        }
    }

    /// Returns the word of the text form.
    fn label(self) -> &'static str {
        if self == FileStatus::Removed { "removed" } else { self.name() }
    }

    /// True if the file was changed, or needs no change.
    fn is_applied(self) -> bool {
        match self {
            FileStatus::Written | FileStatus::Removed | FileStatus::Unchanged => true,
            FileStatus::Proposed | FileStatus::Refused => false,
        }
    }
}

/// The result of the command.
#[derive(Debug, Default)]
pub(super) struct InitOutcome {
    pub(super) status: FileStatus,
    pub(super) path: String,
    pub(super) message: String,
    /// The diff of an existing file.
    pub(super) diff: Option<String>,
    /// The whole text of a new file.
    pub(super) text: Option<String>,
    /// Findings about the project, for the text form.
    pub(super) found: Vec<String>,
    /// Additional fields of the JSON form.
    pub(super) extra_fields: Vec<(&'static str, Value)>,
    pub(super) notes: Vec<String>,
    /// Next steps for a person: a command or program, and its purpose.
    pub(super) next: Vec<(String, String)>,
    rejection: Option<Error>,
}

impl InitOutcome {
    /// Creates an outcome without details.
    pub(super) fn new(status: FileStatus, path: impl Into<String>) -> InitOutcome {
        let path = path.into();
        InitOutcome { status, message: path.clone(), path, ..InitOutcome::default() }
    }

    /// Marks the file as unchanged, with the reason.
    pub(super) fn reject(&mut self, error: Error) {
        self.status = FileStatus::Refused;
        self.message.clone_from(&error.message);
        self.next.clear();
        self.rejection = Some(error);
    }

    /// Prints the outcome and returns the exit code. Of a change that was made, a quiet command prints only the notes, to
    /// standard error.
    ///
    /// Errors: the rejection itself in the text form, and `IO_FAILED`.
    pub(super) fn finish(self, format: OutputFormat, verbosity: Verbosity) -> Result<ExitCode, Error> {
        match format {
            OutputFormat::Json => {
                paint::print_json(&self.json())?;
                let exit = self.rejection.map(|error| error.code.family().exit_code());
                Ok(exit.map_or(ExitCode::SUCCESS, ExitCode::from))
            }
            OutputFormat::Text if verbosity == Verbosity::Quiet && self.status.is_applied() => {
                paint::print_error(&self.notes_text());
                Ok(ExitCode::SUCCESS)
            }
            OutputFormat::Text => {
                paint::print(&self.text())?;
                self.rejection.map_or(Ok(ExitCode::SUCCESS), Err)
            }
        }
    }

    /// Prints only the text of a new file, so that the output can be redirected to a file.
    ///
    /// Errors: those of [`InitOutcome::finish`].
    pub(super) fn print(self, verbosity: Verbosity) -> Result<ExitCode, Error> {
        match (&self.text, &self.rejection) {
            (Some(text), None) => paint::print_bytes(text.as_bytes()).map(|()| ExitCode::SUCCESS),
            _ => self.finish(OutputFormat::Text, verbosity),
        }
    }

    /// Renders the text form; a rejection is printed with other errors.
    fn text(&self) -> String {
        let mut text: String =
            self.found.iter().map(|found| labelled(LABEL, "found", visible(found))).collect();
        text += &self.diff.as_deref().map(show::diff).unwrap_or_default();
        text += &self.text.as_deref().map(policy).unwrap_or_default();
        text += &self.notes_text();
        if self.rejection.is_none() {
            text += &labelled(DONE, self.status.label(), visible(&self.message));
        }
        let next = |(what, why): &(String, String)| labelled(LABEL, "next", format!("{what}: {why}"));
        text + &self.next.iter().map(next).collect::<String>()
    }

    fn notes_text(&self) -> String {
        self.notes.iter().map(|note| labelled(WARNING, "note", visible(note))).collect()
    }

    fn json(&self) -> Value {
        let next = self.next.iter().map(|(what, why)| json!({ "what": what, "why": why }));
        let mut fields = vec![
            ("status", json!(self.status.name())),
            ("path", json!(self.path)),
            ("message", json!(self.message)),
        ];
        fields.extend(self.rejection.iter().flat_map(code_and_hint));
        fields.extend(self.extra_fields.iter().cloned());
        fields.extend(self.diff.iter().map(|diff| ("diff", json!(diff))));
        fields.extend(self.text.iter().map(|text| ("text", json!(text))));
        fields.extend([("notes", json!(self.notes)), ("next", next.collect())]);
        fields.into_iter().collect()
    }
}

fn code_and_hint(error: &Error) -> [(&'static str, Value); 2] {
    [("code", json!(error.code.name())), ("hint", json!(error.next_step()))]
}

/// Renders a rejection that happened before there was an outcome.
pub(super) fn error_json(error: &Error) -> Value {
    let [code, hint] = code_and_hint(error);
    let status = ("status", json!(FileStatus::Refused.name()));
    [status, ("message", json!(error.message)), code, hint].into_iter().collect()
}

/// Renders a policy with dimmed comments.
fn policy(text: &str) -> String {
    let line = |line: &str| {
        let line = visible(line);
        let comment = line.trim_start().starts_with('#');
        if comment { paint(FAINT, line) + "\n" } else { format!("{line}\n") }
    };
    text.lines().map(line).collect()
}

/// Returns the diff between a file and its new text.
///
/// Errors: those of reading a text.
pub(super) fn diff(path: &str, before: Option<&str>, after: &str) -> Result<String, Error> {
    let read = |text: &str| Buffer::read(text.as_bytes().to_vec(), Hints::default());
    let (before, after) = (before.map(read).transpose()?, read(after)?);
    let plan = match &before {
        Some(before) => before.plan_to(&after)?,
        None => read("")?.plan_to(&after)?,
    };
    // The header puts `a/` before the path, as git does: before an absolute one without its first slash.
    let path = path.trim_start_matches('/');
    Ok(unified(path, before.as_ref(), &after, &plan).render(usize::MAX).0)
}

/// Returns the error for a file that only a person may change.
pub(super) fn exists(path: &str) -> Error {
    Error::new(Code::FileExists, format!("{path} already exists and was not changed"))
        .hint("add the missing parts by hand, or remove the file first")
}
