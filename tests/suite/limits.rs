//! Commands under the limits of a shell: few descriptors, few processes, small files.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Output};

use lockgate_error::ErrorFamily;
use serde_json::json;
use tempfile::TempDir;

use super::wire::{Server, lockgate, serve_once};

/// The exit codes that a command may have, beside 0 and 127 where the system cannot even load the program.
const EXIT_CODES: [ErrorFamily; 8] = [
    ErrorFamily::Gate,
    ErrorFamily::Request,
    ErrorFamily::Target,
    ErrorFamily::Access,
    ErrorFamily::Match,
    ErrorFamily::Conflict,
    ErrorFamily::Policy,
    ErrorFamily::System,
];

struct Project {
    dir: TempDir,
    user: TempDir,
}

impl Project {
    fn new() -> Project {
        let project = Project { dir: tempfile::tempdir().unwrap(), user: tempfile::tempdir().unwrap() };
        std::fs::write(project.dir.path().join("a.txt"), "old\n").unwrap();
        project
    }

    /// The binary under a limit of the shell.
    fn limited(&self, ulimit: &str) -> Command {
        let plain = lockgate(self.user.path());
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("ulimit {ulimit} && exec \"$@\"")).arg("sh").arg(plain.get_program());
        plain.get_envs().for_each(|(name, value)| {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        });
        command.current_dir(self.dir.path());
        command
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("a.txt")).unwrap()
    }

    /// All files of the project.
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.dir.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn ended_well(output: &Output, what: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!stderr.contains("panicked"), "{what}: {stderr}");
    let code = output.status.code();
    // The dynamic loader needs descriptors and memory, too, and ends so.
    let loaded = code != Some(127) || !stderr.contains("shared librar");
    let is_known = |code: i32| EXIT_CODES.iter().any(|family| i32::from(family.exit_code()) == code);
    assert!(
        code.is_some_and(|code| code == 0 || is_known(code)) || !loaded,
        "{what}: {:?} {stderr}",
        output.status
    );
    assert!(code == Some(0) || !stderr.is_empty() || !output.stdout.is_empty(), "{what} says nothing");
}

#[test]
fn no_limit_on_descriptors_makes_a_command_panic_or_write_half_an_edit() {
    let project = Project::new();
    let mut written = 0;
    for limit in 3..=40 {
        let ulimit = format!("-n {limit}");
        let text = format!("{limit}\n");
        let edit = ["edit", "--path", "a.txt", "--content", text.as_str()];
        for arguments in [&edit[..], &["check", "a.txt"], &["log"], &["undo"], &["gates", "doctor", "syntax"]]
        {
            let before = project.text();
            let output = project.limited(&ulimit).args(arguments).output().unwrap();
            let what = format!("{limit} descriptors, {arguments:?}");
            ended_well(&output, &what);
            assert_eq!(project.names(), ["a.txt"], "{what}");
            if output.status.success() {
                written += usize::from(project.text() != before);
            } else {
                assert_eq!(project.text(), before, "{what}");
            }
        }
        let output = serve_once(
            project.limited(&ulimit),
            "safe_edit_file",
            &json!({"path": "a.txt", "content": text}),
        );
        ended_well(&output, &format!("{limit} descriptors, serve"));
        assert!(project.text() == "old\n" || project.text() == text, "{limit}");
    }
    // With enough of them all goes on as ever.
    let output =
        project.limited("-n 64").args(["edit", "--path", "a.txt", "--content", "new\n"]).output().unwrap();
    assert_eq!((output.status.code(), project.text().as_str()), (Some(0), "new\n"), "{written}: {output:?}");
}

/// The control: a runtime that is made without looking at the limit.
#[test]
fn a_runtime_panics_where_there_are_too_few_descriptors() {
    const CHILD: &str = "LOCKGATE_TEST_RUNTIME";
    if std::env::var_os(CHILD).is_some() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        return drop(runtime);
    }
    let name = "suite::limits::a_runtime_panics_where_there_are_too_few_descriptors";
    let panics = |limit: &u32| {
        let output = Command::new("sh")
            .arg("-c")
            .arg(format!("ulimit -n {limit} && exec \"$@\""))
            .arg("sh")
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture"])
            .env(CHILD, "1")
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stderr).contains("panicked")
    };
    assert!((4..=16).any(|limit| panics(&limit)));
}

#[test]
fn no_limit_on_memory_makes_a_command_panic() {
    let project = Project::new();
    // Below these the program cannot be loaded, or Rust ends it where memory runs out.
    for megabytes in [2048_u64, 1024, 600, 400, 300] {
        let ulimit = format!("-v {}", megabytes * 1024);
        for arguments in [&["edit", "--path", "a.txt", "--content", "x\n"][..], &["log"], &["undo"]] {
            let output = project.limited(&ulimit).args(arguments).output().unwrap();
            ended_well(&output, &format!("{megabytes} MB, {arguments:?}"));
            assert_eq!(project.names(), ["a.txt"]);
        }
    }
}

/// A text that cannot be compressed, so that the journal grows by its length.
fn noise(length: usize) -> String {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'0' + u8::try_from(state >> 58).unwrap())
    };
    (0..length).map(|at| if at % 80 == 79 { '\n' } else { next() }).collect()
}

