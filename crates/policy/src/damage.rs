//! The rules of the gate `damage`: accidents that agents make when they edit a text, each with its weight.

use super::node::{MapKey, PolicyError, YamlNode};
use super::value_shape::Absent::Is;
use super::value_shape::ValueShape::Words;
use super::value_shape::{Setting, ValueShape, names_of, tables};

/// A kind of accidental damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Accident {
    /// Line numbers or diff marks in front of new lines.
    LinePrefixes,
    /// A placeholder such as `... rest of code unchanged`.
    ElidedCode,
    /// The markers of a merge conflict.
    ConflictMarkers,
    /// A line at the edge of the edit that occurs twice.
    DoubledLines,
    /// A file that shrank to under a quarter.
    ShrunkFile,
    /// New typographic quotes in code.
    TypographicQuotes,
    /// Escaped newlines written as text.
    EscapedNewlines,
    /// Tabs that the edit turned into spaces.
    TabsToSpaces,
    /// Decorators or attributes lost above an edited symbol.
    LostDecorators,
    /// NUL bytes in the text.
    NulBytes,
    /// A replaced line that is indented less, and so leaves its block.
    LostIndentation,
    /// A removed definition that other files use.
    UsedDefinitions,
    /// Definitions missing from a new content of the whole file.
    DroppedDefinitions,
}

/// The effect of a rule's finding on an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// The finding rejects the edit, if the gate may block.
    Block,
    /// The finding is only reported.
    Warn,
    /// The rule is disabled and reports nothing.
    Off,
}

pub(super) const WEIGHTS: [(&str, Weight); 3] =
    [("block", Weight::Block), ("warn", Weight::Warn), ("off", Weight::Off)];

impl Accident {
    /// Every rule with its default weight, in the order of the documentation.
    pub const ALL: [(Accident, Weight); 13] = [
        (Accident::LinePrefixes, Weight::Block),
        (Accident::ElidedCode, Weight::Block),
        (Accident::ConflictMarkers, Weight::Block),
        (Accident::DoubledLines, Weight::Warn),
        (Accident::ShrunkFile, Weight::Warn),
        (Accident::TypographicQuotes, Weight::Block),
        (Accident::EscapedNewlines, Weight::Block),
        (Accident::TabsToSpaces, Weight::Warn),
        (Accident::LostDecorators, Weight::Warn),
        (Accident::NulBytes, Weight::Block),
        (Accident::LostIndentation, Weight::Warn),
        (Accident::UsedDefinitions, Weight::Warn),
        (Accident::DroppedDefinitions, Weight::Warn),
    ];

    /// The rule's name, in a policy and as the code of its findings.
    pub const fn name(self) -> &'static str {
        match self {
            Accident::LinePrefixes => "line_prefixes",
            Accident::ElidedCode => "elided_code",
            Accident::ConflictMarkers => "conflict_markers",
            Accident::DoubledLines => "doubled_lines",
            Accident::ShrunkFile => "shrunk_file",
            Accident::TypographicQuotes => "typographic_quotes",
            Accident::EscapedNewlines => "escaped_newlines",
            Accident::TabsToSpaces => "tabs_to_spaces",
            Accident::LostDecorators => "lost_decorators",
            Accident::NulBytes => "nul_bytes",
            Accident::LostIndentation => "lost_indentation",
            Accident::UsedDefinitions => "used_definitions",
            Accident::DroppedDefinitions => "dropped_definitions",
        }
    }
}

/// The weight of every rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damage([(Accident, Weight); 13]);

impl Default for Damage {
    fn default() -> Damage {
        Damage(Accident::ALL)
    }
}

impl Damage {
    /// Returns the weight of this rule.
    pub fn weight(&self, accident: Accident) -> Weight {
        self.0.iter().find(|(known, _)| *known == accident).map_or(Weight::Off, |(_, weight)| *weight)
    }

    /// Reads `damage`; rules that it does not mention keep their weight.
    pub(super) fn read(mut self, node: &YamlNode, what: &str) -> Result<Damage, PolicyError> {
        node.settings(what, &[DAMAGE])?;
        for (MapKey { name, .. }, node) in node.entries(what)? {
            let weight = node.one_of(&format!("`{name}`"), &WEIGHTS)?;
            self.0.iter_mut().filter(|(rule, _)| rule.name() == name).for_each(|rule| rule.1 = weight);
        }
        Ok(self)
    }
}

tables! {
    /// The rules of the gate `damage`.
    DAMAGE {
        "line_prefixes": WEIGHT, Is("block") => "line numbers or diff marks in front of new lines, or a code fence around them";
        "elided_code": WEIGHT, Is("block") => "a placeholder such as `... rest of code unchanged`";
        "conflict_markers": WEIGHT, Is("block") => "conflict markers";
        "doubled_lines": WEIGHT, Is("warn") => "a duplicated line at the edge of the edit";
        "shrunk_file": WEIGHT, Is("warn") => "a file that shrank to under a quarter";
        "typographic_quotes": WEIGHT, Is("block") => "new typographic quotes in code";
        "escaped_newlines": WEIGHT, Is("block") => "escaped newlines written as text";
        "tabs_to_spaces": WEIGHT, Is("warn") => "tabs turned to spaces";
        "lost_decorators": WEIGHT, Is("warn") => "decorators or attributes lost above an edited symbol";
        "nul_bytes": WEIGHT, Is("block") => "NUL bytes";
        "lost_indentation": WEIGHT, Is("warn") => "a replaced line that is indented less than before, and so leaves its block";
        "used_definitions": WEIGHT, Is("warn") => "a removed definition that other files still use, by the index";
        "dropped_definitions": WEIGHT, Is("warn") => "definitions of an existing file that `content` lacks";
    }
}
const WEIGHT: ValueShape = Words(&names_of(&WEIGHTS));

#[cfg(test)]
mod tests {
    use super::super::value_shape::Absent;
    use super::*;

    #[test]
    fn the_table_of_keys_says_what_the_rules_do() {
        let word_of = |weight: Weight| WEIGHTS.iter().find(|(_, known)| *known == weight).unwrap().0;
        let rules: Vec<_> =
            Accident::ALL.iter().map(|(rule, weight)| (rule.name(), Absent::Is(word_of(*weight)))).collect();
        let keys: Vec<_> = DAMAGE.iter().map(|key| (key.name, key.absent)).collect();
        assert_eq!(rules, keys);
    }
}
