//! The tree of a policy text, with typed access to its values.
//!
//! Invariant: a value of another type than expected gives a [`PolicyError`] with its line and column.

pub(super) use super::policy_error::{MAX_WORD, PolicyError, TextPosition, clipped, unknown};
use super::value_shape::{Range, Setting, ValueShape};
use regex::Regex;

/// A key of a map, and its position in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MapKey {
    pub(super) position: TextPosition,
    pub(super) name: String,
}

impl MapKey {
    /// Rejects a name with other characters than letters, digits and `_`.
    pub(super) fn check_plain(&self, what: &str) -> Result<(), PolicyError> {
        if self.name.is_empty() || !self.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(self.fault(format!("{what} may contain only letters, digits and `_`")));
        }
        Ok(())
    }

    pub(super) fn fault(&self, message: impl Into<String>) -> PolicyError {
        PolicyError::new(self.position, message)
    }
}

/// A value, and its position in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct YamlNode {
    pub(super) position: TextPosition,
    pub(super) value: YamlValue,
}

/// A YAML value of the supported types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum YamlValue {
    /// `null`, `~`, or nothing after the colon.
    Nothing,
    Flag(bool),
    /// A whole number from 0 to 2^64 - 1.
    Whole(u64),
    /// Any other number, as text.
    Number(String),
    Text(String),
    List(Vec<YamlNode>),
    Map(Vec<(MapKey, YamlNode)>),
}

impl YamlValue {
    /// The value in the words of a message.
    pub(super) fn describe(&self) -> String {
        match self {
            YamlValue::Nothing => "nothing".to_owned(),
            YamlValue::Flag(flag) => format!("`{flag}`"),
            YamlValue::Whole(number) => format!("the number {number}"),
            YamlValue::Number(number) => format!("the number {}", clipped(number, MAX_WORD)),
            YamlValue::Text(text) => format!("the text `{}`", clipped(text, MAX_WORD)),
            YamlValue::List(_) => "a list".to_owned(),
            YamlValue::Map(_) => "a map".to_owned(),
        }
    }

    /// The value with the digits to write instead, if it is a whole number in another form, such as `1e6`.
    pub(super) fn describe_number(&self) -> String {
        let value = self.describe();
        match self {
            YamlValue::Number(number) => match number.strip_suffix(".0") {
                Some(digits) if !digits.starts_with('-') => format!("{value}: write `{digits}`"),
                Some(_) | None => value,
            },
            _ => value,
        }
    }
}

impl YamlNode {
    /// Compiles the text as a pattern in multi-line mode, with a memory limit.
    pub(super) fn regex(&self, what: &str) -> Result<Regex, PolicyError> {
        let pattern = self.text(what)?;
        if pattern.is_empty() {
            return Err(self.fault(format!("{what} is empty, so it matches every text: write a pattern")));
        }
        regex::RegexBuilder::new(pattern).multi_line(true).size_limit(1 << 20).build().map_err(|error| {
            let message = error.to_string();
            let reason = message.lines().last().unwrap_or_default().trim_start_matches("error: ");
            self.fault(format!("{what} is not a regular expression: {reason}"))
        })
    }

    pub(super) fn fault(&self, message: impl Into<String>) -> PolicyError {
        PolicyError::new(self.position, message)
    }

    fn wrong_type(&self, what: &str, expected: &str) -> PolicyError {
        self.fault(format!("{what} must be {expected}, not {}", self.value.describe()))
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.value == YamlValue::Nothing
    }

    /// The entries of a map, in the text's order.
    pub(super) fn entries(&self, what: &str) -> Result<&[(MapKey, YamlNode)], PolicyError> {
        let YamlValue::Map(entries) = &self.value else { return Err(self.wrong_type(what, "a map")) };
        Ok(entries)
    }

