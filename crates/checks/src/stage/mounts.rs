//! Mounts drafts over the real files, in a mount namespace that only one program sees.
//!
//! An existing file is covered by its draft. If a file is new or removed, its folder is replaced by an empty
//! one in which all other entries of the real folder are mounted, so that nothing is made on disk.
//!
//! Invariant: mount points are below the root, with all links resolved. If that is impossible, the caller
//! makes a copy instead.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{Stage, StagedPath, components, entries, write, write_new};
use lockgate_sandbox::SandboxLayer;

/// The largest number of entries in all replaced folders: each is a mount of its own.
const MAX_MOUNTS: usize = 300;

/// The modification time that a staged file gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileTime<'a> {
    /// A time derived from the text.
    FromText,
    /// The given time of each path, relative to the root; else the time at which it is written.
    Given(&'a BTreeMap<&'a str, SystemTime>),
}

impl FileTime<'_> {
    /// Writes a draft to `place`; `path` is where the program sees it, relative to the root.
    pub(super) fn write(self, place: &Path, path: &str, text: &[u8]) -> io::Result<()> {
        match self {
            FileTime::FromText => write(place, text),
            FileTime::Given(times) => {
                let file = write_new(place, text)?;
                times.get(path).map_or(Ok(()), |time| file.set_modified(*time))
            }
        }
    }
}

/// The mounts of one run.
#[derive(Default)]
struct MountPlan {
    /// The drafts that cover a file, by the path of the file.
    drafts: BTreeMap<PathBuf, PathBuf>,
    /// The replaced folders, each with the names to hide in it.
    replaced: BTreeMap<PathBuf, BTreeSet<OsString>>,
}

impl Stage {
    /// Returns the layers that show these texts at their paths below this absolute root; `None` if that is
    /// impossible.
    pub(crate) fn mount_layers(
        &self,
        root: &Path,
        staged: &[StagedPath<'_>],
        file_time: FileTime<'_>,
    ) -> io::Result<Option<Vec<SandboxLayer>>> {
        // Each is a mount of its own.
        if staged.len() > MAX_MOUNTS {
            return Ok(None);
        }
        let folder = self.folder("laid")?;
        let mut plan = MountPlan::default();
        for (at, staged) in staged.iter().enumerate() {
            components(staged.path)?;
            let Some(place) = plan.mount_point(root, staged)? else { return Ok(None) };
            if let Some(text) = staged.text {
                let draft = folder.join(at.to_string());
                file_time.write(&draft, staged.path, text)?;
                plan.drafts.insert(place, draft);
            }
        }
        plan.layers(self)
    }
}

impl MountPlan {
    /// Returns the path of a text with links resolved; `None` if that is outside of the root, or not a file.
    fn mount_point(&mut self, root: &Path, staged: &StagedPath<'_>) -> io::Result<Option<PathBuf>> {
        let path = root.join(staged.path);
        match (staged.text, path.canonicalize()) {
            (Some(_), Ok(place)) => Ok((place.starts_with(root) && place.is_file()).then_some(place)),
            (None, Ok(_)) => {
                let (Some(above), Some(name)) = (path.parent(), path.file_name()) else { return Ok(None) };
                let above = above.canonicalize()?;
                self.replaced.entry(above.clone()).or_default().insert(name.to_owned());
                Ok(above.starts_with(root).then(|| above.join(name)))
            }
            (text, Err(error)) if error.kind() == ErrorKind::NotFound => {
                // Mounting over a dangling link would create its target.
                if path.symlink_metadata().is_ok() {
                    return Ok(None);
                }
                let mut above = path.ancestors().skip(1);
                let Some(above) = above.find(|above| above.symlink_metadata().is_ok()) else {
                    return Ok(None);
                };
                let (real, way) = (above.canonicalize()?, path.strip_prefix(above).unwrap_or(&path));
                if !real.starts_with(root) || !real.is_dir() {
                    return Ok(None);
                }
                if text.is_some() {
                    self.replaced.entry(real.clone()).or_default();
                }
                Ok(Some(real.join(way)))
            }
            (_, Err(error)) => Err(error),
        }
    }

    /// The layers; folders come before their contents.
    fn layers(&self, stage: &Stage) -> io::Result<Option<Vec<SandboxLayer>>> {
        let (mut layers, mut count) = (Vec::new(), 0);
        for (folder, removed) in &self.replaced {
            layers.push(SandboxLayer::Empty(folder.clone()));
            let Ok(entries) = entries(folder, MAX_MOUNTS) else { return Ok(None) };
            count += entries.len();
            for entry in entries.iter().filter(|entry| !removed.contains(&entry.file_name())) {
                let (path, kind) = (entry.path(), entry.file_type()?);
                if kind.is_symlink() {
                    layers.push(SandboxLayer::Link { to: fs::read_link(&path)?, at: path });
                } else if !kind.is_socket() && !stage.path().starts_with(&path) {
                    layers.push(SandboxLayer::Bind { from: path.clone(), at: path });
                }
            }
        }
        let drafts =
            self.drafts.iter().map(|(at, from)| SandboxLayer::Bind { from: from.clone(), at: at.clone() });
        layers.extend(drafts);
        layers.extend(self.replaced.keys().cloned().map(SandboxLayer::ReadOnly));
        Ok((count <= MAX_MOUNTS).then_some(layers))
    }
}
