//! The supported clients: the files, formats and names that each documents for servers, hooks and excluded tools.
//!
//! docs/init.md lists the source of each format.

use clap::ValueEnum;
use serde_json::{Map, Value, json};

use super::addition::{Addition, NAME, Scope};
use super::wanted::{Content, Wanted, WantedValue, object_fields};

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
    /// The host whose events its hooks get; `None` if it has no hooks.
    pub(super) host: Option<Host>,
    pub(super) server: ServerFormat,
    hook_files: ScopedFiles,
    pub(super) hooks: HookFormat,
    /// The next step for a person after hooks were added.
    pub(super) hooks_next: &'static str,
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

/// The file of a project, and the one of the user.
type ScopedFiles = [FilePath; 2];

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

/// The servers in a configuration of a client.
#[derive(Debug)]
pub(super) struct ServerFormat {
    files: ScopedFiles,
    pub(super) entry: ServerEntry,
    /// The next step for a person; `{folder}` stands for the folder in which the client starts the server.
    next: &'static str,
}

/// The format of an entry for a server.
#[derive(Debug)]
pub(super) struct ServerEntry {
    /// The property that contains the servers.
    key: &'static str,
    /// The value that stands for the project's folder in a server's arguments.
    root: &'static str,
    fields: EntryFields,
    pub(super) dialect: JsonDialect,
}

impl ServerEntry {
    /// The format of Claude Code, which most clients have.
    const USUAL: ServerEntry = ServerEntry {
        key: "mcpServers",
        root: ".",
        fields: EntryFields::Plain,
        dialect: JsonDialect::Strict,
    };
}

/// What a client reads in its JSON files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JsonDialect {
    Strict,
    Comments,
    /// Comments, and commas after the last item.
    CommentsAndCommas,
}

/// The fields of a server's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryFields {
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

/// How a client leaves out its own edit tools, in a configuration that it reads anyway.
#[derive(Debug, Clone, Copy)]
pub(super) enum Exclusion {
    /// A list of the names of tools, in the file of the hooks.
    List(&'static [&'static str], &'static [&'static str]),
    /// The path of a field, and the value that it gets, in the file of the server.
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

    /// Returns the file that an addition changes, or the next step if there is none.
    pub(super) fn file(self, addition: Addition, scope: Scope) -> FilePath {
        let kind = self.kind();
        let [project, user] = match (addition, kind.exclusion) {
            (Addition::Server, _) | (Addition::Exclusion, Exclusion::Value(..)) => kind.server.files,
            (Addition::Hooks, _) | (Addition::Exclusion, Exclusion::List(..)) => kind.hook_files,
            (Addition::Exclusion, Exclusion::None(why)) => return FilePath::None(why),
        };
        match scope {
            Scope::Project => project,
            Scope::User => user,
        }
    }

    /// Returns a file in which the client looks for servers, too, although `init` does not write it.
    pub(super) fn other_server_file(self) -> Option<FilePath> {
        match self {
            Client::Claude => Some(home("", &[".claude.json"])),
            Client::Opencode => Some(FilePath::Project(&[".opencode/opencode.json"])),
            Client::Copilot => Some(FilePath::Project(&[".mcp.json"])),
            Client::Antigravity => Some(home(".gemini/antigravity", &["mcp_config.json"])),
            Client::Codex
            | Client::Gemini
            | Client::Vscode
            | Client::Cursor
            | Client::Cline
            | Client::Windsurf
            | Client::Zed => None,
        }
    }
}

const fn home(folder: &'static str, names: &'static [&'static str]) -> FilePath {
    FilePath::User(UserFile { variable: None, folder, names })
}

/// A file of the user: below the folder that a variable names, or else below `folder`.
const fn user_file(
    variable: (&'static str, &'static str),
    folder: &'static str,
    names: &'static [&'static str],
) -> FilePath {
    FilePath::User(UserFile { variable: Some(variable), folder, names })
}

const fn codex_user(names: &'static [&'static str]) -> FilePath {
    user_file(("CODEX_HOME", ""), ".codex", names)
}

const fn opencode_user(names: &'static [&'static str]) -> FilePath {
    user_file(("XDG_CONFIG_HOME", "opencode"), ".config/opencode", names)
}

const ZED_HOOKS: &str =
    "Zed has no hooks of its own; those of the agent that runs in it do run, so name that agent";
