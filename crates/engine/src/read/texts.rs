//! A cache of recently read texts, so that reading a few lines of a large file costs little.
//!
//! Invariant: a cached text is returned only while the [`FileFingerprint`] proves that the file still has
//! this content; read access is checked anew each time, before.

use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lru::LruCache;

use lockgate_edit::request::EntityKind;
use lockgate_error::{Code, Error};
use lockgate_policy::Policy;
use lockgate_store::{FileFingerprint, FileLocation, Store};
use lockgate_text::{Buffer, Hints};

/// The most bytes of all cached texts.
const MAX_BYTES: usize = 64 << 20;
/// The time after which a text is given to the journal again, in case it was dropped there.
const JOURNAL_RECHECK: Duration = Duration::from_secs(60);

/// The fingerprint of a file, and the hints by which it was decoded.
type TextKey = (FileFingerprint, Hints);

/// A cache of texts, by file fingerprint and encoding hints.
#[derive(Debug)]
pub(in super::super) struct TextCache(Mutex<CachedTexts>);

#[derive(Debug)]
struct CachedTexts {
    texts: LruCache<TextKey, CachedText>,
    bytes: usize,
    max_bytes: usize,
}

#[derive(Debug)]
struct CachedText {
    text: Arc<Buffer>,
    /// The time at which the text was last given to the journal.
    journal_checked: Option<Instant>,
}

impl Default for TextCache {
    fn default() -> TextCache {
        TextCache::new(MAX_BYTES)
    }
}

impl TextCache {
    fn new(most: usize) -> TextCache {
        TextCache(Mutex::new(CachedTexts { texts: LruCache::unbounded(), bytes: 0, max_bytes: most }))
    }

    fn get(&self, key: &TextKey) -> Option<Arc<Buffer>> {
        let mut cache = self.0.lock();
        cache.texts.get(key).map(|cached| Arc::clone(&cached.text))
    }

    fn put(&self, key: TextKey, text: &Arc<Buffer>) {
        let mut cache = self.0.lock();
        if weight(text) > cache.max_bytes {
            return;
        }
        let cached = CachedText { text: Arc::clone(text), journal_checked: None };
        let before = cache.texts.put(key, cached);
        cache.bytes += weight(text);
        cache.bytes -= before.map_or(0, |before| weight(&before.text));
        while cache.bytes > cache.max_bytes {
            let Some((_, oldest)) = cache.texts.pop_lru() else { return };
            cache.bytes -= weight(&oldest.text);
        }
    }

    /// True if a text is due to be given to the journal; the check itself restarts the interval.
    fn is_to_be_journalled(&self, key: Option<&TextKey>) -> bool {
        let mut cache = self.0.lock();
        let Some(cached) = key.and_then(|key| cache.texts.get_mut(key)) else { return true };
        let is_due = cached.journal_checked.is_none_or(|when| when.elapsed() >= JOURNAL_RECHECK);
        if is_due {
            cached.journal_checked = Some(Instant::now());
        }
        is_due
    }
}

/// Estimates the memory of a text: its bytes, a decoded view if it has one, and its line index.
fn weight(text: &Buffer) -> usize {
    2 * text.bytes().len() + 4 * text.lines().count() + 256
}

impl TextCache {
    /// Returns the text of an admitted file, and stores it in the journal if that is allowed.
    ///
    /// Errors: `FILE_NOT_FOUND`, `NOT_TEXT`, `TOO_LARGE`, and those of reading.
    pub(in super::super) fn read(
        &self,
        store: &Store,
        place: &FileLocation,
        rules: &Policy,
    ) -> Result<Arc<Buffer>, Error> {
        let hints = store.files.hints(place);
        let fingerprint =
            store.files.fingerprint(place).filter(|fingerprint| fingerprint.size() <= rules.limits.file);
        let known = fingerprint
            .and_then(|fingerprint| Some((self.get(&(fingerprint, hints))?, Some((fingerprint, hints)))));
        let (text, key) = match known {
            Some(known) => known,
            None => self.read_from_disk(store, place, rules, hints)?,
        };
        if rules.journals(place.in_root()) && self.is_to_be_journalled(key.as_ref()) {
            store.journal.keep(place, Arc::clone(&text));
        }
        Ok(text)
    }

