//! Gates of the kind `command`: the way a program gets the draft, and the parsing of its output.

use regex::Regex;

use super::output::{Columns, EXIT, OUTPUT, OutputForm, OutputSpec, Stream, output};
use super::project::{
    Configuration, ProjectValue, Unconfigured, VALUE, configuration, names, unconfigured, value,
};
use super::release::{Release, release};
use super::template::{CommandWord, Hole, WordPart, template};
use crate::language::names as names_file;
use crate::node::{MapFields, MapKey, PolicyError, YamlNode};
use crate::severity::Severity;
use crate::value_shape::tables;
use crate::words::words;

/// The command for older versions of a program.
#[derive(Debug)]
pub struct OlderRelease {
    /// The first version that uses the gate's main command.
    pub before: Release,
    /// The command for all earlier versions, and for a program of unknown version.
    pub command: CommandSpec,
}

/// The program of a gate.
#[derive(Debug)]
pub struct ProgramSpec {
    /// Its name, for messages.
    pub name: String,
    /// Candidates for the program; the first that exists is used. A bare name is searched in `PATH`.
    pub bin: Vec<CommandWord>,
    /// The arguments that make it print its version.
    pub probe: Vec<String>,
    /// Package URLs that install it, such as `pkg:pypi/bandit`.
    pub install: Vec<String>,
}

/// The environment in which a program runs.
#[derive(Debug, Default)]
pub struct RunEnvironment {
    /// The program runs in the nearest folder above the file that has one of these files, else in the root. If none of
    /// them contains the text that it must, the text does not count.
    pub cwd: Vec<Configuration>,
    /// Folders that precede the program's search path, if they exist.
    pub path: Vec<CommandWord>,
    /// Variables that are added.
    pub variables: Vec<(String, CommandWord)>,
    /// True if the program may use the network.
    pub network: bool,
}

/// The files that a program checks.
#[derive(Debug, Default)]
pub struct FileFilter {
    /// Names of files that the program always ignores; one `*` in a name matches any characters.
    pub except: Vec<String>,
    /// The only files that the program checks, each in the notation of `languages.yaml`; all if empty.
    pub only: Vec<String>,
}

/// Recognises runs and findings that only lack dependencies.
#[derive(Debug, Default)]
pub struct DependencyPatterns {
    /// Patterns for runs that fail because dependencies are not installed.
    pub missing: Vec<Missing>,
    /// Patterns for npm or Python packages that cannot be found.
    pub packages: Option<Packages>,
}

/// A failure for lack of dependencies.
#[derive(Debug)]
pub struct Missing {
    /// Matches the program's output if dependencies are missing.
    pub pattern: Regex,
    /// The command that fetches them.
    pub fetch: String,
}

words! {
    /// The package manager that installs what a project declares.
    pub enum Manager {
        /// npm and its like: `package.json` and `node_modules`.
        Npm = "npm",
        /// pip and its like: `pyproject.toml`, `requirements.txt` and `.venv`.
        Python = "python",
    }
}

/// Recognises a program's messages about a package that it cannot find. Each pattern has a group `package`.
/// Only a declared package that is not installed counts; an undeclared one stays an error.
#[derive(Debug)]
pub struct Packages {
    /// The package manager that installs them.
    pub manager: Manager,
    /// Patterns on `code message` of findings, which then warn and name the command that installs.
    pub findings: Vec<Regex>,
    /// Patterns on the output of a run that failed, which is then unavailable.
    pub failures: Vec<Regex>,
}

/// A program that judges drafts. It is started with an argument vector, never through a shell.
#[derive(Debug)]
pub struct CommandSpec {
    /// The way in which the program gets the draft.
    pub input: Input,
    /// The program.
    pub program: ProgramSpec,
    /// The words after the program.
    pub words: Vec<CommandWord>,
    /// The environment in which it runs.
    pub environment: RunEnvironment,
    /// The way in which its output is read.
    pub output: OutputSpec,
    /// Recognises a lack of dependencies in its output.
    pub dependencies: DependencyPatterns,
    /// The inputs that the result depends on.
    pub scope: CacheScope,
    /// Files whose text affects the result, from the file's folder up to the root.
    pub config: Vec<Configuration>,
    /// The behaviour without any of these files.
    pub unconfigured: Unconfigured,
    /// Values from files of the project, filled in by name.
    pub values: Vec<ProjectValue>,
    /// The files that the program checks.
    pub files: FileFilter,
    /// The command for older versions, if it differs.
    pub older: Option<Box<OlderRelease>>,
}

