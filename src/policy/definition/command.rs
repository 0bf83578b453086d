//! How a gate of the kind `command` gets the draft, and what its program says.

use regex::Regex;

use super::super::keys;
use super::super::language::names as names_file;
use super::super::node::{self, MapFields, PolicyError, YamlNode};
use super::super::severity::Severity;
use super::output::{OutputForm, OutputSpec, Stream, output};
use super::project::{
    Configuration, ProjectValue, Unconfigured, configurations, names, unconfigured, values,
};
use super::release::{Release, release};
use super::template::{CommandWord, Hole, WordPart, template};

/// How a program is asked that is older than its command needs it to be.
#[derive(Debug)]
pub struct Older {
    /// The first version that the gate's own command is for.
    pub than: Release,
    /// The command for all before it, and for a program that does not say its version.
    pub command: CommandSpec,
}

/// A failure for lack of dependencies.
#[derive(Debug)]
pub struct Missing {
    /// What the program prints.
    pub pattern: Regex,
    /// The command that fetches them.
    pub fetch: String,
}

/// The package manager that installs what a project declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manager {
    /// npm and its like: `package.json` and `node_modules`.
    Npm,
    /// pip and its like: `pyproject.toml`, `requirements.txt` and `.venv`.
    Python,
}

/// The package managers, by name.
pub(in crate::policy) const MANAGERS: [(&str, Manager); 2] =
    [("npm", Manager::Npm), ("python", Manager::Python)];

/// How the program says that it cannot find a package. Each pattern has a group `package`. Only a package counts that the project
/// declares and that is not installed: what nothing declares stays a fault.
#[derive(Debug)]
pub struct Packages {
    /// Who installs them.
    pub manager: Manager,
    /// Patterns on `code message` of findings, which then warn and name the command that installs.
    pub findings: Vec<Regex>,
    /// Patterns on the output of a run that failed, which is then unavailable.
    pub failures: Vec<Regex>,
}

/// A program that judges drafts. It is started with an argument vector, never by a shell.
#[derive(Debug)]
pub struct CommandSpec {
    /// How the draft reaches it.
    pub input: Input,
    /// The program's name, as messages give it.
    pub program: String,
    /// The words after the program.
    pub words: Vec<CommandWord>,
    /// Where the program may lie, the first that is there being taken: a name is looked for in the search path.
    pub bin: Vec<CommandWord>,
    /// Folders that come before the search path of the program, where they are there.
    pub path: Vec<CommandWord>,
    /// Names of files: the program runs in the nearest folder above the file that has one of them, else in the root.
    pub cwd: Vec<String>,
    /// The exit codes after which its output is read.
    pub ran: Vec<i32>,
    /// How its output is read.
    pub output: OutputSpec,
    /// What it prints when it did not look at the file, be it on standard output or on standard error.
    pub unseen: Option<Regex>,
    /// What it prints when it fails because dependencies are not on this machine.
    pub missing: Vec<Missing>,
    /// How it says that it cannot find a package of npm or Python.
    pub packages: Option<Packages>,
    /// In what it counts columns.
    pub columns: Columns,
    /// What its answer depends on.
    pub scope: CacheScope,
    /// Files whose text changes its answer, from the file's folder up to the root.
    pub config: Vec<Configuration>,
    /// What holds where none of them is there.
    pub unconfigured: Unconfigured,
    /// Values that are taken from files of the project, to be filled in by name.
    pub values: Vec<ProjectValue>,
    /// What is added to its environment.
    pub env: Vec<(String, CommandWord)>,
    /// Names of files that it never looks at; one `*` in a name stands for any characters.
    pub except: Vec<String>,
    /// The only files that it looks at, each as `languages.yaml` names files; all where there are none.
    pub only: Vec<String>,
    /// Whether it may use the network.
    pub network: bool,
    /// The words that make it print its version.
    pub probe: Vec<String>,
    /// Where it can be had, as package URLs.
    pub install: Vec<String>,
    /// How an older program is asked.
    pub older: Option<Box<Older>>,
}

impl CommandSpec {
    /// The command for a program of this version, where it is known.
    pub fn for_release(&self, release: Option<&Release>) -> &CommandSpec {
        match &self.older {
            Some(older) if release.is_none_or(|release| *release < older.than) => &older.command,
            Some(_) | None => self,
        }
    }

