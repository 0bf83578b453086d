//! Parses any language that has a grammar with tree-sitter.
//!
//! Tree-sitter is not recursive, can be stopped, and continues after every fault. It also accepts many invalid texts, so it
//! judges a text only if no other parser can. Otherwise it measures the nesting of a text and gives a second opinion.
//!
//! Invariant: the walk checks for cancellation and the time limit every few thousand nodes.

use std::cell::OnceCell;
use std::ops::ControlFlow;

use super::super::delta::Belief;
use super::brackets::{BracketPairs, BracketReport};
use super::fault::{MAX_ACCEPTED_FAULTS, SyntaxFault};
use super::parse::{ParseFailure, TOO_DEEP, walk_within};
use super::preprocessor::{self, MacroBraces};
use super::table::{Credit, GrammarTrust, LanguageParsers};
use super::{branches, parts, shell, shell_words};
use lockgate_sandbox::{Halt, Limit};
use lockgate_syntax::{Grammar, Language, Node, ParseStop, Tree, parse};

/// The most faults of a text that are kept; further ones mostly follow from these.
pub(super) const MAX_FAULTS: usize = 20_000;
/// The most text that a message quotes, in characters.
const LONGEST_QUOTE: usize = 30;

/// The faults that tree-sitter finds in a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TreeReport {
    /// The innermost places that it could not read, and the missing tokens.
    pub(super) faults: Vec<SyntaxFault>,
    /// The brackets that are not closed properly.
    pub(super) brackets: BracketReport,
    /// The deepest nesting that any parser can find in the text.
    pub(super) depth: usize,
    /// The starts of the parts of a text without faults.
    pub(super) parts: Vec<u32>,
}

/// Parses a text with the language's grammar, in the dialect with the fewest faults; stops at the limit.
pub(super) fn survey(
    row: &LanguageParsers,
    grammar: &Grammar,
    path: &str,
    text: &str,
    limit: Limit<'_>,
) -> Result<TreeReport, ParseFailure> {
    let text = &*grammar.prepare(text);
    let mut best: Option<TreeReport> = None;
    for language in grammar.dialects(path) {
        let survey = read(&language, row, text, limit)?;
        if best.as_ref().is_none_or(|best| survey.faults.len() < best.faults.len()) {
            best = Some(survey);
        }
    }
    let best = best.unwrap_or_default();
    if !best.faults.is_empty() && grammar.forgets(text) {
        return Err(ParseFailure::Unreadable(TOO_DEEP.to_owned()));
    }
    Ok(best)
}

fn read(
    language: &Language,
    row: &LanguageParsers,
    text: &str,
    limit: Limit<'_>,
) -> Result<TreeReport, ParseFailure> {
    let mut halt = None;
    let tree = parse(language, text, &mut || {
        halt = limit.reached();
        halt.map_or(ControlFlow::Continue(()), |_| ControlFlow::Break(()))
    });
    let tree = tree.map_err(|stop| match stop {
        ParseStop::Cancelled => ParseFailure::Halted(halt.unwrap_or(Halt::TimedOut)),
        ParseStop::Memory(shortage) => ParseFailure::Unreadable(shortage.to_string()),
    })?;
    let mut report = collect(&tree, &row.credit, text, limit)?;
    if row.part_check.is_some() && report.faults.is_empty() {
        let mut cursor = tree.walk();
        let nodes = tree.root_node().named_children(&mut cursor).filter(|node| !node.is_extra());
        report.parts =
            parts::thinned(text, nodes.map(|node| node.start_byte()).collect::<Vec<_>>(), |_| true);
    }
    if row.name == "bash" {
        report.faults.extend(shell::faults(&tree, text, limit)?.into_iter().take(MAX_FAULTS));
    }
    Ok(report)
}

/// Collects the report of a tree in one walk.
fn collect(tree: &Tree, credit: &Credit, text: &str, limit: Limit<'_>) -> Result<TreeReport, Halt> {
    let mut walker = TreeWalk {
        credit,
        text,
        survey: TreeReport::default(),
        brackets: BracketPairs::default(),
        accepted: Vec::new(),
        loose: 0,
        is_lost: false,
        scarce: OnceCell::new(),
    };
    if credit.preprocessor {
        preprocessor::brackets(text, &mut |token, at| walker.brackets.see(token, at, text));
    }
    let mut deepest = 0;
    walk_within(tree, limit, |node, level| {
        deepest = deepest.max(level);
        walker.see(node);
    })?;
    Ok(walker.finish(deepest))
}

/// The state of a walk over a tree.
struct TreeWalk<'a> {
    credit: &'a Credit,
    text: &'a str,
    survey: TreeReport,
    brackets: BracketPairs,
    /// The faults that the grammar accepts.
    accepted: Vec<SyntaxFault>,
    /// The number of tokens and other bytes inside of errors; each may be a level of nesting to another parser.
    loose: usize,
    /// Set after a place that the grammar could not read. If the grammar is not trusted, it may have missed a keyword there,
    /// and then it misses the end of a construct that has one.
    is_lost: bool,
    /// The keywords of a shell script of which the text has too few, once they are needed.
    scarce: OnceCell<Vec<&'static str>>,
}

