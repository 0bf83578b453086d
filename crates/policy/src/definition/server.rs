//! Gates of the kind `server`: a long-running language server, and its fallback.

use regex::Regex;
use serde_json::Value;

use super::super::keys;
use super::super::node::{MapFields, PolicyError, YamlNode};
use super::super::{quantity, served};
use super::command::{CacheScope, CommandSpec, candidates, command, environment, plain, scope};
use super::project::{Configuration, configurations, names};
use super::template::CommandWord;
use super::{Gate, GateKind};

/// The memory limit of a server whose definition sets none, in bytes.
const DEFAULT_MEMORY: u64 = 4 << 30;

/// A language server, which communicates over its standard input and output.
#[derive(Debug)]
pub struct ServerSpec {
    /// The program's name, as messages give it.
    pub program: String,
    /// The arguments of the program.
    pub words: Vec<String>,
    /// Candidates for the program, as in [`CommandSpec::bin`].
    pub bin: Vec<CommandWord>,
    /// The server's language ids, by language name.
    pub language_ids: Vec<(String, String)>,
    /// The value of `initializationOptions` at startup; an empty object by default.
    pub options: Value,
    /// The settings for `workspace/configuration`, which the server requests by section.
    pub settings: Value,
    /// Variables that are added to the environment.
    pub env: Vec<(String, CommandWord)>,
    /// The memory limit of the server and its children, in bytes.
    pub memory: u64,
    /// The way in which it reports diagnostics, unless its capabilities decide that.
    pub offer: Option<Offer>,
    /// The sources of the diagnostics that count; empty for all.
    pub sources: Vec<String>,
    /// The template of codes; `{code}` is the server's own code.
    pub code: String,
    /// The part of a message that is used.
    pub message: Message,
    /// Matches the message that reports a loaded project.
    pub ready: Option<Regex>,
    /// Matches the message that reports an invalid configuration.
    pub failed: Option<Regex>,
    /// The files that it sees although they are not on disk.
    pub new_files: NewFiles,
    /// File names: the server starts in the nearest folder above the file that has one of them, else in the root.
    pub cwd: Vec<String>,
    /// Files whose text affects its findings, from the file's folder up to the root.
    pub config: Vec<Configuration>,
    /// The inputs that the result depends on.
    pub scope: CacheScope,
    /// The arguments that make its program print a version.
    pub probe: Vec<String>,
    /// Package URLs that install the server, such as `pkg:npm/basedpyright`.
    pub install: Vec<String>,
    /// The program that judges if the server cannot; its findings have the same gate name.
    pub fallback: Option<CommandSpec>,
}

impl Gate {
    /// Returns the language server of the gate, if it has one.
    pub fn server(&self) -> Option<&ServerSpec> {
        match &self.kind {
            GateKind::Server(server) => Some(server),
            GateKind::Command(_) | GateKind::Syntax | GateKind::Damage | GateKind::Pattern(_) => None,
        }
    }

    /// Returns package URLs for the installation of the gate's program.
    pub fn install(&self) -> &[String] {
        match (self.command(), self.server()) {
            (Some(command), _) => &command.install,
            (None, Some(server)) => &server.install,
            (None, None) => &[],
        }
    }

    /// Returns the arguments that make the gate's program print its version.
    pub fn probe(&self) -> &[String] {
        match (self.command(), self.server()) {
            (Some(command), _) => &command.probe,
            (None, Some(server)) => &server.probe,
            (None, None) => &[],
        }
    }
}

/// The way in which a server reports diagnostics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    /// On request, by pull diagnostics.
    Pull,
    /// By notifications, with or without a version.
    Push,
    /// By notifications, of which only those with a version count.
    Versioned,
}

/// The part of a message that is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message {
    /// All lines of the message.
    Whole,
    /// Only the first line of the message.
    FirstLine,
}

/// The files that a server sees although they are not on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewFiles {
    /// Only the file in question.
    Alone,
    /// New files that no other file imports.
    Unimported,
    /// New files in folders that exist on disk, and new files that no other file imports.
    ExistingFolders,
    /// All files that the client opens.
    All,
    /// No file: the server only sees files on disk.
    None,
}

pub(crate) const OFFERS: [(&str, Offer); 3] =
    [("pull", Offer::Pull), ("push", Offer::Push), ("versioned", Offer::Versioned)];
