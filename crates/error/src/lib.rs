//! The rejections of lockgate, in one table: why a call was not carried out, and what to do next.
//!
//! An [`Error`] has a stable [`Code`], a message with the offending value first, and evidence: the field, the places,
//! the nearest text, the call that would work. It is what every crate from `lockgate-text` to `lockgate-engine` returns.
//! Unless an error says otherwise, nothing was written.
//!
//! The crate only carries errors. It renders none, and it knows no tool, no file and no database. A fault in the user's
//! code is no error but a finding of a gate.
//!
//! ```
//! use lockgate_error::{Code, Error};
//!
//! let error = Error::new(Code::MatchNotFound, "no match in a.py").field("search").hint("read the file again");
//! assert_eq!((error.code.name(), error.next_step()), ("NO_MATCH", "read the file again"));
//! ```

mod evidence;
mod family;

use std::num::NonZeroU32;

pub use evidence::{
    Best, Confirmation, CorrectedEdit, Difference, EvidenceLine, FieldValue, NextCall, Score, Since,
};
pub use family::ErrorFamily;

/// Declares the codes: variant, name on the wire, family, meaning and remedy.
macro_rules! codes {
    ($($variant:ident $name:literal $family:ident $meaning:literal $remedy:literal;)*) => {
        /// The stable code of an error.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code { $(#[doc = $meaning] $variant,)* }

        impl Code {
            /// Every code, in the order of the documentation.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// The code as it appears on the wire.
            pub const fn name(self) -> &'static str {
                match self { $(Code::$variant => $name,)* }
            }

            /// The family that the code belongs to.
            pub const fn family(self) -> ErrorFamily {
                match self { $(Code::$variant => ErrorFamily::$family,)* }
            }

            /// The meaning of the code, in one sentence.
            pub const fn meaning(self) -> &'static str {
                match self { $(Code::$variant => $meaning,)* }
            }

            /// The next step for the caller.
            pub const fn remedy(self) -> &'static str {
                match self { $(Code::$variant => $remedy,)* }
            }
        }
    };
}

codes! {
    InvalidInput "INVALID_INPUT" Request
        "A parameter is missing, unknown, of the wrong type, or not what the policy asks for."
        "correct the field that the message names";
    ModeMissing "MODE_MISSING" Request
        "No edit mode was given."
        "give exactly one of content, line_edits, insert_lines, search with replace";
    ModeConflict "MODE_CONFLICT" Request
        "More than one edit mode was given."
        "keep one of content, line_edits, insert_lines, search with replace";
    RangeOutOfBounds "RANGE_OUT_OF_BOUNDS" Request
        "A line number lies outside the file."
        "read the file again and use its line numbers";
    RangeOverlap "RANGE_OVERLAP" Request
        "Two line ranges of one call overlap."
        "merge the overlapping ranges into one";
    BadPattern "BAD_PATTERN" Request
        "The pattern, its flags or its replacement template is not valid, or is not supported."
        "correct the pattern; Python's `re` syntax is expected";
    RegexBudget "REGEX_BUDGET" Request
        "The pattern needs more steps on this file than one call may take."
        "narrow the lines to look at, or write the pattern without nested repetition";
    CodeBlockRequired "CODE_BLOCK_REQUIRED" Request
        "An instruction came without code, and the client's model wrote no usable code."
        "send the call again with the code as `code_block`";
    FileNotFound "FILE_NOT_FOUND" Target
        "There is no file at this path, or no such entity, app or organisation within reach."
        "correct the path, or create the file by sending its text as `content`";
    FileExists "FILE_EXISTS" Target
        "The file to be created already exists."
        "edit it, or replace it by sending its text as `content`";
    NotAFile "NOT_A_FILE" Target
        "The path names a directory, a device or something else that holds no text."
        "name a regular file";
    NotText "NOT_TEXT" Target
        "The file is not text in an encoding that can be kept."
        "leave the file to a tool that knows its format";
    NotEncodable "NOT_ENCODABLE" Target
        "The new text holds a character that the file's encoding cannot hold."
        "write the text without that character, or convert the file first";
    TooLarge "TOO_LARGE" Target
        "The file, or the text to be written, is larger than the limit."
        "split the file, or raise `limits.file` in the policy";
    PathOutsideRoot "PATH_OUTSIDE_ROOT" Access
        "The path is outside every root."
        "use a path inside a root";
    Protected "PROTECTED" Access
        "A rule forbids this path, whatever its spelling."
        "leave the file alone; a person can edit it without lockgate";
    NotConfirmed "NOT_CONFIRMED" Access
        "The policy requires a person to confirm such a write (`confirm`, `runnable`), and nobody did."
        "leave the file alone, or have a person make the edit with `lockgate edit` in a terminal";
    PermissionDenied "PERMISSION_DENIED" Access
        "The operating system, or the file's own mode, forbids writing it."
        "ask the file's owner to allow it";
    MatchNotFound "NO_MATCH" Match
        "The text to be replaced does not occur in the file."
        "read the file again and quote what is there";
    AmbiguousMatch "AMBIGUOUS_MATCH" Match
        "The text to be replaced occurs in more than one place, and nothing selects one of them."
        "quote more of the surrounding lines, or narrow the search";
    MatchCount "MATCH_COUNT" Match
        "The search text occurs another number of times than `expect_matches` says."
        "give the number of matches that you expect, or narrow the search";
    AlreadyApplied "ALREADY_APPLIED" Match
        "The replacement is already where the text to be replaced would have been."
        "if that is your edit, nothing is left to do; a second copy needs expected_version";
    GateRefused "GATE_REFUSED" Gate
        "The edit would add a finding that the policy blocks."
        "fix the findings in the edit and send it again";
    EntityMismatch "ENTITY_MISMATCH" Gate
        "The content does not match its `entity_type`, or that cannot be checked."
        "give the entity_type that the message names, if it names one, or correct the content";
    LockTimeout "LOCK_TIMEOUT" Conflict
        "Another edit kept this file or entity locked for longer than the wait limit."
        "send the request again";
    EditConflict "EDIT_CONFLICT" Conflict
        "The file or entity is not in the state that the caller expects."
        "read it again and build the edit on the current text";
    PolicyInvalid "POLICY_INVALID" Policy
        "The policy file for this path is invalid, so lockgate writes nothing that it covers."
        "a person corrects the policy file";
    NoSpace "NO_SPACE" System
        "The disk is full, a quota is used up, or the file would be larger than this process may write."
        "free some space and send the request again";
    StoreUnavailable "STORE_UNAVAILABLE" System
        "The journal, which records every edit first, a lock file, or the database of the entity is not usable."
        "look at the message; a person can repair the journal's folder or move it away";
    IoFailed "IO_FAILED" System
        "The operating system failed to read or write."
        "look at the message, then send the request again";
    Internal "INTERNAL" System
        "lockgate itself failed."
        "report it";
}