const NO_EXCLUSION: &str = "it has no setting that leaves out its own edit tools; guard them with --hooks";

const NEW_SESSION: &str = "start a new session; it reads its hooks at the start";

const EDIT_TOOLS: &str = "Edit|Write|MultiEdit|NotebookEdit";
const PATCH_TOOLS: &str = "apply_patch|Edit|Write|Bash";
const CURSOR_TOOLS: &str = "Write|StrReplace|Edit|ApplyPatch|Delete";

const CLAUDE: ClientKind = ClientKind {
    name: "Claude Code",
    host: Some(Host::ClaudeCode),
    server: ServerFormat {
        files: [
            FilePath::Project(&[".mcp.json"]),
            FilePath::None(
                "run `claude mcp add --scope user lockgate -- lockgate serve`: Claude Code writes that file itself",
            ),
        ],
        entry: ServerEntry::USUAL,
        next: "start `claude` in {folder} and approve the server when it asks; `/mcp` shows it",
    },
    hook_files: [
        FilePath::Project(&[".claude/settings.json"]),
        user_file(("CLAUDE_CONFIG_DIR", ""), ".claude", &["settings.json"]),
    ],
    hooks: HookFormat::SharedGroups(&[
        ("PreToolUse", Some(EDIT_TOOLS)),
        ("PostToolUse", Some(EDIT_TOOLS)),
        ("PostToolBatch", None),
    ]),
    hooks_next: "start a new session; `/hooks` lists them",
    exclusion: Exclusion::List(&["permissions", "deny"], &["Edit", "Write", "NotebookEdit"]),
};

const CODEX: ClientKind = ClientKind {
    name: "Codex",
    host: Some(Host::Codex),
    server: ServerFormat {
        files: [FilePath::Project(&[".codex/config.toml"]), codex_user(&["config.toml"])],
        entry: ServerEntry { key: "mcp_servers", fields: EntryFields::Toml, ..ServerEntry::USUAL },
        next: "start `codex` in {folder} and trust the folder when it asks; `/mcp` shows the server",
    },
    hook_files: [FilePath::Project(&[".codex/hooks.json"]), codex_user(&["hooks.json"])],
    hooks: HookFormat::Groups(&[("PreToolUse", Some(PATCH_TOOLS)), ("PostToolUse", Some(PATCH_TOOLS))]),
    hooks_next: "start `codex` and trust the hooks with `/hooks`; it skips them until then, without a word",
    exclusion: Exclusion::None(NO_EXCLUSION),
};

const GEMINI: ClientKind = ClientKind {
    name: "Gemini CLI",
    host: Some(Host::Gemini),
    server: ServerFormat {
        files: [FilePath::Project(&[".gemini/settings.json"]), home(".gemini", &["settings.json"])],
        entry: ServerEntry { dialect: JsonDialect::Comments, ..ServerEntry::USUAL },
        next: "start `gemini` in {folder} and trust the folder when it asks; `/mcp` shows the server",
    },
    hook_files: [FilePath::Project(&[".gemini/settings.json"]), home(".gemini", &["settings.json"])],
    hooks: HookFormat::NamedGroups(&[
        ("BeforeTool", Some("replace|write_file")),
        ("AfterTool", Some("replace|write_file")),
    ]),
    hooks_next: "start a new session and trust the folder when it asks; `/hooks panel` lists them",
    exclusion: Exclusion::List(&["tools", "exclude"], &["replace", "write_file"]),
};

const OPENCODE: ClientKind = ClientKind {
    name: "opencode",
    host: Some(Host::OpenCode),
    server: ServerFormat {
        files: [
            FilePath::Project(&["opencode.jsonc", "opencode.json"]),
            opencode_user(&["opencode.jsonc", "opencode.json"]),
        ],
        entry: ServerEntry {
            key: "mcp",
            fields: EntryFields::WordList,
            dialect: JsonDialect::CommentsAndCommas,
            ..ServerEntry::USUAL
        },
        next: "start `opencode` in {folder}; `opencode mcp list` shows the server",
    },
    hook_files: [
        FilePath::Project(&[".opencode/plugins/lockgate.js"]),
        opencode_user(&["plugins/lockgate.js"]),
    ],
    hooks: HookFormat::Plugin,
    hooks_next: NEW_SESSION,
    exclusion: Exclusion::Value(&["permission", "edit"], "deny"),
};

