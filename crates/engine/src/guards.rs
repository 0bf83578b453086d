//! Checks a request against the policy, apart from the gates: write access to a path, the mode, and the
//! required preconditions.
//!
//! Invariant: the checks use only the request, the policy and the existence of the file.

use super::batch::Batch;
use super::entity::describe;
use super::load::CurrentText;
use super::plan::FileDraft;
use super::resolve::ResolvedTarget;
use super::services::Services;
use lockgate_edit::request::{self, Entity, Expect, Mode, Request};
use lockgate_edit::{Edit, EditPart, MissingExpect};
use lockgate_error::{Code, Error, FieldValue, NextCall};
use lockgate_policy::{Guard, HardLinks, Interactive, Policy, Runnable};
use lockgate_store::{DocumentPath, EntryKind, PlannedFile};
use lockgate_text::Version;

/// Checks a request against the policy of its target, and the target against the request's expectation. The
/// version is checked later, with the text that the request refers to.
///
/// Errors: `PROTECTED` for a path that may only be read, or that starts a program where the policy refuses that;
/// `INVALID_INPUT` for a mode that the policy denies, and for a request without a precondition that the policy
/// requires, or with a misleading new name; `FILE_NOT_FOUND`, `FILE_EXISTS` and `EDIT_CONFLICT` for a target that is not as
/// expected.
pub(super) fn check(
    request: &Request,
    kind: EntryKind,
    target: &ResolvedTarget,
    current: &CurrentText,
) -> Result<(), Error> {
    let ResolvedTarget { place, rules, .. } = target;
    check_access(place, rules)?;
    check_runnable(place, rules)?;
    if kind == EntryKind::Edit {
        check_mode(request.mode, rules)?;
    }
    if current.snapshot.is_some() && request.expect == Expect::Anything {
        check_parameters(&request.edit, place, rules, current.buffer.lines().count())?;
    }
    current.snapshot.as_ref().map_or(Ok(()), |snapshot| snapshot.check_names(place, rules.publishing))?;
    check_expectation(request, target, current)?;
    // An undo and an import of entities put back what was there under its name.
    let is_import = place.entity().is_some() && matches!(request.edit, Edit::Restore(_));
    if current.snapshot.is_none() && kind == EntryKind::Edit && !is_import {
        place.check_new_name()?;
    }
    Ok(())
}

/// Checks the target against the request's expectation, except for its version.
///
/// Errors: `FILE_NOT_FOUND`, `FILE_EXISTS`, `EDIT_CONFLICT`.
fn check_expectation(request: &Request, target: &ResolvedTarget, current: &CurrentText) -> Result<(), Error> {
    let (noun, shown) = (request.target.noun(), request.target.display_path());
    if let (None, Some(purpose)) = (&current.snapshot, request.edit.needs_file_to()) {
        let message = format!("cannot {purpose} non-existent {noun}: {shown}");
        let error = Error::new(Code::FileNotFound, message).naming_target(shown).field("path");
        return Err(match (&request.edit, &request.target) {
            (Edit::Remove, request::Target::Entity(named)) => error.hint(removal_hint(named, target)),
            (Edit::Remove, request::Target::File(_)) => error.hint("correct the path"),
            (_, request::Target::Entity(_)) => error
                .hint("correct the path, or create it with replace_content")
                .with_next(NextCall::List { folder: String::new() }),
            (_, request::Target::File(_)) => error,
        });
    }
    match (&request.expect, &current.snapshot) {
        (Expect::Absent, Some(_)) => {
            let count = current.buffer.lines().count();
            Err(Error::new(Code::FileExists, format!("{noun} already exists: {shown}"))
                .naming_target(shown)
                .field("path")
                .with_next_if(NextCall::read_around(1, 1, count)))
        }
        (Expect::Version(version), None) => {
            let expected = Version::describe_requested(version);
            let message = format!("version {expected} was expected, but there is no {noun}: {shown}");
            Err(Error::new(Code::EditConflict, message)
                .naming_target(shown)
                .field("expected_version")
                .hint(format!(
                    "the {noun} was removed or renamed; to create it again, leave out `expected_version`"
                ))
                .with_next_if(folder_list(&request.target)))
        }
        (Expect::Anything | Expect::Absent | Expect::Version(_), _) => Ok(()),
    }
}

