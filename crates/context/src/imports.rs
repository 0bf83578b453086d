//! The imports of a text, and their sources.

use std::collections::HashMap;

use super::use_context::{UseContext, receiver};
use lockgate_syntax::TagRole;

/// The imports, by their names in the text.
pub(super) struct Imports<'a> {
    /// Modules, each with the last part of its own path.
    modules: HashMap<&'a str, &'a str>,
    /// Other imports, each with its original name.
    things: HashMap<&'a str, &'a str>,
    /// The source of each import, by its position in the text.
    sources: HashMap<usize, String>,
}

impl<'a> Imports<'a> {
    /// Collects the imports of a text.
    pub(super) fn new(use_context: &'a UseContext<'_>) -> Imports<'a> {
        let (mut modules, mut things) = (HashMap::new(), HashMap::new());
        let mut last: Option<(TagRole, &str)> = None;
        for (meaning, span) in use_context.places {
            let Some(name) = use_context.view.get(span.clone()) else { continue };
            let bare = if use_context.language == "go" { package(name) } else { name };
            last = match (meaning, last) {
                (TagRole::Module, Some((TagRole::Alias, alias))) if use_context.language == "go" => {
                    modules.insert(alias, bare);
                    None
                }
                (TagRole::Alias, Some((TagRole::Module, module))) => {
                    modules.insert(name, module);
                    None
                }
                (TagRole::Alias, Some((TagRole::Import, thing))) => {
                    things.insert(name, thing);
                    None
                }
                (TagRole::Module, _) => {
                    modules.insert(bare, bare);
                    Some((TagRole::Module, bare))
                }
                (TagRole::Import, _) => {
                    things.insert(name, name);
                    Some((TagRole::Import, name))
                }
                (TagRole::Alias, _) => Some((TagRole::Alias, name)),
                _ => last.filter(|(kind, _)| *kind != TagRole::Alias),
            };
        }
        Imports { modules, things, sources: sources(use_context) }
    }

    /// Returns the original name of an import.
    pub(super) fn true_name<'n>(&'n self, name: &'n str) -> &'n str {
        self.things.get(name).copied().unwrap_or(name)
    }

    /// Returns the module that a name stands for.
    pub(super) fn module(&self, name: &str) -> Option<&str> {
        self.modules.get(name).copied()
    }

    /// Returns the original name of the import that a name stands for.
    pub(super) fn thing(&self, name: &str) -> Option<&str> {
        self.things.get(name).copied()
    }

    /// Returns the source of the import at this position; `?` if it is unknown, empty for a relative
    /// one.
    pub(super) fn source(&self, at: usize) -> &str {
        self.sources.get(&at).map_or("?", String::as_str)
    }
}

/// Returns the source of each import, by position.
fn sources(use_context: &UseContext<'_>) -> HashMap<usize, String> {
    let mut sources = HashMap::new();
    let (mut last, mut open) = (None, Vec::new());
    for (meaning, span) in use_context.places {
        match (meaning, use_context.language) {
            (TagRole::From, "python") => {
                last = use_context.view.get(span.clone()).map(|from| from.trim_start_matches('.'))
            }
            (TagRole::From, _) => {
                let from = use_context.view.get(span.clone()).map(module).unwrap_or_default();
                sources.extend(open.drain(..).map(|at| (at, from.clone())));
            }
            (TagRole::Import, "python") => sources.extend(last.map(|from| (span.start, from.to_owned()))),
            (TagRole::Import, "rust" | "java") => {
                let from = receiver(use_context.view, span.start).1;
                let is_own_crate = matches!(from, Some("crate" | "self" | "super"));
                sources
                    .extend(from.map(|from| (span.start, if is_own_crate { "" } else { from }.to_owned())));
            }
            (TagRole::Import | TagRole::Reexport, _) => open.push(span.start),
            _ => {}
        }
    }
    sources
}

/// Returns the parts of a module's path that name folders and files.
fn module(path: &str) -> String {
    let path = path.trim_matches(['"', '\'', '`']);
    let is_named = |part: &&str| !matches!(*part, "" | "." | "..") && !part.starts_with(['@', '~']);
    let mut parts: Vec<&str> = path.split('/').filter(is_named).collect();
    if let Some(last) = parts.pop() {
        let stem = last.split('.').next().unwrap_or(last);
        parts.extend((stem != "index").then_some(stem));
    }
    parts.join(".")
}

/// Returns the name of the Go package at this path.
fn package(path: &str) -> &str {
    let path = path.trim_matches(['"', '`']);
    let is_version = |part: &str| {
        part.strip_prefix('v')
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    let mut parts = path.rsplit('/');
    let last = parts.next().unwrap_or(path);
    let last = if is_version(last) { parts.next().unwrap_or(last) } else { last };
    match last.rsplit_once('.') {
        Some((name, version)) if is_version(version) => name,
        Some(_) | None => last,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_identified_by_folders_and_files() {
        for (path, parts) in [
            ("'./json/provider.js'", "json.provider"),
            ("\"../index\"", ""),
            ("'@acme/ui/button'", "ui.button"),
            ("'react'", "react"),
            ("'./a.test.ts'", "a"),
        ] {
            assert_eq!(module(path), parts);
        }
    }

    #[test]
    fn packages_are_known_by_their_last_part() {
        for (path, name) in [
            ("\"net/http\"", "http"),
            ("\"example.org/a/b/v3\"", "b"),
            ("`gopkg.in/yaml.v3`", "yaml"),
            ("\"v1\"", "v1"),
        ] {
            assert_eq!(package(path), name);
        }
    }
}
