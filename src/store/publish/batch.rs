//! Publishes all writes of one edit, or none: check, record in the journal, stage, sync, lease, apply one by
//! one, settle.
//!
//! Invariant: until all writes are applied, a failure reverts those already applied. The journal entry is
//! written before the first staged file is created, and forgotten only after the last one is removed.

use super::exchange::{AppliedWrite, RevertOutcome};
use super::folders::{Chains, remove_emptied};
use super::guards::Guards;
use super::prepare::{self, PreparedWrite};
use super::stage::StagedFile;
use super::swap::SwapNames;
use super::{FileWrite, PublishedBatch, PublishedFile, compare, durability, names};
use crate::error::{Code, Disk, Error};
use crate::policy::{Durability, HardLinks, Publishing};
use crate::store::git_layout::{self, PlannedFile};
use crate::store::inode::Inodes;
use crate::store::journal::{EditId, EditMeta, Journal, PendingEdit};
use crate::store::permit::WriteMethod;
use crate::store::root::{self, Root};
use std::collections::BTreeSet;
use std::thread;

/// The number of files that are synced at the same time.
const SYNCED_AT_ONCE: usize = 16;

/// Publishes all writes of one edit, or none.
pub(super) fn publish(
    roots: &[Root],
    writes: &[FileWrite<'_>],
    how: Publishing,
    record: Option<(&Journal, &EditMeta)>,
    guards: Guards<'_>,
) -> Result<PublishedBatch, Error> {
    // Gates may have run for minutes since the call started.
    refuse_moved_roots(roots, writes, guards)?;
    refuse_git_folders(roots, writes, guards)?;
    let mut tops = Vec::new();
    let mut ways = Vec::new();
    for write in writes {
        let top = root::folder_of(roots, write.place)?;
        ways.push(compare::check_target(&top, write, how)?);
        tops.push(top);
    }
    let staged: Vec<String> = writes.iter().map(|write| names::staged(&write.place.name)).collect();
    // Dropped in reverse order: applied writes, staged copies, new folders, journal entry.
    let begun = record.map(|(journal, deed)| journal.begin(deed, writes, &staged)).transpose()?;
    let chains = Chains::make(writes, tops)?;
    let jobs = jobs(writes, &chains, &staged, &ways, guards);
    let mut ready = stage(&jobs, begun.as_ref(), how)?;
    sync(&ready, begun.as_ref().filter(|_| how.durability == Durability::Full))?;
    ready.iter_mut().flatten().try_for_each(|staged| staged.name())?;
    // Meanwhile another call may have created the other parts of a git folder, and another program may have
    // moved the root.
    let last_look = || {
        refuse_moved_roots(roots, writes, guards)?;
        refuse_git_folders(roots, writes, guards)
    };
    let turned = match apply(&jobs, ready, how, last_look) {
        Err(error) if error.disk == Disk::Unknown => {
            // Only the journal row still says which edit was in progress.
            let _ = begun.map(PendingEdit::leave);
            return Err(error);
        }
        done => done?,
    };
    let mut files: Vec<PublishedFile> = turned.into_iter().map(AppliedWrite::settle).collect();
    if how.durability == Durability::Full {
        durability::sync(&chains, writes, &mut files);
    }
    chains.keep();
    writes.iter().filter(|write| write.after.is_none()).for_each(|write| remove_emptied(roots, write));
    Ok(PublishedBatch { edit: begun.map(|begun| settle(begun, &mut files)), files })
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
    git_layout::refuse(roots, &planned).map_err(|refused| refused.1)
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
    ways: &[WriteMethod],
    guards: Guards<'a>,
) -> Vec<PublishJob<'a>> {
    let each = writes.iter().zip(chains.each()).zip(staged).zip(ways);
    let job = |(((write, chain), staged), way): (((&'a FileWrite<'a>, _), &'a String), &WriteMethod)| {
        let chain: &'a super::folders::NewFolders<'a> = chain;
        let (target, shown) = (write.place.name.as_str(), write.place.shown());
        PublishJob {
            write,
            names: SwapNames { folder: chain.last(), target, staged, shown, guards },
            method: *way,
        }
    };
    each.map(job).collect()
}

/// Creates the staged copies of all files that are not removed. Their inodes are recorded in the journal
/// before they have content.
fn stage<'a>(
    jobs: &[PublishJob<'a>],
    begun: Option<&PendingEdit>,
    how: Publishing,
) -> Result<Vec<Option<StagedFile<'a>>>, Error> {
    let open = |job: &PublishJob<'a>| {
        job.write.after.map(|after| StagedFile::open(&job.names, job.write, after.bytes)).transpose()
    };
    let mut staged = jobs.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    if let Some(begun) = begun {
        let inodes = |(job, staged): (&PublishJob<'a>, &Option<StagedFile<'a>>)| -> Result<Inodes, Error> {
            let before = job.write.before.map(|before| before.snapshot.identity.inode);
            // A mount point is detected only when the exchange fails.
            let in_place = how.hard_links == HardLinks::InPlace;
            Ok(Inodes { copy: staged.as_ref().map(StagedFile::inode).transpose()?, before, in_place })
        };
        begun.record(&jobs.iter().zip(&staged).map(inodes).collect::<Result<Vec<_>, _>>()?)?;
    }
    for (job, staged) in jobs.iter().zip(&mut staged) {
        staged.as_mut().map_or(Ok(()), |staged| staged.fill(job.write))?;
    }
    Ok(staged)
}

