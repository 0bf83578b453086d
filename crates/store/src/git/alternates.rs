//! Rejects repositories that use objects from other folders (`objects/info/alternates`).
//!
//! Invariant: none of these folders, direct or indirect, lies outside of the repository.

use std::path::Path;

use lockgate_error::{Code, Error};

/// The longest chain of alternates.
const DEEPEST: usize = 5;

/// Fails for a repository that uses objects from outside of it.
pub(super) fn refuse_outside(top: &Path, objects: &Path) -> Result<(), Error> {
    let common = objects.parent().unwrap_or(objects).canonicalize().unwrap_or_else(|_| objects.to_owned());
    let mut todo = vec![(objects.to_owned(), 0)];
    while let Some((folder, depth)) = todo.pop() {
        let alternates = std::fs::read_to_string(folder.join("info/alternates")).unwrap_or_default();
        for line in
            alternates.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
        {
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

fn refused(top: &Path, other: &Path) -> Error {
    let message = format!("the repository in {} uses objects from {}", top.display(), other.display());
    Error::new(Code::InvalidInput, format!("{message}, which is outside it"))
        .field("--root")
        .hint("copy them with `git repack -a -d`, and remove objects/info/alternates")
}
