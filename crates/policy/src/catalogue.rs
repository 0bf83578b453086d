//! The catalogue of gates that lockgate ships, by name.
//!
//! Invariant: the catalogue is the files of `gates/`, each read once at most; each gate is there once.

use std::sync::{Arc, OnceLock};

use super::definition::{self, Gate};
use super::node::YamlNode;
use super::yaml;
use lockgate_gates::DEFINITIONS;
use lockgate_text::Version;

/// The gates of the catalogue, each parsed on first use: there are many, and a policy names few.
#[derive(Debug)]
pub struct Catalogue {
    gates: [OnceLock<Arc<Gate>>; DEFINITIONS.len()],
    all: OnceLock<Vec<Arc<Gate>>>,
}

impl Catalogue {
    /// Returns the catalogue that is embedded in the binary.
    pub fn embedded() -> &'static Catalogue {
        static CATALOGUE: Catalogue =
            Catalogue { gates: [const { OnceLock::new() }; DEFINITIONS.len()], all: OnceLock::new() };
        &CATALOGUE
    }

    /// Returns every gate, in the order of the catalogue.
    pub fn gates(&self) -> &[Arc<Gate>] {
        self.all.get_or_init(|| self.files().map(|(file, cell)| Arc::clone(parse(file, cell))).collect())
    }

    /// Returns the gate of this name.
    pub fn find(&self, name: &str) -> Option<&Arc<Gate>> {
        self.files().find(|((known, _), _)| *known == name).map(|(file, cell)| parse(file, cell))
    }

    /// Returns the name of every gate, in the order of the catalogue.
    pub fn names() -> impl Iterator<Item = &'static str> {
        DEFINITIONS.iter().map(|(name, _)| *name)
    }

    fn files(&self) -> impl Iterator<Item = (&'static (&'static str, &'static str), &OnceLock<Arc<Gate>>)> {
        DEFINITIONS.iter().zip(&self.gates)
    }
}

fn parse<'a>((name, text): &(&str, &str), cell: &'a OnceLock<Arc<Gate>>) -> &'a Arc<Gate> {
    cell.get_or_init(|| {
        let convert = |root: &YamlNode| definition::gate(name, root, Version::hash(text.as_bytes()));
        Arc::new(yaml::read_embedded(&format!("gates/{name}.yaml"), text, convert))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GateKind, Languages, PatternRules, language_named, languages};

    #[test]
    fn every_definition_reads_and_has_good_and_bad_samples() {
        for gate in Catalogue::embedded().gates() {
            assert!(gate.samples.iter().any(|sample| sample.finds.is_empty()), "{}", gate.name);
            assert!(gate.samples.iter().any(|sample| !sample.finds.is_empty()), "{}", gate.name);
            assert_ne!(gate.languages, Languages::Only(Vec::new()), "{}", gate.name);
        }
    }

    #[test]
    fn every_language_has_a_gate() {
        let gates = Catalogue::embedded().gates();
        for language in languages() {
            assert!(gates.iter().any(|gate| gate.covers(Some(language))), "{}", language.name);
        }
        let markdown = Catalogue::embedded().find("markdown-structure").unwrap();
        assert!(matches!(markdown.kind, GateKind::Pattern(PatternRules::Markdown)));
        assert!(!markdown.covers(language_named("python")) && !markdown.covers(None));
    }
}
