//! Undo and redo: turns a journal entry into requests.
//!
//! Such a request expects the version that the edit left. If the file has changed since, the undo is rebased
//! like any other edit: changes elsewhere stay, and a change at the same place rejects it.

use std::sync::Arc;

use super::batch::{Batch, RestoredMetadata};
use super::entity::describe;
use super::load;
use super::pipeline;
use super::report::{Report, Status};
use super::resolve::{ResolvedTarget, resolve_for_read, resolve_target};
use super::services::Services;
use lockgate_checks::{Watch, sanitize};
use lockgate_edit::Edit;
use lockgate_edit::request::{
    Author, AuthorName, Direction, Expect, Mode, Request, Target, UndoRequest, Whose,
};
use lockgate_error::{Code, Disk, Error, NextCall};
use lockgate_policy::Policy;
use lockgate_store::{DefaultOwner, DocumentPath, EditFilter, EditId, Entry, EntryKind, FileChange};
use lockgate_text::Version;

/// The numbers of recent edits among which the last one of an author is sought, one after the other until it is found.
const RECENT_ENTRIES: [usize; 3] = [1_000, 10_000, 100_000];

/// The number of recent edits among which an older one is sought for a proposal.
const OLDER_ENTRIES: usize = 1_000;

/// The number of edits that a call without an id tries, if other calls undo or redo each one first.
const MAX_CHOICES: usize = 32;

/// The number of older edits that are tried for a proposal.
const OLDER_EDITS: usize = 20;

/// The fields of a request that name its target.
const TARGET_FIELDS: [&str; 4] = ["path", "entity_type", "app_id", "organization_id"];

/// The next step if there is no such edit.
const HISTORY_HINT: &str = "list the edits in the journal; `lockgate log` prints them";

/// An entry with the direction in which to apply it: undo or redo.
struct Reversal {
    entry: Entry,
    direction: Direction,
    /// The undo of the edit, for a redo, or its redo, for an undo. Reverting it is exact, even if the edit itself was
    /// rebased when it was undone. `None` if the edit was never undone, if the texts of that entry are not kept, or if the
    /// files are as the edit itself left or found them.
    last: Option<Entry>,
}

impl Services {
    /// Undoes or redoes an edit in all files that it changed or in none; returns one report per file.
    pub(super) async fn undo_or_redo(
        self: &Arc<Self>,
        revert: UndoRequest,
        watch: Watch,
    ) -> Result<Vec<Report>, Error> {
        let (revert, watch) = (Arc::new(revert), Arc::new(watch));
        for _ in 0..MAX_CHOICES {
            let request = Arc::clone(&revert);
            let prepare = move |workspace: &Services| {
                let found = workspace.prepare(&request);
                workspace.check_history()?;
                found
            };
            let reversal = Arc::new(self.off_reactor(prepare).await?);
            let outcome = self.carry_out(&reversal, &revert.author, &watch).await;
            if revert.edit_id.is_some() || !self.was_overtaken(&reversal, &outcome).await {
                return outcome;
            }
        }
        let verb = verb(revert.direction);
        let message = format!("each edit that this call chose was {verb} by another call first");
        Err(Error::new(Code::EditConflict, message).hint("send the request again, or name an `edit_id`"))
    }

    async fn carry_out(
        self: &Arc<Self>,
        reversal: &Arc<Reversal>,
        author: &Author,
        watch: &Arc<Watch>,
    ) -> Result<Vec<Report>, Error> {
        let shared = Arc::clone(reversal);
        if reversal.is_done() {
            return self.off_reactor(move |workspace| workspace.already_done(&shared)).await;
        }
        let author = author.clone();
        let call = self.off_reactor(move |workspace| workspace.requests(&shared, &author)).await?;
        match pipeline::run(self, call, Arc::clone(watch)).await {
            Ok(reports) => Ok(reports),
            Err(error) => {
                let shared = Arc::clone(reversal);
                self.off_reactor(move |workspace| Err(workspace.as_conflict(error, &shared))).await
            }
        }
    }

