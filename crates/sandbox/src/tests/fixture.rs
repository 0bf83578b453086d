//! The surroundings of a malicious program: a project, a home, another process and sockets.

use parking_lot::Mutex;
use std::collections::{BTreeMap, HashSet};
use std::env;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::{NamedTempFile, TempDir};

use super::isolation::ATTEMPTS;
use super::process_fixture::{LONG, ProcessFixture, exited, python, tools};
use crate::exit::Exit;
use crate::isolation_level::Isolation;
use crate::order::FilterParts;
use crate::running::RunningProcess;
use crate::watch::Watch;
use crate::{Order, Sandbox};

/// The surroundings of the program: a project, a home, another process and sockets.
pub(super) struct Fixture {
    pub(super) around: TempDir,
    victim: Child,
    tcp: TcpListener,
    mptcp: TcpListener,
    fast_open: TcpListener,
    udp: UdpSocket,
    _sockets: [UnixListener; 3],
    terminal: Child,
    _shared: NamedTempFile,
    facts: Value,
}

/// Makes a terminal, says where it is, and types into it.
const TERMINAL: &str = "import os, pty, time, tty
master, slave = pty.openpty()
tty.setraw(slave)
os.set_blocking(master, False)
print(os.ttyname(slave), flush=True)
while True:
    try:
        os.write(master, b'a secret')
    except BlockingIOError:
        pass
    time.sleep(0.05)";