impl TreeWalk<'_> {
    fn see(&mut self, node: Node<'_>) {
        if node.is_error() {
            self.loose += node.child_count() as usize;
            if node.child_count() == 0 {
                self.loose += node.byte_range().len();
            }
        }
        if node.child_count() == 0 && self.credit.brackets && !self.credit.preprocessor && !node.is_missing()
        {
            self.brackets.see(node.kind(), node.start_byte(), self.text);
        }
        if self.accepted.len() < MAX_ACCEPTED_FAULTS {
            self.accepted.extend((self.credit.accepted_faults)(node, self.text));
        }
        let has_room = self.survey.faults.len() < MAX_FAULTS;
        let Some(fault) = has_room.then(|| self.fault(node)).flatten() else { return };
        // A fault that contains this one is less precise.
        let contains = |last: &SyntaxFault| (last.at..last.end).contains(&fault.at) && fault.end <= last.end;
        while self.survey.faults.pop_if(|last| contains(last)).is_some() {}
        self.survey.faults.push(fault);
    }

    fn fault(&mut self, node: Node<'_>) -> Option<SyntaxFault> {
        let (at, end) = (node.start_byte(), node.end_byte());
        let snippet = self.text.get(at..end).unwrap_or_default();
        if self.credit.trailing_commas && is_trailing_comma(node, snippet) {
            return None;
        }
        if node.is_missing() {
            let kind = node.kind();
            let belief = self.belief(|sure| sure.contains(&kind) && self.is_surely_missing(kind));
            self.is_lost |= belief == Belief::Doubtful;
            return Some(SyntaxFault { belief, ..SyntaxFault::new(at, end, format!("missing \"{kind}\"")) });
        }
        let belief = self.belief(|_| false);
        if node.kind() == "erroneous_end_tag" {
            let message = format!("unexpected closing tag \"{}\"", excerpt(snippet));
            return Some(SyntaxFault { belief, ..SyntaxFault::new(at, end, message) });
        }
        if !node.is_error() {
            return None;
        }
        let unclosed_case = self.unclosed_case(node);
        self.is_lost = true;
        if unclosed_case.is_some() {
            return unclosed_case;
        }
        let message = if snippet.trim().is_empty() { "syntax error".to_owned() } else { error_near(snippet) };
        Some(SyntaxFault { belief, ..SyntaxFault::new(at, end, message) })
    }

    /// Returns the fault of a `case` that surely has no `esac`, at an error of a shell script: for some scripts, the grammar has
    /// an error around the whole `case` instead of a missing token. In others it reads on in the `case` until the `esac` of the
    /// next one, and has an error for the head of that one.
    fn unclosed_case(&self, node: Node<'_>) -> Option<SyntaxFault> {
        const START: &str = "case";
        const END: &str = "esac";
        let is_shell = match self.credit.trust {
            GrammarTrust::Whole => false,
            GrammarTrust::Only(sure) => sure.contains(&END),
        };
        if !is_shell || self.is_lost {
            return None;
        }
        let at = shell_words::unclosed_case(self.text).filter(|at| *at < node.end_byte())?;
        Some(SyntaxFault::new(at, at + START.len(), format!("missing \"{END}\"")))
    }

    fn belief(&self, is_sure: impl Fn(&[&str]) -> bool) -> Belief {
        match self.credit.trust {
            GrammarTrust::Whole => Belief::Certain,
            GrammarTrust::Only(sure) if is_sure(sure) => Belief::Certain,
            GrammarTrust::Only(_) => Belief::Doubtful,
        }
    }

    /// True if a token that the grammar misses is missing in the text: before it, the grammar could read everything, or the
    /// text has fewer of it than of the one that opens its construct.
    fn is_surely_missing(&self, kind: &str) -> bool {
        !self.is_lost || self.scarce.get_or_init(|| shell_words::missing(self.text)).contains(&kind)
    }

    /// Completes the report. Unmatched brackets become faults if the grammar is not trusted.
    fn finish(mut self, deepest: usize) -> TreeReport {
        self.survey.depth = deepest + self.loose;
        self.survey.brackets = self.brackets.report();
        if self.credit.preprocessor {
            let lone = std::mem::take(&mut self.survey.brackets.lone);
            self.survey.brackets.lone = branches::certain(self.text, lone);
        }
        if self.credit.trust != GrammarTrust::Whole {
            let text = self.text;
            // A use of such a macro is a brace that is not in the text.
            let is_doubtful = self.credit.preprocessor && !self.survey.brackets.lone.is_empty();
            let macros = if is_doubtful { MacroBraces::in_text(text) } else { MacroBraces::default() };
            let lone = |&at: &usize| {
                let belief = match text.as_bytes().get(at) {
                    Some(b'{') if macros.closing => Belief::Doubtful,
                    Some(b'}') if macros.opening => Belief::Doubtful,
                    Some(_) | None => Belief::Certain,
                };
                SyntaxFault { belief, ..SyntaxFault::new(at, at + 1, lone_bracket(text, at)) }
            };
            self.survey.faults.extend(self.survey.brackets.lone.iter().take(MAX_FAULTS).map(lone));
        }
        self.survey.faults.append(&mut self.accepted);
        self.survey
    }
}