    /// True if this call changed nothing, because another one undid or redid the same edit after it was chosen.
    async fn was_overtaken(
        self: &Arc<Self>,
        reversal: &Reversal,
        outcome: &Result<Vec<Report>, Error>,
    ) -> bool {
        let may_be = match outcome {
            Ok(reports) => reports.iter().all(|report| report.status != Status::Written),
            // Other errors, as of a cancelled call, say nothing about the edit. A conflict that was found during the write
            // may have changed a file.
            Err(error) => error.code == Code::EditConflict && error.disk == Disk::Untouched,
        };
        let (id, direction) = (reversal.entry.id, reversal.direction);
        let is_done = move |workspace: &Services| Ok(is_done(&workspace.entry(id)?, direction));
        may_be && self.off_reactor(is_done).await.unwrap_or(false)
    }

    /// Finds the edit that the request names.
    fn prepare(&self, revert: &UndoRequest) -> Result<Reversal, Error> {
        self.recover_for_history();
        let resolve = |target: &Target| {
            let place = resolve_for_read(self, target, DefaultOwner::LastChanged);
            place.map_err(|error| self.with_nearest_path_in_hint(target, error))
        };
        let place = revert.target.as_ref().map(resolve).transpose()?;
        if let Some(id) = &revert.edit_id {
            let entry = self.entry(id.parse()?)?;
            if let (Some(target), Some(place)) = (&revert.target, &place) {
                self.check_target(&entry, target, place)?;
            }
            let (entry, direction) = self.resolve(entry, revert.direction)?;
            return Ok(self.reversal(entry, direction));
        }
        if place.is_none() && revert.whose == Whose::Author {
            return self.last_of_author(revert, &RECENT_ENTRIES);
        }
        let filter = match revert.direction {
            Direction::Undo => EditFilter::ToUndo,
            Direction::Redo => EditFilter::ToRedo,
        };
        let found = match &place {
            Some(place) => place.newest(&self.store, filter)?,
            None => self.store.journal.newest(filter, None)?,
        };
        let entry = found.ok_or_else(|| self.nothing_to_revert(revert.direction, place.as_ref()))?;
        Ok(self.reversal(entry, revert.direction))
    }

    fn reversal(&self, entry: Entry, direction: Direction) -> Reversal {
        let wanted = match direction {
            Direction::Undo => EntryKind::Redo(entry.id),
            Direction::Redo => EntryKind::Undo(entry.id),
        };
        // Without it, the edit itself is reverted or made again.
        let last = self.store.last_reversal(entry.id).ok().flatten();
        let is_kept = |last: &Entry| last.changes.iter().all(|changed| changed.kept);
        let last = last.filter(|last| last.meta.kind == wanted && is_kept(last));
        let own = Reversal { last: None, entry: entry.clone(), direction };
        let by_last = Reversal { last, entry, direction };
        if by_last.last.is_none() || (self.fits(&own) && !self.fits(&by_last)) { own } else { by_last }
    }

    /// True if every file has the version from which a reversal starts.
    fn fits(&self, reversal: &Reversal) -> bool {
        let fits = |changed: &FileChange| {
            self.current_version(changed).is_ok_and(|now| now == reversal.versions(changed).0)
        };
        reversal.changes().iter().all(fits)
    }

