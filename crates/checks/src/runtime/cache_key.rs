//! Cache keys for the answers of programs: the gate's definition, the program, its arguments, the
//! configuration above the file, the text and, as far as the scope goes, the other files.
//!
//! Invariant: two answers have the same key only if all of these are the same, as far as the file system
//! tells.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::key_hasher::KeyHasher;
use super::program_kind::ProgramKind;
use super::{config_deps, file_walk};
use crate::path::folder;
use crate::regular;
use lockgate_policy::{CacheScope, Gate, Rule, ServerSpec};
use lockgate_text::Version;

/// The maximum size of a configuration that is read, in bytes; a larger one is identified by its size and
/// times.
const LARGEST_CONFIGURATION: u64 = 1 << 20;

/// The inputs of one gate's answers about the files of a run.
#[derive(Debug)]
pub(crate) struct CacheKey<'a> {
    /// Each file with a version of the definition, the program, its arguments and the configuration.
    files: Vec<(&'a str, Version)>,
    /// A version of the other files; `None` if they are too many.
    around: Option<Version>,
}

impl<'a> CacheKey<'a> {
    /// Reads the current inputs; `None` if the metadata of the program cannot be read.
    pub(crate) fn new(
        rule: &Rule,
        kind: ProgramKind<'_>,
        program: &Path,
        root: &Path,
        paths: &[&'a str],
    ) -> Option<CacheKey<'a>> {
        let mut run = KeyHasher::default();
        run.add(kind.name());
        run.add(root.as_os_str().as_bytes());
        run.add(rule.gate.name.as_bytes());
        run.add_version(rule.gate.version);
        run.file_at(program)?;
        rule.args.iter().for_each(|word| run.add(word.as_bytes()));
        let (names, edited) = (kind.names(), paths.iter().map(|path| root.join(path)).collect());
        // Files of one folder have the same configuration above them.
        let mut folders: HashMap<&str, Version> = HashMap::new();
        let mut of_file = |path: &'a str| {
            let configuration = folders.entry(folder(path)).or_insert_with(|| {
                let mut tool = KeyHasher::default();
                configure(&mut tool, &names, &root.join(path));
                config_deps::add(&mut tool, &rule.gate, kind, &root.join(path), &edited);
                tool.version()
            });
            let mut tool = KeyHasher::default();
            tool.add_version(run.version());
            tool.add_version(*configuration);
            (path, tool.version())
        };
        let files = paths.iter().map(|path| of_file(path)).collect();
        let around = match kind.scope() {
            CacheScope::File => Some(KeyHasher::default().version()),
            CacheScope::Package => file_walk::package(&rule.gate, root, paths),
            CacheScope::Project => file_walk::project(&rule.gate, root, paths),
        };
        Some(CacheKey { files, around })
    }

    /// Returns the key of an answer about these texts among these other drafts; `None` if it must not be
    /// cached. The text of a removed file is `None`.
    pub(crate) fn of_texts(&self, texts: &[Option<Version>], overlays: Version) -> Option<Version> {
        let mut key = KeyHasher::default();
        key.add(b"text");
        key.add_version(self.around?);
        key.add_version(overlays);
        for ((path, tool), text) in self.files.iter().zip(texts) {
            key.add(path.as_bytes());
            key.add_version(*tool);
            key.add(text.map_or_else(String::new, |text| text.hex()).as_bytes());
        }
        Some(key.version())
    }

    /// Returns the key of a proof about the program for the file at this index, whatever its text.
    pub(crate) fn of_file(&self, at: usize) -> Option<Version> {
        let (path, tool) = self.files.get(at)?;
        let mut key = KeyHasher::default();
        key.add(b"file");
        key.add_version(*tool);
        key.add(path.as_bytes());
        Some(key.version())
    }
}

/// Returns a version of a server for a folder: its definition, its program, and the configuration in the
/// folder and above it.
pub(crate) fn configured(gate: &Gate, server: &ServerSpec, program: &Path, folder: &Path) -> Version {
    let mut tool = KeyHasher::default();
    tool.add_version(gate.version);
    let _unreadable = tool.file_at(program);
    let (kind, file) = (ProgramKind::Server(server), folder.join("file"));
    configure(&mut tool, &kind.names(), &file);
    config_deps::add(&mut tool, gate, kind, &file, &HashSet::new());
    tool.version()
}

/// Adds the configuration in every folder above the file, as programs also look above the root.
fn configure(tool: &mut KeyHasher, names: &BTreeSet<&String>, file: &Path) {
    for folder in file.ancestors().skip(1) {
        for name in names {
            let path = folder.join(name);
            let Ok(found) = std::fs::metadata(&path) else { continue };
            tool.add(path.as_os_str().as_bytes());
            let small = found.is_file() && found.len() <= LARGEST_CONFIGURATION;
            match small.then(|| regular::read(&path, LARGEST_CONFIGURATION)) {
                Some(Ok(text)) => tool.add(&text),
                Some(Err(_)) | None => tool.file(&found),
            }
        }
    }
}
