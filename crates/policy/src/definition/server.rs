//! Gates of the kind `server`: a long-running language server, and its fallback.

use regex::Regex;
use serde_json::{Value, json};

use super::command::{COMMAND, CacheScope, CommandSpec, ProgramSpec, command, program_spec, variable};
use super::project::{Configuration, configuration};
use super::template::CommandWord;
use crate::language::{language_named, unknown_language};
use crate::node::{MapFields, MapKey, PolicyError, YamlNode};
use crate::value_shape::{Range, tables};
use crate::words::words;

/// The memory limit of a server whose definition sets none, in bytes.
const DEFAULT_MEMORY: u64 = 4 << 30;

/// A language server, which communicates over its standard input and output.
#[derive(Debug)]
pub struct ServerSpec {
    /// The program.
    pub program: ProgramSpec,
    /// The arguments of the program.
    pub words: Vec<String>,
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
    /// The way in which its diagnostics are read.
    pub diagnostics: DiagnosticsSpec,
    /// Recognises the messages in which it reports its state.
    pub status: StatusPatterns,
    /// The files that it sees although they are not on disk.
    pub new_files: NewFiles,
    /// File names: the server starts in the nearest folder above the file that has one of them, else in the root.
    pub cwd: Vec<Configuration>,
    /// Files whose text affects its findings, from the file's folder up to the root.
    pub config: Vec<Configuration>,
    /// The inputs that the result depends on.
    pub scope: CacheScope,
    /// The program that judges if the server cannot; its findings have the same gate name.
    pub fallback: Option<CommandSpec>,
}

/// The way in which the diagnostics of a server are read.
#[derive(Debug)]
pub struct DiagnosticsSpec {
    /// The way in which the server reports them, unless its capabilities decide that.
    pub offer: Option<Offer>,
    /// The sources of those that count; empty for all.
    pub sources: Vec<String>,
    /// The template of codes; `{code}` is the server's own code.
    pub code: String,
    /// The part of a message that is used.
    pub message: Message,
}

/// Recognises the messages in which a server reports its state.
#[derive(Debug, Clone, Default)]
pub struct StatusPatterns {
    /// Matches the message that reports a loaded project.
    pub ready: Option<Regex>,
    /// Matches the message that reports an invalid configuration.
    pub failed: Option<Regex>,
}

words! {
    /// The way in which a server reports diagnostics.
    pub enum Offer {
        /// On request, by pull diagnostics.
        Pull = "pull",
        /// By notifications, with or without a version.
        Push = "push",
        /// By notifications, of which only those with a version count.
        Versioned = "versioned",
    }

    /// The part of a message that is used.
    pub enum Message {
        /// All lines of the message.
        Whole = "whole",
        /// Only the first line of the message.
        FirstLine = "first_line",
    }

    /// The files that a server sees although they are not on disk.
    pub enum NewFiles {
        /// Only the file in question.
        Alone = "alone",
        /// New files that no other file imports.
        Unimported = "unimported",
        /// New files in folders that exist on disk, and new files that no other file imports.
        ExistingFolders = "existing_folders",
        /// All files that the client opens.
        All = "all",
        /// No file: the server only sees files on disk.
        None = "none",
    }
}

pub(super) fn server(fields: &MapFields) -> Result<ServerSpec, PolicyError> {
    let node = fields.require("server")?;
    let own = node.settings("`server`", &[SERVER])?;
    let argv = own.require("command")?;
    let words = YamlNode::texts(argv, "`command`")?;
    let Some((program, words)) = words.split_first() else {
        return Err(argv.fault("`command` is empty: the first word must be the program"));
    };
    if program.is_empty() || program.contains(['{', '/', '\0']) {
        return Err(argv.fault("the program must be a plain name; `bin` says where to look for it"));
    }
    Ok(ServerSpec {
        program: program_spec(program.clone(), &own, fields)?,
        words: words.to_vec(),
        language_ids: own.each_entry("language_ids", language_id)?,
        options: own.optional("options", parse_json)?.unwrap_or_else(|| json!({})),
        settings: own.optional("settings", parse_json)?.unwrap_or_else(|| json!({})),
        env: own.each_entry("env", variable)?,
        memory: own.read("memory", DEFAULT_MEMORY)?,
        diagnostics: DiagnosticsSpec {
            offer: own.read_optional("diagnostics")?,
            sources: own.read("sources", Vec::new())?,
            code: own.read("code", "{code}".to_owned())?,
            message: own.read("message", Message::Whole)?,
        },
        status: StatusPatterns { ready: own.read_optional("ready")?, failed: own.read_optional("ill")? },
        new_files: own.read("new_files", NewFiles::Alone)?,
        cwd: fields.each("cwd", configuration)?,
        config: fields.each("config", configuration)?,
        scope: fields.read("scope", CacheScope::Project)?,
        fallback: fallback(fields)?,
    })
}

