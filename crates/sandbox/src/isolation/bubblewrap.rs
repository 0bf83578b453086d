//! Starts programs in namespaces of their own with bubblewrap, <https://github.com/containers/bubblewrap>.
//!
//! Invariant: all mounts are made inside the new namespace, which ends with the program. bubblewrap starts no
//! program that it cannot put under the seccomp filter.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, ErrorKind, Seek, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

use super::paths::SandboxPaths;
use super::seccomp::{self, FilterOptions, INTERNET, Metadata};
use crate::exit::Exit;
use crate::order::{Sandbox, SandboxLayer};

/// The paths where bubblewrap is searched; `PATH` may lead into a project.
const PROGRAMS: [&str; 5] = [
    "/usr/bin/bwrap",
    "/bin/bwrap",
    "/usr/local/bin/bwrap",
    "/run/current-system/sw/bin/bwrap",
    "/home/linuxbrew/.linuxbrew/bin/bwrap",
];

/// The size limit of private folders, in bytes: they are held in memory.
const PRIVATE_SIZE: &str = "2147483648";
/// The size limit of folders that only hide others, in bytes.
const HIDDEN_SIZE: &str = "67108864";
/// The numbers of the signals that can end a process: signal(7).
const SIGNALS: std::ops::RangeInclusive<i32> = 1..=64;

/// Returns the path of bubblewrap.
pub(crate) fn program() -> io::Result<&'static Path> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    let is_program = |path: &PathBuf| {
        path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    let program = PROGRAM.get_or_init(|| PROGRAMS.iter().map(PathBuf::from).find(is_program));
    program.as_deref().ok_or_else(|| io::Error::new(ErrorKind::NotFound, "bubblewrap (bwrap) was not found"))
}

/// Returns the filter for inside the sandbox, as a sealed file in memory.
///
/// Namespaces block neither keys, which have no namespace, nor sockets of families such as AF_VSOCK.
pub(super) fn filter() -> io::Result<OwnedFd> {
    let options = FilterOptions { metadata: Metadata::Mounts, families: INTERNET };
    let program = seccomp::bytes(&seccomp::refusing_filter(options)?);
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = File::from(memfd_create(c"lockgate-seccomp", flags)?);
    file.write_all(&program)?;
    file.rewind()?;
    fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
    Ok(file.into())
}

/// The environment variables of the private folders.
pub(super) fn environment(paths: &SandboxPaths) -> Vec<(OsString, Option<OsString>)> {
    let mut variables: Vec<(OsString, Option<OsString>)> =
        super::paths::UNSET_VARIABLES.map(|name| (name.into(), None)).into();
    // If the tree contains the folder of temporary files, that one is read-only.
    let is_ours = paths.hidden.iter().any(|hidden| hidden == Path::new("/tmp"));
    variables.push(("TMPDIR".into(), Some(if is_ours { "/tmp" } else { "/dev/shm" }.into())));
    if paths.home.is_none() {
        variables.push(("HOME".into(), Some("/dev/shm".into())));
    }
    variables
}

