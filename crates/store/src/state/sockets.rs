//! Sockets in the state folder, on which a server of the user answers other processes of the same user.
//!
//! Invariant: a socket is used only if no other user can have made it or can connect to it, and only with a process of
//! the user at its other end.

use std::fs::{File, Permissions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::net::sockopt::socket_peercred;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, UCred, connect, socket_with};

use super::{StateFolder, doubt, root_name, staged_name};
use crate::disk::folder::shown_path;

/// The folder of the sockets, in the state folder.
const SERVERS: &str = "servers";
/// The ending of a socket on which a server listens.
const ENDING: &str = ".sock";
/// The permission bits that let others connect.
const OTHERS: u32 = 0o077;
/// The most sockets of a root that are tried.
const MAX_TRIED: usize = 4;
/// The age after which a socket that no process listens on is removed, whatever its name.
const ABANDONED: Duration = Duration::from_secs(60 * 60);

/// A socket on which a server listens. Dropping it removes its file.
#[derive(Debug)]
pub struct StateSocket {
    listener: UnixListener,
    path: PathBuf,
}

impl StateSocket {
    /// Returns the listener, for the runtime that accepts connections.
    ///
    /// Errors: those of the system.
    pub fn listener(&self) -> io::Result<UnixListener> {
        self.listener.try_clone()
    }
}

impl Drop for StateSocket {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.path));
    }
}

impl StateFolder {
    /// Listens on a socket for the root of this real path. Several servers of a root have a socket each.
    ///
    /// Errors: the reason why there is none.
    pub fn listen(&self, root: &Path) -> Result<StateSocket, String> {
        let folder = self.folder(SERVERS)?;
        let cannot = |error: io::Error| format!("a socket in {} cannot be made: {error}", folder.display());
        // A path of a socket has at most 107 bytes, so it goes through the descriptor of its folder.
        let open = File::open(&folder).map_err(cannot)?;
        remove_dead(&folder, &open);
        let staged = staged_name();
        let listener = UnixListener::bind(through(&open, &staged)).map_err(cannot)?;
        let path = folder.join(format!("{}{}{ENDING}", root_name(root), staged.trim_end_matches(".new")));
        let shown = std::fs::set_permissions(folder.join(&staged), Permissions::from_mode(0o600))
            .and_then(|()| std::fs::rename(folder.join(&staged), &path));
        if let Err(error) = shown {
            drop(std::fs::remove_file(folder.join(&staged)));
            return Err(cannot(error));
        }
        Ok(StateSocket { listener, path })
    }

    /// Connects to a server of this root, the newest first; `None` if none can be used.
    pub fn connect(&self, root: &Path) -> Option<UnixStream> {
        let home = self.home.as_ref().ok()?;
        let folder = home.join(SERVERS);
        if !self.is_guarded(SERVERS).ok()? {
            return None;
        }
        let open = File::open(&folder).ok()?;
        let start = root_name(root);
        let mut found: Vec<(SystemTime, String)> = sockets(&folder)
            .filter(|(name, _)| name.starts_with(&start) && name.ends_with(ENDING))
            .map(|(name, modified)| (modified, name))
            .collect();
        found.sort_unstable_by(|one, other| other.cmp(one));
        found.iter().take(MAX_TRIED).find_map(|(_, name)| {
            let file = folder.join(name).symlink_metadata().ok()?;
            let is_private = doubt(&file).is_none() && file.mode() & OTHERS == 0;
            let stream = is_private.then(|| connect_to(&open, name).ok()).flatten()?;
            peer_of_user(&stream).map(|_| stream)
        })
    }
}

/// Returns the process at the other end of a socket, if it runs as the same user.
fn peer_of_user(stream: impl AsFd) -> Option<UCred> {
    socket_peercred(stream).ok().filter(|peer| peer.uid == rustix::process::geteuid())
}

/// True if the process at the other end of a socket runs as the same user, in no sandbox that this process is not in: a
/// program that a gate runs in a sandbox must not reach what is outside of it through a server.
pub fn is_equal_peer(stream: impl AsFd) -> bool {
    let Some(peer) = peer_of_user(stream) else { return false };
    let (own, other) = (confinement("self"), confinement(&peer.pid.as_raw_nonzero().to_string()));
    own.zip(other).is_some_and(|(own, other)| own.iter().zip(other).all(|(own, other)| other <= *own))
}

/// Returns the sandbox of a process, as numbers that grow with each layer.
fn confinement(process: &str) -> Option<[u64; 3]> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let value = |name: &str| {
        let mut values = status.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        values.next().map_or(Some(0), |value| value.trim().parse().ok())
    };
    Some([value("NoNewPrivs")?, value("Seccomp")?, value("Seccomp_filters")?])
}

fn through(folder: &File, name: &str) -> PathBuf {
    Path::new(&shown_path(folder)).join(name)
}

/// Connects without waiting: a server that does not accept connections counts as none.
fn connect_to(folder: &File, name: &str) -> io::Result<UnixStream> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&socket, &SocketAddrUnix::new(through(folder, name))?)?;
    let stream = UnixStream::from(socket);
    stream.set_nonblocking(false)?;
    Ok(stream)
}

