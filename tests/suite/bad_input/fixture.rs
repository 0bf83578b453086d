//! A server among everything that it must not touch.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::suite::wire::Server;

/// The time in which a path that names no regular file is refused, in a debug build on a busy machine.
const QUICKLY: Duration = Duration::from_secs(2);

/// The most memory that a line which is thrown away may take, in bytes.
pub const MEMORY: usize = 256 << 20;

/// A server, its root, and everything that stands in and beside it.
pub struct Fixture {
    pub home: TempDir,
    pub root: PathBuf,
    pub server: Server,
    before: TreeState,
    good_edits: usize,
    _socket: UnixListener,
}

type TreeState = BTreeMap<PathBuf, (u64, u64, i64, i64)>;

impl Fixture {
    pub fn new() -> Fixture {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap().join("root");
        fs::create_dir_all(root.join("folder")).unwrap();
        fs::create_dir_all(root.join(".git/hooks")).unwrap();
        fs::write(home.path().join("theirs.txt"), "theirs\n").unwrap();
        fs::write(root.join("a.txt"), "one\ntwo\nthree\n").unwrap();
        fs::write(root.join("a.py"), "x = 1\n").unwrap();
        fs::write(root.join("good.txt"), "0\n").unwrap();
        fs::write(root.join("binary"), b"\x7fELF\0\0\xff\xfe\0").unwrap();
        fs::write(root.join(".env"), "KEY=1\n").unwrap();
        fs::File::create(root.join("huge.txt")).unwrap().set_len(1 << 40).unwrap();
        symlink("/dev/zero", root.join("zero")).unwrap();
        symlink("../theirs.txt", root.join("link.txt")).unwrap();
        symlink("..", root.join("up")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        let pipe = rustix::fs::FileType::Fifo;
        let mode = rustix::fs::Mode::from_raw_mode(0o644);
        rustix::fs::mknodat(rustix::fs::CWD, root.join("pipe"), pipe, mode, 0).unwrap();
        let socket = UnixListener::bind(root.join("socket")).unwrap();
        let server = Server::start(&root, &[]);
        let before = tree_state(home.path());
        Fixture { home, root, server, before, good_edits: 0, _socket: socket }
    }

    /// Sends a call, which must be refused with one of these codes and leave everything as it was.
    pub fn refuse(&mut self, tool: &str, arguments: &Value, codes: &[&str]) {
        let shown: String = arguments.to_string().chars().take(200).collect();
        let answer = self.server.try_call(tool, arguments).unwrap_or_else(|why| panic!("{shown}: {why}"));
        let response = answer.structured.to_string();
        assert!(answer.is_error, "{shown} was not refused: {response:.400}");
        assert!(
            codes.contains(&answer.code()),
            "{shown} was refused with {}, not {codes:?}: {response:.400}",
            answer.code()
        );
        let says_so =
            ["nothing was written: ", "not read: "].iter().any(|what| answer.text.starts_with(what));
        assert!(says_so, "{shown}: {}", answer.text);
        assert!(!response.contains("KEY=1") && !answer.text.contains("KEY=1"), "{shown} told a secret");
        self.untouched(&shown);
    }

    /// An edit of `a.txt` with these fields must be refused.
    pub fn refuse_edit(&mut self, fields: Value, code: &str) {
        let mut arguments = json!({"path": "a.txt"});
        arguments.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        self.refuse("safe_edit_file", &arguments, &[code]);
    }

    /// Every way to edit this path, and to look at it, must be refused.
    pub fn refuse_path(&mut self, path: &str, codes: &[&str]) {
        let edits = [
            json!({"path": path, "content": "x\n"}),
            json!({"path": path, "search": "K", "replace": "x"}),
            json!({"path": path, "content": "x\n", "mode": "interactive"}),
            json!({"path": path, "content": "x\n", "mode": "verify_only"}),
        ];
        for edit in edits {
            let start = Instant::now();
            self.refuse("safe_edit_file", &edit, codes);
            assert!(start.elapsed() < QUICKLY, "{path:.80} took {:?}", start.elapsed());
        }
        self.refuse("create_file", &json!({"path": path, "content": "x\n"}), codes);
        self.refuse("edit_file", &json!({"file_path": path, "old_string": "K", "new_string": "x"}), codes);
        self.refuse("read_content_lines", &json!({"path": path}), codes);
        self.refuse("get_content", &json!({"path": path}), codes);
    }

    /// Sends a line with an id that may be readable or not; what comes back must be a rejection, of the protocol or of
    /// a tool, and the server must go on.
    pub fn refuse_line(&mut self, name: &str, line: &[u8], id: Option<u64>) {
        self.server.send(line);
        if let Some(id) = id {
            let message = self.server.wait(id).unwrap_or_else(|why| panic!("{name}: {why}"));
            let refused = message["error"].is_object() || message["result"]["isError"] == json!(true);
            let response = message.to_string();
            assert!(refused, "{name} was not refused: {response:.400}");
            assert!(response.len() < 8 * 1024, "{name} got an answer of {} bytes", response.len());
        }
        self.untouched(name);
        self.good_edit(name);
    }

    /// A good edit must work, whatever came before.
    pub fn good_edit(&mut self, after: &str) {
        self.good_edits += 1;
        let text = format!("{}\n", self.good_edits);
        let answer = self.server.try_call("safe_edit_file", &json!({"path": "good.txt", "content": text}));
        let answer = answer.unwrap_or_else(|why| panic!("after {after:.200}: {why}"));
        assert_eq!(answer.status(), "written", "after {after:.200}: {}", answer.structured);
        assert_eq!(fs::read_to_string(self.root.join("good.txt")).unwrap(), text, "after {after:.200}");
        self.before = tree_state(self.home.path());
    }

    pub fn untouched(&self, after: &str) {
        let now = tree_state(self.home.path());
        let changed: Vec<_> =
            now.iter().filter(|(path, state)| self.before.get(*path) != Some(*state)).collect();
        assert!(
            now == self.before,
            "{after:.200} left its mark: {changed:?}, {} of {}",
            now.len(),
            self.before.len()
        );
    }
}

/// Everything that stands under a folder: inode, length, time of change.
fn tree_state(folder: &Path) -> TreeState {
    let mut stand = TreeState::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let found = fs::symlink_metadata(&path).unwrap();
            if found.is_dir() {
                stand.insert(path.clone(), (found.ino(), 0, 0, 0));
                folders.push(path);
            } else {
                stand.insert(path, (found.ino(), found.len(), found.mtime(), found.mtime_nsec()));
            }
        }
    }
    stand
}