impl Fixture {
    pub(super) fn new() -> Fixture {
        let around = tempfile::tempdir().unwrap();
        let (tree, home) = (around.path().join("tree"), Path::new(&env::var_os("HOME").unwrap()).to_owned());
        let state = home.join(".local/state/lockgate");
        for folder in [&tree.join(".git/hooks"), &home.join(".ssh"), &state] {
            fs::create_dir_all(folder).unwrap();
        }
        for name in ["a.txt", "b.txt", "c.txt"] {
            fs::write(tree.join(name), "text").unwrap();
        }
        for (folder, name) in
            [(home.join(".ssh"), "id"), (state.clone(), "journal"), (around.path().into(), "file")]
        {
            fs::write(folder.join(name), "a secret").unwrap();
        }
        let victim = Command::new("sleep").arg("60").env("VICTIMS_KEY", "a secret").spawn().unwrap();
        let mut terminal = Command::new(python());
        let mut terminal = terminal.args(["-c", TERMINAL]).stdout(Stdio::piped()).spawn().unwrap();
        let mut at = String::new();
        BufReader::new(terminal.stdout.take().unwrap()).read_line(&mut at).unwrap();
        let mut shared = NamedTempFile::new_in("/dev/shm").unwrap();
        shared.write_all(b"a secret").unwrap();
        let (terminal_path, shared_path) = (at.trim().to_owned(), shared.path().to_owned());
        let name = format!("lockgate-test-{}", std::process::id());
        let at = |path: &Path| UnixListener::bind(path).unwrap();
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let sockets = [
            at(&around.path().join("s")),
            at(&tree.join("socket")),
            UnixListener::bind_addr(&address).unwrap(),
        ];
        let (tcp, udp) = (listening(), UdpSocket::bind("127.0.0.1:0").unwrap());
        let (mptcp, fast_open) = (listening(), listening());
        let free = port(&listening());
        let target = |path: PathBuf| {
            fs::write(&path, "text").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            path
        };
        let modes = json!({
            "a key": target(home.join(".ssh/key")), "a file": target(tree.join("mode.txt")), "the state": state,
            "a temporary file": target(around.path().join("mode")),
        });
        fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).unwrap();
        let ways = ["fchmod", "fchmodat2", "a link", "proc"];
        let ways = ways.map(|way| (way.to_owned(), json!(target(tree.join(way)))));
        let key = (RandomState::new().hash_one(0) >> 34) as u32;
        let setup = json!({
            "tree": tree, "home": home, "state": state, "temporary": around.path().join("file"),
            "victim": victim.id(), "tcp": tcp.local_addr().unwrap().port(), "udp": udp.local_addr().unwrap().port(),
            "abstract": name, "socket": around.path().join("s"), "free": free,
            "mptcp": port(&mptcp), "fast open": port(&fast_open), "modes": modes,
            "ways": Value::Object(ways.into_iter().collect()), "times": target(tree.join("times")),
            "attribute": target(tree.join("attribute")), "owner": target(tree.join("owner")),
            "flag": target(tree.join("flag")), "key": key, "key description": format!("lockgate-test-{key}"),
            "terminal": terminal_path, "shared": shared_path,
        });
        Fixture {
            around,
            victim,
            tcp,
            mptcp,
            fast_open,
            udp,
            _sockets: sockets,
            terminal,
            _shared: shared,
            facts: setup,
        }
    }

    /// A sandbox of this level around the project.
    pub(super) fn sandbox(&self, level: Isolation) -> Sandbox {
        let own = self.around.path().join("own");
        fs::create_dir_all(&own).unwrap();
        Sandbox {
            level,
            tree: Some(self.around.path().join("tree")),
            run_dir: Some(own),
            readable: vec![tools()],
            ..Sandbox::default()
        }
    }

    /// The attempts that succeeded at this level: as the program reports them, or as they show outside of it.
    pub(super) fn done(self, processes: &ProcessFixture, level: Isolation) -> BTreeMap<String, bool> {
        self.done_with(processes, level, FilterParts::All)
    }

    /// The same with some parts of the filter.
    pub(super) fn done_with(
        mut self,
        processes: &ProcessFixture,
        level: Isolation,
        filter: FilterParts,
    ) -> BTreeMap<String, bool> {
        let own = self.around.path().join("sibling");
        fs::create_dir(&own).unwrap();
        let sandbox = Sandbox { run_dir: Some(own), filter, ..self.sandbox(level) };
        let (sibling, mut child) =
            RunningProcess::spawn(&Order { sandbox, ..processes.order(&["sleep"], None) }).unwrap();
        let mut setup = self.facts.clone();
        setup["sibling"] = json!(sibling.leader().as_raw_nonzero().get());
        let sandbox = Sandbox { filter, ..self.sandbox(level) };
        let order = Order { sandbox, ..processes.order(&["attempts", &setup.to_string()], None) };
        let (watch, over) = (Watch::idle(), AtomicBool::new(false));
        // A listener is only noticed by connecting to it.
        let port = self.facts["free"].as_u64().unwrap() as u16;
        let listening = Mutex::new(HashSet::new());
        let ended = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    drop(TcpStream::connect(("127.0.0.1", port)));
                    listening.lock().extend(listeners());
                    std::thread::sleep(Duration::from_millis(5));
                }
            });
            let ended = crate::run(&order, watch.until(Instant::now() + LONG));
            over.store(true, Ordering::Relaxed);
            ended
        });
        let report: Value = serde_json::from_str(&exited(ended).1).unwrap();
        println!("{}: {report:#}", level.name());
        let mut done: BTreeMap<String, bool> = ATTEMPTS
            .iter()
            .map(|(attempt, _)| ((*attempt).to_owned(), report[*attempt].as_bool().unwrap()))
            .collect();
        let tree = self.around.path().join("tree");
        let changed = |name: &str| fs::read(tree.join(name)).ok() != Some(b"text".to_vec());
        let setup = &self.facts;
        let path_of = |pointer: &str| setup.pointer(pointer).and_then(Value::as_str).unwrap();
        let open = |path: &str| fs::metadata(path_of(path)).unwrap().mode() & 0o777 == 0o777;
        let home = Path::new(path_of("/home")).join(".profile");
        // Its place in /proc is there until it is reaped.
        let limits = fs::read_to_string(format!("/proc/{}/limits", self.victim.id())).unwrap();
        let limited = limits.lines().any(|line| line.starts_with("Max open files            6 "));
        // Fields 19 and 41 of stat, proc(5): the nice value and the policy; `sleep` has no blanks in its name.
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.victim.id())).unwrap();
        let stat: Vec<&str> = stat.split(' ').collect();
        let (slowed, rescheduled) = (stat[18] == "19", stat[40] == "3");
        let signalled = matches!(sibling.exit(), Some(Exit::Signal(_)));
        drop(sibling);
        let _reaped = child.wait();
        let victim = self.victim.try_wait().unwrap().is_some_and(|status| !status.success());
        let keys = fs::read_to_string("/proc/keys").unwrap_or_default();
        let inode = report["inode"].as_u64();
        let listened = inode.is_some_and(|inode| listening.lock().contains(&inode));
        self.udp.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        for listener in [&self.tcp, &self.mptcp, &self.fast_open] {
            listener.set_nonblocking(true).unwrap();
        }
        for (attempt, succeeded) in [
            ("change a file", changed("a.txt")),
            ("make a file", tree.join("made.txt").exists()),
            ("cut a file short", changed("b.txt")),
            ("remove a file", changed("c.txt")),
            ("write a hook", tree.join(".git/hooks/pre-commit").exists()),
            ("write to the home", home.exists()),
            ("signal a process", victim),
            ("signal another gate", signalled),
            ("connect by TCP", self.tcp.accept().is_ok()),
            ("connect by MPTCP", self.mptcp.accept().is_ok()),
            ("send by TCP fast open", self.fast_open.accept().is_ok()),
            ("listen without an address", listened),
            ("send by UDP", self.udp.recv(&mut [0; 16]).is_ok()),
            ("change the mode of a key", open("/modes/a key")),
            ("change the mode of a file", open("/modes/a file")),
            ("change the mode of the state", open("/modes/the state")),
            ("change the mode of a temporary file", open("/modes/a temporary file")),
            ("change the mode by fchmod", open("/ways/fchmod")),
            ("change the mode by fchmodat2", open("/ways/fchmodat2")),
            ("change the mode by a link", open("/ways/a link")),
            ("change the mode by proc", open("/ways/proc")),
            ("change the times of a file", fs::metadata(path_of("/times")).unwrap().mtime() == 1),
            ("limit a process", limited),
            ("slow a process down", slowed),
            ("reschedule a process", rescheduled),
            ("leave a key in a keyring", keys.contains(path_of("/key description"))),
        ] {
            assert!(!succeeded || done[attempt], "{attempt} was done, and not said");
            done.insert(attempt.to_owned(), succeeded);
        }
        let _gone = fs::remove_file(home);
        done
    }
}

fn listening() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").unwrap()
}

fn port(listener: &TcpListener) -> u16 {
    listener.local_addr().unwrap().port()
}

/// The inodes of the sockets that listen on this machine: state 0A in the fourth column of the table, inode in the tenth.
fn listeners() -> Vec<u64> {
    let table = fs::read_to_string("/proc/net/tcp").unwrap();
    let rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row.get(3) == Some(&"0A")).filter_map(|row| row.get(9)?.parse().ok()).collect()
}

impl Drop for Fixture {
    fn drop(&mut self) {
        for child in [&mut self.victim, &mut self.terminal] {
            let _killed = child.kill();
            // The process that adopts orphans has ended it.
            let _reaped = child.wait();
        }
        // A user's message queues are limited, so none may be left.
        let key = self.facts["key"].as_u64().unwrap_or_default();
        let unlink = format!("import ctypes; ctypes.CDLL(None).mq_unlink(b'/lockgate-test-{key}')");
        let _removed = Command::new("python3").args(["-c", &unlink]).status();
    }
}
