//! Recognizes findings caused by packages that a project declares but that are not installed: they are not
//! errors of the draft.
//!
//! Such a finding is kept, so that nothing is hidden, but becomes a warning with the command that installs
//! the package. A run that failed for lack of one is unavailable. A finding about an undeclared import, such
//! as a misspelt one, is not changed.
//!
//! Invariant: this module reads only manifests and lock files from the file's folder up to the root, at most
//! the first MiB of a manifest and 8 MiB of a lock file, and names of package folders. It loads no package.

mod draft_files;
mod npm;
mod python;

use regex::Regex;

use self::draft_files::{DraftFiles, Uninstalled};
use super::command::ProgramInput;
use super::finding::{LONGEST_MESSAGE, sanitize};
use super::output::ToolFinding;
use lockgate_policy::{CommandSpec, Manager, Severity};

/// Turns findings caused by such packages into warnings that say how to install them.
pub(super) fn explain(input: &ProgramInput<'_>, lists: &mut [Vec<ToolFinding>]) {
    let Some(packages) = input.rule.gate.command().and_then(|command| command.dependencies.packages.as_ref())
    else {
        return;
    };
    let files = DraftFiles::new(input);
    let paths = std::iter::once(input.path).chain(input.batched.iter().map(|other| other.path));
    let own = lists.iter_mut().zip(paths);
    for (finding, path) in own.flat_map(|(list, path)| list.iter_mut().map(move |finding| (finding, path))) {
        let text = format!("{} {}", finding.code.as_deref().unwrap_or_default(), finding.message);
        let path = finding.elsewhere.as_deref().unwrap_or(path);
        let Some(name) = package_name(&packages.findings, &text) else { continue };
        let Some(uninstalled) = uninstalled(&files, path, packages.manager, name) else { continue };
        finding.severity = finding.severity.max(Severity::Warning);
        let hint = format!(" ({})", uninstalled.describe());
        let room = LONGEST_MESSAGE.saturating_sub(hint.chars().count());
        finding.message = sanitize(&(finding.message.chars().take(room).collect::<String>() + &hint));
    }
}

/// Returns the reason why a run with this output failed, if it is such a package.
pub(super) fn failure(input: &ProgramInput<'_>, command: &CommandSpec, output: &str) -> Option<String> {
    let packages = command.dependencies.packages.as_ref()?;
    let name = package_name(&packages.failures, output)?;
    Some(uninstalled(&DraftFiles::new(input), input.path, packages.manager, name)?.describe())
}

fn package_name<'t>(patterns: &[Regex], text: &'t str) -> Option<&'t str> {
    patterns.iter().find_map(|pattern| Some(pattern.captures(text)?.name("package")?.as_str()))
}

fn uninstalled(files: &DraftFiles<'_>, path: &str, manager: Manager, name: &str) -> Option<Uninstalled> {
    match manager {
        Manager::Npm => npm::uninstalled(files, path, name),
        Manager::Python => python::uninstalled(files, path, name),
    }
}
