//! All writes of one edit, or none: checked, written down, staged, synced, turned one by one, and settled.
//!
//! Invariant: until all writes are there, whatever was done is taken back; the entry in the journal is there before the
//! first staged file, and is taken out after the last.

use super::folders::{Chains, emptied};
use super::guards::Guards;
use super::stage::Staged;
use super::swap::{Ends, Refusal};
use super::turn::Turned;
use super::{Done, FileWrite, Published, compare, lasting, names};
use crate::error::{Code, Disk, Error};
use crate::policy::{Durability, HardLinks, Publishing};
use crate::store::git_layout::{self, Planned};
use crate::store::journal::{Begun, Deed, EditId, Journal};
use crate::store::permit::{self, Way};
use crate::store::root::{self, Root};
use std::thread;

/// Files that are synced at one time.
const SYNCED_AT_ONCE: usize = 16;

/// Publishes all writes of one edit, or none.
pub(super) fn publish(
    roots: &[Root],
    writes: &[FileWrite<'_>],
    how: Publishing,
    record: Option<(&Journal, &Deed)>,
    guards: Guards<'_>,
) -> Result<Done, Error> {
    refuse_git_folders(roots, writes, guards)?;
    let mut tops = Vec::new();
    let mut ways = Vec::new();
    for write in writes {
        let top = root::folder_of(roots, write.place)?;
        ways.push(compare::may_still_write(&top, write, how)?);
        tops.push(top);
    }
    let staged: Vec<String> = writes.iter().map(|write| names::staged(&write.place.name)).collect();
    // Dropped in the opposite order: what was done, the staged copies, the new folders, the entry.
    let begun = record.map(|(journal, deed)| journal.begin(deed, writes, &staged)).transpose()?;
    let chains = Chains::make(writes, tops)?;
    let jobs = jobs(writes, &chains, &staged, &ways, guards);
    let ready = stage(&jobs)?;
    sync(&ready, begun.as_ref().filter(|_| how.durability == Durability::Full))?;
    let turned = turn(&jobs, ready, how).and_then(|turned| {
        // Another call may have brought the other parts meanwhile.
        match refuse_git_folders(roots, writes, guards) {
            Ok(()) => Ok(turned),
            Err(error) => Err(take_back(&jobs, turned, error)),
        }
    });
    let turned = match turned {
        Err(error) if error.disk == Disk::Unknown => {
            // Its row is all that says what was under way.
            let _ = begun.map(Begun::leave);
            return Err(error);
        }
        done => done?,
    };
    let mut files: Vec<Published> = turned.into_iter().map(Turned::settle).collect();
    if how.durability == Durability::Full {
        lasting::sync(&chains, writes, &mut files);
    }
    chains.keep();
    writes.iter().filter(|write| write.after.is_none()).for_each(|write| emptied(roots, write));
    Ok(Done { edit: begun.map(|begun| settle(begun, &mut files)), files })
}

/// Refuses writes after which a folder would be a git folder.
fn refuse_git_folders(roots: &[Root], writes: &[FileWrite<'_>], guards: Guards<'_>) -> Result<(), Error> {
    if !guards.git_layout {
        return Ok(());
    }
    let planned: Vec<Planned<'_>> = writes
        .iter()
        .map(|write| Planned { place: write.place, after: write.after.map(|after| after.bytes) })
        .collect();
    git_layout::refuse(roots, &planned).map_err(|refused| refused.1)
}

/// What is to be done at one place.
struct Job<'a> {
    write: &'a FileWrite<'a>,
    ends: Ends<'a>,
    way: Way,
}

fn jobs<'a>(
    writes: &'a [FileWrite<'a>],
    chains: &'a Chains<'a>,
    staged: &'a [String],
    ways: &[Way],
    guards: Guards<'a>,
) -> Vec<Job<'a>> {
    let each = writes.iter().zip(chains.each()).zip(staged).zip(ways);
    let job = |(((write, chain), staged), way): (((&'a FileWrite<'a>, _), &'a String), &Way)| {
        let chain: &'a super::folders::NewFolders<'a> = chain;
        let (target, shown) = (write.place.name.as_str(), write.place.shown());
        Job { write, ends: Ends { folder: chain.last(), target, staged, shown, guards }, way: *way }
    };
    each.map(job).collect()
}

