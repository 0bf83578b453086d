//! Decides if a person must confirm a call before it writes, and builds the question.
//!
//! Nothing waits for the answer here, and no lock is held meanwhile. The call is rejected with a question; a
//! client that can ask a person then sends the same call again with the confirmation id. That id is a hash of
//! every text before and after, so an answer is valid for this write and no other. It also tells which rows the
//! person was asked about: the call writes these, or nothing.
//!
//! Invariant: a write that the policy requires to be confirmed happens only with the answer to the question
//! about that very write.

use std::fmt::Write;

use super::batch::Batch;
use super::decide::Decision;
use super::difference::line_counts;
use super::entity::describe;
use super::plan::FileDraft;
use lockgate_edit::Edit;
use lockgate_edit::request::Target;
use lockgate_error::{Code, Confirmation, Error};
use lockgate_policy::{Confirm, Runnable};
use lockgate_store::{DocumentPath, EntryKind, RowLocation};
use lockgate_text::{Version, escape_name};

/// Files smaller than this may shrink without confirmation, in bytes.
const MAX_SMALL_DELETION: usize = 256;
/// A file that shrinks below one part in this many needs confirmation.
const PARTS: usize = 4;

/// Rejects a call that writes and that a person must confirm first.
///
/// Errors: `NOT_CONFIRMED`, with the question; `EDIT_CONFLICT` if the confirmation is about other rows.
pub(super) fn confirm(batch: &Batch, drafts: &[FileDraft<'_>]) -> Result<(), Error> {
    let agreed = batch.requests.first().and_then(|request| request.author.confirmation_id.as_ref());
    if agreed.is_some_and(|agreed| !agreed.starts_with(&rows_id(drafts))) {
        return Err(other_rows());
    }
    if drafts.iter().any(|draft| draft.decision() != Decision::Write) {
        return Ok(());
    }
    let changed_drafts = || drafts.iter().filter(|draft| draft.drafted.is_changed);
    // Runnable files come first: their reason says how a person can change the setting.
    let runnable = changed_drafts().find(|draft| asks_for_runnable(draft).is_some());
    let other = || changed_drafts().find(|draft| needs_confirmation(draft, batch.kind));
    let Some(first) = runnable.or_else(other) else { return Ok(()) };
    let about = confirmation_id(drafts);
    if agreed == Some(&about) {
        return Ok(());
    }
    let (policy, runnable) = (&first.target.rules.origin.name, runnable_reason(first));
    let message = match (agreed, &runnable) {
        (Some(_), _) => "the text to write is no longer the one that a person approved".to_owned(),
        (None, Some(reason)) => reason.clone(),
        (None, None) => format!("the policy {policy} asks a person before this write"),
    };
    let reason = runnable.unwrap_or_else(|| "the policy asks a person before this write".to_owned());
    let text = render_question(drafts, batch.kind, policy);
    Err(Error::new(Code::NotConfirmed, message).with_question(Confirmation { reason, text, id: about }))
}

/// Returns the rule by which the file starts a program, if the policy requires confirmation for that.
fn asks_for_runnable(draft: &FileDraft<'_>) -> Option<&'static str> {
    match draft.target.rules.demands.runnable {
        Runnable::Ask => draft.target.place.runnable(),
        Runnable::Refuse | Runnable::Allow => None,
    }
}

/// Returns the reason to confirm a write to a file that starts a program, if the policy requires that.
fn runnable_reason(draft: &FileDraft<'_>) -> Option<String> {
    let rule = asks_for_runnable(draft)?;
    let (path, policy) = (draft.target.place.shown(), &draft.target.rules.origin.name);
    Some(format!(
        "{path} can start a program when a person opens or uses the folder ({rule}), and `runnable: ask` of the policy {policy} \
         asks a person before this write"
    ))
}

/// True if the policy requires confirmation of this draft.
fn needs_confirmation(draft: &FileDraft<'_>, kind: EntryKind) -> bool {
    match draft.target.rules.demands.confirm {
        Confirm::Never => false,
        Confirm::Risky => risk(draft, kind).is_some(),
        Confirm::Always => true,
    }
}

/// Returns the reason why a write is risky, if it is. An undo restores a text that was there before, so the
/// findings of gates do not count then.
fn risk(draft: &FileDraft<'_>, kind: EntryKind) -> Option<String> {
    let noun = draft.target.place.noun();
    let (before, after) = (draft.current.buffer.bytes().len(), draft.drafted.buffer.bytes().len());
    if draft.request.edit == Edit::Remove {
        Some(format!("removes the {noun}"))
    } else if (before >= MAX_SMALL_DELETION && after < before / PARTS) || (before > 0 && after == 0) {
        Some(format!("leaves less than a quarter of the {noun}"))
    } else if draft.is_overridden && kind == EntryKind::Edit {
        Some("writes text that a gate would reject in strict mode".to_owned())
    } else {
        None
    }
}

/// Returns the error for an entity that was made or removed while a person was asked, so that the call would write another.
fn other_rows() -> Error {
    let message = "the call no longer leads to the entity that a person was asked about";
    Error::new(Code::EditConflict, message).hint("read the entity again, and send the edit of what is there")
}

/// Returns the beginning of the id of a write: a hash of the keys of its rows; empty for files.
fn rows_id(drafts: &[FileDraft<'_>]) -> String {
    let rows = drafts.iter().filter_map(|draft| draft.target.place.row());
    let keys: Vec<_> = rows.map(RowLocation::key).collect();
    if keys.is_empty() { String::new() } else { format!("{}-", Version::of_value(&keys)) }
}

/// Returns the id of a write: a hash of its rows, and one of every text before and after.
fn confirmation_id(drafts: &[FileDraft<'_>]) -> String {
    let transitions: Vec<_> = drafts
        .iter()
        .map(|draft| {
            let before = draft.current.text().map(|before| before.version().hex());
            let is_present = draft.request.edit != Edit::Remove;
            let after = is_present.then(|| draft.drafted.buffer.version().hex());
            (draft.target.place.key(), before, after)
        })
        .collect();
    rows_id(drafts) + &Version::of_value(&transitions).hex()
}

fn render_question(drafts: &[FileDraft<'_>], kind: EntryKind, policy: &str) -> String {
    let mut text = match kind {
        EntryKind::Edit => "This edit is about to be written, and".to_owned(),
        EntryKind::Undo(id) => format!("Edit {id} is about to be undone, and"),
        EntryKind::Redo(id) => format!("Edit {id} is about to be redone, and"),
    };
    // Writing to a String cannot fail.
    let _written = write!(text, " the policy {policy} asks you first:");
    for draft in drafts.iter().filter(|draft| draft.drafted.is_changed) {
        let (added, removed) = line_counts(draft.current.text(), &draft.drafted.buffer, &draft.drafted.map);
        let runs = asks_for_runnable(draft)
            .map(|_| "can start a program when the folder is opened or used".to_owned());
        let why: String = runs.into_iter().chain(risk(draft, kind)).map(|why| format!(": {why}")).collect();
        // The whole name: two names that begin alike must not make the same question.
        let name = target_name(&draft.target.place);
        let name = escape_name(&name);
        let _written = write!(text, "\n{name} (+{added} -{removed}){why}");
    }
    text
}

/// Returns the path of a file, or the type, the path and the owner of an entity.
fn target_name(place: &DocumentPath) -> String {
    match place.entity() {
        Some(entity) => describe(&Target::Entity(entity.clone())),
        None => place.shown().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::Fixture;
    use lockgate_checks::Watch;
    use lockgate_edit::Edit;
    use lockgate_edit::request::{Request, Target};

    #[tokio::test]
    async fn two_names_that_begin_alike_make_two_questions() {
        let fixture = Fixture::new(&[("quality.yaml", "confirm: always\n")]);
        let folder = ["f".repeat(200), "g".repeat(200)].join("/");
        for name in ["one.txt", "two.txt"] {
            let path = format!("{folder}/{name}");
            let request = Request::new(Target::File(path.clone()), Edit::Content("text\n".to_owned()));
            let error = fixture.services.edit(request, Watch::idle()).await.unwrap_err();
            assert!(error.question.unwrap().text.ends_with(&format!("\n{path} (+1 -0)")));
        }
    }
}