/// Returns the names of the sockets in a folder, and when they were made.
fn sockets(folder: &Path) -> impl Iterator<Item = (String, SystemTime)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let found = entry.metadata().ok()?;
        let name = entry.file_name().into_string().ok()?;
        found.file_type().is_socket().then_some((name, found.modified().ok()?))
    })
}

/// Removes the sockets that killed servers left.
fn remove_dead(folder: &Path, open: &File) {
    for (name, modified) in sockets(folder) {
        // A name without the ending may be of a server that is about to listen.
        let is_old = modified.elapsed().is_ok_and(|age| age > ABANDONED);
        let is_refused =
            || connect_to(open, &name).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
        if (name.ends_with(ENDING) || is_old) && is_refused() {
            drop(std::fs::remove_file(folder.join(name)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};

    fn state(dir: &Path) -> StateFolder {
        let own = |name: &str| Ok(dir.join(name));
        StateFolder::at(own("state"), own("cache"), &[])
    }

    fn names(dir: &Path) -> Vec<String> {
        sockets(&dir.join("state").join(SERVERS)).map(|(name, _)| name).collect()
    }

    /// The path is longer than an address of a socket may be.
    #[test]
    fn a_server_is_reached_by_its_root_until_it_ends() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("x".repeat(120));
        let state = state(&deep);
        let (root, other) = (Path::new("/p"), Path::new("/q"));
        assert!(state.connect(root).is_none(), "the folder does not exist");
        let server = state.listen(root).unwrap();
        assert!(state.connect(other).is_none());
        let mut client = state.connect(root).unwrap();
        let (mut accepted, _) = server.listener().unwrap().accept().unwrap();
        assert!(peer_of_user(&accepted).is_some() && is_equal_peer(&accepted));
        accepted.write_all(b"x").unwrap();
        drop(accepted);
        let mut read = String::new();
        client.read_to_string(&mut read).unwrap();
        assert_eq!(read, "x");
        let second = state.listen(root).unwrap();
        assert_eq!(names(&deep).len(), 2);
        drop(second);
        assert!(state.connect(root).is_some(), "the first is still there");
        drop(server);
        assert!(names(&deep).is_empty());
        assert!(state.connect(root).is_none());
    }

    #[test]
    fn a_socket_that_others_could_use_counts_as_none() {
        let dir = tempfile::tempdir().unwrap();
        let state = state(dir.path());
        let root = Path::new("/p");
        let server = state.listen(root).unwrap();
        let folder = dir.path().join("state").join(SERVERS);
        let set = |path: &Path, mode| std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        for (path, spoiled, usual) in [
            (server.path.clone(), 0o666, 0o600),
            (server.path.clone(), 0o606, 0o600),
            (server.path.clone(), 0o660, 0o600),
            (folder.clone(), 0o770, 0o700),
            (dir.path().join("state"), 0o777, 0o700),
        ] {
            set(&path, spoiled);
            assert!(state.connect(root).is_none(), "{} {spoiled:o}", path.display());
            set(&path, usual);
            assert!(state.connect(root).is_some(), "the control: {}", path.display());
        }
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&server.path, Some(65534), None).unwrap();
            assert!(state.connect(root).is_none(), "it belongs to another user");
            std::os::unix::fs::chown(&server.path, Some(0), None).unwrap();
            assert!(state.connect(root).is_some(), "the control");
        }
    }

    /// A link, a file and a pipe in place of a socket, and a server whose queue is full.
    #[test]
    fn what_is_no_socket_or_does_not_accept_holds_nothing_up() {
        let dir = tempfile::tempdir().unwrap();
        let state = state(dir.path());
        let root = Path::new("/p");
        let server = state.listen(root).unwrap();
        let elsewhere = dir.path().join("elsewhere");
        std::fs::rename(&server.path, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &server.path).unwrap();
        assert!(state.connect(root).is_none(), "a link");
        std::fs::remove_file(&server.path).unwrap();
        std::fs::write(&server.path, "").unwrap();
        assert!(state.connect(root).is_none(), "a file");
        std::fs::rename(&elsewhere, &server.path).unwrap();
        let mut waiting = Vec::new();
        let is_full = (0..10_000).any(|_| match state.connect(root) {
            Some(stream) => {
                waiting.push(stream);
                false
            }
            None => true,
        });
        assert!(is_full, "{} connections wait", waiting.len());
    }

    #[test]
    fn sockets_of_killed_servers_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let state = state(dir.path());
        let root = Path::new("/p");
        let killed = state.listen(root).unwrap();
        let path = killed.path.clone();
        // As a kill leaves it: closed, and with its file.
        let kept = dir.path().join("kept");
        std::fs::rename(&path, &kept).unwrap();
        drop(killed);
        std::fs::rename(&kept, &path).unwrap();
        assert_eq!((names(dir.path()).len(), state.connect(root).is_none()), (1, true));
        let alive = state.listen(Path::new("/q")).unwrap();
        assert_eq!(names(dir.path()), [alive.path.file_name().unwrap().to_str().unwrap()]);
        let _second = state.listen(root).unwrap();
        assert!(state.connect(Path::new("/q")).is_some(), "one that listens stays");
    }
}