const COPILOT: ClientKind = ClientKind {
    name: "Copilot",
    host: Some(Host::Copilot),
    server: ServerFormat {
        files: [FilePath::Project(&[".github/mcp.json"]), home(".copilot", &["mcp-config.json"])],
        entry: ServerEntry { fields: EntryFields::Local, ..ServerEntry::USUAL },
        next: "start `copilot` in {folder} and trust the folder when it asks; `/mcp show` lists the server",
    },
    hook_files: COPILOT_HOOK_FILES,
    hooks: COPILOT_HOOKS,
    hooks_next: NEW_SESSION,
    exclusion: Exclusion::None("start it with `copilot --deny-tool write`; it has no setting for that"),
};

/// VS Code reads the hooks of Copilot.
const COPILOT_HOOK_FILES: ScopedFiles =
    [FilePath::Project(&[".github/hooks/lockgate.json"]), home(".copilot", &["hooks/lockgate.json"])];

const COPILOT_HOOKS: HookFormat =
    HookFormat::OwnFile(&[("preToolUse", None), ("postToolUse", None), ("postToolUseFailure", None)]);

const VSCODE: ClientKind = ClientKind {
    name: "VS Code",
    host: Some(Host::VsCode),
    server: ServerFormat {
        files: [
            FilePath::Project(&[".vscode/mcp.json"]),
            user_file(("XDG_CONFIG_HOME", "Code/User"), ".config/Code/User", &["mcp.json"]),
        ],
        entry: ServerEntry {
            key: "servers",
            root: "${workspaceFolder}",
            fields: EntryFields::Stdio,
            dialect: JsonDialect::CommentsAndCommas,
        },
        next: "run `MCP: List Servers` from the command palette, start the server, and trust it when VS Code asks",
    },
    hook_files: COPILOT_HOOK_FILES,
    hooks: COPILOT_HOOKS,
    hooks_next: NEW_SESSION,
    exclusion: Exclusion::None(NO_EXCLUSION),
};

const CURSOR: ClientKind = ClientKind {
    name: "Cursor",
    host: Some(Host::Cursor),
    server: ServerFormat {
        files: [FilePath::Project(&[".cursor/mcp.json"]), home(".cursor", &["mcp.json"])],
        entry: ServerEntry { root: "${workspaceFolder}", ..ServerEntry::USUAL },
        next: "open Cursor's settings for MCP and switch the server on",
    },
    hook_files: [FilePath::Project(&[".cursor/hooks.json"]), home(".cursor", &["hooks.json"])],
    hooks: HookFormat::Flat {
        events: &[("preToolUse", Some(CURSOR_TOOLS)), ("postToolUse", Some(CURSOR_TOOLS))],
        field: FlatField::Timeout,
    },
    hooks_next: NEW_SESSION,
    exclusion: Exclusion::None(NO_EXCLUSION),
};

const CLINE: ClientKind = ClientKind {
    name: "Cline",
    host: Some(Host::Cline),
    server: ServerFormat {
        files: [
            FilePath::None("use --user: Cline has one list of servers for all projects"),
            home(".cline/data/settings", &["cline_mcp_settings.json"]),
        ],
        entry: ServerEntry::USUAL,
        next: "start Cline and look at its list of MCP servers; the extension for VS Code keeps its own list, which its settings open",
    },
    hook_files: [FilePath::Project(&[".clinerules/hooks"]), home("Documents/Cline", &["Hooks"])],
    hooks: HookFormat::Programs(&["PreToolUse", "PostToolUse"]),
    hooks_next: "switch hooks on in its settings if they are off",
    exclusion: Exclusion::None(NO_EXCLUSION),
};

const WINDSURF: ClientKind = ClientKind {
    name: "Windsurf",
    host: Some(Host::Windsurf),
    server: ServerFormat {
        files: [
            FilePath::None("use --user: Windsurf has one list of servers for all projects"),
            home(".codeium/windsurf", &["mcp_config.json"]),
        ],
        entry: ServerEntry::USUAL,
        next: "open Windsurf's settings for MCP servers and refresh the list",
    },
    hook_files: [FilePath::Project(&[".windsurf/hooks.json"]), home(".codeium/windsurf", &["hooks.json"])],
    hooks: HookFormat::Flat {
        events: &[("pre_write_code", None), ("post_write_code", None)],
        field: FlatField::ShowOutput,
    },
    hooks_next: NEW_SESSION,
    exclusion: Exclusion::None(NO_EXCLUSION),
};

