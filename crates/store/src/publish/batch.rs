//! Publishes all writes of one edit, or none: check, record in the journal, stage, sync, lease, apply one by
//! one, settle.
//!
//! Invariant: until all writes are applied, a failure reverts those already applied. The journal entry is
//! written before the first staged file has a name, and forgotten only after the last one is removed.

use super::exchange::{AppliedWrite, RevertOutcome};
use super::folders::{Chains, remove_emptied};
use super::guards::Guards;
use super::prepare::{self, PreparedWrite};
use super::stage::StagedFile;
use super::swap::SwapNames;
use super::{compare, sync_threads};
use crate::disk::inode::Inodes;
use crate::disk::permit::WriteMethod;
use crate::file_write::FileWrite;
use crate::files::Files;
use crate::history::{EditId, EditMeta};
use crate::journal::{Journal, PendingEdit};
use crate::outcome::{PublishedBatch, PublishedFile};
use crate::paths::git_layout::PlannedFile;
use crate::paths::root::Root;
use crate::paths::{git_layout, root};
use crate::staged_name;
use crate::system_error::failed;
use lockgate_error::{Disk, Error};
use lockgate_policy::{Durability, HardLinks, Publishing};
use std::collections::BTreeSet;

/// The number of files that are synced at the same time.
const SYNCED_AT_ONCE: usize = 16;

impl Files {
    /// Publishes all writes of one edit, or none, and records it if a journal is given.
    ///
    /// Errors: `EDIT_CONFLICT` if a file has changed since it was read.
    pub fn publish(
        &self,
        writes: &[FileWrite<'_>],
        publishing: Publishing,
        record: Option<(&Journal, &EditMeta)>,
    ) -> Result<PublishedBatch, Error> {
        publish_with_guards(&self.roots, writes, publishing, record, Guards::ALL)
    }
}

/// Publishes all writes of one edit, or none.
pub(super) fn publish_with_guards(
    roots: &[Root],
    writes: &[FileWrite<'_>],
    publishing: Publishing,
    record: Option<(&Journal, &EditMeta)>,
    guards: Guards<'_>,
) -> Result<PublishedBatch, Error> {
    let check_roots_and_git_folders = || {
        refuse_moved_roots(roots, writes, guards)?;
        refuse_git_folders(roots, writes, guards)
    };
    // Gates may have run for minutes since the call started.
    check_roots_and_git_folders()?;
    let mut tops = Vec::new();
    let mut methods = Vec::new();
    for write in writes {
        let top = root::folder_of(roots, write.place)?;
        methods.push(compare::check_target(&top, write, publishing)?);
        tops.push(top);
    }
    let staged: Vec<String> = writes.iter().map(|write| staged_name::staged(&write.place.name)).collect();
    let begin = |inodes: &[Inodes]| {
        record.map(|(journal, meta)| journal.begin(meta, writes, &staged, inodes)).transpose()
    };
    let makes_folders = writes.iter().any(|write| !write.place.missing.is_empty());
    // Dropped in reverse order: applied writes, staged copies, new folders, journal entry.
    let mut pending: Option<PendingEdit> = if makes_folders { begin(&[])? } else { None };
    let chains = Chains::make(writes, tops)?;
    let jobs = jobs(writes, &chains, &staged, &methods, guards);
    let mut staged_files = open_and_record(&jobs, &mut pending, begin, publishing)?;
    for (job, staged) in jobs.iter().zip(&mut staged_files) {
        staged.as_mut().map_or(Ok(()), |staged| staged.fill(job.write))?;
    }
    sync(&staged_files, pending.as_ref().filter(|_| publishing.durability == Durability::Full))?;
    staged_files.iter_mut().flatten().try_for_each(|staged| staged.name())?;
    // Meanwhile another call may have created the other parts of a git folder, and another program may have
    // moved the root.
    let applied = match apply(&jobs, staged_files, publishing, check_roots_and_git_folders) {
        Err(error) if error.disk == Disk::Unknown => {
            // Only the journal row still says which edit was in progress.
            if let Some(pending) = pending {
                pending.leave();
            }
            return Err(error);
        }
        result => result?,
    };
    let mut files: Vec<PublishedFile> = applied.into_iter().map(AppliedWrite::settle).collect();
    if publishing.durability == Durability::Full {
        chains.sync(writes, &mut files);
    }
    chains.keep();
    writes.iter().filter(|write| write.after.is_none()).for_each(|write| remove_emptied(roots, write));
    Ok(PublishedBatch { edit: pending.map(|pending| settle(pending, &mut files)), files })
}

/// Rejects writes into a root whose path now leads to another folder.
fn refuse_moved_roots(roots: &[Root], writes: &[FileWrite<'_>], guards: Guards<'_>) -> Result<(), Error> {
    if !guards.root_in_place {
        return Ok(());
    }
    let used: BTreeSet<usize> = writes.iter().map(|write| write.place.root).collect();
    used.into_iter().filter_map(|root| roots.get(root)).try_for_each(Root::check_in_place)
}

/// Rejects writes that would turn a folder into a git folder.
fn refuse_git_folders(roots: &[Root], writes: &[FileWrite<'_>], guards: Guards<'_>) -> Result<(), Error> {
    if !guards.git_layout {
        return Ok(());
    }
    let planned: Vec<PlannedFile<'_>> = writes
        .iter()
        .map(|write| PlannedFile { place: write.place, after: write.after.map(|after| after.bytes) })
        .collect();
    git_layout::refuse(roots, &planned).map_err(|error| error.1)
}

/// One write with its names and its method.
struct PublishJob<'a> {
    write: &'a FileWrite<'a>,
    names: SwapNames<'a>,
    method: WriteMethod,
}

fn jobs<'a>(
    writes: &'a [FileWrite<'a>],
    chains: &'a Chains<'a>,
    staged: &'a [String],
    methods: &[WriteMethod],
    guards: Guards<'a>,
) -> Vec<PublishJob<'a>> {
    let mut jobs = Vec::with_capacity(writes.len());
    for (((write, chain), staged), method) in writes.iter().zip(chains.each()).zip(staged).zip(methods) {
        let (target, shown) = (write.place.name.as_str(), write.place.shown());
        let names = SwapNames { folder: chain.last(), target, staged, shown, guards };
        jobs.push(PublishJob { write, names, method: *method });
    }
    jobs
}

