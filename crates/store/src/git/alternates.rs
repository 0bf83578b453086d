//! Finds the folders of objects that a repository uses besides its own (`objects/info/alternates`).
//!
//! Invariant: none of these folders, direct or indirect, lies outside of the repository. The lines are read and resolved
//! as gix does, which opens the folders later.

use std::collections::{HashSet, VecDeque};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use gix::odb::alternate;
use lockgate_error::{Code, Error};

use super::tree::describe;
use crate::disk::folder::open_regular;

/// The longest chain of alternates.
const DEEPEST: usize = 5;

/// The most alternates of a repository, counting each line of each file.
const MAX_ALTERNATES: usize = 1000;

/// The largest file that lists alternates, in bytes.
const LARGEST: u64 = 1 << 20;

/// Returns the folder of a repository's own objects, and those of all of its alternates.
///
/// Errors: `INVALID_INPUT` if one of them is outside of the repository, and if they are too many.
pub(super) fn object_folders(top: &Path, objects: &Path) -> Result<HashSet<PathBuf>, Error> {
    let common = objects.parent().unwrap_or(objects).canonicalize().unwrap_or_else(|_| objects.to_owned());
    let mut todo = VecDeque::from([(objects.to_owned(), 0)]);
    let (mut found, mut count) = (HashSet::from([objects.to_owned()]), 0);
    while let Some((folder, depth)) = todo.pop_front() {
        for path in listed(top, &folder)? {
            count += 1;
            if count > MAX_ALTERNATES {
                return Err(refused(top, &format!("has more than {MAX_ALTERNATES} alternates")));
            }
            // gix takes each path as relative to the first folder, not to the one that lists it.
            let other = objects.join(path);
            let inside = other.canonicalize().ok().filter(|real| is_inside(real, &[top, &common]));
            match inside {
                Some(real) if found.contains(&real) => {}
                Some(real) if depth < DEEPEST => {
                    found.insert(real.clone());
                    todo.push_back((real, depth + 1));
                }
                Some(_) => {
                    return Err(refused(top, &format!("has a chain of more than {DEEPEST} alternates")));
                }
                None => {
                    let reason = format!("uses objects from {}, which is outside it", other.display());
                    return Err(refused(top, &reason));
                }
            }
        }
    }
    Ok(found)
}

/// Returns the paths that a folder of objects lists; none if it has no regular file with them.
fn listed(top: &Path, folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let Some((file, _)) = open_regular(&folder.join("info/alternates")) else { return Ok(Vec::new()) };
    let mut text = Vec::new();
    let read = file.take(LARGEST + 1).read_to_end(&mut text);
    read.map_err(|error| refused(top, &format!("has alternates that cannot be read: {error}")))?;
    if u64::try_from(text.len()).unwrap_or(u64::MAX) > LARGEST {
        return Err(refused(top, &format!("has a list of alternates of more than {LARGEST} bytes")));
    }
    let paths = alternate::parse(&text);
    paths.map_err(|error| refused(top, &format!("has invalid alternates: {}", describe(&error))))
}

fn is_inside(real: &Path, folders: &[&Path]) -> bool {
    folders.iter().any(|folder| real.starts_with(folder))
}

fn refused(top: &Path, reason: &str) -> Error {
    Error::new(Code::InvalidInput, format!("the repository in {} {reason}", top.display()))
        .field("--root")
        .hint("copy them with `git repack -a -d`, and remove objects/info/alternates")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A repository's folder with its objects, and folders beside them of which each lists these lines.
    fn folders(lists: &[(&str, String)]) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap().join("root");
        for (folder, lines) in lists {
            fs::create_dir_all(top.join(folder).join("info")).unwrap();
            fs::write(top.join(folder).join("info/alternates"), lines).unwrap();
        }
        fs::create_dir_all(dir.path().join("outside")).unwrap();
        (dir, top)
    }

    fn found(top: &Path) -> Result<usize, String> {
        let found = object_folders(top, &top.join(".git/objects"));
        found.map(|found| found.len()).map_err(|error| error.message)
    }

    #[test]
    fn folders_that_list_each_other_many_times_are_read_once() {
        let chain = |times: usize, last: usize| -> Vec<(String, String)> {
            let name =
                |number: usize| if number == 0 { ".git/objects".to_owned() } else { format!("alt{number}") };
            let next = |number: usize| {
                if number < last { format!("../../alt{}\n", number + 1) } else { String::new() }
            };
            (0..=last).map(|number| (name(number), next(number).repeat(times))).collect()
        };
        let check = |times, last| {
            let chain = chain(times, last);
            let lists: Vec<(&str, String)> =
                chain.iter().map(|(name, lines)| (name.as_str(), lines.clone())).collect();
            let (_dir, top) = folders(&lists);
            found(&top)
        };
        // Read again for each line, they would be hundreds of billions.
        assert_eq!(check(MAX_ALTERNATES / 5, 5), Ok(6));
        assert!(check(MAX_ALTERNATES / 5 + 1, 5).unwrap_err().contains("more than 1000 alternates"));
        assert!(check(1, 6).unwrap_err().contains("a chain of more than 5"));
    }

    #[test]
    fn a_list_is_read_as_gix_reads_it() {
        let outside = |lines: &str| {
            let (dir, top) =
                folders(&[(".git/objects", "../../a/b/c/d\n".to_owned()), ("a/b/c/d", lines.to_owned())]);
            fs::create_dir_all(top.join("a/outside")).unwrap();
            let list = top.join("a/b/c/d/info/alternates");
            let text = fs::read(&list).unwrap();
            fs::write(&list, [b"# \xff\n".as_slice(), &text].concat()).unwrap();
            let result = found(&top);
            drop(dir);
            result
        };
        // Relative to the folder that lists it, the path would lead to a folder in the repository.
        for lines in ["../../../outside\n", "\"../../../outside\"\n"] {
            assert!(outside(lines).unwrap_err().contains("which is outside it"), "{lines}");
        }
        // The controls: a path inside, and a comment.
        assert_eq!(outside("../../a\n"), Ok(3));
        assert_eq!(outside("# ../../../outside\n"), Ok(2));
    }

    #[test]
    fn a_list_that_is_too_large_is_refused() {
        let text = |size: u64| {
            vec![(".git/objects", format!("#{}", " ".repeat(usize::try_from(size).unwrap() - 1)))]
        };
        let (_dir, top) = folders(&text(LARGEST));
        assert_eq!(found(&top), Ok(1));
        let (_dir, top) = folders(&text(LARGEST + 1));
        assert!(found(&top).unwrap_err().contains("more than 1048576 bytes"));
    }
}
