//! Proofs that a program looks at its input: it must find something in a canary, a text that no configuration
//! lets pass.
//!
//! A program that is configured to skip a file or a folder, or that reads the file on disk instead of the
//! draft, calls everything clean. So a clean answer counts only if the program has found the mistake in a canary.
//!
//! A proof holds for a minute, or for a day if the program looks at the whole project. It ends at once if
//! something changes that may make the program skip the file: see [`Traits`](super::traits::Traits). Proofs
//! that hold for a day are saved in a folder owned by lockgate, so that a process that makes one edit needs
//! no run for the canary either.
//!
//! Invariant: a proof holds for one file, one program and one configuration, because a program can be
//! configured to skip a single file of a folder. Only `Works` is saved, and a saved proof is trusted only if
//! no other user can have written it.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use lru::LruCache;

use super::traits::Traits;
use crate::stage::{Note, Notes};
use lockgate_text::Version;

/// The maximum number of proofs in memory.
const MAX_PROOFS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(4095);

/// The lifetime of a proof: a configuration may include files that its gate's definition does not name.
const LIFE: Duration = Duration::from_secs(60);
/// The lifetime of a proof for a program whose tree is known.
const LONG_LIFE: Duration = Duration::from_secs(24 * 60 * 60);

/// The result of a canary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proof {
    /// The program found something in it.
    Works,
    /// The program reads the file, but the check is disabled there.
    Off,
    /// The program found nothing in it.
    Blind,
}

/// The results of canaries, valid until the program, its configuration or the traits of the files change, or
/// the lifetime ends.
#[derive(Debug)]
pub(crate) struct Proofs {
    known: Mutex<LruCache<Version, ProofEntry>>,
    /// The directory that stores proofs, one file for each root.
    written: Option<Notes>,
}

/// A proof that is kept in memory.
#[derive(Debug, Clone)]
struct ProofEntry {
    proof: Proof,
    since: Instant,
    traits: Version,
}

/// The subject of a proof: a file, with the inputs that the proof depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    /// The key of the file, the program and its configuration.
    pub(crate) key: Version,
    /// The absolute path of the root.
    pub(crate) root: &'a Path,
    /// The traits of the file, and of the others if the program looks at them.
    pub(crate) traits: &'a Traits,
    /// The path of the file, relative to the root.
    pub(crate) path: &'a str,
}

impl Subject<'_> {
    fn file_traits(&self) -> Version {
        self.traits.of_file(self.path)
    }

    /// Returns the traits of the tree and of the file; `None` if those of the tree are unknown.
    fn tree_traits(&self) -> Option<Version> {
        self.traits.of_tree_with(self.path)
    }
}

impl Default for Proofs {
    fn default() -> Proofs {
        Proofs::with_directory(None)
    }
}

impl Proofs {
    /// Creates a set of proofs that saves the long-lived ones in `folder`, if there is one.
    pub(crate) fn with_directory(folder: Option<PathBuf>) -> Proofs {
        Proofs { known: Mutex::new(LruCache::new(MAX_PROOFS)), written: folder.map(Notes::in_folder) }
    }

