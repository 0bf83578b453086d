//! Search and replace with Python's regular expressions.
//!
//! Patterns are parsed as in CPython 3.11, and [`Pattern::replace`] makes the replacements of `re.sub`, byte for
//! byte, or returns an error. Unsupported features are [`Error::Pattern`], and the message names them: `\N{...}`, group
//! names that are not ASCII, `(?t)`, a class in `(?a:...)` or `(?u:...)` at the very start (CPython itself searches
//! these wrongly), and patterns that are huge or nested very deeply.
//!
//! Two engines share one [`StepBudget`]. One works without backtracking and is used for every pattern that needs
//! none; the other backtracks as CPython does. Neither uses a clock, so the same call gives the same result on every
//! machine. There is no iterator over matches and no search in bytes: the crate replaces, and does nothing else.
//!
//! ```
//! use lockgate_python_re::{Error, Flags, Pattern, ReplacementTemplate, StepBudget};
//!
//! let pattern = Pattern::compile(r"(?P<name>\w+)=(\d+)", Flags::default())?;
//! let template = ReplacementTemplate::parse(r"\2=\g<name>", &pattern)?;
//! let text = "a=1, b=22";
//! let found = pattern.replace(text, 0..text.len(), &template, None, &mut StepBudget::new(40_000_000))?;
//! assert_eq!(found.iter().map(|one| one.text.as_str()).collect::<Vec<_>>(), ["1=a", "22=b"]);
//! # Ok::<(), Error>(())
//! ```
//!
//! Invariant: the replacements of one call are in the order of the text and do not overlap. An empty one may be at the
//! end of the previous one or at the start of the next one.

#![deny(clippy::disallowed_methods)]

mod ast;
mod budget;
mod charset;
mod compiled;
mod error;
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
mod replace;
mod search;
mod set;
mod source;
mod template;
mod text;
mod units;
mod walk;

pub use self::budget::StepBudget;
pub use self::compiled::Pattern;
pub use self::error::Error;
pub use self::flags::Flags;
pub use self::replace::Replacement;
pub use self::template::ReplacementTemplate;

#[cfg(test)]
mod tests {
    use super::*;

    /// The budget of one call by default.
    const STEPS: u64 = 40_000_000;

    fn changes(
        pattern: &str,
        template: &str,
        text: &str,
        budget: &mut StepBudget,
    ) -> Result<Vec<Replacement>, Error> {
        let pattern = Pattern::compile(pattern, Flags::default())?;
        let template = ReplacementTemplate::parse(template, &pattern)?;
        pattern.replace(text, 0..text.len(), &template, None, budget)
    }

    fn replaced(pattern: &str, template: &str, text: &str) -> String {
        let mut out = text.to_owned();
        for change in changes(pattern, template, text, &mut StepBudget::new(STEPS)).unwrap().iter().rev() {
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
                pattern.replace("abbbc", window, &template, None, &mut StepBudget::new(STEPS)).unwrap();
            changes.into_iter().map(|change| change.span).collect::<Vec<_>>()
        };
        assert_eq!(spans(1..4), [1..2, 3..4]);
        assert_eq!(spans(2..3).first(), Some(&(2..3)));
        assert!(spans(4..9).is_empty(), "a window that is not in the text");
    }

    #[test]
    fn rejections_name_the_place() {
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
            assert_eq!(error, Error::Pattern(message.to_owned()));
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
            assert_eq!((error, budget.remaining()), (Error::OutOfSteps, 0), "{pattern}");
            assert!(
                changes(pattern, "-", "aa", &mut StepBudget::new(2_000)).is_ok(),
                "{pattern} has steps for a short text"
            );
        }
    }

    #[test]
    fn a_replacement_that_blows_up_is_refused() {
        let text = "a".repeat(1 << 16);
        let error = changes("a", &"x".repeat(1 << 12), &text, &mut StepBudget::new(STEPS)).unwrap_err();
        assert_eq!(error, Error::OutOfSteps);
    }

    #[test]
    fn a_template_of_many_empty_groups_takes_steps() {
        let used = |parts: usize| {
            let mut budget = StepBudget::new(STEPS);
            changes("(x?)b", &r"\1".repeat(parts), &"ab".repeat(100), &mut budget).unwrap();
            STEPS - budget.remaining()
        };
        assert_eq!(used(16), used(1), "short templates cost nothing");
        assert_eq!(used(10_016) - used(1), 100 * 10_000);
        let many = r"\1".repeat(10_016);
        let error = changes("(x?)b", &many, &"ab".repeat(100), &mut StepBudget::new(500_000)).unwrap_err();
        assert_eq!(error, Error::OutOfSteps);
    }

    #[test]
    fn replacements_stop_at_the_most_characters() {
        let made = |pattern, template: &str, max_chars| {
            let mut budget = StepBudget::new(STEPS).with_max_chars(max_chars);
            let text = "é".repeat(10_000);
            let made = changes(pattern, template, &text, &mut budget).map(|made| made.len());
            (made, STEPS - budget.remaining())
        };
        for (pattern, template) in [("é", r"\g<0>\g<0>"), ("(é)", r"a\1"), ("é", "ab")] {
            let (all, steps) = made(pattern, template, 20_000);
            assert_eq!(all, Ok(10_000), "{template}");
            assert_eq!(made(pattern, template, 19_999).0, Err(Error::TooLarge(19_999)), "{template}");
            assert!(made(pattern, template, 2).1 < steps / 4, "it stops at once");
        }
        assert_eq!(made("$", "abc", 3).0, Ok(1));
        assert_eq!(made("$", "abc", 2).0, Err(Error::TooLarge(2)));
        assert_eq!(made("é$|$", "abc", 3).0, Ok(2), "the one at the end counts alone");
    }
}
