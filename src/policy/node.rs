//! The tree of a policy text, and the questions that are asked of it.
//!
//! Invariant: every answer that is not the one asked for is a [`Fault`] that knows its line and column.

pub(super) use super::fault::{Fault, LONGEST_WORD, Mark, clipped, unknown};
use super::shape::{Range, Setting};

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

    /// A map whose keys are all in these tables.
    pub(super) fn settings(&self, what: &str, tables: &[&[Setting]]) -> Result<Fields<'_>, Fault> {
        let known: Vec<&str> = tables.iter().copied().flatten().map(|setting| setting.name).collect();
        self.fields(what, &known)
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

    /// A whole number in a range.
    pub(super) fn within(&self, what: &str, range: Range) -> Result<u64, Fault> {
        range.check(self, what, self.whole(what)?)
    }

    /// One of a few words, as what it stands for.
    pub(super) fn one_of<T: Copy>(&self, what: &str, known: &[(&str, T)]) -> Result<T, Fault> {
        let word = self.text(what)?;
        known.iter().find(|(name, _)| *name == word).map(|(_, meant)| *meant).ok_or_else(|| {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            self.fault(unknown(what.trim_matches('`'), word, &names))
        })
    }

    /// A list of texts.
    pub(super) fn texts(&self, what: &str) -> Result<Vec<String>, Fault> {
        self.list(what)?.iter().map(|item| item.text(what).map(str::to_owned)).collect()
    }
}

impl Range {
    /// A number that was read from a node, when it is in the range.
    pub(super) fn check(self, node: &Node, what: &str, number: u64) -> Result<u64, Fault> {
        if (self.least..=self.most).contains(&number) {
            return Ok(number);
        }
        Err(node.fault(format!("{what} must be {}", self.said)))
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