    /// A command that says by its exit code whether the project is right; its program is a name or an absolute path.
    pub(super) fn validating(program: &str, words: &[String]) -> CommandSpec {
        CommandSpec {
            input: Input::Staged,
            program: program.to_owned(),
            words: words.iter().map(|word| plain(word)).collect(),
            bin: vec![plain(program)],
            path: Vec::new(),
            cwd: POLICY_FILES.map(str::to_owned).to_vec(),
            ran: (0..=255).collect(),
            output: OutputSpec {
                form: OutputForm::Exit(String::new()),
                from: Stream::Both,
                severity: Severity::Error,
            },
            unseen: None,
            missing: Vec::new(),
            packages: None,
            columns: Columns::Characters,
            scope: CacheScope::Project,
            config: Vec::new(),
            unconfigured: Unconfigured::default(),
            values: Vec::new(),
            env: validating_env(program),
            except: Vec::new(),
            only: Vec::new(),
            network: false,
            probe: Vec::new(),
            install: Vec::new(),
            older: None,
        }
    }

    /// Whether the program never looks at this file, whatever it is given.
    pub fn passes_over(&self, path: &str) -> bool {
        let is_meant = self.only.is_empty() || self.only.iter().any(|name| names_file(name, path));
        !is_meant || self.except.iter().any(|name| names_file(name, path))
    }
}

/// What a command of the project's own is told of where it may write: the project is only to be read.
fn validating_env(program: &str) -> Vec<(String, CommandWord)> {
    let cache = |rest: &str| CommandWord {
        pieces: vec![WordPart::Hole(Hole::Cache), WordPart::Text(rest.to_owned())],
    };
    let mut env = vec![("GOCACHE".to_owned(), cache("/go-build"))];
    if program.rsplit('/').next() == Some("cargo") {
        let mut target = cache("/validate/");
        target.pieces.push(WordPart::Hole(Hole::Project));
        env.push(("CARGO_TARGET_DIR".to_owned(), target));
    }
    env
}

/// How a draft reaches a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// On standard input.
    Stdin,
    /// By a switch of the program's own that names the draft or an overlay.
    Shadow,
    /// At its place in a linked copy of the project.
    Staged,
}

/// In what a program counts columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Columns {
    /// In characters.
    Characters,
    /// In bytes of UTF-8.
    Bytes,
    /// In code units of UTF-16.
    Utf16,
}

/// What an answer depends on, beside the file's text and the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheScope {
    /// On nothing else.
    File,
    /// On the files of the same folder.
    Package,
    /// On every file below the root.
    Project,
}

pub(in crate::policy) const INPUTS: [(&str, Input); 3] =
    [("stdin", Input::Stdin), ("shadow", Input::Shadow), ("staged", Input::Staged)];
pub(in crate::policy) const COLUMNS: [(&str, Columns); 3] =
    [("characters", Columns::Characters), ("bytes", Columns::Bytes), ("utf16", Columns::Utf16)];
pub(in crate::policy) const SCOPES: [(&str, CacheScope); 3] =
    [("file", CacheScope::File), ("package", CacheScope::Package), ("project", CacheScope::Project)];

/// What lies in the folder of a policy.
const POLICY_FILES: [&str; 3] = ["quality.yaml", ".lockgate", ".st3"];

/// What may be filled into a word of a command.
const IN_COMMAND: [Hole; 9] = [
    Hole::Path,
    Hole::Folder,
    Hole::Paths,
    Hole::Folders,
    Hole::Root,
    Hole::Draft,
    Hole::Overlay,
    Hole::Cache,
    Hole::Args,
];

pub(super) fn command(fields: &MapFields) -> Result<CommandSpec, PolicyError> {
    let own = asked_by(fields, fields.require("command")?, fields.require("input")?)?;
    let Some(node) = fields.get("older") else { return Ok(own) };
    let older = node.settings("`older`", &[keys::OLDER])?;
    if own.probe.is_empty() {
        return Err(node.fault("`older` needs `probe`, which tells the version"));
    }
    let command = asked_by(fields, older.require("command")?, older.require("input")?)?;
    if command.program != own.program {
        return Err(node.fault(format!("the program of `older` must be `{}`, too", own.program)));
    }
    if let Some(name) = named_by_one(&own, &command) {
        let wanted = "both must name what they look at alike, as one run is shared out by it";
        return Err(node.fault(format!("`{name}` is in only one of `command` and `older.command`: {wanted}")));
    }
    let older = Older { than: release(older.require("than")?, "`than`")?, command };
    Ok(CommandSpec { older: Some(Box::new(older)), ..own })
}