#[test]
fn a_limit_on_the_size_of_files_refuses_an_edit_and_leaves_nothing_behind() {
    let large = [noise(1 << 20), "x\n".repeat(1 << 19)];
    let project = Project::new();
    std::fs::write(project.user.path().join("request.json"), "").unwrap();
    for blocks in [0, 1, 8, 30, 64, 100, 200, 400, 800, 1000, 1500, 2000] {
        for content in &large {
            let request = json!({"path": "a.txt", "content": content}).to_string();
            let file = project.user.path().join("request.json");
            std::fs::write(&file, request).unwrap();
            let before = project.text();
            let mut command = project.limited(&format!("-f {blocks}"));
            let output = command.args(["edit", "--json", "--file"]).arg(&file).output().unwrap();
            let what = format!("{blocks} blocks: {output:?}");
            ended_well(&output, &what);
            assert_eq!(project.names(), ["a.txt"], "{what}");
            if output.status.code() != Some(0) {
                assert_eq!(project.text(), before, "{what}");
                let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
                assert_eq!(answer["code"], "NO_SPACE", "{what}");
                assert!(answer["hint"].as_str().unwrap().contains("`ulimit -f`"), "{what}");
                // Below 64 blocks, the journal cannot grow; above, it may be the file.
                let message = answer["message"].as_str().unwrap();
                let is_limit_named = message.contains(&format!("limited to {} bytes", blocks * 512));
                assert!(is_limit_named || (blocks > 64 && message.contains("file too large")), "{what}");
            }
        }
    }
    // The journal is whole: it goes on, and takes back what was written last.
    let run =
        |arguments: &[&str]| project.limited("-f unlimited").args(arguments).output().unwrap().status.code();
    let before = project.text();
    assert_eq!(run(&["edit", "--path", "a.txt", "--content", "new\n"]), Some(0));
    assert_eq!(run(&["undo"]), Some(0));
    assert_eq!(project.text(), before);
}

#[test]
fn a_server_outlives_a_limit_on_the_size_of_files() {
    let project = Project::new();
    let limit = "-f 1000";
    // The control: a process that does not catch the signal is ended by it.
    let written = Command::new("sh")
        .arg("-c")
        .arg(format!("ulimit {limit} && exec head -c 4000000 /dev/zero > \"$0\""))
        .arg(project.user.path().join("large"))
        .output()
        .unwrap();
    assert_eq!(written.status.signal(), Some(rustix::process::Signal::XFSZ.as_raw()));
    let mut server = Server::start_by(project.limited(limit), project.dir.path(), &["--tools", "all"]);
    for content in [noise(3 << 20), "x\n".repeat(3 << 19)] {
        let answer = server.call("safe_edit_file", &json!({"path": "a.txt", "content": content}));
        assert_eq!(answer.code(), "NO_SPACE", "{}", answer.text);
        assert!(answer.text.contains("ulimit -f"), "{}", answer.text);
        assert_eq!((project.text().as_str(), project.names().len()), ("old\n", 1));
    }
    let answer = server.call("safe_edit_file", &json!({"path": "a.txt", "content": "new\n"}));
    assert_eq!((answer.status(), project.text().as_str()), ("written", "new\n"), "{}", answer.text);
    let response = server.call("undo_edit", &json!({}));
    assert_eq!((response.is_error, project.text().as_str()), (false, "old\n"), "{}", response.text);
}

/// The same for stored content: plain words, a code of the table, and nothing half written.
#[test]
fn a_limit_on_the_size_of_files_refuses_an_edit_of_stored_content() {
    let project = Project::new();
    let store = format!("sqlite:{}", project.user.path().join("content.db").display());
    let serve = ["--tools", "all", "--store", &store];
    let mut free = Server::start_by(project.limited("-f unlimited"), project.dir.path(), &serve);
    let put = |server: &mut Server, content: &str| {
        let arguments = json!({"entity_type": "module", "path": "a.py", "content": content});
        server.call("replace_content", &arguments)
    };
    let text = |number: usize| format!("# {number}\n# {}\n", noise(200_000).replace('\n', "\n# "));
    let first = put(&mut free, "a = 1\n");
    assert_eq!(first.status(), "written", "{}", first.text);
    drop(free);
    let (mut refused, mut written) = (0, 0);
    for blocks in [8, 64, 200, 500] {
        let limit = format!("-f {blocks}");
        let mut server = Server::start_by(project.limited(&limit), project.dir.path(), &serve);
        for number in 0..4 {
            let answer = put(&mut server, &text(number));
            if !answer.is_error {
                written += 1;
                continue;
            }
            refused += 1;
            assert_eq!(answer.code(), "NO_SPACE", "{blocks}: {}", answer.text);
            assert!(answer.text.contains("ulimit -f"), "{blocks}: {}", answer.text);
            assert!(!answer.text.contains("SQLite failed"), "{blocks}: {}", answer.text);
        }
    }
    assert!(refused > 4, "{refused} refused, {written} written");
    let mut free = Server::start_by(project.limited("-f unlimited"), project.dir.path(), &serve);
    let last = put(&mut free, "a = 2\n");
    assert_eq!(last.status(), "written", "{}", last.text);
}
