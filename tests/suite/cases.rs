//! The readable cases: every Markdown file under `tests/cases`, and the pages of `docs` whose examples are cases.
//!
//! `UPDATE=1 cargo test` rewrites what the cases say with what was seen; `CASE=word` runs only cases whose name or
//! file holds that word. How to write one stands in `tests/README.md`.

mod compare;
mod laws;
mod run;
mod scan;
mod thing;
mod update;
mod world;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use lockgate::error::Code;

use run::Findings;

/// Codes that no case can provoke, each with the reason.
const NOT_IN_CASES: &[(Code, &str)] = &[
    (Code::NoSpace, "needs a full disk"),
    (Code::IoFailed, "needs a disk that fails"),
    (Code::Internal, "is a fault of lockgate itself"),
    (Code::LockTimeout, "needs two calls at once: tests/suite/parallel.rs"),
];

/// Pages of the documentation whose examples are cases.
const PAGES: &[&str] = &["docs/modes.md"];

#[test]
fn every_case_holds_and_every_code_is_provoked() {
    let wanted = std::env::var("CASE").unwrap_or_default();
    let files: Vec<PathBuf> = files();
    let (next, all) = (AtomicUsize::new(0), Mutex::new(Tally::default()));
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let tally = run_file(file, &wanted);
                    all.lock().unwrap().add(tally);
                }
            });
        }
    });
    let mut tally = all.into_inner().unwrap();
    if wanted.is_empty() {
        tally.failures.extend(unprovoked(&tally.codes));
    }
    tally.failures.sort();
    let failures = tally.failures.join("\n\n");
    assert!(failures.is_empty(), "{failures}\n\n{} of {} cases fail", tally.failed, tally.cases);
    assert!(tally.cases > 0, "no case was run");
    eprintln!("{} cases hold", tally.cases);
}

/// What the cases of some files showed.
#[derive(Debug, Default)]
struct Tally {
    cases: usize,
    failed: usize,
    failures: Vec<String>,
    codes: BTreeSet<String>,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.cases += other.cases;
        self.failed += other.failed;
        self.failures.extend(other.failures);
        self.codes.extend(other.codes);
    }
}

fn run_file(file: &Path, wanted: &str) -> Tally {
    let text = std::fs::read_to_string(file).unwrap();
    let here = file.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(file).display();
    let mut tally = Tally::default();
    let cases = match scan::cases(&text) {
        Ok(cases) => cases,
        Err((line, why)) => {
            tally.failures.push(format!("{here}:{line}: {why}"));
            return tally;
        }
    };
    let mut rewrites = Vec::new();
    for case in &cases {
        if !case.name.contains(wanted) && !here.to_string().contains(wanted) {
            continue;
        }
        let Findings { failures, codes, rewrites: more } = run::case(case);
        tally.cases += 1;
        tally.failed += usize::from(!failures.is_empty());
        let tell = |(line, why): (usize, String)| format!("{here}:{line}: {}\n  {why}", case.name);
        tally.failures.extend(failures.into_iter().map(tell));
        tally.codes.extend(codes);
        rewrites.extend(more);
    }
    if std::env::var_os("UPDATE").is_some() && !rewrites.is_empty() {
        std::fs::write(file, update::apply(&text, rewrites)).unwrap();
    }
    tally
}

/// Every code is provoked by a case or stands with its reason in [`NOT_IN_CASES`], and never both.
fn unprovoked(provoked: &BTreeSet<String>) -> Vec<String> {
    let excused = |code: &Code| NOT_IN_CASES.iter().any(|(excused, _)| excused == code);
    let told = |code: &Code| match (excused(code), provoked.contains(code.name())) {
        (true, true) => Some(format!("{} is provoked by a case and needs no excuse", code.name())),
        (false, false) => Some(format!("{} is provoked by no case", code.name())),
        (true, false) | (false, true) => None,
    };
    Code::ALL.iter().filter_map(told).collect()
}

fn files() -> Vec<PathBuf> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<PathBuf> = PAGES.iter().map(|page| home.join(page)).collect();
    let mut folders = vec![home.join("tests/cases")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                assert!(path.extension().is_some_and(|it| it == "md"), "{} is no case", path.display());
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Cases that are wrong on purpose, each with a part of what the runner must say of it.
const WRONG: &[(&str, &str)] = &[
    ("```text before path=a\nx\n```\n```yaml call\nsafe_edit_file: {path: a, content: y}\n```", "no `after` block names it"),
    ("```yaml call\nsafe_edit_file: {path: a, content: y}\n```", "no `after` block names it"),
    ("```text before path=a\nx\n```\n```yaml call\nsafe_edit_file: {path: a, content: \"y\\n\"}\n```\n```text after path=a\nz\n```", "expected"),
    ("```text before path=a\nx\n```\n```yaml call\nsafe_edit_file: {path: a}\n```", "names no code"),
    ("```text before path=a\nx\n```\n```yaml call\nsafe_edit_file: {path: a}\n```\n```yaml answer\ncode: NO_MATCH\n```", "MODE_MISSING"),
    ("```text before path=a\nx\n```\n```yaml call\nsafe_edit_file: {path: a, content: \"x\\n\"}\n```\n```yaml answer\nstatus: written\n```", "unchanged"),
    ("```text before path=a\nx\n```\n```yaml call\nsafe_edit_file: {path: a, content: \"x\\n\"}\n```\n```text after path=b\ny\n```", "is not there"),
    ("```yaml call\nno_such_tool: {path: a}\n```", "the protocol"),
    ("```yaml call\nsafe_edit_file: [\n```", "not YAML"),
    ("```yaml call\nlockgate: [no-such-command]\n```", "does not say so"),
];

#[test]
fn a_wrong_case_fails_for_its_reason() {
    for (blocks, why) in WRONG {
        let cases = scan::cases(&format!("## wrong\n{blocks}\n")).unwrap();
        let failures = run::case(&cases[0]).failures;
        assert!(failures.iter().any(|(_, seen)| seen.contains(why)), "{blocks}\n{why:?} not in {failures:?}");
    }
}

#[test]
fn update_makes_a_wrong_case_hold() {
    for (blocks, _) in &WRONG[..7] {
        let mut text = format!("## wrong\n{blocks}\n");
        let case = |text: &str| scan::cases(text).unwrap().remove(0);
        text = update::apply(&text, run::case(&case(&text)).rewrites);
        let failures = run::case(&case(&text)).failures;
        assert!(failures.is_empty(), "rewritten to\n{text}\nbut {failures:?}");
    }
}
