//! The cost of a call in a deep folder, in system calls: it grows with the depth, and not with its square.

use std::cell::Cell;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::store::not_run;
use super::wire::{lockgate, serve_once};

const DEPTHS: [usize; 4] = [10, 20, 40, 80];

/// The system calls that concern files, by the start of their names.
const CALLS: &[&str] = &[
    "open",
    "newfstatat",
    "statx",
    "fstat",
    "readlink",
    "faccessat",
    "getdents",
    "close",
    "fcntl",
    "access",
];

/// Whether each folder more costs about as much as the one before: from one depth to the next, which is twice that, the
/// increase doubles as well, and does not become four times as large.
fn is_linear(counts: [usize; 4]) -> bool {
    let [first, second, third] = [1, 2, 3].map(|at| counts[at].saturating_sub(counts[at - 1]));
    let doubles = |before: usize, after: usize| after * 10 <= before * 24 + 200;
    doubles(first, second) && doubles(second, third)
}

/// A project with one file at the end of so many folders.
struct Deep {
    dir: tempfile::TempDir,
    folder: String,
}

impl Deep {
    fn new(depth: usize) -> Deep {
        let dir = tempfile::tempdir().unwrap();
        let folder = (0..depth).map(|at| format!("d{at}")).collect::<Vec<_>>().join("/");
        std::fs::create_dir_all(dir.path().join("root").join(&folder)).unwrap();
        std::fs::write(dir.path().join("root").join(&folder).join("a.py"), "one = 1\n").unwrap();
        Deep { dir, folder }
    }

    fn path(&self) -> String {
        format!("{}/a.py", self.folder)
    }

    /// The system calls of a server that answers one call.
    fn calls(&self, tool: &str, arguments: &Value) -> usize {
        let log = self.dir.path().join("log");
        let plain = lockgate(&self.dir.path().join("user"));
        let mut strace = Command::new("strace");
        strace.args(["-f", "-o"]).arg(&log).arg("--").arg(plain.get_program());
        plain.get_envs().for_each(|(name, value)| {
            match value {
                Some(value) => strace.env(name, value),
                None => strace.env_remove(name),
            };
        });
        strace.current_dir(self.dir.path().join("root"));
        let output = serve_once(strace, tool, arguments);
        let answers = String::from_utf8_lossy(&output.stdout).into_owned();
        let answer = answers.lines().last().map(|line| serde_json::from_str::<Value>(line).unwrap());
        assert_eq!(answer.unwrap()["result"]["isError"], json!(false), "{tool}: {answers}");
        let name = |line: &&str| {
            let call = line.split_whitespace().nth(1).unwrap_or_default();
            CALLS.iter().any(|name| call.starts_with(name))
        };
        std::fs::read_to_string(&log).unwrap().lines().filter(name).count()
    }
}

#[test]
fn a_call_costs_as_much_for_each_folder_however_deep() {
    if Command::new("strace").arg("-V").output().is_err() {
        return not_run("the system calls of deep folders: strace is not there");
    }
    type Arguments = fn(&Deep) -> Value;
    let tools: [(&str, Arguments); 6] = [
        ("get_content", |deep| json!({"path": deep.path()})),
        ("safe_edit_file", |deep| json!({"path": deep.path(), "content": "two = 2\n"})),
        ("create_file", |deep| json!({"path": format!("{}/b.py", deep.folder), "content": "two = 2\n"})),
        ("search_content", |deep| json!({"pattern": "one", "path": deep.folder})),
        ("list_content", |deep| json!({"path_prefix": deep.folder})),
        ("ai_get_code_context", |deep| json!({"target_file": deep.path()})),
    ];
    for (tool, arguments) in tools {
        let counts = DEPTHS.map(|depth| {
            let deep = Deep::new(depth);
            deep.calls(tool, &arguments(&deep))
        });
        assert!(is_linear(counts), "{tool}: {counts:?}");
        assert!(counts[3] > counts[2], "{tool}: the depth shows: {counts:?}");
    }
}

/// The control: names that are looked for in each folder by a path that is walked anew.
#[test]
fn a_walk_from_the_root_for_each_folder_is_not_linear() {
    let naive = |depth: usize| {
        let deep = Deep::new(depth);
        let calls = Cell::new(0);
        let is_there = |path: &Path| {
            calls.set(calls.get() + 1);
            path.symlink_metadata().is_ok()
        };
        let root = deep.dir.path().join("root");
        let folder = root.join(&deep.folder);
        for above in folder.ancestors().take_while(|above| above.starts_with(&root)) {
            let name = above.join("quality.yaml");
            let way = name.ancestors().take_while(|part| part.starts_with(&root));
            assert!(!way.map(is_there).fold(true, |all, exists| all & exists));
        }
        calls.into_inner()
    };
    let counts = DEPTHS.map(naive);
    assert!(!is_linear(counts), "{counts:?}");
    assert!(is_linear(DEPTHS.map(|depth| 300 + 90 * depth)));
}
