//! What reads cost: 50 lines out of a large file, a whole file, a search through many files, a list of them.
//!
//!     cargo bench --bench reads
//!
//! CPU is that of the whole process, user and system, with the threads that help. tests/tools/ripgrep.py holds a search
//! against ripgrep over the wire.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark stops at the first error, and prints"
)]

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lockgate_checks::Watch;
use lockgate_engine::Workspace;
use lockgate_mcp::answer::ResponseOptions;
use lockgate_mcp::tools::{TOOLS, ToolRequest};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// Lines of the large file, of which so many are shown.
const LINES: usize = 100_000;
const SHOWN: usize = 50;
/// Files that are searched and listed.
const FILES: usize = 5_000;
/// Longer than a file must have been left alone before its text is used again.
const SETTLED: Duration = Duration::from_secs(3);

struct Fixture {
    workspace: Arc<Workspace>,
    runtime: Runtime,
}

impl Fixture {
    fn new(dir: &Path) -> Fixture {
        let root = dir.join("root");
        fs::create_dir_all(&root).unwrap();
        let line = |line: usize| format!("let value_{line:07} = compute({line}, scale);\n");
        fs::write(root.join("large.rs"), (0..LINES).map(line).collect::<String>()).unwrap();
        for file in 0..FILES {
            let folder = root.join(format!("{:02}", file / 100));
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(format!("{file:04}.rs")), (0..200).map(line).collect::<String>()).unwrap();
        }
        let workspace = Workspace::at(&[root]).with_state_dir(&dir.join("own")).open().unwrap();
        Fixture { workspace, runtime: tokio::runtime::Builder::new_current_thread().build().unwrap() }
    }

    /// Calls a tool and renders both forms of its answer; returns their bytes.
    fn read(&self, tool: &str, arguments: Value) -> usize {
        let tool = TOOLS.iter().find(|known| known.name == tool).unwrap();
        let Ok(ToolRequest::Read(call)) = (tool.parse)(arguments.as_object().cloned().unwrap()) else {
            unreachable!("{} reads", tool.name)
        };
        let reply = self.runtime.block_on(call.run(Arc::clone(&self.workspace), Watch::idle())).unwrap();
        let answer = (reply.render)(&ResponseOptions::default());
        answer.json.to_string().len() + answer.text.len()
    }

    /// Reads some lines of the large file.
    fn lines(&self, round: usize) -> usize {
        let start_line = 1 + round * 7919 % (LINES - SHOWN);
        let end_line = start_line + SHOWN - 1;
        self.read(
            "read_content_lines",
            json!({"path": "large.rs", "start_line": start_line, "end_line": end_line}),
        )
    }
}

/// The time that this process has run on its processors.
fn processor() -> Duration {
    rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime).try_into().unwrap()
}

/// Prints medians and what the slowest twentieth costs at least.
fn measured(name: &str, rounds: usize, mut work: impl FnMut(usize) -> usize) {
    let mut wall = Vec::new();
    let mut cpu = Vec::new();
    for round in 0..rounds {
        let (cpu_start, start) = (processor(), Instant::now());
        black_box(work(round));
        wall.push(start.elapsed());
        cpu.push(processor().saturating_sub(cpu_start));
    }
    wall.sort();
    cpu.sort();
    let [middle, late] = [rounds / 2, rounds * 19 / 20];
    let shown =
        |times: &[Duration], at: usize| format!("{:9.3} ms", times.get(at).unwrap().as_secs_f64() * 1e3);
    println!(
        "{name:44} CPU {} (95 %: {})  wall {}",
        shown(&cpu, middle),
        shown(&cpu, late),
        shown(&wall, middle)
    );
}

fn main() {
    let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let fixture = Fixture::new(dir.path());
    measured("50 of 100,000 lines, just written", 20, |round| fixture.lines(round));
    std::thread::sleep(SETTLED);
    fixture.lines(0);
    measured("50 of 100,000 lines", 1000, |round| fixture.lines(round));
    measured("get_content of it", 100, |_| fixture.read("get_content", json!({"path": "large.rs"})));
    for (name, pattern) in [
        ("a word that is nowhere, 5,001 files", "zq_no_such_word"),
        ("a word on one line of each", "value_0000100"),
        ("a regex without a literal", r"\b[a-z]+_[0-9]{5}99\b"),
        ("every line", "."),
    ] {
        measured(name, 20, |_| fixture.read("search_content", json!({"pattern": pattern})));
    }
    measured("a list of 200 of 5,001 files", 20, |_| {
        fixture.read("list_content", json!({"max_results": 200}))
    });
}
