//! Memory: however a text is made, the server takes a bounded multiple of its size to judge it, and gives it back.
//!
//! `large_texts_of_every_language` prints the figures of docs/benchmarks.md; the others are samples of it.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::wire::{Answer, Server};

/// Promised above what an idle server takes: so many bytes for each byte of the text, and so many for every text.
const PER_BYTE: usize = 12;
const ALWAYS: usize = 64 << 20;
/// What may be left above that of an idle server once an answer is given.
const LEFT: usize = 48 << 20;

/// A text of pieces: a name, a path, what goes before the pieces and after them. `first` is what an edit replaces.
type Shape = (&'static str, &'static str, &'static str, &'static str, &'static str);

const SHAPES: [Shape; 40] = [
    ("stanzas", "a.toml", "[first]\n", "[[a]]\nb=1\n", ""),
    ("array", "a.toml", "first = [", "1,", "]\n"),
    ("keys", "a.toml", "first = 1\n", "\"k#\" = 1\n", ""),
    ("list", "a.py", "first = [", "1,", "]\n"),
    ("statements", "a.py", "first = 1\n", "a=b\n", ""),
    ("nested lists", "a.py", "first = [", "[[[[1]]]],", "]\n"),
    ("calls", "a.py", "first = 1\n", "f(a,b,c,d)\n", ""),
    ("comments", "a.py", "first = 1\n", "#\n", ""),
    ("list", "a.js", "first = [", "1,", "]\n"),
    ("statements", "a.js", "first = 1\n", "a;", "\n"),
    ("arrows", "a.js", "first = 1\n", "a=>b;", "\n"),
    ("faults", "a.js", "first = 1\n", "let = ;\n", ""),
    ("open braces", "a.js", "first = 1\n", "{", "\n"),
    ("templates", "a.ts", "first = 1\n", "`${a}`;", "\n"),
    ("types", "a.ts", "let first = 1\n", "type A=B|C;", "\n"),
    ("elements", "a.tsx", "let first = <a>", "<b c=\"d\"/>", "</a>\n"),
    ("statements", "a.rs", "fn first() {", "a;", "}\n"),
    ("items", "a.rs", "fn first() {}\n", "use a;", "\n"),
    ("attributes", "a.rs", "fn first() {}\n", "#[a]", "fn b() {}\n"),
    ("macro", "a.rs", "first! {", "a,", "}\n"),
    ("array", "a.json", "[\"first\",", "1,", "1]\n"),
    ("nested", "a.json", "[\"first\",", "[[[]]],", "1]\n"),
    ("array", "tsconfig.json", "[\"first\",", "1,", "1]\n"),
    ("list", "a.yaml", "- first\n", "- a\n", ""),
    ("flow", "a.yaml", "first: [", "a,", "]\n"),
    ("aliases", "a.yaml", "first: &a b\nc:\n", "- *a\n", ""),
    ("table", "a.go", "package a\nvar first = []T{\n", "{1, 2},\n", "}\n"),
    ("statements", "a.go", "package a\nfunc first() {\n", "a()\n", "}\n"),
    ("table", "a.c", "int first[][2] = {", "{1,2},", "};\n"),
    ("parentheses", "a.c", "int first = 1;\n", "(", "\n"),
    ("faults", "a.cpp", "int first = 1;\n", "A<B ", "\n"),
    ("declarations", "a.h", "int first;\n", "int a;\n", ""),
    ("table", "A.java", "class A { int[][] first = {\n", "{1,2},\n", "};}\n"),
    ("faults", "A.java", "class A { int first;\n", "x = = ;\n", "}\n"),
    ("commands", "a.sh", "first\n", "a;", "b\n"),
    ("elements", "a.html", "<p>first</p>\n", "<i a=b>c</i>", "\n"),
    ("rules", "a.css", "first{b:1}\n", "a{b:1}", "\n"),
    ("emphasis", "a.md", "# first\n\n", "*a* ", "\n"),
    ("rows", "a.md", "# first\n\n|a|b|\n|-|-|\n", "|c|d|\n", ""),
    ("items", "a.md", "# first\n\n", "- a\n", ""),
];

fn text(&(_, _, before, piece, after): &Shape, length: usize) -> String {
    let mut text = before.to_owned();
    for number in 0_usize.. {
        if text.len() + piece.len() + after.len() > length {
            break;
        }
        text.push_str(&piece.replace("k#", &format!("k{number}")));
    }
    text + after
}

/// A server with one file, the syntax gate and the gate against damage.
struct Lab {
    root: tempfile::TempDir,
    server: Server,
    idle: usize,
}

impl Lab {
    fn new(path: &str, text: &str) -> Lab {
        let root = tempfile::tempdir().unwrap();
        // The memory is measured, not the time: a debug build on a busy machine is slow.
        let policy = "quality_gates:\n  \"*\": [{ tool: syntax, required: true, timeout: 120s }, { tool: damage }]\n\
                      limits: { total: 120s }\n";
        fs::write(root.path().join("quality.yaml"), policy).unwrap();
        fs::write(root.path().join(path), text).unwrap();
        let mut server = Server::start(root.path(), &[]);
        let small = json!({"path": "small.py", "content": "a = 1\n"});
        assert_eq!(server.call("safe_edit_file", &small).status(), "written");
        let idle = status(server.id(), "VmRSS:");
        Lab { root, server, idle }
    }

    /// Edits the file, and returns the answer, the peak and what is left, both above an idle server.
    fn edit(&mut self, path: &str) -> (Answer, usize, usize) {
        let answer =
            self.server.call("safe_edit_file", &json!({"path": path, "search": "first", "replace": "other"}));
        let peak = status(self.server.id(), "VmHWM:").saturating_sub(self.idle);
        std::thread::sleep(Duration::from_millis(100));
        (answer, peak, status(self.server.id(), "VmRSS:").saturating_sub(self.idle))
    }
}

/// A figure of a process, in bytes.
fn status(process: u32, name: &str) -> usize {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
}

fn syntax(answer: &Answer) -> (String, String) {
    let gates = answer.structured["gates"].as_array().cloned().unwrap_or_default();
    let gate = gates.iter().find(|gate| gate["gate"] == json!("syntax")).cloned().unwrap_or(Value::Null);
    let word = |name: &str| gate[name].as_str().unwrap_or_default().to_owned();
    (word("outcome"), word("why"))
}

fn allowed(length: usize) -> usize {
    PER_BYTE * length + ALWAYS
}

#[test]
fn a_server_takes_a_bounded_multiple_of_a_text_and_gives_it_back() {
    for shape in SHAPES.iter().filter(|shape| {
        [("stanzas", "a.toml"), ("list", "a.py"), ("emphasis", "a.md"), ("faults", "a.js")]
            .contains(&(shape.0, shape.1))
    }) {
        let text = text(shape, 3_000_000);
        let mut lab = Lab::new(shape.1, &text);
        let (answer, peak, left) = lab.edit(shape.1);
        let (outcome, why) = syntax(&answer);
        assert!(peak < allowed(text.len()), "{shape:?}: {peak} bytes, {outcome}, {why}");
        assert!(left < LEFT + 3 * text.len(), "{shape:?}: {left} bytes are left");
        if outcome == "unavailable" {
            assert!(answer.is_error, "{shape:?}: the policy requires the gate");
            assert!(why.contains("MiB of memory; the limit for a text of its size is"), "{why}");
        }
    }
}

/// The process that reads a text, started by hand: whether it could read the text within so much memory.
fn reads_within(language: &str, path: &str, text: &str, memory: usize) -> bool {
    let mut child = Command::new(env!("CARGO_BIN_EXE_lockgate"))
        .args(["__parse", language, path, &memory.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).ok();
    let output = child.wait_with_output().unwrap();
    output.status.success() && output.stdout == b"{\"Read\":[]}"
}

#[test]
fn a_parser_that_is_not_limited_takes_more_than_is_promised() {
    let text = text(&SHAPES[0], 3_000_000);
    let promised = allowed(text.len());
    assert!(
        !reads_within("toml", "a.toml", &text, 3 * promised),
        "it takes over three times what is promised"
    );
    assert!(reads_within("toml", "a.toml", &text, 4 << 30), "it is good, and read where memory suffices");
}

#[test]
fn ordinary_large_texts_are_judged() {
    let rust: String = (0..20_000)
        .map(|n| format!("/// Returns the sum of both numbers, and {n}.\npub fn add_{n}(one: usize, other: usize) -> usize {{\n    one + other + {n}\n}}\n\n"))
        .collect();
    let toml: String = (0..20_000)
        .map(|n| format!("[package-{n}]\nname = \"some-package\"\nversion = \"1.{n}.0\"\nchecksum = \"0123456789abcdef0123456789abcdef\"\n\n"))
        .collect();
    for (path, text, fault) in [("a.rs", rust, "fn first( {\n"), ("a.toml", toml, "first =\n")] {
        let good = format!("{text}# first\n")
            .replace("# first", if path == "a.rs" { "// first" } else { "# first" });
        let mut lab = Lab::new(path, &good);
        let (answer, peak, _) = lab.edit(path);
        assert_eq!(syntax(&answer).0, "passed", "{path}: {:?}", syntax(&answer));
        assert!(peak < allowed(good.len()), "{path}: {peak}");
        let broken = json!({"path": path, "search": if path == "a.rs" { "// other\n" } else { "# other\n" }, "replace": fault});
        let answer = lab.server.call("safe_edit_file", &broken);
        assert_eq!(syntax(&answer).0, "found", "{path}: {}", answer.text);
        assert!(lab.root.path().join(path).exists());
    }
}

/// `cargo test --release --test all -- --ignored --nocapture large_texts_of_every_language`
#[test]
#[ignore = "minutes; prints the table of docs/benchmarks.md"]
fn large_texts_of_every_language() {
    println!(
        "| file | pieces | MB | peak, MiB | of 12 x text + 64 MiB | left, MiB | outcome |\n|---|---|---|---|---|---|---|"
    );
    let mut over = Vec::new();
    for shape in &SHAPES {
        let text = text(shape, 10_000_000);
        let mut lab = Lab::new(shape.1, &text);
        let (answer, peak, left) = lab.edit(shape.1);
        let allowed = allowed(text.len());
        println!(
            "| `{}` | {} | {:.1} | {} | {} % | {} | {} |",
            shape.1,
            shape.0,
            text.len() as f64 / 1e6,
            peak >> 20,
            100 * peak / allowed,
            left >> 20,
            syntax(&answer).0
        );
        if peak > allowed {
            over.push((shape, peak >> 20, syntax(&answer)));
        }
    }
    assert!(over.is_empty(), "{over:#?}");
}

/// As above, with `ordinary_sources`: files `a.EXT` of ordinary sources lie in the folder that LOCKGATE_TEST_SOURCES names.
#[test]
#[ignore = "needs sources"]
fn ordinary_sources() {
    let Some(folder) = std::env::var_os("LOCKGATE_TEST_SOURCES") else { return };
    println!("| file | MB | peak, MiB | of 12 x text + 64 MiB | outcome |\n|---|---|---|---|---|");
    for file in fs::read_dir(folder).unwrap() {
        let file = file.unwrap();
        let path = file.file_name().into_string().unwrap();
        let Ok(text) = fs::read_to_string(file.path()) else { continue };
        let mut lab = Lab::new(&path, &text);
        let answer = lab.server.call(
            "safe_edit_file",
            &json!({"path": path, "line_edits": [{"insert_after": 0, "new_content": "\n"}]}),
        );
        let answer = if answer.is_error && syntax(&answer).0.is_empty() {
            lab.server.call("safe_edit_file", &json!({"path": path, "content": format!("\n{text}")}))
        } else {
            answer
        };
        let peak = status(lab.server.id(), "VmHWM:").saturating_sub(lab.idle);
        let (outcome, why) = syntax(&answer);
        println!(
            "| `{path}` | {:.1} | {} | {} % | {outcome} {why} |",
            text.len() as f64 / 1e6,
            peak >> 20,
            100 * peak / allowed(text.len())
        );
    }
}
