//! A cache of the last known text of each file, so that a text that a file still has is neither decoded, indexed nor hashed
//! again.
//!
//! Invariant: a cached text is taken for the text of a file only while the [`FileFingerprint`] proves that the file still
//! has this content, or after its bytes were compared with those of the file, and only for the hints by which it was decoded.
//! Read access is checked anew each time, before.

use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lru::LruCache;

use super::journal_limits::journal_limits;
use lockgate_edit::request::EntityKind;
use lockgate_error::{Code, Error};
use lockgate_policy::Policy;
use lockgate_store::{FileFingerprint, FileLocation, LockKey, Store};
use lockgate_text::{Buffer, Hints};

/// The most bytes of all cached texts.
const MAX_BYTES: usize = 64 << 20;
/// The time after which a text is given to the journal again, in case it was dropped there.
const JOURNAL_RECHECK: Duration = Duration::from_secs(60);

/// A cache of texts, by the file that has or had them.
#[derive(Debug)]
pub(super) struct TextCache(Mutex<CachedTexts>);

#[derive(Debug)]
struct CachedTexts {
    texts: LruCache<LockKey, CachedText>,
    bytes: usize,
    max_bytes: usize,
}

#[derive(Debug)]
struct CachedText {
    text: Arc<Buffer>,
    /// The state of the file that proves this text; `None` if only a comparison does.
    fingerprint: Option<FileFingerprint>,
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

    /// Returns the last known text of a file, decoded by these hints; the file may have another text by now.
    pub(super) fn last_known(&self, place: &FileLocation, hints: Hints) -> Option<Arc<Buffer>> {
        self.find(place, hints, |_| true)
    }

    /// Returns the text of a file, and stores it in the journal if that is allowed, within its limits.
    ///
    /// Errors: `FILE_NOT_FOUND`, `NOT_TEXT`, `TOO_LARGE`, and those of reading.
    pub(super) fn read(
        &self,
        store: &Store,
        place: &FileLocation,
        rules: &Policy,
    ) -> Result<Arc<Buffer>, Error> {
        let hints = store.files.hints(place);
        let fingerprint =
            store.files.fingerprint(place).filter(|fingerprint| fingerprint.size() <= rules.limits.file);
        let proven = fingerprint
            .and_then(|state| self.find(place, hints, |cached| cached.fingerprint.as_ref() == Some(&state)));
        let text = match proven {
            Some(text) => text,
            None => self.read_from_disk(store, place, rules, hints)?,
        };
        if rules.journals(place.in_root()) && self.is_to_be_journalled(place, &text) {
            store.journal.keep(place, Arc::clone(&text), journal_limits(rules));
        }
        Ok(text)
    }

    fn read_from_disk(
        &self,
        store: &Store,
        place: &FileLocation,
        rules: &Policy,
        hints: Hints,
    ) -> Result<Arc<Buffer>, Error> {
        let known = self.last_known(place, hints);
        let bytes = known.as_ref().map(|known| known.bytes());
        let Some(mut snapshot) = store.files.read_unless_known(place, rules.limits.file, bytes)? else {
            return Err(absent(EntityKind::FILE, place.shown()));
        };
        let text = match known {
            Some(known) if snapshot.is_known() => known,
            known => {
                known.into_iter().for_each(|outdated| self.forget_outdated(place, outdated));
                Arc::new(Buffer::read(snapshot.take_bytes(), hints)?)
            }
        };
        self.put(place, &text, snapshot.fingerprint());
        Ok(text)
    }

    /// Keeps the text that an edit found in a file. It is no proof for later reads: a program that has mapped the file can
    /// change it without a new time.
    pub(super) fn keep_found(&self, place: &FileLocation, text: &Arc<Buffer>) {
        let is_kept =
            self.0.lock().texts.get(&place.key()).is_some_and(|cached| Arc::ptr_eq(&cached.text, text));
        if !is_kept {
            self.put(place, text, None);
        }
    }

    /// Keeps the text that was just written to a file, if it would be read as it is.
    pub(super) fn keep_written(&self, place: &FileLocation, text: &Arc<Buffer>) {
        if text.reads_back_exactly() {
            self.put(place, text, None);
        } else {
            self.forget(place);
        }
    }

