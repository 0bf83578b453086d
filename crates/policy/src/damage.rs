//! The rules of the gate `damage`: accidents that agents make when they edit a text, each with its weight.

use super::node::{MapFields, PolicyError};
use super::value_shape::tables;
use super::words::words;

words! {
    /// The effect of a rule's finding on an edit.
    pub enum Weight {
        /// The finding rejects the edit, if the gate may block.
        Block = "block",
        /// The finding is only reported.
        Warn = "warn",
        /// The rule is disabled and reports nothing.
        Off = "off",
    }
}

/// Declares the rules of the gate: each has a name, a default weight, and a meaning.
macro_rules! accidents {
    ($($accident:ident = $name:literal, $weight:ident => $meaning:literal;)*) => {
        words! {
            /// A kind of accidental damage; its name is also the code of its findings.
            #[derive(PartialOrd, Ord, Hash)]
            pub enum Accident { $(#[doc = $meaning] $accident = $name,)* }
        }

        impl Accident {
            /// Every rule with its default weight, in the order of the documentation.
            pub const ALL: [(Accident, Weight); [$($name),*].len()] =
                [$((Accident::$accident, Weight::$weight)),*];
        }

        tables! {
            /// The rules of the gate `damage`.
            DAMAGE { $($name: Words(Weight::WORDS), Is(Weight::$weight.name()) => $meaning;)* }
        }
    };
}

accidents! {
    LinePrefixes = "line_prefixes", Block => "line numbers or diff marks in front of new lines, or a code fence around them";
    ElidedCode = "elided_code", Block => "a placeholder such as `... rest of code unchanged`";
    ConflictMarkers = "conflict_markers", Block => "conflict markers";
    DoubledLines = "doubled_lines", Warn => "a duplicated line at the edge of the edit";
    ShrunkFile = "shrunk_file", Warn => "a file that shrank to under a quarter";
    TypographicQuotes = "typographic_quotes", Block => "new typographic quotes in code";
    EscapedNewlines = "escaped_newlines", Block => "escaped newlines written as text";
    TabsToSpaces = "tabs_to_spaces", Warn => "tabs turned to spaces";
    LostDecorators = "lost_decorators", Warn => "decorators or attributes lost above an edited symbol";
    NulBytes = "nul_bytes", Block => "NUL bytes";
    LostIndentation = "lost_indentation", Warn => "a replaced line that is indented less than before, and so leaves its block";
    MissingSeparators = "missing_separators", Block => "a command of a makefile that is indented with spaces";
    UsedDefinitions = "used_definitions", Warn => "a removed definition that other files still use, by the index";
    DroppedDefinitions = "dropped_definitions", Warn => "definitions of an existing file that `content` lacks";
}

/// The weight of every rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damage([(Accident, Weight); Accident::ALL.len()]);

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

    /// Parses `damage`; absent rules keep their weight.
    pub(super) fn read(mut self, policy: &MapFields<'_>) -> Result<Damage, PolicyError> {
        let fields = policy.map("damage")?;
        for (key, _) in fields.entries {
            for (rule, weight) in self.0.iter_mut().filter(|(rule, _)| rule.name() == key.name) {
                *weight = fields.read(rule.name(), *weight)?;
            }
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policy;

    #[test]
    fn each_key_sets_the_weight_of_its_rule_alone() {
        for (rule, _) in Accident::ALL {
            for word in Weight::WORDS {
                let text = format!("damage: {{ {}: {word} }}\n", rule.name());
                let damage = Policy::parse("quality.yaml", &text).unwrap().damage;
                for (other, default) in Accident::ALL {
                    let expected = if other == rule { word } else { default.name() };
                    assert_eq!(damage.weight(other).name(), expected, "{text}{}", other.name());
                }
            }
        }
    }
}
