//! Matches a path with the header of a section of an `.editorconfig`.
//!
//! The rules are those of the specification of EditorConfig:
//!
//! | in the pattern | matches |
//! |---|---|
//! | `*` | any characters but `/` |
//! | `**` | any characters |
//! | `/**/` | `/`, or any folders between two `/` |
//! | `?` | one character but `/` |
//! | `[name]`, `[a-z]` | one of the characters; with a `/` between them, the text itself |
//! | `[!name]`, `[^name]` | one other character |
//! | `{s1,s2}` | one of these patterns, which may have braces, too |
//! | `{num1..num2}` | an integer from `num1` to `num2`, without leading zeros |
//! | `{s1}`, and braces without a partner | the text itself |
//! | `\` | nothing; the next character has no special meaning |
//!
//! A pattern with a `/` describes the path from the file's folder, any other one the last names of the path.
//!
//! Invariant: the work for one pattern is bounded by its length times that of the path and the number of its braces. The
//! sum for all patterns of a file is at most [`MOST_STEPS`]; a pattern beyond it matches nothing.

use std::str::Chars;

/// The longest pattern in bytes, and the most opening braces. The specification asks for 1,024 characters.
const LONGEST: usize = 4096;
const MOST_BRACES: usize = 64;

/// The most work for the patterns of one file: the bytes of each, times the characters of the path and the opening braces.
const MOST_STEPS: usize = 4_000_000;

/// The path that the patterns of one file are compared with.
#[derive(Debug)]
pub(super) struct RelativePath {
    chars: Vec<char>,
    /// The steps left for the patterns that are still to come.
    steps: usize,
}

impl RelativePath {
    /// Takes a path from the folder of the `.editorconfig`.
    pub fn new(path: &str) -> RelativePath {
        RelativePath { chars: std::iter::once('/').chain(path.chars()).collect(), steps: MOST_STEPS }
    }

    /// True if the pattern matches; false for a pattern that is too long, not valid, or beyond the steps for one file.
    pub fn matches(&mut self, pattern: &str) -> bool {
        let braces = pattern.matches('{').count();
        if pattern.len() > LONGEST || braces > MOST_BRACES {
            return false;
        }
        let Some(left) = self.steps.checked_sub(pattern.len() * (self.chars.len() + braces)) else {
            self.steps = 0;
            return false;
        };
        self.steps = left;
        self.match_all(pattern).unwrap_or(false)
    }

    fn match_all(&self, pattern: &str) -> Option<bool> {
        let is_anchored = pattern.contains('/');
        let is_start =
            |before: Option<&char>| if is_anchored { before.is_none() } else { before == Some(&'/') };
        let mut ends = MatchEnds(self.before().map(is_start).collect());
        let anchored = format!("/{}", pattern.strip_prefix('/').unwrap_or(pattern));
        let text = if is_anchored { &anchored } else { pattern };
        let mut rest = text.chars();
        let mut class_ends = unescaped(text).filter(|(_, char)| matches!(char, '/' | ']')).peekable();
        // True if a class that begins before these last bytes has a slash before its end.
        let mut has_slash = |rest: &str| {
            while class_ends.next_if(|(end, _)| end + rest.len() < text.len()).is_some() {}
            class_ends.peek().is_some_and(|(_, char)| *char == '/')
        };
        let are_paired = count_unescaped(pattern, '{') == count_unescaped(pattern, '}');
        let mut open: Vec<Choice> = Vec::new();
        // Up to this many bytes before the end of the pattern, braces are text.
        let mut text_braces = usize::MAX;
        while let Some(special) = rest.next() {
            let is_text_brace = rest.as_str().len() >= text_braces;
            ends = match (special, open.last_mut()) {
                ('*', _) if skip(&mut rest, "*") => self.repeat(&ends, |_| true),
                ('*', _) => self.repeat(&ends, |char| char != '/'),
                ('?', _) => self.step(&ends, |char| char != '/'),
                ('/', _) if skip(&mut rest, "**/") => {
                    let folder = self.step(&ends, |char| char == '/');
                    self.step(&self.repeat(&folder, |_| true), |char| char == '/').or(&folder)
                }
                ('[', _) if !has_slash(rest.as_str()) => {
                    let class = CharClass::parse(&mut rest)?;
                    self.step(&ends, |char| class.contains(char))
                }
                ('{', _) if !is_text_brace => match Braces::parse(rest.as_str()) {
                    Braces::Numbers { first, last, after } => {
                        rest = after.chars();
                        self.number(&ends, first, last)
                    }
                    Braces::Choice if are_paired => {
                        open.push(Choice { start: ends.clone(), ends: self.none() });
                        ends
                    }
                    Braces::Choice => self.step(&ends, |char| char == '{'),
                    Braces::Text { after } => {
                        text_braces = after.len();
                        self.step(&ends, |char| char == '{')
                    }
                },
                (',', Some(choice)) => {
                    choice.ends = choice.ends.or(&ends);
                    choice.start.clone()
                }
                ('}', Some(choice)) if !is_text_brace => {
                    let ends = choice.ends.or(&ends);
                    open.pop();
                    ends
                }
                ('\\', _) => {
                    let escaped = rest.next()?;
                    self.step(&ends, |char| char == escaped)
                }
                (text, _) => self.step(&ends, |char| char == text),
            };
            if open.is_empty() && !ends.0.contains(&true) {
                return Some(false);
            }
        }
        Some(open.is_empty() && ends.0.last() == Some(&true))
    }

