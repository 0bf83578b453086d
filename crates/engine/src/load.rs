//! Loads the current text of each target, with its last journal entry.

use super::batch::Batch;
use super::resolve::ResolvedTarget;
use super::services::Services;
use lockgate_error::Error;
use lockgate_policy::Policy;
use lockgate_store::{DocumentPath, Snapshot};
use lockgate_text::Buffer;

/// The size in bytes up to which closing a replaced file takes less time than a hand-over to another thread.
const CLOSED_AT_ONCE: usize = 128 * 1024;

/// The target as it was read under the lock.
pub struct CurrentText {
    /// The text; empty if there is no file.
    pub buffer: Buffer,
    /// The snapshot that the text was read from; `None` if there is no file.
    pub snapshot: Option<Snapshot>,
}

impl CurrentText {
    /// Returns the text, if there was a file, and closes that file: a large one on another thread. The kernel frees
    /// the blocks of a replaced file on close, and the caller need not wait for that.
    pub(super) fn into_previous_text(self) -> Option<Buffer> {
        let CurrentText { buffer, snapshot } = self;
        if let Some(Snapshot::File(file)) = snapshot {
            if buffer.bytes().len() > CLOSED_AT_ONCE {
                tokio::task::spawn_blocking(move || drop(file));
            }
            return Some(buffer);
        }
        snapshot.map(|_| buffer)
    }
}

/// Reads all targets, and sets the last journal entry of each; that of a file is known from the check for interrupted
/// edits.
///
/// Errors: those of reading a document.
pub(super) fn load(
    services: &Services,
    batch: &Batch,
    targets: &mut [ResolvedTarget],
) -> Result<Vec<CurrentText>, Error> {
    let read = |(at, target): (usize, &mut ResolvedTarget)| {
        let last = target.last.take();
        let read = target.place.read_and_last(&services.store, target.rules.limits.file, last);
        let (snapshot, last) = read.map_err(|error| batch.with_edit_index(error, at))?;
        target.last = last;
        decode(services, &target.place, snapshot).map_err(|error| batch.with_edit_index(error, at))
    };
    targets.iter_mut().enumerate().map(read).collect()
}

/// Reads one document; the text is empty if there is none.
pub(super) fn read(services: &Services, place: &DocumentPath, rules: &Policy) -> Result<CurrentText, Error> {
    decode(services, place, place.read(&services.store, rules.limits.file)?)
}

fn decode(
    services: &Services,
    place: &DocumentPath,
    mut snapshot: Option<Snapshot>,
) -> Result<CurrentText, Error> {
    let bytes = snapshot.as_mut().map(Snapshot::take_bytes).unwrap_or_default();
    Ok(CurrentText { buffer: Buffer::read(bytes, place.hints(&services.store))?, snapshot })
}
