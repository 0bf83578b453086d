//! Plans an edit: turns the edit mode into splices, and applies them to a draft.

use std::sync::Arc;

use super::batch::Batch;
use super::decide::{Decision, decide};
use super::load::CurrentText;
use super::rebase;
use super::resolve::ResolvedTarget;
use lockgate_checks::Verdict;
use lockgate_edit::request::{Expect, FilePermissions, Mode, Request};
use lockgate_edit::{self as edit, Edit, EditLimits, PlanContext, PlannedEdit};
use lockgate_error::{Code, Error, NextCall};
use lockgate_policy::Policy;
use lockgate_syntax as grammar;
use lockgate_text::{Buffer, LineMap, Plan, bytes_outside_unchanged};

/// One file of a call in the pipeline.
pub(super) struct FileDraft<'a> {
    pub(super) request: &'a Request,
    pub(super) target: &'a ResolvedTarget,
    pub(super) current: CurrentText,
    /// The text that the caller refers to, if it is not the current one.
    pub(super) base: Option<Arc<Buffer>>,
    pub(super) planned: PlannedEdit,
    pub(super) drafted: Drafted,
    pub(super) verdict: Verdict,
    /// Set when the draft is written although a gate would reject it in `strict`.
    pub(super) is_overridden: bool,
}

/// The draft of a target; only the edited spans differ, which was verified.
pub(super) struct Drafted {
    /// The text of the draft.
    pub(super) buffer: Arc<Buffer>,
    /// The map from the old lines to the new ones.
    pub(super) map: LineMap,
    /// Set when publishing the draft would change the content on disk.
    pub(super) is_changed: bool,
    /// The splices from the old text to the draft, if gates fixed the planned text.
    pub(super) fix_plan: Option<Plan>,
}

impl FileDraft<'_> {
    pub(super) fn decision(&self) -> Decision {
        decide(self.request.mode, &self.verdict)
    }
}

/// Plans a request on the text that it refers to, rebases the plan onto the current text, and applies it.
///
/// Errors: those of the edit mode, `EDIT_CONFLICT` where the edit overlaps a later change, and those of
/// [`Drafted::new`].
pub(super) fn plan<'a>(
    batch: &Batch,
    request: &'a Request,
    target: &'a ResolvedTarget,
    current: CurrentText,
    base: Option<Arc<Buffer>>,
) -> Result<FileDraft<'a>, Error> {
    let mut planned = plan_and_rebase(batch, request, target, &current, base.as_deref())?;
    if request.permissions == FilePermissions::Executable && current.snapshot.is_some() {
        planned.notes.push("the permissions of the file stay: `executable` is for new files".to_owned());
    }
    let mut drafted = Drafted::new(&current, &planned, &target.rules)?;
    // An empty file differs from no file.
    drafted.is_changed |= request.edit == Edit::Remove;
    Ok(FileDraft {
        request,
        target,
        current,
        base,
        planned,
        drafted,
        verdict: Verdict::default(),
        is_overridden: false,
    })
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
        let differs = current.text().map(Buffer::version) != Some(buffer.version());
        Ok(Drafted { buffer: Arc::new(buffer), map, is_changed: differs, fix_plan: None })
    }

    /// Builds the draft from the text that gates fixed.
    ///
    /// Errors: those of [`Drafted::new`].
    pub(super) fn from_fixed(current: &CurrentText, text: &Buffer, rules: &Policy) -> Result<Drafted, Error> {
        let plan = current.buffer.plan_to(text)?;
        let planned = current.buffer.apply(&plan)?;
        if planned.version() != text.version() {
            return Err(Error::new(Code::Internal, "the fixed text could not be planned"));
        }
        // The byte order mark of a new file is no part of its text.
        let buffer =
            if planned.has_same_encoding(text) { planned } else { text.read_other(text.bytes().to_vec())? };
        let drafted = Drafted::from_plan(current, &plan, buffer, rules)?;
        Ok(Drafted { fix_plan: Some(plan), ..drafted })
    }
}