/// Parses the fallback command, if the definition has one; its keys are errors without it.
fn fallback(fields: &MapFields) -> Result<Option<CommandSpec>, PolicyError> {
    if fields.get("command").is_some() {
        return command(fields).map(Some);
    }
    let is_idle = |name: &str| !SERVER_ALONE.iter().any(|shared| shared.name == name);
    let mut idle = COMMAND.iter().filter(|setting| is_idle(setting.name));
    match idle.find_map(|setting| Some((setting.name, fields.get(setting.name)?))) {
        Some((name, node)) => Err(node.fault(format!("`{name}` requires a fallback `command`"))),
        None => Ok(None),
    }
}

/// Parses a text as a JSON value.
fn parse_json(node: &YamlNode, what: &str) -> Result<Value, PolicyError> {
    serde_json::from_str(node.text(what)?).map_err(|error| node.fault(format!("{what} is not JSON: {error}")))
}

fn language_id(language: &MapKey, id: &YamlNode) -> Result<(String, String), PolicyError> {
    if language_named(&language.name).is_none() {
        return Err(language.fault(unknown_language(&language.name)));
    }
    Ok((language.name.clone(), id.text("`language_ids`")?.to_owned()))
}

tables! {
    SERVER_KIND { "kind": Words(&["server"]), Required => "how the gate works"; }
    /// Definitions of the kind `server`: beside these, those of the kind `command` for its fall-back.
    SERVER_GATE {
        "server": Map(&[SERVER]), Required => "`server`: the language server";
    }
    /// The language server of a definition.
    SERVER {
        "command": List(&Text, 1), Required => "its program and arguments, without a shell";
        "bin": List(&Text, 1), Described("the program's name") => "where to look for the program";
        "language_ids": ByName("^[a-z0-9_-]+$", &Text), Is("{}")
            => "its identifier for each language, by the name used here";
        "options": Text, Is("{}") => "JSON for its start, as `initializationOptions`";
        "settings": Text, Is("{}") => "JSON with the sections that it may request";
        "env": ByName("^[A-Za-z0-9_]+$", &Text), Is("{}") => "additional environment variables";
        "memory": Size(MEMORY), Is("4GiB") => "the most memory for it and its child processes";
        "diagnostics": Words(Offer::WORDS), Described("what it offers")
            => "`pull`: lockgate requests diagnostics; `push`: the server publishes them; `versioned`: the same, always with the version of the text";
        "sources": List(&Text, 0), Described("all") => "the `source` of the diagnostics that count";
        "code": Text, Is("{code}") => "how to format its codes, so that they equal those of the command";
        "message": Words(Message::WORDS), Is("whole")
            => "how much of its messages to keep: those of the command may be shorter";
        "ready": Regex, Described("nothing")
            => "its progress, message or status once it has loaded the project; lockgate sends no request before";
        "ill": Regex, Described("nothing")
            => "its message when it cannot read its configuration; the gate is then broken, as it is with the command";
        "new_files": Words(NewFiles::WORDS), Is("alone")
            => "which files that are not on disk yet it can check: `alone`, if it is the only one of a call; `unimported`, those that no other file imports; `existing_folders`, also those in folders on disk; `all`; or `none`";
    }
    /// The keys of a definition of the kind `server` that has no fallback command.
    SERVER_ALONE {
        "cwd": List(&Text, 0), Is("[]")
            => "`server`: it is started for the nearest folder above the file that has one of these files, else for the root; `name#text` counts if the file contains that text, or if none of the files counts";
        "config": List(&Text, 0), Is("[]")
            => "`server`: names of files whose text changes its result; `name#text` counts if the file contains that text";
        "scope": Words(CacheScope::WORDS), Is("project") => "`server`: what its result depends on";
        "probe": List(&Text, 0), Is("[]") => "`server`: the arguments that print its version";
        "install": List(&Text, 0), Is("[]") => "`server`: where to get it, as package URLs";
    }
}
/// The memory limit of a language server.
const MEMORY: Range = Range { min: 16 << 20, max: 1 << 40, description: "from 16MiB to 1024GiB" };
