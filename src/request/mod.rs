//! What is asked: one edit of one target, raised from the many optional fields of the wire to types that leave no
//! doubt.
//!
//! Invariant: a [`Request`] has exactly one edit mode, and every check that needs no file has been made.
#![deny(clippy::disallowed_methods)]

mod block;
mod entity;
mod fields;
mod instruction;
mod read;
mod revert;
mod target;

pub use block::{BlockFields, LikenessFields};
pub use entity::EntityFields;
pub use fields::{Fields, Flagged, InsertFields, LineEditFields, WindowFields};
pub use instruction::{EditType, InsertPoint, Instructed, Instruction, InstructionFields};
pub use read::{
    ContextFields, ContextLook, LineFields, LineLook, ListFields, ListLook, ReadRequest, SearchFields,
    SearchLook,
};
pub use revert::{Direction, History, Revert};
pub use target::{Entity, EntityKind, SearchScope, Target};

use crate::edit::Edit;

/// One edit of one target, as the engine takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// What is to be edited.
    pub target: Target,
    /// The edit, in exactly one of the four modes.
    pub edit: Edit,
    /// What happens to the result and to the findings of the gates.
    pub mode: Mode,
    /// What the caller believes of the target.
    pub expect: Expect,
    /// What is asked of the gates beside what the policy says.
    pub scrutiny: GateOptions,
    /// Who asks.
    pub author: Author,
}

/// What a request asks of the gates beside what the policy says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct GateOptions {
    /// One of the policy's `validate_commands`, its words with blanks between, which must succeed on the draft.
    pub validate: Option<String>,
    /// Whether the edit may be one step of several: gates that mend imports do so, and those that build only warn.
    pub step: bool,
}

/// Who asks for an edit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Author {
    /// The tool or command that was called.
    pub tool: String,
    /// Who called it, as they name themselves.
    pub name: String,
    /// The write that a person agreed to, by the name that the question had; absent where nobody was asked.
    pub agreed: Option<String>,
}

/// What the caller believes of the target before the edit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum Expect {
    /// Nothing is said.
    #[default]
    Anything,
    /// No file stands there yet; one that does is refused with `FILE_EXISTS`.
    Absent,
    /// The file has this version (12 or more hex digits of its stamp); any other is refused with `EDIT_CONFLICT`.
    Version(String),
}

/// What happens to the result and to the findings of the gates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Writes only when no blocking finding is new.
    #[default]
    Strict,
    /// Writes once the edit could be built; findings become warnings.
    Interactive,
    /// Never writes; refuses exactly where `strict` would.
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

    /// The mode of that name, if there is one.
    pub fn named(name: &str) -> Option<Mode> {
        Mode::ALL.into_iter().find(|mode| mode.name() == name)
    }
}