/// Plans the edit, rebased if there is a base. In `interactive` without a version, an edit that conflicts is
/// applied to the current text by its line numbers, with a warning.
fn plan_and_rebase(
    batch: &Batch,
    request: &Request,
    target: &ResolvedTarget,
    current: &CurrentText,
    base: Option<&Buffer>,
) -> Result<PlannedEdit, Error> {
    let Some(base) = base else { return plan_on(&current.buffer, batch, request, target) };
    let planned =
        plan_on(base, batch, request, target).map_err(|error| about_base(error, base, target, current))?;
    let rebased = rebase::rebase(planned, base, target, current);
    match (rebased, request.mode, &request.expect) {
        // A caller who names no version and wants the write in any case means the lines by number.
        (Err(error), Mode::Interactive, Expect::Anything) if error.code == Code::EditConflict => {
            let mut planned = plan_on(&current.buffer, batch, request, target)?;
            planned.warnings.push(format!("{}; the edit was still applied there", error.message));
            Ok(planned)
        }
        (rebased, ..) => rebased,
    }
}

/// Says that an error is about another version than the current one, so that its lines and texts may not be there. The hint
/// says it, because some frontends have messages of their own.
fn about_base(mut error: Error, base: &Buffer, target: &ResolvedTarget, current: &CurrentText) -> Error {
    let version = base.version();
    if version == current.buffer.version() {
        return error;
    }
    let about = format!("this is about version {version}, and the {} has changed since", target.place.noun());
    if error.code == Code::MatchNotFound {
        // Its hint and the nearest lines would show the text of that version as the actual one.
        (error.best, error.next) = (None, None);
        let next = NextCall::read_around(1, 1, current.buffer.lines().count());
        return error.hint(format!("{about}; read it again")).with_next_if(next);
    }
    let hint = format!("{about}; {}", error.hint.as_deref().unwrap_or(error.code.remedy()));
    // The current text may end before the lines of that version.
    let count = current.buffer.lines().count();
    if let Some(NextCall::Read { start_line, end_line }) = error.next.as_deref() {
        let (start_line, end_line) = (*start_line, (*end_line).min(count));
        let read = NextCall::Read { start_line, end_line };
        let next = if start_line <= end_line { Some(read) } else { NextCall::read_end(count) };
        error.next = next.map(Box::new);
    }
    error.hint(hint)
}

/// Plans an edit for one text. In `interactive`, a search without a match changes nothing and gives a warning, unless the
/// call has other edits: these would be written without it.
fn plan_on(
    buffer: &Buffer,
    batch: &Batch,
    request: &Request,
    target: &ResolvedTarget,
) -> Result<PlannedEdit, Error> {
    let ResolvedTarget { place, rules, .. } = target;
    let context = PlanContext {
        noun: place.noun(),
        path: place.in_root(),
        language: target.language(buffer.view()).map(|language| language.name.as_str()),
        syntax: &grammar::Grammars,
        limits: EditLimits { bytes: rules.limits.file, steps: rules.limits.regex_steps },
    };
    edit::plan(&request.edit, buffer, context).or_else(|error| match (request.mode, error.code) {
        (Mode::Interactive, Code::MatchNotFound) if batch.has_one_edit() => {
            PlannedEdit::no_match(buffer, error.message)
        }
        (Mode::Strict | Mode::Interactive | Mode::VerifyOnly, _) => Err(error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_text::Hints;

    #[test]
    fn a_fixed_new_file_keeps_its_byte_order_mark_out_of_its_text() {
        let current = CurrentText { buffer: Arc::new(Buffer::default()), snapshot: None };
        for bytes in ["\u{feff}a\n", "\u{feff}a\r\nb", "a\n"] {
            let fixed = Buffer::read(bytes.as_bytes().to_vec(), Hints::default()).unwrap();
            let drafted = Drafted::from_fixed(&current, &fixed, &Policy::embedded()).unwrap();
            assert_eq!(drafted.buffer.bytes(), bytes.as_bytes());
            assert_eq!((drafted.buffer.view(), drafted.is_changed), (fixed.view(), true));
            assert!(drafted.buffer.has_same_encoding(&fixed));
        }
    }
}
