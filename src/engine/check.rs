//! The current text of a target, and its draft.

use super::base::rebase_plan;
use super::call::ResolvedTarget;
use super::services::Services;
use crate::edit::{self, EditLimits, PlanContext, PlannedEdit};
use crate::error::{Code, Error};
use crate::policy::Policy;
use crate::request::{self, Expect, Mode, Request};
use crate::store::{DocumentPath, Entry, Snapshot};
use crate::text::{Buffer, LineMap, Plan, bytes_outside_unchanged};

/// The target as it was read under the lock.
pub struct CurrentText {
    /// The text; empty if there is no file.
    pub buffer: Buffer,
    /// The snapshot that the text was read from; `None` if there is no file.
    pub snapshot: Option<Snapshot>,
}

/// The draft of a target; only the edited spans differ, which was verified.
pub struct Drafted {
    /// The text of the draft.
    pub buffer: Buffer,
    /// The map from the old lines to the new ones.
    pub map: LineMap,
    /// Set when publishing the draft would change the content on disk.
    pub is_changed: bool,
    /// The splices from the old text to the draft, if gates fixed the planned text.
    pub fix_plan: Option<Plan>,
}

impl CurrentText {
    /// Checks the target against the request's expectation; `base` checks the version.
    ///
    /// Errors: `FILE_NOT_FOUND`, `FILE_EXISTS`, `EDIT_CONFLICT`.
    pub fn check(&self, request: &Request) -> Result<(), Error> {
        let (noun, shown) = (request.target.noun(), request.target.display_path());
        if let (None, Some(purpose)) = (&self.snapshot, request.edit.needs_file_to()) {
            let message = format!("cannot {purpose} non-existent {noun}: {shown}");
            let error = Error::new(Code::FileNotFound, message).field("path");
            return Err(match (&request.edit, &request.target) {
                (edit::Edit::Remove, _) => error.hint("correct the path"),
                (_, request::Target::Entity(_)) => {
                    error.hint("correct the path, or create it with replace_content")
                }
                (_, request::Target::File(_)) => error,
            });
        }
        match (&request.expect, &self.snapshot) {
            (Expect::Absent, Some(_)) => {
                Err(Error::new(Code::FileExists, format!("{noun} already exists: {shown}")).field("path"))
            }
            (Expect::Version(version), None) => Err(Error::new(
                Code::EditConflict,
                format!("version {version} was expected, but there is no {noun}: {shown}"),
            )
            .field("expected_version")),
            (Expect::Anything | Expect::Absent | Expect::Version(_), _) => Ok(()),
        }
    }
}

impl CurrentText {
    /// Returns the text before, if there was a file, and closes that file on another thread. The kernel frees
    /// the blocks of a replaced file on close, and the caller need not wait for that.
    pub fn release_commands(self) -> Option<Buffer> {
        let CurrentText { buffer, snapshot } = self;
        if let Some(Snapshot::File(file)) = snapshot {
            tokio::task::spawn_blocking(move || drop(file));
            return Some(buffer);
        }
        snapshot.map(|_| buffer)
    }
}

impl Drafted {
    /// Applies a plan and verifies that the bytes outside its spans are the same.
    ///
    /// Errors: `TOO_LARGE` for a result over the policy's limit, `NOT_ENCODABLE` for one that would be read
    /// in another encoding than it was written in, `INTERNAL` should the verification fail.
    pub(super) fn new(
        current: &CurrentText,
        planned: &PlannedEdit,
        rules: &Policy,
    ) -> Result<Drafted, Error> {
        let becomes = match &planned.new_buffer {
            Some(becomes) => becomes.read_other(becomes.bytes().to_vec())?,
            None => current.buffer.apply(&planned.plan)?,
        };
        Drafted::from_plan(current, &planned.plan, becomes, rules)
    }

