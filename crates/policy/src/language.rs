//! Detects the language of a file: by its name, else by its first line.
//!
//! Invariant: the table comes from `gates/languages.yaml` alone; no other place knows an extension.

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use regex::Regex;

use super::node::{MapKey, PolicyError, YamlNode, unknown};
use super::yaml;
use lockgate_text::nearest;

const TABLE: &str = lockgate_gates::LANGUAGES;

/// A language that the catalogue knows.
#[derive(Debug)]
pub struct Language {
    /// The name that a policy uses, as in `python`.
    pub name: String,
    extensions: Vec<String>,
    files: Vec<String>,
    interpreters: Vec<String>,
    imports: Option<ImportPattern>,
}

/// A pattern that finds a line with an import. It is compiled on first use: to compile those of all languages takes longer
/// than to judge an edit.
#[derive(Debug)]
struct ImportPattern {
    source: String,
    compiled: OnceLock<Option<Regex>>,
}

impl ImportPattern {
    /// Returns the compiled pattern; `None` if it is not valid, which a test excludes.
    fn regex(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| Regex::new(&self.source).ok()).as_ref()
    }
}

impl Language {
    /// The name of a file in this language.
    pub fn example(&self) -> String {
        let extension = self.extensions.first().map(|extension| format!("a.{extension}"));
        extension.or_else(|| self.files.first().cloned()).unwrap_or_default()
    }

    /// True if a line, without its end, is an import; false if the table does not say.
    pub fn imports(&self, line: &str) -> bool {
        self.imports.as_ref().and_then(ImportPattern::regex).is_some_and(|imports| imports.is_match(line))
    }
}

impl PartialEq for Language {
    fn eq(&self, other: &Language) -> bool {
        self.name == other.name
    }
}

impl Eq for Language {}

/// Every known language, in the order of the table.
pub fn languages() -> &'static [Language] {
    static LANGUAGES: OnceLock<Vec<Language>> = OnceLock::new();
    LANGUAGES.get_or_init(|| yaml::read_embedded("gates/languages.yaml", TABLE, table))
}

/// The language with this name, as a policy writes it.
pub fn language_named(name: &str) -> Option<&'static Language> {
    languages().iter().find(|language| language.name == name)
}

/// The language of a file: a known file name first, then the longest known extension, then the first line's `#!`.
pub fn language_of(path: &str, first_line: Option<&str>) -> Option<&'static Language> {
    by_file(path).or_else(|| by_extension(path)).or_else(|| first_line.and_then(by_shebang))
}

/// The languages by the last parts of their file names; those with an asterisk there are under the empty part.
static BY_FILE: LazyLock<HashMap<&str, Vec<(&str, &Language)>>> = LazyLock::new(|| {
    let mut by_file: HashMap<&str, Vec<(&str, &Language)>> = HashMap::new();
    for language in languages() {
        for pattern in &language.files {
            let last = pattern.rsplit('/').next().filter(|last| !last.contains('*'));
            by_file.entry(last.unwrap_or_default()).or_default().push((pattern, language));
        }
    }
    by_file
});

static BY_EXTENSION: LazyLock<HashMap<&str, &Language>> = LazyLock::new(|| {
    let extensions =
        |language: &'static Language| language.extensions.iter().map(move |it| (it.as_str(), language));
    languages().iter().flat_map(extensions).collect()
});

fn by_file(path: &str) -> Option<&'static Language> {
    let mut candidates =
        [path.rsplit('/').next()?, ""].into_iter().filter_map(|last| BY_FILE.get(last)).flatten();
    candidates.find(|(pattern, _)| names(pattern, path)).map(|(_, language)| *language)
}

fn by_extension(path: &str) -> Option<&'static Language> {
    let name = path.rsplit('/').next()?.to_lowercase();
    let mut extensions =
        name.match_indices('.').filter(|(at, _)| *at > 0).filter_map(|(at, _)| name.get(at + 1..));
    extensions.find_map(|extension| BY_EXTENSION.get(extension)).copied()
}

