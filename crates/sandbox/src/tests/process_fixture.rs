//! The fixture in which programs misbehave: a process for each test, a folder and a tag for each run.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::iter;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::watch::Watch;
use crate::{Order, ProcessOutcome, Sandbox, adopt_orphans, run};

/// A time limit that no run reaches.
pub const LONG: Duration = Duration::from_secs(30);

/// Names the test for which a process was started.
const ALONE: &str = "LOCKGATE_TEST_ALONE";

/// A variable that no program of a gate may see.
pub const SECRET: &str = "LOCKGATE_TEST_SECRET";

/// The kind of process that runs the gates: one that adopts orphans, or a library, which does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallerKind {
    Library,
    Adopting,
}

/// Runs a test in a process of its own, and checks there that it leaves nothing behind.
pub fn alone(name: &str, caller: CallerKind, test: fn(&ProcessFixture)) {
    let (_, name) = name.split_once("::").unwrap();
    if env::var(ALONE).is_ok_and(|chosen| chosen == name) {
        if caller == CallerKind::Adopting {
            adopt_orphans();
        }
        let fixture = ProcessFixture::new(caller);
        test(&fixture);
        assert_eq!(fixture.left(), [], "these were left running");
        let children =
            waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT);
        assert!(matches!(children, Err(Errno::CHILD)), "a child is left unreaped: {children:?}");
        return;
    }
    let mut own = Command::new(env::current_exe().unwrap());
    own.args(["--exact", name, "--nocapture"]).env(ALONE, name).env(SECRET, "secret");
    let home = tempfile::tempdir_in(env::current_exe().unwrap().parent().unwrap()).unwrap();
    own.env("HOME", home.path()).env_remove("XDG_STATE_HOME");
    let output = own.output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let ran = output.status.success() && stdout.contains("1 passed");
    assert!(ran, "{stdout}\n{}", String::from_utf8_lossy(&output.stderr));
}

/// A folder to run in, and a tag that identifies the processes that run there.
#[derive(Debug)]
pub struct ProcessFixture {
    pub caller: CallerKind,
    folder: TempDir,
    tag: String,
}

impl ProcessFixture {
    pub fn new(caller: CallerKind) -> ProcessFixture {
        let tag = format!("misbehave-{:016x}", RandomState::new().hash_one(0));
        ProcessFixture { caller, folder: tempfile::tempdir().unwrap(), tag }
    }

    /// Another fixture beside this one.
    pub fn another(&self) -> ProcessFixture {
        ProcessFixture::new(self.caller)
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a misbehaving program, with a time limit.
    pub fn run(&self, what: &[&str], within: Duration) -> ProcessOutcome {
        self.give(what, None, within)
    }

    /// The same, with something to read.
    pub fn give(&self, what: &[&str], input: Option<&[u8]>, within: Duration) -> ProcessOutcome {
        run(&self.order(what, input), Watch::idle().until(Instant::now() + within))
    }

    /// The same, cancelled when `go` says so.
    pub fn cancelled(&self, what: &[&str], go: impl FnOnce() + Send) -> ProcessOutcome {
        let token = CancellationToken::new();
        let watch = Watch::new(token.clone(), None);
        thread::scope(|scope| {
            scope.spawn(move || {
                go();
                token.cancel();
            });
            run(&self.order(what, None), watch.until(Instant::now() + LONG))
        })
    }

    pub fn order<'a>(&'a self, what: &[&str], input: Option<&'a [u8]>) -> Order<'a> {
        let words = what.iter().copied().chain([self.tag.as_str()]).map(OsString::from);
        let argv = iter::once(tools().join("misbehave.py").into()).chain(words).collect();
        Order {
            program: python(),
            argv,
            cwd: self.folder(),
            env: Vec::new(),
            input,
            sandbox: Sandbox::default(),
        }
    }

    /// The processes of this fixture that run now.
    pub fn left(&self) -> Vec<Pid> {
        let numbers = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
            entry.file_name().to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw)
        });
        // One that has ended has no command line, proc(5).
        let tagged = |pid: &Pid| {
            let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            words.split(|byte| *byte == 0).any(|word| word == self.tag.as_bytes())
        };
        numbers.filter(tagged).collect()
    }

    /// Kills the processes that a test has shown to escape.
    pub fn clear(&self) {
        while !self.left().is_empty() {
            for pid in self.left() {
                let _sent = kill_process(pid, Signal::KILL);
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Waits until a file is there.
    pub fn wait_for(&self, file: &str) {
        let until = Instant::now() + LONG;
        while !self.folder().join(file).exists() {
            assert!(Instant::now() < until, "{file} has never come");
            thread::sleep(Duration::from_millis(2));
        }
    }
}

/// The folder of the programs that misbehave, without `..`: a sandbox may hide the folders on the way.
pub fn tools() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/tools").canonicalize().unwrap()
}

/// The path of Python itself: the first one in the search path may be a script that looks for it.
pub fn python() -> &'static Path {
    static PYTHON: OnceLock<PathBuf> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let output =
            Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().into()
    })
}

/// The output of a program that ended by itself.
#[track_caller]
pub fn exited(ended: ProcessOutcome) -> (i32, String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    match ended {
        ProcessOutcome::Exited { code, stdout, stderr } => (code, text(stdout), text(stderr)),
        ProcessOutcome::StdinUnread { .. }
        | ProcessOutcome::Broken(_)
        | ProcessOutcome::Killed { .. }
        | ProcessOutcome::Halted(_) => {
            panic!("{ended:?}")
        }
    }
}

/// Returns the time that `work` takes, and its result.
pub fn timed<T>(what: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = what();
    (start.elapsed(), result)
}