/// The most other wrong edits of a call that a hint names, and the most characters of the line of each.
const MAX_OTHERS: usize = 5;
const MAX_OTHER_CHARS: usize = 100;

/// The state of the target on disk after an error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Disk {
    /// The call has not written anything.
    #[default]
    Untouched,
    /// It is not known whether the edit was written.
    Unknown,
}

/// An error that ended a call; nothing was written, unless `disk` is [`Disk::Unknown`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// The stable code of the error.
    pub code: Code,
    /// The message, in lower case and without a full stop.
    pub message: String,
    /// The next step; the remedy of the code if absent.
    pub hint: Option<Box<str>>,
    /// The path of the invalid field of the request, as in `line_edits[2].end_line`. If the call has several edits, the
    /// path starts within the edit.
    pub field: Option<Box<str>>,
    /// The index of the edit in the call's list `edits`, if the error concerns one of several.
    pub entry: Option<u32>,
    /// Set when the message names the path of the field.
    names_field: bool,
    /// Set when the message names the file or entity.
    names_target: bool,
    /// Places in the file that the error is about; only the first of many.
    pub places: Box<[EvidenceLine]>,
    /// The number of all places, if not all are listed.
    count: Option<PlaceCount>,
    /// The lines most similar to a search text that was not found.
    pub best: Option<Box<Best>>,
    /// The changes to the file since the version that the caller knows.
    pub since: Option<Box<Since>>,
    /// The question whose confirmation by a person lets the same call succeed.
    pub question: Option<Box<Confirmation>>,
    /// The call that lockgate proposes as the next step.
    pub next: Option<Box<NextCall>>,
    /// The state of the target on disk.
    pub disk: Disk,
}

/// The number of the places that an error is about. It is compact, because every call returns a `Result` with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PlaceCount(NonZeroU32);

impl PlaceCount {
    /// The bit that is set if there may be more places.
    const MORE: u32 = 1 << 31;
    /// The bit that is set if the same edit can be made at every place.
    const EVERY: u32 = 1 << 30;

    fn new(places: usize, is_complete: bool) -> Option<PlaceCount> {
        let known = u32::try_from(places).unwrap_or(u32::MAX).min(PlaceCount::EVERY - 1);
        NonZeroU32::new(if is_complete { known } else { known | PlaceCount::MORE }).map(PlaceCount)
    }