    /// The character before each place in the path, beginning with the one before the first.
    fn before(&self) -> impl Iterator<Item = Option<&char>> {
        std::iter::once(None).chain(self.chars.iter().map(Some))
    }

    fn none(&self) -> MatchEnds {
        MatchEnds(self.before().map(|_| false).collect())
    }

    /// Matches one character.
    fn step(&self, starts: &MatchEnds, is_match: impl Fn(char) -> bool) -> MatchEnds {
        let steps = starts.0.iter().zip(&self.chars).map(|(&start, &char)| start && is_match(char));
        MatchEnds(std::iter::once(false).chain(steps).collect())
    }

    /// Matches any number of characters.
    fn repeat(&self, starts: &MatchEnds, is_match: impl Fn(char) -> bool) -> MatchEnds {
        let mut reached = false;
        let ends = starts.0.iter().zip(self.before()).map(|(&start, before)| {
            reached = start || (reached && before.is_some_and(|&char| is_match(char)));
            reached
        });
        MatchEnds(ends.collect())
    }

    /// Matches an integer from `first` to `last`.
    fn number(&self, starts: &MatchEnds, first: i64, last: i64) -> MatchEnds {
        let mut ends = self.none();
        for (start, _) in starts.0.iter().enumerate().filter(|(_, is_start)| **is_start) {
            let mut text = String::new();
            for (index, &char) in self.chars.iter().enumerate().skip(start) {
                let is_sign = text.is_empty() && matches!(char, '+' | '-');
                let has_leading_zero = text.trim_start_matches(['+', '-']) == "0";
                if !is_sign && (!char.is_ascii_digit() || has_leading_zero) {
                    break;
                }
                text.push(char);
                let number = text.parse::<i64>();
                if number.is_err() && !is_sign {
                    break;
                }
                let is_in_range = number.is_ok_and(|number| (first..=last).contains(&number));
                if let Some(end) = ends.0.get_mut(index + 1).filter(|_| is_in_range) {
                    *end = true;
                }
            }
        }
        ends
    }
}

/// For each place in the path, true if the pattern so far can end there.
#[derive(Debug, Clone)]
struct MatchEnds(Vec<bool>);

impl MatchEnds {
    fn or(&self, other: &MatchEnds) -> MatchEnds {
        MatchEnds(self.0.iter().zip(&other.0).map(|(one, other)| one | other).collect())
    }
}

/// Braces whose end is not reached yet.
struct Choice {
    start: MatchEnds,
    /// Of the patterns before the current one.
    ends: MatchEnds,
}

