//! What it costs to find a quoted text, and how that grows with the file.
//!
//!     cargo bench --bench locating                 all of it
//!     cargo bench --bench locating -- near worst   exact, near, growth, worst, memory: some of it
//!
//! The text is the standard library of the Python that is installed here, one file after the other; else text of that
//! form. Each figure is a median, of many different quotes where places are drawn by lot: that, processor time and
//! memory are why this measures by itself. Processor time is that of the process, or of the server's.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    reason = "a benchmark stops at the first error, and prints"
)]

#[path = "locating/memory.rs"]
mod memory;
#[path = "locating/texts.rs"]
mod texts;
#[path = "../tests/suite/wire.rs"]
#[expect(dead_code, reason = "the tests use more of the client than this does")]
mod wire;
#[path = "locating/worst.rs"]
mod worst;

use std::fs;
use std::hint::black_box;
use std::time::{Duration, Instant};

use lockgate_edit::{
    Edit, EditLimits, Needle, Occurrences, OnDuplicate, PlanContext, PlannedEdit, Search, SearchMatches, plan,
};
use lockgate_error::{Code, Error};
use lockgate_matching::{MatchLevel, MatchTolerance, TypoPolicy};
use lockgate_text::{Buffer, Hints};
use serde_json::json;
use texts::{Quoted, Random};
use wire::Server;

/// Different quotes for each size of file and of quote.
const QUOTES: usize = 60;

const SIMILAR: MatchTolerance =
    MatchTolerance::Similar { threshold: MatchTolerance::THRESHOLD, typos: TypoPolicy::Certain };

const CONTEXT: PlanContext<'static> = PlanContext {
    noun: "file",
    path: "a.py",
    language: Some("python"),
    syntax: &lockgate_syntax::Grammars,
    limits: EditLimits { bytes: 1 << 30, steps: 40_000_000 },
};

fn main() {
    let filters: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let sections: [(&str, fn()); 5] = [
        ("exact", exact),
        ("near", similar_search),
        ("growth", growth),
        ("worst", worst::table),
        ("memory", memory::table),
    ];
    for (name, section) in sections {
        if filters.is_empty() || filters.iter().any(|one| one == name) {
            println!("{name}");
            println!();
            section();
            println!();
        }
    }
}

/// Wall and processor time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Cost {
    wall: Duration,
    processor: Duration,
}

impl Cost {
    fn wall_ms(self) -> f64 {
        self.wall.as_secs_f64() * 1e3
    }

    fn processor_ms(self) -> f64 {
        self.processor.as_secs_f64() * 1e3
    }
}

fn buffer(text: &str) -> Buffer {
    Buffer::read(text.as_bytes().to_vec(), Hints::default()).unwrap()
}

fn edit(search: &str, replace: &str, tolerance: MatchTolerance) -> Edit {
    Edit::Search(Search {
        needle: Needle::Literal(search.to_owned()),
        replace: replace.to_owned(),
        count: None,
        expect_matches: None,
        lines: None,
        within: None,
        occurrences: Occurrences::Block,
        tolerance,
        on_duplicate: OnDuplicate::Reject,
    })
}

/// Plans an edit once.
fn once(edit: &Edit, before: &Buffer) -> (Cost, Result<PlannedEdit, Error>) {
    let (cpu_start, start) = (processor(), Instant::now());
    let planned = black_box(plan(edit, before, CONTEXT));
    (Cost { wall: start.elapsed(), processor: processor().saturating_sub(cpu_start) }, planned)
}

/// The time that this process has run on a processor.
fn processor() -> Duration {
    rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime).try_into().unwrap()
}

/// The value in a sorted row below which so many per cent of them lie.
fn share(mut costs: Vec<Cost>, percent: usize) -> Cost {
    costs.sort_unstable();
    costs[(costs.len() - 1) * percent / 100]
}

/// How an answer is called in a table.
fn answer(planned: &Result<PlannedEdit, Error>) -> String {
    match planned {
        Ok(PlannedEdit { matches: SearchMatches { info: Some(match_info), .. }, .. }) => {
            match_info.level.name().to_owned()
        }
        Ok(_) => "unchanged".to_owned(),
        Err(refused) => {
            let best = refused.best.as_ref().map(|best| format!(", best {}", best.score.percent()));
            format!("{}{}", refused.code.name(), best.unwrap_or_default())
        }
    }
}