    /// A map whose keys are all among `known`.
    pub(super) fn fields(&self, what: &str, known: &[&str]) -> Result<MapFields<'_>, PolicyError> {
        let entries = self.entries(what)?;
        match entries.iter().find(|(key, _)| !known.contains(&key.name.as_str())) {
            Some((key, _)) => Err(key.fault(unknown("key", &key.name, known))),
            None => Ok(MapFields { position: self.position, entries, tables: &[] }),
        }
    }

    /// A map whose keys are all in these tables.
    pub(super) fn settings<'a>(
        &'a self,
        what: &str,
        tables: &'a [&'static [Setting]],
    ) -> Result<MapFields<'a>, PolicyError> {
        let known: Vec<&str> = tables.iter().copied().flatten().map(|setting| setting.name).collect();
        Ok(MapFields { tables, ..self.fields(what, &known)? })
    }

    pub(super) fn list(&self, what: &str) -> Result<&[YamlNode], PolicyError> {
        let YamlValue::List(items) = &self.value else { return Err(self.wrong_type(what, "a list")) };
        Ok(items)
    }

    pub(super) fn text(&self, what: &str) -> Result<&str, PolicyError> {
        let YamlValue::Text(text) = &self.value else { return Err(self.wrong_type(what, "a text")) };
        Ok(text)
    }

    /// A whole number in a range.
    pub(super) fn whole(&self, what: &str, range: Range) -> Result<u64, PolicyError> {
        let YamlValue::Whole(number) = &self.value else {
            let value = self.value.describe_number();
            return Err(self.fault(format!("{what} must be a whole number, not {value}")));
        };
        range.check(self, what, *number)
    }

    /// Returns the value of a word that must be in `known`.
    pub(super) fn one_of<T: Copy>(&self, what: &str, known: &[(&str, T)]) -> Result<T, PolicyError> {
        let words: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        let named = |word: &str| known.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
        self.word(what, &words, named)
    }

    /// Returns the value that `named` has for the word, which must be one of `words`.
    pub(super) fn word<T>(
        &self,
        what: &str,
        words: &[&str],
        named: impl Fn(&str) -> Option<T>,
    ) -> Result<T, PolicyError> {
        let YamlValue::Text(word) = &self.value else {
            return Err(self.wrong_type(what, &format!("one of `{}`", words.join("`, `"))));
        };
        named(word).ok_or_else(|| self.fault(unknown(what.trim_matches('`'), word, words)))
    }

    pub(super) fn texts(&self, what: &str) -> Result<Vec<String>, PolicyError> {
        self.list(what)?.iter().map(|item| item.text(what).map(str::to_owned)).collect()
    }

    /// Reads texts. A text that `is_wrong` is an error, whose reason follows `what`.
    pub(super) fn texts_unless(
        &self,
        what: &str,
        is_wrong: impl Fn(&str) -> bool,
        reason: &str,
    ) -> Result<Vec<String>, PolicyError> {
        match self.list(what)?.iter().find(|item| item.text(what).is_ok_and(&is_wrong)) {
            Some(item) => Err(item.fault(format!("{what} {reason}"))),
            None => self.texts(what),
        }
    }
}

/// A value that a policy or a definition may have.
pub(super) trait FromNode: Sized {
    /// Reads the value; `what` names it in messages, and the shape has its range.
    fn from_node(node: &YamlNode, what: &str, shape: &ValueShape) -> Result<Self, PolicyError>;
}

impl FromNode for bool {
    fn from_node(node: &YamlNode, what: &str, _: &ValueShape) -> Result<bool, PolicyError> {
        let YamlValue::Flag(flag) = node.value else {
            return Err(node.wrong_type(what, "`true` or `false`"));
        };
        Ok(flag)
    }
}

impl FromNode for String {
    fn from_node(node: &YamlNode, what: &str, _: &ValueShape) -> Result<String, PolicyError> {
        node.text(what).map(str::to_owned)
    }
}