    fn read_from_disk(
        &self,
        store: &Store,
        place: &FileLocation,
        rules: &Policy,
        hints: Hints,
    ) -> Result<(Arc<Buffer>, Option<TextKey>), Error> {
        let Some(mut snapshot) = store.files.read(place, rules.limits.file)? else {
            return Err(absent(EntityKind::FILE, place.shown()));
        };
        let text = Arc::new(Buffer::read(snapshot.take_bytes(), hints)?);
        let key = snapshot.fingerprint().map(|fingerprint| (fingerprint, hints));
        if let Some(key) = key {
            self.put(key, &text);
        }
        Ok((text, key))
    }
}

/// Returns the error for a target that does not exist.
pub(super) fn absent(noun: &str, path: &str) -> Error {
    let message = format!("there is no {noun}: {path}");
    Error::new(Code::FileNotFound, message).field("path").hint("correct the path")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Workspace;
    use crate::services::Services;
    use std::fs::File;
    use std::path::Path;
    use std::time::SystemTime;

    struct Fixture {
        dir: tempfile::TempDir,
        services: Arc<Services>,
    }

    impl Fixture {
        fn new() -> Fixture {
            let dir = tempfile::tempdir().unwrap();
            let root = dir.path().join("root");
            std::fs::create_dir(&root).unwrap();
            let own = dir.path().join("own");
            let services = Workspace::at(&[root]).with_state_dir(&own).services().unwrap();
            Fixture { dir, services }
        }

        fn file(&self) -> std::path::PathBuf {
            self.dir.path().join("root/a")
        }

        fn read(&self) -> String {
            let place = self.services.store.files.admit_to_read("a").unwrap();
            self.services
                .texts
                .read(&self.services.store, &place, &Policy::embedded())
                .unwrap()
                .view()
                .to_owned()
        }

        fn cached_bytes(&self) -> usize {
            self.services.texts.0.lock().texts.len()
        }
    }

    /// Sets the modification time of a file back, as a hostile program would, to hide a change.
    fn disguise(file: &Path, time: SystemTime) {
        File::options().write(true).open(file).unwrap().set_modified(time).unwrap();
    }

    #[test]
    fn a_file_that_was_just_written_is_read_each_time() {
        let fixture = Fixture::new();
        let old = SystemTime::now() - Duration::from_secs(3600);
        for iteration in 0..50 {
            let text = format!("{iteration:04}\n");
            std::fs::write(fixture.file(), &text).unwrap();
            disguise(&fixture.file(), old);
            assert_eq!(fixture.read(), text);
        }
        assert_eq!(fixture.cached_bytes(), 0);
    }

    #[test]
    fn a_text_is_found_again_until_its_file_changes() {
        let fixture = Fixture::new();
        std::fs::write(fixture.file(), "one\n").unwrap();
        let old = SystemTime::now() - Duration::from_secs(3600);
        disguise(&fixture.file(), old);
        let place = fixture.services.store.files.admit_to_read("a").unwrap();
        // As if it had been read long after its last change.
        let fingerprint = fixture.services.store.files.fingerprint(&place).unwrap();
        let text = Arc::new(Buffer::read(b"from the shelf\n".to_vec(), Hints::default()).unwrap());
        fixture.services.texts.put((fingerprint, Hints::default()), &text);
        assert_eq!(fixture.read(), "from the shelf\n");
        // The same size and the same time of modification: the inode's own time cannot be set.
        std::thread::sleep(Duration::from_millis(30));
        std::fs::write(fixture.file(), "two\n").unwrap();
        disguise(&fixture.file(), old);
        assert_eq!(fixture.read(), "two\n");
    }

    #[test]
    fn the_cache_is_bounded() {
        let texts = TextCache::new(3000);
        let fixture = Fixture::new();
        for size in 0..20 {
            std::fs::write(fixture.file(), "x".repeat(size)).unwrap();
            let place = fixture.services.store.files.admit_to_read("a").unwrap();
            let fingerprint = fixture.services.store.files.fingerprint(&place).unwrap();
            let text = Arc::new(Buffer::read(vec![b'x'; 400], Hints::default()).unwrap());
            texts.put((fingerprint, Hints::default()), &text);
            let cache = texts.0.lock();
            assert!(cache.bytes <= 3000 && cache.texts.len() <= 2, "{}", cache.bytes);
        }
        let large = Arc::new(Buffer::read(vec![b'x'; 4000], Hints::default()).unwrap());
        let place = fixture.services.store.files.admit_to_read("a").unwrap();
        let fingerprint = fixture.services.store.files.fingerprint(&place).unwrap();
        texts.put((fingerprint, Hints { charset: None, line_end: Some(lockgate_text::LineEnd::Lf) }), &large);
        assert_eq!(texts.0.lock().texts.len(), 2);
    }
}