/// Syncs the staged copies and, in parallel, their journal record.
fn sync(staged: &[Option<StagedFile<'_>>], begun: Option<&PendingEdit>) -> Result<(), Error> {
    let files: Vec<&StagedFile<'_>> = staged.iter().flatten().collect();
    if let ([file], None) = (files.as_slice(), begun) {
        return file.sync();
    }
    let lanes = files.len().min(SYNCED_AT_ONCE);
    let lane = |lane| files.iter().skip(lane).step_by(lanes).try_for_each(|file| file.sync());
    thread::scope(|scope| {
        let lane = &lane;
        let spawn =
            |number| thread::Builder::new().spawn_scoped(scope, move || lane(number)).map_err(|_| number);
        let running: Vec<_> = (0..lanes).map(spawn).collect();
        let journal = begun.map_or(Ok(()), PendingEdit::sync);
        let ended = |running: Result<thread::ScopedJoinHandle<'_, _>, usize>| match running {
            Ok(thread) => {
                thread.join().unwrap_or_else(|_| Err(Error::new(Code::Internal, "syncing stopped halfway")))
            }
            // The system could not start a thread.
            Err(number) => lane(number),
        };
        // All threads are joined, even after one of them has failed.
        running.into_iter().map(ended).fold(journal, Result::and)
    })
}

/// Applies the changes while all files are leased; if one fails, reverts those before it.
fn apply<'a>(
    jobs: &[PublishJob<'a>],
    staged: Vec<Option<StagedFile<'a>>>,
    how: Publishing,
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
    let (mut turned, mut rest) = (Vec::new(), prepared.into_iter());
    for (position, prepared) in rest.by_ref() {
        let made = if together { prepared.make(how) } else { apply_alone(prepared, how) };
        match made {
            Ok(done) => turned.push((position, done)),
            Err(error) => return Err(revert_all(turned, rest, error)),
        }
    }
    if let Err(error) = turned.iter().try_for_each(|(_, turned)| turned.check()).and_then(|()| last_look()) {
        return Err(revert_all(turned, rest, error));
    }
    turned.sort_by_key(|(position, _)| *position);
    turned.iter_mut().for_each(|(_, turned)| turned.release());
    Ok(turned.into_iter().map(|(_, turned)| turned).collect())
}

/// Applies one change independently of the others.
fn apply_alone<'a>(mut prepared: PreparedWrite<'a>, how: Publishing) -> Result<AppliedWrite<'a>, Error> {
    prepare::hold(std::iter::once(&mut prepared))?;
    prepared.check()?;
    let mut turned = prepared.make(how)?;
    turned.release();
    Ok(turned)
}

/// Reverts the applied writes, the last first: at once where no other program uses the file, then those that
/// have to wait for another program.
fn revert_all<'a>(turned: Vec<(usize, AppliedWrite<'a>)>, held: impl Sized, error: Error) -> Error {
    let (mut later, mut kept) = (Vec::new(), Vec::new());
    for (_, turned) in turned.into_iter().rev() {
        match turned.revert_now() {
            RevertOutcome::Done => {}
            RevertOutcome::Failed(error) => kept.push(error),
            RevertOutcome::InUse(turned) => later.push(turned),
        }
    }
    // Programs that wait for an unchanged file need not wait any longer.
    drop(held);
    later.iter_mut().for_each(AppliedWrite::release);
    kept.extend(later.into_iter().filter_map(|turned| turned.revert().err()));
    kept.into_iter().fold(error, |mut error, kept| {
        error.message = format!("{}; {}", error.message, kept.message);
        if kept.disk == Disk::Unknown { error.with_unknown_disk() } else { error }
    })
}

fn settle(begun: PendingEdit, files: &mut [PublishedFile]) -> EditId {
    let id = begun.id();
    if let (Err(why), Some(file)) = (begun.settle(), files.first_mut()) {
        file.notes.push(format!("the edit is applied, but the journal could not record that yet: {why}"));
    }
    id
}
