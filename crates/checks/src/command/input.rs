//! A text for a program to check.

use std::ffi::OsStr;
use std::path::Path;

use crate::overlay::DraftOverlays;
use crate::runtime::Versions;
use lockgate_policy::{CommandSpec, Hole, Language, OutputForm, Rule};
use lockgate_sandbox::{Ceiling, Isolation};
use lockgate_text::Buffer;

/// A text for a gate's program to check, with its context.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProgramInput<'a> {
    /// The policy's entry, whose gate runs a command.
    pub(crate) rule: &'a Rule,
    /// The absolute path of the program.
    pub(crate) program: &'a Path,
    /// The search path for programs that it starts itself.
    pub(crate) search: &'a OsStr,
    /// The absolute path of the root.
    pub(crate) root: &'a Path,
    /// The path of the text, relative to the root.
    pub(crate) path: &'a str,
    /// The language of the text, if known.
    pub(crate) language: Option<&'static Language>,
    /// The text that the program checks.
    pub(crate) text: &'a Buffer,
    /// Set when a file exists at that path.
    pub(crate) on_disk: bool,
    /// Set when the file is removed: no file is staged at its path.
    pub(crate) is_removed: bool,
    /// The other drafts of the call.
    pub(crate) overlays: DraftOverlays<'a>,
    /// Those of the other drafts that the same run checks.
    pub(crate) batched: DraftOverlays<'a>,
    /// The lowest isolation level that the policy accepts.
    pub(crate) isolation: Isolation,
    /// The highest isolation level to use.
    pub(crate) ceiling: Ceiling,
    /// The folder of lockgate in which programs may cache data about this root; created on first use.
    pub(crate) cache: Option<&'a Path>,
    /// The known versions of programs.
    pub(crate) versions: &'a Versions,
}

/// The bytes that a program gets. A formatter reads and writes the view, so that the file keeps its encoding
/// and line ends.
pub(super) fn input_bytes<'a>(command: &CommandSpec, text: &'a Buffer) -> &'a [u8] {
    if is_formatter(command) { text.view().as_bytes() } else { text.bytes() }
}

/// Returns true if the program prints the formatted text.
pub(super) fn is_formatter(command: &CommandSpec) -> bool {
    matches!(command.output.form, OutputForm::Formatted { .. })
}

/// Returns true if the command's arguments have one of these placeholders.
pub(super) fn has_any(command: &CommandSpec, holes: &[Hole]) -> bool {
    command.words.iter().any(|word| holes.iter().any(|hole| word.has(*hole)))
}
