//! Memory: however a text is made, the server takes a bounded multiple of its size to judge it, and gives it back. The memory
//! of the processes that it starts counts as its own.
//!
//! `large_texts_of_every_language` prints the figures of docs/benchmarks.md; the others are samples of it.

use std::fs;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::http::raw::ProtocolEra;
use super::http::server_process::{ServerProcess, TOKEN};
use super::wire::{Answer, Server};

/// Promised above what an idle server takes: so many bytes for each byte of the text, and so many for every text.
const PER_BYTE: usize = 12;
const ALWAYS: usize = 64 << 20;
/// Of these, what the parsers of a text may take: as much for each of the [`SLOTS`] texts that are read at the same time.
const PARSER_PER_BYTE: usize = 5;
const PARSER_ALWAYS: usize = 55 << 20;
/// So much less for each line of a text, as far as its lines are shorter than this.
const PARSER_PER_LINE: usize = 8;
const PARSER_LINE: usize = 16;
const SLOTS: usize = 2;
/// What may be left above that of an idle server once an answer is given.
const LEFT: usize = 48 << 20;

/// A text of pieces: a name, a path, what goes before the pieces and after them. `first` is what an edit replaces.
type Sample = (&'static str, &'static str, &'static str, &'static str, &'static str);

const SAMPLES: [Sample; 51] = [
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
    ("maps", "a.json", "[\"first\"", ",{\"a\":{\"b\":{\"c\":{\"d\":1,\"e#\":2}}}}", "]\n"),
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
    ("links", "a.md", "# first\n\n", "[a](k#)", "\n"),
    ("rows", "a.md", "# first\n\n|a|b|\n|-|-|\n", "|c|d|\n", ""),
    ("items", "a.md", "# first\n\n", "- a\n", ""),
    ("conflict markers", "a.py", "first = 1\n", "<<<<<<< a\n", ""),
    ("line ends", "a.py", "first = 1\n", "\n", ""),
    ("closing brackets", "a.py", "first = 1\n", ")\n", ""),
    ("closing braces", "a.c", "int first;\n", "}\n", ""),
    ("open lists", "a.yaml", "first: ", "[", "\n"),
    ("here-documents", "a.sh", "first\n", "a<<E\nE\n", ""),
    ("empty blocks", "a.sh", "first\n", "{\n}\n", ""),
    ("ends of cases", "a.sh", "first\n", "a;;\n", ""),
    ("statements outside", "a.go", "package a\nvar first = 1\n", "a\n", ""),
];

fn text(&(_, _, before, piece, after): &Sample, length: usize) -> String {
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
    /// The same with the pages of the program's file, which the kernel's own peak counts as well.
    idle_with_file: usize,
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
        let [idle, idle_with_file] = ["RssAnon", "VmRSS"].map(|name| server.memory(name));
        Lab { root, server, idle, idle_with_file }
    }

    /// Edits the file, and returns the answer, the peak and what is left, both above an idle server.
    fn edit(&mut self, path: &str) -> (Answer, usize, usize) {
        self.call(&json!({"path": path, "search": "first", "replace": "other"}))
    }

    /// Makes an edit, and returns the same.
    fn call(&mut self, edit: &Value) -> (Answer, usize, usize) {
        let peak = Peak::read(self.server.id());
        let answer = self.server.call("safe_edit_file", edit);
        let peak = peak.end().saturating_sub(self.idle);
        let peak = peak.max(self.server.memory("VmHWM").saturating_sub(self.idle_with_file));
        std::thread::sleep(Duration::from_millis(100));
        let left = self.server.memory("RssAnon");
        (answer, peak, left.saturating_sub(self.idle))
    }
}

/// The processes that a process started, those of its threads.
fn children(process: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>())
        .collect()
}

/// The names of the threads of a process.
fn threads(process: u32) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    tasks.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok()).collect()
}

/// The command line of a process; empty for one that has ended.
fn command_line(process: u32) -> Vec<u8> {
    fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default()
}

/// The resident memory of a process and of those that it started, in bytes; one that has ended has none. Pages of the program's
/// file are left out: all processes share them. So is a child that has not started its program yet: its pages are its parent's.
fn resident(process: u32) -> usize {
    let own = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let kilobytes = |name: &str| {
        let line = own.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|rest| rest.split_whitespace().next()?.parse::<usize>().ok()).unwrap_or(0)
    };
    let pages = kilobytes("RssAnon:") + kilobytes("RssShmem:");
    let own_command = command_line(process);
    let started = children(process).into_iter().filter(|child| command_line(*child) != own_command);
    (pages << 10) + started.map(resident).sum::<usize>()
}

