//! The steps that change the file under a name and check the displaced one: exchange, take, put.
//!
//! Invariant: the displaced file is the expected one, unchanged and not about to be written; otherwise
//! everything is put back. Where that is impossible, no text of another program is removed: it is kept under
//! a name that the error tells.

use super::expected::{ExpectedFile, removed};
use super::guards::Guards;
use super::lease::{Lease, Leases, WriterWait};
use crate::disk::file_system::is_unsure_of_writers;
use crate::disk::folder::{Folder, Renamed};
use crate::disk::permit;
use crate::outcome::GuardLevel;
use crate::staged_name;
use crate::system_error::{conflict, failed};
use lockgate_error::{Code, Error};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// Two names in one folder: the target's and the staged one.
#[derive(Clone, Copy)]
pub(crate) struct SwapNames<'a> {
    /// The folder of both names.
    pub folder: &'a Folder,
    pub target: &'a str,
    pub staged: &'a str,
    /// The target's path as the caller named it.
    pub shown: &'a str,
    /// The guards of the steps.
    pub guards: Guards<'a>,
}

/// Another program has the file open for writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileBusy;

/// The reason why a step failed.
#[derive(Debug)]
pub(crate) enum SwapError {
    /// Everything is as it was before.
    Unchanged(Error),
    /// Undoing it would have touched another program's text; no file of lockgate has the staged name any
    /// more.
    NotUndone(Error),
    /// The target is a mount point; everything is as it was before.
    Mounted,
}