    fn from_plan(
        current: &CurrentText,
        plan: &Plan,
        buffer: Buffer,
        rules: &Policy,
    ) -> Result<Drafted, Error> {
        let (size, limit) = (buffer.bytes().len() as u64, rules.limits.file);
        if size > limit {
            return Err(Error::new(
                Code::TooLarge,
                format!("the result is too large: {size} bytes, limit {limit} bytes"),
            ));
        }
        if !buffer.reads_back() {
            let message = format!("the result could no longer be decoded as {}", buffer.encoding());
            return Err(Error::new(Code::NotEncodable, message).hint("convert the file to UTF-8 first"));
        }
        if !bytes_outside_unchanged(current.buffer.bytes(), buffer.bytes(), plan) {
            return Err(Error::new(Code::Internal, "the edit would change bytes outside of its spans"));
        }
        let map = plan.line_map(&current.buffer, &buffer);
        let differs = current.snapshot.is_none() || current.buffer.bytes() != buffer.bytes();
        Ok(Drafted { buffer, map, is_changed: differs, fix_plan: None })
    }

    /// Builds the draft from the text that gates fixed.
    ///
    /// Errors: those of [`Drafted::new`].
    pub(super) fn from_fixed(current: &CurrentText, text: &Buffer, rules: &Policy) -> Result<Drafted, Error> {
        let plan = current.buffer.plan_to(text)?;
        let drafted = Drafted::from_plan(current, &plan, current.buffer.apply(&plan)?, rules)?;
        if drafted.buffer.version() != text.version() {
            return Err(Error::new(Code::Internal, "the fixed text could not be planned"));
        }
        Ok(Drafted { fix_plan: Some(plan), ..drafted })
    }
}

impl Services {
    /// Reads the target; the text is empty if there is none.
    pub(super) fn read(&self, place: &DocumentPath, rules: &Policy) -> Result<CurrentText, Error> {
        self.decode(place, self.store.read(place, rules.limits.file)?)
    }

    /// Reads the target and its last journal entry.
    pub(super) fn read_with_last_entry(
        &self,
        place: &DocumentPath,
        rules: &Policy,
    ) -> Result<(CurrentText, Option<Entry>), Error> {
        let (snapshot, last) = self.store.read_and_last(place, rules.limits.file)?;
        Ok((self.decode(place, snapshot)?, last))
    }

    fn decode(&self, place: &DocumentPath, mut snapshot: Option<Snapshot>) -> Result<CurrentText, Error> {
        let bytes = snapshot.as_mut().map(Snapshot::take_bytes).unwrap_or_default();
        Ok(CurrentText { buffer: Buffer::read(bytes, self.store.hints(place))?, snapshot })
    }

    /// Plans the edit. In `interactive`, a search without a match changes nothing and gives a warning.
    pub(super) fn plan(
        &self,
        request: &Request,
        target: &ResolvedTarget,
        current: &CurrentText,
        base: Option<&Buffer>,
    ) -> Result<PlannedEdit, Error> {
        let Some(base) = base else { return plan_on(&current.buffer, request, target) };
        let rebased = rebase_plan(plan_on(base, request, target)?, base, target, current);
        match (rebased, request.mode, &request.expect) {
            // A caller who names no version and wants the write in any case means the lines by number.
            (Err(error), Mode::Interactive, Expect::Anything) if error.code == Code::EditConflict => {
                let mut planned = plan_on(&current.buffer, request, target)?;
                planned.warnings.push(format!("{}; the edit was still applied there", error.message));
                Ok(planned)
            }
            (rebased, ..) => rebased,
        }
    }
}

/// Plans an edit for one text.
fn plan_on(buffer: &Buffer, request: &Request, target: &ResolvedTarget) -> Result<PlannedEdit, Error> {
    let ResolvedTarget { place, rules, .. } = target;
    let language = target.language(buffer.view());
    let bounds = EditLimits { bytes: rules.limits.file, steps: rules.limits.regex_steps };
    let language = language.map(|language| language.name.as_str());
    let context = PlanContext { path: place.in_root(), language, limits: bounds };
    edit::plan(&request.edit, buffer, context).or_else(|error| match (request.mode, error.code) {
        (Mode::Interactive, Code::MatchNotFound) => PlannedEdit::no_match(buffer, error.message),
        (Mode::Strict | Mode::Interactive | Mode::VerifyOnly, _) => Err(error),
    })
}

/// The error of a call that its caller cancelled.
pub(super) fn cancelled() -> Error {
    Error::new(Code::Internal, "the caller cancelled the request")
        .hint("send the request again if you still need it")
}