/// Makes the staged copies of all that is not to be removed.
fn stage<'a>(jobs: &[Job<'a>]) -> Result<Vec<Option<Staged<'a>>>, Error> {
    let make = |job: &Job<'a>| {
        job.write.after.map(|after| Staged::make(&job.ends, job.write, after.bytes)).transpose()
    };
    jobs.iter().map(make).collect()
}

/// Syncs the staged copies, and meanwhile what was written down of them.
fn sync(staged: &[Option<Staged<'_>>], begun: Option<&Begun>) -> Result<(), Error> {
    let files: Vec<&Staged<'_>> = staged.iter().flatten().collect();
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
        let journal = begun.map_or(Ok(()), Begun::sync);
        let ended = |running: Result<thread::ScopedJoinHandle<'_, _>, usize>| match running {
            Ok(thread) => {
                thread.join().unwrap_or_else(|_| Err(Error::new(Code::Internal, "syncing stopped half-way")))
            }
            // No thread was to be had.
            Err(number) => lane(number),
        };
        // All are waited for, whatever the first of them says.
        running.into_iter().map(ended).fold(journal, Result::and)
    })
}

/// Makes the changes one by one; where one fails, takes back those before it.
fn turn<'a>(
    jobs: &[Job<'a>],
    staged: Vec<Option<Staged<'a>>>,
    how: Publishing,
) -> Result<Vec<Turned<'a>>, Error> {
    let mut turned = Vec::new();
    for (job, staged) in jobs.iter().zip(staged) {
        match one(job, staged, how) {
            Ok(done) => turned.push(done),
            Err(error) => return Err(take_back(jobs, turned, error)),
        }
    }
    Ok(turned)
}

fn one<'a>(job: &Job<'a>, staged: Option<Staged<'a>>, how: Publishing) -> Result<Turned<'a>, Error> {
    let ends = job.ends;
    let told = |refusal| match refusal {
        Refusal::Clean(error) | Refusal::Kept(error) => error,
        Refusal::Mounted => permit::mounted(ends.shown),
    };
    match (staged, job.write.before, job.way) {
        (Some(staged), Some(before), Way::InPlace) => staged.write_into(ends, before),
        (Some(staged), Some(before), Way::Replace) => {
            staged.replace(ends, before).or_else(|failed| match *failed {
                (Refusal::Mounted, Some(staged)) if how.hard_links == HardLinks::InPlace => {
                    staged.write_into(ends, before)
                }
                (refusal, _) => Err(told(refusal)),
            })
        }
        (Some(staged), None, _) => staged.create(ends).map_err(told),
        (None, Some(before), _) => Turned::remove(ends, before).map_err(told),
        (None, None, _) => Err(Error::new(Code::Internal, "a file that is not there was to be removed")),
    }
}

fn take_back<'a>(jobs: &[Job<'a>], turned: Vec<Turned<'a>>, error: Error) -> Error {
    let backwards = turned.into_iter().zip(jobs).rev();
    backwards.fold(error, |mut error, (turned, job)| match turned.back(job.write) {
        Ok(()) => error,
        Err(stays) => {
            error.message = format!("{}; {}", error.message, stays.message);
            error.disk_unknown()
        }
    })
}

fn settle(begun: Begun, files: &mut [Published]) -> EditId {
    let id = begun.id();
    if let (Err(why), Some(file)) = (begun.settle(), files.first_mut()) {
        file.notes.push(format!("the edit is there, but the journal could not be told so yet: {why}"));
    }
    id
}
