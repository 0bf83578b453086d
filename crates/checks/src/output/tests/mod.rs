//! Every output format, as its tools write it.

mod failures;
mod formatting;
mod forms;
mod hostile;
mod other_lines;
mod sarif;

use regex::Regex;

use super::{NamedFile, ProgramOutput, ToolFinding, notes, read};
use crate::error::GateError;
use lockgate_policy::{
    CacheScope, Columns, CommandSpec, DependencyPatterns, FileFilter, FindingPaths, Input, OutputForm,
    OutputSpec, Pointer, ProgramSpec, RunEnvironment, Severity, Stream, Unconfigured,
};
use lockgate_text::{Buffer, Hints};

/// A text whose lines have characters of one to four bytes.
pub(super) const TEXT: &str = "import os\r\né = 'x'\r\n\t😀 = é\r\nlast";

/// An output in this form, of a command that ends with 0 or 1.
pub(super) fn output_of(form: OutputForm) -> OutputSpec {
    OutputSpec {
        form,
        from: Stream::Stdout,
        severity: Severity::Error,
        exit_codes: vec![0, 1],
        ignored_input: None,
        columns: Columns::Characters,
    }
}

/// A command that says what it found in this form.
pub(super) fn command(form: OutputForm) -> CommandSpec {
    command_with(output_of(form))
}

/// A command with this output.
pub(super) fn command_with(output: OutputSpec) -> CommandSpec {
    CommandSpec {
        input: Input::Stdin,
        program: ProgramSpec {
            name: "tool".to_owned(),
            bin: Vec::new(),
            probe: Vec::new(),
            install: Vec::new(),
        },
        words: Vec::new(),
        environment: RunEnvironment::default(),
        output,
        dependencies: DependencyPatterns::default(),
        scope: CacheScope::File,
        config: Vec::new(),
        unconfigured: Unconfigured::default(),
        values: Vec::new(),
        files: FileFilter::default(),
        older: None,
    }
}

pub(super) fn pointer(text: &str) -> Pointer {
    let (above, text) = text.strip_prefix('^').map_or((false, text), |rest| (true, rest));
    let (way, plus) = text.split_once('+').unwrap_or((text, "0"));
    Pointer { above, keys: way.split('.').map(str::to_owned).collect(), plus: plus.parse().unwrap() }
}

/// `items` may be empty; the others are file, line, column, code, severity, message.
pub(super) fn place(
    items: &str,
    [file, line, column, code, severity, message]: [&str; 6],
) -> Box<FindingPaths> {
    Box::new(FindingPaths {
        items: (!items.is_empty()).then(|| pointer(items)),
        file: Some(pointer(file)),
        line: pointer(line),
        column: Some(pointer(column)),
        code: Some(pointer(code)),
        severity: Some(pointer(severity)),
        message: pointer(message),
    })
}

/// mypy's own way to say it.
pub(super) fn plain_place() -> Box<FindingPaths> {
    place("", ["file", "line", "column+1", "code", "severity", "message"])
}

pub(super) fn lines_of(pattern: &str, ignore: Option<&str>) -> OutputForm {
    OutputForm::Regex { pattern: regex(pattern), ignore: ignore.map(regex) }
}

/// A pattern as definitions have them: `^` and `$` are those of a line.
pub(super) fn regex(pattern: &str) -> Regex {
    regex::RegexBuilder::new(pattern).multi_line(true).build().unwrap()
}

pub(super) fn buffer(text: &str) -> Buffer {
    Buffer::read(text.into(), Hints::default()).unwrap()
}

pub(super) fn program_output(code: i32, stdout: &str) -> ProgramOutput<'_> {
    ProgramOutput { code, stdout: stdout.as_bytes(), stderr: b"" }
}

/// `a.py` is the edited file.
pub(super) fn named_file(name: &str) -> NamedFile {
    if name == "a.py" { NamedFile::Edited } else { NamedFile::Other(name.to_owned()) }
}

/// Findings as `line:column severity code message`, with the file before where it is another one.
pub(super) fn shown(findings: &[ToolFinding]) -> Vec<String> {
    let show = |finding: &ToolFinding| {
        let file = finding.elsewhere.as_ref().map_or(String::new(), |file| format!("{file}:"));
        let code = finding.code.as_deref().unwrap_or("-");
        format!(
            "{file}{}:{} {} {code} {}",
            finding.line,
            finding.column,
            finding.severity.name(),
            finding.message
        )
    };
    findings.iter().map(show).collect()
}

pub(super) fn reading(command: &CommandSpec, run: &ProgramOutput<'_>) -> Result<Vec<String>, String> {
    reading_of(TEXT, command, run)
}

/// The findings of an output about a text, or the error.
pub(super) fn reading_of(
    text: &str,
    command: &CommandSpec,
    run: &ProgramOutput<'_>,
) -> Result<Vec<String>, String> {
    match read(command, run, &buffer(text), &named_file) {
        Ok(findings) => Ok(shown(&findings)),
        Err(GateError::Broken(why)) => Err(why),
        Err(other) => panic!("{other:?}"),
    }
}

/// Checks the findings of a standard output, or the beginning of the error.
#[track_caller]
pub(super) fn check(command: &CommandSpec, code: i32, stdout: &str, expected: Result<&[&str], &str>) {
    match (reading(command, &program_output(code, stdout)), expected) {
        (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{code} {stdout}"),
        (Err(why), Err(expected)) => assert!(why.starts_with(expected), "{code} {stdout}\n{why}"),
        (found, expected) => panic!("{code} {stdout}\nseen {found:?}\nwanted {expected:?}"),
    }
}
