//! The imports of a text, and their sources.

use std::collections::HashMap;

use super::use_context::{UseContext, receiver};
use lockgate_syntax::TagRole;

/// The maximum number of characters between the brace of a list of imports and an alias in the list.
const MAX_LIST: usize = 4_000;

/// The maximum number of modules that one name stands for. Bundles use a short name for hundreds: then it tells none.
const MAX_MODULES: usize = 4;

/// The imports, by their names in the text.
pub(super) struct Imports<'a> {
    /// Modules, each with the last part of its own path. Functions of one text may use a name for several.
    modules: HashMap<&'a str, Vec<&'a str>>,
    /// Other imports, each with its original name.
    original_names: HashMap<&'a str, &'a str>,
    /// The source of each import, by its position in the text.
    sources: HashMap<usize, String>,
}

impl<'a> Imports<'a> {
    /// Collects the imports of a text.
    pub(super) fn new(use_context: &'a UseContext<'_>) -> Imports<'a> {
        let (mut modules, mut original_names) = (HashMap::new(), HashMap::new());
        let mut add_module = |name: &'a str, module: &'a str| {
            let known: &mut Vec<&str> = modules.entry(name).or_default();
            if known.len() <= MAX_MODULES && !known.contains(&module) {
                known.push(module);
            }
        };
        let mut last: Option<(TagRole, &str)> = None;
        for (role, span) in use_context.roles {
            let Some(name) = use_context.view.get(span.clone()) else { continue };
            let bare = if use_context.language == "go" { package(name) } else { name };
            if *role == TagRole::Alias
                && use_context.language == "rust"
                && let Some(module) = listed_module(use_context.view, span.start)
            {
                original_names.insert(name, module);
                last = None;
                continue;
            }
            last = match (role, last) {
                (TagRole::Module, Some((TagRole::Alias, alias))) if use_context.language == "go" => {
                    add_module(alias, bare);
                    None
                }
                (TagRole::Alias, Some((TagRole::Module, module))) => {
                    add_module(name, module);
                    None
                }
                (TagRole::Alias, Some((TagRole::Import, original))) => {
                    original_names.insert(name, original);
                    None
                }
                (TagRole::Module, _) if is_script(use_context.language) => {
                    add_module(name, script_module(use_context.view, span.end).unwrap_or(name));
                    None
                }
                (TagRole::Module, _) => {
                    add_module(bare, bare);
                    Some((TagRole::Module, bare))
                }
                (TagRole::Import, _) => {
                    original_names.insert(name, name);
                    Some((TagRole::Import, name))
                }
                (TagRole::Alias, _) => Some((TagRole::Alias, name)),
                _ => last.filter(|(kind, _)| *kind != TagRole::Alias),
            };
        }
        Imports { modules, original_names, sources: sources(use_context) }
    }

    /// Returns the modules that a name stands for; none if it stands for something else, or for too many.
    pub(super) fn modules(&self, name: &str) -> &[&'a str] {
        self.modules.get(name).filter(|modules| modules.len() <= MAX_MODULES).map_or(&[], Vec::as_slice)
    }

    /// Returns the original name of the import that a name stands for, if it is no module.
    pub(super) fn original_name(&self, name: &str) -> Option<&'a str> {
        self.original_names.get(name).copied()
    }

    /// Returns the original name of the import that a name stands for, or the name itself.
    pub(super) fn resolved<'n>(&'n self, name: &'n str) -> &'n str {
        self.original_name(name).unwrap_or(name)
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
    for (role, span) in use_context.roles {
        match (role, use_context.language) {
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

pub(super) fn is_script(language: &str) -> bool {
    matches!(language, "javascript" | "typescript")
}

/// Returns the last part of the path of a module in a script, from the end of the module's local name; `None` if the path
/// has no parts or is not a literal directly after it.
fn script_module(view: &str, name_end: usize) -> Option<&str> {
    let rest = view.get(name_end..)?.trim_start();
    let path = match rest.strip_prefix("from") {
        Some(path) => path,
        None => {
            let value = rest.strip_prefix('=')?.trim_start();
            value.strip_prefix("require")?.trim_start().strip_prefix('(')?
        }
    };
    let path = path.trim_start();
    let quote = path.chars().next().filter(|quote| matches!(quote, '"' | '\'' | '`'))?;
    let (path, _) = path.strip_prefix(quote)?.split_once(quote)?;
    module_parts(path).pop()
}

/// Returns the module that is imported as `{self as alias}`, from the position of the alias; `None` for another import.
fn listed_module(view: &str, alias: usize) -> Option<&str> {
    let before = view.get(..alias)?.trim_end().strip_suffix("as")?.trim_end();
    let mut at = before.strip_suffix("self")?.len();
    let mut closed = 0_usize;
    for character in view.get(..at)?.chars().rev().take(MAX_LIST) {
        at -= character.len_utf8();
        match character {
            '}' => closed += 1,
            '{' if closed == 0 => return receiver(view, at).1,
            '{' => closed -= 1,
            ';' => return None,
            _ => {}
        }
    }
    None
}

/// Returns the parts of a module's path that name folders and files.
fn module(path: &str) -> String {
    module_parts(path.trim_matches(['"', '\'', '`'])).join(".")
}

/// Returns the parts of a module's path that name folders and files, from the path without its quotes.
fn module_parts(path: &str) -> Vec<&str> {
    let is_named = |part: &&str| !matches!(*part, "" | "." | "..") && !part.starts_with(['@', '~']);
    let mut parts: Vec<&str> = path.split('/').filter(is_named).collect();
    if let Some(last) = parts.pop() {
        let stem = last.split('.').next().unwrap_or(last);
        parts.extend((stem != "index").then_some(stem));
    }
    parts
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
    fn a_module_of_a_script_is_named_by_its_source() {
        for (after, module) in [
            (" from './util'", Some("util")),
            (" from \"../lib/util.js\";", Some("util")),
            ("\n  from 'node:util'", Some("node:util")),
            (" = require('./lib/index')", Some("lib")),
            (" = require( `fs` )", Some("fs")),
            (" = require('.')", None),
            (" = require(path)", None),
            (" = require", None),
            (" from 'a", None),
        ] {
            let text = format!("u{after}");
            assert_eq!(script_module(&text, 1), module, "{after}");
        }
    }

    #[test]
    fn a_module_of_a_list_is_named_by_the_path_before_the_list() {
        for (before, module) in [
            ("use crate::util::{self as ", Some("util")),
            ("use crate::util::{a, b::{c, d}, self  as ", Some("util")),
            ("use a::{b, c::{self as ", Some("c")),
            ("use a::b as ", None),
            ("use crate::util; self as ", None),
            ("self as ", None),
        ] {
            assert_eq!(listed_module(before, before.len()), module, "{before}");
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
