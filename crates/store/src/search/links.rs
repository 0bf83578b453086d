//! Finds hard links to protected files: the files of all roots that have a protected name, by identity.
//!
//! The roots are scanned once in a search, and only when a hard-linked file is met. Admitting a single path
//! scans the root for the file's other names, which would be too slow for every file of a tree of hard links.

use crate::disk::folder::{Folder, Identity};
use crate::disk::names::{self, Coverage, VisitStep};
use crate::paths::access;
use crate::paths::root::Root;
use rustix::fs::FileType;
use std::collections::HashSet;
use std::sync::OnceLock;

/// The hard-linked protected files of all roots, after the scan.
#[derive(Debug, Default)]
pub(super) struct ProtectedLinks(OnceLock<Protected>);

#[derive(Debug)]
struct Protected {
    files: HashSet<Identity>,
    coverage: Coverage,
}

/// The rules that apply in a folder.
#[derive(Clone, Copy)]
struct FolderLinks {
    is_plain: bool,
    is_covered: bool,
}

impl ProtectedLinks {
    /// True if a hard-linked file may have a protected name in any root, or if too little could be scanned to
    /// know.
    pub(super) fn protect(&self, roots: &[Root], file: Identity) -> bool {
        let protected = self.0.get_or_init(|| Protected::scan(roots));
        protected.coverage == Coverage::TooLittle || protected.files.contains(&file)
    }
}

impl Protected {
    /// Skips folders that may not be read: a user who cannot enter a folder has made no link to its files.
    fn scan(roots: &[Root]) -> Protected {
        let mut protected = Protected { files: HashSet::new(), coverage: Coverage::All };
        for root in roots {
            let coverage = root.top().map_or(Coverage::TooLittle, |top| protected.scan_root(&top));
            protected.coverage = protected.coverage.max(coverage);
        }
        protected
    }

    fn scan_root(&mut self, top: &Folder) -> Coverage {
        names::walk(top, FolderLinks { is_plain: true, is_covered: false }, |parent, name| {
            let is_plain = parent.is_plain && name.last.to_str().is_ok_and(access::is_plain);
            let is_covered = parent.is_covered || (!is_plain && access::rule_for(name.path).is_some());
            let needs_stat = is_covered || name.kind == FileType::Unknown;
            let stat = if needs_stat { name.folder.stat(name.last).ok() } else { None };
            let kind = stat.as_ref().map_or(name.kind, |stat| FileType::from_raw_mode(stat.st_mode));
            match (kind, stat) {
                (FileType::Directory, _) => VisitStep::Into(FolderLinks { is_plain, is_covered }),
                (_, Some(stat)) if is_covered && stat.st_nlink > 1 => {
                    self.files.insert(Identity::from_stat(&stat));
                    VisitStep::On
                }
                _ => VisitStep::On,
            }
        })
    }
}