    /// Rejects a target that the edit of the same request did not change. An app or an organisation that the request leaves out
    /// may be any.
    ///
    /// Errors: `INVALID_INPUT`, with the field that does not fit.
    fn check_target(&self, entry: &Entry, target: &Target, place: &DocumentPath) -> Result<(), Error> {
        let is_file = |changed: &FileChange| {
            let other = resolve_for_read(self, &changed.target(), DefaultOwner::Global);
            other.is_ok_and(|other| other.key() == place.key())
        };
        let fits = |changed: &FileChange| match (target.entity(), &changed.entity) {
            (None, None) => [is_file(changed), true, true, true],
            (Some(named), Some(entity)) => [
                named.path == entity.path,
                named.kind == entity.kind,
                named.app_id.is_none() || named.app_id == entity.app_id,
                named.organization_id.is_none() || named.organization_id == entity.organization_id,
            ],
            (None, Some(_)) | (Some(_), None) => [target.display_path() == changed.path, false, true, true],
        };
        let first_wrong = |changed: &FileChange| {
            fits(changed).iter().position(|is_right| !is_right).unwrap_or(TARGET_FIELDS.len())
        };
        let closest = entry.changes.iter().map(first_wrong).max().unwrap_or(0);
        let Some(field) = TARGET_FIELDS.get(closest) else { return Ok(()) };
        let names: Vec<String> =
            entry.changes.iter().map(|changed| describe(&changed.target())).take(3).collect();
        let message = format!("edit {} is of {}, not of {}", entry.id, names.join(", "), describe(target));
        let hint = format!("correct `{field}`, or send `edit_id` alone");
        Err(Error::new(Code::InvalidInput, message).field(*field).hint(hint))
    }

    /// Finds the last edit of the author of the request, or the edit that they undid last, among the `recent` edits.
    fn last_of_author(&self, revert: &UndoRequest, recent: &[usize]) -> Result<Reversal, Error> {
        let (author, direction) = (&revert.author.name, revert.direction);
        if author.is_empty() {
            let message = "the call names no client, so it is not known which edit is its last one";
            let error = Error::new(Code::InvalidInput, message).field("edit_id");
            return Err(error.hint("send the `edit_id` of the answer to the edit"));
        }
        let mut entries = Vec::new();
        for most in recent {
            entries = self.store.journal.entries(None, *most)?;
            if let Some(entry) = self.last_among(&entries, author, direction)? {
                return Ok(self.reversal(entry, direction));
            }
            if entries.len() < *most {
                break;
            }
        }
        let other = entries.iter().find(|entry| entry.is_undoable());
        Err(nothing_of_author(self.nothing_to_revert(direction, None), direction, other))
    }

    /// Finds the last edit of an author among these, or the edit that they undid last.
    fn last_among(
        &self,
        entries: &[Entry],
        author: &str,
        direction: Direction,
    ) -> Result<Option<Entry>, Error> {
        let mut own = entries.iter().filter(|entry| is_same_author(&entry.meta.author, author));
        match direction {
            Direction::Undo => Ok(own.find(|entry| entry.is_undoable()).cloned()),
            Direction::Redo => {
                let undone = own.filter_map(|entry| match entry.meta.kind {
                    EntryKind::Undo(of) => Some(of),
                    EntryKind::Edit | EntryKind::Redo(_) => None,
                });
                undone.filter_map(|of| self.store.entry(of).transpose()).find(is_undone).transpose()
            }
        }
    }

    /// Undoing an undo redoes its edit, and the other way round.
    fn resolve(&self, entry: Entry, direction: Direction) -> Result<(Entry, Direction), Error> {
        match (entry.meta.kind, direction) {
            (EntryKind::Edit, direction) => Ok((entry, direction)),
            (EntryKind::Undo(of), Direction::Undo) | (EntryKind::Redo(of), Direction::Redo) => {
                Ok((self.entry(of)?, Direction::Redo))
            }
            (EntryKind::Undo(of), Direction::Redo) | (EntryKind::Redo(of), Direction::Undo) => {
                Ok((self.entry(of)?, Direction::Undo))
            }
        }
    }

    fn nothing_to_revert(&self, direction: Direction, place: Option<&DocumentPath>) -> Error {
        let has_entity_edits = || self.store.rows.entries(None, 1).is_ok_and(|entries| !entries.is_empty());
        let of = match place {
            Some(place) if place.entity().is_some() => format!(" of {} {}", place.noun(), place.shown()),
            Some(place) => format!(" of {}", place.shown()),
            None if has_entity_edits() => " of a file".to_owned(),
            None => String::new(),
        };
        let message = match direction {
            Direction::Undo => format!("there is no edit{of} to undo"),
            Direction::Redo => format!("no edit{of} was undone, so there is none to redo"),
        };
        let field = if place.is_some() { "path" } else { "edit_id" };
        Error::new(Code::InvalidInput, message).field(field).hint(HISTORY_HINT).with_next(NextCall::History)
    }

