//! The readable cases: every Markdown file under `tests/cases`, and the pages of `docs` whose examples are cases.
//!
//! Each case is a test of its own in the program `cases` (`tests/markdown_cases.rs`). `UPDATE=1 cargo test --test cases -- FILTER`
//! rewrites what the cases say with what was seen. How to write one stands in `tests/README.md`.

mod compare;
mod entry;
mod invariants;
mod run;
mod scan;
mod stored;
mod update;
mod workspace;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use libtest_mimic::{Arguments, Failed, Trial};
use lockgate_error::Code;

pub use run::yaml;

use run::Findings;
use scan::Case;
use update::Rewrite;

/// Codes that no case can provoke, each with the reason.
const NOT_IN_CASES: &[(Code, &str)] = &[
    (Code::NoSpace, "needs a full disk"),
    (Code::IoFailed, "needs a disk that fails"),
    (Code::Internal, "is a fault of lockgate itself"),
    (Code::LockTimeout, "needs two calls at once: tests/suite/parallel.rs"),
];

/// Pages of the documentation whose examples are cases.
const PAGES: &[&str] =
    &["docs/content.md", "docs/instructions.md", "docs/locating.md", "docs/modes.md", "docs/policy.md"];

/// Runs the cases as tests of their own, or, with `UPDATE=1`, rewrites those that do not hold.
pub fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    // Under nextest each case has a process of its own, which cannot rewrite a file that others rewrite, too.
    let is_alone = std::env::var_os("NEXTEST").is_none() && !arguments.list;
    if std::env::var_os("UPDATE").is_some() && is_alone {
        return update_pages(&arguments.filter.unwrap_or_default());
    }
    libtest_mimic::run(&arguments, trials()).exit_code()
}

/// One trial for each case, named after its file and heading; one for each page that cannot be read.
fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for file in files() {
        let page = match Page::read(&file) {
            Ok(page) => Arc::new(page),
            Err(why) => {
                trials.push(Trial::test(file.display().to_string(), move || Err(why.into())));
                continue;
            }
        };
        for (number, name) in page.trial_names().into_iter().enumerate() {
            let page = Arc::clone(&page);
            trials.push(Trial::test(name, move || page.assert_holds(number)));
        }
    }
    trials
}

/// Runs the cases whose name holds the filter, and rewrites the files of those that do not hold.
fn update_pages(filter: &str) -> ExitCode {
    let pages: Vec<Page> = files().iter().map(|file| Page::read(file).unwrap()).collect();
    let work: Vec<(&Page, &Case)> = pages
        .iter()
        .flat_map(|page| {
            page.trial_names().into_iter().zip(&page.cases).map(move |(name, case)| (page, name, case))
        })
        .filter(|(_, name, _)| name.contains(filter))
        .map(|(page, _, case)| (page, case))
        .collect();
    let results = in_parallel(&work);
    rewrite(&pages, &work, &results);
    ExitCode::SUCCESS
}

#[test]
fn every_code_is_provoked_by_a_case() {
    let mut codes = BTreeSet::new();
    for file in files() {
        for case in Page::read(&file).unwrap().cases {
            codes.extend(case.fences.iter().flat_map(run::named_codes));
        }
    }
    let missing = unprovoked(&codes);
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn every_case_has_a_name_of_its_own() {
    let mut names = BTreeSet::new();
    for file in files() {
        for name in Page::read(&file).unwrap().trial_names() {
            assert!(names.insert(name.clone()), "two cases are called {name}");
        }
    }
    assert!(names.len() > 100, "only {} cases were found", names.len());
}

/// A file of cases.
struct Page {
    file: PathBuf,
    /// The file's path from the root of the repository.
    here: String,
    text: String,
    cases: Vec<Case>,
}

impl Page {
    fn read(file: &Path) -> Result<Page, String> {
        let text = std::fs::read_to_string(file).unwrap();
        let relative_path =
            file.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(file).display().to_string();
        let cases = scan::cases(&text).map_err(|(line, why)| format!("{relative_path}:{line}: {why}"))?;
        Ok(Page { file: file.to_owned(), here: relative_path, text, cases })
    }

    /// The names of the cases as tests: `modes::line_edits::a_line_is_replaced`.
    fn trial_names(&self) -> Vec<String> {
        let page = self.here.trim_start_matches("tests/cases/").trim_end_matches(".md").replace('/', "::");
        self.cases.iter().map(|case| format!("{page}::{}", slug(&case.name))).collect()
    }

    /// Runs one case.
    fn assert_holds(&self, number: usize) -> Result<(), Failed> {
        let case = &self.cases[number];
        let failures = run::case(case).failures;
        if failures.is_empty() {
            return Ok(());
        }
        let describe =
            |(line, why): &(usize, String)| format!("{}:{line}: {}\n  {why}", self.here, case.name);
        Err(failures.iter().map(describe).collect::<Vec<_>>().join("\n\n").into())
    }
}

/// A heading as a part of a test's name: with underscores for its blanks.
fn slug(heading: &str) -> String {
    heading.split_whitespace().collect::<Vec<_>>().join("_")
}

/// Runs the cases on as many threads as there are cores, and gives what they showed in their order.
fn in_parallel(work: &[(&Page, &Case)]) -> Vec<Findings> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Findings>> = work.iter().map(|_| Mutex::default()).collect();
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let (Some((_, case)), Some(result)) = (work.get(at), results.get(at)) else { break };
                    *result.lock().unwrap() = run::case(case);
                }
            });
        }
    });
    results.into_iter().map(|result| result.into_inner().unwrap()).collect()
}