/// Returns the hint for the removal of an entity that does not exist.
fn removal_hint(named: &Entity, target: &ResolvedTarget) -> String {
    let removal = target.last_change().filter(|(_, changed)| changed.after.is_none());
    let Some((entry, changed)) = removal else { return "correct the path".to_owned() };
    let removed = describe(&changed.target());
    let undo = if changed.kept { "; undo_edit with this `edit_id` restores it" } else { "" };
    let hint = format!("edit {} removed {removed}{undo}", entry.id);
    let owner = changed.entity.as_ref().and_then(|entity| entity.organization_id.as_ref());
    // Without an organisation, the path means the removed entity and not the global one.
    if named.organization_id.is_some() || owner.is_none() {
        return hint;
    }
    let noun = target.place.noun();
    format!(
        "{hint}. While the journal has an edit of it, only a caller without an organisation can delete a global {noun} at this path"
    )
}

/// Returns a list of the folder of a file that is gone.
fn folder_list(target: &request::Target) -> Option<NextCall> {
    let (folder, _) = target.file()?.rsplit_once('/').unwrap_or_default();
    Some(NextCall::List { folder: folder.to_owned() })
}

/// Rejects a write to a path that may only be read.
///
/// Errors: `PROTECTED`.
pub(super) fn check_access(place: &DocumentPath, rules: &Policy) -> Result<(), Error> {
    // A hard-linked file is protected under all names if one of them is protected.
    let mut names = [place.in_root()].into_iter().chain(place.names().iter().map(String::as_str));
    let Some(found) = names.find_map(|name| rules.protection(name)) else { return Ok(()) };
    let path = match place.resolved() {
        Some(resolved) => format!("{} (which is {resolved})", place.shown()),
        None => place.shown().to_owned(),
    };
    let entry = format!("`access: read` for `{}`", found.pattern);
    Err(Error::new(
        Code::Protected,
        format!("{path} may not be written: the policy {} says {entry}", found.policy),
    )
    .naming_target(place.shown())
    .hint(format!("leave the {} alone; a person can write it, or change the policy", place.noun())))
}

/// Rejects a write to a file that starts a program, if the policy says so.
///
/// Errors: `PROTECTED`.
pub(super) fn check_runnable(place: &DocumentPath, rules: &Policy) -> Result<(), Error> {
    let rule = match rules.demands.runnable {
        Runnable::Refuse => place.runnable(),
        // The person is asked before the write; see `confirm`.
        Runnable::Ask | Runnable::Allow => None,
    };
    let Some(rule) = rule else { return Ok(()) };
    let (path, policy) = (place.shown(), &rules.origin.name);
    Err(Error::new(
        Code::Protected,
        format!(
            "{path} may not be written: it can start a program when a person opens or uses the folder ({rule}), and the policy \
             {policy} says `runnable: refuse`"
        ),
    )
    .naming_target(path)
    .hint("leave the file alone; a person can write it, or set `runnable: ask` in the policy"))
}

fn check_mode(mode: Mode, rules: &Policy) -> Result<(), Error> {
    match (mode, rules.demands.interactive) {
        (Mode::Interactive, Interactive::Deny) => {
            let message = format!("`mode: interactive` is denied by the policy {}", rules.origin.name);
            let error = Error::new(Code::InvalidInput, message).named_field("mode");
            let strict = FieldValue::Text(Mode::Strict.name().to_owned());
            let next = NextCall::Correct { field: "mode".to_owned(), value: strict };
            Err(error.hint("send it with `mode: strict`").with_next(next))
        }
        (Mode::Interactive, Interactive::Allow) | (Mode::Strict | Mode::VerifyOnly, _) => Ok(()),
    }
}