/// Returns a placeholder for what a program looks at that only one of two commands has. How the draft reaches it may differ.
fn named_by_one(one: &CommandSpec, other: &CommandSpec) -> Option<&'static str> {
    let has = |command: &CommandSpec, hole: Hole| command.words.iter().any(|word| word.has(hole));
    let differs = |hole: Hole| has(one, hole) != has(other, hole);
    let is_about_one_file = |command: &CommandSpec| {
        let names_it = has(command, Hole::Path) || has(command, Hole::Draft);
        command.input == Input::Stdin || (names_it && !has(command, Hole::Paths))
    };
    let places = [("{paths}", Hole::Paths), ("{folders}", Hole::Folders), ("{folder}", Hole::Folder)];
    let place = places.into_iter().find(|(_, hole)| differs(*hole)).map(|(name, _)| name);
    place.or_else(|| (is_about_one_file(one) != is_about_one_file(other)).then_some("{path}"))
}

/// The command with these words, to which the draft comes in this way.
fn asked_by(fields: &MapFields, argv: &YamlNode, input: &YamlNode) -> Result<CommandSpec, PolicyError> {
    let Some((first, words)) = argv.list("`command`")?.split_first() else {
        return Err(argv.fault("`command` is empty: its first word is the program"));
    };
    let program = first.text("the program")?.to_owned();
    if program.is_empty() || program.contains(['{', '/', '\0']) {
        return Err(first.fault("the program is a plain name; `bin` says where it may lie"));
    }
    let values = fields.optional("values", values)?.unwrap_or_default();
    let own: Vec<&str> = values.iter().map(|value| value.name.as_str()).collect();
    let words = words.iter().map(|word| template(word, "a word of `command`", &IN_COMMAND, &own));
    let words = words.collect::<Result<Vec<_>, _>>()?;
    let texts = |name: &str| fields.optional(name, YamlNode::texts).map(Option::unwrap_or_default);
    let bin = fields.optional("bin", candidates)?.unwrap_or_else(|| vec![plain(&program)]);
    Ok(CommandSpec {
        input: seen(input, &words)?,
        program,
        words,
        bin,
        path: fields.optional("path", own_folders)?.unwrap_or_default(),
        cwd: fields.optional("cwd", names)?.unwrap_or_default(),
        ran: fields.optional("ran", exit_codes)?.unwrap_or_else(|| vec![0, 1]),
        output: output(fields.require("output")?)?,
        unseen: fields.optional("unseen", super::regex)?,
        missing: fields.optional("missing", missing)?.unwrap_or_default(),
        packages: fields.optional("packages", packages)?,
        columns: fields.optional("columns", columns)?.unwrap_or(Columns::Characters),
        scope: fields.optional("scope", scope)?.unwrap_or(CacheScope::File),
        config: fields.optional("config", configurations)?.unwrap_or_default(),
        unconfigured: fields.optional("unconfigured", unconfigured)?.unwrap_or_default(),
        values,
        except: fields.optional("except", names)?.unwrap_or_default(),
        only: fields.optional("only", YamlNode::texts)?.unwrap_or_default(),
        env: fields.optional("env", environment)?.unwrap_or_default(),
        network: fields.optional("network", YamlNode::flag)?.unwrap_or_default(),
        probe: texts("probe")?.into_iter().skip(1).collect(),
        install: texts("install")?,
        older: None,
    })
}

pub(super) fn plain(word: &str) -> CommandWord {
    CommandWord { pieces: vec![WordPart::Text(word.to_owned())] }
}

/// The way in, which the words must fit: a shadow that nothing names would show the file on disk.
fn seen(node: &YamlNode, words: &[CommandWord]) -> Result<Input, PolicyError> {
    let input = node.one_of("`input`", &INPUTS)?;
    let shadows = words.iter().any(|word| word.has(Hole::Draft) || word.has(Hole::Overlay));
    match input {
        Input::Shadow if !shadows => {
            Err(node.fault("`input: shadow` needs `{draft}` or `{overlay}` in `command`"))
        }
        Input::Stdin | Input::Staged if shadows => {
            Err(node.fault("`{draft}` and `{overlay}` belong to `input: shadow`"))
        }
        Input::Staged if !words.iter().any(names_a_place) => Err(node.fault(
            "`input: staged` needs `{path}`, `{paths}`, `{folder}`, `{folders}` or `{root}` in `command`",
        )),
        Input::Stdin | Input::Shadow | Input::Staged => Ok(input),
    }
}

/// Whether a word names the file, its folder or the project.
fn names_a_place(word: &CommandWord) -> bool {
    [Hole::Path, Hole::Paths, Hole::Folder, Hole::Folders, Hole::Root].into_iter().any(|hole| word.has(hole))
}

