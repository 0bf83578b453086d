//! Gate definitions: parses a file of the catalogue, or an entry of a policy's `define`, into a [`Gate`].
//!
//! Invariant: a gate names only known languages, its patterns compile, and its templates use only known
//! placeholders.

mod canary;
mod command;
mod output;
mod pattern;
mod project;
mod release;
mod sample;
mod scaffold;
mod server;
mod template;

use std::time::Duration;

use regex::Regex;

use self::canary::CANARY;
pub use self::canary::{Canary, CanaryKind, CanaryText};
use self::command::COMMAND;
pub use self::command::{
    CacheScope, CommandSpec, DependencyPatterns, FileFilter, Input, Manager, Missing, OlderRelease, Packages,
    ProgramSpec, RunEnvironment,
};
pub use self::output::{Columns, FindingPaths, OutputForm, OutputSpec, Pointer, Stream};
use self::pattern::PATTERN;
pub use self::pattern::PatternRules;
pub use self::project::{Configuration, ProjectValue, Unconfigured};
pub use self::release::Release;
use self::sample::SAMPLE;
pub use self::sample::{Expected, Sample};
pub use self::scaffold::{Demand, HeaderRule, Scaffold, ScaffoldLayout};
pub use self::server::{DiagnosticsSpec, Message, NewFiles, Offer, ServerSpec, StatusPatterns};
use self::server::{SERVER_ALONE, SERVER_GATE, SERVER_KIND};
pub use self::template::{CommandWord, Hole, WordPart};
use super::language::{Language, Languages, parse_languages};
use super::node::{MapFields, PolicyError, YamlNode};
use super::value_shape::ValueShape::{Either, Map};
use super::value_shape::{Setting, TIME, ValueShape, tables};
use super::words::words;
use lockgate_text::Version;

/// The default timeout of a gate.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

/// A gate definition, as the catalogue or a policy gives it.
#[derive(Debug)]
pub struct Gate {
    /// The name that a policy uses.
    pub name: String,
    /// The purpose, in one sentence.
    pub about: String,
    /// The languages that the gate can judge.
    pub languages: Languages,
    /// The role, unless a policy sets another.
    pub role: Role,
    /// The mechanism that runs the gate.
    pub kind: GateKind,
    /// The time limit of one run.
    pub timeout: Duration,
    /// Findings that are expected in the middle of a larger change.
    pub transitional: Transitional,
    /// The text that proves that the gate works.
    pub canary: Option<Canary>,
    /// The behaviour for an edit that is one step of several.
    pub in_steps: Option<InSteps>,
    /// The tool and version with which the samples were recorded.
    pub recorded: Option<String>,
    /// Texts with the findings that they must give.
    pub samples: Vec<Sample>,
    /// The hash of the definition; another definition gives other results.
    pub version: Version,
}

impl Gate {
    /// True if the gate can judge files of this language; `None` is a file of no known language.
    pub fn covers(&self, language: Option<&Language>) -> bool {
        match &self.languages {
            Languages::Every => true,
            Languages::Only(names) => language.is_some_and(|language| names.contains(&language.name)),
        }
    }

    /// True if the gate starts a program, so that a person must trust it first.
    pub fn runs_program(&self) -> bool {
        matches!(self.kind, GateKind::Command(_) | GateKind::Server(_))
    }

    /// Returns the gate's command, if it has one.
    pub fn command(&self) -> Option<&CommandSpec> {
        match &self.kind {
            GateKind::Command(command) => Some(command),
            GateKind::Server(server) => server.fallback.as_ref(),
            GateKind::Syntax | GateKind::Damage | GateKind::Pattern(_) => None,
        }
    }

    /// True if the gate outputs the corrected text, so that it can fix a draft.
    pub fn can_fix(&self) -> bool {
        self.command().is_some_and(|command| matches!(command.output.form, OutputForm::Formatted { .. }))
    }

    /// Returns the language server of the gate, if it has one.
    pub fn server(&self) -> Option<&ServerSpec> {
        match &self.kind {
            GateKind::Server(server) => Some(server),
            GateKind::Command(_) | GateKind::Syntax | GateKind::Damage | GateKind::Pattern(_) => None,
        }
    }

