//! Formats check results as GitHub Actions annotations.
//!
//! A runner executes commands in the output of a step: lines that begin with `::`, and `##[` anywhere. Text from
//! outside therefore never starts a line, and annotations are escaped as in the runner's own toolkit.
//!
//! Invariant: a line is either an annotation made here, or contains no runner command.

use super::results::{LocatedFinding, Results};
use super::text::{failures, location, rejection, skipped, summary, unable};
use crate::cli::paint::visible;
use lockgate_error::Error;

/// Maximum number of annotations of one kind that GitHub shows for a step.
const MAX_ANNOTATIONS: usize = 10;

/// Renders the annotations, most severe first, then the gates and findings beyond their number, and the summary.
pub(super) fn render(results: &Results) -> String {
    let (mut annotations, mut rest) = (String::new(), String::new());
    let (mut errors, mut warnings) = (0, 0);
    for totals in results.gates.values().filter(|totals| totals.blocking) {
        let why = unable(totals);
        if errors < MAX_ANNOTATIONS {
            errors += 1;
            annotations += &format!("::error title={}::{}\n", property(&totals.gate), data(&why));
        } else {
            rest += &plain(&format!("error: {why}"));
        }
    }
    for found in results.counting() {
        let (sort, count) = match found.finding.blocking {
            true => ("error", &mut errors),
            false => ("warning", &mut warnings),
        };
        if *count < MAX_ANNOTATIONS {
            *count += 1;
            annotations += &annotation(sort, found);
        } else {
            rest += &plain(&format!("{sort}: {}", location(found)));
        }
    }
    for totals in results.gates.values().filter(|totals| !totals.blocking) {
        rest += &failures(totals)
            .map(|failure| plain(&format!("gate {} {failure}", totals.gate)))
            .collect::<String>();
    }
    rest += &skipped(results).map(|note| plain(&note)).collect::<String>();
    rest += &results.notes.iter().map(|note| plain(&format!("note: {note}"))).collect::<String>();
    annotations + &rest + &plain(&format!("lockgate: {}", summary(results)))
}

/// Renders a rejection as an annotation.
pub(super) fn render_error(error: &Error) -> String {
    format!("::error title=lockgate::{}\n", data(&rejection(error)))
}

fn annotation(sort: &str, found: &LocatedFinding) -> String {
    let it = &found.finding;
    let name = it.code.as_ref().map_or_else(|| it.gate.clone(), |code| format!("{}: {code}", it.gate));
    format!(
        "::{sort} file={},line={},col={},title={}::{}\n",
        property(&found.path.relative),
        it.line,
        it.column,
        property(&name),
        data(&it.message)
    )
}

/// Renders a line without runner commands; it begins with lockgate's own text.
fn plain(text: &str) -> String {
    let line = visible(text).replace(['\n', '\r'], " ").replace("##[", "# #[");
    format!("{line}\n")
}

/// Escapes the text after the second `::`.
fn data(text: &str) -> String {
    visible(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a value between `=` and `,`.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::super::results::{FailedRuns, GateFailure, GateTotals};
    use super::*;

    #[test]
    fn required_gates_without_an_annotation_are_in_the_log() {
        let totals = |number: usize| {
            let gate = format!("gate{number:02}");
            let runs = FailedRuns { why: format!("reason {number:02}"), count: 1 };
            let failures = [(GateFailure::Broken, runs)].into();
            (gate.clone(), GateTotals { gate, failures, blocking: true, ..GateTotals::default() })
        };
        let results = Results { gates: (0..12).map(totals).collect(), ..Results::default() };
        let text = render(&results);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.iter().filter(|line| line.starts_with("::error title=gate")).count(), 10, "{text}");
        assert_eq!(lines[10], "error: gate10 is required and could not run: broken: reason 10");
        assert_eq!(lines[11], "error: gate11 is required and could not run: broken: reason 11");
    }

    #[test]
    fn what_a_runner_would_obey_is_escaped() {
        assert_eq!(property("a:b,c%d\r\ne"), "a%3Ab%2Cc%25d\u{240d}%0Ae");
        assert_eq!(data("100%: ::set-output::\n"), "100%25: ::set-output::%0A");
        assert_eq!(plain("x\n::error::y ##[add-matcher]z"), "x ::error::y # #[add-matcher]z\n");
        assert_eq!(property("\u{1b}[2J\u{202e}"), "\u{241b}[2J\u{fffd}");
    }
}
