//! The results as annotations of GitHub Actions.
//!
//! A runner reads commands in what a step prints: lines that begin with `::`, and `##[` anywhere. So no text from outside
//! begins a line, and what stands in an annotation is escaped as the runner's own toolkit does.
//!
//! Invariant: a line is either an annotation that was made here, or holds nothing that a runner would obey.

use super::results::{LocatedFinding, Results};
use super::text::summary;
use crate::error::Error;
use crate::front::cli::paint::visible;

/// The most annotations of one sort that GitHub shows for a step.
const MOST: usize = 10;

/// The annotations, the gravest first; then what they leave out, and the end of it.
pub(super) fn told(results: &Results) -> String {
    let (mut annotations, mut rest) = (String::new(), String::new());
    let (mut errors, mut warnings) = (required(results, &mut annotations), 0);
    for found in results.counted() {
        let (sort, count) = match found.finding.blocking {
            true => ("error", &mut errors),
            false => ("warning", &mut warnings),
        };
        if *count < MOST {
            *count += 1;
            annotations += &annotation(sort, found);
        } else {
            rest += &plain(&format!("{sort}: {}", place(found)));
        }
    }
    for tally in results.gates.iter().filter(|tally| !tally.blocking) {
        for (happened, (why, count)) in &tally.troubles {
            rest += &plain(&format!("gate {} {happened} for {count} files: {why}", tally.gate));
        }
    }
    for (why, count) in results.passed_over_by_reason() {
        rest += &plain(&format!("passed over {count} files: {why}"));
    }
    rest += &results.notes.iter().map(|note| plain(&format!("note: {note}"))).collect::<String>();
    annotations + &rest + &plain(&format!("lockgate: {}", summary(results)))
}

/// A refusal, as an annotation.
pub(super) fn refusal(refusal: &Error) -> String {
    let message = format!("{}: {}; {}", refusal.code.name(), refusal.message, refusal.next_step());
    format!("::error title=lockgate::{}\n", data(&message))
}

/// Annotations of required gates that could not look, and how many these are.
fn required(results: &Results, annotations: &mut String) -> usize {
    let blocking = results.gates.iter().filter(|tally| tally.blocking).take(MOST);
    blocking
        .map(|tally| {
            let troubles = tally.troubles.iter().map(|(what, (why, _))| format!("{what}: {why}"));
            let why: Vec<String> = troubles.collect();
            let message = format!("{} is required and could not look: {}", tally.gate, why.join("; "));
            *annotations += &format!("::error title={}::{}\n", property(&tally.gate), data(&message));
        })
        .count()
}

fn annotation(sort: &str, found: &LocatedFinding) -> String {
    let it = &found.finding;
    let name = it.code.as_ref().map_or_else(|| it.gate.clone(), |code| format!("{}: {code}", it.gate));
    format!(
        "::{sort} file={},line={},col={},title={}::{}\n",
        property(&found.below),
        it.line,
        it.column,
        property(&name),
        data(&it.message)
    )
}

fn place(found: &LocatedFinding) -> String {
    let it = &found.finding;
    let code = it.code.as_deref().map(|code| format!(" {code}")).unwrap_or_default();
    format!("{}:{}:{}: {}{code}: {}", found.below, it.line, it.column, it.gate, it.message)
}

/// A line that no runner obeys; it begins with words of lockgate's own.
fn plain(text: &str) -> String {
    let line = visible(text).replace(['\n', '\r'], " ").replace("##[", "# #[");
    format!("{line}\n")
}

/// The text after the second `::`.
fn data(text: &str) -> String {
    visible(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A value between `=` and `,`.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_runner_would_obey_is_escaped() {
        assert_eq!(property("a:b,c%d\r\ne"), "a%3Ab%2Cc%25d\u{240d}%0Ae");
        assert_eq!(data("100%: ::set-output::\n"), "100%25: ::set-output::%0A");
        assert_eq!(plain("x\n::error::y ##[add-matcher]z"), "x ::error::y # #[add-matcher]z\n");
        assert_eq!(property("\u{1b}[2J\u{202e}"), "\u{241b}[2J\u{fffd}");
    }
}