impl CommandSpec {
    /// True if the command keeps data between its runs, in `{cache}`.
    pub fn keeps_cache(&self) -> bool {
        let variables = self.environment.variables.iter().map(|(_, value)| value);
        self.words.iter().chain(variables).any(|word| word.has(Hole::Cache))
    }

    /// Returns the command for this version of the program, if it is known.
    pub fn for_release(&self, release: Option<&Release>) -> &CommandSpec {
        match &self.older {
            Some(older) if release.is_none_or(|release| *release < older.before) => &older.command,
            Some(_) | None => self,
        }
    }

    /// Returns a command whose exit code tells if the project is valid; its program is a name or an absolute
    /// path.
    pub(super) fn validating(program: &str, words: &[String]) -> CommandSpec {
        CommandSpec {
            input: Input::Staged,
            program: ProgramSpec {
                name: program.to_owned(),
                bin: vec![plain(program)],
                probe: Vec::new(),
                install: Vec::new(),
            },
            words: words.iter().map(|word| plain(word)).collect(),
            environment: RunEnvironment {
                cwd: POLICY_FILES.map(Configuration::of_any_text).to_vec(),
                variables: validating_env(program),
                ..RunEnvironment::default()
            },
            output: OutputSpec {
                form: OutputForm::Exit(String::new()),
                from: Stream::Both,
                severity: Severity::Error,
                exit_codes: (0..=255).collect(),
                ignored_input: None,
                columns: Columns::Characters,
            },
            dependencies: DependencyPatterns::default(),
            scope: CacheScope::Project,
            config: Vec::new(),
            unconfigured: Unconfigured::default(),
            values: Vec::new(),
            files: FileFilter::default(),
            older: None,
        }
    }
}

impl FileFilter {
    /// True if the program always ignores this file.
    pub fn excludes(&self, path: &str) -> bool {
        let is_meant = self.only.is_empty() || self.only.iter().any(|name| names_file(name, path));
        !is_meant || self.except.iter().any(|name| names_file(name, path))
    }
}

/// Returns the environment that directs the writes of a project's own command elsewhere: the project is
/// read-only.
fn validating_env(program: &str) -> Vec<(String, CommandWord)> {
    let cache = |rest: &str| CommandWord {
        parts: vec![WordPart::Hole(Hole::Cache), WordPart::Text(rest.to_owned())],
    };
    let mut env = vec![("GOCACHE".to_owned(), cache("/go-build"))];
    if program.rsplit('/').next() == Some("cargo") {
        let mut target = cache("/validate/");
        target.parts.push(WordPart::Hole(Hole::Project));
        env.push(("CARGO_TARGET_DIR".to_owned(), target));
    }
    env
}

words! {
    /// The way in which a program gets the draft.
    pub enum Input {
        /// The draft is written to standard input.
        Stdin = "stdin",
        /// A command-line option of the program names the draft or an overlay.
        Shadow = "shadow",
        /// The draft is placed in a linked copy of the project.
        Staged = "staged",
    }

    /// The inputs of a result beside the file's text and the configuration.
    pub enum CacheScope {
        /// No other file affects the result.
        File = "file",
        /// The files in the same folder.
        Package = "package",
        /// All files below the root.
        Project = "project",
    }
}

/// The files in the folder of a policy.
const POLICY_FILES: [&str; 3] = ["quality.yaml", ".lockgate", ".st3"];

/// The placeholders that a command may use.
const IN_COMMAND: [Hole; 9] = {
    use Hole::*;
    [Path, Folder, Paths, Folders, Root, Draft, Overlay, Cache, Args]
};