fn by_shebang(line: &str) -> Option<&'static Language> {
    let mut words = line.strip_prefix("#!")?.split_whitespace();
    let mut program = words.next()?.rsplit('/').next()?;
    if program == "env" {
        let is_setting = |word: &&str| word.starts_with('-') || word.contains('=');
        program = words.find(|word| !is_setting(word))?.rsplit('/').next()?;
    }
    let program = program.trim_end_matches(|character: char| character.is_ascii_digit() || character == '.');
    languages().iter().find(|language| language.interpreters.iter().any(|known| known == program))
}

/// True if `path` ends in `pattern`, folder by folder; one `*` in a part matches any characters.
pub(super) fn names(pattern: &str, path: &str) -> bool {
    let mut parts = path.rsplit('/');
    pattern.rsplit('/').all(|pattern_part| {
        parts.next().is_some_and(|part| match pattern_part.split_once('*') {
            None => part == pattern_part,
            Some((start, end)) => {
                part.len() >= start.len() + end.len() && part.starts_with(start) && part.ends_with(end)
            }
        })
    })
}

/// The language that `word` may mean, being one of its extensions: `py` is python.
pub(super) fn find_language(word: &str) -> Option<&'static Language> {
    let word = word.to_lowercase();
    languages().iter().find(|language| language.extensions.contains(&word))
}

fn table(root: &YamlNode) -> Result<Vec<Language>, PolicyError> {
    root.entries("the table of languages")?.iter().map(|(key, node)| parse_language(key, node)).collect()
}

fn parse_language(key: &MapKey, node: &YamlNode) -> Result<Language, PolicyError> {
    let fields = node.fields("a language", &["extensions", "files", "interpreters", "imports"])?;
    Ok(Language {
        name: key.name.clone(),
        extensions: fields.read("extensions", Vec::new())?,
        files: fields.read("files", Vec::new())?,
        interpreters: fields.read("interpreters", Vec::new())?,
        imports: fields
            .read_optional("imports")?
            .map(|source| ImportPattern { source, compiled: OnceLock::new() }),
    })
}

/// The languages that a gate can judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Languages {
    /// All languages, and text without a known language.
    Every,
    /// These languages, by their names.
    Only(Vec<String>),
}

/// Reads the languages that a gate can judge.
pub(super) fn parse_languages(node: &YamlNode) -> Result<Languages, PolicyError> {
    let mut only = Vec::new();
    let items = node.list("`languages`")?;
    if items.is_empty() {
        return Err(node.fault("`languages` is empty: name a language, or write `[\"*\"]` for every file"));
    }
    for item in items {
        match item.text("a language")? {
            "*" => return Ok(Languages::Every),
            name if language_named(name).is_some() => only.push(name.to_owned()),
            name => return Err(item.fault(unknown_language(name))),
        }
    }
    Ok(Languages::Only(only))
}