    /// Returns the proof for each of these subjects, if there is one.
    pub(crate) fn proof(&self, subjects: &[Subject<'_>]) -> Vec<Option<Proof>> {
        let mut proofs: Vec<Option<Proof>> =
            subjects.iter().map(|subject| self.remembered(subject)).collect();
        let mut written: Option<BTreeMap<String, Note>> = None;
        for (subject, proof) in subjects.iter().zip(&mut proofs).filter(|(_, proof)| proof.is_none()) {
            // Without traits of the tree a proof does not outlast its minute.
            let Some(traits) = subject.tree_traits() else { continue };
            let written = written.get_or_insert_with(|| self.read(subject.root));
            let holds = written.get(&subject.key.hex()).is_some_and(|known| {
                let age = SystemTime::now().duration_since(known.since);
                known.text == traits.hex() && age.is_ok_and(|age| age < LONG_LIFE)
            });
            if holds {
                *proof = Some(Proof::Works);
                self.remember(subject, Proof::Works);
            }
        }
        proofs
    }

    /// Stores the results of canaries.
    pub(crate) fn keep(&self, results: &[(Subject<'_>, Proof)]) {
        results.iter().for_each(|(subject, proof)| self.remember(subject, *proof));
        let Some((first, _)) = results.first() else { return };
        let lasting =
            results.iter().filter(|(_, proof)| *proof == Proof::Works).filter_map(|(subject, _)| {
                let text = subject.tree_traits()?.hex();
                Some((subject.key.hex(), Note { since: SystemTime::now(), text }))
            });
        let lasting: Vec<(String, Note)> = lasting.collect();
        let Some(written) = self.written.as_ref().filter(|_| !lasting.is_empty()) else { return };
        if let Err(error) = written.add(first.root, lasting, LONG_LIFE) {
            tracing::debug!(%error, "the results of canaries could not be saved");
        }
    }

    fn read(&self, root: &Path) -> BTreeMap<String, Note> {
        self.written.as_ref().map(|written| written.read(root)).unwrap_or_default()
    }

    fn remembered(&self, subject: &Subject<'_>) -> Option<Proof> {
        let tree = subject.tree_traits();
        let mut known = self.known.lock();
        let ProofEntry { proof, since, traits } = known.get(&subject.key)?;
        let (life, holds) = match (proof, tree) {
            (Proof::Works, Some(tree)) => (LONG_LIFE, *traits == tree),
            (Proof::Works, None) => (LIFE, *traits == subject.file_traits()),
            (Proof::Off | Proof::Blind, _) => (LIFE, true),
        };
        (holds && since.elapsed() < life).then_some(*proof)
    }

    fn remember(&self, subject: &Subject<'_>, proof: Proof) {
        let traits = subject.tree_traits().unwrap_or_else(|| subject.file_traits());
        let mut known = self.known.lock();
        known.put(subject.key, ProofEntry { proof, since: Instant::now(), traits });
    }

    /// Makes all proofs in memory older.
    #[cfg(test)]
    pub(crate) fn age(&self, by: Duration) {
        let mut known = self.known.lock();
        known.iter_mut().for_each(|(_, known)| known.since = known.since.checked_sub(by).unwrap());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the proof for a file of a tree with these texts, in a process with no proofs in memory.
    fn known(folder: &Path, tree: Option<&str>, own: &str) -> Option<Proof> {
        let traits = traits(tree, own);
        Proofs::with_directory(Some(folder.to_owned())).proof(&[subject(&traits)]).remove(0)
    }

    fn traits(tree: Option<&str>, own: &str) -> Traits {
        Traits::made(tree, &[("a.ts", own)])
    }

    fn subject(traits: &Traits) -> Subject<'_> {
        Subject { key: Version::hash(b"key"), root: Path::new("/root"), traits, path: "a.ts" }
    }

    fn keep(folder: &Path, tree: Option<&str>, proof: Proof) {
        let traits = traits(tree, "let a = 1\n");
        Proofs::with_directory(Some(folder.to_owned())).keep(&[(subject(&traits), proof)]);
    }

    #[test]
    fn a_proof_is_written_down_where_the_tree_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let own = "let a = 1\n";
        for (tree, proof) in [(None, Proof::Works), (Some("tree"), Proof::Off), (Some("tree"), Proof::Blind)]
        {
            keep(folder, tree, proof);
            assert_eq!(known(folder, Some("tree"), own), None, "{tree:?} {proof:?}");
        }
        keep(folder, Some("tree"), Proof::Works);
        assert_eq!(known(folder, Some("tree"), own), Some(Proof::Works));
        assert_eq!(known(folder, Some("tree"), "let b = 2\n"), Some(Proof::Works), "an edit leaves it");
        assert_eq!(known(folder, Some("tree"), "// @ts-nocheck\nlet a = 1\n"), None, "a switch does not");
        assert_eq!(known(folder, Some("other tree"), own), None);
        assert_eq!(known(folder, None, own), None);
    }
}
