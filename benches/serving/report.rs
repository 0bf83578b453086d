//! What was measured, as tables.

use std::collections::BTreeMap;
use std::time::Duration;

/// What a call was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallKind {
    Patch,
    Replace,
    Lines,
    Whole,
    Search,
    Foreign,
}

impl CallKind {
    const ALL: [CallKind; 6] = [
        CallKind::Patch,
        CallKind::Replace,
        CallKind::Lines,
        CallKind::Whole,
        CallKind::Search,
        CallKind::Foreign,
    ];

    const fn name(self) -> &'static str {
        match self {
            CallKind::Patch => "`patch_content`",
            CallKind::Replace => "`replace_content`",
            CallKind::Lines => "`read_content_lines`",
            CallKind::Whole => "`get_content`",
            CallKind::Search => "`search_content`",
            CallKind::Foreign => "`get_content` of another organisation's",
        }
    }

    pub const fn edits(self) -> bool {
        matches!(self, CallKind::Patch | CallKind::Replace)
    }
}

/// One call.
pub struct Record {
    pub sort: CallKind,
    /// When it was due, from the beginning.
    pub due: Duration,
    /// From then to its answer.
    pub took: Duration,
    /// The code of what it ended with, where it did not do what it was to do.
    pub code: Option<String>,
}

/// How long the time around the kill is.
pub const AROUND: Duration = Duration::from_secs(5);

/// The goals of content.md, for reads and for edits.
const GOALS: [Duration; 2] = [Duration::from_millis(20), Duration::from_millis(50)];

/// Prints the tables; gives what is beyond its goal.
pub fn show(records: &[Record], killed: Option<Duration>) -> Vec<String> {
    println!(
        "| | calls | p50 ms | p90 | p99 | most | goal p99 | errors |\n|---|---|---|---|---|---|---|---|"
    );
    let mut beyond = Vec::new();
    for (phase, from, to) in phases(killed) {
        let within: Vec<&Record> = records.iter().filter(|one| from <= one.due && one.due < to).collect();
        for (name, edits, goal) in [("reads", false, GOALS[0]), ("edits", true, GOALS[1])] {
            let name = format!("{name}{phase}");
            let p99 = row(&name, &within, |sort| sort.edits() == edits, Some(goal));
            if p99 > goal {
                beyond.push(format!("{name}: p99 {:.1} ms, goal {} ms", millis(p99), goal.as_millis()));
            }
        }
    }
    let all: Vec<&Record> = records.iter().collect();
    for sort in CallKind::ALL {
        row(sort.name(), &all, |one| one == sort, None);
    }
    beyond
}

/// Prints how the latest hundredth went from tenth to tenth of the time.
pub fn course(records: &[Record]) {
    let end = records.iter().map(|one| one.due).max().unwrap_or_default() + Duration::from_millis(1);
    for (name, edits) in [("reads", false), ("edits", true)] {
        let mut tenths = vec![Vec::new(); 10];
        for one in records.iter().filter(|one| one.sort.edits() == edits) {
            let at = (one.due.as_secs_f64() / end.as_secs_f64() * 10.0) as usize;
            tenths[at.min(9)].push(one.took);
        }
        let p99 = tenths.iter_mut().filter(|tenth| !tenth.is_empty()).map(|tenth| {
            tenth.sort_unstable();
            format!("{:.0}", millis(quantile(tenth, 0.99)))
        });
        println!("p99 of {name} by tenths of the time, ms: {}", p99.collect::<Vec<_>>().join(" "));
    }
}

fn phases(killed: Option<Duration>) -> Vec<(&'static str, Duration, Duration)> {
    let whole = ("", Duration::ZERO, Duration::MAX);
    let Some(at) = killed else { return vec![whole] };
    vec![
        (" before the kill", Duration::ZERO, at),
        (", 5 s from the kill on", at, at + AROUND),
        (" after it, by one server", at + AROUND, Duration::MAX),
        whole,
    ]
}

fn row(name: &str, all: &[&Record], includes: impl Fn(CallKind) -> bool, goal: Option<Duration>) -> Duration {
    let mut times = Vec::new();
    let mut codes: BTreeMap<&str, usize> = BTreeMap::new();
    for one in all.iter().filter(|one| includes(one.sort)) {
        times.push(one.took);
        if let Some(code) = &one.code {
            *codes.entry(code).or_default() += 1;
        }
    }
    if times.is_empty() {
        return Duration::ZERO;
    }
    times.sort_unstable();
    let [p50, p90, p99, most] = [0.5, 0.9, 0.99, 1.0].map(|part| quantile(&times, part));
    let codes: Vec<String> = codes.iter().map(|(code, count)| format!("{count} {code}")).collect();
    println!(
        "| {name} | {} | {:.1} | {:.1} | {:.1} | {:.0} | {} | {} |",
        times.len(),
        millis(p50),
        millis(p90),
        millis(p99),
        millis(most),
        goal.map_or(String::new(), |goal| format!("{} ms", goal.as_millis())),
        codes.join(", "),
    );
    p99
}

/// The time within which this part of the calls was answered.
pub fn quantile(sorted: &[Duration], part: f64) -> Duration {
    let at = (sorted.len() as f64 * part).ceil() as usize;
    sorted[at.clamp(1, sorted.len()) - 1]
}

pub fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