/// Describes a language that is not in the table.
pub(crate) fn unknown_language(name: &str) -> String {
    let mut known: Vec<&str> = languages().iter().map(|language| language.name.as_str()).collect();
    known.push("\"*\"");
    match find_language(name) {
        Some(language) if nearest(name, known.iter().copied()).is_none() => {
            let (similar, known) = (&language.name, known.join(", "));
            format!("unknown language `{name}`, did you mean `{similar}`? (known: {known})")
        }
        Some(_) | None => unknown("language", name, &known),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(path: &str, first_line: &str) -> &'static str {
        language_of(path, Some(first_line)).map_or("none", |language| language.name.as_str())
    }

    #[test]
    fn every_pattern_of_imports_is_valid() {
        let patterns: Vec<&ImportPattern> =
            languages().iter().filter_map(|language| language.imports.as_ref()).collect();
        assert!(patterns.len() > 5 && patterns.iter().all(|pattern| pattern.regex().is_some()));
    }

    #[test]
    fn a_language_is_found_by_name_then_extension_then_first_line() {
        for (path, expected) in [
            ("src/a.py", "python"),
            ("A.PY", "python"),
            ("a.pyi", "python"),
            ("README.md", "markdown"),
            ("a.rs", "rust"),
            ("a.go", "go"),
            ("a.jsx", "javascript"),
            ("a.d.ts", "typescript"),
            ("a.TSX", "typescript"),
            ("package.json", "json"),
            ("tsconfig.json", "jsonc"),
            ("app/tsconfig.build.json", "jsonc"),
            ("jsconfig.json", "jsonc"),
            (".eslintrc.json", "jsonc"),
            (".devcontainer/devcontainer.json", "jsonc"),
            ("my.code-workspace", "jsonc"),
            ("web/.vscode/settings.json", "jsonc"),
            ("vscode/settings.json", "json"),
            ("mytsconfig.json", "json"),
            ("Cargo.lock", "toml"),
            ("other.lock", "none"),
            ("Pipfile", "toml"),
            ("Pipfile.lock", "json"),
            (".bashrc", "bash"),
            ("a.yml", "yaml"),
            ("a.h", "c"),
            ("a.h++", "cpp"),
            ("A.java", "java"),
            ("a.css", "css"),
            ("a.htm", "html"),
            (".py", "none"),
            ("py", "none"),
            ("a.py.txt", "text"),
            ("a.py.zzz", "none"),
            ("", "none"),
        ] {
            assert_eq!(name(path, ""), expected, "{path}");
        }
    }

    #[test]
    fn a_shebang_speaks_only_where_the_name_does_not() {
        for (line, expected) in [
            ("#!/usr/bin/python3", "python"),
            ("#!/usr/bin/env python3.12", "python"),
            ("#!/usr/bin/env -S LANG=C python3 -u\r", "python"),
            ("#! /bin/bash -e", "bash"),
            ("#!/bin/sh", "bash"),
            ("#!/usr/bin/env node", "javascript"),
            ("#!/usr/bin/perl", "none"),
            ("#!/usr/bin/env", "none"),
            ("#!", "none"),
            ("# /bin/sh", "none"),
        ] {
            assert_eq!(name("bin/run", line), expected, "{line}");
        }
        assert_eq!(name("a.py", "#!/bin/sh"), "python");
    }

    #[test]
    fn a_line_that_imports_differs_from_one_that_does_not() {
        for (name, imports, other_lines) in [
            (
                "python",
                &["import os", "    from a import b", "from . import c"][..],
                &["importlib.reload(a)", "x = 1"][..],
            ),
            (
                "go",
                &[
                    "import (",
                    "import \"fmt\"",
                    "\t\"os\"",
                    "\tf \"fmt\"",
                    "\t_ \"embed\"",
                    "\tredis \"x/y\"",
                ],
                &["\t\"a\",", "imports := 1", "\treturn \"a\""],
            ),
            (
                "rust",
                &["use std::fs;", "    pub(crate) use a::b;", "extern crate a;"],
                &["useful();", "mod a;"],
            ),
            (
                "javascript",
                &["import a from 'a'", "} from \"b\";", "const c = require('c')", "export * from './d'"],
                &["importAll()", "required(1)", "export const from = 1"],
            ),
            ("typescript", &["import type { A } from 'a'", "import b = require('b')"], &["let a = 1"]),
            ("java", &["import a.B;", "import static a.B.c;"], &["important();"]),
            ("c", &["#include <a.h>", "# include \"b.h\""], &["#define include"]),
            ("cpp", &["#include <a>", "import std;", "using namespace std;"], &["using A = B;"]),
            ("css", &["@import 'a.css';"], &["a { }"]),
            ("bash", &["source a.sh", ". ./a.sh"], &["./a.sh", "echo source"]),
            ("markdown", &[], &["import a"]),
        ] {
            let language = language_named(name).unwrap();
            imports.iter().for_each(|line| assert!(language.imports(line), "{name}: {line}"));
            other_lines.iter().for_each(|line| assert!(!language.imports(line), "{name}: {line}"));
        }
    }

    #[test]
    fn no_name_and_no_extension_belongs_to_two_languages() {
        let of = |list: fn(&Language) -> &Vec<String>| {
            let mut all: Vec<&String> = languages().iter().flat_map(list).collect();
            let count = all.len();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), count);
            all.into_iter().for_each(|entry| assert!(!entry.is_empty()));
        };
        of(|language| &language.extensions);
        of(|language| &language.files);
        of(|language| &language.interpreters);
        assert!(
            languages()
                .iter()
                .flat_map(|language| &language.extensions)
                .all(|known| *known == known.to_lowercase())
        );
    }
}
