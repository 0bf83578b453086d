//! Reads one configuration file.
//!
//! Invariant: an existing file is read whole or is an error.

use crate::system_error;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;
use std::io::Read;

/// The largest file that is read, in bytes.
const LARGEST: u64 = 1024 * 1024;

const DANGLING: &str = "it is a symlink whose target does not exist";

/// Reads a configuration file, or returns the error; `None` if there is no such entry.
pub(crate) fn read(dir: &Dir, name: &str) -> Result<Option<String>, String> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
    let file = match dir.open_with(name, &options) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => {
            return if is_dangling(dir, name) { Err(DANGLING.into()) } else { Ok(None) };
        }
        Err(error) if system_error::is_escape(&error) => {
            return Err("it is a symlink to a target outside the root".into());
        }
        Err(error) => return Err(error.to_string().to_lowercase()),
    };
    let meta = file.metadata().map_err(|error| error.to_string())?;
    if !meta.is_file() {
        return Err("it is not a file".into());
    }
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > LARGEST {
        return Err(format!("it is larger than {LARGEST} bytes"));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| "it is not UTF-8".into())
}

pub(crate) fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// True if a part of the path is a dangling symlink: then an entry exists, but cannot be read.
fn is_dangling(dir: &Dir, name: &str) -> bool {
    links(dir, name).any(|part| !dir.try_exists(part).unwrap_or(true))
}

/// The parts of a path that are symlinks, each as the path to it.
pub(crate) fn links<'a>(dir: &'a Dir, name: &'a str) -> impl Iterator<Item = &'a str> {
    let parts = name.match_indices('/').filter_map(|(end, _)| name.get(..end)).chain([name]);
    parts.filter(|part| dir.symlink_metadata(part).is_ok_and(|meta| meta.is_symlink()))
}
