//! Finds the common cause of many faults: an opening bracket that an edit left unclosed.
//!
//! A parser notices it at the end of the text or in the next declaration, and then continues in the wrong place: one
//! missing brace gives many faults, all of them elsewhere. Indentation shows the place: a closing bracket that begins its
//! line closes the bracket whose line has the same indentation, so the brackets opened in between are not closed.
//!
//! Invariant: every fault is either reported or counted.

use super::super::delta::{Belief, ComparedFinding, MarkedFinding};
use super::brackets::{BracketReport, balance};
use super::fault::SyntaxFault;
use lockgate_text::{Buffer, LineMap};

/// The distance, in lines, below which a fault replaces its cause in the report.
const NEAR: usize = 5;

/// Returns the bracket that an edit left open: the first one that was not open before. `None` unless exactly one more
/// bracket is unmatched than before, because each of several would explain other faults. `None` also if the text has as many
/// brackets of each side as before: then the grammar took a bracket behind the fault for text, as it does behind the wrong
/// closing tag of JSX.
pub(super) fn cause(
    (before, old): (Option<&Buffer>, &BracketReport),
    (after, new): (&Buffer, &BracketReport),
    map: &LineMap,
) -> Option<ComparedFinding> {
    if new.lone.len() != old.lone.len() + 1 {
        return None;
    }
    let old_lines: Vec<usize> = before.map_or_else(Vec::new, |before| {
        let lines = before.lines();
        old.unclosed.iter().filter_map(|&at| map.new_line_of(lines.line_at(at))).collect()
    });
    let lines = after.lines();
    let at = *new.unclosed.iter().find(|&&at| !old_lines.contains(&lines.line_at(at)))?;
    let bracket = after.view().get(at..at + 1)?;
    if balance(after.view()) == before.map_or([0; 3], |before| balance(before.view())) {
        return None;
    }
    Some(SyntaxFault::new(at, at + 1, format!("\"{bracket}\" is not closed")).finding(lines, after.view()))
}

/// The new faults that an unclosed bracket explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Explains {
    /// The faults at or after the bracket, because the parser reads in text order.
    Behind,
    /// All faults, because the parser rejects whole declarations, which begin before the bracket.
    All,
}

