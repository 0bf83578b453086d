//! Parses the header of a file made from a template: a comment in its first lines.
//!
//! There are two forms: `# SCAFFOLD: template=module version=1.0.0 created=2026-02-08 path=src/a.py`, and the
//! fields alone, as in `<!-- template=reference version=064954ea updated=2026-02-08 -->`, with `template`
//! first.

use std::sync::LazyLock;

use regex::Regex;

use crate::constant_pattern::regex;

/// The number of first lines that may contain a header: it can follow a `#!`, a path, and the opening line of
/// a front matter.
const FIRST_LINES: usize = 5;
/// The longest line that can be a header, in bytes.
const LONGEST: usize = 1000;
const FIELDS: [&str; 5] = ["template", "version", "created", "updated", "path"];

/// The pattern of the text before the fields.
static START: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"^\s*(?P<open><!--|/\*+|\{/\*|//+!?|#+|--|;+|%+|"""|''')\s*(?:(?P<word>SCAFFOLD\b\s*:?)\s*|(?P<plain>template=))"#,
    )
});

/// The comment markers: the opening one, and the one that must close it.
const COMMENT_MARKERS: [(&str, &str); 5] =
    [("<!--", "-->"), ("/*", "*/"), ("{/*", "*/}"), ("\"\"\"", "\"\"\""), ("'''", "'''")];

/// A header, and its position in the text.
#[derive(Debug)]
pub(super) struct FoundHeader<'t> {
    /// The byte offset of its line in the text.
    pub(super) start: usize,
    /// The fields, each with its offset in the line.
    fields: Vec<(usize, &'t str)>,
    /// The closing marker that its comment lacks.
    unclosed: Option<&'static str>,
    colon: bool,
}

/// A problem of a header, and its byte offset in the line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HeaderProblem {
    pub(super) at: usize,
    pub(super) message: String,
}

impl<'t> FoundHeader<'t> {
    /// Parses the header of a text; `None` if there is none.
    pub(super) fn parse(text: &'t str) -> Option<FoundHeader<'t>> {
        let mut start = 0;
        for line in text.split_inclusive('\n').take(FIRST_LINES) {
            if let Some(header) = FoundHeader::read(start, line.trim_end()) {
                return Some(header);
            }
            start += line.len();
        }
        None
    }

    fn read(start: usize, line: &'t str) -> Option<FoundHeader<'t>> {
        if line.len() > LONGEST {
            return None;
        }
        let found = START.captures(line)?;
        let word = found.name("word");
        let from = found
            .name("plain")
            .map_or_else(|| found.get(0).map_or(0, |all| all.end()), |plain| plain.start());
        let open = found.name("open").map_or("", |open| open.as_str());
        let close =
            COMMENT_MARKERS.iter().find(|(known, _)| open.starts_with(known)).map(|(_, close)| *close);
        let rest = line.get(from..)?;
        let (rest, unclosed) = match close {
            None => (rest, None),
            Some(close) => match rest.find(close) {
                Some(end) => (rest.get(..end)?, None),
                None => (rest, Some(close)),
            },
        };
        let place = |word: &'t str| (word.as_ptr() as usize - line.as_ptr() as usize, word);
        let fields = rest.split_whitespace().map(place).collect();
        let colon = word.is_none_or(|word| word.as_str().ends_with(':'));
        Some(FoundHeader { start, fields, unclosed, colon })
    }

    pub(super) fn value(&self, name: &str) -> Option<&'t str> {
        self.fields.iter().find_map(|(_, field)| field.strip_prefix(name)?.strip_prefix('='))
    }

    /// Returns all problems of the header, in the order of the text.
    pub(super) fn problems(&self) -> Vec<HeaderProblem> {
        let mut problems = Vec::new();
        if !self.colon {
            problems.push(HeaderProblem { at: 0, message: "`SCAFFOLD` needs a colon after it".to_owned() });
        }
        let mut names: Vec<&str> = Vec::new();
        for (at, field) in &self.fields {
            let message = match field.split_once('=') {
                None => Some(format!("`{field}` is not a header field; write `name=value`")),
                Some((name, _)) if !FIELDS.contains(&name) => {
                    Some(format!("a header has no field `{name}`; its fields are {}", FIELDS.join(", ")))
                }
                Some((name, _)) if names.contains(&name) => Some(format!("the field `{name}` occurs twice")),
                Some((name, value)) => {
                    names.push(name);
                    value_problem(name, value)
                }
            };
            problems.extend(message.map(|message| HeaderProblem { at: *at, message }));
        }
        for name in ["template", "version"] {
            if !names.contains(&name) {
                problems.push(HeaderProblem { at: 0, message: format!("the header lacks `{name}=...`") });
            }
        }
        if problems.is_empty() {
            problems.extend(self.order_problem());
        }
        if let Some(close) = self.unclosed {
            problems.push(HeaderProblem {
                at: 0,
                message: format!(
                    "the comment of the header is not closed on its line; end it with `{close}`"
                ),
            });
        }
        problems
    }

    /// Checks that a file was not updated before it was created.
    fn order_problem(&self) -> Option<HeaderProblem> {
        let day = |name: &str| self.value(name).and_then(|value| value.get(..10));
        let (created, updated) = (day("created")?, day("updated")?);
        let at = self.fields.iter().find(|(_, field)| field.starts_with("updated=")).map_or(0, |(at, _)| *at);
        let message = format!("updated on {updated}, before it was created on {created}");
        (updated < created).then_some(HeaderProblem { at, message })
    }
}

/// Returns the problem of a value, if any.
fn value_problem(name: &str, value: &str) -> Option<String> {
    let (good, expected) = match name {
        "template" => (is_name(value), "a name of letters, digits, `-`, `_` and `.`"),
        "version" => (is_version(value), "a hash of 6 to 64 hexadecimal digits, or a version such as 1.2.0"),
        "path" => (!value.is_empty() && !value.starts_with('/'), "a path relative to the root"),
        _ => (is_time(value), "a date such as 2026-02-08, or a time such as 2026-02-08T12:00:00+01:00"),
    };
    (!good).then(|| format!("`{name}={value}`: {name} must be {expected}"))
}

fn is_name(value: &str) -> bool {
    value.starts_with(|c: char| c.is_ascii_alphabetic())
        && value.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

fn is_version(value: &str) -> bool {
    let hash = (6..=64).contains(&value.len()) && value.chars().all(|c| c.is_ascii_hexdigit());
    let value = value.strip_prefix('v').unwrap_or(value);
    let (numbers, more) = value.find(['-', '+']).map_or((value, ""), |at| value.split_at(at));
    let parts: Vec<&str> = numbers.split('.').collect();
    let digits =
        |part: &&str| !part.is_empty() && part.len() < 10 && part.chars().all(|c| c.is_ascii_digit());
    let more = more.is_empty()
        || more.len() > 1 && more.chars().all(|c| c.is_ascii_alphanumeric() || "-+.".contains(c));
    hash || (2..=3).contains(&parts.len()) && parts.iter().all(digits) && more
}

/// Returns true if a value is a date, or a date and a time, in ISO 8601.
fn is_time(value: &str) -> bool {
    let (date, time) = value.split_once('T').map_or((value, None), |(date, time)| (date, Some(time)));
    let parts: Vec<&str> = date.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let date = number(year, 4, 1, 9999).zip(number(month, 2, 1, 12)).zip(number(day, 2, 1, 31));
    let Some(((year, month), day)) = date else { return false };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    day <= days && time.is_none_or(is_clock)
}

fn is_clock(time: &str) -> bool {
    let at = time.find(['Z', '+', '-']).unwrap_or(time.len());
    let (clock, zone) = time.split_at(at);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let parts: Vec<&str> = clock.split(':').collect();
    let is_hour = |text: &str| number(text, 2, 0, 23).is_some();
    let sixty = |text: &&str| number(text, 2, 0, 59).is_some();
    let zone = match zone.strip_prefix(['+', '-']) {
        Some(offset) => offset.split_once(':').is_some_and(|(hour, minute)| is_hour(hour) && sixty(&minute)),
        None => zone.is_empty() || zone == "Z",
    };
    let fraction =
        !fraction.is_empty() && fraction.len() < 10 && fraction.chars().all(|c| c.is_ascii_digit());
    let rest = parts.get(1..).unwrap_or_default();
    let clock = parts.first().is_some_and(|hour| is_hour(hour)) && rest.iter().all(sixty);
    zone && fraction && clock && (1..=2).contains(&rest.len())
}

fn number(text: &str, digits: usize, least: u32, most: u32) -> Option<u32> {
    let plain = text.len() == digits && text.chars().all(|c| c.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten().filter(|number| (least..=most).contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read_in_the_comments_of_many_languages() {
        for text in [
            "# SCAFFOLD: template=module version=1.0.0 created=2026-02-08T12:00Z path=src/a.py\n",
            "<!-- docs/a.md -->\n<!-- template=reference version=064954ea created=2026-02-08T12:00:00+01:00 updated=2026-02-08 -->\n",
            "#!/bin/sh\n# template=script version=0.1\n",
            "// SCAFFOLD: template=a.b version=v1.2.3-rc.1\n",
            "/* template=style version=abcdef */\n",
            "\"\"\"SCAFFOLD: template=tool version=1.0\"\"\"\n",
        ] {
            let header = FoundHeader::parse(text).expect(text);
            assert_eq!(header.problems(), [], "{text}");
            assert!(header.value("template").is_some(), "{text}");
        }
        for text in [
            "",
            "# a template=b\n",
            "template=a version=1.0\n",
            "\n\n\n\n\n# template=a version=1.0\n",
            "# SCAFFOLDING\n",
        ] {
            assert!(FoundHeader::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_header_that_is_wrong_says_where() {
        for (text, at, expected) in [
            ("# SCAFFOLD: template=module\n", 0, "lacks `version="),
            ("# SCAFFOLD template=module version=1.0\n", 0, "needs a colon"),
            ("# template=1module version=1.0\n", 2, "template must be a name"),
            ("# template=module version=one\n", 18, "version must be"),
            ("# template=module version=1.0 author=me\n", 30, "no field `author`"),
            ("# template=module version=1.0 stray\n", 30, "`stray` is not a header field"),
            ("# template=module version=1.0 version=1.1\n", 30, "occurs twice"),
            ("# template=module version=1.0 created=2026-02-30\n", 30, "created must be a date"),
            ("# template=module version=1.0 created=2026-02-08T25:00\n", 30, "created must be a date"),
            ("# template=m version=1.0 created=2026-02-08 updated=2026-02-07\n", 44, "before it was created"),
            ("# template=module version=1.0 path=/etc/a\n", 30, "path must be"),
            ("<!-- template=module version=1.0\n", 0, "not closed"),
        ] {
            let problems = FoundHeader::parse(text).expect(text).problems();
            assert_eq!(problems.len(), 1, "{text}: {problems:?}");
            assert!(problems[0].at == at && problems[0].message.contains(expected), "{text}: {problems:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(fields in "[a-z=\\-0-9T:+.é ]{0,60}") {
            for open in ["# SCAFFOLD:", "<!-- template=", "\"\"\"SCAFFOLD "] {
                if let Some(header) = FoundHeader::parse(&format!("{open}{fields}")) {
                    header.problems();
                }
            }
        }
    }
}
