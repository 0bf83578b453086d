//! Second names of what is protected: the files of a root that have a protected name, by what they are.
//!
//! Looked for once in a search, and only when a file with several names is met: for each single path that is admitted the
//! root is searched for its names, which would be too slow for every file of a tree of hard links.

use crate::store::access;
use crate::store::folder::{Folder, Identity};
use crate::store::place::join;
use rustix::fs::FileType;
use rustix::io::Errno;
use std::collections::HashSet;
use std::sync::OnceLock;

/// Entries that are looked at, as many as where the names of a single file are looked for.
const MOST_ENTRIES: usize = 400_000;

/// The protected files of one root that have several names, once they were looked for.
#[derive(Debug, Default)]
pub(super) struct Links(OnceLock<Protected>);

#[derive(Debug, Default)]
struct Protected {
    files: HashSet<Identity>,
    left: usize,
}

impl Links {
    /// Whether a file with several names may have a protected one; also where too much would have to be looked at to know.
    pub(super) fn protect(&self, top: &Folder, file: Identity) -> bool {
        let protected = self.0.get_or_init(|| {
            let mut protected = Protected { files: HashSet::new(), left: MOST_ENTRIES };
            protected.look(top);
            protected
        });
        protected.left == 0 || protected.files.contains(&file)
    }
}

/// A folder that is still to be looked at.
struct Left {
    path: String,
    is_plain: bool,
    is_covered: bool,
}

impl Protected {
    /// Passes over what cannot be looked into: who cannot look there has made no link to what is in it.
    fn look(&mut self, top: &Folder) {
        let mut left = vec![Left { path: String::new(), is_plain: true, is_covered: false }];
        let mut space = Vec::new();
        while let Some(here) = left.pop() {
            let Ok(folder) = top.descend(&here.path) else { continue };
            let listed = folder.entries(&mut space, |_, kind, name| {
                self.left = self.left.saturating_sub(1);
                if self.left == 0 {
                    return Err(Errno::CANCELED);
                }
                let Ok(name) = name.to_str() else { return Ok(()) };
                let is_plain = here.is_plain && access::is_plain(name);
                let path = join(&here.path, name);
                let is_covered = here.is_covered || (!is_plain && access::rule_for(&path).is_some());
                let stat =
                    if is_covered || kind == FileType::Unknown { folder.stat(name).ok() } else { None };
                let kind = stat.as_ref().map_or(kind, |stat| FileType::from_raw_mode(stat.st_mode));
                match (kind, stat) {
                    (FileType::Directory, _) => left.push(Left { path, is_plain, is_covered }),
                    (_, Some(stat)) if is_covered && stat.st_nlink > 1 => {
                        self.files.insert(Identity::of(&stat));
                    }
                    _ => {}
                }
                Ok(())
            });
            if listed.is_err() && self.left == 0 {
                return;
            }
        }
    }
}
