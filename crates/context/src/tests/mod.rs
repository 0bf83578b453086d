//! Tests of code context in small workspaces.

mod answers;
mod languages;
mod uses;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{AnswerInput, ContextQuery, Index, Tags, VersionedText, answer, reading};
use lockgate_policy::language_of;
use lockgate_protocol::{ContextReference, ContextResponse, ContextSymbol};
use lockgate_text::Version;

pub(super) struct World(pub(super) BTreeMap<String, String>);

impl World {
    pub(super) fn new(files: &[(&str, &str)]) -> World {
        World(files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect())
    }

    pub(super) fn index(&self) -> Index {
        let mut index = Index::new("home");
        reading(|reader| {
            for (path, text) in &self.0 {
                let language = language_of(path, None).expect(path);
                if let Some(tags) = reader.tags(&language.name, path, text) {
                    index.put(path, Version::hash(text.as_bytes()), &tags);
                }
            }
        })
        .unwrap();
        index
    }

    pub(super) fn page(&self, path: &str) -> Option<Arc<VersionedText>> {
        let text = self.0.get(path)?;
        Some(Arc::new(VersionedText::new(text.clone(), Version::hash(text.as_bytes()))))
    }

    pub(super) fn ask(&self, question: ContextQuery<'_>) -> ContextResponse {
        let page = question.near.map(|near_path| self.page(near_path).unwrap());
        let tags = question.near.and_then(|near_path| tags(near_path, &self.0[near_path]));
        let target = page.as_deref().map(|page| (page, tags.as_ref()));
        let input = AnswerInput { target, ..AnswerInput::default() };
        answer(&self.index(), &question, input, &mut |path| self.page(path))
    }

    pub(super) fn symbol(&self, name: &str) -> ContextResponse {
        self.ask(ContextQuery { symbol: Some(name), ..NOTHING })
    }
}

pub(super) const NOTHING: ContextQuery<'static> =
    ContextQuery { symbol: None, query: None, near: None, tokens: 10_000 };

pub(super) fn tags(path: &str, text: &str) -> Option<Tags> {
    let language = &language_of(path, None).expect(path).name;
    reading(|reader| reader.tags(language, path, text)).unwrap()
}

/// Symbols as `file:line name`.
pub(super) fn at(symbols: &[ContextSymbol]) -> Vec<String> {
    symbols.iter().map(|it| format!("{}:{} {}", it.path, it.line, it.name)).collect()
}

/// References as `file:line`, with the symbol around.
pub(super) fn used(references: &Option<Vec<ContextReference>>) -> Vec<String> {
    let within =
        |it: &ContextReference| it.within.as_deref().map(|within| format!(" {within}")).unwrap_or_default();
    references.iter().flatten().map(|it| format!("{}:{}{}", it.path, it.line, within(it))).collect()
}