/// Creates the staged copies as [`open`] does, and records their inodes. Records the edit as well, by `begin`, if it is not
/// pending yet.
fn open_and_record<'a>(
    jobs: &[PublishJob<'a>],
    pending: &mut Option<PendingEdit>,
    begin: impl Fn(&[Inodes]) -> Result<Option<PendingEdit>, Error>,
    publishing: Publishing,
) -> Result<Vec<Option<StagedFile<'a>>>, Error> {
    if pending.is_none() {
        // Without names these leave nothing behind, so that one record can hold the edit and their inodes.
        if let Some(files) = open_unnamed(jobs)? {
            *pending = begin(&inodes(jobs, &files, publishing))?;
            return Ok(files);
        }
        *pending = begin(&[])?;
    }
    let files = open(jobs)?;
    if let Some(pending) = pending {
        pending.record(&inodes(jobs, &files, publishing))?;
    }
    Ok(files)
}

/// Creates the staged copies of all files that are not removed, still without content.
fn open<'a>(jobs: &[PublishJob<'a>]) -> Result<Vec<Option<StagedFile<'a>>>, Error> {
    let open = |job: &PublishJob<'a>| {
        job.write.after.map(|after| StagedFile::open(&job.names, job.write, after.bytes)).transpose()
    };
    jobs.iter().map(open).collect()
}

/// Does the same without giving a name to any of them; `None` if a file system does not support that.
fn open_unnamed<'a>(jobs: &[PublishJob<'a>]) -> Result<Option<Vec<Option<StagedFile<'a>>>>, Error> {
    let open = |job: &PublishJob<'a>| match job.write.after {
        None => Ok(Some(None)),
        Some(after) => Ok(StagedFile::open_unnamed(&job.names, job.write, after.bytes)?.map(Some)),
    };
    jobs.iter().map(open).collect()
}

/// The inodes of the staged copies, which are recorded in the journal before they have content.
fn inodes(jobs: &[PublishJob<'_>], staged: &[Option<StagedFile<'_>>], publishing: Publishing) -> Vec<Inodes> {
    let inodes = |(job, staged): (&PublishJob<'_>, &Option<StagedFile<'_>>)| {
        let before = job.write.before.map(|before| before.snapshot.identity.inode);
        // A mount point is detected only when the exchange fails.
        let in_place = publishing.hard_links == HardLinks::InPlace;
        Inodes { copy: staged.as_ref().map(StagedFile::inode), before, in_place }
    };
    jobs.iter().zip(staged).map(inodes).collect()
}

