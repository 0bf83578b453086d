//! Search and replace with Python's regular expressions.
//!
//! Patterns are parsed as in CPython 3.11, and [`Pattern::replace`] makes the replacements of `re.sub`, byte for
//! byte, or returns an error. Unsupported features are `BAD_PATTERN`, and the message names them: `\N{...}`, group
//! names that are not ASCII, `(?t)`, a class in `(?a:...)` or `(?u:...)` at the very start (CPython itself searches
//! these wrongly), and patterns that are huge or nested very deeply.
//!
//! Two engines share one [`StepBudget`]. One works without backtracking and is used for every pattern that needs
//! none; the other backtracks as CPython does. Neither uses a clock, so the same call gives the same result on every
//! machine.
//!
//! Invariant: the changes of one call are in the order of the text and do not overlap. An empty change may be at the
//! end of the previous one or at the start of the next one.

#![deny(clippy::disallowed_methods)]

mod ast;
mod budget;
mod charset;
mod escape;
mod first;
mod flags;
mod fold;
mod frames;
mod group;
mod inline;
mod linear;
mod lower;
mod machine;
mod names;
mod parse;
mod program;
mod repeats;
mod search;
mod set;
mod source;
mod template;
mod text;
mod units;
mod walk;

use std::num::NonZeroUsize;
use std::ops::Range;

pub use self::budget::StepBudget;
pub use self::flags::Flags;
pub use self::template::ReplacementTemplate;

use self::charset::CharSet;
use self::linear::Linear;
use self::program::Program;
use self::template::TemplatePart;
use self::walk::{Match, MatchWalk};
use lockgate_error::{Code, Error};
use lockgate_text::Change;

/// A compiled regular expression in Python's syntax.
#[derive(Debug)]
pub struct Pattern {
    program: Program,
    linear: Option<Linear>,
    first: Option<CharSet>,
    groups: usize,
    names: Vec<(String, usize)>,
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// Errors: `BAD_PATTERN` with Python's message and position if Python rejects it, or if it is not supported here.
    pub fn compile(pattern: &str, flags: Flags) -> Result<Pattern, Error> {
        let parsed = parse::parse(pattern, flags)?;
        let program = program::compile(&parsed)?;
        first::check_start(&parsed)?;
        let linear = lower::lower(&parsed).and_then(|lowered| Linear::new(&lowered));
        let first = first::first(&program);
        Ok(Pattern { program, linear, first, groups: parsed.widths.len() - 1, names: parsed.names })
    }

    /// Returns the changes that `re.sub` makes to `text[window]`, at most `count` of them, with spans of the whole
    /// text.
    ///
    /// Only the window is searched, as if its lines were passed alone to `re.sub`: anchors match at its ends, and
    /// look-around cannot see beyond it. A window outside the text gives no changes.
    ///
    /// Errors: `REGEX_BUDGET` if the budget is used up.
    pub fn replace(
        &self,
        text: &str,
        window: Range<usize>,
        template: &ReplacementTemplate,
        count: Option<NonZeroUsize>,
        budget: &mut StepBudget,
    ) -> Result<Vec<Change>, Error> {
        let offset = window.start;
        let Some(text) = text.get(window) else { return Ok(Vec::new()) };
        let mut walk = MatchWalk::new(self, text, template.has_groups());
        let mut changes = Vec::new();
        while count.is_none_or(|count| changes.len() < count.get()) {
            let Some(found) = walk.next(budget)? else { break };
            let new = self.expand(template, &walk, &found, text, budget)?;
            changes.push(Change { span: offset + found.span.start..offset + found.span.end, text: new });
        }
        Ok(changes)
    }

    fn expand(
        &self,
        template: &ReplacementTemplate,
        walk: &MatchWalk,
        found: &Match,
        text: &str,
        budget: &mut StepBudget,
    ) -> Result<String, Error> {
        let mut new = String::new();
        if template.has_groups() && (1..=self.groups).any(|group| walk.group(group).is_some_and(is_reversed))
        {
            let message = "not supported: a group whose end comes before its start, where Python fails too";
            return Err(Error::new(Code::BadPattern, format!("invalid regex pattern: {message}")));
        }
        for part in &template.parts {
            let piece = match part {
                TemplatePart::Text(piece) => piece,
                TemplatePart::Group(0) => text.get(found.span.clone()).unwrap_or_default(),
                TemplatePart::Group(group) => {
                    walk.group(*group).and_then(|(from, to)| text.get(from..to)).unwrap_or_default()
                }
            };
            budget.spend(piece.len() / 2)?;
            new.push_str(piece);
        }
        Ok(new)
    }

    fn group_named(&self, name: &str) -> Option<usize> {
        self.names.iter().find(|(known, _)| known == name).map(|(_, group)| *group)
    }
}