pub(super) fn command(fields: &MapFields) -> Result<CommandSpec, PolicyError> {
    let own = parse_command(fields, fields)?;
    let Some(node) = fields.get("older") else { return Ok(own) };
    let older = node.settings("`older`", &[OLDER])?;
    if own.program.probe.is_empty() {
        return Err(node.fault("`older` needs `probe`, which prints the version"));
    }
    let command = parse_command(fields, &older)?;
    if command.program.name != own.program.name {
        return Err(node.fault(format!("the program of `older` must be `{}`, too", own.program.name)));
    }
    if let Some(hole) = hole_of_one(&own, &command).map(Hole::name) {
        return Err(node.fault(format!(
            "`{{{hole}}}` is in only one of `command` and `older.command`: both must pass files in the same way, because several drafts share one run"
        )));
    }
    let older = OlderRelease { before: release(older.require("than")?, "`than`")?, command };
    Ok(CommandSpec { older: Some(Box::new(older)), ..own })
}

/// Returns a placeholder for a file or folder that only one of two commands has. The way in which they get
/// the draft may differ.
fn hole_of_one(one: &CommandSpec, other: &CommandSpec) -> Option<Hole> {
    let has = |command: &CommandSpec, hole: Hole| command.words.iter().any(|word| word.has(hole));
    let differs = |hole: Hole| has(one, hole) != has(other, hole);
    let is_about_one_file = |command: &CommandSpec| {
        let names_it = has(command, Hole::Path) || has(command, Hole::Draft);
        command.input == Input::Stdin || (names_it && !has(command, Hole::Paths))
    };
    let place = [Hole::Paths, Hole::Folders, Hole::Folder].into_iter().find(|hole| differs(*hole));
    place.or_else(|| (is_about_one_file(one) != is_about_one_file(other)).then_some(Hole::Path))
}

/// Builds the command with the words and the input of `invocation`.
fn parse_command(fields: &MapFields, invocation: &MapFields) -> Result<CommandSpec, PolicyError> {
    let argv = invocation.require("command")?;
    let node = invocation.require("input")?;
    let Some((first, words)) = argv.list("`command`")?.split_first() else {
        return Err(argv.fault("`command` is empty: the first word must be the program"));
    };
    let program = first.text("the program")?.to_owned();
    if program.is_empty() || program.contains(['{', '/', '\0']) {
        return Err(first.fault("the program must be a plain name; `bin` says where to look for it"));
    }
    let values = fields.each_entry("values", value)?;
    let own: Vec<&str> = values.iter().map(|value| value.name.as_str()).collect();
    let words = words.iter().map(|word| template(word, "a word of `command`", &IN_COMMAND, &own));
    let words = words.collect::<Result<Vec<_>, _>>()?;
    Ok(CommandSpec {
        program: program_spec(program, fields, fields)?,
        input: check_input(invocation.read_required("input")?, node, &words)?,
        words,
        environment: RunEnvironment {
            path: fields.each("path", own_folder)?,
            cwd: fields.each("cwd", configuration)?,
            variables: fields.each_entry("env", variable)?,
            network: fields.read("network", false)?,
        },
        output: output(fields)?,
        dependencies: DependencyPatterns {
            missing: fields.each("missing", missing)?,
            packages: fields.optional("packages", packages)?,
        },
        scope: fields.read("scope", CacheScope::File)?,
        config: fields.each("config", configuration)?,
        unconfigured: fields.optional("unconfigured", unconfigured)?.unwrap_or_default(),
        values,
        files: FileFilter {
            except: fields.optional("except", names)?.unwrap_or_default(),
            only: fields.optional("only", names_with_folders)?.unwrap_or_default(),
        },
        older: None,
    })
}

/// Reads the program of this name: `bin` is in `own`, and the rest in the fields of the definition.
pub(super) fn program_spec(
    name: String,
    own: &MapFields,
    fields: &MapFields,
) -> Result<ProgramSpec, PolicyError> {
    let bin = own.optional("bin", candidates)?.unwrap_or_else(|| vec![plain(&name)]);
    let probe: Vec<String> = fields.read("probe", Vec::new())?;
    let probe = probe.into_iter().skip(1).collect();
    Ok(ProgramSpec { name, bin, probe, install: fields.read("install", Vec::new())? })
}