/// The meaning of an opening brace.
enum Braces<'a> {
    Numbers { first: i64, last: i64, after: &'a str },
    Text { after: &'a str },
    Choice,
}

impl Braces<'_> {
    fn parse(rest: &str) -> Braces<'_> {
        let end = unescaped(rest).find(|(_, char)| matches!(char, ',' | '}'));
        let Some((inner, after)) = end.filter(|(_, char)| *char == '}').and_then(|(end, _)| {
            let (inner, brace) = rest.split_at_checked(end)?;
            Some((inner, brace.strip_prefix('}')?))
        }) else {
            return Braces::Choice;
        };
        let numbers = inner.split_once("..").map(|(first, last)| (first.parse(), last.parse()));
        match numbers {
            Some((Ok(first), Ok(last))) => Braces::Numbers { first, last, after },
            _ => Braces::Text { after },
        }
    }
}

/// The characters of `[name]`.
struct CharClass {
    is_negated: bool,
    ranges: Vec<(char, char)>,
}

impl CharClass {
    /// Reads the class up to its bracket; `None` if it has none, or has a range from a later to an earlier character.
    fn parse(rest: &mut Chars) -> Option<CharClass> {
        let is_negated = skip(rest, "!") || skip(rest, "^");
        let mut ranges = Vec::new();
        while !rest.as_str().starts_with(']') || ranges.is_empty() {
            let first = next_in_class(rest)?;
            let is_range = rest.as_str().starts_with('-') && !rest.as_str().starts_with("-]");
            let last = if is_range && skip(rest, "-") { next_in_class(rest)? } else { first };
            if last < first {
                return None;
            }
            ranges.push((first, last));
        }
        rest.next();
        Some(CharClass { is_negated, ranges })
    }

    fn contains(&self, char: char) -> bool {
        self.ranges.iter().any(|&(first, last)| (first..=last).contains(&char)) != self.is_negated
    }
}

fn next_in_class(rest: &mut Chars) -> Option<char> {
    match rest.next()? {
        '\\' => rest.next(),
        char => Some(char),
    }
}

/// Skips the text, and returns true, if it is next.
fn skip(rest: &mut Chars, text: &str) -> bool {
    if let Some(after) = rest.as_str().strip_prefix(text) {
        *rest = after.chars();
        return true;
    }
    false
}

fn count_unescaped(pattern: &str, char: char) -> usize {
    unescaped(pattern).filter(|(_, other)| *other == char).count()
}

