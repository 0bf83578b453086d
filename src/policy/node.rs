//! The tree of a policy text, and the questions that are asked of it.
//!
//! Invariant: every answer that is not the one asked for is a [`Fault`] that knows its line and column.

use crate::error::{Code, Error};
use crate::text::{nearest, steers};

/// How much of a line is shown around a fault, in characters.
const EXCERPT: usize = 100;
/// The longest word that is shown, in characters.
pub(super) const LONGEST_WORD: usize = 64;
/// The longest message, without name and excerpt, in characters.
const LONGEST_MESSAGE: usize = 400;

/// A place in the text: 1-based line, 1-based column in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) line: usize,
    pub(super) column: usize,
}

impl Mark {
    /// The first character of the text.
    pub(super) const START: Mark = Mark { line: 1, column: 1 };
}

/// What is wrong, and where; the text's name and the excerpt are added at the door.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    mark: Mark,
    message: String,
}

impl Fault {
    pub(super) fn new(mark: Mark, message: impl Into<String>) -> Fault {
        Fault { mark, message: message.into() }
    }

    /// The refusal: `file:line:column: what`, the line, and a caret under the column.
    pub(super) fn into_error(self, name: &str, text: &str) -> Error {
        let Mark { line, column } = self.mark;
        let mut message = format!("{name}:{line}:{column}: {}", clipped(&self.message, LONGEST_MESSAGE));
        if let Some(shown) = excerpt(text, self.mark) {
            message.push_str(&shown);
        }
        Error::new(Code::PolicyInvalid, message)
    }
}

/// A key of a map, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) mark: Mark,
    pub(super) name: String,
}

impl Key {
    pub(super) fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::new(self.mark, message)
    }
}

/// A value, and where it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) mark: Mark,
    pub(super) value: Value,
}

/// What YAML can say here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// `null`, `~`, or nothing after the colon.
    Nothing,
    Flag(bool),
    /// A whole number from 0 to 2^64 - 1.
    Whole(u64),
    /// Any other number, as text.
    Number(String),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

impl Value {
    /// The value in the words of a message.
    pub(super) fn described(&self) -> String {
        match self {
            Value::Nothing => "nothing".to_owned(),
            Value::Flag(flag) => format!("`{flag}`"),
            Value::Whole(number) => format!("the number {number}"),
            Value::Number(number) => format!("the number {}", clipped(number, LONGEST_WORD)),
            Value::Text(text) => format!("the text `{}`", clipped(text, LONGEST_WORD)),
            Value::List(_) => "a list".to_owned(),
            Value::Map(_) => "a map".to_owned(),
        }
    }
}

impl Node {
    pub(super) fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::new(self.mark, message)
    }

    fn unlike(&self, what: &str, wanted: &str) -> Fault {
        self.fault(format!("{what} must be {wanted}, not {}", self.value.described()))
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.value == Value::Nothing
    }

    /// The entries of a map, in the text's order.
    pub(super) fn entries(&self, what: &str) -> Result<&[(Key, Node)], Fault> {
        match &self.value {
            Value::Map(entries) => Ok(entries),
            Value::Nothing
            | Value::Flag(_)
            | Value::Whole(_)
            | Value::Number(_)
            | Value::Text(_)
            | Value::List(_) => Err(self.unlike(what, "a map")),
        }
    }

    /// A map whose keys are all among `known`.
    pub(super) fn fields(&self, what: &str, known: &[&str]) -> Result<Fields<'_>, Fault> {
        let entries = self.entries(what)?;
        match entries.iter().find(|(key, _)| !known.contains(&key.name.as_str())) {
            Some((key, _)) => Err(key.fault(unknown("key", &key.name, known))),
            None => Ok(Fields { mark: self.mark, entries }),
        }
    }

    pub(super) fn list(&self, what: &str) -> Result<&[Node], Fault> {
        match &self.value {
            Value::List(items) => Ok(items),
            Value::Nothing
            | Value::Flag(_)
            | Value::Whole(_)
            | Value::Number(_)
            | Value::Text(_)
            | Value::Map(_) => Err(self.unlike(what, "a list")),
        }
    }

    pub(super) fn text(&self, what: &str) -> Result<&str, Fault> {
        match &self.value {
            Value::Text(text) => Ok(text),
            Value::Nothing
            | Value::Flag(_)
            | Value::Whole(_)
            | Value::Number(_)
            | Value::List(_)
            | Value::Map(_) => Err(self.unlike(what, "a text")),
        }
    }

    pub(super) fn flag(&self, what: &str) -> Result<bool, Fault> {
        match &self.value {
            Value::Flag(flag) => Ok(*flag),
            Value::Nothing
            | Value::Whole(_)
            | Value::Number(_)
            | Value::Text(_)
            | Value::List(_)
            | Value::Map(_) => Err(self.unlike(what, "`true` or `false`")),
        }
    }

    pub(super) fn whole(&self, what: &str) -> Result<u64, Fault> {
        match &self.value {
            Value::Whole(number) => Ok(*number),
            Value::Nothing
            | Value::Flag(_)
            | Value::Number(_)
            | Value::Text(_)
            | Value::List(_)
            | Value::Map(_) => Err(self.unlike(what, "a whole number")),
        }
    }

    /// A list of texts.
    pub(super) fn texts(&self, what: &str) -> Result<Vec<String>, Fault> {
        self.list(what)?.iter().map(|item| item.text(what).map(str::to_owned)).collect()
    }
}

