//! The supported clients: the files, formats and names that each documents for servers, hooks and excluded tools.
//!
//! docs/init.md lists the source of each format.

use clap::ValueEnum;
use serde_json::{Map, Value, json};

use super::addition::{Addition, NAME, Scope};
use super::wanted::Wanted;

use lockgate_hosts::host::Host;

/// A coding agent, or an editor with one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli::init) enum Client {
    /// Claude Code
    #[value(alias = "claude-code")]
    Claude,
    /// Codex CLI
    Codex,
    /// Gemini CLI
    Gemini,
    /// opencode
    Opencode,
    /// GitHub Copilot CLI and cloud agent
    Copilot,
    /// VS Code
    Vscode,
    /// Cursor
    Cursor,
    /// Cline
    Cline,
    /// Windsurf
    Windsurf,
    /// Antigravity
    Antigravity,
    /// Zed
    Zed,
}

/// The features of a client, as its documentation describes them.
#[derive(Debug)]
pub(super) struct ClientKind {
    /// Display name of the client.
    pub(super) name: &'static str,
    pub(super) server: ServerFormat,
    pub(super) hooks: HookFormat,
    pub(super) exclusion: Exclusion,
}

/// A file of a configuration.
#[derive(Debug, Clone, Copy)]
pub(super) enum FilePath {
    /// Relative to the project; the first name that exists, else the last.
    Project(&'static [&'static str]),
    User(UserFile),
    /// The client has no such file; the text is the next step for a person.
    None(&'static str),
}

/// A file in a configuration folder of the user.
#[derive(Debug, Clone, Copy)]
pub(super) struct UserFile {
    /// The variable that names another folder, and what follows below that.
    pub(super) variable: Option<(&'static str, &'static str)>,
    /// The folder, relative to the home folder.
    pub(super) folder: &'static str,
    /// The file, relative to the folder; the first name that exists, else the last.
    pub(super) names: &'static [&'static str],
}

/// The format of an entry for a server.
#[derive(Debug)]
pub(super) struct ServerFormat {
    pub(super) project: FilePath,
    pub(super) user: FilePath,
    /// The property that contains the servers.
    pub(super) key: &'static str,
    /// The value that stands for the project's folder in a server's arguments.
    root: &'static str,
    entry: EntryFormat,
    pub(super) dialect: JsonDialect,
    /// The next step for a person.
    pub(super) next: &'static str,
}

/// What a client reads in its JSON files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JsonDialect {
    Strict,
    /// JSON with comments and trailing commas.
    Comments,
    /// Comments and trailing commas as well.
    CommentsAndCommas,
}

/// The fields of a server's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryFormat {
    /// An object with `command` and `args`.
    Plain,
    /// The same, with `"type": "stdio"`.
    Stdio,
    /// The same, with `"type": "local"` and the tools that are offered.
    Local,
    /// One list with the program and its arguments.
    WordList,
    /// `command` and `args` of a TOML table.
    Toml,
}