    pub(super) fn entry(&self, id: EditId) -> Result<Entry, Error> {
        self.store.entry(id)?.ok_or_else(|| {
            Error::new(Code::InvalidInput, format!("there is no edit {id} in the journal"))
                .field("edit_id")
                .hint(HISTORY_HINT)
                .with_next(NextCall::History)
        })
    }

    /// Builds the requests that revert an edit, the last change first.
    fn requests(&self, reversal: &Reversal, author: &Author) -> Result<Batch, Error> {
        let id = reversal.entry.id;
        let mut requests = Vec::with_capacity(reversal.changes().len());
        let mut restores = Vec::with_capacity(reversal.changes().len());
        for changed in reversal.changes().iter().rev() {
            let (from, to) = reversal.versions(changed);
            let edit = match to {
                Some(to) => Edit::Restore(self.stored_content(id, changed, to)?),
                None => Edit::Remove,
            };
            let expect = from.map_or(Expect::Absent, |from| Expect::Version(from.hex()));
            let target = changed.target();
            requests.push(Request {
                mode: Mode::Interactive,
                expect,
                author: author.clone(),
                ..Request::new(target, edit)
            });
            restores.push(match (from, to) {
                (_, None) => RestoredMetadata { mode: None, folders: changed.folders },
                (None, Some(_)) => RestoredMetadata { mode: changed.mode, folders: 0 },
                (Some(_), Some(_)) => RestoredMetadata::default(),
            });
        }
        let kind = match reversal.direction {
            Direction::Undo => EntryKind::Undo(id),
            Direction::Redo => EntryKind::Redo(id),
        };
        Ok(Batch { restores, is_batch: false, ..Batch::new(requests, kind) })
    }

    /// Builds the reports of an edit that already is in the requested state.
    fn already_done(&self, reversal: &Reversal) -> Result<Vec<Report>, Error> {
        let report = |changed: &FileChange| {
            let target = self.changed_target(changed)?;
            let current = load::read(self, &target.place, &target.rules)?;
            Report::already_applied(&target, reversal.entry.id, None, None, current)
        };
        reversal.entry.changes.iter().map(report).collect()
    }

    /// Rewords an error for a caller who named an edit and no version, and names the next older edit. If a file exists
    /// where one is to be restored, another program created it.
    fn as_conflict(&self, mut error: Error, reversal: &Reversal) -> Error {
        if matches!(error.code, Code::FileExists | Code::FileNotFound) {
            error.code = Code::EditConflict;
        }
        if error.code != Code::EditConflict {
            return error;
        }
        let Reversal { entry, direction, .. } = reversal;
        let files: Vec<&str> = entry.changes.iter().map(|change| change.path.as_str()).take(3).collect();
        let verb = verb(*direction);
        let is_unnamed = entry.changes.len() > 1 && !error.names_target();
        let conflicting = if is_unnamed { self.conflicting_file(&error, reversal) } else { None };
        let only = entry.changes.first().filter(|_| entry.changes.len() == 1);
        let file = conflicting.or(only).filter(|changed| changed.entity.is_none());
        if let Some(since) = &mut error.since {
            since.path = file.map(|changed| changed.path.clone());
        }
        let name = conflicting.map(|changed| format!("{}: ", changed.path)).unwrap_or_default();
        error.message =
            format!("edit {} of {} cannot be {verb}: {name}{}", entry.id, files.join(", "), error.message);
        error.field = None;
        if let Some(changed) = conflicting {
            error = error.naming_target(&changed.path);
        }
        let older = self.store.journal.entries(None, OLDER_ENTRIES).unwrap_or_default();
        let own = older.iter().filter(|older| {
            older.at < entry.at
                && older.is_undoable()
                && is_same_author(&older.meta.author, &entry.meta.author)
        });
        let older = own.take(OLDER_EDITS).find(|older| self.is_untouched(older));
        let is_undo_of_files =
            *direction == Direction::Undo && entry.changes.iter().all(|changed| changed.entity.is_none());
        let older = older.filter(|_| is_undo_of_files).map(|older| {
            let path = older.changes.first().map_or("", |change| change.path.as_str());
            format!(", or undo the next older edit, {} of {path}, by its `edit_id`", older.id)
        });
        let hint = match error.since {
            Some(_) => {
                format!(
                    "edit the current file; `since`, or `lockgate show {}`, shows the earlier text",
                    entry.id
                )
            }
            None => format!("`lockgate show {}` shows the earlier text", entry.id),
        };
        error = error.hint(format!("{hint}{}", older.unwrap_or_default()));
        error
    }

