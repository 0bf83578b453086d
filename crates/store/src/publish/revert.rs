//! Reverts a write after other programs have used the file: text that they appended stays, at the end of the
//! text before.
//!
//! An appending program means the end of the file, whatever precedes it, so the file gets the content that it
//! would have without the edit. Any other change was made to the new text and is left as it is.
//!
//! Invariant: no byte of another program is lost: it is under the target's name, or in a file that the error
//! names.

use super::expected::ExpectedFile;
use super::stage::StagedFile;
use super::swap::{SwapError, SwapNames};
use crate::disk::bytes::write_all;
use crate::disk::folder::Identity;
use crate::file_write::FileWrite;
use crate::snapshot::ExpectedContent;
use crate::system_error::failed;
use lockgate_error::{Code, Error};
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, Result as Io, retry_on_intr};

/// The number of attempts while another program appends again and again.
const ATTEMPTS: usize = 5;
/// The most bytes that are taken for a short-lived append.
const MAX_ADDED: usize = 16 << 20;

/// Puts the displaced file back.
pub(super) fn exchanged(
    names: &SwapNames<'_>,
    before: &ExpectedContent<'_>,
    ours: &StagedFile<'_>,
) -> Result<(), SwapError> {
    let plain = || {
        if ExpectedFile::from(*before).holds().unwrap_or(false) {
            names.exchange(&ours.expected(), &ExpectedFile::from(*before)).map(drop)
        } else {
            Err(SwapError::Unchanged(names.changed_meanwhile()))
        }
    };
    retry(names, ours, plain, |added| {
        append(names, before, added)
            .map_err(|errno| SwapError::Unchanged(failed("write", names.shown, errno)))?;
        let (new, old) = ([ours.expected().bytes, added].concat(), [before.content.bytes, added].concat());
        let (new, old) = (
            ExpectedFile { bytes: &new, ..ours.expected() },
            ExpectedFile { bytes: &old, ..ExpectedFile::from(*before) },
        );
        names.exchange(&new, &old).map(drop)
    })
}

/// Removes the new file. Text that was appended to it is kept under another name, because there is no old
/// text to append it to.
pub(super) fn created(names: &SwapNames<'_>, ours: &StagedFile<'_>) -> Result<(), SwapError> {
    let plain = || names.take(&ours.expected()).map(drop);
    retry(names, ours, plain, |added| {
        let new = [ours.expected().bytes, added].concat();
        names.take(&ExpectedFile { bytes: &new, ..ours.expected() })?;
        let (shown, name) = (names.shown, names.set_aside());
        let message = format!("{shown} was not created; text that another program added to it is in {name}");
        Err(SwapError::NotUndone(Error::new(Code::EditConflict, message).naming_target(shown)))
    })
}

/// Restores the old text where the target was replaced without an exchange.
pub(super) fn renamed(
    names: &SwapNames<'_>,
    write: &FileWrite<'_>,
    before: &ExpectedContent<'_>,
    ours: &StagedFile<'_>,
) -> Result<(), SwapError> {
    let restore = |new: &[u8], old: &[u8]| {
        let copy = StagedFile::make(names, write, old).map_err(SwapError::Unchanged)?;
        copy.sync().map_err(SwapError::Unchanged)?;
        let result = names.exchange(&ExpectedFile { bytes: new, ..ours.expected() }, &copy.expected());
        if matches!(result, Ok(_) | Err(SwapError::NotUndone(_))) {
            drop(copy.published());
        }
        result.map(drop)
    };
    let (new, old) = (ours.expected().bytes, before.content.bytes);
    retry(names, ours, || restore(new, old), |added| restore(&[new, added].concat(), &[old, added].concat()))
}

/// Reverts the write as it is, or with the text that was appended to it.
fn retry(
    names: &SwapNames<'_>,
    ours: &StagedFile<'_>,
    plain: impl Fn() -> Result<(), SwapError>,
    with_added: impl Fn(&[u8]) -> Result<(), SwapError>,
) -> Result<(), SwapError> {
    let mut result = plain();
    for _ in 0..ATTEMPTS {
        match result {
            Err(SwapError::Unchanged(_)) if names.guards.together => {}
            result => return result,
        }
        result = match added(names, ours) {
            Some(added) if added.is_empty() => plain(),
            Some(added) => with_added(&added),
            None => return result,
        };
    }
    result
}

/// Returns the bytes that were appended to the published file; `None` if it has another text, or the name
/// leads to another file.
fn added(names: &SwapNames<'_>, ours: &StagedFile<'_>) -> Option<Vec<u8>> {
    let ours = ours.expected();
    let size = rustix::fs::fstat(ours.file).ok().and_then(|stat| usize::try_from(stat.st_size).ok())?;
    let more = size.checked_sub(ours.bytes.len()).filter(|more| *more <= MAX_ADDED)?;
    let mut text = vec![0; more];
    let mut read = 0;
    while let Some(rest) = text.get_mut(read..).filter(|rest| !rest.is_empty()) {
        let at = u64::try_from(ours.bytes.len().checked_add(read)?).ok()?;
        match retry_on_intr(|| rustix::io::pread(ours.file, &mut *rest, at)).ok()? {
            0 => return None,
            count => read += count,
        }
    }
    let is_whole = ExpectedFile { bytes: &[ours.bytes, &text].concat(), ..ours }.holds();
    (ours.is_named(names.folder, names.target) && is_whole.unwrap_or(false)).then_some(text)
}

/// Makes the displaced file hold the old text followed by these bytes, part of which may be there already.
fn append(names: &SwapNames<'_>, before: &ExpectedContent<'_>, added: &[u8]) -> Io<()> {
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = names.folder.open(names.staged, flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&file)?;
    let size = usize::try_from(stat.st_size).map_err(|_| Errno::FBIG)?;
    let present =
        size.checked_sub(before.content.bytes.len()).and_then(|length| added.split_at_checked(length));
    // The text of a program that writes late through an old descriptor is left alone.
    let (present, rest) =
        present.filter(|_| Identity::from_stat(&stat) == before.snapshot.identity).ok_or(Errno::BUSY)?;
    let text = [before.content.bytes, present].concat();
    if !(ExpectedFile { bytes: &text, ..ExpectedFile::from(*before) }).holds()? {
        return Err(Errno::BUSY);
    }
    write_all(&file, rest)?;
    retry_on_intr(|| rustix::fs::fsync(&file))
}
