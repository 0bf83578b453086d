//! Requests: one edit of one target, converted from the optional fields of the wire to strict types.
//!
//! Invariant: a [`Request`] has exactly one edit mode, and all checks that need no file have passed.
#![deny(clippy::disallowed_methods)]

mod author;
mod block;
mod entity;
mod fields;
mod instruction;
mod target;
mod undo;

pub use author::{AuthorName, ClientName};
pub use block::{BlockFields, ToleranceFields};
pub use entity::EntityFields;
pub use fields::{Fields, FlagsValue, InsertFields, LineEditFields, WindowFields, parse_line};
pub use instruction::{EditType, InsertPoint, Instruction, InstructionFields, ParsedInstruction};
pub use target::{Entity, EntityKind, SearchScope, Target, with_article};
pub use undo::{Direction, HistoryRequest, UndoRequest, Whose};

use crate::modes::Edit;

/// One edit of one target, as the engine takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The file or entity to edit.
    pub target: Target,
    /// The edit, in exactly one of the four modes.
    pub edit: Edit,
    /// The treatment of the result and of findings.
    pub mode: Mode,
    /// The caller's expectation of the target.
    pub expect: Expect,
    /// The options for the gates, in addition to the policy.
    pub gate_options: GateOptions,
    /// The permissions of the file, if the edit creates it.
    pub permissions: FilePermissions,
    /// The author of the edit.
    pub author: Author,
    /// Set when the tool of a host writes the result, and not lockgate.
    pub is_written_by_host: bool,
}

impl Request {
    /// Returns the request of an edit of the target as it is, with the default mode and without an author.
    pub fn new(target: Target, edit: Edit) -> Request {
        Request {
            target,
            edit,
            mode: Mode::default(),
            expect: Expect::default(),
            gate_options: GateOptions::default(),
            permissions: FilePermissions::default(),
            author: Author::default(),
            is_written_by_host: false,
        }
    }
}

/// The permissions of a file that an edit creates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum FilePermissions {
    /// Those of any new file.
    #[default]
    Usual,
    /// Everyone may execute it: 0755.
    Executable,
    /// These permission bits, which the file had under another name.
    Bits(u32),
}

impl FilePermissions {
    /// Returns the permission bits; `None` for the usual ones.
    pub const fn bits(self) -> Option<u32> {
        match self {
            FilePermissions::Usual => None,
            FilePermissions::Executable => Some(0o755),
            FilePermissions::Bits(bits) => Some(bits),
        }
    }
}

/// Options of a request for the gates, in addition to the policy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct GateOptions {
    /// One of the policy's `validate_commands`, its words separated by blanks, which must succeed on the
    /// draft.
    pub validate: Option<String>,
    /// Set when the edit may be one step of several: gates that fix imports run, and gates that build only
    /// warn.
    pub step: bool,
}

/// The author of an edit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Author {
    /// The tool or command that was called.
    pub tool: String,
    /// The name of the caller, as it gives it.
    pub name: String,
    /// The id of the write that a person confirmed; absent without a confirmation.
    pub confirmation_id: Option<String>,
}

/// The caller's expectation of the target before the edit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum Expect {
    /// No precondition: any state of the target is accepted.
    #[default]
    Anything,
    /// The file does not exist yet; otherwise the request fails with `FILE_EXISTS`.
    Absent,
    /// The file has this version (12 or more hex digits of its hash); any other fails with `EDIT_CONFLICT`.
    Version(String),
}

/// The treatment of the result and of findings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Writes only without new blocking findings.
    #[default]
    Strict,
    /// Writes whenever the edit can be built; findings become warnings.
    Interactive,
    /// Never writes; rejects exactly where `strict` would.
    VerifyOnly,
}

impl Mode {
    /// Every mode, in the order of the documentation.
    pub const ALL: [Mode; 3] = [Mode::Strict, Mode::Interactive, Mode::VerifyOnly];

    /// The mode's name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Mode::Strict => "strict",
            Mode::Interactive => "interactive",
            Mode::VerifyOnly => "verify_only",
        }
    }

    /// Returns the mode with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Mode> {
        Mode::ALL.into_iter().find(|mode| mode.name() == name)
    }
}