    /// Forgets the text of a file, which has another or none.
    pub(super) fn forget(&self, place: &FileLocation) {
        let mut cache = self.0.lock();
        let before = cache.texts.pop(&place.key());
        cache.bytes -= before.as_ref().map_or(0, |before| weight(&before.text));
        // The text is freed after the lock is released.
        drop(cache);
    }

    /// Forgets a text that a file no longer has, so that its memory is free for the current one.
    pub(super) fn forget_outdated(&self, place: &FileLocation, text: Arc<Buffer>) {
        let is_cached =
            self.0.lock().texts.peek(&place.key()).is_some_and(|cached| Arc::ptr_eq(&cached.text, &text));
        drop(text);
        if is_cached {
            self.forget(place);
        }
    }

    fn find(
        &self,
        place: &FileLocation,
        hints: Hints,
        condition: impl FnOnce(&CachedText) -> bool,
    ) -> Option<Arc<Buffer>> {
        let mut cache = self.0.lock();
        let cached = cache.texts.get(&place.key())?;
        (cached.text.hints() == hints && condition(cached)).then(|| Arc::clone(&cached.text))
    }

    fn put(&self, place: &FileLocation, text: &Arc<Buffer>, fingerprint: Option<FileFingerprint>) {
        let key = place.key();
        // Freed only after the lock is released.
        let mut evicted = Vec::new();
        let mut cache = self.0.lock();
        if weight(text) > cache.max_bytes {
            drop(cache);
            return self.forget(place);
        }
        if let Some(cached) = cache.texts.get_mut(&key).filter(|cached| Arc::ptr_eq(&cached.text, text)) {
            if fingerprint.is_none() || cached.fingerprint != fingerprint {
                // In case the journal was removed, or had no room for the text.
                cached.journal_checked = None;
            }
            cached.fingerprint = fingerprint;
            return;
        }
        let cached = CachedText { text: Arc::clone(text), fingerprint, journal_checked: None };
        let before = cache.texts.put(key, cached);
        cache.bytes += weight(text);
        cache.bytes -= before.as_ref().map_or(0, |before| weight(&before.text));
        evicted.extend(before);
        while cache.bytes > cache.max_bytes {
            let Some((_, oldest)) = cache.texts.pop_lru() else { return };
            cache.bytes -= weight(&oldest.text);
            evicted.push(oldest);
        }
    }