/// Reads names of files, which may have folders before them.
fn names_with_folders(node: &YamlNode, what: &str) -> Result<Vec<String>, PolicyError> {
    node.texts_unless(what, str::is_empty, "contains an empty name, which no file has")
}

fn plain(word: &str) -> CommandWord {
    CommandWord { parts: vec![WordPart::Text(word.to_owned())] }
}

/// Returns the input if it fits the words: without a placeholder for it, a shadow would leave the program
/// with the file on disk.
fn check_input(input: Input, node: &YamlNode, words: &[CommandWord]) -> Result<Input, PolicyError> {
    let has = |holes: &[Hole]| words.iter().any(|word| holes.iter().any(|hole| word.has(*hole)));
    let shadows = has(&[Hole::Draft, Hole::Overlay]);
    let has_path = has(&[Hole::Path, Hole::Paths, Hole::Folder, Hole::Folders, Hole::Root]);
    match input {
        Input::Shadow if !shadows => {
            Err(node.fault("`input: shadow` needs `{draft}` or `{overlay}` in `command`"))
        }
        Input::Stdin | Input::Staged if shadows => {
            Err(node.fault("`{draft}` and `{overlay}` belong to `input: shadow`"))
        }
        Input::Staged if !has_path => Err(node.fault(
            "`input: staged` needs `{path}`, `{paths}`, `{folder}`, `{folders}` or `{root}` in `command`",
        )),
        Input::Stdin | Input::Shadow | Input::Staged => Ok(input),
    }
}

fn candidates(node: &YamlNode, what: &str) -> Result<Vec<CommandWord>, PolicyError> {
    let places = node.list(what)?;
    if places.is_empty() {
        return Err(node.fault(format!("{what} is empty: leave it out to find the program by its name")));
    }
    places.iter().map(|place| candidate(place, what)).collect()
}

/// Reads a plain name, an absolute path, or a path in the project's own environment; no other path of the
/// project.
fn candidate(node: &YamlNode, what: &str) -> Result<CommandWord, PolicyError> {
    let place = template(node, what, &[Hole::Venv, Hole::NodeModules], &[])?;
    let text = node.text(what)?;
    let is_own = text.starts_with("{venv}/bin/") || text.starts_with("{node_modules}/.bin/");
    let climbs = text.split('/').any(|part| part == "..");
    let is_name = !text.is_empty() && !text.contains(['/', '{']);
    if climbs || !(is_own || is_name || text.starts_with('/')) {
        let expected = "a name, an absolute path, or begin with `{venv}/bin/` or `{node_modules}/.bin/`";
        return Err(node.fault(format!("an entry of {what} must be {expected}")));
    }
    Ok(place)
}

/// A folder of the project's own environment.
fn own_folder(item: &YamlNode, what: &str) -> Result<CommandWord, PolicyError> {
    match item.text(what)? {
        "{venv}/bin" | "{node_modules}/.bin" => template(item, what, &[Hole::Venv, Hole::NodeModules], &[]),
        _ => Err(item.fault(format!("{what} may contain only `{{venv}}/bin` and `{{node_modules}}/.bin`"))),
    }
}

fn missing(node: &YamlNode, what: &str) -> Result<Missing, PolicyError> {
    let fields = node.settings(what, &[MISSING])?;
    Ok(Missing { pattern: fields.read_required("pattern")?, fetch: fields.read_required("fetch")? })
}

fn packages(node: &YamlNode, what: &str) -> Result<Packages, PolicyError> {
    let fields = node.settings(what, &[PACKAGES])?;
    let pattern = |item: &YamlNode, _: &str| -> Result<Regex, PolicyError> {
        let pattern = item.regex("a pattern of `packages`")?;
        if pattern.capture_names().flatten().any(|name| name == "package") {
            return Ok(pattern);
        }
        Err(item.fault("the pattern has no group `(?P<package>...)` for the missing package"))
    };
    Ok(Packages {
        manager: fields.read_required("manager")?,
        findings: fields.each("findings", pattern)?,
        failures: fields.each("failures", pattern)?,
    })
}