/// Syncs the staged copies and, in parallel, their journal record.
fn sync(staged: &[Option<StagedFile<'_>>], pending: Option<&PendingEdit>) -> Result<(), Error> {
    let files: Vec<&StagedFile<'_>> = staged.iter().flatten().collect();
    if let ([file], None) = (files.as_slice(), pending) {
        return file.sync();
    }
    let thread_count = files.len().min(SYNCED_AT_ONCE);
    let group =
        |number| files.iter().skip(number).step_by(thread_count).map(|file| file.shared_file()).collect();
    let running = sync_threads::start((0..thread_count).map(group));
    let journal = pending.map_or(Ok(()), PendingEdit::sync);
    // The threads are awaited in any case.
    let synced = running.wait();
    let shown = files.first().map_or("", |file| file.shown());
    journal.and(synced.map_err(|errno| failed("fsync", shown, errno)))
}

/// Applies the changes while all files are leased; if one fails, reverts those before it.
fn apply<'a>(
    jobs: &[PublishJob<'a>],
    staged: Vec<Option<StagedFile<'a>>>,
    publishing: Publishing,
    last_look: impl FnOnce() -> Result<(), Error>,
) -> Result<Vec<AppliedWrite<'a>>, Error> {
    let prepare =
        |(job, staged): (&PublishJob<'a>, _)| PreparedWrite::new(job.names, job.write, job.method, staged);
    let mut prepared: Vec<(usize, PreparedWrite<'a>)> =
        jobs.iter().zip(staged).map(prepare).enumerate().collect();
    prepared.sort_by_key(|(_, prepared)| prepared.phase());
    let together = jobs.first().is_none_or(|job| job.names.guards.together);
    if together {
        prepare::hold(prepared.iter_mut().map(|(_, prepared)| prepared))?;
        prepared.iter().try_for_each(|(_, prepared)| prepared.check())?;
    }
    // Between the check of one of several files and its change, others are checked and changed.
    let are_several = prepared.len() > 1;
    let (mut applied, mut rest) = (Vec::new(), prepared.into_iter());
    for (position, prepared) in rest.by_ref() {
        let result = match (together, are_several) {
            (false, _) => apply_alone(prepared, publishing),
            (true, true) => prepared.check_lease().and_then(|()| prepared.make(publishing)),
            (true, false) => prepared.make(publishing),
        };
        match result {
            Ok(write) => applied.push((position, write)),
            Err(error) => return Err(revert_all(applied, rest, error)),
        }
    }
    // The leases last, because they show what began until now.
    if let Err(error) = last_look().and_then(|()| applied.iter().try_for_each(|(_, applied)| applied.check()))
    {
        return Err(revert_all(applied, rest, error));
    }
    applied.sort_by_key(|(position, _)| *position);
    applied.iter_mut().for_each(|(_, applied)| applied.release());
    Ok(applied.into_iter().map(|(_, applied)| applied).collect())
}

/// Applies one change independently of the others.
fn apply_alone<'a>(
    mut prepared: PreparedWrite<'a>,
    publishing: Publishing,
) -> Result<AppliedWrite<'a>, Error> {
    prepare::hold(std::iter::once(&mut prepared))?;
    prepared.check()?;
    let mut applied = prepared.make(publishing)?;
    applied.release();
    Ok(applied)
}

/// Reverts the applied writes, the last first: at once where no other program uses the file, then those that
/// have to wait for another program.
fn revert_all<'a>(applied: Vec<(usize, AppliedWrite<'a>)>, unapplied: impl Sized, error: Error) -> Error {
    let (mut later, mut failures) = (Vec::new(), Vec::new());
    for (_, applied) in applied.into_iter().rev() {
        match applied.revert_now() {
            RevertOutcome::Done => {}
            RevertOutcome::Failed(error) => failures.push(error),
            RevertOutcome::InUse(applied) => later.push(*applied),
        }
    }
    // Programs that wait for an unchanged file need not wait any longer.
    drop(unapplied);
    later.iter_mut().for_each(AppliedWrite::release);
    failures.extend(later.into_iter().filter_map(|applied| applied.revert().err()));
    failures.into_iter().fold(error, |mut error, failure| {
        error.message = format!("{}; {}", error.message, failure.message);
        if failure.disk == Disk::Unknown { error.with_unknown_disk() } else { error }
    })
}

fn settle(pending: PendingEdit, files: &mut [PublishedFile]) -> EditId {
    let id = pending.id();
    if let (Err(error), Some(file)) = (pending.settle(), files.first_mut()) {
        file.notes.push(format!("the edit is applied, but the journal could not record that yet: {error}"));
    }
    id
}
