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

use super::places::SandboxPaths;
use super::seccomp::{self, FilterOptions, INTERNET, Metadata};
use super::{Sandbox, SandboxLayer};
use crate::gate::process::running::Exit;

/// The paths where bubblewrap is searched; `PATH` may lead into a project.
const PROGRAMS: [&str; 5] = [
    "/usr/bin/bwrap",
    "/bin/bwrap",
    "/usr/local/bin/bwrap",
    "/run/current-system/sw/bin/bwrap",
    "/home/linuxbrew/.linuxbrew/bin/bwrap",
];

/// The size limit of private folders, in bytes: they are held in memory.
const ROOM: &str = "2147483648";
/// The size limit of folders that only hide others, in bytes.
const LITTLE_ROOM: &str = "67108864";
/// The numbers of the signals that can end a process: signal(7).
const SIGNALS: std::ops::RangeInclusive<i32> = 1..=64;

/// Returns the path of bubblewrap.
pub(super) fn program() -> io::Result<&'static Path> {
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
    let program = seccomp::bytes(&seccomp::refusing(options)?);
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = File::from(memfd_create(c"lockgate-seccomp", flags)?);
    file.write_all(&program)?;
    file.rewind()?;
    fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
    Ok(file.into())
}

/// The environment variables of the private folders.
pub(super) fn said(places: &SandboxPaths) -> Vec<(OsString, Option<OsString>)> {
    let mut said: Vec<(OsString, Option<OsString>)> =
        super::places::UNSAID.map(|name| (name.into(), None)).into();
    // If the tree contains the folder of temporary files, that one is read-only.
    let is_ours = places.hidden.iter().any(|hidden| hidden == Path::new("/tmp"));
    said.push(("TMPDIR".into(), Some(if is_ours { "/tmp" } else { "/dev/shm" }.into())));
    if places.home.is_none() {
        said.push(("HOME".into(), Some("/dev/shm".into())));
    }
    said
}

/// The arguments before the program's own.
pub(super) fn words(cage: &Sandbox, places: &SandboxPaths, folder: &Path) -> Vec<OsString> {
    let mut words = ArgumentList::default();
    words.add(["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]);
    if cage.network {
        words.add(["--share-net"]);
    }
    words.add(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]);
    // The kernel lets root write its settings even without capabilities.
    words.add(["--ro-bind-try", "/proc/sys", "/proc/sys"]);
    words.empty(Path::new("/dev/shm"), ROOM);
    words.add(["--remount-ro", "/dev"]);
    for hidden in &places.hidden {
        words.empty(hidden, if places.writable(hidden) { ROOM } else { LITTLE_ROOM });
    }
    if let Some(home) = places.home.as_ref().filter(|home| !places.hidden.contains(home)) {
        words.place("--dir", home);
    }
    for (to, at) in &places.links {
        words.bind("--symlink", to, at);
    }
    // The root of the file system is mounted already.
    let tree = places.tree.iter().filter(|tree| tree.parent().is_some());
    for shown in places.shown.iter().chain(tree) {
        words.bind("--ro-bind", shown, shown);
    }
    for covered in &places.covered {
        words.cover(covered);
    }
    // The program's own files go to the private folders.
    cage.own.iter().for_each(|own| words.bind("--ro-bind", own, own));
    cage.cache.iter().for_each(|cache| words.bind("--bind", cache, cache));
    cage.layers.iter().for_each(|layer| words.lay(layer));
    for hidden in places.hidden.iter().filter(|hidden| !places.writable(hidden)) {
        words.place("--remount-ro", hidden);
    }
    words.place("--chdir", folder);
    words.0
}

#[derive(Default)]
struct ArgumentList(Vec<OsString>);

impl ArgumentList {
    fn add<const N: usize>(&mut self, words: [&str; N]) {
        self.0.extend(words.map(OsString::from));
    }

    fn place(&mut self, word: &str, place: &Path) {
        self.0.extend([OsStr::new(word), place.as_os_str()].map(OsStr::to_owned));
    }

    fn bind(&mut self, word: &str, from: &Path, at: &Path) {
        self.0.extend([OsStr::new(word), from.as_os_str(), at.as_os_str()].map(OsStr::to_owned));
    }

    fn empty(&mut self, folder: &Path, room: &str) {
        self.add(["--perms", "0755", "--size", room]);
        self.place("--tmpfs", folder);
    }

    /// Hides a folder or a file inside the tree.
    fn cover(&mut self, place: &Path) {
        if place.is_dir() {
            self.empty(place, LITTLE_ROOM);
            self.place("--remount-ro", place);
        } else {
            self.bind("--ro-bind", Path::new("/dev/null"), place);
        }
    }

    fn lay(&mut self, layer: &SandboxLayer) {
        match layer {
            SandboxLayer::Empty(folder) => self.empty(folder, LITTLE_ROOM),
            SandboxLayer::Seen { from, at } => self.bind("--ro-bind", from, at),
            SandboxLayer::Link { to, at } => self.bind("--symlink", to, at),
            SandboxLayer::Sealed(folder) => self.place("--remount-ro", folder),
        }
    }
}

/// Converts bubblewrap's exit code: like a shell, it ends with 128 plus the number of the signal that killed
/// its program. A program that exits with such a code itself is taken for a killed one.
pub(super) fn told(code: i32) -> Exit {
    let signal = code.saturating_sub(128);
    if SIGNALS.contains(&signal) { Exit::Signal(signal) } else { Exit::Code(code) }
}

/// Describes why bubblewrap did not start the program. A program that prints the same text is taken for one
/// that was not started.
pub(super) fn unstarted(code: i32, stderr: &[u8]) -> Option<String> {
    if code != 1 {
        return None;
    }
    let said = String::from_utf8_lossy(stderr.strip_prefix(b"bwrap: ")?);
    let line = said.lines().next().unwrap_or_default();
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
    fn a_signal_is_told_from_an_answer() {
        for (code, signal) in [(137, Some(9)), (139, Some(11)), (129, Some(1)), (192, Some(64))] {
            assert!(matches!((told(code), signal), (Exit::Signal(seen), Some(due)) if seen == due), "{code}");
        }
        for code in [0, 1, 2, 30, 128, 193, 255] {
            assert!(matches!(told(code), Exit::Code(seen) if seen == code), "{code}");
        }
    }

    #[test]
    fn what_it_says_of_itself_is_no_answer_of_the_program() {
        let why = |said: &str| unstarted(1, said.as_bytes());
        assert_eq!(why("bwrap: execvp /x: y: No such file or directory\n").unwrap(), "it was not found");
        assert_eq!(why("bwrap: execvp /x: Exec format error\n").unwrap(), "it is not a program");
        assert_eq!(why("bwrap: execvp /x: Permission denied\n").unwrap(), "permission denied");
        assert_eq!(why("bwrap: Can't mkdir /a\n").unwrap(), "bubblewrap: Can't mkdir /a");
        assert_eq!(why("a.py:1: bwrap: no\n"), None);
        assert_eq!(unstarted(2, b"bwrap: x"), None);
    }
}
