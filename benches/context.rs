//! What the code of 5,000 files says: read for the first time, asked again, and asked after one file has changed.
//!
//! `cargo bench --bench context` prints the table of docs/benchmarks.md. `LOCKGATE_FILES` gives another number of files, and
//! `LOCKGATE_ROOT` a folder that is looked at in place of the generated tree.
#![expect(clippy::unwrap_used, reason = "a benchmark stops at the first error")]
#![expect(clippy::print_stdout, reason = "the table is what it is for")]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lockgate_checks::Watch;
use lockgate_edit::request::Target;
use lockgate_engine::{ContextRequest, Workspace};

/// Files of the tree, where nothing else is said; and answers that are measured of each kind.
const FILES: usize = 5_000;
const ROUNDS: usize = 21;

const NOTHING: ContextRequest = ContextRequest { target: None, query: None, symbol: None, tokens: 4_000 };

/// A module with a class, functions that use those of others, and constants: 60 to 140 lines.
fn python(n: usize, files: usize) -> String {
    let mut text = format!("\"\"\"What is kept of things of sort {n}.\"\"\"\nimport os\n");
    for other in 1..5 {
        writeln!(
            text,
            "from pkg{}.mod{} import load_{}",
            other_of(n, other, files) / 50,
            other_of(n, other, files),
            other_of(n, other, files)
        )
        .unwrap();
    }
    write!(
        text,
        "\nLIMIT_{n} = {n}\n\n\nclass Thing{n}:\n    \"\"\"A thing of sort {n}.\"\"\"\n\n    size = 0\n"
    )
    .unwrap();
    for method in 0..6 + n % 12 {
        write!(
            text,
            "\n    def method_{method}(self, value, limit=LIMIT_{n}):\n        \"\"\"Does step {method} with a value.\"\"\"\n        \
             total = [item for item in value if item < limit]\n        self.size += len(total)\n        return self.method_{}(total)\n",
            method / 2
        )
        .unwrap();
    }
    write!(
        text,
        "\n\ndef load_{n}(path):\n    \"\"\"Loads things of sort {n}.\"\"\"\n    thing = Thing{n}()\n"
    )
    .unwrap();
    for other in 1..5 {
        writeln!(
            text,
            "    thing.method_{other}(load_{}(os.path.join(path, \"x\")))",
            other_of(n, other, files)
        )
        .unwrap();
    }
    text + "    return thing\n"
}

/// The same in other languages, in fewer words.
fn elsewhere(n: usize) -> (&'static str, String) {
    let lines = |line: &dyn Fn(usize) -> String| (0..40).map(line).collect::<String>();
    match n % 4 {
        0 => (
            "ts",
            lines(&|m| {
                format!(
                    "/** Step {m}. */\nexport function step{n}_{m}(value: number): number {{\n  return helper{m}(value) + {m};\n}}\n"
                )
            }),
        ),
        1 => (
            "go",
            format!(
                "package pkg\n\n{}",
                lines(&|m| format!(
                    "// Step{n}x{m} does it.\nfunc Step{n}x{m}(value int) int {{\n\treturn helper{m}(value) + {m}\n}}\n\n"
                ))
            ),
        ),
        2 => (
            "rs",
            lines(&|m| {
                format!(
                    "/// Step {m}.\npub fn step_{n}_{m}(value: u32) -> u32 {{\n    helper_{m}(value) + {m}\n}}\n\n"
                )
            }),
        ),
        _ => ("md", lines(&|m| format!("## Step {m} of {n}\n\nWhat is done then.\n\n"))),
    }
}

fn other_of(n: usize, other: usize, files: usize) -> usize {
    (n * 7 + other * 131) % files.max(1)
}

fn tree(root: &Path, files: usize) {
    for n in 0..files {
        let folder = root.join(format!("pkg{}", n / 50));
        std::fs::create_dir_all(&folder).unwrap();
        if n % 5 == 4 {
            let (ending, text) = elsewhere(n);
            std::fs::write(folder.join(format!("other{n}.{ending}")), text).unwrap();
        } else {
            std::fs::write(folder.join(format!("mod{n}.py")), python(n, files)).unwrap();
        }
    }
}

