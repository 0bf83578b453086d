//! Reads a recorded output of a gate's program as findings.

use std::path::Path;

use super::file_names::{PathLookup, RunNames};
use super::project;
use crate::error::GateError;
use crate::finding::Finding;
use crate::output::{ProgramOutput, ToolFinding, diagnostic_findings, read};
use crate::path::file_name;
use lockgate_policy::{Columns, CommandSpec, Gate, Sample, ServerSpec};
use lockgate_text::{Buffer, Hints};

/// The assumed root of a sample's project.
const ROOT: &str = "/project";
/// The assumed path of a sample's draft, for a program that gets a draft file.
const DRAFT: &str = "/draft";

/// Reads a sample's recorded output as if the gate's program had just written it.
///
/// In the recording, `{root}` stands for the project's folder, and `{draft}` for the draft file.
///
/// Errors: the reason why the output gives no findings.
pub fn replay(gate: &Gate, sample: &Sample) -> Result<Vec<Finding>, String> {
    let output = sample.output.as_deref().ok_or("the sample has no `output`")?;
    let text = Buffer::read(sample.draft.as_bytes().to_vec(), Hints::default());
    let text = text.map_err(|error| error.message)?;
    let findings = match (gate.command(), gate.server()) {
        (Some(command), _) => replay_command(command, sample, output, &text),
        (None, Some(server)) => replay_diagnostics(server, output, &text),
        (None, None) => return Err("the gate runs no program".to_owned()),
    };
    let findings = findings.map_err(|error| describe(&error))?;
    Ok(findings.into_iter().map(|found| finding(gate, found)).collect())
}

type ReplayRead = Result<Vec<ToolFinding>, GateError>;

fn replay_command(command: &CommandSpec, sample: &Sample, output: &str, text: &Buffer) -> ReplayRead {
    let draft = format!("{DRAFT}/{}", file_name(&sample.path));
    let fill_in = |text: &str| text.replace("{root}", ROOT).replace("{draft}", &draft);
    let (stdout, stderr) = (fill_in(output), fill_in(&sample.errors));
    let program_output =
        ProgramOutput { code: sample.exit, stdout: stdout.as_bytes(), stderr: stderr.as_bytes() };
    let names = names(command, sample, &draft);
    read(command, &program_output, text, &|name| names.resolve(name))
}

/// Reads a list of diagnostics recorded from a server.
fn replay_diagnostics(server: &ServerSpec, output: &str, text: &Buffer) -> ReplayRead {
    match serde_json::from_str::<Vec<serde_json::Value>>(output) {
        Ok(items) => diagnostic_findings(&items, server, Columns::Utf16, text),
        Err(error) => {
            Err(GateError::Broken(format!("the sample's `output` is not a list of diagnostics: {error}")))
        }
    }
}

fn names(command: &CommandSpec, sample: &Sample, draft: &str) -> RunNames {
    let paths: Vec<String> = sample.with.iter().map(|(path, _)| path.clone()).collect();
    let known = |path: &Path, contains: &str| {
        sample.with.iter().any(|(known, text)| Path::new(known) == path && text.contains(contains))
    };
    let root = Path::new(ROOT);
    let folder = project::join(root, project::nearest(&sample.path, &command.environment.cwd, known));
    let own = root.join(&sample.path);
    let bases = [folder.as_path(), root, own.parent().unwrap_or(root)];
    RunNames::new(
        &sample.path,
        [root].into_iter(),
        bases,
        Some(Path::new(draft)),
        &[],
        command.input,
        PathLookup::Listed(paths),
    )
}

/// Converts a program's finding to a gate's, before it is compared with the text before the edit.
pub(super) fn finding(gate: &Gate, found: ToolFinding) -> Finding {
    Finding {
        gate: gate.name.clone(),
        severity: found.severity,
        elsewhere: found.elsewhere,
        code: found.code,
        ..Finding::new(found.line, found.column, &found.message)
    }
}

/// Describes a gate's outcome and the reason.
fn describe(error: &GateError) -> String {
    let (outcome, _, why) = error.outcome();
    format!("{}: {why}", outcome.name())
}