fn exact() {
    let text = texts::library(100_000);
    let at = 99_000;
    let search = texts::block(&text, at, 20);
    assert!(texts::is_telling(&search) && text.matches(&search).nth(1).is_none());
    let (search, replace) = (search.as_str(), format!("{search}changed = 1\n"));
    let before = buffer(&text);
    let costs = (0..200).map(|_| {
        let (cost, planned) = once(&edit(search, &replace, MatchTolerance::Wrapping), &before);
        assert_eq!(answer(&planned), "exact");
        cost
    });
    let library = share(costs.collect(), 50);
    let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::write(root.path().join("quality.yaml"), "quality_gates: {}\n").unwrap();
    fs::write(root.path().join("a.txt"), &text).unwrap();
    let mut server = Server::start(root.path(), &[]);
    let arguments =
        json!({"file_path": "a.txt", "old_string": search, "new_string": replace, "mode": "verify_only"});
    let cpu_start = memory::processor(server.id());
    let calls = (0..100).map(|_| {
        let start = Instant::now();
        let answer = server.call("edit_file", &arguments);
        let wall = start.elapsed();
        assert!(!answer.is_error, "{}", answer.text);
        Cost { wall, processor: Duration::ZERO }
    });
    let wall = share(calls.collect(), 50).wall;
    let call = Cost { wall, processor: (memory::processor(server.id()) - cpu_start) / 100 };
    println!("| in 100,000 lines, {} KB, found in line {at} | wall | CPU |", text.len() / 1000);
    println!("|---|---|---|");
    for (name, cost) in [("`edit::plan`", library), ("`edit_file`, `verify_only`, over stdio", call)] {
        println!("| {name} | {:.2} ms | {:.2} ms |", cost.wall_ms(), cost.processor_ms());
    }
}

fn similar_search() {
    println!("| lines | quote | that differs by | median | of that CPU | p95 | right place | applied |");
    println!("|---|---|---|---|---|---|---|---|");
    for lines in [10_000, 100_000] {
        let text = texts::library(lines);
        let before = buffer(&text);
        for height in [5, 20, 60] {
            similar_row(&text, &before, lines, height, "3 % of its letters", texts::with_changed_letters);
            similar_row(&text, &before, lines, height, "a slip in one line", texts::with_typo);
        }
    }
}

fn similar_row(
    text: &str,
    before: &Buffer,
    lines: usize,
    height: usize,
    name: &str,
    make_quote: fn(&str, &mut Random) -> Quoted,
) {
    let (mut random, mut costs, mut right, mut applied) = (Random::new(height as u64), Vec::new(), 0, 0);
    let starts = texts::starts(text);
    for _ in 0..QUOTES {
        let (at, block) = loop {
            let at = 1 + random.below(lines - height);
            let block = &text[starts[at - 1]..starts[at - 1 + height]];
            if texts::is_telling(block) && text.matches(block).nth(1).is_none() {
                break (at, block);
            }
        };
        let Quoted { search, replace } = make_quote(block, &mut random);
        let (cost, planned) = once(&edit(&search, &replace, SIMILAR), before);
        costs.push(cost);
        let found = match &planned {
            Ok(planned) => planned.matches.info.map(|match_info| match_info.line),
            Err(Error { code: Code::MatchNotFound, best: Some(best), .. }) => Some(best.start_line),
            Err(refused) => panic!("{refused:?}"),
        };
        right += usize::from(found == Some(at));
        applied += usize::from(
            planned.is_ok_and(|planned| planned.matches.info.unwrap().level == MatchLevel::Similar),
        );
    }
    let (median, slow) = (share(costs.clone(), 50), share(costs, 95));
    println!(
        "| {lines} | {height} lines | {name} | {:.2} ms | {:.2} ms | {:.1} ms | {right} of {QUOTES} | {applied} |",
        median.wall_ms(),
        median.processor_ms(),
        slow.wall_ms(),
    );
}

fn growth() {
    println!("| ms of CPU for 1,000 lines, in | 1,000 lines | 10,000 | 100,000 | 1,000,000 | answer |");
    println!("|---|---|---|---|---|---|");
    let files: Vec<Buffer> =
        [1_000, 10_000, 100_000, 1_000_000].map(|lines| buffer(&texts::planted(lines))).into();
    for (name, Quoted { search, replace }, tolerance) in texts::levels() {
        let edit = edit(&search, &replace, tolerance);
        print!("| {name} |");
        let mut report = String::new();
        for (before, rounds) in files.iter().zip([41, 21, 9, 3]) {
            let mut costs = Vec::new();
            for _ in 0..rounds {
                let (cost, planned) = once(&edit, before);
                costs.push(cost);
                report = answer(&planned);
            }
            let lines = before.lines().count() as f64 / 1e3;
            print!(" {:.3} |", share(costs, 50).processor_ms() / lines);
        }
        println!(" {report} |");
    }
}