/// The arguments before the program's own.
pub(super) fn arguments(sandbox: &Sandbox, paths: &SandboxPaths, folder: &Path) -> Vec<OsString> {
    let mut words = ArgumentList::default();
    words.add(["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]);
    if sandbox.network {
        words.add(["--share-net"]);
    }
    words.add(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]);
    // The kernel lets root write its settings even without capabilities.
    words.add(["--ro-bind-try", "/proc/sys", "/proc/sys"]);
    words.add_tmpfs(Path::new("/dev/shm"), PRIVATE_SIZE);
    words.add(["--remount-ro", "/dev"]);
    for hidden in &paths.hidden {
        words.add_tmpfs(hidden, if paths.is_writable(hidden) { PRIVATE_SIZE } else { HIDDEN_SIZE });
    }
    if let Some(home) = paths.home.as_ref().filter(|home| !paths.hidden.contains(home)) {
        words.add_path("--dir", home);
    }
    for (to, at) in &paths.links {
        words.add_paths("--symlink", to, at);
    }
    // The root of the file system is mounted already.
    let tree = paths.tree.iter().filter(|tree| tree.parent().is_some());
    for path in paths.readable.iter().chain(tree) {
        words.add_paths("--ro-bind", path, path);
    }
    for covered in &paths.masked {
        words.hide(covered);
    }
    // The program's own files go to the private folders.
    sandbox.run_dir.iter().for_each(|own| words.add_paths("--ro-bind", own, own));
    sandbox.cache.iter().for_each(|cache| words.add_paths("--bind", cache, cache));
    sandbox.layers.iter().for_each(|layer| words.add_layer(layer));
    for hidden in paths.hidden.iter().filter(|hidden| !paths.is_writable(hidden)) {
        words.add_path("--remount-ro", hidden);
    }
    words.add_path("--chdir", folder);
    words.0
}

#[derive(Default)]
struct ArgumentList(Vec<OsString>);

impl ArgumentList {
    fn add<const N: usize>(&mut self, words: [&str; N]) {
        self.0.extend(words.map(OsString::from));
    }

    fn add_path(&mut self, word: &str, place: &Path) {
        self.0.extend([OsStr::new(word), place.as_os_str()].map(OsStr::to_owned));
    }

    fn add_paths(&mut self, word: &str, from: &Path, at: &Path) {
        self.0.extend([OsStr::new(word), from.as_os_str(), at.as_os_str()].map(OsStr::to_owned));
    }

    fn add_tmpfs(&mut self, folder: &Path, room: &str) {
        self.add(["--perms", "0755", "--size", room]);
        self.add_path("--tmpfs", folder);
    }

    /// Hides a folder or a file inside the tree.
    fn hide(&mut self, place: &Path) {
        if place.is_dir() {
            self.add_tmpfs(place, HIDDEN_SIZE);
            self.add_path("--remount-ro", place);
        } else {
            self.add_paths("--ro-bind", Path::new("/dev/null"), place);
        }
    }

    fn add_layer(&mut self, layer: &SandboxLayer) {
        match layer {
            SandboxLayer::Empty(folder) => self.add_tmpfs(folder, HIDDEN_SIZE),
            SandboxLayer::Bind { from, at } => self.add_paths("--ro-bind", from, at),
            SandboxLayer::Link { to, at } => self.add_paths("--symlink", to, at),
            SandboxLayer::ReadOnly(folder) => self.add_path("--remount-ro", folder),
        }
    }
}

/// Converts bubblewrap's exit code: like a shell, it ends with 128 plus the number of the signal that killed
/// its program. A program that exits with such a code itself is taken for a killed one.
pub(super) fn program_exit(code: i32) -> Exit {
    let signal = code.saturating_sub(128);
    if SIGNALS.contains(&signal) { Exit::Signal(signal) } else { Exit::Code(code) }
}

/// Describes why bubblewrap did not start the program. A program that prints the same text is taken for one
/// that was not started.
pub(super) fn start_failure(code: i32, stderr: &[u8]) -> Option<String> {
    if code != 1 {
        return None;
    }
    let message = String::from_utf8_lossy(stderr.strip_prefix(b"bwrap: ")?);
    let line = message.lines().next().unwrap_or_default();
    Some(match line.strip_prefix("execvp ").and_then(|line| line.rsplit_once(": ")) {
        Some((_, "No such file or directory")) => "it was not found".to_owned(),
        Some((_, "Exec format error")) => "it is not a program".to_owned(),
        Some((_, why)) => why.to_lowercase(),
        None => format!("bubblewrap: {line}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_differs_from_an_exit_code() {
        for (code, signal) in [(137, Some(9)), (139, Some(11)), (129, Some(1)), (192, Some(64))] {
            assert!(
                matches!((program_exit(code), signal), (Exit::Signal(found), Some(due)) if found == due),
                "{code}"
            );
        }
        for code in [0, 1, 2, 30, 128, 193, 255] {
            assert!(matches!(program_exit(code), Exit::Code(found) if found == code), "{code}");
        }
    }

    #[test]
    fn what_it_says_of_itself_is_no_answer_of_the_program() {
        let why = |message: &str| start_failure(1, message.as_bytes());
        assert_eq!(why("bwrap: execvp /x: y: No such file or directory\n").unwrap(), "it was not found");
        assert_eq!(why("bwrap: execvp /x: Exec format error\n").unwrap(), "it is not a program");
        assert_eq!(why("bwrap: execvp /x: Permission denied\n").unwrap(), "permission denied");
        assert_eq!(why("bwrap: Can't mkdir /a\n").unwrap(), "bubblewrap: Can't mkdir /a");
        assert_eq!(why("a.py:1: bwrap: no\n"), None);
        assert_eq!(start_failure(2, b"bwrap: x"), None);
    }
}
