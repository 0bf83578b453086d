//! What a program that means harm finds around it: a project, a home, another process and sockets.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::bench::{Bench, LONG, exited};
use super::deeds::DEEDS;
use crate::gate::process::{Cage, Order};
use crate::gate::watch::Watch;
use crate::policy::Isolation;

/// What the program has to do with: a project, a home, another process and sockets.
pub(super) struct Scene {
    pub(super) around: TempDir,
    victim: Child,
    tcp: TcpListener,
    udp: UdpSocket,
    _sockets: [UnixListener; 3],
    facts: Value,
}

impl Scene {
    pub(super) fn new() -> Scene {
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
        let name = format!("lockgate-test-{}", std::process::id());
        let at = |path: &Path| UnixListener::bind(path).unwrap();
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let sockets = [
            at(&around.path().join("s")),
            at(&tree.join("socket")),
            UnixListener::bind_addr(&address).unwrap(),
        ];
        let (tcp, udp) = (TcpListener::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let facts = json!({
            "tree": tree, "home": home, "state": state, "temporary": around.path().join("file"),
            "victim": victim.id(), "tcp": tcp.local_addr().unwrap().port(), "udp": udp.local_addr().unwrap().port(),
            "abstract": name, "socket": around.path().join("s"), "free": free,
        });
        Scene { around, victim, tcp, udp, _sockets: sockets, facts }
    }

    /// A cage of this level around the project.
    pub(super) fn cage(&self, level: Isolation) -> Cage {
        let own = self.around.path().join("own");
        fs::create_dir_all(&own).unwrap();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tools").into();
        Cage {
            level,
            tree: Some(self.around.path().join("tree")),
            own: Some(own),
            shown: vec![script],
            ..Cage::default()
        }
    }

    /// What a program of this level did: what it said, but where the world shows it.
    pub(super) fn done(mut self, bench: &Bench, level: Isolation) -> BTreeMap<String, bool> {
        let order =
            Order { cage: self.cage(level), ..bench.order(&["attempts", &self.facts.to_string()], None) };
        let (watch, over) = (Watch::idle(), AtomicBool::new(false));
        // What listens is heard of only where somebody calls.
        let port = self.facts["free"].as_u64().unwrap() as u16;
        let ended = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    drop(TcpStream::connect(("127.0.0.1", port)));
                    std::thread::sleep(Duration::from_millis(5));
                }
            });
            let ended = super::super::run(&order, watch.until(Instant::now() + LONG));
            over.store(true, Ordering::Relaxed);
            ended
        });
        let said: Value = serde_json::from_str(&exited(ended).1).unwrap();
        let mut done: BTreeMap<String, bool> =
            DEEDS.iter().map(|(deed, _)| ((*deed).to_owned(), said[*deed].as_bool().unwrap())).collect();
        let tree = self.around.path().join("tree");
        let changed = |name: &str| fs::read(tree.join(name)).ok() != Some(b"text".to_vec());
        let home = Path::new(self.facts["home"].as_str().unwrap()).join(".profile");
        let victim = self.victim.try_wait().unwrap().is_some_and(|status| !status.success());
        self.udp.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        self.tcp.set_nonblocking(true).unwrap();
        for (deed, seen) in [
            ("change a file", changed("a.txt")),
            ("make a file", tree.join("made.txt").exists()),
            ("cut a file short", changed("b.txt")),
            ("remove a file", changed("c.txt")),
            ("write a hook", tree.join(".git/hooks/pre-commit").exists()),
            ("write to the home", home.exists()),
            ("signal a process", victim),
            ("connect by TCP", self.tcp.accept().is_ok()),
            ("send by UDP", self.udp.recv(&mut [0; 16]).is_ok()),
        ] {
            assert!(!seen || done[deed], "{deed} was done, and not said");
            done.insert(deed.to_owned(), seen);
        }
        let _gone = fs::remove_file(home);
        done
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _killed = self.victim.kill();
        // Who adopts orphans has ended it.
        let _reaped = self.victim.wait();
    }
}
