//! Repositories that take objects from other folders.
//!
//! Invariant: none of these folders lies outside of the repository, at any distance.

use std::path::{Path, PathBuf};

use crate::error::{Code, Error};

/// How far the folders may name each other.
const DEEPEST: usize = 5;

/// Refuses a repository whose objects are taken from outside of it.
pub(super) fn refuse_outside(top: &Path, objects: &Path) -> Result<(), Error> {
    let common = objects.parent().unwrap_or(objects).canonicalize().unwrap_or_else(|_| objects.to_owned());
    let mut todo = vec![(objects.to_owned(), 0)];
    while let Some((folder, depth)) = todo.pop() {
        let named = std::fs::read_to_string(folder.join("info/alternates")).unwrap_or_default();
        for line in named.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let other = folder.join(line);
            let inside = other.canonicalize().ok().filter(|real| is_inside(real, &[top, &common]));
            match inside {
                Some(real) if depth < DEEPEST => todo.push((real, depth + 1)),
                Some(_) | None => return Err(refused(top, &other)),
            }
        }
    }
    Ok(())
}

fn is_inside(real: &Path, folders: &[&Path]) -> bool {
    folders.iter().any(|folder| real.starts_with(folder))
}

fn refused(top: &Path, other: &PathBuf) -> Error {
    let seen = format!("the repository in {} takes objects from {}", top.display(), other.display());
    Error::new(Code::InvalidInput, format!("{seen}, which lies outside of it"))
        .field("--root")
        .hint("copy them with `git repack -a -d`, and remove objects/info/alternates")
}