const ANTIGRAVITY: ClientKind = ClientKind {
    name: "Antigravity",
    host: Some(Host::Antigravity),
    server: ServerFormat {
        files: [
            FilePath::Project(&[".agents/mcp_config.json"]),
            home(".gemini/config", &["mcp_config.json"]),
        ],
        entry: ServerEntry::USUAL,
        next: "open Antigravity's list of MCP servers and refresh it",
    },
    hook_files: [FilePath::Project(&[".agents/hooks.json"]), home(".gemini/config", &["hooks.json"])],
    hooks: HookFormat::Tagged(&[
        ("PreToolUse", Some("replace_file_content|multi_replace_file_content|write_to_file")),
        ("PostToolUse", Some("replace_file_content|multi_replace_file_content|write_to_file")),
    ]),
    hooks_next: NEW_SESSION,
    exclusion: Exclusion::None(NO_EXCLUSION),
};

const ZED: ClientKind = ClientKind {
    name: "Zed",
    host: None,
    server: ServerFormat {
        files: [
            FilePath::Project(&[".zed/settings.json"]),
            user_file(("XDG_CONFIG_HOME", "zed"), ".config/zed", &["settings.json"]),
        ],
        entry: ServerEntry {
            key: "context_servers",
            dialect: JsonDialect::CommentsAndCommas,
            ..ServerEntry::USUAL
        },
        next: "trust the project where Zed asks; the Agent Panel's settings show a green dot beside the server",
    },
    hook_files: [FilePath::None(ZED_HOOKS); 2],
    hooks: HookFormat::None(ZED_HOOKS),
    hooks_next: NEW_SESSION,
    exclusion: Exclusion::None(NO_EXCLUSION),
};

impl ServerFormat {
    /// Returns the entry of the server. For all projects of a user it names no root, so that the server finds that of
    /// its current folder.
    pub(super) fn entry(&self, scope: Scope, toolsets: Option<&str>) -> Map<String, Value> {
        let root: &[&str] = match scope {
            Scope::Project => &["--root", self.entry.root],
            Scope::User => &[],
        };
        let tools = toolsets.into_iter().flat_map(|list| ["--tools", list]);
        let words: Vec<&str> = ["serve"].into_iter().chain(root.iter().copied()).chain(tools).collect();
        object_fields(match self.entry.fields {
            EntryFields::Plain | EntryFields::Toml => json!({ "command": NAME, "args": words }),
            EntryFields::Stdio => json!({ "type": "stdio", "command": NAME, "args": words }),
            EntryFields::Local => {
                json!({ "type": "local", "command": NAME, "args": words, "tools": ["*"] })
            }
            EntryFields::WordList => {
                let command: Vec<&str> = [NAME].into_iter().chain(words).collect();
                json!({ "type": "local", "command": command })
            }
        })
    }

    /// Returns the next step for a person.
    pub(super) fn next(&self, scope: Scope) -> String {
        let folder = match scope {
            Scope::Project => "this folder",
            Scope::User => "the folder of a project",
        };
        self.next.replace("{folder}", folder)
    }

    /// Returns the part of a configuration with the server.
    pub(super) fn content(&self, scope: Scope, toolsets: Option<&str>) -> Content {
        let (key, fields) = (self.entry.key, self.entry(scope, toolsets));
        match self.entry.fields {
            EntryFields::Toml => Content::TomlServer { key, fields },
            EntryFields::Plain | EntryFields::Stdio | EntryFields::Local | EntryFields::WordList => {
                Content::Json(vec![Wanted { path: vec![key, NAME], value: WantedValue::Object(fields) }])
            }
        }
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
                let element = |tool: &&str| WantedValue::Element(json!(tool));
                tools.iter().map(|tool| Wanted { path: path.to_vec(), value: element(tool) }).collect()
            }
            Exclusion::Value(path, value) => {
                vec![Wanted { path: path.to_vec(), value: WantedValue::Exact(json!(value)) }]
            }
            Exclusion::None(_) => Vec::new(),
        }
    }
}