    /// Returns the file whose changes since the edit the conflict shows.
    fn conflicting_file<'a>(&self, conflict: &Error, reversal: &'a Reversal) -> Option<&'a FileChange> {
        let shown = &conflict.since.as_ref()?.version;
        let is_shown = |changed: &&FileChange| {
            let version = self.current_version(changed).ok().flatten();
            version != reversal.versions(changed).0 && version.is_some_and(|now| now.to_string() == *shown)
        };
        let mut shown = reversal.changes().iter().filter(is_shown);
        // Two files can have the same text.
        shown.next().filter(|_| shown.next().is_none())
    }

    /// True if every file still has the text that the edit left, so that its undo meets no conflict.
    fn is_untouched(&self, entry: &Entry) -> bool {
        let has_version =
            |changed: &FileChange| self.current_version(changed).is_ok_and(|now| now == changed.after);
        entry.changes.iter().all(has_version)
    }

    /// Returns the version that a changed file has now; `None` if there is no file.
    fn current_version(&self, changed: &FileChange) -> Result<Option<Version>, Error> {
        let target = self.changed_target(changed)?;
        let current = load::read(self, &target.place, &target.rules)?;
        Ok(current.text().map(|text| text.version()))
    }

    /// Resolves the file or row that an edit changed: exactly that row, also if the caller has one of the same path.
    fn changed_target(&self, changed: &FileChange) -> Result<ResolvedTarget, Error> {
        resolve_target(self, &changed.target(), DefaultOwner::Global)
    }

    fn stored_content(&self, id: EditId, changed: &FileChange, version: Version) -> Result<Vec<u8>, Error> {
        let place = resolve_for_read(self, &changed.target(), DefaultOwner::Global)?;
        let text = if changed.kept { place.text(&self.store, &version.hex())? } else { None };
        text.ok_or_else(|| {
            let message = format!("the journal has no text of {} for edit {id}", changed.path);
            let rules = self.rules_of(&place).ok();
            let may_be_kept = || rules.as_ref().is_some_and(|rules| rules.journals(place.in_root()));
            // The history of entities keeps the last edits, whatever its limit is.
            let is_off =
                || place.file().is_some() && rules.as_ref().is_some_and(|rules| rules.limits.journal == 0);
            let why = if changed.kept {
                "it is beyond the journal's limits"
            } else if changed.has_unknown_before() && may_be_kept() {
                "no hook recorded the text before the edit"
            } else if is_off() {
                "`limits.journal: 0` of the policy turns the journal off"
            } else if Policy::has_secret_name(place.in_root()) {
                "the name is that of a file which may hold secrets"
            } else {
                "the policy's `never_journal` keeps it out"
            };
            Error::new(Code::InvalidInput, format!("{message}: {why}"))
                .field("edit_id")
                .hint(format!("edit the {} instead", place.noun()))
        })
    }
}

impl Reversal {
    /// Returns the changes that are reverted, or made again.
    fn changes(&self) -> &[FileChange] {
        &self.last.as_ref().unwrap_or(&self.entry).changes
    }

