//! Formats check results as JUnit XML: a test suite for each file, a test case for each finding that counts.
//!
//! Invariant: a test case failed if and only if its finding blocks, so that a report agrees with the exit code.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::results::{LocatedFinding, Results};
use super::text::{location, unable};
use lockgate_error::{Code, Error};

/// Name of the report, and of the suite of what belongs to no file.
const NAME: &str = "lockgate";

/// Renders the report. A file without findings is one test case, which passed.
///
/// Errors: `INTERNAL` when the report cannot be serialized.
pub(super) fn document(results: &Results) -> Result<String, Error> {
    let mut suites: Vec<TestSuite> = results
        .files
        .iter()
        .enumerate()
        .map(|(at, file)| {
            let mut suite = TestSuite::new(file.path.as_str());
            suite.add_test_cases(results.counting().filter(|found| found.file == Some(at)).map(case));
            if suite.test_cases.is_empty() {
                suite.add_test_case(TestCase::new("gates", TestCaseStatus::success()));
            }
            suite
        })
        .collect();
    let mut others = TestSuite::new(NAME);
    others.add_test_cases(results.counting().filter(|found| found.file.is_none()).map(case));
    others.add_test_cases(
        results
            .gates
            .iter()
            .filter(|totals| totals.blocking)
            .map(|totals| error(&totals.gate, &unable(totals))),
    );
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
    suite.add_test_case(self::error(error.code.name(), &format!("{}; {}", error.message, error.next_step())));
    serialize(vec![suite])
}

fn serialize(suites: Vec<TestSuite>) -> Result<String, Error> {
    let mut report = Report::new(NAME);
    report.add_test_suites(suites);
    let text = report.to_string();
    text.map_err(|error| Error::new(Code::Internal, format!("cannot write JUnit XML: {error}")))
}

fn case(found: &LocatedFinding) -> TestCase {
    let it = &found.finding;
    let mut status = TestCaseStatus::success();
    if it.blocking {
        status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_message(it.message.as_str()).set_type(found.rule()).set_description(location(found));
    }
    let mut case = TestCase::new(format!("{}:{} {}", it.line, it.column, found.rule()), status);
    case.set_classname(found.path.as_str());
    if !it.blocking {
        case.set_system_out(location(found));
    }
    case
}

fn error(name: &str, message: &str) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_message(message);
    let mut case = TestCase::new(name, status);
    case.set_classname(NAME);
    case
}
