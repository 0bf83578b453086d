//! Recognizes findings caused by packages that a project declares but that are not installed: they are not
//! errors of the draft.
//!
//! Such a finding is kept, so that nothing is hidden, but becomes a warning with the command that installs
//! the package. A run that failed for lack of one is unavailable. A finding about an undeclared import, such
//! as a misspelt one, is not changed.
//!
//! Invariant: this module reads only manifests and lock files from the file's folder up to the root, at most
//! the first MiB of each, and names of package folders. It loads no package.

mod npm;
mod python;

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use regex::Regex;

use super::command::{ProgramInput, project};
use super::finding::{LONGEST_MESSAGE, sanitize};
use super::output::ToolFinding;
use lockgate_policy::{CommandSpec, Manager, Severity};

/// The largest part of a manifest or lock file that is read, in bytes.
const MAX_READ: u64 = 1 << 20;

/// A package that is declared and not installed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Uninstalled {
    /// The package's name in the manifest.
    package: String,
    /// The manifest that declares it, relative to the root.
    manifest: String,
    /// The command that installs it.
    install: String,
    /// The folder to run that command in, relative to the root.
    folder: String,
}

impl Uninstalled {
    fn describe(&self) -> String {
        let Uninstalled { package, manifest, install, folder } = self;
        let place = if folder.is_empty() { String::new() } else { format!(" in {folder}") };
        sanitize(&format!(
            "{manifest} declares {package}, which is not installed: run `{install}`{place}, then retry"
        ))
    }
}

/// Turns findings caused by such packages into warnings that say how to install them.
pub(super) fn explain(input: &ProgramInput<'_>, lists: &mut [Vec<ToolFinding>]) {
    let Some(packages) = input.rule.gate.command().and_then(|command| command.dependencies.packages.as_ref())
    else {
        return;
    };
    let paths = std::iter::once(input.path).chain(input.batched.iter().map(|other| other.path));
    let own = lists.iter_mut().zip(paths);
    for (finding, path) in own.flat_map(|(list, path)| list.iter_mut().map(move |finding| (finding, path))) {
        let text = format!("{} {}", finding.code.as_deref().unwrap_or_default(), finding.message);
        let path = finding.elsewhere.as_deref().unwrap_or(path);
        let Some(name) = package_name(&packages.findings, &text) else { continue };
        let Some(uninstalled) = uninstalled(input, path, packages.manager, name) else { continue };
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
    Some(uninstalled(input, input.path, packages.manager, name)?.describe())
}

fn package_name<'t>(patterns: &[Regex], text: &'t str) -> Option<&'t str> {
    patterns.iter().find_map(|pattern| Some(pattern.captures(text)?.name("package")?.as_str()))
}

fn uninstalled(input: &ProgramInput<'_>, path: &str, manager: Manager, name: &str) -> Option<Uninstalled> {
    let files = DraftFiles { input };
    match manager {
        Manager::Npm => npm::uninstalled(&files, path, name),
        Manager::Python => python::uninstalled(&files, path, name),
    }
}

/// The files of the project as the call would leave them.
struct DraftFiles<'a> {
    input: &'a ProgramInput<'a>,
}

impl DraftFiles<'_> {
    /// The folders from a file's own up to the root, relative to the root.
    fn above<'p>(&self, path: &'p str) -> impl Iterator<Item = &'p str> + use<'p> {
        project::folders_above(path)
    }

    fn root(&self) -> &Path {
        self.input.root
    }

    /// Returns the text of a file, from its draft if the call has one.
    fn text(&self, path: &str) -> Option<String> {
        if let Some(draft) = self.input.overlays.iter().find(|other| other.path == path) {
            return draft.text.map(|text| text.view().to_owned());
        }
        let place = self.root().join(path);
        if !fs::metadata(&place).ok()?.is_file() {
            return None;
        }
        let mut text = String::new();
        File::open(place).ok()?.take(MAX_READ).read_to_string(&mut text).ok()?;
        Some(text)
    }

    fn exists(&self, path: &str) -> bool {
        self.root().join(path).exists()
    }

    /// Returns the nearest folder, from this one up to the root, that has one of these files, with the value
    /// of that file.
    fn nearest<T: Copy>(&self, folder: &str, files: &[(&str, T)]) -> Option<(String, T)> {
        let own = join(folder, "x");
        let mut folders = self.above(&own);
        folders.find_map(|folder| {
            let (_, value) = files.iter().find(|(name, _)| self.exists(&join(folder, name)))?;
            Some((folder.to_owned(), *value))
        })
    }
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}