pub(crate) const MESSAGES: [(&str, Message); 2] =
    [("whole", Message::Whole), ("first_line", Message::FirstLine)];
pub(crate) const NEW_FILES: [(&str, NewFiles); 5] = [
    ("alone", NewFiles::Alone),
    ("unimported", NewFiles::Unimported),
    ("existing_folders", NewFiles::ExistingFolders),
    ("all", NewFiles::All),
    ("none", NewFiles::None),
];

pub(super) fn server(fields: &MapFields) -> Result<ServerSpec, PolicyError> {
    let node = fields.require("server")?;
    let own = node.settings("`server`", &[served::LSP])?;
    let argv = own.require("command")?;
    let words = YamlNode::texts(argv, "`command`")?;
    let Some((program, words)) = words.split_first() else {
        return Err(argv.fault("`command` is empty: the first word must be the program"));
    };
    if program.is_empty() || program.contains(['{', '/', '\0']) {
        return Err(argv.fault("the program must be a plain name; `bin` says where to look for it"));
    }
    let code = own.optional("code", YamlNode::text)?.unwrap_or("{code}").to_owned();
    let texts = |name: &str| fields.optional(name, YamlNode::texts).map(Option::unwrap_or_default);
    Ok(ServerSpec {
        program: program.clone(),
        words: words.to_vec(),
        bin: own.optional("bin", candidates)?.unwrap_or_else(|| vec![plain(program)]),
        language_ids: own.optional("language_ids", ids)?.unwrap_or_default(),
        options: own.optional("options", json)?.unwrap_or_else(|| Value::Object(serde_json::Map::new())),
        settings: own.optional("settings", json)?.unwrap_or_else(|| Value::Object(serde_json::Map::new())),
        env: own.optional("env", environment)?.unwrap_or_default(),
        memory: own
            .optional("memory", |node, what| quantity::size(node, what, served::MEMORY))?
            .unwrap_or(DEFAULT_MEMORY),
        offer: own.optional("diagnostics", |node, what| node.one_of(what, &OFFERS))?,
        sources: own.optional("sources", YamlNode::texts)?.unwrap_or_default(),
        code,
        message: own
            .optional("message", |node, what| node.one_of(what, &MESSAGES))?
            .unwrap_or(Message::Whole),
        ready: own.optional("ready", super::regex)?,
        failed: own.optional("ill", super::regex)?,
        new_files: own
            .optional("new_files", |node, what| node.one_of(what, &NEW_FILES))?
            .unwrap_or(NewFiles::Alone),
        cwd: fields.optional("cwd", names)?.unwrap_or_default(),
        config: fields.optional("config", configurations)?.unwrap_or_default(),
        scope: fields.optional("scope", scope)?.unwrap_or(CacheScope::Project),
        probe: texts("probe")?.into_iter().skip(1).collect(),
        install: texts("install")?,
        fallback: fallback(fields)?,
    })
}

/// Parses the fallback command, if the definition has one; its keys are errors without it.
fn fallback(fields: &MapFields) -> Result<Option<CommandSpec>, PolicyError> {
    if fields.get("command").is_some() {
        return command(fields).map(Some);
    }
    let is_idle = |name: &str| !served::BESIDE.iter().any(|shared| shared.name == name);
    let mut idle = keys::COMMAND.iter().filter(|setting| is_idle(setting.name));
    match idle.find_map(|setting| Some((setting.name, fields.get(setting.name)?))) {
        Some((name, node)) => Err(node.fault(format!("`{name}` requires a fallback `command`"))),
        None => Ok(None),
    }
}

/// Parses a text as a JSON value.
fn json(node: &YamlNode, what: &str) -> Result<Value, PolicyError> {
    serde_json::from_str(node.text(what)?).map_err(|error| node.fault(format!("{what} is not JSON: {error}")))
}

fn ids(node: &YamlNode, what: &str) -> Result<Vec<(String, String)>, PolicyError> {
    let id = |(key, value): &(super::super::node::MapKey, YamlNode)| {
        if super::language_named(&key.name).is_none() {
            return Err(key.fault(super::unknown_language(&key.name)));
        }
        Ok((key.name.clone(), value.text(what)?.to_owned()))
    };
    node.entries(what)?.iter().map(id).collect()
}
