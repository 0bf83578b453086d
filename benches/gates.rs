//! What the gates of a policy add to an edit over standard input and output, and whether others wait for them.
//!
//!     LOCKGATE_TEST_VENV=.. LOCKGATE_TEST_NODE=.. cargo bench --bench gates
//!
//! The two folders are those that `tests/run` installs tools into. Each gate's edits alternate with the same edits
//! without gates, so that other load of the machine slows both. The first edit, with which a gate shows that it
//! works here, stands apart.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark stops at the first error, and prints"
)]

#[path = "../tests/suite/wire.rs"]
#[expect(dead_code, reason = "the tests use more of the client than this does")]
mod wire;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use wire::Server;

/// Lines of the edited files.
const LINES: usize = 1_000;
/// Pings while a gate misbehaves.
const PINGS: usize = 100;

/// A gate, the language of its files, and how many edits are timed.
const GATES: [(&str, &str, &str, usize); 8] = [
    ("syntax", "python", "py", 40),
    ("ruff", "python", "py", 40),
    ("ruff-format", "python", "py", 40),
    ("mypy", "python", "py", 10),
    ("pyright", "python", "py", 4),
    ("gofmt", "go", "go", 40),
    ("go-vet", "go", "go", 10),
    ("shellcheck", "bash", "sh", 10),
];

/// What a gate does that other calls must not feel, and the words for `tests/tools/misbehave.py`.
const ATTEMPTS: [(&str, &[&str]); 4] = [
    ("is not there", &[]),
    ("hangs", &["sleep"]),
    ("prints 1 GiB", &["flood", "stderr", "1024"]),
    ("forks thirty times", &["tree", "30", "wait"]),
];

fn main() {
    println!("| gate | edit without | edit with | added | first edit with |");
    println!("|---|---|---|---|---|");
    for (gate, language, extension, rounds) in GATES {
        added(gate, language, extension, rounds);
    }
    println!();
    println!("| a gate that | slowest of {PINGS} pings | median |");
    println!("|---|---|---|");
    for (attempt, words) in ATTEMPTS {
        ping_while_misbehaving(attempt, words);
    }
}

fn added(gate: &str, language: &str, extension: &str, rounds: usize) {
    let (bare, judged) = (project(extension, "quality_gates: {}\n"), {
        let policy = format!(
            "quality_gates: {{ {language}: [{{ tool: {gate}, required: true, timeout: 60s }}] }}\nlimits: {{ total: 2m }}\n"
        );
        project(extension, &policy)
    });
    let (mut without, mut with) =
        (Server::start(bare.path(), &[]), Server::start(judged.path(), &["--trust"]));
    let file = format!("a.{extension}");
    let Some(first) = edit(&mut with, &file, 0) else {
        println!("| {gate} | not available here | | | |");
        return;
    };
    edit(&mut without, &file, 0);
    let (mut plain, mut gated) = (Vec::new(), Vec::new());
    for round in 1..=rounds {
        plain.push(edit(&mut without, &file, round).expect("written"));
        gated.push(edit(&mut with, &file, round).expect("written"));
    }
    let (plain, gated) = (median(plain), median(gated));
    println!(
        "| {gate} | {:.1} ms | {:.1} ms | {:.1} ms | {:.0} ms |",
        ms(plain),
        ms(gated),
        ms(gated) - ms(plain),
        ms(first)
    );
}

/// Changes one line, and gives the time; `None` if the gate is not available.
fn edit(server: &mut Server, file: &str, round: usize) -> Option<Duration> {
    let (old, new) = (format!("= {}", 500_000 + round), format!("= {}", 500_001 + round));
    let start = Instant::now();
    let answer = server.call("safe_edit_file", &json!({"path": file, "search": old, "replace": new}));
    let elapsed = start.elapsed();
    match answer.status() {
        "written" => Some(elapsed),
        _ if answer.text.contains("unavailable") => None,
        _ => panic!("{}", answer.text),
    }
}

/// A folder with one sound and formatted file of its language, in which one line holds the number that is edited.
fn project(extension: &str, policy: &str) -> tempfile::TempDir {
    let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::write(root.path().join("quality.yaml"), policy).unwrap();
    fs::write(root.path().join("go.mod"), "module example.org/a\n\ngo 1.19\n").unwrap();
    let text: String = match extension {
        "go" => "package a\n\n".to_owned() + &lines(|n, value| format!("var value{n:04} = {value}\n")),
        "sh" => {
            "#!/bin/sh\n".to_owned()
                + &lines(|n, value| {
                    format!("value_{n:04}= {value} true\n").replace("= ", "=\"= ").replace(" true", "\" true")
                })
        }
        _ => lines(|n, value| format!("value_{n:04} = {value}\n")),
    };
    fs::write(root.path().join(format!("a.{extension}")), text).unwrap();
    root
}

fn lines(line: impl Fn(usize, usize) -> String) -> String {
    (0..LINES).map(|n| line(n, if n == LINES / 2 { 500_000 } else { n })).collect()
}

/// Pings a server while one of its gates misbehaves.
fn ping_while_misbehaving(attempt: &str, words: &[&str]) {
    let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools/misbehave.py");
    let words: String = words.iter().map(|word| format!(", {word:?}")).collect();
    let bad = format!(
        "define:\n  bad:\n    about: Misbehaves.\n    languages: ['*']\n    kind: command\n    input: stdin\n    \
         command: [python3, {script:?}{words}, tag]\n    output: {{ jsonl: {{ line: line, message: message }} }}\n    \
         timeout: 2s\nquality_gates: {{ '*': [{{ tool: bad }}] }}\n"
    );
    let policy = if words.is_empty() { "quality_gates: {}\n".to_owned() } else { bad };
    fs::write(root.path().join("quality.yaml"), policy).unwrap();
    fs::write(root.path().join("a.txt"), "a\n").unwrap();
    let mut server = Server::start(root.path(), &["--trust"]);
    let call = server.post_call("safe_edit_file", &json!({"path": "a.txt", "content": "b\n"}));
    let mut times = Vec::new();
    for _ in 0..PINGS {
        let start = Instant::now();
        let ping = server.post("ping", json!({}));
        server.wait(ping).expect("an answer");
        times.push(start.elapsed());
        std::thread::sleep(Duration::from_millis(18));
    }
    let answer = server.wait_answer(call).expect("an answer");
    assert_eq!(answer.status(), "written", "{}", answer.text);
    let slowest = times.iter().max().copied().unwrap_or_default();
    println!("| {attempt} | {:.1} ms | {:.2} ms |", ms(slowest), ms(median(times)));
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