/// Puts the cause of new faults first and folds the faults that follow from it into one, with their count. A fault near the
/// cause replaces it.
pub(super) fn folded(
    found: Vec<MarkedFinding>,
    cause: Option<ComparedFinding>,
    explains: Explains,
) -> Vec<MarkedFinding> {
    let Some(cause) = cause else { return found };
    let follows =
        |mark: &MarkedFinding| mark.fresh && (explains == Explains::All || mark.finding.line >= cause.line);
    let (mut follow, rest): (Vec<_>, Vec<_>) = found.into_iter().partition(follows);
    let is_near = |finding: &ComparedFinding| {
        finding.belief == Belief::Certain && finding.line.abs_diff(cause.line) < NEAR
    };
    if !follow.iter().any(MarkedFinding::is_certain_and_fresh) {
        return rest.into_iter().chain(follow).collect();
    }
    let head = match follow.iter().position(|mark| is_near(&mark.finding)) {
        Some(index) => follow.remove(index),
        None => MarkedFinding::fresh(cause),
    };
    follow.sort_by_key(|mark| (mark.finding.belief, mark.finding.line, mark.finding.column));
    let more = follow.len().saturating_sub(1);
    if more > 0 {
        follow.truncate(1);
        if let Some(MarkedFinding { finding, .. }) = follow.first_mut() {
            let line = head.finding.line;
            finding.message = format!("{}; and {more} more that follow from line {line}", finding.message);
        }
    }
    [head].into_iter().chain(follow).chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::super::cases::judged;
    use super::*;

    /// A text of about 200 lines: its beginning, its end and the parts between. In `broken` the brace that closes the line
    /// with `HERE` is removed.
    struct Language {
        path: &'static str,
        begin: &'static str,
        part: &'static str,
        broken: &'static str,
        end: &'static str,
    }

    const LANGUAGES: [Language; 9] = [
        Language {
            path: "a.js",
            begin: "class A {\n",
            part: "  mN(x) {\n    if (x) {\n      f(x);\n    }\n    g(x);\n  }\n",
            broken: "  mN(x) {\n    if (x) { // HERE\n      f(x);\n    g(x);\n  }\n",
            end: "}\n",
        },
        Language {
            path: "a.ts",
            begin: "export class A {\n",
            part: "  mN(x: number): void {\n    if (x) {\n      f(x);\n    }\n    g(x);\n  }\n",
            broken: "  mN(x: number): void {\n    if (x) { // HERE\n      f(x);\n    g(x);\n  }\n",
            end: "}\n",
        },
        Language {
            path: "a.rs",
            begin: "impl A {\n",
            part: "    fn mN(x: u8) {\n        if x > 1 {\n            f(x);\n        }\n        g(x);\n    }\n",
            broken: "    fn mN(x: u8) {\n        if x > 1 { // HERE\n            f(x);\n        g(x);\n    }\n",
            end: "}\n",
        },
        Language {
            path: "a.go",
            begin: "package a\n",
            part: "\nfunc mN(x int) {\n\tif x > 1 {\n\t\tf(x)\n\t}\n\tg(x)\n}\n",
            broken: "\nfunc mN(x int) {\n\tif x > 1 { // HERE\n\t\tf(x)\n\tg(x)\n}\n",
            end: "",
        },
        Language {
            path: "A.java",
            begin: "class A {\n",
            part: "    void mN(int x) {\n        if (x > 1) {\n            f(x);\n        }\n        g(x);\n    }\n",
            broken: "    void mN(int x) {\n        if (x > 1) { // HERE\n            f(x);\n        g(x);\n    }\n",
            end: "}\n",
        },
        Language {
            path: "a.c",
            begin: "",
            part: "void mN(int x) {\n    if (x) {\n        f(x);\n    }\n    g(x);\n}\n",
            broken: "void mN(int x) {\n    if (x) { // HERE\n        f(x);\n    g(x);\n}\n",
            end: "",
        },
        Language {
            path: "a.cpp",
            begin: "class A {\n",
            part: "    void mN(int x) {\n        if (x) {\n            f(x);\n        }\n        g(x);\n    }\n",
            broken: "    void mN(int x) {\n        if (x) { // HERE\n            f(x);\n        g(x);\n    }\n",
            end: "};\n",
        },
        Language {
            path: "a.css",
            begin: "",
            part: "@media print {\n  .mN {\n    color: red;\n  }\n  .xN {\n    color: blue;\n  }\n}\n",
            broken: "@media print {\n  .mN { /* HERE */\n    color: red;\n  .xN {\n    color: blue;\n  }\n}\n",
            end: "",
        },
        Language {
            path: "a.py",
            begin: "",
            part: "def mN(x):\n    y = [\n        x,\n        1,\n    ]\n    return y\n\n",
            broken: "def mN(x):\n    y = [ # HERE\n        x,\n        1,\n    return y\n\n",
            end: "",
        },
    ];

    /// Returns the whole text, the text without the closing bracket, and the line of the bracket that it leaves open.
    fn texts(language: &Language) -> (String, String, usize) {
        let parts = 200 / language.part.lines().count();
        let build = |broken: Option<usize>| {
            let part = |at: usize| {
                let part = if broken == Some(at) { language.broken } else { language.part };
                part.replace('N', &at.to_string())
            };
            format!("{}{}{}", language.begin, (0..parts).map(part).collect::<String>(), language.end)
        };
        let broken = build(Some(parts / 2));
        let line = broken.lines().position(|line| line.contains("HERE")).unwrap() + 1;
        (build(None), broken, line)
    }

    #[test]
    fn an_unclosed_bracket_comes_first_and_what_follows_is_folded() {
        for language in &LANGUAGES {
            let (whole, broken, line) = texts(language);
            assert!(whole.lines().count() > 150, "{}", language.path);
            assert!(judged(language.path, None, &whole).findings.is_empty(), "{}", language.path);
            for before in [None, Some(whole.as_str())] {
                let found = judged(language.path, before, &broken).findings;
                let lines: Vec<_> = found.iter().map(|found| (found.line, found.message.as_str())).collect();
                let first = found.first().unwrap_or_else(|| panic!("{}: nothing", language.path));
                assert!(
                    first.blocking && first.line.abs_diff(line) < NEAR,
                    "{}: {line} {lines:?}",
                    language.path
                );
                assert!(found.len() <= 2, "{}: {lines:?}", language.path);
            }
        }
    }

    /// Without the search for the cause, most languages report another line, and some report many.
    #[test]
    fn without_its_cause_the_fault_is_reported_elsewhere() {
        let mut elsewhere = Vec::new();
        for language in &LANGUAGES {
            let (_, broken, line) = texts(language);
            let text = super::super::cases::buffer(&broken);
            let map = LineMap::default();
            let draft = crate::Draft {
                path: language.path,
                language: lockgate_policy::language_of(language.path, None),
                before: None,
                after: &text,
                map: &map,
                input_location: crate::InputLocation::of_file(None),
                files_exist: &|_| false,
            };
            let watch = crate::Watch::idle();
            let limit = watch.until(std::time::Instant::now() + std::time::Duration::from_secs(60));
            let found = super::super::judge(&draft, limit).unwrap().marks;
            let first = found.first().map_or(0, |mark| mark.finding.line);
            if first.abs_diff(line) >= NEAR || found.len() > 2 {
                elsewhere.push(language.path);
            }
        }
        // It depends on the parsers. CSS was a fifth while every fault of its grammar counted; now only its open
        // brackets do.
        assert!(elsewhere.len() >= 4, "{elsewhere:?}");
    }

    #[test]
    fn a_wrong_tag_of_jsx_leaves_no_bracket_open() {
        let rows = |wrong: usize| -> String {
            let row = |at: usize| match at == wrong {
                true => "  <tr><td>a</tr>\n",
                false => "  <tr><td>a</td></tr>\n",
            };
            (0..20).map(row).collect()
        };
        let text = |wrong: usize| format!("export const T = () => (<table>\n{}</table>);\n", rows(wrong));
        for path in ["a.tsx", "a.jsx", "a.js"] {
            for before in [None, Some(text(99))] {
                let found = judged(path, before.as_deref(), &text(13)).findings;
                assert_eq!(found.first().map(|found| found.line), Some(15), "{path}: {found:?}");
            }
            // The control: without the bracket, it is the cause.
            let open = text(99).replace(");", ";");
            let found = judged(path, Some(&text(99)), &open).findings;
            assert!(found.iter().any(|found| found.message.contains("is not closed")), "{path}: {found:?}");
        }
    }

    #[test]
    fn an_old_open_bracket_is_no_cause_of_a_new_fault() {
        let before = "function a() {\n  f(\n  g();\n}\n\n\n\n\n\n\n\nlet x = 1;\n";
        let after = before.replace("let x = 1", "let x = = 1");
        let found = judged("a.js", Some(before), &after).findings;
        assert!(found.iter().all(|found| !found.message.contains("is not closed")), "{found:?}");
    }
}