impl SwapNames<'_> {
    /// Exchanges the expected file under the target's name with the staged one. The displaced file then has
    /// the staged name; at the level `compare` it is gone.
    pub fn exchange(
        &self,
        expected: &ExpectedFile<'_>,
        ours: &ExpectedFile<'_>,
    ) -> Result<GuardLevel, SwapError> {
        let before = self.lease(expected)?;
        let own = before.as_ref().and_then(|_| Lease::take(ours.file).ok());
        self.check(expected, before.as_ref())?;
        self.exchange_checked(expected, ours, &Leases { before, ours: own })
    }

    /// Does the same as `exchange` for files that are leased, if the lease was just checked.
    pub(super) fn exchange_checked(
        &self,
        expected: &ExpectedFile<'_>,
        ours: &ExpectedFile<'_>,
        leases: &Leases<'_>,
    ) -> Result<GuardLevel, SwapError> {
        self.guards.step();
        if !self.guards.exchange {
            return self.rename(expected, leases);
        }
        match self.folder.exchange(self.staged, self.target) {
            Ok(()) => {}
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => return self.rename(expected, leases),
            Err(errno) => return Err(self.swap_error("exchange", errno)),
        }
        self.guards.step();
        if !self.is_untouched(expected, self.staged, leases.before.as_ref()) {
            return Err(self.exchange_back(ours, leases.ours.as_ref()));
        }
        Ok(self.level(leases.before.is_some()))
    }

    /// Moves the expected file from the target's name to the staged name.
    pub fn take(&self, expected: &ExpectedFile<'_>) -> Result<GuardLevel, SwapError> {
        let lease = self.lease(expected)?;
        self.check(expected, lease.as_ref())?;
        self.take_checked(expected, lease.as_ref())
    }

    /// Does the same as `take` for a file that is leased, if the lease was just checked.
    pub(super) fn take_checked(
        &self,
        expected: &ExpectedFile<'_>,
        lease: Option<&Lease<'_>>,
    ) -> Result<GuardLevel, SwapError> {
        self.guards.step();
        match self.folder.rename_new(self.target, self.staged) {
            Ok(Renamed::Whole) => {}
            Ok(Renamed::OldNameLeft(errno)) => {
                // The same file has both names; it keeps the first.
                let _ = self.folder.unlink(self.staged);
                return Err(self.swap_error("unlink", errno));
            }
            Err(errno) => return Err(self.swap_error("rename", errno)),
        }
        self.guards.step();
        if !self.is_untouched(expected, self.staged, lease) {
            return Err(match self.put() {
                Ok(_) => SwapError::Unchanged(self.changed_meanwhile()),
                Err(_) => self.keep(),
            });
        }
        Ok(self.level(lease.is_some()))
    }

    /// Moves the file with the staged name to the target's name, which must be free. Returns a note if the
    /// staged name remains.
    pub fn put(&self) -> Result<Option<String>, SwapError> {
        self.guards.step();
        match self.folder.rename_new(self.staged, self.target) {
            Ok(Renamed::Whole) => Ok(None),
            Ok(Renamed::OldNameLeft(errno)) => Ok(Some(self.second_name(errno))),
            Err(Errno::EXIST) => Err(SwapError::Unchanged(conflict(
                self.shown,
                "was created by another program in the meantime",
            ))),
            Err(errno) => Err(self.swap_error("rename", errno)),
        }
    }

    /// Keeps the file with the staged name, which is not lockgate's, under a name that the error tells.
    pub fn keep(&self) -> SwapError {
        let name = self.set_aside();
        let message = format!(
            "{} was changed by another program during the write; one of the texts is in the same folder as {name}",
            self.shown
        );
        let error = Error::new(Code::EditConflict, message).naming_target(self.shown);
        SwapError::NotUndone(
            error.hint(format!("read the file and {name}, and merge the two texts")).with_unknown_disk(),
        )
    }

    /// Moves the file with the staged name to a name that no staged copy has, and returns it.
    pub fn set_aside(&self) -> String {
        let name = staged_name::kept(self.staged);
        match self.folder.rename_new(self.staged, &name) {
            Ok(_) => name,
            Err(_) => self.staged.to_owned(),
        }
    }

    /// Renames the staged file over the target where the two cannot be exchanged. The displaced file cannot
    /// be checked afterwards, so it is compared once more, and its metadata once more after its content.
    fn rename(&self, expected: &ExpectedFile<'_>, leases: &Leases<'_>) -> Result<GuardLevel, SwapError> {
        self.check(expected, leases.before.as_ref())?;
        if self.guards.compare && !expected.is_named(self.folder, self.target) {
            return Err(SwapError::Unchanged(self.changed_meanwhile()));
        }
        self.guards.step();
        self.folder.rename(self.staged, self.target).map_err(|errno| self.swap_error("rename", errno))?;
        self.guards.step();
        Ok(GuardLevel::Compare)
    }

    /// Takes a lease on the file and waits for programs that have it open for writing; `None` if the system
    /// has no leases.
    fn lease<'f>(&self, expected: &ExpectedFile<'f>) -> Result<Option<Lease<'f>>, SwapError> {
        let mut wait = WriterWait::new(self.guards.timeout);
        loop {
            match self.lease_now(expected) {
                Ok(lease) => return Ok(lease),
                Err(FileBusy) if wait.pause() => {}
                Err(FileBusy) => return Err(SwapError::Unchanged(self.open_for_writing())),
            }
        }
    }

    /// Takes a lease on the file without waiting; `None` if the system has no leases.
    pub(super) fn lease_now<'f>(&self, expected: &ExpectedFile<'f>) -> Result<Option<Lease<'f>>, FileBusy> {
        if !self.guards.lease {
            return Ok(None);
        }
        self.guards.step();
        match Lease::take(expected.file) {
            Ok(lease) => Ok(Some(lease)),
            Err(Errno::AGAIN) if is_unsure_of_writers(expected.file) => Ok(None),
            Err(Errno::AGAIN) => Err(FileBusy),
            Err(_) => Ok(None),
        }
    }

    pub(super) fn check(
        &self,
        expected: &ExpectedFile<'_>,
        lease: Option<&Lease<'_>>,
    ) -> Result<(), SwapError> {
        self.guards.step();
        expected.check(self.folder, self.target, self.shown, &self.guards).map_err(SwapError::Unchanged)?;
        self.guards.step();
        self.check_lease(lease)?;
        self.guards.step();
        Ok(())
    }

    /// Fails if another program waits for the end of the lease to write the file.
    pub(super) fn check_lease(&self, lease: Option<&Lease<'_>>) -> Result<(), SwapError> {
        match lease {
            Some(lease) if !lease.is_whole() => {
                let message = "is being opened for writing by another program";
                Err(SwapError::Unchanged(conflict(self.shown, message)))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// True if the name refers to that file, and no program has written to it or has it open for writing.
    fn is_untouched(&self, known: &ExpectedFile<'_>, name: &str, lease: Option<&Lease<'_>>) -> bool {
        let is_named = known.is_named(self.folder, name);
        self.guards.step();
        is_named && lease.map_or_else(|| known.holds().unwrap_or(false), Lease::is_whole)
    }

    /// Exchanges the files back, because the displaced file is not the expected one.
    pub(super) fn exchange_back(&self, ours: &ExpectedFile<'_>, own: Option<&Lease<'_>>) -> SwapError {
        self.guards.step();
        if !self.is_untouched(ours, self.target, None) {
            return self.keep();
        }
        self.guards.step();
        if self.folder.exchange(self.staged, self.target).is_err() {
            return self.keep();
        }
        self.guards.step();
        match (ours.is_named(self.folder, self.staged), self.is_untouched(ours, self.staged, own)) {
            (true, true) => SwapError::Unchanged(self.changed_meanwhile()),
            // The displaced file is back in place, but another program may have opened ours by now and be
            // about to write it.
            (true, false) => {
                let mut error = self.changed_meanwhile();
                error.message +=
                    &format!("; text that another program may still write is in {}", self.set_aside());
                SwapError::NotUndone(error)
            }
            (false, _) => self.keep(),
        }
    }

    pub(super) fn changed_meanwhile(&self) -> Error {
        conflict(self.shown, "was changed by another program during the write")
    }

    pub(super) fn open_for_writing(&self) -> Error {
        conflict(self.shown, "is open for writing in another program")
    }

    fn level(&self, leased: bool) -> GuardLevel {
        self.guards.step();
        if leased { GuardLevel::Lease } else { GuardLevel::Exchange }
    }

    fn swap_error(&self, call: &str, errno: Errno) -> SwapError {
        match errno {
            Errno::BUSY => SwapError::Mounted,
            Errno::NOENT => SwapError::Unchanged(removed(self.shown)),
            errno => SwapError::Unchanged(self.failed(call, errno)),
        }
    }

    /// The error for a failed call, which names an append-only target as the cause.
    pub(super) fn failed(&self, call: &str, errno: Errno) -> Error {
        let open = || self.folder.open(self.target, OFlags::PATH | OFlags::NOFOLLOW, Mode::empty()).ok();
        let target = if errno == Errno::PERM { open() } else { None };
        let append_only = target.and_then(|target| permit::refuse_append_only(&target, self.shown).err());
        append_only.unwrap_or_else(|| failed(call, self.shown, errno))
    }

    fn second_name(&self, errno: Errno) -> String {
        format!(
            "{} was written, but a second name of the file, {}, could not be removed: {}; remove it before {} is edited again",
            self.shown,
            self.staged,
            std::io::Error::from(errno),
            self.target
        )
    }
}