/// Reads a variable of the environment.
pub(super) fn variable(key: &MapKey, value: &YamlNode) -> Result<(String, CommandWord), PolicyError> {
    key.check_plain("a variable name")?;
    Ok((key.name.clone(), template(value, "a variable", &[Hole::Root, Hole::Cache, Hole::Project], &[])?))
}

tables! {
    /// Definitions of the kind `command`.
    COMMAND {
        "command": List(&Text, 1), Required => "`command`: the program and its arguments, without a shell";
        "input": Words(Input::WORDS), Required => "`command`: how the program gets the draft";
        "output": OUTPUT, Required => "`command`: how its output is read";
        "bin": List(&Text, 1), Described("the program's name") => "`command`: where to look for the program";
        "path": List(&Words(&["{venv}/bin", "{node_modules}/.bin"]), 0), Is("[]")
            => "`command`: folders to put before its search path, if they exist";
        "cwd": List(&Text, 0), Is("[]")
            => "`command`: it runs in the nearest folder above the file that has one of these files, else in the root; `name#text` counts if the file contains that text, or if none of the files counts";
        "ran": List(&Whole(EXIT), 0), Is("[0, 1]") => "`command`: the exit codes after which its output is read";
        "unseen": Regex, Described("none") => "`command`: what it prints when it skipped the file";
        "missing": List(&Map(&[MISSING]), 0), Is("[]")
            => "`command`: what it prints when it fails because dependencies are missing on this machine";
        "packages": Map(&[PACKAGES]), Described("none")
            => "`command`: what it prints when it cannot find a package of npm or Python; counts if the project declares the package and it is not installed";
        "columns": Words(Columns::WORDS), Is("characters") => "`command`: the unit of its columns";
        "scope": Words(CacheScope::WORDS), Is("file") => "`command`: what its result depends on";
        "config": List(&Text, 0), Is("[]")
            => "`command`: names of files whose text changes its result; `name#text` counts if the file contains that text";
        "unconfigured": Either(&[Words(&["skip"]), List(&Text, 0)]), Is("[]")
            => "`command`: without any `config` file it is skipped, or gets these arguments before those of `args`";
        "values": ByName("^[A-Za-z0-9_]+$", &Map(&[VALUE])), Is("{}")
            => "`command`: values from files of the project, filled in as `{name}`";
        "env": ByName("^[A-Za-z0-9_]+$", &Text), Is("{}") => "`command`: additional environment variables";
        "except": List(&Text, 0), Is("[]")
            => "`command`: names of files that it never checks; `*` matches any characters";
        "only": List(&Text, 0), Is("[]")
            => "`command`: names of the only files that it checks, with folders before them if it needs those";
        "network": Flag, Is("false") => "`command`: whether it may use the network";
        "probe": List(&Text, 0), Is("[]") => "`command`: the arguments that print its version";
        "install": List(&Text, 0), Is("[]") => "`command`: where to get it, as package URLs";
        "older": Map(&[OLDER]), Described("the same") => "`command`: how to run a program that is older than `command` requires";
    }
    PACKAGES {
        "manager": Words(Manager::WORDS), Required => "the package manager; the lock file selects the command";
        "findings": List(&Regex, 0), Is("[]")
            => "patterns on `code message` with a group `package`: such findings warn, and name the install command";
        "failures": List(&Regex, 0), Is("[]")
            => "patterns with a group `package` on what a failed run prints: the gate is `unavailable`, and names the command";
    }
    MISSING {
        "pattern": Regex, Required => "what it prints, on stdout or stderr";
        "fetch": Text, Required => "the command that fetches them, for the message";
    }
    OLDER {
        "than": Text, Required => "the first version that supports `command`, as `1.24`; compared with the output of `probe`";
        "input": Words(Input::WORDS), Required => "how an older program gets the draft";
        "command": List(&Text, 1), Required => "the same program, with the arguments for an older version";
    }
}