    /// Returns the versions of a file before and after the reversal, for one of its changes.
    fn versions(&self, changed: &FileChange) -> (Option<Version>, Option<Version>) {
        match (&self.last, self.direction) {
            (Some(_), _) | (None, Direction::Undo) => (changed.after, changed.before),
            (None, Direction::Redo) => (changed.before, changed.after),
        }
    }

    /// True if the edit already is in the requested state.
    fn is_done(&self) -> bool {
        is_done(&self.entry, self.direction)
    }
}

fn is_done(entry: &Entry, direction: Direction) -> bool {
    entry.undone == (direction == Direction::Undo)
}

const fn verb(direction: Direction) -> &'static str {
    match direction {
        Direction::Undo => "undone",
        Direction::Redo => "redone",
    }
}

/// Returns true for an edit that is undone, and for an entry that cannot be read, which is then the error.
fn is_undone(entry: &Result<Entry, Error>) -> bool {
    entry.as_ref().map_or(true, |entry| entry.undone)
}

/// Returns true if two names of the journal mean the same author.
fn is_same_author(one: &str, other: &str) -> bool {
    AuthorName::parse(one).is_same(&AuthorName::parse(other))
}

/// Rewords the error for an author without an edit to undo or redo; `other` is the last edit of another author.
fn nothing_of_author(mut error: Error, direction: Direction, other: Option<&Entry>) -> Error {
    match (direction, other) {
        (Direction::Undo, Some(other)) => {
            let author = match &other.meta.author {
                nameless if nameless.is_empty() => "a client without a name".to_owned(),
                author => sanitize(author),
            };
            let hint =
                format!("the last edit is {}, made by {author}: send it as `edit_id` to undo it", other.id);
            error.message = "there is no edit of yours to undo".to_owned();
            error.hint(hint)
        }
        (Direction::Undo | Direction::Redo, _) => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Fixture;
    use crate::{BytesBefore, HostChange};

    fn author(name: &str) -> Author {
        Author { tool: "edit_file".to_owned(), name: name.to_owned(), confirmation_id: None }
    }

    #[tokio::test]
    async fn the_last_edit_of_an_author_is_found_behind_many_others() {
        let fixture = Fixture::new(&[]);
        let services = &fixture.services;
        for (number, name) in ["one", "two", "two", "two", "two", "two"].into_iter().enumerate() {
            let request = Request {
                mode: Mode::Strict,
                expect: Expect::Absent,
                author: author(name),
                ..Request::new(Target::File(format!("{number}.txt")), Edit::Restore(b"text\n".to_vec()))
            };
            services.edit(request, Watch::idle()).await.unwrap();
        }
        let undo = |name: &str| UndoRequest {
            direction: Direction::Undo,
            edit_id: None,
            target: None,
            whose: Whose::Author,
            author: author(name),
        };
        for (recent, path) in [(&[1, 3, 9][..], Some("0.txt")), (&[1, 3], None), (&[6], Some("0.txt"))] {
            let found = services.last_of_author(&undo("one"), recent).ok();
            assert_eq!(found.as_ref().map(|found| found.entry.changes[0].path.as_str()), path, "{recent:?}");
        }
        assert!(services.last_of_author(&undo("three"), &[1, 3, 9]).is_err());
    }

    fn undo(edit_id: EditId) -> UndoRequest {
        UndoRequest {
            direction: Direction::Undo,
            edit_id: Some(edit_id.to_string()),
            target: None,
            whose: Whose::Everyone,
            author: author("one"),
        }
    }

    async fn undo_error(services: &Arc<Services>, edit_id: EditId) -> Error {
        services.undo_or_redo(undo(edit_id), Watch::idle()).await.unwrap_err()
    }

    #[tokio::test]
    async fn a_conflict_that_may_have_changed_a_file_ends_the_call() {
        let fixture = Fixture::new(&[("a.txt", "one\n")]);
        let services = &fixture.services;
        let request = Request::new(Target::File("a.txt".to_owned()), Edit::Restore(b"two\n".to_vec()));
        let edit_id = services.edit(request, Watch::idle()).await.unwrap().edit_id.unwrap();
        let reversal = services.prepare(&undo(edit_id)).unwrap();
        services.undo_or_redo(undo(edit_id), Watch::idle()).await.unwrap();
        let conflict = Error::new(Code::EditConflict, "changed");
        for (error, is_overtaken) in [(conflict.clone(), true), (conflict.with_unknown_disk(), false)] {
            assert_eq!(services.was_overtaken(&reversal, &Err(error)).await, is_overtaken);
        }
    }

    /// Calls that name no edit choose one before they have its lock.
    #[tokio::test]
    async fn parallel_calls_undo_and_redo_an_edit_each() {
        const CALLS: usize = 6;
        let fixture = Fixture::new(&[("a.txt", "0\n")]);
        let services = &fixture.services;
        for number in 1..CALLS {
            let edit = Edit::Restore(format!("{number}\n").into_bytes());
            let request =
                Request { author: author("one"), ..Request::new(Target::File("a.txt".to_owned()), edit) };
            services.edit(request, Watch::idle()).await.unwrap();
        }
        let text = || std::fs::read_to_string(fixture.root().join("a.txt")).unwrap();
        let last = format!("{}\n", CALLS - 1);
        for (direction, result) in [(Direction::Undo, "0\n"), (Direction::Redo, last.as_str())] {
            for (whose, calls) in [(Whose::Author, 2), (Whose::Everyone, CALLS - 2)] {
                let call = |_| {
                    let (services, author) = (Arc::clone(services), author("one"));
                    let revert = UndoRequest { direction, edit_id: None, target: None, whose, author };
                    tokio::spawn(async move { services.undo_or_redo(revert, Watch::idle()).await })
                };
                let calls: Vec<_> = (0..calls).map(call).collect();
                let mut errors = Vec::new();
                for call in calls {
                    match call.await.unwrap() {
                        Ok(reports) => assert_eq!(reports[0].status, Status::Written),
                        Err(error) => errors.push(error.message),
                    }
                }
                // The last call finds nothing left.
                assert_eq!(errors.len(), usize::from(whose == Whose::Everyone), "{errors:?}");
                assert!(errors.iter().all(|error| error.contains("there is no")), "{errors:?}");
            }
            assert_eq!(text(), result);
        }
    }

    #[tokio::test]
    async fn a_text_that_no_hook_recorded_has_its_own_reason() {
        for (policy, reason) in [
            ("quality_gates: {}\n", "no hook recorded the text before the edit"),
            ("never_journal: [\"*.py\"]\n", "the policy's `never_journal` keeps it out"),
        ] {
            let fixture = Fixture::new(&[("a.py", "x = 1\n"), ("quality.yaml", policy)]);
            let services = &fixture.services;
            let change = HostChange { path: "a.py".to_owned(), before: BytesBefore::Unknown, mode: None };
            let edit = services.record_host_edit(vec![change], author("one"), String::new()).await;
            let edit = edit.unwrap().unwrap();
            let error = undo_error(services, edit).await;
            let expected = format!("the journal has no text of a.py for edit {edit}: {reason}");
            assert_eq!((error.code, error.message), (Code::InvalidInput, expected));
        }
    }

    #[tokio::test]
    async fn the_version_of_a_file_that_is_gone_is_as_short_as_everywhere() {
        let fixture = Fixture::new(&[("a.txt", "one\n")]);
        let services = &fixture.services;
        let request = Request {
            author: author("one"),
            ..Request::new(Target::File("a.txt".to_owned()), Edit::Restore(b"two\n".to_vec()))
        };
        let edit = services.edit(request, Watch::idle()).await.unwrap().edit_id.unwrap();
        std::fs::remove_file(fixture.root().join("a.txt")).unwrap();
        let error = undo_error(services, edit).await;
        let version = Version::hash(b"two\n");
        let expected = format!(
            "edit {edit} of a.txt cannot be undone: version {version} was expected, but there is no file: a.txt"
        );
        assert_eq!((error.code, error.message), (Code::EditConflict, expected));
        let hint = format!("`lockgate show {edit}` shows the earlier text");
        assert_eq!(error.hint, Some(hint.into()));
    }

    #[tokio::test]
    async fn a_removed_file_comes_back_under_a_name_that_no_new_file_may_have() {
        let path = "a\u{200b}.txt";
        let fixture = Fixture::new(&[(path, "one\n")]);
        let services = &fixture.services;
        let request =
            |edit| Request { author: author("one"), ..Request::new(Target::File(path.to_owned()), edit) };
        let edit = services.edit(request(Edit::Remove), Watch::idle()).await.unwrap().edit_id.unwrap();
        let created = services.edit(request(Edit::Content("one\n".to_owned())), Watch::idle()).await;
        assert_eq!(created.unwrap_err().code, Code::InvalidInput);
        services.undo_or_redo(undo(edit), Watch::idle()).await.unwrap();
        assert_eq!(std::fs::read(fixture.root().join(path)).unwrap(), b"one\n");
    }

    /// Other edits of the path in between do not change the permission bits of the file that comes back.
    #[tokio::test]
    async fn a_file_comes_back_with_the_permission_bits_that_it_had() {
        use std::os::unix::fs::PermissionsExt;
        let fixture = Fixture::new(&[("a.sh", "one\n")]);
        let (services, path) = (&fixture.services, fixture.root().join("a.sh"));
        let bits = || std::fs::metadata(&path).map(|found| found.permissions().mode() & 0o777).ok();
        let edit = async |edit| {
            let target = Target::File("a.sh".to_owned());
            let request = Request { author: author("one"), ..Request::new(target, edit) };
            services.edit(request, Watch::idle()).await.unwrap().edit_id.unwrap()
        };
        let revert = async |direction, id| {
            services.undo_or_redo(UndoRequest { direction, ..undo(id) }, Watch::idle()).await.unwrap();
        };
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o700)).unwrap();
        let removed = edit(Edit::Remove).await;
        let created = edit(Edit::Content("two\n".to_owned())).await;
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        revert(Direction::Undo, created).await;
        revert(Direction::Undo, removed).await;
        assert_eq!(bits(), Some(0o700));
        revert(Direction::Redo, removed).await;
        let other = edit(Edit::Content("three\n".to_owned())).await;
        revert(Direction::Undo, other).await;
        revert(Direction::Redo, created).await;
        assert_eq!(bits(), Some(0o640));
    }

    #[tokio::test]
    async fn a_conflict_in_one_of_several_files_names_it() {
        for (path, other) in [("p.txt", "q.txt"), ("q.txt", "p.txt")] {
            let fixture = Fixture::new(&[("p.txt", "one\nb\nc\nend\n"), ("q.txt", "one\nb\nc\nend\n")]);
            let services = &fixture.services;
            let request = |path: &str, text: &str| Request {
                author: author("one"),
                ..Request::new(Target::File(path.to_owned()), Edit::Restore(text.as_bytes().to_vec()))
            };
            let requests = vec![request("p.txt", "two\nb\nc\nend\n"), request("q.txt", "three\nb\nc\nend\n")];
            let edit = services.edit_all(requests, Watch::idle()).await.unwrap()[0].edit_id.unwrap();
            // A change elsewhere is no conflict.
            let text = if other == "p.txt" { "two\nb\nc\nother\n" } else { "three\nb\nc\nother\n" };
            fixture.write(other, text);
            fixture.write(path, "four\nb\nc\nend\n");
            let error = undo_error(services, edit).await;
            let beginning =
                format!("edit {edit} of p.txt, q.txt cannot be undone: {path}: line 1 of version ");
            assert!(error.message.starts_with(&beginning), "{}", error.message);
            assert!(error.code == Code::EditConflict && error.names_target());
        }
    }
}