/// The most memory of a process and of those that it starts.
struct Peak {
    ended: Arc<AtomicBool>,
    thread: std::thread::JoinHandle<usize>,
}

impl Peak {
    fn read(process: u32) -> Peak {
        let should_stop = Arc::new(AtomicBool::new(false));
        let stop_flag = Arc::clone(&should_stop);
        let thread = std::thread::spawn(move || {
            let mut most = 0;
            while !stop_flag.load(Ordering::Relaxed) {
                most = most.max(resident(process));
                std::thread::sleep(Duration::from_millis(2));
            }
            most
        });
        Peak { ended: should_stop, thread }
    }

    fn end(self) -> usize {
        self.ended.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
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
    for sample in SAMPLES.iter().filter(|sample| {
        [
            ("stanzas", "a.toml"),
            ("list", "a.py"),
            ("emphasis", "a.md"),
            ("items", "a.md"),
            ("faults", "a.js"),
            ("maps", "a.json"),
        ]
        .contains(&(sample.0, sample.1))
    }) {
        let text = text(sample, 3_000_000);
        let mut lab = Lab::new(sample.1, &text);
        let (answer, peak, left) = lab.edit(sample.1);
        let (outcome, why) = syntax(&answer);
        assert!(peak < allowed(text.len()), "{sample:?}: {peak} bytes, {outcome}, {why}");
        assert!(left < LEFT + 3 * text.len(), "{sample:?}: {left} bytes are left");
        if outcome == "unavailable" {
            assert!(answer.is_error, "{sample:?}: the policy requires the gate");
            assert!(why.contains("MiB of memory; the limit for a text of its size is"), "{why}");
        }
    }
}

#[test]
fn a_text_with_a_fault_in_each_line_takes_no_more_than_is_promised() {
    for (name, path) in [
        ("conflict markers", "a.py"),
        ("line ends", "a.py"),
        ("closing brackets", "a.py"),
        ("open lists", "a.yaml"),
        ("here-documents", "a.sh"),
    ] {
        let sample = SAMPLES.iter().find(|sample| (sample.0, sample.1) == (name, path)).unwrap();
        let text = text(sample, 6_000_000);
        let replacement =
            text.replace("first", "other").replace("<<<<<<< a", "<<<<<<< b").replace("a<<E", "b<<E");
        // As a new file, and in the place of another text.
        for before in ["", text.as_str()] {
            let mut lab = Lab::new(path, before);
            let edit = json!({"path": path, "content": replacement, "mode": "verify_only"});
            let (answer, peak, _) = lab.call(&edit);
            let (outcome, why) = syntax(&answer);
            assert!(peak < allowed(text.len()), "{sample:?}: {peak} bytes, {outcome}, {why}");
        }
    }
}

#[test]
fn the_tree_of_the_gate_against_damage_is_within_the_same_bound() {
    // Every `return` comes before its `def`, so each is a fault. With a larger limit for the trees of symbols, this took 1.03
    // of the bound.
    let lines: Vec<String> = (0..28_000)
        .flat_map(|number| [format!("def name_{number}(a, b):\n"), format!("    return a + b * {number}\n")])
        .collect();
    let (text, reversed) = (lines.concat(), lines.iter().rev().map(String::as_str).collect::<String>());
    let mut lab = Lab::new("a.py", &text);
    let (answer, peak, _) = lab.call(&json!({"path": "a.py", "content": reversed}));
    assert!(answer.is_error, "{}", answer.structured);
    assert!(peak < allowed(text.len()), "{peak} bytes of {}", allowed(text.len()));
}

#[test]
fn faults_that_a_grammar_accepts_are_within_the_same_bound() {
    for (name, length) in
        [("empty blocks", 240_000), ("ends of cases", 400_000), ("statements outside", 160_000)]
    {
        let sample = SAMPLES.iter().find(|sample| sample.0 == name).unwrap();
        let text = text(sample, length);
        let mut lab = Lab::new(sample.1, &text);
        let (answer, peak, _) = lab.edit(sample.1);
        let (outcome, why) = syntax(&answer);
        assert!(peak < allowed(text.len()), "{name}: {peak} bytes, {outcome}, {why}");
    }
}

#[test]
fn a_quote_in_another_layout_is_found_within_the_same_bound() {
    // The tree of the text is freed before that of the result is made: with both at a time, this took 1.5 of the bound.
    let line = |number: usize| {
        format!("function f{number}(a,b){{if(a){{return g(a,[b,{number}],{{x:1,y:[2,3]}});}}}}\n")
    };
    let text: String = (0..6_600).map(line).collect();
    let mut lab = Lab::new("a.js", &text);
    let quoted = |called: &str| {
        format!(
            "function f3000(a, b) {{\n  if (a) {{\n    return {called}(a, [b, 3000], {{ x: 1, y: [2, 3] }});\n  }}\n}}"
        )
    };
    let (answer, peak, _) = lab.call(&json!({"path": "a.js", "search": quoted("g"), "replace": quoted("h")}));
    assert_eq!(answer.structured["edits"][0]["match"]["tier"], json!("layout"), "{}", answer.structured);
    assert!(peak < allowed(text.len()), "{peak} bytes of {}", allowed(text.len()));
}

/// The process that reads a text, started by hand.
fn reader(task: &str, (language, path): (&str, &str), text: &str, memory: usize) -> Child {
    let mut child = Command::new(env!("CARGO_BIN_EXE_lockgate"))
        .args(["__parse", task, language, path, &memory.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).ok();
    child
}

/// True if such a process could read the text within so much memory.
fn reads_within(task: &str, names: (&str, &str), text: &str, memory: usize) -> bool {
    let output = reader(task, names, text, memory).wait_with_output().unwrap();
    let reply = output.stdout.get(..9).unwrap_or_default();
    output.status.success() && (reply == b"{\"Faults\"" || reply == b"{\"Page\":{" || reply == b"{\"Keys\":[")
}

#[test]
fn a_parser_that_is_not_limited_takes_more_than_is_promised() {
    let toml = text(&SAMPLES[0], 3_000_000);
    let emphasis = SAMPLES.iter().find(|sample| sample.0 == "emphasis").unwrap();
    let page = text(emphasis, 10_000_000);
    let maps = "{\"a\":".repeat(1_600_000) + "1" + &"}".repeat(1_600_000);
    for (task, names, text) in [
        ("faults", ("toml", "a.toml"), &toml),
        ("page", ("markdown", "a.md"), &page),
        ("keys", ("json", "a.json"), &maps),
    ] {
        let promised = allowed(text.len());
        assert!(!reads_within(task, names, text, promised), "{task} takes over what is promised");
        assert!(reads_within(task, names, text, 4 << 30), "{task}: it is read where memory suffices");
    }
}

/// The limit of the parsers of a text, in the words of an answer.
fn limit(text: &str) -> String {
    let short_lines = text.matches('\n').count().saturating_sub(text.len() / PARSER_LINE);
    let limit = PARSER_PER_BYTE * text.len() + PARSER_ALWAYS - PARSER_PER_LINE * short_lines;
    let limit = limit.div_ceil(1 << 20);
    format!(
        "{limit} MiB ({PARSER_PER_BYTE} times the text and {} MiB, less for short lines)",
        PARSER_ALWAYS >> 20
    )
}

#[test]
fn the_fallback_parser_is_named_with_the_limit() {
    // Toml_edit takes 160 bytes for each byte of this text, tree-sitter fewer.
    let large = text(&SAMPLES[0], 450_000);
    let mut lab = Lab::new("a.toml", &large);
    let (outcome, why) = syntax(&lab.edit("a.toml").0);
    assert_eq!(outcome, "passed", "{why}");
    let limit_of_large = limit(&large);
    assert_eq!(
        why,
        format!(
            "toml_edit exceeded its memory limit of {limit_of_large}; tree-sitter parsed the text instead"
        )
    );
    // The control: a text that it reads.
    let mut lab = Lab::new("a.toml", &text(&SAMPLES[0], 60_000));
    assert_eq!(syntax(&lab.edit("a.toml").0), ("passed".to_owned(), String::new()));

    let maps = "{\"first\":".to_owned() + &"{\"a\":".repeat(600_000) + "1" + &"}".repeat(600_001);
    let mut lab = Lab::new("a.json", &maps);
    let (answer, peak, _) = lab.edit("a.json");
    let (outcome, why) = syntax(&answer);
    assert_eq!(outcome, "passed", "{why}");
    let limit_of_maps = limit(&maps);
    assert_eq!(why, format!("the search for duplicate keys exceeded its memory limit of {limit_of_maps}"));
    assert!(peak < allowed(maps.len()), "{peak}");
}

#[test]
fn a_page_that_takes_too_much_memory_is_not_checked_and_a_required_gate_blocks() {
    let emphasis = SAMPLES.iter().find(|sample| sample.0 == "emphasis").unwrap();
    let text = text(emphasis, 6_000_000);
    let mut lab = Lab::new("a.md", &text);
    let policy = "quality_gates:\n  markdown: [{ tool: markdown-structure, required: true, timeout: 120s }]\nlimits: { total: 120s }\n";
    fs::write(lab.root.path().join("quality.yaml"), policy).unwrap();
    let (answer, peak, _) = lab.edit("a.md");
    let gate = &answer.structured["gates"][0];
    assert!(answer.is_error && gate["outcome"] == json!("unavailable"), "{}", answer.structured);
    let limit_of_page = limit(&text);
    assert_eq!(gate["why"], json!(format!("pulldown-cmark exceeded its memory limit of {limit_of_page}")));
    assert!(peak < allowed(text.len()), "{peak}");
    // The control: a page of half a megabyte is large, too, and is read.
    let page =
        "# first\n\n".to_owned() + &"A page of *ordinary* text.\n".repeat(20_000) + "[a](missing.md)\n";
    fs::write(lab.root.path().join("b.md"), page).unwrap();
    let edit = json!({"path": "b.md", "search": "first", "replace": "other"});
    assert_eq!(lab.server.call("safe_edit_file", &edit).structured["gates"][0]["outcome"], json!("found"));
}

#[test]
fn findings_on_one_long_line_take_no_more_than_is_promised() {
    let link = |number: usize| format!("[a](k{number}) {}", "x ".repeat(300));
    let text = "# first\n\n".to_owned() + &(0..3000).map(link).collect::<String>() + "\n";
    let mut lab = Lab::new("a.md", &text);
    let policy = "quality_gates:\n  markdown: [{ tool: markdown-structure, timeout: 120s }]\nlimits: { total: 120s }\n";
    fs::write(lab.root.path().join("quality.yaml"), policy).unwrap();
    let (answer, peak, _) = lab.edit("a.md");
    assert_eq!(answer.structured["gates"][0]["outcome"], json!("found"), "{}", answer.structured);
    // The control is the unit test of what a finding keeps of its line: a copy each would be 5 GB here.
    assert!(peak < allowed(text.len()), "{peak}");
}

#[test]
fn no_parser_goes_on_after_its_answer() {
    let list = SAMPLES.iter().find(|sample| (sample.0, sample.1) == ("list", "a.yaml")).unwrap();
    let text = text(list, 8_000_000);
    let mut lab = Lab::new("a.yaml", &text);
    let policy = "quality_gates:\n  \"*\": [{ tool: syntax, timeout: 100ms }]\n";
    fs::write(lab.root.path().join("quality.yaml"), policy).unwrap();
    let (answer, ..) = lab.edit("a.yaml");
    assert_eq!(syntax(&answer).0, "timed_out", "{}", answer.structured);
    assert_eq!(children(lab.server.id()), [0; 0], "its process was killed");
    let parsing = |name: &String| name.starts_with("lockgate-parser");
    assert!(!threads(lab.server.id()).iter().any(parsing), "{:?}", threads(lab.server.id()));
    // The control: a process that nobody ends reads on for longer than that.
    let mut child = reader("faults", ("yaml", "a.yaml"), &text, 4 << 30);
    std::thread::sleep(Duration::from_millis(100));
    assert!(child.try_wait().unwrap().is_none(), "it is still at it");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Sends edits of large files to one server at once, and returns its peak above that of the idle server.
fn concurrent_peak(calls: usize, text: &str) -> usize {
    let root = tempfile::tempdir().unwrap();
    let policy = "quality_gates:\n  \"*\": [{ tool: syntax, timeout: 300s }]\nlimits: { total: 300s, lock_wait: 300s }\n";
    fs::write(root.path().join("quality.yaml"), policy).unwrap();
    for number in 0..calls {
        fs::write(root.path().join(format!("a{number}.toml")), text).unwrap();
    }
    let served = ServerProcess::start(root.path(), &[]);
    let edit = |path: &str| {
        let edit = json!({"path": path, "search": "first", "replace": "other"});
        let mut client = served.client(TOKEN, ProtocolEra::New);
        client.raw.stream.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
        client.call("safe_edit_file", &edit)
    };
    fs::write(root.path().join("small.toml"), "first = 1\n").unwrap();
    edit("small.toml");
    let idle = resident(served.process.id());
    let peak = Peak::read(served.process.id());
    let start = Instant::now();
    std::thread::scope(|scope| {
        let edit = &edit;
        for number in 0..calls {
            scope.spawn(move || edit(&format!("a{number}.toml")));
        }
    });
    println!("{calls} calls: {:?}", start.elapsed());
    peak.end().saturating_sub(idle)
}

#[test]
fn eight_calls_at_once_take_no_more_than_two_texts_and_what_each_call_holds() {
    const CALLS: usize = 8;
    let text = text(&SAMPLES[0], 1_000_000);
    let of_parsers = PARSER_PER_BYTE * text.len() + PARSER_ALWAYS;
    // Of calls at once each has an arena of its own, which keeps what was given back for a moment.
    let of_calls = 9 * text.len() + (20 << 20);
    let bound = SLOTS * of_parsers + CALLS * of_calls;
    let (alone, eight) = (concurrent_peak(1, &text), concurrent_peak(CALLS, &text));
    println!("{} MiB alone, {} MiB at once, of {} MiB", alone >> 20, eight >> 20, bound >> 20);
    assert!(eight < bound, "{eight} bytes of {bound}");
    // The control: calls that did not wait for each other would take more.
    assert!(CALLS * alone > bound, "{alone} bytes alone, the bound is {bound}");
}

#[test]
fn ordinary_large_texts_are_judged() {
    let rust: String = (0..20_000)
        .map(|n| format!("/// Returns the sum of both numbers, and {n}.\npub fn add_{n}(one: usize, other: usize) -> usize {{\n    one + other + {n}\n}}\n\n"))
        .collect();
    let toml: String = (0..20_000)
        .map(|n| format!("[package-{n}]\nname = \"some-package\"\nversion = \"1.{n}.0\"\nchecksum = \"0123456789abcdef0123456789abcdef\"\n\n"))
        .collect();
    for (path, text, broken_line) in [("a.rs", rust, "fn first( {\n"), ("a.toml", toml, "first =\n")] {
        let good = format!("{text}# first\n")
            .replace("# first", if path == "a.rs" { "// first" } else { "# first" });
        let mut lab = Lab::new(path, &good);
        let (answer, peak, _) = lab.edit(path);
        assert_eq!(syntax(&answer).0, "passed", "{path}: {:?}", syntax(&answer));
        assert!(peak < allowed(good.len()), "{path}: {peak}");
        let broken = json!({"path": path, "search": if path == "a.rs" { "// other\n" } else { "# other\n" }, "replace": broken_line});
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
    for sample in &SAMPLES {
        let text = text(sample, 10_000_000);
        let mut lab = Lab::new(sample.1, &text);
        let (answer, peak, left) = lab.edit(sample.1);
        let allowed = allowed(text.len());
        println!(
            "| `{}` | {} | {:.1} | {} | {} % | {} | {} |",
            sample.1,
            sample.0,
            text.len() as f64 / 1e6,
            peak >> 20,
            100 * peak / allowed,
            left >> 20,
            syntax(&answer).0
        );
        if peak > allowed {
            over.push((sample, peak >> 20, syntax(&answer)));
        }
    }
    assert!(over.is_empty(), "{over:#?}");
}

/// As above, with `ordinary_sources`: files `a.EXT` of ordinary sources are in the folder that LOCKGATE_TEST_SOURCES names.
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
        let peak = lab.server.memory("VmHWM").saturating_sub(lab.idle);
        let (outcome, why) = syntax(&answer);
        println!(
            "| `{path}` | {:.1} | {} | {} % | {outcome} {why} |",
            text.len() as f64 / 1e6,
            peak >> 20,
            100 * peak / allowed(text.len())
        );
    }
}