/// The format of an entry for hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HookFormat {
    /// Groups with a matcher, each with a list of programs: Codex; timeouts in seconds.
    Groups(&'static [HookEvent]),
    /// The same in a file that other clients read as well: Claude Code.
    SharedGroups(&'static [HookEvent]),
    /// The same with a name and timeouts in milliseconds: Gemini CLI.
    NamedGroups(&'static [HookEvent]),
    /// Groups below the name of the hook: Antigravity.
    Tagged(&'static [HookEvent]),
    /// A list of programs for each event: Cursor, Windsurf.
    Flat { events: &'static [HookEvent], field: FlatField },
    /// A file of lockgate's own: Copilot and VS Code.
    OwnFile(&'static [HookEvent]),
    /// A plugin in JavaScript: opencode.
    Plugin,
    /// A program for each event: Cline.
    Programs(&'static [&'static str]),
    /// The client has no hooks; the text is the next step for a person.
    None(&'static str),
}

/// An event, and the tools for which the hook runs; `None` means all.
pub(super) type HookEvent = (&'static str, Option<&'static str>);

/// The fields of a hook in a flat list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FlatField {
    /// `timeout` in seconds, and `"version": 1` at the top.
    Timeout,
    /// `"show_output": true`, and no timeout.
    ShowOutput,
}

/// How a client leaves out its own edit tools.
#[derive(Debug, Clone, Copy)]
pub(super) enum Exclusion {
    /// A list of the names of tools.
    List(&'static [&'static str], &'static [&'static str]),
    /// The path of a field, and the value that it gets.
    Value(&'static [&'static str], &'static str),
    /// It cannot; the text is the next step for a person.
    None(&'static str),
}

impl Client {
    pub(super) fn kind(self) -> ClientKind {
        match self {
            Client::Claude => CLAUDE,
            Client::Codex => CODEX,
            Client::Gemini => GEMINI,
            Client::Opencode => OPENCODE,
            Client::Copilot => COPILOT,
            Client::Vscode => VSCODE,
            Client::Cursor => CURSOR,
            Client::Cline => CLINE,
            Client::Windsurf => WINDSURF,
            Client::Antigravity => ANTIGRAVITY,
            Client::Zed => ZED,
        }
    }

    /// Returns the host whose events the client's hooks get; Zed has none.
    pub(super) fn host(self) -> Option<Host> {
        match self {
            Client::Claude => Some(Host::ClaudeCode),
            Client::Codex => Some(Host::Codex),
            Client::Gemini => Some(Host::Gemini),
            Client::Opencode => Some(Host::OpenCode),
            Client::Copilot => Some(Host::Copilot),
            Client::Vscode => Some(Host::VsCode),
            Client::Cursor => Some(Host::Cursor),
            Client::Cline => Some(Host::Cline),
            Client::Windsurf => Some(Host::Windsurf),
            Client::Antigravity => Some(Host::Antigravity),
            Client::Zed => None,
        }
    }

    /// Returns the file that an addition changes, or the next step if there is none.
    pub(super) fn file(self, addition: Addition, scope: Scope) -> FilePath {
        let kind = self.kind();
        match (addition, scope) {
            (Addition::Server, Scope::Project) => kind.server.project,
            (Addition::Server, Scope::User) => kind.server.user,
            (Addition::Hooks, _) => self.hook_file(scope),
            (Addition::Exclusion, _) => self.exclusion_file(scope),
        }
    }

    fn hook_file(self, scope: Scope) -> FilePath {
        let project = matches!(scope, Scope::Project);
        let path = |project_path: &'static [&'static str], user: UserFile| {
            if project { FilePath::Project(project_path) } else { FilePath::User(user) }
        };
        match self {
            Client::Claude => self.exclusion_file(scope),
            Client::Codex => path(&[".codex/hooks.json"], codex_user(&["hooks.json"])),
            Client::Gemini => path(&[".gemini/settings.json"], home(".gemini", &["settings.json"])),
            Client::Opencode => {
                path(&[".opencode/plugins/lockgate.js"], opencode_user(&["plugins/lockgate.js"]))
            }
            // VS Code reads the hooks of Copilot.
            Client::Copilot | Client::Vscode => {
                path(&[".github/hooks/lockgate.json"], home(".copilot", &["hooks/lockgate.json"]))
            }
            Client::Cursor => path(&[".cursor/hooks.json"], home(".cursor", &["hooks.json"])),
            Client::Cline => path(&[".clinerules/hooks"], home("Documents/Cline", &["Hooks"])),
            Client::Windsurf => path(&[".windsurf/hooks.json"], home(".codeium/windsurf", &["hooks.json"])),
            Client::Antigravity => path(&[".agents/hooks.json"], home(".gemini/config", &["hooks.json"])),
            Client::Zed => FilePath::None(ZED_HOOKS),
        }
    }

    fn exclusion_file(self, scope: Scope) -> FilePath {
        if let Exclusion::None(why) = self.kind().exclusion {
            return FilePath::None(why);
        }
        match (self, scope) {
            (Client::Claude, Scope::Project) => FilePath::Project(&[".claude/settings.json"]),
            (Client::Claude, Scope::User) => FilePath::User(UserFile {
                variable: Some(("CLAUDE_CONFIG_DIR", "")),
                folder: ".claude",
                names: &["settings.json"],
            }),
            (Client::Gemini, _) => self.hook_file(scope),
            (_, Scope::Project) => OPENCODE.server.project,
            (_, Scope::User) => OPENCODE.server.user,
        }
    }
}

const fn home(folder: &'static str, names: &'static [&'static str]) -> UserFile {
    UserFile { variable: None, folder, names }
}

const fn codex_user(names: &'static [&'static str]) -> UserFile {
    UserFile { variable: Some(("CODEX_HOME", "")), folder: ".codex", names }
}

const fn opencode_user(names: &'static [&'static str]) -> UserFile {
    UserFile { variable: Some(("XDG_CONFIG_HOME", "opencode")), folder: ".config/opencode", names }
}

const ZED_HOOKS: &str =
    "Zed has no hooks of its own; those of the agent that runs in it do run, so name that agent";
const NO_EXCLUSION: &str = "it has no setting that leaves out its own edit tools; guard them with --hooks";

const EDIT_TOOLS: &str = "Edit|Write|MultiEdit|NotebookEdit";
const PATCH_TOOLS: &str = "apply_patch|Edit|Write|Bash";

const CLAUDE: ClientKind = ClientKind {
    name: "Claude Code",
    server: ServerFormat {
        project: FilePath::Project(&[".mcp.json"]),
        user: FilePath::None(
            "run `claude mcp add --scope user lockgate -- lockgate serve`: Claude Code writes that file itself",
        ),
        key: "mcpServers",
        root: ".",
        entry: EntryFormat::Plain,
        dialect: JsonDialect::Strict,
        next: "start `claude` in this folder and approve the server when it asks; `/mcp` shows it",
    },
    hooks: HookFormat::SharedGroups(&[
        ("PreToolUse", Some(EDIT_TOOLS)),
        ("PostToolUse", Some(EDIT_TOOLS)),
        ("PostToolBatch", None),
    ]),
    exclusion: Exclusion::List(&["permissions", "deny"], &["Edit", "Write", "NotebookEdit"]),
};

const CODEX: ClientKind = ClientKind {
    name: "Codex",
    server: ServerFormat {
        project: FilePath::Project(&[".codex/config.toml"]),
        user: FilePath::User(codex_user(&["config.toml"])),
        key: "mcp_servers",
        root: ".",
        entry: EntryFormat::Toml,
        dialect: JsonDialect::Strict,
        next: "start `codex` in this folder and trust the folder when it asks; `/mcp` shows the server",
    },
    hooks: HookFormat::Groups(&[("PreToolUse", Some(PATCH_TOOLS)), ("PostToolUse", Some(PATCH_TOOLS))]),
    exclusion: Exclusion::None(NO_EXCLUSION),
};

const GEMINI: ClientKind = ClientKind {
    name: "Gemini CLI",
    server: ServerFormat {
        project: FilePath::Project(&[".gemini/settings.json"]),
        user: FilePath::User(home(".gemini", &["settings.json"])),
        key: "mcpServers",
        root: ".",
        entry: EntryFormat::Plain,
        dialect: JsonDialect::Comments,
        next: "start `gemini` in this folder and trust the folder when it asks; `/mcp` shows the server",
    },
    hooks: HookFormat::NamedGroups(&[
        ("BeforeTool", Some("replace|write_file")),
        ("AfterTool", Some("replace|write_file")),
    ]),
    exclusion: Exclusion::List(&["tools", "exclude"], &["replace", "write_file"]),
};

const OPENCODE: ClientKind = ClientKind {
    name: "opencode",
    server: ServerFormat {
        project: FilePath::Project(&["opencode.jsonc", "opencode.json"]),
        user: FilePath::User(opencode_user(&["opencode.jsonc", "opencode.json"])),
        key: "mcp",
        root: ".",
        entry: EntryFormat::WordList,
        dialect: JsonDialect::CommentsAndCommas,
        next: "start `opencode` in this folder; `opencode mcp list` shows the server",
    },
    hooks: HookFormat::Plugin,
    exclusion: Exclusion::Value(&["permission", "edit"], "deny"),
};

const COPILOT: ClientKind = ClientKind {
    name: "Copilot",
    server: ServerFormat {
        project: FilePath::Project(&[".github/mcp.json"]),
        user: FilePath::User(home(".copilot", &["mcp-config.json"])),
        key: "mcpServers",
        root: ".",
        entry: EntryFormat::Local,
        dialect: JsonDialect::Strict,
        next: "start `copilot` in this folder and trust the folder when it asks; `/mcp show` lists the server",
    },
    hooks: COPILOT_HOOKS,
    exclusion: Exclusion::None("start it with `copilot --deny-tool write`; it has no setting for that"),
};

const COPILOT_HOOKS: HookFormat =
    HookFormat::OwnFile(&[("preToolUse", None), ("postToolUse", None), ("postToolUseFailure", None)]);

const VSCODE: ClientKind = ClientKind {
    name: "VS Code",
    server: ServerFormat {
        project: FilePath::Project(&[".vscode/mcp.json"]),
        user: FilePath::User(UserFile {
            variable: Some(("XDG_CONFIG_HOME", "Code/User")),
            folder: ".config/Code/User",
            names: &["mcp.json"],
        }),
        key: "servers",
        root: "${workspaceFolder}",
        entry: EntryFormat::Stdio,
        dialect: JsonDialect::CommentsAndCommas,
        next: "run `MCP: List Servers` from the command palette, start the server, and trust it when VS Code asks",
    },
    hooks: COPILOT_HOOKS,
    exclusion: Exclusion::None(NO_EXCLUSION),
};

const CURSOR: ClientKind = ClientKind {
    name: "Cursor",
    server: ServerFormat {
        project: FilePath::Project(&[".cursor/mcp.json"]),
        user: FilePath::User(home(".cursor", &["mcp.json"])),
        key: "mcpServers",
        root: "${workspaceFolder}",
        entry: EntryFormat::Plain,
        dialect: JsonDialect::Strict,
        next: "open Cursor's settings for MCP and switch the server on",
    },
    hooks: HookFormat::Flat {
        events: &[("preToolUse", Some("Write|StrReplace|Edit|ApplyPatch|Delete")), ("afterFileEdit", None)],
        field: FlatField::Timeout,
    },
    exclusion: Exclusion::None(NO_EXCLUSION),
};

const CLINE: ClientKind = ClientKind {
    name: "Cline",
    server: ServerFormat {
        project: FilePath::None("use --user: Cline has one list of servers for all projects"),
        user: FilePath::User(home(".cline/data/settings", &["cline_mcp_settings.json"])),
        key: "mcpServers",
        root: ".",
        entry: EntryFormat::Plain,
        dialect: JsonDialect::Strict,
        next: "start Cline and look at its list of MCP servers; the extension for VS Code keeps its own list, which its settings open",
    },
    hooks: HookFormat::Programs(&["PreToolUse", "PostToolUse"]),
    exclusion: Exclusion::None(NO_EXCLUSION),
};

const WINDSURF: ClientKind = ClientKind {
    name: "Windsurf",
    server: ServerFormat {
        project: FilePath::None("use --user: Windsurf has one list of servers for all projects"),
        user: FilePath::User(home(".codeium/windsurf", &["mcp_config.json"])),
        key: "mcpServers",
        root: ".",
        entry: EntryFormat::Plain,
        dialect: JsonDialect::Strict,
        next: "open Windsurf's settings for MCP servers and refresh the list",
    },
    hooks: HookFormat::Flat {
        events: &[("pre_write_code", None), ("post_write_code", None)],
        field: FlatField::ShowOutput,
    },
    exclusion: Exclusion::None(NO_EXCLUSION),
};

const ANTIGRAVITY: ClientKind = ClientKind {
    name: "Antigravity",
    server: ServerFormat {
        project: FilePath::Project(&[".agents/mcp_config.json"]),
        user: FilePath::User(home(".gemini/config", &["mcp_config.json"])),
        key: "mcpServers",
        root: ".",
        entry: EntryFormat::Plain,
        dialect: JsonDialect::Strict,
        next: "open Antigravity's list of MCP servers and refresh it",
    },
    hooks: HookFormat::Tagged(&[
        ("PreToolUse", Some("replace_file_content|multi_replace_file_content|write_to_file")),
        ("PostToolUse", Some("replace_file_content|multi_replace_file_content|write_to_file")),
    ]),
    exclusion: Exclusion::None(NO_EXCLUSION),
};

const ZED: ClientKind = ClientKind {
    name: "Zed",
    server: ServerFormat {
        project: FilePath::Project(&[".zed/settings.json"]),
        user: FilePath::User(UserFile {
            variable: Some(("XDG_CONFIG_HOME", "zed")),
            folder: ".config/zed",
            names: &["settings.json"],
        }),
        key: "context_servers",
        root: ".",
        entry: EntryFormat::Plain,
        dialect: JsonDialect::CommentsAndCommas,
        next: "trust the project where Zed asks; the Agent Panel's settings show a green dot beside the server",
    },
    hooks: HookFormat::None(ZED_HOOKS),
    exclusion: Exclusion::None(NO_EXCLUSION),
};

impl ServerFormat {
    /// Returns the entry of the server. For all projects of a user it names no root, so that the server finds that of
    /// its current folder.
    pub(super) fn entry(&self, scope: Scope, toolsets: Option<&str>) -> Map<String, Value> {
        let root: &[&str] = match scope {
            Scope::Project => &["--root", self.root],
            Scope::User => &[],
        };
        let tools = toolsets.into_iter().flat_map(|list| ["--tools", list]);
        let words: Vec<&str> = ["serve"].into_iter().chain(root.iter().copied()).chain(tools).collect();
        let mut entry = Map::new();
        match self.entry {
            EntryFormat::Stdio => drop(entry.insert("type".to_owned(), json!("stdio"))),
            EntryFormat::Local | EntryFormat::WordList => {
                drop(entry.insert("type".to_owned(), json!("local")))
            }
            EntryFormat::Plain | EntryFormat::Toml => {}
        }
        if self.entry == EntryFormat::WordList {
            entry.insert("command".to_owned(), [NAME].into_iter().chain(words).collect());
            return entry;
        }
        entry.insert("command".to_owned(), json!(NAME));
        entry.insert("args".to_owned(), json!(words));
        if self.entry == EntryFormat::Local {
            entry.insert("tools".to_owned(), json!(["*"]));
        }
        entry
    }

    pub(super) fn is_toml(&self) -> bool {
        self.entry == EntryFormat::Toml
    }

    /// Returns the part of a JSON configuration with the server.
    pub(super) fn wanted(&self, scope: Scope, toolsets: Option<&str>) -> Vec<Wanted> {
        vec![Wanted::Object { path: vec![self.key, NAME], fields: self.entry(scope, toolsets) }]
    }
}

impl HookFormat {
    /// Returns the event before an edit, in a configuration with events.
    pub(super) fn first_event(self) -> Option<&'static str> {
        match self {
            HookFormat::Groups(events)
            | HookFormat::SharedGroups(events)
            | HookFormat::NamedGroups(events)
            | HookFormat::Tagged(events)
            | HookFormat::OwnFile(events)
            | HookFormat::Flat { events, .. } => events.first().map(|(event, _)| *event),
            HookFormat::Plugin | HookFormat::Programs(_) | HookFormat::None(_) => None,
        }
    }
}

impl Exclusion {
    /// Returns the parts of a JSON configuration that leave out the edit tools.
    pub(super) fn wanted(self) -> Vec<Wanted> {
        match self {
            Exclusion::List(path, tools) => {
                let part = |tool: &&str| Wanted::Element { path: path.to_vec(), value: json!(tool) };
                tools.iter().map(part).collect()
            }
            Exclusion::Value(path, value) => vec![Wanted::Value { path: path.to_vec(), value: json!(value) }],
            Exclusion::None(_) => Vec::new(),
        }
    }
}