    /// Returns package URLs for the installation of the gate's program.
    pub fn install(&self) -> &[String] {
        self.program().map_or(&[], |program| program.install.as_slice())
    }

    /// Returns the arguments that make the gate's program print its version.
    pub fn probe(&self) -> &[String] {
        self.program().map_or(&[], |program| program.probe.as_slice())
    }

    fn program(&self) -> Option<&ProgramSpec> {
        let of_server = || self.server().map(|server| &server.program);
        self.command().map(|command| &command.program).or_else(of_server)
    }
}

words! {
    /// The role of a gate: to check or to fix drafts.
    pub enum Role {
        /// Report findings without changing the draft.
        Check = "check",
        /// Fix the draft before the checks run.
        Fix = "fix",
    }

    /// The behaviour of a gate for an edit that is one step of several.
    pub enum InSteps {
        /// Fix the draft, even if its role is otherwise `check`.
        Fix = "fix",
        /// Warn about a new finding instead of blocking the edit.
        Warn = "warn",
    }
}

/// The mechanism that runs a gate.
#[derive(Debug)]
pub enum GateKind {
    /// The language's parser, in process.
    Syntax,
    /// The checks for accidental damage, in process.
    Damage,
    /// Rules about the text itself, in process.
    Pattern(PatternRules),
    /// An external program that ends after each run.
    Command(Box<CommandSpec>),
    /// A long-running language server, or an external program if no server is available.
    Server(Box<ServerSpec>),
}

/// Findings that are expected in the middle of a larger change, by patterns on `code message`. A new one in a
/// single edit warns instead of blocking.
#[derive(Debug, Default)]
pub struct Transitional {
    /// In every edit: an import or a variable that is not used yet.
    pub always: Vec<Regex>,
    /// In an edit that adds an import: a name that is not defined yet.
    pub adding_imports: Vec<Regex>,
}

/// Parses one definition; `version` is the hash of its text.
pub(crate) fn gate(name: &str, root: &YamlNode, version: Version) -> Result<Gate, PolicyError> {
    let kind_node = root.entries("a gate")?.iter().find(|(key, _)| key.name == "kind").map(|(_, node)| node);
    // A missing kind is rejected after the other keys.
    let kind_name = kind_node.map_or(Ok(GateKindName::Syntax), kind_name)?;
    let tables = [&[COMMON], kind_name.tables()].concat();
    let fields = root.settings("a gate", &tables)?;
    let kind = kind(kind_name, &fields)?;
    let gate = Gate {
        name: name.to_owned(),
        about: fields.read("about", String::new())?,
        languages: parse_languages(fields.require("languages")?)?,
        role: fields.read("role", Role::Check)?,
        kind,
        timeout: fields.read("timeout", DEFAULT_TIMEOUT)?,
        transitional: transitional(&fields)?,
        canary: fields.optional("canary", canary::canary)?,
        in_steps: fields.read_optional("in_steps")?,
        recorded: fields.read_optional("recorded")?,
        samples: fields.each("samples", sample::sample)?,
        version,
    };
    match fields.get("role") {
        Some(role) if gate.role == Role::Fix && !gate.can_fix() => {
            Err(role.fault("`role: fix` needs `output: { text: formatted }`, whose text replaces the draft"))
        }
        Some(_) | None => Ok(gate),
    }
}

words! {
    /// The word for a kind of gate.
    enum GateKindName {
        Syntax = "syntax",
        Damage = "damage",
        Pattern = "pattern",
        Command = "command",
        Server = "server",
    }
}

impl GateKindName {
    /// Returns the keys of a definition of this kind, beside those of every definition.
    fn tables(self) -> &'static [&'static [Setting]] {
        match self {
            GateKindName::Syntax => &[SYNTAX_KIND],
            GateKindName::Damage => &[DAMAGE_KIND],
            GateKindName::Pattern => &[PATTERN_KIND, PATTERN],
            GateKindName::Command => &[COMMAND_KIND, COMMAND],
            GateKindName::Server => &[SERVER_KIND, SERVER_GATE, COMMAND],
        }
    }
}

fn kind_name(node: &YamlNode) -> Result<GateKindName, PolicyError> {
    node.text("`kind`")?;
    node.word("kind", GateKindName::WORDS, GateKindName::named)
}