/// The fields of a map whose keys are known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a> {
    mark: Mark,
    entries: &'a [(Key, Node)],
}

impl<'a> Fields<'a> {
    pub(super) fn get(&self, name: &str) -> Option<&'a Node> {
        self.entries.iter().find(|(key, _)| key.name == name).map(|(_, node)| node)
    }

    pub(super) fn require(&self, name: &str) -> Result<&'a Node, Fault> {
        self.get(name).ok_or_else(|| Fault::new(self.mark, format!("the key `{name}` is missing")))
    }

    /// Reads a field that may be left out.
    pub(super) fn optional<T>(
        &self,
        name: &str,
        read: impl FnOnce(&'a Node, &str) -> Result<T, Fault>,
    ) -> Result<Option<T>, Fault> {
        self.get(name).map(|node| read(node, &format!("`{name}`"))).transpose()
    }
}

/// `unknown key `x`, did you mean `y`? known: ...`
pub(super) fn unknown(what: &str, word: &str, known: &[&str]) -> String {
    let guess = nearest(word, known.iter().copied())
        .map_or_else(String::new, |near| format!(", did you mean `{near}`?"));
    format!("unknown {what} `{}`{guess} (known: {})", clipped(word, LONGEST_WORD), known.join(", "))
}

/// At most `limit` characters of a text, none of which can move a cursor.
pub(super) fn clipped(text: &str, limit: usize) -> String {
    let mut shown: String = text.chars().take(limit).map(printable).collect();
    if text.chars().nth(limit).is_some() {
        shown.push_str("...");
    }
    shown
}

/// A character that moves no cursor, starts no escape sequence and is seen.
fn printable(character: char) -> char {
    match character {
        '\n' | '\t' => ' ',
        hidden if steers(hidden) => char::REPLACEMENT_CHARACTER,
        plain => plain,
    }
}

/// The line at fault, with a caret below; a long line is cut around the caret.
fn excerpt(text: &str, mark: Mark) -> Option<String> {
    let line = yaml_lines(text).nth(mark.line - 1)?;
    let skipped = mark.column.saturating_sub(1).saturating_sub(EXCERPT / 2);
    let skipped = if line.chars().count() > EXCERPT { skipped } else { 0 };
    let shown: String = line.chars().skip(skipped).take(EXCERPT).map(printable).collect();
    let gutter = mark.line.to_string();
    let below = " ".repeat(gutter.len());
    let indent = " ".repeat((mark.column - 1 - skipped).min(EXCERPT));
    Some(format!("\n {gutter} | {shown}\n {below} | {indent}^"))
}

/// The lines as YAML counts them: a lone carriage return ends one too.
fn yaml_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_shown_without_what_could_deceive() {
        assert_eq!(
            unknown("key", "limit", &["limits"]),
            "unknown key `limit`, did you mean `limits`? (known: limits)"
        );
        assert_eq!(
            clipped("a\u{61c}\u{202e}\u{1b}\u{2028}\u{200b}\u{feff}\n\tb", 9),
            "a\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}  ..."
        );
        assert_eq!(clipped("naïve", 9), "naïve");
    }

    #[test]
    fn lines_are_counted_as_yaml_counts_them() {
        assert_eq!(yaml_lines("a\r\nb\rc\nd").collect::<Vec<_>>(), ["a", "b", "c", "d"]);
    }
}
