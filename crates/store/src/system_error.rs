//! Maps errors of the operating system to error codes.
//!
//! Invariant: the failed call and the path are always named; no errno becomes a success.

use lockgate_error::{Code, Error};
use rustix::io::Errno;

/// The hint for a file that would be larger than the process or the file system allows.
pub(super) const FILE_SIZE_HINT: &str = "raise the limit on the size of files under which lockgate was started \
     (`ulimit -f`), or that of the file system, and send the request again";

/// The largest size in bytes that this process may give a file; `None` without a limit.
pub(super) fn file_size_limit() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Fsize).current
}

/// The error for a failed system call, if the caller has no better one.
pub(super) fn failed(call: &str, path: &str, errno: Errno) -> Error {
    let code = match errno {
        Errno::NOSPC | Errno::DQUOT | Errno::FBIG => Code::NoSpace,
        Errno::ACCESS | Errno::PERM | Errno::ROFS => Code::PermissionDenied,
        Errno::XDEV => Code::PathOutsideRoot,
        Errno::NAMETOOLONG => return too_long(path),
        Errno::NOTDIR | Errno::ISDIR | Errno::NXIO => Code::NotAFile,
        _ => Code::IoFailed,
    };
    let error = Error::new(code, format!("{path}: {call} failed: {}", reason(errno))).naming_target(path);
    if errno == Errno::FBIG { error.hint(FILE_SIZE_HINT) } else { error }
}

/// Does the same for a call through cap-std, which reports an escape as an error without errno.
pub(super) fn failed_io(call: &str, path: &str, error: &std::io::Error) -> Error {
    match Errno::from_io_error(error) {
        Some(errno) => failed(call, path, errno),
        None if is_escape(error) => outside(path),
        None => Error::new(Code::IoFailed, format!("{path}: {call} failed: {error}")).naming_target(path),
    }
}

/// True if cap-std failed because the path leads out of the directory.
pub(super) fn is_escape(error: &std::io::Error) -> bool {
    let is_denied = error.kind() == std::io::ErrorKind::PermissionDenied && error.raw_os_error().is_none();
    is_denied || Errno::from_io_error(error) == Some(Errno::XDEV)
}

/// The error for a path that leads out of every root.
pub(super) fn outside(path: &str) -> Error {
    Error::new(Code::PathOutsideRoot, format!("{path} is outside every root"))
        .naming_target(path)
        .field("path")
}

/// The error for an absolute path that begins with no root. A `..` before a root is not resolved: it may follow a link.
pub(super) fn begins_with_no_root(path: &str) -> Error {
    let mut error = outside(path);
    if path.split('/').any(|name| name == "..") {
        error.message = format!("{path} begins with no root, and `..` is resolved only inside of one");
    }
    error
}

/// The error for a folder that existed when the path was admitted and cannot be opened now.
pub(super) fn folder_lost(call: &str, path: &str, errno: Errno) -> Error {
    match errno {
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP => {
            conflict(path, "lost its folder since the path was admitted")
        }
        errno => failed(call, path, errno),
    }
}

/// The error for an entry that holds no text.
pub(super) fn not_a_file(path: &str, description: &str) -> Error {
    Error::new(Code::NotAFile, format!("not a file: {path} is {description}")).naming_target(path)
}

/// The error for a file that has changed since it was read or admitted.
pub(super) fn conflict(path: &str, change: &str) -> Error {
    Error::new(Code::EditConflict, format!("{path} {change}"))
        .naming_target(path)
        .hint(format!("the file {change}; read it again and build the edit on the current text"))
}

fn too_long(path: &str) -> Error {
    Error::new(Code::InvalidInput, format!("{path}: the name is too long for the file system"))
        .naming_target(path)
        .field("path")
}

fn reason(errno: Errno) -> String {
    std::io::Error::from(errno).to_string().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_errno_has_its_code() {
        let code = |errno| failed("write", "a.txt", errno).code;
        assert_eq!(code(Errno::NOSPC), Code::NoSpace);
        assert_eq!(code(Errno::DQUOT), Code::NoSpace);
        assert_eq!(code(Errno::FBIG), Code::NoSpace);
        assert_eq!(code(Errno::ACCESS), Code::PermissionDenied);
        assert_eq!(code(Errno::ROFS), Code::PermissionDenied);
        assert_eq!(code(Errno::IO), Code::IoFailed);
        assert_eq!(code(Errno::INTR), Code::IoFailed);
    }

    #[test]
    fn the_call_is_named() {
        assert!(failed("fsync", "a.txt", Errno::IO).message.starts_with("a.txt: fsync failed: "));
    }
}