/// True for the fault of a comma after the last value, which programs that read JSON with comments accept.
fn is_trailing_comma(node: Node<'_>, snippet: &str) -> bool {
    let comma = if node.is_missing() { sibling(node, Node::prev_sibling) } else { Some(node) };
    let Some(comma) = comma.filter(|comma| comma.kind() == "," || snippet == ",") else { return false };
    let after = sibling(node, Node::next_sibling).map(|node| node.kind());
    let before = sibling(comma, Node::prev_sibling).filter(|node| node.is_named() && !node.is_error());
    matches!(after, Some("]" | "}")) && before.is_some()
}

/// Returns the next sibling on one side that is not a comment.
fn sibling<'t>(node: Node<'t>, step: impl Fn(&Node<'t>) -> Option<Node<'t>>) -> Option<Node<'t>> {
    std::iter::successors(step(&node), &step).find(|node| !node.is_extra() || node.is_error())
}

/// Returns the message for the unmatched bracket at this offset.
pub(super) fn lone_bracket(text: &str, at: usize) -> String {
    format!("unmatched \"{}\"", text.get(at..at + 1).unwrap_or_default())
}

fn error_near(snippet: &str) -> String {
    format!("syntax error near \"{}\"", excerpt(snippet))
}

fn excerpt(snippet: &str) -> String {
    let words = snippet.split_whitespace().take(LONGEST_QUOTE).collect::<Vec<_>>().join(" ");
    words.chars().take(LONGEST_QUOTE).collect()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::super::cases::judged;
    use super::super::table;
    use crate::Watch;

    fn findings_of(path: &str, text: &str) -> Vec<(usize, usize, String)> {
        let verdict = judged(path, None, text);
        verdict.findings.into_iter().map(|found| (found.line, found.column, found.message)).collect()
    }

    #[test]
    fn says_what_is_missing_and_what_cannot_be_read() {
        assert_eq!(findings_of("a.c", "int é = 1;\nint a = 1\n"), [(2, 10, "missing \";\"".to_owned())]);
        assert_eq!(
            findings_of("a.go", "package a\n\nvar a = )\n"),
            [(3, 1, "syntax error near \"var a = )\"".to_owned())]
        );
        let html = findings_of("a.html", "<p>é</b></p>\n");
        assert_eq!(html, [(1, 5, "unexpected closing tag \"</b>\"".to_owned())]);
    }

    #[test]
    fn a_comma_after_the_last_value_is_no_fault_of_json_with_comments() {
        let row = table::row("jsonc").unwrap();
        let watch = Watch::idle();
        let limit = watch.until(Instant::now() + Duration::from_secs(60));
        let count = |text: &str| {
            super::survey(row, row.grammar().unwrap(), "tsconfig.json", text, limit).unwrap().faults.len()
        };
        assert_eq!(count("{\"a\": [1, /* b */\n],}\n"), 0);
        assert_eq!([count("[,]"), count("[1,,]")], [1, 1]);
    }

    #[test]
    fn brackets_of_the_other_branches_of_a_preprocessor_are_not_counted() {
        let lone = |text: &str| {
            findings_of("a.cpp", text).iter().filter(|found| found.2.contains("unmatched")).count()
        };
        let one = "int f() {\n#ifdef A\n  g([] {\n#else\n  h([] {\n#endif\n    i();\n  });\n}\n";
        assert_eq!(lone(one), 0);
        // Without the branches, the same brackets are unmatched.
        assert!(lone(&one.replace("#else", "//else")) > 0);
        assert!(lone("#if A\nint f() {\n#elif B\nint g() {\n#endif\n") > 0);
    }

    #[test]
    fn a_brace_that_a_macro_may_open_only_warns() {
        let blocks = |text: &str| judged("a.c", None, text).blocking().count() > 0;
        let uses = "TEST(a)\n  x();\n}\n";
        let opens = format!("#define TEST(n) void n(void) {{\n{uses}");
        assert!(!blocks(&opens));
        assert!(!judged("a.c", None, &opens).findings.is_empty());
        assert!(!blocks("#define END \\\n  return; \\\n  }\nvoid f(void) {\n  x();\n  END\n"));
        // The control: other brackets, a macro with both braces, and a brace in a literal or a comment.
        assert!(blocks(&format!("{opens}int b = (1;\n")));
        assert!(blocks(&format!("#define TEST(n) void n(void) {{ }}\n{uses}")));
        assert!(blocks(&format!("#define TEST(n) '{{' \"{{\" /* {{ */\n{uses}")));
    }

    #[test]
    fn a_quote_is_one_short_line() {
        assert_eq!(super::excerpt("  a\n\t b "), "a b");
        assert_eq!(super::excerpt(&"é".repeat(99)), "é".repeat(30));
    }
}
