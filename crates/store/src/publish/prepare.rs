//! A write that is staged and about to be applied: it takes leases against other programs and compares the
//! file once more.
//!
//! All files of an edit are leased before the first of them changes. If another program uses one of them,
//! nothing has changed yet.
//!
//! Invariant: dropping it only removes the staged copy and ends the leases.

use super::exchange::AppliedWrite;
use super::expected::ExpectedFile;
use super::lease::{Leases, WriterWait};
use super::stage::StagedFile;
use super::swap::{FileBusy, SwapError, SwapNames};
use crate::disk::permit::{self, WriteMethod};
use crate::file_write::FileWrite;
use crate::snapshot::ExpectedContent;
use lockgate_error::{Code, Error};
use lockgate_policy::{HardLinks, Publishing};

/// The order of the writes within an edit: the more exposed a write is to other programs until the last one
/// is applied, the later it comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PublishPhase {
    /// The old and the new file are leased while they are exchanged.
    Exchange,
    /// The name of a removed file is free for other programs.
    Remove,
    /// Overwriting in place takes longest, and no lease protects it.
    WriteInto,
}

/// One write, ready to be applied.
#[must_use = "nothing changes before it is executed"]
pub(super) struct PreparedWrite<'a> {
    names: SwapNames<'a>,
    write: &'a FileWrite<'a>,
    method: WriteMethod,
    staged: Option<StagedFile<'a>>,
    leases: Leases<'a>,
}

impl<'a> PreparedWrite<'a> {
    /// A write with its staged copy, which is read-only from now on.
    pub fn new(
        names: SwapNames<'a>,
        write: &'a FileWrite<'a>,
        method: WriteMethod,
        mut staged: Option<StagedFile<'a>>,
    ) -> PreparedWrite<'a> {
        staged.iter_mut().for_each(StagedFile::seal);
        PreparedWrite { names, write, method, staged, leases: Leases::default() }
    }

    /// The phase in which the write is applied.
    pub fn phase(&self) -> PublishPhase {
        match (&self.staged, self.write.before, self.method) {
            (Some(_), Some(_), WriteMethod::InPlace) => PublishPhase::WriteInto,
            (Some(_), _, _) => PublishPhase::Exchange,
            (None, ..) => PublishPhase::Remove,
        }
    }

    /// Takes the leases, if the system supports them.
    fn hold(&mut self) -> Result<(), FileBusy> {
        if let Some(before) = self.write.before {
            self.leases.before = self.names.lease_now(&ExpectedFile::from(before))?;
        }
        if self.phase() == PublishPhase::WriteInto {
            // It showed that no other program writes. A longer one would hold back lockgate itself.
            self.leases = Leases::default();
            return Ok(());
        }
        let is_held =
            self.leases.before.is_some() || (self.write.before.is_none() && self.names.guards.lease);
        let ours = self.staged.as_ref().filter(|_| is_held);
        self.leases.ours = ours.and_then(StagedFile::lease);
        Ok(())
    }

    /// Fails if the old file was replaced since, or another program is about to write it.
    pub fn check(&self) -> Result<(), Error> {
        match self.write.before {
            Some(before) if self.phase() != PublishPhase::WriteInto => {
                let metadata = self.staged.as_ref().and_then(StagedFile::metadata);
                let expected = ExpectedFile { copied_metadata: metadata, ..ExpectedFile::from(before) };
                self.names.check(&expected, self.leases.before.as_ref()).map_err(to_error(self.names))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Fails if another program is about to write the old file.
    pub fn check_lease(&self) -> Result<(), Error> {
        self.names.check_lease(self.leases.before.as_ref()).map_err(to_error(self.names))
    }

    /// Applies the write, whose lease was just checked. It can still be reverted.
    pub fn make(self, publishing: Publishing) -> Result<AppliedWrite<'a>, Error> {
        let PreparedWrite { names, write, method, staged, leases } = self;
        match (staged, write.before, method) {
            (Some(staged), Some(before), WriteMethod::InPlace) => {
                AppliedWrite::overwrite(names, write, before, staged)
            }
            (Some(staged), Some(before), WriteMethod::Replace) => {
                replace(names, write, staged, before, leases, publishing)
            }
            (Some(staged), None, _) => {
                AppliedWrite::create(names, write, staged, leases).map_err(to_error(names))
            }
            (None, Some(before), _) => {
                AppliedWrite::remove(names, write, before, leases).map_err(to_error(names))
            }
            (None, None, _) => Err(Error::new(Code::Internal, "cannot remove a file that does not exist")),
        }
    }
}

fn replace<'a>(
    names: SwapNames<'a>,
    write: &'a FileWrite<'a>,
    staged: StagedFile<'a>,
    before: ExpectedContent<'a>,
    leases: Leases<'a>,
    publishing: Publishing,
) -> Result<AppliedWrite<'a>, Error> {
    AppliedWrite::replace(names, write, before, staged, leases).or_else(|failed| match *failed {
        (SwapError::Mounted, Some(staged)) if publishing.hard_links == HardLinks::InPlace => {
            AppliedWrite::overwrite(names, write, before, staged)
        }
        (error, _) => Err(to_error(names)(error)),
    })
}

/// The error for the caller.
fn to_error(names: SwapNames<'_>) -> impl Fn(SwapError) -> Error {
    move |error| match error {
        SwapError::Unchanged(error) | SwapError::NotUndone(error) => error,
        SwapError::Mounted => permit::mounted(names.shown),
    }
}

/// Takes leases on all of these files at the same time. Waits for programs that have one of them open for
/// writing, and holds no lease meanwhile.
pub(super) fn hold<'p, 'a: 'p>(
    prepared: impl Iterator<Item = &'p mut PreparedWrite<'a>>,
) -> Result<(), Error> {
    let mut prepared: Vec<&mut PreparedWrite<'a>> = prepared.collect();
    let mut wait = None;
    loop {
        let busy = prepared.iter_mut().find_map(|one| one.hold().err().map(|FileBusy| one.names));
        let Some(names) = busy else { return Ok(()) };
        prepared.iter_mut().for_each(|one| one.leases = Leases::default());
        if !wait.get_or_insert_with(|| WriterWait::new(names.guards.timeout)).pause() {
            return Err(names.open_for_writing());
        }
    }
}