fn kind(name: GateKindName, fields: &MapFields) -> Result<GateKind, PolicyError> {
    let node = fields.require("kind")?;
    match name {
        GateKindName::Syntax => Ok(GateKind::Syntax),
        GateKindName::Damage => Ok(GateKind::Damage),
        GateKindName::Pattern => pattern::rules(fields, node).map(GateKind::Pattern),
        GateKindName::Command => command::command(fields).map(|command| GateKind::Command(Box::new(command))),
        GateKindName::Server => server::server(fields).map(|server| GateKind::Server(Box::new(server))),
    }
}

/// Returns the gate of a command that a request may name; its program is a name or an absolute path.
pub(crate) fn validator(
    name: String,
    program: &str,
    words: &[String],
    timeout: Duration,
    version: Version,
) -> Gate {
    Gate {
        name,
        about: String::new(),
        languages: Languages::Every,
        role: Role::Check,
        kind: GateKind::Command(Box::new(CommandSpec::validating(program, words))),
        timeout,
        transitional: Transitional::default(),
        canary: None,
        in_steps: None,
        recorded: None,
        samples: Vec::new(),
        version,
    }
}

fn transitional(gate: &MapFields) -> Result<Transitional, PolicyError> {
    let fields = gate.map("transitional")?;
    let pattern = |item: &YamlNode, _: &str| item.regex("a pattern");
    Ok(Transitional {
        always: fields.each("always", pattern)?,
        adding_imports: fields.each("adding_imports", pattern)?,
    })
}

