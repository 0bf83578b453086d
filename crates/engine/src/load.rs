//! Loads the current text of each target, with its last journal entry.

use std::sync::Arc;

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
    pub buffer: Arc<Buffer>,
    /// The snapshot that the text was read from or compared with; `None` if there is no file.
    pub snapshot: Option<Snapshot>,
}

impl CurrentText {
    /// Returns the text, if there is a file.
    pub(super) fn text(&self) -> Option<&Buffer> {
        self.snapshot.as_ref().map(|_| &*self.buffer)
    }

    /// Returns the text, if there was a file, and closes that file: a large one on another thread. The kernel frees
    /// the blocks of a replaced file on close, and the caller need not wait for that.
    pub(super) fn into_previous_text(self) -> Option<Arc<Buffer>> {
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
    batch.try_each(targets, |target| load_target(services, target))
}

fn load_target(services: &Services, target: &mut ResolvedTarget) -> Result<CurrentText, Error> {
    let (folder, known_last) = (target.folder.take(), target.last.take());
    let ResolvedTarget { place, rules, last, .. } = target;
    let current = decode(services, place, |known| {
        let limit = rules.limits.file;
        let (snapshot, entry) = place.read_and_last(&services.store, limit, known, folder, known_last)?;
        *last = entry;
        Ok(snapshot)
    })?;
    if let (Some(file), Some(_)) = (target.place.file(), &current.snapshot) {
        services.texts.keep_found(file, &current.buffer);
    }
    Ok(current)
}

/// Reads one document; the text is empty if there is none.
pub(super) fn read(services: &Services, place: &DocumentPath, rules: &Policy) -> Result<CurrentText, Error> {
    decode(services, place, |known| place.read(&services.store, rules.limits.file, known))
}

/// Reads a document by `read`, which gets the last known bytes, and decodes it unless they are the same.
fn decode(
    services: &Services,
    place: &DocumentPath,
    read: impl FnOnce(Option<&[u8]>) -> Result<Option<Snapshot>, Error>,
) -> Result<CurrentText, Error> {
    let hints = place.hints(&services.store);
    let known = place.file().and_then(|file| services.texts.last_known(file, hints));
    let mut snapshot = read(known.as_ref().map(|known| known.bytes()))?;
    match (known, place.file()) {
        (Some(buffer), _) if snapshot.as_ref().is_some_and(Snapshot::is_known) => {
            return Ok(CurrentText { buffer, snapshot });
        }
        (Some(outdated), Some(file)) => services.texts.forget_outdated(file, outdated),
        (Some(_) | None, _) => {}
    }
    let bytes = snapshot.as_mut().map(Snapshot::take_bytes).unwrap_or_default();
    let buffer = Arc::new(Buffer::read(bytes, hints)?);
    Ok(CurrentText { buffer, snapshot })
}