/// The characters that no `\` precedes, with their positions in bytes.
fn unescaped(pattern: &str) -> impl Iterator<Item = (usize, char)> {
    let mut is_escaped = false;
    pattern.char_indices().filter(move |(_, char)| {
        let was_escaped = is_escaped;
        is_escaped = *char == '\\' && !was_escaped;
        !was_escaped && !is_escaped
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pattern, paths that it matches, and others.
    type Example<'a> = (&'a str, &'a [&'a str], &'a [&'a str]);

    const EXAMPLES: &[Example] = &[
        // Whole names at any depth, and paths from the folder.
        ("a.txt", &["a.txt", "sub/a.txt", "x/y/a.txt"], &["ba.txt", "a.txt2", "a.txt/b", "A.txt"]),
        ("/a.txt", &["a.txt"], &["sub/a.txt"]),
        ("app/en", &["app/en"], &["sub/app/en", "app/en/x"]),
        ("a{b/c,d}", &["ab/c", "ad"], &["x/ad"]),
        ("中文.txt", &["中文.txt"], &[]),
        // Stars.
        ("*", &["a", ".a", "x/a"], &[]),
        ("a*e.c", &["ae.c", "ace.c", "abcde.c"], &["a/e.c"]),
        ("Bar/*", &["Bar/foo.txt", "Bar/.editorconfig"], &["Bar/x/foo.txt"]),
        ("*/en.strings", &["app/en.strings"], &["en.strings", "x/app/en.strings"]),
        ("src/*/en.strings", &["src/app/en.strings"], &["src/en.strings", "src/x/app/en.strings"]),
        ("*/*/a", &["x/y/a"], &["x/a", "a"]),
        ("a*/x", &["app/x", "a/x"], &["b/x"]),
        ("*/{en,de}.strings", &["app/de.strings"], &["de.strings", "app/fr.strings"]),
        ("{*,sub/*}.txt", &["a.txt", "sub/a.txt"], &["other/a.txt"]),
        ("a**z.c", &["a/z.c", "amnz.c", "a/mn/z.c", "x/a/z.c"], &["b/z.c"]),
        ("b/**z.c", &["b/z.c", "b/mnz.c", "b/mn/z.c"], &["bmnz.c", "bm/nz.c"]),
        ("c**/z.c", &["c/z.c", "cmn/z.c", "c/mn/z.c"], &["cmnz.c", "c/mnz.c"]),
        ("d/**/z.c", &["d/z.c", "d/mn/z.c", "d/m/n/z.c"], &["dmnz.c", "dm/nz.c", "d/mnz.c"]),
        ("**/z.c", &["z.c", "d/z.c", "d/e/z.c"], &["yz.c"]),
        ("packages/*/src/**", &["packages/z/src/a", "packages/z/src/a/b"], &["packages/src/a"]),
        ("**/packages/*/x", &["packages/z/x", "a/b/packages/z/x"], &["packages/x"]),
        // One character.
        ("som?.c", &["some.c", "x/somé.c"], &["som.c", "something.c", "som/.c"]),
        ("?.strings", &["é.strings"], &["ab.strings"]),
        ("ap?/x", &["app/x"], &["ap/x", "appp/x"]),
        // Classes.
        ("[ab].a", &["a.a", "b.a"], &["c.a", "ab.a"]),
        ("[!ab].b", &["c.b", "é.b"], &["a.b", "b.b", ".b"]),
        ("[^x]", &["y"], &["x"]),
        ("ap[pq]/x", &["app/x", "apq/x"], &["apr/x"]),
        ("[d-g].c", &["d.c", "f.c"], &["h.c", "-.c"]),
        ("[!d-g].d", &["h.d"], &["f.d"]),
        ("[abd-g].e", &["e.e", "a.e"], &["c.e"]),
        ("[-ab].f", &["-.f", "a.f"], &["c.f"]),
        ("[ab-]", &["-", "a"], &["c"]),
        (r"[\]ab].g", &["].g", "a.g"], &["c.g"]),
        (r"[!\]ab].g", &["c.g"], &["].g", "a.g"]),
        ("[]a]", &["]", "a"], &["b"]),
        ("[ab]].g", &["a].g"], &["a.g"]),
        ("[!ab]].g", &["c].g"], &["a].g"]),
        ("ab[e/]cd.i", &["ab[e/]cd.i"], &["ab/cd.i", "abecd.i"]),
        ("ab[/c", &["ab[/c"], &["ab/c"]),
        ("[*?{,}]", &["*", "?", "{", ",", "}"], &["a"]),
        // Braces.
        ("*.{py,js}", &["a.py", "x/a.js"], &["a.pyc", "a.{py,js}"]),
        ("{single}.b", &["{single}.b"], &["single.b", ".b"]),
        ("{}.c", &["{}.c"], &[".c"]),
        ("{*}", &["{ab}"], &["ab"]),
        ("a{b,c,}.d", &["a.d", "ab.d", "ac.d"], &["a,.d"]),
        ("a{,b,,c,}.e", &["a.e", "ab.e", "ac.e"], &["a,.e"]),
        ("{.f", &["{.f"], &[".f"]),
        ("{word,{also},this}.g", &["word.g", "{also}.g", "this.g"], &["word,this}.g", "{also,this}.g"]),
        ("{{a,b},c}.k", &["a.k", "b.k", "c.k"], &["{a,b}.k", "{{a,b},c}.k"]),
        ("{a,{b,c}}.l", &["a.l", "b.l", "c.l"], &["{b,c}.l"]),
        ("{},b}.h", &["{},b}.h"], &["b.h"]),
        ("{{,b,c{d}.i", &["{{,b,c{d}.i"], &["{.i", "b.i", "c{d.i", ".i"]),
        (r"{a\,b,cd}.txt", &["a,b.txt", "cd.txt"], &["a.txt"]),
        (r"{e,\},f}.txt", &["e.txt", "}.txt", "f.txt"], &[]),
        (r"{g,\\,i}.txt", &["g.txt", r"\.txt", "i.txt"], &[]),
        ("{some,a{*c,b}[ef]}.j", &["some.j", "abe.j", "ace.j", "abcf.j"], &["abg.j", "ae.j", ".j"]),
        // Numbers.
        ("{3..120}", &["3", "15", "60", "120"], &["1", "5a", "121", "060", "{3..120}"]),
        ("v{-2..2}.x", &["v-2.x", "v0.x", "v+1.x"], &["v-3.x", "v.x", "v-.x", "v00.x"]),
        ("{2..1}", &[], &["1", "2", "{2..1}"]),
        ("{a..c}", &["{a..c}"], &["a", "b"]),
        // Escapes.
        (r"\*.x", &["*.x"], &["a.x"]),
        (r"\[a]\{b,c\}\?", &["[a]{b,c}?"], &["ab?"]),
        (r"[a\-c]", &["a", "-", "c"], &["b"]),
        (r"a\#b\;c", &["a#b;c"], &[]),
        // Not valid.
        ("[ab", &[], &["[ab", "a"]),
        ("[c-a]", &[], &["b", "[c-a]"]),
        ("}{", &[], &["}{"]),
        (r"a\", &[], &["a", r"a\"]),
    ];

    #[test]
    fn patterns_match_as_the_specification_says() {
        for &(pattern, matching, other) in EXAMPLES {
            for path in matching {
                assert!(RelativePath::new(path).matches(pattern), "{pattern} {path}");
            }
            for path in other {
                assert!(!RelativePath::new(path).matches(pattern), "not {pattern} {path}");
            }
        }
    }

    #[test]
    fn the_work_for_one_pattern_is_bounded() {
        let mut path = RelativePath::new(&"a".repeat(200));
        for part in ["*a", "**a", "{a,*}", "{a,{*,", "{1..3}", "[a-z]", "{"] {
            let fits = format!("b{}", part.repeat(MOST_BRACES / 2));
            assert!(!path.matches(&fits), "{part}");
        }
        assert!(path.matches(&"*".repeat(LONGEST)));
        assert!(!path.matches(&"*".repeat(LONGEST + 1)));
        assert!(path.matches(&"{a,*}".repeat(MOST_BRACES)));
        assert!(!path.matches(&"{a,*}".repeat(MOST_BRACES + 1)));
    }

    #[test]
    fn the_work_for_one_file_is_bounded() {
        let matching = |length: usize, pattern: &str| {
            let mut path = RelativePath::new(&"a".repeat(length));
            let count = (0..60).filter(|_| path.matches(pattern)).count();
            assert!(count * pattern.len() * length <= MOST_STEPS, "{length} {count}");
            (count, path.matches("*"))
        };
        let long = "*".repeat(LONGEST);
        assert_eq!(matching(3660, &long), (0, false));
        assert_eq!(matching(200, &long), (4, false));
        // The control: the patterns of a usual file.
        assert_eq!(matching(3660, "*"), (60, true));
        assert_eq!(matching(200, "{*.rs,a*}"), (60, true));
    }

    #[test]
    fn brackets_before_a_slash_are_text() {
        let brackets = "[".repeat(1000);
        assert!(RelativePath::new(&format!("{brackets}/a")).matches(&format!("{brackets}/a")));
        for (pattern, path) in [(r"[a\]b][/c", "a[/c"), (r"x[\\/]/[a]", r"x[\/]/a"), ("[a]/[/[b]", "a/[/b")] {
            assert!(RelativePath::new(path).matches(pattern), "{pattern} {path}");
        }
    }
}