tables! {
    /// Every definition, whatever its kind.
    COMMON {
        "about": Text, Is("") => "what the gate is for, in one sentence";
        "languages": List(&Language, 1), Required => "the languages that it supports";
        "role": Words(Role::WORDS), Is("check") => "whether it reports findings, or fixes them";
        "timeout": Duration(TIME), Is("5s") => "the timeout of one run";
        "transitional": Map(&[TRANSITIONAL]), Is("{}")
            => "patterns on `code message`: such new findings only warn in a single edit, unless the policy sets a `level`";
        "canary": Either(&[Text, Map(&[CANARY])]), Described("none") => "a text that no configuration lets pass";
        "in_steps": Words(InSteps::WORDS), Described("what the policy says")
            => "in `edit_code`, whose edits are often one step of several, unless the policy sets a `role` or `level`: `fix`: it fixes the draft; `warn`: it does not block, and a note says so";
        "recorded": Text, Described("none") => "the tool and its version with which the samples were recorded";
        "samples": List(&Map(&[SAMPLE]), 0), Is("[]") => "texts with their expected findings";
    }
    SYNTAX_KIND { "kind": Words(&["syntax"]), Required => "how the gate works"; }
    PATTERN_KIND { "kind": Words(&["pattern"]), Required => "how the gate works"; }
    DAMAGE_KIND { "kind": Words(&["damage"]), Required => "how the gate works"; }
    COMMAND_KIND { "kind": Words(&["command"]), Required => "how the gate works"; }
    TRANSITIONAL {
        "always": List(&Regex, 0), Is("[]") => "in every single edit";
        "adding_imports": List(&Regex, 0), Is("[]") => "in a single edit that adds an import";
    }
}
/// The definition of a gate.
pub(super) const DEFINITION: ValueShape = Either(&[
    Map(&[SYNTAX_KIND, COMMON]),
    Map(&[DAMAGE_KIND, COMMON]),
    Map(&[PATTERN_KIND, COMMON, PATTERN]),
    Map(&[COMMAND_KIND, COMMON, COMMAND]),
    Map(&[SERVER_KIND, COMMON, SERVER_GATE, COMMAND]),
    Map(&[SERVER_KIND, COMMON, SERVER_GATE, SERVER_ALONE]),
]);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml;

    fn read(text: &str) -> Result<Gate, String> {
        yaml::read("gates/x.yaml", text, |root| gate("x", root, Version::hash(b"")))
            .map_err(|error| error.message)
    }

    #[track_caller]
    fn refused(text: &str, expected: &str) {
        let message = read(text).expect_err(text);
        assert!(message.contains(expected), "{message}");
    }

    #[test]
    fn a_definition_becomes_a_gate() {
        let gate = read("languages: ['*']\nkind: pattern\nmust_match: '^// SPDX-'\nmessage: no SPDX line\n")
            .unwrap();
        assert_eq!((gate.timeout, gate.languages.clone()), (DEFAULT_TIMEOUT, Languages::Every));
        assert!(gate.covers(None));
        let GateKind::Pattern(PatternRules::Regex { must_match: Some(regex), must_not_match: None, .. }) =
            gate.kind
        else {
            panic!("a wanted pattern")
        };
        assert!(regex.is_match("#!x\n// SPDX-"));
    }

    #[test]
    fn a_faulty_definition_is_refused_where_it_is_faulty() {
        let with = |rest: &str| format!("languages: [go]\n{rest}\n");
        refused(&with("kind: sintax"), "2:7: unknown kind `sintax`, did you mean `syntax`?");
        refused(
            &with("kind: pattern"),
            "2:7: a pattern gate needs structure, query, must_match or must_not_match",
        );
        refused(
            &with("kind: pattern\nmust_match: 'a('\nmessage: m"),
            "3:13: `must_match` is not a regular expression: unclosed group",
        );
        refused(&with("kind: pattern\nmust_match: a"), "the key `message` is missing");
        refused(&with("kind: pattern\nstructure: html"), "3:12: unknown structure `html`");
        refused(&with("kind: syntax\ninput: stdin"), "3:1: unknown key `input`");
        refused("languages: []\nkind: syntax\n", "1:12: `languages` is empty: name a language");
        let empty = with("kind: pattern\nmust_match: ''\nmessage: m");
        refused(&empty, "3:13: `must_match` is empty, so it matches every text: write a pattern");
        let command = |words: &str, more: &str| {
            let input = "kind: command\ninput: stdin\noutput: { text: exit }";
            with(&format!("{input}\ncommand: [awk, {words}]\n{more}"))
        };
        refused(&command("x", "only: ['']"), "6:8: `only` contains an empty name, which no file has");
        let shadowing = "values: { path: { in: [a], match: '(a)', default: b } }";
        refused(&command("x", shadowing), "6:11: `{path}` is filled in by lockgate: choose another name");
        let unknown = "unknown placeholder `print` (known: path, ";
        refused(&command("'{print}'", ""), unknown);
        refused(&command("'{print}'", ""), "; other text in braces needs a space, as in `{ print }`");
        // Control: these are the text that they seem to be.
        assert!(read(&command("'{ print }', '^.{2}'", "")).is_ok());
        let older = |input: &str, words: &str, older: &str| {
            with(&format!(
                "kind: command\noutput: {{ text: exit }}\nprobe: [x, -v]\ninput: {input}\ncommand: [x, {words}]\nolder: {{ than: '2', {older} }}"
            ))
        };
        for (input, words, other, name) in [
            ("staged", "'{paths}'", "input: staged, command: [x, '{root}']", "{paths}"),
            ("staged", "'{root}'", "input: staged, command: [x, '{root}', '{folders}']", "{folders}"),
            ("shadow", "'{overlay}', '{folder}'", "input: staged, command: [x, '{path}']", "{folder}"),
            ("staged", "'{root}'", "input: staged, command: [x, '{root}', '{path}']", "{path}"),
        ] {
            let expected =
                format!("7:8: `{name}` is in only one of `command` and `older.command`: both must");
            refused(&older(input, words, other), &expected);
        }
        // Control: an older program may get the draft in another way.
        for (input, words, other) in [
            ("shadow", "'{overlay}', '{folders}'", "input: staged, command: [x, '{folders}']"),
            ("shadow", "'{draft}'", "input: staged, command: [x, '{path}']"),
            ("stdin", "'{path}'", "input: shadow, command: [x, '{draft}']"),
            ("shadow", "'{path}', '{draft}', '{paths}'", "input: staged, command: [x, '{paths}']"),
        ] {
            assert!(
                read(&older(input, words, other)).is_ok(),
                "{:?}",
                read(&older(input, words, other)).err()
            );
        }
        refused("languages: [golang]\nkind: syntax\n", "1:13: unknown language `golang`");
        refused(&with("kind: syntax\ntimeout: 5"), "3:10: `timeout` needs a unit, as in `5s` or `5ms`");
    }
}
