//! The steps that change what stands under a name, and look at what stood there: exchange, take away, put.
//!
//! Invariant: what was displaced is the file that was expected, unchanged and with nobody about to write it, or all is put
//! back; and where that cannot be done, no text of somebody else is removed: it is kept under a name that is told.

use super::expected::ExpectedFile;
use super::guards::Guards;
use super::lease::Lease;
use super::prepare::{Leases, PAUSE};
use super::{GuardLevel, names};
use crate::error::{Code, Error};
use crate::store::folder::{Folder, Renamed};
use crate::store::trouble::{conflict, failed};
use rustix::io::Errno;
use std::time::Instant;

/// File systems that say that somebody writes where they mean that they cannot know: NFS, CIFS, SMB 2.
const UNSURE: [u64; 3] = [0x6969, 0xff53_4d42, 0xfe53_4d42];

/// Two names in one folder: the target's, and the one beside it.
#[derive(Clone, Copy)]
pub(in crate::store) struct SwapNames<'a> {
    /// The folder.
    pub folder: &'a Folder,
    /// The target's name.
    pub target: &'a str,
    /// The name beside it.
    pub staged: &'a str,
    /// The target's path as the caller named it.
    pub shown: &'a str,
    /// What guards the steps.
    pub guards: Guards<'a>,
}

/// Somebody has the file open for writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileBusy;

/// Why a step was not made.
#[derive(Debug)]
pub(in crate::store) enum Refusal {
    /// All is as it was before.
    Clean(Error),
    /// Something was done that could not be undone without touching somebody else's text; nothing under the staged name is
    /// lockgate's own any more.
    Kept(Error),
    /// The target is a mount point; all is as it was before.
    Mounted,
}

