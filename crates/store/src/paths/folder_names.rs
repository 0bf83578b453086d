//! The names of a folder that rules and settings concern, from one listing.
//!
//! A lookup of each such name would cost a system call for each, in every folder of a path, in every call.
//!
//! Invariant: a name counts as absent only after a complete listing of a folder in which names differ from
//! their lookup in case and Unicode form at most; in doubt it may exist.

use super::access::{PROTECTED, RUNNABLE};
use crate::disk::folder::Folder;
use lockgate_text::fold;
use rustix::fs::FileType;
use rustix::io::{Errno, Result as Io};
use std::collections::HashSet;
use std::sync::{LazyLock, OnceLock};

/// The names of a policy in its folder; the first that exists counts.
pub const POLICY_NAMES: &[&str] = &["quality.yaml", ".lockgate/quality.yaml", ".st3/quality.yaml"];
/// The name of the file with encodings and line ends.
pub(crate) const EDITORCONFIG: &str = ".editorconfig";

/// The names without which no folder is a git folder.
const GIT_NAMES: &[&str] = &["HEAD", "commondir"];

/// The first parts of all names that are looked up in folders; a test sees that they are ASCII.
static LOOKED_UP: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let tables = [&PROTECTED.names, &RUNNABLE.names, GIT_NAMES, POLICY_NAMES, &[EDITORCONFIG]];
    tables.concat().into_iter().map(first_part).collect()
});

/// The same names, folded.
static FOLDED: LazyLock<HashSet<String>> =
    LazyLock::new(|| LOOKED_UP.iter().map(|name| fold(name)).collect());

/// The way in which names are looked up in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameLookup {
    /// By their bytes, or by their case and Unicode form folded.
    Listed,
    /// Perhaps also by other spellings, such as short names; or it is not known how.
    Unknown,
}

/// The names of a folder that rules and settings concern.
#[derive(Debug)]
pub(crate) struct FolderNames {
    lookup: NameLookup,
    /// The listed names that are looked up, folded, each with its kind.
    looked_up: Vec<(String, FileType)>,
    /// The names of all symlinks, and of entries whose kind the file system does not tell.
    links: Vec<String>,
    /// The paths of the protected names and of the symlinks in protected folders, once they were listed.
    protected: OnceLock<Vec<String>>,
}

/// The names of a folder, which are read on first use.
pub(crate) type SharedNames = OnceLock<Io<FolderNames>>;

impl FolderNames {
    /// Lists a folder. One that may be passed but not listed has no known links, and any name may exist.
    pub fn read(folder: &Folder, lookup: NameLookup) -> Io<FolderNames> {
        let mut names =
            FolderNames { lookup, looked_up: Vec::new(), links: Vec::new(), protected: OnceLock::new() };
        let listed = folder.each(|_, kind, name| {
            if matches!(kind, FileType::Symlink | FileType::Unknown) {
                names.links.push(name.to_owned());
            }
            if may_be_looked_up(name) {
                let folded = fold(name);
                if FOLDED.contains(&folded) {
                    names.looked_up.push((folded, kind));
                }
            }
            Ok(())
        });
        match listed {
            Ok(()) => Ok(names),
            Err(Errno::ACCESS) => Ok(FolderNames { lookup: NameLookup::Unknown, ..names }),
            Err(errno) => Err(errno),
        }
    }

    /// True unless the folder has no entry of this name; of a name with several parts, the first counts.
    pub fn may_have(&self, name: &str) -> bool {
        self.may_have_looked_up(name) || !LOOKED_UP.contains(first_part(name))
    }

    /// The same for a name that is looked up in folders, such as those of the rules.
    pub fn may_have_looked_up(&self, name: &str) -> bool {
        // A folded name of ASCII is in lower case.
        let is_first = |(listed, _): &(String, FileType)| {
            name.split_at_checked(listed.len()).is_some_and(|(first, rest)| {
                first.eq_ignore_ascii_case(listed) && (rest.is_empty() || rest.starts_with('/'))
            })
        };
        self.lookup == NameLookup::Unknown || self.looked_up.iter().any(is_first)
    }

    /// True if the listing shows a regular file of this name.
    pub fn has_file(&self, name: &str) -> bool {
        let is_file = |(listed, kind): &(String, FileType)| {
            listed.eq_ignore_ascii_case(name) && *kind == FileType::RegularFile
        };
        self.lookup == NameLookup::Listed && self.looked_up.iter().any(is_file)
    }

    /// The paths of the protected names of the folder, and of the symlinks in its protected folders, which `list` lists once.
    pub fn protected(&self, list: impl FnOnce(&FolderNames) -> Io<Vec<String>>) -> Io<&[String]> {
        if let Some(paths) = self.protected.get() {
            return Ok(paths);
        }
        let paths = list(self)?;
        Ok(self.protected.get_or_init(|| paths))
    }

    /// The names of all symlinks, and of entries whose kind the file system does not tell.
    pub fn links(&self) -> impl Iterator<Item = &str> {
        self.links.iter().map(String::as_str)
    }
}

