//! What an edit costs over standard input and output, beside the plain write of the same bytes in the same run.
//!
//!     cargo bench --bench stdio            1,000, 10,000 and 100,000 lines
//!     cargo bench --bench stdio -- --long  1,000,000 lines too
//!
//! Each size alternates one edit through the server and one plain read, write, fsync and rename of the same bytes, so
//! that other load of the machine slows both. The plain write is also made with a sync of its folder, which lockgate
//! does, so that a file that was answered as written is found after a power cut. Processor time is that of the server's
//! process, the kernel's work for it included.
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
use std::time::{Duration, Instant};

use serde_json::json;
use wire::{Server, plain_write};

/// Pairs of one edit and one plain write for each size.
const ROUNDS: usize = 100;

/// Server starts that are timed.
const STARTS: usize = 20;

struct Measured {
    lines: usize,
    bytes: usize,
    edit: Duration,
    plain: Duration,
    ratio: f64,
    ratio_synced: f64,
    processor: Duration,
    peak: usize,
}

fn main() {
    let long = std::env::args().any(|argument| argument == "--long");
    let sizes: &[usize] = if long { &[1_000, 10_000, 100_000, 1_000_000] } else { &[1_000, 10_000, 100_000] };
    println!("start-up, median of {STARTS}: {:.1} ms", start_up().as_secs_f64() * 1e3);
    println!();
    println!(
        "| lines | file | edit over stdio | plain write | ratio | ratio to one with its folder synced \
         | own CPU per edit | peak memory | of 6 x file + 32 MiB |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for &lines in sizes {
        let results = measure(lines);
        let allowed = 6 * results.bytes + (32 << 20);
        println!(
            "| {} | {} KB | {:.2} ms | {:.2} ms | {:.2} | {:.2} | {:.2} ms | {:.1} MiB | {:.0} % |",
            results.lines,
            results.bytes / 1000,
            results.edit.as_secs_f64() * 1e3,
            results.plain.as_secs_f64() * 1e3,
            results.ratio,
            results.ratio_synced,
            results.processor.as_secs_f64() * 1e3,
            results.peak as f64 / f64::from(1 << 20),
            results.peak as f64 / allowed as f64 * 100.0,
        );
    }
}

fn start_up() -> Duration {
    let root = tempfile::tempdir().unwrap();
    let once = || {
        let start = Instant::now();
        let server = Server::start(root.path(), &[]);
        let started = start.elapsed();
        drop(server);
        started
    };
    median((0..STARTS).map(|_| once()).collect())
}

fn measure(lines: usize) -> Measured {
    let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::write(root.path().join("quality.yaml"), "quality_gates: {}\nlimits: { file: 100MiB }\n").unwrap();
    let text: String = (0..lines).map(|line| format!("value_{line:07} = compute({line}, scale)\n")).collect();
    let (ours, theirs) = (root.path().join("ours.txt"), root.path().join("theirs.txt"));
    fs::write(&ours, &text).unwrap();
    fs::write(&theirs, &text).unwrap();
    let mut server = Server::start(root.path(), &[]);
    let middle = lines / 2;
    let mut edits = Vec::new();
    let mut plains = Vec::new();
    let mut synced = Vec::new();
    let before = processor_time(server.id());
    for round in 0..ROUNDS {
        let (old, new) = (name(middle, round), name(middle, round + 1));
        let start = Instant::now();
        let answer =
            server.call("safe_edit_file", &json!({"path": "ours.txt", "search": old, "replace": new}));
        edits.push(start.elapsed());
        assert_eq!(answer.status(), "written", "{}", answer.text);
        let start = Instant::now();
        plain_write(&theirs);
        plains.push(start.elapsed());
        let start = Instant::now();
        plain_write(&theirs);
        fs::File::open(root.path()).unwrap().sync_all().unwrap();
        synced.push(start.elapsed());
    }
    let processor = (processor_time(server.id()) - before) / u32::try_from(ROUNDS).unwrap();
    Measured {
        lines,
        bytes: text.len(),
        ratio: ratio(&edits, &plains),
        ratio_synced: ratio(&edits, &synced),
        edit: median(edits),
        plain: median(plains),
        processor,
        peak: server.memory("VmHWM"),
    }
}

/// The name that line `line` has after `round` edits; the first is the one that the file was made with.
fn name(line: usize, round: usize) -> String {
    if round == 0 { format!("value_{line:07} =") } else { format!("value_{line:07}_{round} =") }
}

/// The median of the ratios, pair by pair.
fn ratio(ours: &[Duration], theirs: &[Duration]) -> f64 {
    let ratios = ours.iter().zip(theirs).map(|(ours, theirs)| ours.as_secs_f64() / theirs.as_secs_f64());
    let mut ratios: Vec<f64> = ratios.collect();
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// User and system time of a process, read from /proc in ticks of 10 ms.
fn processor_time(process: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}