    /// True if a text of a file is due to be given to the journal; the check itself restarts the interval.
    fn is_to_be_journalled(&self, place: &FileLocation, text: &Arc<Buffer>) -> bool {
        let mut cache = self.0.lock();
        let cached = cache.texts.get_mut(&place.key()).filter(|cached| Arc::ptr_eq(&cached.text, text));
        let Some(cached) = cached else { return true };
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

/// Returns the error for a target that does not exist.
pub(super) fn absent(noun: &str, path: &str) -> Error {
    let message = format!("there is no {noun}: {path}");
    Error::new(Code::FileNotFound, message).field("path").hint("correct the path")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Fixture;
    use std::fs::File;
    use std::path::Path;
    use std::time::SystemTime;

    use lockgate_checks::Watch;
    use lockgate_edit::Edit;
    use lockgate_edit::request::{Author, Mode, Request, Target};
    use lockgate_text::LineEnd;

    impl Fixture {
        fn file(&self) -> std::path::PathBuf {
            self.root().join("a")
        }

        fn place(&self) -> FileLocation {
            self.services.store.files.admit_to_read("a").unwrap()
        }

        fn read(&self) -> String {
            let text = self.services.texts.read(&self.services.store, &self.place(), &Policy::embedded());
            text.unwrap().view().to_owned()
        }

        async fn edit(&self, content: &str, mode: Mode) -> crate::report::TextChange {
            let request = Request {
                mode,
                author: Author { tool: "test".to_owned(), name: "me".to_owned(), confirmation_id: None },
                ..Request::new(Target::File("a".to_owned()), Edit::Content(content.to_owned()))
            };
            self.services.edit(request, Watch::idle()).await.unwrap().change
        }

        fn cached(&self) -> (Arc<Buffer>, Option<FileFingerprint>) {
            let cache = self.services.texts.0.lock();
            let cached = cache.texts.peek(&self.place().key()).unwrap();
            (Arc::clone(&cached.text), cached.fingerprint)
        }
    }

    /// Sets the modification time of a file back, as a hostile program would, to hide a change.
    fn disguise(file: &Path, time: SystemTime) {
        File::options().write(true).open(file).unwrap().set_modified(time).unwrap();
    }

    #[test]
    fn a_file_that_was_just_written_is_read_each_time() {
        let fixture = Fixture::new(&[]);
        let old = SystemTime::now() - Duration::from_secs(3600);
        for iteration in 0..50 {
            let text = format!("{iteration:04}\n");
            std::fs::write(fixture.file(), &text).unwrap();
            disguise(&fixture.file(), old);
            assert_eq!(fixture.read(), text);
            assert!(fixture.cached().1.is_none());
        }
    }

    #[test]
    fn a_text_is_found_again_until_its_file_changes() {
        let fixture = Fixture::new(&[]);
        std::fs::write(fixture.file(), "one\n").unwrap();
        let old = SystemTime::now() - Duration::from_secs(3600);
        disguise(&fixture.file(), old);
        let place = fixture.place();
        // As if it had been read long after its last change.
        let fingerprint = fixture.services.store.files.fingerprint(&place);
        let text = Arc::new(Buffer::read(b"from the cache\n".to_vec(), Hints::default()).unwrap());
        fixture.services.texts.put(&place, &text, fingerprint);
        assert_eq!(fixture.read(), "from the cache\n");
        // The same size and the same time of modification: the inode's own time cannot be set.
        std::thread::sleep(Duration::from_millis(30));
        std::fs::write(fixture.file(), "two\n").unwrap();
        disguise(&fixture.file(), old);
        assert_eq!(fixture.read(), "two\n");
    }

    #[test]
    fn a_text_without_fingerprint_is_found_again_while_the_file_has_its_bytes() {
        let fixture = Fixture::new(&[]);
        std::fs::write(fixture.file(), "one\n").unwrap();
        assert_eq!(fixture.read(), "one\n");
        let (first, _) = fixture.cached();
        std::fs::write(fixture.file(), "one\n").unwrap();
        assert_eq!(fixture.read(), "one\n");
        assert!(Arc::ptr_eq(&first, &fixture.cached().0));
        for other in ["two\n", "one\n\n", "one", ""] {
            std::fs::write(fixture.file(), other).unwrap();
            assert_eq!(fixture.read(), other);
        }
    }

    #[test]
    fn a_text_that_a_file_no_longer_has_is_freed_before_the_current_one_is_decoded() {
        let fixture = Fixture::new(&[]);
        let (place, texts) = (fixture.place(), &fixture.services.texts);
        let [old, new] =
            ["old", "new"].map(|text| Arc::new(Buffer::read(text.into(), Hints::default()).unwrap()));
        texts.put(&place, &old, None);
        texts.forget_outdated(&place, Arc::clone(&old));
        assert_eq!(Arc::strong_count(&old), 1);
        // Another call has found the current one by now.
        texts.put(&place, &new, None);
        texts.forget_outdated(&place, old);
        assert!(texts.last_known(&place, Hints::default()).is_some());
    }

    #[test]
    fn a_text_of_other_hints_is_not_found() {
        let fixture = Fixture::new(&[]);
        let place = fixture.place();
        let text = Arc::new(Buffer::read(b"a\n".to_vec(), Hints::default()).unwrap());
        fixture.services.texts.put(&place, &text, None);
        let hints = Hints { charset: None, line_end: Some(LineEnd::CrLf) };
        assert!(fixture.services.texts.last_known(&place, Hints::default()).is_some());
        assert!(fixture.services.texts.last_known(&place, hints).is_none());
    }

    #[test]
    fn a_written_text_is_kept_only_if_it_would_be_read_as_it_is() {
        let fixture = Fixture::new(&[]);
        let (place, texts) = (fixture.place(), &fixture.services.texts);
        let plain = Buffer::read(b"a\n".to_vec(), Hints::default()).unwrap();
        let edited = plain.apply(&plain.replace_all("\u{feff}a\n".as_bytes()).unwrap()).unwrap();
        for (text, is_kept) in [(plain, true), (edited, false)] {
            texts.keep_written(&place, &Arc::new(text));
            assert_eq!(texts.last_known(&place, Hints::default()).is_some(), is_kept);
        }
    }

    #[test]
    fn the_cache_is_bounded() {
        let texts = TextCache::new(3000);
        let fixture = Fixture::new(&[]);
        let place = |name: usize| fixture.services.store.files.admit_to_read(&name.to_string()).unwrap();
        let text = |size: usize| Arc::new(Buffer::read(vec![b'x'; size], Hints::default()).unwrap());
        for name in 0..20 {
            texts.put(&place(name), &text(400), None);
            texts.put(&place(name), &text(300), None);
            let cache = texts.0.lock();
            let weights: usize = cache.texts.iter().map(|(_, cached)| weight(&cached.text)).sum();
            assert!(cache.bytes == weights && cache.bytes <= 3000 && cache.texts.len() <= 3, "{weights}");
        }
        let is_cached = |name| texts.last_known(&place(name), Hints::default()).is_some();
        assert!(is_cached(19) && !is_cached(0));
        // A text above the limit is not kept, and it does not take the place of others.
        texts.put(&place(18), &text(4000), None);
        assert!(is_cached(19) && !is_cached(18) && texts.0.lock().texts.len() == 2);
    }

    #[test]
    fn each_text_of_a_file_is_given_to_the_journal() {
        let fixture = Fixture::new(&[]);
        let (place, texts) = (fixture.place(), &fixture.services.texts);
        let text = |bytes: &[u8]| Arc::new(Buffer::read(bytes.to_vec(), Hints::default()).unwrap());
        let (first, second) = (text(b"1\n"), text(b"2\n"));
        // Two readers: the second one has put its text before the first one asks.
        texts.put(&place, &first, None);
        texts.put(&place, &second, None);
        assert!(texts.is_to_be_journalled(&place, &first));
        assert!(texts.is_to_be_journalled(&place, &second));
        assert!(!texts.is_to_be_journalled(&place, &second));
        // Read again, from a file of which nothing proves that it is unchanged.
        texts.put(&place, &second, None);
        assert!(texts.is_to_be_journalled(&place, &second));
    }

    #[tokio::test]
    async fn only_a_read_proves_a_text_for_later_reads() {
        let fixture = Fixture::new(&[]);
        std::fs::write(fixture.file(), "one\n").unwrap();
        // Until its times would prove it.
        std::thread::sleep(Duration::from_millis(2100));
        fixture.edit("two\n", Mode::VerifyOnly).await;
        assert_eq!((fixture.cached().0.view(), fixture.cached().1), ("one\n", None));
        assert_eq!(fixture.read(), "one\n");
        let proof = fixture.cached().1;
        assert!(proof.is_some());
        fixture.edit("two\n", Mode::VerifyOnly).await;
        assert_eq!(fixture.cached().1, proof, "the proof of a read stays");
    }

    #[tokio::test]
    async fn an_edit_starts_from_the_text_that_the_last_one_wrote() {
        let fixture = Fixture::new(&[]);
        let edit = async |content: &str| fixture.edit(content, Mode::Strict).await;
        let first = edit("one\n").await;
        let second = edit("two\n").await;
        assert!(Arc::ptr_eq(&first.draft, second.before.as_ref().unwrap()));
        // Another program writes as many bytes.
        std::fs::write(fixture.file(), "owt\n").unwrap();
        let third = edit("three\n").await;
        assert_eq!(third.before.unwrap().view(), "owt\n");
        // A text with CRLF may be decoded in another way, so it is read again.
        edit("a\r\n").await;
        assert!(fixture.services.texts.last_known(&fixture.place(), Hints::default()).is_none());
    }
}