impl SwapNames<'_> {
    /// Exchanges what is expected under the target's name with what was staged. What was displaced then has the staged name;
    /// at the level `compare` it is gone.
    pub fn exchange(&self, there: &ExpectedFile<'_>, ours: &ExpectedFile<'_>) -> Result<GuardLevel, Refusal> {
        let before = self.lease(there)?;
        let own = before.as_ref().and_then(|_| Lease::take(ours.file).ok());
        self.check(there, before.as_ref())?;
        self.exchange_checked(there, ours, &Leases { before, ours: own })
    }

    /// The same where all is held and was compared.
    pub(super) fn exchange_checked(
        &self,
        there: &ExpectedFile<'_>,
        ours: &ExpectedFile<'_>,
        leases: &Leases<'_>,
    ) -> Result<GuardLevel, Refusal> {
        self.guards.step();
        // Since it was compared, the files of the edit before it were exchanged.
        self.check_lease(leases.before.as_ref())?;
        if !self.guards.exchange {
            return self.rename(there, leases);
        }
        match self.folder.exchange(self.staged, self.target) {
            Ok(()) => {}
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => return self.rename(there, leases),
            Err(errno) => return Err(self.refused("exchange", errno)),
        }
        self.guards.step();
        if !self.is_untouched(there, self.staged, leases.before.as_ref()) {
            return Err(self.exchange_back(ours, leases.ours.as_ref()));
        }
        Ok(self.level(leases.before.is_some()))
    }

    /// Gives what is expected under the target's name the staged name.
    pub fn take(&self, there: &ExpectedFile<'_>) -> Result<GuardLevel, Refusal> {
        let lease = self.lease(there)?;
        self.check(there, lease.as_ref())?;
        self.take_checked(there, lease.as_ref())
    }

    /// The same where it is held and was compared.
    pub(super) fn take_checked(
        &self,
        there: &ExpectedFile<'_>,
        lease: Option<&Lease<'_>>,
    ) -> Result<GuardLevel, Refusal> {
        self.guards.step();
        self.check_lease(lease)?;
        match self.folder.rename_new(self.target, self.staged) {
            Ok(Renamed::Whole) => {}
            Ok(Renamed::OldNameLeft(errno)) => {
                // The same file has both names; it keeps the first.
                let _ = self.folder.unlink(self.staged);
                return Err(self.refused("unlink", errno));
            }
            Err(errno) => return Err(self.refused("rename", errno)),
        }
        self.guards.step();
        if !self.is_untouched(there, self.staged, lease) {
            return Err(match self.put() {
                Ok(_) => Refusal::Clean(self.meanwhile()),
                Err(_) => self.keep(),
            });
        }
        Ok(self.level(lease.is_some()))
    }

    /// Gives what has the staged name the target's, which must be free; gives back a note where the staged name stays.
    pub fn put(&self) -> Result<Option<String>, Refusal> {
        self.guards.step();
        match self.folder.rename_new(self.staged, self.target) {
            Ok(Renamed::Whole) => Ok(None),
            Ok(Renamed::OldNameLeft(errno)) => Ok(Some(self.second_name(errno))),
            Err(Errno::EXIST) => {
                Err(Refusal::Clean(conflict(self.shown, "was created by somebody else in the meantime")))
            }
            Err(errno) => Err(self.refused("rename", errno)),
        }
    }

    /// Keeps what has the staged name, which is not lockgate's own, under one that is told.
    pub fn keep(&self) -> Refusal {
        let name = self.set_aside();
        let seen = format!(
            "{} was changed by others in the very moment in which it was written; one of the texts was kept beside it as {name}",
            self.shown
        );
        let error = Error::new(Code::EditConflict, seen);
        Refusal::Kept(
            error
                .hint(format!("read the file and {name}, and put together what belongs together"))
                .disk_unknown(),
        )
    }

    /// Gives what has the staged name one that no staged copy has, and tells it.
    pub fn set_aside(&self) -> String {
        let kept = names::kept(self.staged);
        match self.folder.rename_new(self.staged, &kept) {
            Ok(_) => kept,
            Err(_) => self.staged.to_owned(),
        }
    }

    /// Puts the staged file over the target, where the two cannot be exchanged. What is displaced cannot be looked at, so it
    /// is compared once more.
    fn rename(&self, there: &ExpectedFile<'_>, leases: &Leases<'_>) -> Result<GuardLevel, Refusal> {
        self.check(there, leases.before.as_ref())?;
        self.folder.rename(self.staged, self.target).map_err(|errno| self.refused("rename", errno))?;
        self.guards.step();
        Ok(GuardLevel::Compare)
    }

    /// A lease on the file, for which whoever has it open for writing is waited for; none where the system gives none.
    fn lease<'f>(&self, there: &ExpectedFile<'f>) -> Result<Option<Lease<'f>>, Refusal> {
        let start = Instant::now();
        loop {
            match self.lease_now(there) {
                Ok(lease) => return Ok(lease),
                Err(FileBusy) if start.elapsed() < self.guards.patience => std::thread::sleep(PAUSE),
                Err(FileBusy) => {
                    return Err(Refusal::Clean(conflict(
                        self.shown,
                        "is open for writing in another program",
                    )));
                }
            }
        }
    }

    /// A lease on the file; none where the system gives none.
    pub(super) fn lease_now<'f>(&self, there: &ExpectedFile<'f>) -> Result<Option<Lease<'f>>, FileBusy> {
        if !self.guards.lease {
            return Ok(None);
        }
        self.guards.step();
        match Lease::take(there.file) {
            Ok(lease) => Ok(Some(lease)),
            Err(Errno::AGAIN) if is_unsure(there) => Ok(None),
            Err(Errno::AGAIN) => Err(FileBusy),
            Err(_) => Ok(None),
        }
    }

    pub(super) fn check(&self, there: &ExpectedFile<'_>, lease: Option<&Lease<'_>>) -> Result<(), Refusal> {
        self.guards.step();
        there.check(self.folder, self.target, self.shown, &self.guards).map_err(Refusal::Clean)?;
        self.guards.step();
        self.check_lease(lease)?;
        self.guards.step();
        Ok(())
    }

    /// Refuses where somebody waits for the end of the lease to write the file.
    fn check_lease(&self, lease: Option<&Lease<'_>>) -> Result<(), Refusal> {
        match lease {
            Some(lease) if !lease.is_whole() => {
                let seen = "is just being opened for writing by another program";
                Err(Refusal::Clean(conflict(self.shown, seen)))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Whether what has this name is that file, and nobody has written it or is about to.
    fn is_untouched(&self, known: &ExpectedFile<'_>, name: &str, lease: Option<&Lease<'_>>) -> bool {
        let is = known.is(self.folder, name);
        self.guards.step();
        is && lease.map_or_else(|| known.holds().unwrap_or(false), Lease::is_whole)
    }

    /// Exchanges again: what was displaced is not what was expected.
    pub(super) fn exchange_back(&self, ours: &ExpectedFile<'_>, own: Option<&Lease<'_>>) -> Refusal {
        self.guards.step();
        if !self.is_untouched(ours, self.target, None) {
            return self.keep();
        }
        self.guards.step();
        if self.folder.exchange(self.staged, self.target).is_err() {
            return self.keep();
        }
        self.guards.step();
        match (ours.is(self.folder, self.staged), self.is_untouched(ours, self.staged, own)) {
            (true, true) => Refusal::Clean(self.meanwhile()),
            // What stood there stands there again; but somebody may have ours open by now, and is about to write it.
            (true, false) => {
                let mut error = self.meanwhile();
                error.message +=
                    &format!("; what another program may still write is kept in {}", self.set_aside());
                Refusal::Kept(error)
            }
            (false, _) => self.keep(),
        }
    }

    pub(super) fn meanwhile(&self) -> Error {
        conflict(self.shown, "was changed by somebody else in the very moment in which it was to be written")
    }

    fn level(&self, leased: bool) -> GuardLevel {
        self.guards.step();
        if leased { GuardLevel::Lease } else { GuardLevel::Exchange }
    }

    fn refused(&self, call: &str, errno: Errno) -> Refusal {
        match errno {
            Errno::BUSY => Refusal::Mounted,
            Errno::NOENT => {
                Refusal::Clean(conflict(self.shown, "was removed by somebody else since it was read"))
            }
            errno => Refusal::Clean(failed(call, self.shown, errno)),
        }
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

fn is_unsure(known: &ExpectedFile<'_>) -> bool {
    let system = rustix::fs::fstatfs(known.file);
    system.is_ok_and(|system| {
        u64::try_from(system.f_type).is_ok_and(|magic| UNSURE.contains(&(magic & 0xffff_ffff)))
    })
}