struct Fixture {
    workspace: Arc<Workspace>,
    runtime: tokio::runtime::Runtime,
}

impl Fixture {
    /// How long an answer takes, and how long it is in parts.
    fn ask(&self, request: &ContextRequest) -> (Duration, usize) {
        let start = Instant::now();
        let context = self.runtime.block_on(self.workspace.read(request.clone(), Watch::idle())).unwrap();
        let took = start.elapsed();
        let symbols = context.definitions.iter().chain(&context.symbols).map(Vec::len).sum::<usize>();
        let references = context.references.map_or(0, |references| references.len());
        let outline = context.target.map_or(0, |target| target.outline.len());
        (took, symbols + references + context.uses.len() + outline)
    }

    fn row(&self, name: &str, request: &ContextRequest, before: impl Fn(usize)) {
        let mut times: Vec<(Duration, usize)> = (0..ROUNDS)
            .map(|round| {
                before(round);
                self.ask(request)
            })
            .collect();
        times.sort_unstable();
        let ms = |at: usize| times.get(at).map_or(0.0, |(took, _)| took.as_secs_f64() * 1e3);
        let parts = times.first().map_or(0, |(_, parts)| *parts);
        println!("| {name} | {:.1} ms | {:.1} ms | {parts} |", ms(ROUNDS / 2), ms(ROUNDS - 1));
    }
}

/// The megabytes of memory that the process has.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default();
    let kilobytes: f64 = line.split_whitespace().nth(1).and_then(|text| text.parse().ok()).unwrap_or(0.0);
    format!("{:.0} MB", kilobytes / 1024.0)
}

fn main() {
    if std::env::args().any(|argument| argument == "--test" || argument == "--list") {
        return;
    }
    let files = std::env::var("LOCKGATE_FILES").ok().and_then(|text| text.parse().ok()).unwrap_or(FILES);
    let dir = tempfile::tempdir().unwrap();
    let configured = std::env::var_os("LOCKGATE_ROOT").map(PathBuf::from);
    let root = configured.clone().unwrap_or_else(|| dir.path().join("root"));
    if configured.is_none() {
        tree(&root, files);
    }
    // Only what was left alone for two seconds is surely as it was.
    std::thread::sleep(Duration::from_millis(2_200));
    let workspace =
        Workspace::at(std::slice::from_ref(&root)).with_state_dir(&dir.path().join("own")).open().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let fixture = Fixture { workspace, runtime };
    let symbol = |name: &str| ContextRequest { symbol: Some(name.to_owned()), ..NOTHING };
    let target = |path: &str| ContextRequest { target: Some(Target::File(path.to_owned())), ..NOTHING };
    let before = memory();
    let (cold, _) = fixture.ask(&symbol("load_7"));
    println!(
        "the first answer: {:.2} s; memory before and after: {before}, {}\n",
        cold.as_secs_f64(),
        memory()
    );
    println!(
        "| {files} files, warm | median | slowest of {ROUNDS} | symbols and references |\n|---|---|---|---|"
    );
    let still = |_: usize| {};
    fixture.row("a function with few uses", &symbol("load_7"), still);
    fixture.row("a method with thousands of namesakes", &symbol("method_1"), still);
    fixture.row("a name that nothing has", &symbol("laod_7"), still);
    fixture.row(
        "words",
        &ContextRequest { query: Some("load things of sort 7".to_owned()), ..NOTHING },
        still,
    );
    if configured.is_none() {
        fixture.row("the outline of a file", &target("pkg0/mod7.py"), still);
        fixture.row("the same after one file has changed", &symbol("load_7"), |round| {
            std::fs::write(root.join("pkg0/mod8.py"), python(8 + round, files)).unwrap();
        });
    }
    fixture.row("the shape of the project", &NOTHING, still);
}