    fn known(self) -> u32 {
        self.0.get() & !(PlaceCount::MORE | PlaceCount::EVERY)
    }

    fn is_complete(self) -> bool {
        self.0.get() & PlaceCount::MORE == 0
    }
}

impl Error {
    /// Creates an error with a code and a message.
    pub fn new(code: Code, message: impl Into<String>) -> Error {
        Error {
            code,
            message: message.into(),
            hint: None,
            field: None,
            entry: None,
            names_field: false,
            names_target: false,
            places: Box::default(),
            count: None,
            best: None,
            since: None,
            question: None,
            next: None,
            disk: Disk::Untouched,
        }
    }

    /// Sets the hint: the next step for the caller.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Error {
        self.hint = Some(hint.into().into_boxed_str());
        self
    }

    /// Sets the invalid field of the request. A frontend adds its name to the message.
    #[must_use]
    pub fn field(mut self, field: impl Into<String>) -> Error {
        self.rename_field(field);
        self
    }

    /// Sets the invalid field of the request, which the message names.
    #[must_use]
    pub fn named_field(mut self, field: impl Into<String>) -> Error {
        let field = field.into();
        debug_assert!(self.message.contains(&field), "{field}: {}", self.message);
        self.rename_field(field);
        self.names_field = true;
        self
    }

    /// Marks the message as one that names the target, as `name`.
    #[must_use]
    pub fn naming_target(mut self, name: &str) -> Error {
        debug_assert!(self.message.contains(name), "{name}: {}", self.message);
        self.names_target = true;
        self
    }

    /// True if the message names the file or entity. A frontend adds the name otherwise, if a call has several.
    pub const fn names_target(&self) -> bool {
        self.names_target
    }

    /// Sets the invalid field to another name, which the message does not have.
    pub fn rename_field(&mut self, field: impl Into<String>) {
        self.field = Some(field.into().into_boxed_str());
        self.names_field = false;
    }

    /// Sets the index of the edit in the call's list `edits`.
    #[must_use]
    pub fn with_entry(mut self, index: usize) -> Error {
        self.entry = u32::try_from(index).ok();
        self.names_field = false;
        self
    }

    /// Sets the index of the edit in the call's list `edits`, and adds it to the message. It is not added to that of an
    /// invalid request with a field: a frontend adds the path of the field there, which begins with the index.
    #[must_use]
    pub fn with_named_entry(self, index: usize) -> Error {
        let mut error = self.with_entry(index);
        error.names_field = error.field.is_none();
        if error.names_field || error.code.family() != ErrorFamily::Request {
            error.message = format!("edits[{index}]: {}", error.message);
        }
        error
    }

    /// Sets the index of the second of two edits that do not fit together, and adds both indices to the message.
    #[must_use]
    pub fn with_named_entries(self, [first, second]: [usize; 2]) -> Error {
        let mut error = self.with_entry(second);
        error.message = format!("edits[{first}] and edits[{second}]: {}", error.message);
        error.names_field = error.field.is_none();
        error
    }

    /// Marks the counted places as matches that can all be edited by one call.
    #[must_use]
    pub fn allowing_every_match(mut self) -> Error {
        self.count = self.count.map(|PlaceCount(count)| PlaceCount(count | PlaceCount::EVERY));
        self
    }

    /// True if all matches of the search can be edited by one call.
    pub fn allows_every_match(&self) -> bool {
        self.count.is_some_and(|PlaceCount(count)| count.get() & PlaceCount::EVERY != 0)
    }

    /// True if the message names the path of the invalid field.
    pub const fn names_field(&self) -> bool {
        self.names_field
    }

    /// Returns the index of the edit in the call's list `edits`.
    pub fn entry_index(&self) -> Option<usize> {
        self.entry.and_then(|entry| usize::try_from(entry).ok())
    }

    /// Returns the path of the invalid field from the call's arguments, as in `edits[2].search`.
    pub fn field_path(&self) -> Option<String> {
        match (self.entry, &self.field) {
            (None, field) => field.as_deref().map(str::to_owned),
            (Some(entry), None) => Some(format!("edits[{entry}]")),
            (Some(entry), Some(field)) => Some(format!("edits[{entry}].{field}")),
        }
    }

    /// Sets the places in the file that the error is about.
    #[must_use]
    pub fn places(mut self, places: Vec<EvidenceLine>) -> Error {
        self.places = places.into();
        self
    }

    /// Sets the number of all places, some of which may be listed.
    #[must_use]
    pub fn with_place_count(mut self, places: usize) -> Error {
        self.count = PlaceCount::new(places, true);
        self
    }

    /// Sets the number of the known places, beside which there may be more.
    #[must_use]
    pub fn with_least_place_count(mut self, places: usize) -> Error {
        self.count = PlaceCount::new(places, false);
        self
    }

    /// Returns the number of places, listed or not.
    pub fn place_count(&self) -> usize {
        let counted = self.count.and_then(|count| usize::try_from(count.known()).ok());
        counted.unwrap_or(self.places.len())
    }

    /// Returns the number of places for a message, as in `12` or `at least 100000`.
    pub fn place_count_text(&self) -> String {
        let at_least = if self.count.is_none_or(PlaceCount::is_complete) { "" } else { "at least " };
        format!("{at_least}{}", self.place_count())
    }

    /// Sets the lines most similar to the search text.
    #[must_use]
    pub fn best(mut self, best: Best) -> Error {
        self.best = Some(Box::new(best));
        self
    }

    /// Sets the changes to the file since a version.
    #[must_use]
    pub fn since(mut self, since: Since) -> Error {
        self.since = Some(Box::new(since));
        self
    }

    /// Sets the question for a person.
    #[must_use]
    pub fn with_question(mut self, question: Confirmation) -> Error {
        self.question = Some(Box::new(question));
        self
    }

    /// Sets the proposed next call.
    #[must_use]
    pub fn with_next(mut self, next: NextCall) -> Error {
        self.next = Some(Box::new(next));
        self
    }

    /// Sets the proposed next call, if there is one.
    #[must_use]
    pub fn with_next_if(self, next: Option<NextCall>) -> Error {
        match next {
            Some(next) => self.with_next(next),
            None => self,
        }
    }

    /// Marks the state on disk as unknown: the edit may have been written.
    #[must_use]
    pub fn with_unknown_disk(mut self) -> Error {
        self.disk = Disk::Unknown;
        self
    }

    /// Returns the hint for the caller: the error's own, or the remedy of its code.
    pub fn next_step(&self) -> &str {
        self.hint.as_deref().unwrap_or_else(|| self.code.remedy())
    }

    /// Adds other wrong edits of the call to the hint, each with the line that differs from its quote, so that one more call
    /// can correct all of them.
    #[must_use]
    pub fn with_others(self, others: impl Iterator<Item = Error>) -> Error {
        let mut others = others.peekable();
        if others.peek().is_none() {
            return self;
        }
        let mut hint = self.next_step().to_owned();
        for other in others.by_ref().take(MAX_OTHERS) {
            let name =
                other.entry_index().map_or_else(|| "another edit".to_owned(), |at| format!("edits[{at}]"));
            hint.push_str(&format!("; {name} is wrong, too"));
            if let Some((line, text)) = other.best.as_ref().and_then(|best| best.first_different_line()) {
                let text: String = text.trim().chars().take(MAX_OTHER_CHARS).collect();
                hint.push_str(&format!(" (line {line} is `{text}`)"));
            }
        }
        if others.peek().is_some() {
            hint.push_str("; and more");
        }
        self.hint(hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_places_that_is_not_complete_says_so() {
        let error = || Error::new(Code::AmbiguousMatch, "m");
        let counted = [error(), error().with_place_count(12), error().with_least_place_count(12)];
        assert_eq!(counted.map(|error| error.place_count_text()), ["0", "12", "at least 12"]);
        assert_eq!(error().with_least_place_count(12).place_count(), 12);
    }

    #[test]
    fn a_message_names_its_field_until_the_path_changes() {
        let error = || Error::new(Code::InvalidInput, "`search` is missing");
        let named = error().named_field("search");
        assert!(named.names_field() && !error().field("search").names_field());
        let mut renamed = named.clone();
        renamed.rename_field("old_string");
        assert!(!renamed.names_field());
        let entry = named.with_entry(2);
        assert_eq!((entry.field_path().as_deref(), entry.names_field()), (Some("edits[2].search"), false));
        let joined = error().with_named_entry(2);
        assert_eq!(joined.message, "edits[2]: `search` is missing");
        assert_eq!((joined.field_path().as_deref(), joined.names_field()), (Some("edits[2]"), true));
        let joined = error().field("search").with_named_entry(2);
        assert_eq!((&*joined.message, joined.names_field()), ("`search` is missing", false));
        let joined = Error::new(Code::MatchNotFound, "m").field("search").with_named_entry(2);
        assert_eq!(joined.message, "edits[2]: m");
    }
}
