//! Formats check results as JUnit XML: a test suite for each file, a test case for each finding that counts.
//!
//! A gate that could not run is a test case as well: an error if the policy requires it, else skipped.
//!
//! Invariant: a test case failed if and only if its finding blocks, so that a report agrees with the exit code.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::results::{FileResult, LocatedFinding, Results};
use super::text::{location, unable};
use lockgate_error::{Code, Error};

/// Name of the report, and of the suite of what belongs to no file.
const NAME: &str = "lockgate";

/// Renders the report. A file without findings is one test case, which passed, or which was skipped if no gate judged
/// the file.
///
/// Errors: `INTERNAL` when the report cannot be serialized.
pub(super) fn document(results: &Results) -> Result<String, Error> {
    let mut suites: Vec<TestSuite> = results
        .files
        .iter()
        .enumerate()
        .map(|(at, file)| {
            let mut suite = TestSuite::new(file.path.shown.as_str());
            suite.add_test_cases(results.counting().filter(|found| found.file == Some(at)).map(case));
            if suite.test_cases.is_empty() {
                suite.add_test_case(gates_case(file));
            }
            suite
        })
        .collect();
    let mut others = TestSuite::new(NAME);
    others.add_test_cases(results.counting().filter(|found| found.file.is_none()).map(case));
    others.add_test_cases(results.unable_gates().map(|totals| {
        let status = if totals.blocking { error_status() } else { TestCaseStatus::skipped() };
        own_case(&totals.gate, status, &unable(totals))
    }));
    if !others.test_cases.is_empty() {
        suites.push(others);
    }
    serialize(suites)
}

/// Renders a rejection as a report with one test case.
///
/// Errors: those of [`document`].
pub(super) fn render_error(error: &Error) -> Result<String, Error> {
    let mut suite = TestSuite::new(NAME);
    let message = format!("{}; {}", error.message, error.next_step());
    suite.add_test_case(own_case(error.code.name(), error_status(), &message));
    serialize(vec![suite])
}

fn serialize(suites: Vec<TestSuite>) -> Result<String, Error> {
    let mut report = Report::new(NAME);
    report.add_test_suites(suites);
    let text = report.to_string();
    let text =
        text.map_err(|error| Error::new(Code::Internal, format!("cannot write JUnit XML: {error}")))?;
    // XML 1.0 does not allow these two, even escaped (2.2); the library omits only the control characters.
    Ok(text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}"))
}

fn case(found: &LocatedFinding) -> TestCase {
    let it = &found.finding;
    let mut status = TestCaseStatus::success();
    if it.blocking {
        status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_message(it.message.as_str()).set_type(found.rule()).set_description(location(found));
    }
    let mut case = TestCase::new(format!("{}:{} {}", it.line, it.column, found.rule()), status);
    case.set_classname(found.path.shown.as_str());
    if !it.blocking {
        case.set_system_out(location(found));
    }
    case
}

/// Returns the test case of a file without findings.
fn gates_case(file: &FileResult) -> TestCase {
    let mut status = TestCaseStatus::success();
    if !file.is_judged {
        status = TestCaseStatus::skipped();
        status.set_message("no gate of the policy judged the file");
    }
    TestCase::new("gates", status)
}

fn error_status() -> TestCaseStatus {
    TestCaseStatus::non_success(NonSuccessKind::Error)
}

/// Returns a test case that belongs to no file.
fn own_case(name: &str, mut status: TestCaseStatus, message: &str) -> TestCase {
    status.set_message(message);
    let mut case = TestCase::new(name, status);
    case.set_classname(NAME);
    case
}
