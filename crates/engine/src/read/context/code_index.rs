//! The index of a workspace, with the proof that each file in it is unchanged.

use std::collections::{HashMap, HashSet};

use lockgate_context::{Index, IndexReader, IndexWriter};
use lockgate_store::{FileFingerprint, FileLocation};

/// The number of changed files after which an index is stored again, and the share of all files, as a divisor.
const MIN_CHANGES: usize = 8;
const SHARE: usize = 50;

/// The index of a workspace, with the fingerprints of its files when they were read.
#[derive(Debug, Default)]
pub(crate) struct CodeIndex {
    pub(super) index: Index,
    /// The fingerprint of each indexed file; `None` if it proves nothing.
    pub(super) fingerprints: HashMap<String, Option<FileFingerprint>>,
    /// The number of files that changed since the index was stored.
    pub(super) unsaved: usize,
    /// Set after the stored index was looked for.
    pub(super) is_loaded: bool,
    /// Set in tests to take every file for unchanged, which shows that fingerprints are needed.
    #[cfg(test)]
    pub(super) is_unreliable: bool,
}

impl CodeIndex {
    /// Names the program and the form of the stored index. The number grows with each change of what is indexed.
    pub(crate) const LABEL: &'static str = concat!("lockgate ", env!("CARGO_PKG_VERSION"), " index 5");

    /// True if the file has not changed since it was read.
    pub(super) fn is_fresh(&self, (place, fingerprint): &(FileLocation, FileFingerprint)) -> bool {
        let Some(known) = self.fingerprints.get(place.shown()) else { return false };
        #[cfg(test)]
        if self.is_unreliable {
            return true;
        }
        *known == Some(*fingerprint)
    }

    /// Removes all files but these.
    pub(super) fn retain(&mut self, paths: &HashSet<&str>) {
        let gone: Vec<String> =
            self.fingerprints.keys().filter(|path| !paths.contains(path.as_str())).cloned().collect();
        self.unsaved += gone.len();
        for path in gone {
            self.fingerprints.remove(&path);
            self.index.remove(&path);
        }
    }

    /// True if enough files have changed to store the index again.
    pub(super) fn is_worth_saving(&self) -> bool {
        self.unsaved > 0 && self.unsaved >= MIN_CHANGES.max(self.fingerprints.len() / SHARE)
    }

    /// Returns the index and the fingerprints in their stored form.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut out = IndexWriter::default();
        self.index.write_to(&mut out);
        out.number(self.fingerprints.len() as u64);
        for (path, fingerprint) in &self.fingerprints {
            out.bytes(path.as_bytes());
            out.number(u64::from(fingerprint.is_some()));
            fingerprint.iter().flat_map(FileFingerprint::numbers).for_each(|number| out.number(number));
        }
        out.into_bytes()
    }

    /// Reads a stored form; `None` for other bytes.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<CodeIndex> {
        let mut reader = IndexReader::new(bytes);
        let index = Index::read_from(&mut reader)?;
        let mut fingerprints = HashMap::new();
        for _ in 0..reader.count()? {
            let path = reader.text()?.to_owned();
            let fingerprint = match reader.number()? {
                0 => None,
                _ => {
                    let mut numbers = [0; 7];
                    for number in &mut numbers {
                        *number = reader.number()?;
                    }
                    Some(FileFingerprint::from_numbers(numbers))
                }
            };
            fingerprints.insert(path, fingerprint);
        }
        reader.is_at_end().then(|| CodeIndex { index, fingerprints, is_loaded: true, ..CodeIndex::default() })
    }
}