impl FromNode for Vec<String> {
    fn from_node(node: &YamlNode, what: &str, _: &ValueShape) -> Result<Vec<String>, PolicyError> {
        node.texts(what)
    }
}

impl FromNode for Regex {
    fn from_node(node: &YamlNode, what: &str, _: &ValueShape) -> Result<Regex, PolicyError> {
        node.regex(what)
    }
}

impl Range {
    /// Returns a number from a node if it is in the range.
    pub(super) fn check(self, node: &YamlNode, what: &str, number: u64) -> Result<u64, PolicyError> {
        if (self.min..=self.max).contains(&number) {
            return Ok(number);
        }
        Err(node.fault(format!("{what} must be {}", self.description)))
    }
}

/// The fields of a map whose keys are known.
#[derive(Debug, Clone, Copy)]
pub(super) struct MapFields<'a> {
    position: TextPosition,
    pub(super) entries: &'a [(MapKey, YamlNode)],
    tables: &'a [&'static [Setting]],
}

impl<'a> MapFields<'a> {
    pub(super) fn get(&self, name: &str) -> Option<&'a YamlNode> {
        self.entries.iter().find(|(key, _)| key.name == name).map(|(_, node)| node)
    }

    pub(super) fn require(&self, name: &str) -> Result<&'a YamlNode, PolicyError> {
        self.get(name).ok_or_else(|| PolicyError::new(self.position, format!("the key `{name}` is missing")))
    }

    /// Reads a field that may be left out.
    pub(super) fn optional<T>(
        &self,
        name: &str,
        read: impl FnOnce(&'a YamlNode, &str) -> Result<T, PolicyError>,
    ) -> Result<Option<T>, PolicyError> {
        self.get(name).map(|node| read(node, &format!("`{name}`"))).transpose()
    }

    /// Reads a field; without it, the value is `absent`.
    pub(super) fn read<T: FromNode>(&self, name: &str, absent: T) -> Result<T, PolicyError> {
        Ok(self.read_optional(name)?.unwrap_or(absent))
    }

    pub(super) fn read_optional<T: FromNode>(&self, name: &str) -> Result<Option<T>, PolicyError> {
        self.optional(name, |node, what| T::from_node(node, what, self.shape(name)))
    }

    pub(super) fn read_required<T: FromNode>(&self, name: &str) -> Result<T, PolicyError> {
        T::from_node(self.require(name)?, &format!("`{name}`"), self.shape(name))
    }

    /// Reads each item of a list; none if it is left out.
    pub(super) fn each<T>(
        &self,
        name: &str,
        read: impl Fn(&'a YamlNode, &str) -> Result<T, PolicyError>,
    ) -> Result<Vec<T>, PolicyError> {
        let items = self.optional(name, YamlNode::list)?.unwrap_or_default();
        items.iter().map(|item| read(item, &format!("`{name}`"))).collect()
    }

    /// Reads each entry of a map; none if it is left out.
    pub(super) fn each_entry<T>(
        &self,
        name: &str,
        read: impl Fn(&'a MapKey, &'a YamlNode) -> Result<T, PolicyError>,
    ) -> Result<Vec<T>, PolicyError> {
        let entries = self.optional(name, YamlNode::entries)?.unwrap_or_default();
        entries.iter().map(|(key, value)| read(key, value)).collect()
    }

    /// Returns the fields of a map; none if it is left out.
    pub(super) fn map(&self, name: &str) -> Result<MapFields<'a>, PolicyError> {
        let tables = if let ValueShape::Map(tables) = self.shape(name) { *tables } else { &[] };
        let fields = self.optional(name, |node, what| node.settings(what, tables))?;
        Ok(fields.unwrap_or(MapFields { entries: &[], tables, ..*self }))
    }

    fn shape(&self, name: &str) -> &'static ValueShape {
        let mut settings = self.tables.iter().copied().flatten();
        settings.find(|setting| setting.name == name).map_or(&ValueShape::Text, |setting| &setting.shape)
    }
}
