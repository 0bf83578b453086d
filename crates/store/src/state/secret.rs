//! Secrets for the user's own clients: created once, kept for the user alone.
//!
//! Invariant: a returned secret was read from a file that no other user can read or write.

use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{StateFolder, doubt, failed, open_own, stage, staged_name};
use lockgate_error::{Code, Error};

/// The folder of secrets, in the state folder.
const SECRETS: &str = "secrets";
/// The largest file that is accepted, in bytes.
const LARGEST: u64 = 4096;
/// The permission bits that give other users access.
const OTHERS_READ: u32 = 0o077;

impl StateFolder {
    /// Returns the secret of that name and the path of its file; `fresh` creates it if there is none.
    ///
    /// Errors: `PERMISSION_DENIED` if lockgate has no usable state folder or others could have read the
    /// secret, and errors of the system.
    pub fn secret(
        &self,
        name: &str,
        fresh: impl FnOnce() -> Result<String, Error>,
    ) -> Result<(PathBuf, String), Error> {
        let folder = self.folder(SECRETS).map_err(|reason| {
            Error::new(Code::PermissionDenied, format!("no secret can be stored: {reason}"))
                .hint("set XDG_STATE_HOME to a folder of your own outside every root")
        })?;
        let path = folder.join(name);
        if let Some(secret) = read(&path)? {
            return Ok((path, secret));
        }
        let staged = folder.join(staged_name());
        // Linked, not renamed: if two processes create it at the same time, both read the first one's.
        let result = stage(&staged, format!("{}\n", fresh()?).as_bytes())
            .and_then(|()| std::fs::hard_link(&staged, &path));
        drop(std::fs::remove_file(&staged));
        match result {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                Err(failed("making the secret", &path, &error))
            }
            Ok(()) | Err(_) => match read(&path)? {
                Some(secret) => Ok((path, secret)),
                None => Err(Error::new(Code::IoFailed, format!("{} is gone", path.display()))),
            },
        }
    }
}

fn read(path: &Path) -> Result<Option<String>, Error> {
    let opened = open_own(path).map_err(|error| failed("opening the secret", path, &error))?;
    let Some(file) = opened else { return Ok(None) };
    let fails = |error: &std::io::Error| failed("reading the secret", path, error);
    let found = file.metadata().map_err(|error| fails(&error))?;
    let readable = || {
        let open = found.mode() & OTHERS_READ != 0;
        open.then(|| format!("may be read by others (mode {:04o})", found.mode() & 0o7777))
    };
    if let Some(reason) = doubt(&found).or_else(readable) {
        let message = format!("{} {reason}", path.display());
        return Err(
            Error::new(Code::PermissionDenied, message).hint("remove the file: lockgate creates another one")
        );
    }
    let mut text = String::new();
    file.take(LARGEST).read_to_string(&mut text).map_err(|error| fails(&error))?;
    Ok(Some(text.trim_end().to_owned()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn state(dir: &Path) -> StateFolder {
        let own = |name: &str| Ok(dir.join(name));
        StateFolder::at(own("state"), own("cache"), &[])
    }

    fn not_called() -> Result<String, Error> {
        panic!("the secret is there")
    }

    #[test]
    fn a_secret_is_made_once_for_the_user_alone() {
        let dir = tempfile::tempdir().unwrap();
        let state = state(dir.path());
        let (path, secret) = state.secret("http", || Ok("first".to_owned())).unwrap();
        assert_eq!((secret.as_str(), path.metadata().unwrap().mode() & 0o7777), ("first", 0o600));
        assert_eq!(path.parent().unwrap().metadata().unwrap().mode() & 0o7777, 0o700);
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no staged file is left");
        assert_eq!(state.secret("http", not_called).unwrap().1, "first");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(state.secret("http", || Ok("second".to_owned())).unwrap().1, "second");
    }

    #[test]
    fn a_secret_that_others_could_know_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let state = state(dir.path());
        let (path, _) = state.secret("http", || Ok("known".to_owned())).unwrap();
        for (mode, expected) in
            [(0o640, "read by others"), (0o604, "read by others"), (0o620, "written by others")]
        {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let error = state.secret("http", not_called).unwrap_err();
            assert_eq!(error.code, Code::PermissionDenied);
            assert!(
                error.message.contains(expected) && !error.message.contains("known"),
                "{}",
                error.message
            );
        }
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(dir.path().join("elsewhere"), &path).unwrap();
        assert!(state.secret("http", || Ok("x".to_owned())).is_err());
    }

    #[test]
    fn no_secret_lies_inside_a_root() {
        let dir = tempfile::tempdir().unwrap();
        let own = || Ok(dir.path().join("state"));
        let state = StateFolder::at(own(), own(), &[dir.path().to_owned()]);
        let error = state.secret("http", not_called).unwrap_err();
        assert!(error.message.contains("inside the root"), "{}", error.message);
    }
}
