//! Every gate that lockgate ships, by name.
//!
//! Invariant: the catalogue is the files of `gates/`, read once; each gate is there once.

use std::sync::{Arc, OnceLock};

use super::definition::{self, Gate};
use super::yaml;
use crate::error::Error;

/// The definitions that are compiled in: a name for a policy, and the text.
const FILES: [(&str, &str); 2] = [
    ("syntax", include_str!("../../gates/syntax.yaml")),
    ("markdown-structure", include_str!("../../gates/markdown-structure.yaml")),
];

/// The gates that a policy can name.
#[derive(Debug)]
pub struct Catalogue {
    gates: Vec<Arc<Gate>>,
}

impl Catalogue {
    /// The catalogue that is compiled in.
    pub fn embedded() -> &'static Catalogue {
        static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();
        CATALOGUE.get_or_init(|| {
            let raised = FILES.iter().map(|(name, text)| {
                yaml::read(&format!("gates/{name}.yaml"), text, |root| definition::gate(name, root))
                    .map(Arc::new)
            });
            Catalogue { gates: compiled_in(raised.collect()) }
        })
    }

    /// Every gate, in the order of the catalogue.
    pub fn gates(&self) -> &[Arc<Gate>] {
        &self.gates
    }

    /// The gate of this name.
    pub fn find(&self, name: &str) -> Option<&Arc<Gate>> {
        self.gates.iter().find(|gate| gate.name == name)
    }
}

/// What was read from a text that is part of the program.
pub(super) fn compiled_in<T>(read: Result<T, Error>) -> T {
    match read {
        Ok(value) => value,
        // No input reaches this: the texts are constants, and a test reads each of them.
        Err(error) => unreachable!("{error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Kind, Languages, PatternRules, language_named, languages};

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
        assert!(matches!(markdown.kind, Kind::Pattern(PatternRules::Markdown)));
        assert!(!markdown.covers(language_named("python")) && !markdown.covers(None));
    }
}