fn is_reversed((from, to): (usize, usize)) -> bool {
    from > to
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(
        pattern: &str,
        template: &str,
        text: &str,
        budget: &mut StepBudget,
    ) -> Result<Vec<Change>, Error> {
        let pattern = Pattern::compile(pattern, Flags::default())?;
        let template = ReplacementTemplate::parse(template, &pattern)?;
        pattern.replace(text, 0..text.len(), &template, None, budget)
    }

    fn replaced(pattern: &str, template: &str, text: &str) -> String {
        let mut out = text.to_owned();
        for change in changes(pattern, template, text, &mut StepBudget::per_call()).unwrap().iter().rev() {
            out.replace_range(change.span.clone(), &change.text);
        }
        out
    }

    #[test]
    fn results_are_pythons() {
        for (pattern, template, text, python) in [
            ("x*", "-", "abxd", "-a-b--d-"),
            ("|a", "-", "a", "---"),
            ("a*?", "-", "aa", "-----"),
            ("b$", "-", "b\nb\n", "b\n-\n"),
            (r"b\Z", "-", "b\n", "b\n"),
            ("(a)|b", r"<\1>", "ab", "<a><>"),
            (r"(?P<n>\w)(?P=n)", r"\g<n>", "aabbc", "abc"),
            (r"(?<=\$)\d+", "$1", "$5 and 5", "$$1 and 5"),
            ("(?i)k", "-", "kK\u{212A}", "---"),
            (r"(?:(a)|b)*", r"[\1]", "ab", "[a][]"),
            ("[[a&&b]", "-", "[a&b", "----"),
            ("a{,2}b", "-", "aaab", "a-"),
            ("", "-", "é", "-é-"),
        ] {
            assert_eq!(replaced(pattern, template, text), python, "{pattern}");
        }
    }

    #[test]
    fn only_the_window_is_searched() {
        let pattern = Pattern::compile(r"^b|(?<=a)b|b$|b(?=c)", Flags::default()).unwrap();
        let template = ReplacementTemplate::parse("-", &pattern).unwrap();
        let spans = |window| {
            let changes =
                pattern.replace("abbbc", window, &template, None, &mut StepBudget::per_call()).unwrap();
            changes.into_iter().map(|change| change.span).collect::<Vec<_>>()
        };
        assert_eq!(spans(1..4), [1..2, 3..4]);
        assert_eq!(spans(2..3).first(), Some(&(2..3)));
        assert!(spans(4..9).is_empty(), "a window that is not in the text");
    }

    #[test]
    fn refusals_name_the_place() {
        for (pattern, message) in [
            ("(a", "missing ), unterminated subpattern at position 0"),
            ("a**", "multiple repeat at position 2"),
            (r"\q", r"bad escape \q at position 0"),
            ("(?<=a*)", "look-behind requires fixed-width pattern"),
            ("a(?i)", "global flags not at the start of the expression at position 1"),
            ("a\n*)", "unbalanced parenthesis at position 3 (line 2, column 2)"),
            (
                r"(?a:\w)",
                "not supported: a class under (?a:...) or (?u:...) at the start, where CPython misses matches",
            ),
            (r"\N{DASH}", r"not supported: a character by its name, \N{...}; write it as it is or as \u"),
            (&"(".repeat(9000), "not supported: a pattern of more than 8000 characters"),
            (&"(".repeat(7000), "not supported: groups nested so deeply"),
            (&format!("(){}", "(?(1)".repeat(1500)), "not supported: groups nested so deeply"),
            (&"(?=".repeat(2000), "not supported: groups nested so deeply"),
        ] {
            let error = Pattern::compile(pattern, Flags::default()).unwrap_err();
            assert_eq!(
                (error.code, error.message),
                (Code::BadPattern, format!("invalid regex pattern: {message}"))
            );
        }
    }

    #[test]
    fn groups_may_be_nested_as_deeply_as_anyone_writes_them() {
        for open in ["(", "(?:", "(?=", "(?>", "(?i:", "(x|"] {
            let pattern = format!("{}a{}", open.repeat(99), ")".repeat(99));
            assert!(Pattern::compile(&pattern, Flags::default()).is_ok(), "{open}");
        }
        assert_eq!(replaced(&format!("{}a{}", "(".repeat(99), ")*".repeat(99)), r"<\99>", "ab"), "<a><>b<>");
    }

    #[test]
    fn patterns_without_need_of_backtracking_take_one_step_a_byte() {
        let text = "a".repeat(1 << 20);
        for pattern in ["(a+)+$", "(a|aa)+$", "a*b", r"\w+\s*="] {
            let mut budget = StepBudget::new(4 << 20);
            changes(pattern, "-", &text, &mut budget).unwrap();
        }
    }

    #[test]
    fn catastrophic_patterns_end_when_the_steps_are_used_up() {
        let text = "a".repeat(1 << 20);
        let patterns =
            [r"(a+)+\b!", "(.*)*x", r"(a|aa)+?\b!", ".*[^a]|[a]", r"(?:(?=[ab]*c)a)*", r"(a)*\1!", "(?>a*)b"];
        for pattern in patterns {
            let mut budget = StepBudget::new(500_000);
            let error = changes(pattern, "-", &text, &mut budget).unwrap_err();
            assert_eq!((error.code, budget.remaining()), (Code::RegexBudget, 0), "{pattern}");
            assert!(
                changes(pattern, "-", "aa", &mut StepBudget::new(2_000)).is_ok(),
                "{pattern} has steps for a short text"
            );
        }
    }

    #[test]
    fn a_replacement_that_blows_up_is_refused() {
        let text = "a".repeat(1 << 16);
        let error = changes("a", &"x".repeat(1 << 12), &text, &mut StepBudget::per_call()).unwrap_err();
        assert_eq!(error.code, Code::RegexBudget);
    }
}