/// The configuration files that may exist in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FolderConfigs {
    policies: [bool; POLICY_NAMES.len()],
    editorconfig: bool,
    /// Set when the first name of a policy is that of a regular file.
    has_plain_policy: bool,
}

impl FolderConfigs {
    /// Returns the files that a listing of the folder shows.
    pub fn listed(names: &FolderNames) -> FolderConfigs {
        let mut policies = [true; POLICY_NAMES.len()];
        policies.iter_mut().zip(POLICY_NAMES).for_each(|(may_exist, name)| *may_exist = names.may_have(name));
        let editorconfig = names.may_have(EDITORCONFIG);
        let has_plain_policy = POLICY_NAMES.first().is_some_and(|name| names.has_file(name));
        FolderConfigs { policies, editorconfig, has_plain_policy }
    }

    /// The value for a folder that was not listed: any file may exist.
    pub const UNKNOWN: FolderConfigs =
        FolderConfigs { policies: [true; POLICY_NAMES.len()], editorconfig: true, has_plain_policy: false };

    /// True if a file of this name may exist.
    pub fn may_have(self, name: &str) -> bool {
        let mut policies = POLICY_NAMES.iter().zip(self.policies);
        match policies.find(|(known, _)| **known == name) {
            Some((_, may_exist)) => may_exist,
            None => name != EDITORCONFIG || self.editorconfig,
        }
    }

    /// True if the first name of a policy is that of a regular file.
    pub fn has_plain_policy(self) -> bool {
        self.has_plain_policy
    }
}

/// False if a name's first letter and length show that it is none of those that are looked up. Most names of a large folder
/// need not be folded then.
fn may_be_looked_up(name: &str) -> bool {
    static FORMS: LazyLock<HashSet<(u8, usize)>> =
        LazyLock::new(|| FOLDED.iter().filter_map(|name| form(name)).collect());
    // Only plain characters fold one by one.
    !name.bytes().all(|byte| byte.is_ascii_graphic()) || form(name).is_some_and(|form| FORMS.contains(&form))
}

/// The first letter in lower case, and the length.
fn form(name: &str) -> Option<(u8, usize)> {
    name.bytes().next().map(|first| (first.to_ascii_lowercase(), name.len()))
}

fn first_part(name: &str) -> &str {
    name.split('/').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn folder(dir: &std::path::Path) -> Folder {
        Folder::new(fs::File::open(dir).unwrap().into())
    }

    #[test]
    fn the_names_that_are_looked_up_differ_in_letter_case_alone_from_their_folded_form() {
        assert!(LOOKED_UP.iter().all(|name| fold(name) == name.to_ascii_lowercase()));
    }

    #[test]
    fn no_spelling_of_a_name_that_is_looked_up_is_ruled_out_by_its_form() {
        for name in [
            ".git",
            ".GIT",
            "QUALITY.yaml",
            "\u{200d}.git",
            "\u{1}head",
            "\u{ff0e}git",
            ".g\u{200d}it",
            "\u{ff28}EAD",
        ] {
            assert!(FOLDED.contains(&fold(name)) && may_be_looked_up(name), "{name:?}");
        }
        assert!(!may_be_looked_up("zeta.rs") && !may_be_looked_up("1.txt"));
    }

    #[test]
    fn all_names_and_folders_of_the_rules_are_looked_up() {
        for name in
            [&*PROTECTED, &*RUNNABLE].into_iter().flat_map(|rules| rules.names.iter().chain(&rules.folders))
        {
            assert!(LOOKED_UP.contains(first_part(name)), "{name}");
        }
    }

    #[test]
    fn only_names_that_a_complete_listing_lacks_are_absent() {
        let dir = tempfile::tempdir().unwrap();
        for name in [".GIT", "quality.yaml", "main.rs", "Head"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        fs::create_dir(dir.path().join(".hg")).unwrap();
        symlink("nowhere", dir.path().join(".env")).unwrap();
        symlink("main.rs", dir.path().join("other")).unwrap();
        let names = FolderNames::read(&folder(dir.path()), NameLookup::Listed).unwrap();
        for name in [".git", ".git/hooks", "HEAD", ".hg/hgrc", ".env", "quality.yaml", "not-in-any-table"] {
            assert!(names.may_have(name), "{name}");
        }
        for name in [".ssh", ".lockgate/quality.yaml", "commondir", ".editorconfig", "opencode.json"] {
            assert!(!names.may_have(name), "{name}");
        }
        assert!(names.may_have_looked_up(".hg/hgrc") && !names.may_have_looked_up(".h"));
        assert!(!names.may_have_looked_up(".environment"), "a listed name is the start of this one");
        assert!(names.has_file("quality.yaml") && !names.has_file(".hg") && !names.has_file(".env"));
        let mut links: Vec<_> = names.links().collect();
        links.sort_unstable();
        assert_eq!(links, [".env", "other"]);
        let unknown = FolderNames::read(&folder(dir.path()), NameLookup::Unknown).unwrap();
        assert!(unknown.may_have(".ssh") && !unknown.has_file("quality.yaml"));
    }
}