/// Writes what was seen into the files whose cases do not hold.
fn rewrite(pages: &[Page], work: &[(&Page, &Case)], results: &[Findings]) {
    for page in pages {
        let of_page = work.iter().zip(results).filter(|((other, _), _)| std::ptr::eq(*other, page));
        let rewrites: Vec<Rewrite> =
            of_page.flat_map(|(_, findings)| findings.rewrites.iter().cloned()).collect();
        if !rewrites.is_empty() {
            std::fs::write(&page.file, update::apply(&page.text, rewrites)).unwrap();
        }
    }
}

/// Every code is provoked by a case or stands with its reason in [`NOT_IN_CASES`], and never both.
fn unprovoked(provoked: &BTreeSet<String>) -> Vec<String> {
    let excused = |code: &Code| NOT_IN_CASES.iter().any(|(excused, _)| excused == code);
    let status = |code: &Code| match (excused(code), provoked.contains(code.name())) {
        (true, true) => Some(format!("{} is provoked by a case and needs no excuse", code.name())),
        (false, false) => Some(format!("{} is provoked by no case", code.name())),
        (true, false) | (false, true) => None,
    };
    Code::ALL.iter().filter_map(status).collect()
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
    (
        "```text before path=a\nx\n```\n```yaml call\nsafe_edit_file: {path: a, content: y}\n```",
        "no `after` block names it",
    ),
    ("```yaml call\nsafe_edit_file: {path: a, content: y}\n```", "no `after` block names it"),
    (
        "```text before path=a\nx\n```\n```yaml call\nsafe_edit_file: {path: a, content: \"y\\n\"}\n```\n```text after path=a\nz\n```",
        "expected",
    ),
    ("```text before path=a\nx\n```\n```yaml call\nsafe_edit_file: {path: a}\n```", "names no code"),
    (
        "```text before path=a\nx\n```\n```yaml call\nsafe_edit_file: {path: a}\n```\n```yaml answer\ncode: NO_MATCH\n```",
        "MODE_MISSING",
    ),
    (
        "```text before path=a\nx\n```\n```yaml call\nsafe_edit_file: {path: a, content: \"x\\n\"}\n```\n```yaml answer\nstatus: written\n```",
        "unchanged",
    ),
    (
        "```text before path=a\nx\n```\n```yaml call\nsafe_edit_file: {path: a, content: \"x\\n\"}\n```\n```text after path=b\ny\n```",
        "is not there",
    ),
    ("```yaml call\nno_such_tool: {path: a}\n```", "the protocol"),
    ("```yaml call\nsafe_edit_file: [\n```", "not YAML"),
    ("```yaml call\nlockgate: [no-such-command]\n```", "does not say so"),
];

#[test]
fn a_wrong_case_fails_for_its_reason() {
    for (blocks, why) in WRONG {
        let cases = scan::cases(&format!("## wrong\n{blocks}\n")).unwrap();
        let failures = run::case(&cases[0]).failures;
        assert!(
            failures.iter().any(|(_, failure)| failure.contains(why)),
            "{blocks}\n{why:?} not in {failures:?}"
        );
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