/// Rejects an edit of an existing file of `count` lines without a version, if the policy requires one.
fn check_parameters(edit: &Edit, place: &DocumentPath, rules: &Policy, count: usize) -> Result<(), Error> {
    if let Edit::Several(parts) = edit {
        let check = |part: &EditPart| {
            check_parameters(&part.edit, place, rules, count).map_err(|error| error.with_entry(part.entry))
        };
        return parts.iter().try_for_each(check);
    }
    let (policy, noun) = (&rules.origin.name, place.noun());
    let whole = match edit {
        Edit::Content(_) => Some(format!("`content` replaces the {noun}")),
        Edit::Remove => Some(format!("the {noun} is deleted")),
        Edit::Lines(_) | Edit::Insert(_) | Edit::Search(_) | Edit::Restore(_) | Edit::Several(_) => None,
    };
    if let (Some(action), Guard::Required) = (whole, rules.demands.overwrite) {
        let message =
            format!("the policy {policy} requires `expected_version` when {action}: {}", place.shown());
        let error = Error::new(Code::InvalidInput, message).named_field("expected_version");
        let hint =
            format!("read the {noun}, and send the `version` from that response as `expected_version`");
        return Err(error.hint(hint).with_next_if(NextCall::read_around(1, count, count)));
    }
    match (edit.missing_expect(count), rules.demands.line_edits) {
        (Some(MissingExpect { field, line, hint }), Guard::Required) => {
            let message = format!(
                "the policy {policy} requires `expect` or `expected_version` for edits by line number; `{field}` is missing"
            );
            let error = Error::new(Code::InvalidInput, message).named_field(field);
            Err(error.hint(hint).with_next_if(NextCall::read_around(line, line, count)))
        }
        (Some(_), Guard::Optional) | (None, _) => Ok(()),
    }
}

/// Rejects a call that would write two texts into one file, because two of its paths are hard links to the file and the
/// policy says `hard_links: in_place`.
pub(super) fn check_same_files(batch: &Batch, drafts: &[FileDraft<'_>]) -> Result<(), Error> {
    let in_place = |draft: &&FileDraft<'_>| {
        draft.drafted.is_changed && draft.target.rules.publishing.hard_links == HardLinks::InPlace
    };
    let written: Vec<_> = drafts.iter().enumerate().filter(|(_, draft)| in_place(draft)).collect();
    for (index, (at, draft)) in written.iter().enumerate() {
        let Some(snapshot) = &draft.current.snapshot else { continue };
        let is_same = |other: &FileDraft<'_>| {
            other.current.snapshot.as_ref().is_some_and(|other| snapshot.is_same_file(other))
        };
        let before = written.iter().take(index).find(|(_, other)| is_same(other));
        if let Some((first, other)) = before {
            let (first, at) = (batch.entry(*first), batch.entry(*at));
            let (path, same) = (draft.target.place.shown(), other.target.place.shown());
            let message = format!(
                "edits[{at}] edits {path}, which is the same file as {same} of edits[{first}] (a hard link), and the policy \
                 says `hard_links: in_place`"
            );
            let error = Error::new(Code::InvalidInput, message).with_entry(at).field("path");
            return Err(error.hint("send both edits for one of the paths"));
        }
    }
    Ok(())
}

/// Rejects a call that would turn a folder into a git folder, even if it only verifies.
pub(super) fn check_git_folders(
    services: &Services,
    batch: &Batch,
    drafts: &[FileDraft<'_>],
) -> Result<(), Error> {
    let (mut numbers, mut planned) = (Vec::new(), Vec::new());
    for (at, draft) in drafts.iter().enumerate() {
        let Some(place) = draft.target.place.file() else { continue };
        if draft.drafted.is_changed && draft.request.edit != Edit::Remove {
            numbers.push(at);
            planned.push(PlannedFile { place, after: Some(draft.drafted.buffer.bytes()) });
        }
    }
    services.store.files.refuse_git_folders(&planned).map_err(|rejected| {
        let (number, error) = *rejected;
        match numbers.get(number) {
            Some(at) => batch.with_edit_index(error, *at),
            None => error,
        }
    })
}