pub(super) fn candidates(node: &YamlNode, what: &str) -> Result<Vec<CommandWord>, PolicyError> {
    let places = node.list(what)?;
    if places.is_empty() {
        return Err(node.fault(format!("{what} is empty: leave it out to look for the program by its name")));
    }
    places.iter().map(|place| candidate(place, what)).collect()
}

/// A plain name, an absolute path, or a place in the project's own environment; never another path of the project.
fn candidate(node: &YamlNode, what: &str) -> Result<CommandWord, PolicyError> {
    let place = template(node, what, &[Hole::Venv, Hole::NodeModules], &[])?;
    let text = node.text(what)?;
    let is_own = text.starts_with("{venv}/bin/") || text.starts_with("{node_modules}/.bin/");
    let climbs = text.split('/').any(|part| part == "..");
    let is_name = !text.is_empty() && !text.contains(['/', '{']);
    if climbs || !(is_own || is_name || text.starts_with('/')) {
        let wanted = "a name, an absolute path, or begin with `{venv}/bin/` or `{node_modules}/.bin/`";
        return Err(node.fault(format!("a place of {what} must be {wanted}")));
    }
    Ok(place)
}

/// Folders of the project's own environment.
fn own_folders(node: &YamlNode, what: &str) -> Result<Vec<CommandWord>, PolicyError> {
    let folder = |item: &YamlNode| match item.text(what)? {
        "{venv}/bin" | "{node_modules}/.bin" => template(item, what, &[Hole::Venv, Hole::NodeModules], &[]),
        _ => Err(item.fault(format!("{what} holds `{{venv}}/bin` and `{{node_modules}}/.bin` only"))),
    };
    node.list(what)?.iter().map(folder).collect()
}

fn missing(node: &YamlNode, what: &str) -> Result<Vec<Missing>, PolicyError> {
    let read = |item: &YamlNode| -> Result<Missing, PolicyError> {
        let fields = item.settings(what, &[keys::MISSING])?;
        let pattern = super::regex(fields.require("pattern")?, "`pattern`")?;
        Ok(Missing { pattern, fetch: fields.require("fetch")?.text("`fetch`")?.to_owned() })
    };
    node.list(what)?.iter().map(read).collect()
}

fn packages(node: &YamlNode, what: &str) -> Result<Packages, PolicyError> {
    let fields = node.settings(what, &[keys::PACKAGES])?;
    let pattern = |item: &YamlNode| -> Result<Regex, PolicyError> {
        let pattern = super::regex(item, "a pattern of `packages`")?;
        if pattern.capture_names().flatten().any(|name| name == "package") {
            return Ok(pattern);
        }
        Err(item.fault("the pattern has no group `(?P<package>...)`, which says what is missing"))
    };
    let patterns =
        |node: &YamlNode, what: &str| node.list(what)?.iter().map(pattern).collect::<Result<Vec<_>, _>>();
    Ok(Packages {
        manager: fields.require("manager")?.one_of("`manager`", &MANAGERS)?,
        findings: fields.optional("findings", patterns)?.unwrap_or_default(),
        failures: fields.optional("failures", patterns)?.unwrap_or_default(),
    })
}

fn exit_codes(node: &YamlNode, what: &str) -> Result<Vec<i32>, PolicyError> {
    node.list(what)?.iter().map(|code| exit_code(code, what)).collect()
}

/// An exit code of POSIX: 0 to 255.
pub(super) fn exit_code(node: &YamlNode, what: &str) -> Result<i32, PolicyError> {
    let code = node.within(&format!("an exit code of {what}"), keys::EXIT)?;
    Ok(i32::from(u8::try_from(code).unwrap_or(u8::MAX)))
}

fn columns(node: &YamlNode, what: &str) -> Result<Columns, PolicyError> {
    node.one_of(what, &COLUMNS)
}

pub(super) fn scope(node: &YamlNode, what: &str) -> Result<CacheScope, PolicyError> {
    node.one_of(what, &SCOPES)
}

pub(super) fn environment(node: &YamlNode, what: &str) -> Result<Vec<(String, CommandWord)>, PolicyError> {
    let setting = |(key, value): &(node::MapKey, YamlNode)| {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if key.name.is_empty() || !key.name.chars().all(is_name) {
            return Err(key.fault("a variable's name has letters, digits and `_` only"));
        }
        Ok((key.name.clone(), template(value, "a variable", &[Hole::Root, Hole::Cache, Hole::Project], &[])?))
    };
    node.entries(what)?.iter().map(setting).collect()
}
