//! Checks drafts with long-running language servers, by the Language Server Protocol 3.17.
//!
//! A server sees the draft as an open document, together with the other drafts of the call. Afterwards it
//! gets the text on disk again. Its diagnostics are read like the findings of the gate's command, under the
//! same name.
//!
//! Invariant: only a response about exactly this text counts. A server without a response in time is late,
//! one that cannot be used is [`GateError::Unreachable`], and neither is ever taken for one without findings.

mod capabilities;
mod documents;
mod frame;
mod imports;
mod pool;
mod running;
mod session;
mod state;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use self::capabilities::Capabilities;
use self::pool::ServerKey;
use self::running::Launch;
use self::session::{DiagnosticsRequest, DocumentText};
use super::command::{ProgramInput, project};
use super::error::GateError;
use super::output::{ToolFinding, diagnostic_findings};
use super::overlay::DraftOverlay;
use super::runtime::{self, GateRuntime};
use super::stage::Stage;
use lockgate_policy::{CommandWord, Hole, Language, NewFiles, ServerSpec, WordPart};
use lockgate_sandbox::{Isolation, Limit, Sandbox, create_private, isolation_shortfall, strongest};
use lockgate_text::{Buffer, Version};

pub(super) use self::pool::{PoolLimits, ServerPool};

/// Checks the text and those of `batched` with the server, and returns the findings of each, in this order.
/// Waits for its turn at the server and for a slot first; the gate's time starts after that.
pub(super) fn check(
    input: &ProgramInput<'_>,
    server: &ServerSpec,
    runtime: &GateRuntime,
    limit: Limit<'_>,
) -> Result<Vec<Vec<ToolFinding>>, GateError> {
    let program = ServerProgram::new(input, server);
    let request = program.request()?;
    let buffers: Vec<&Buffer> =
        std::iter::once(input.text).chain(input.batched.iter().filter_map(|other| other.text)).collect();
    let launch = || program.launch(runtime.pool.limits);
    runtime.pool.with_server(&program.key(), &request, limit, launch, |session| {
        let _slot = runtime.slots.take(limit)?;
        let (items, columns) = session.diagnostics(&request, limit.with_timeout(input.rule.timeout))?;
        let both = items.iter().zip(&buffers);
        both.map(|(items, text)| diagnostic_findings(items, server, columns, text)).collect()
    })
}

/// Starts the server for a text, if it does not run yet.
pub(super) fn prewarm(input: &ProgramInput<'_>, server: &ServerSpec, pool: &ServerPool) {
    let program = ServerProgram::new(input, server);
    pool.prewarm(&program.key(), || program.launch(pool.limits));
}

/// The server of a gate, for the project folder of a text.
struct ServerProgram<'s, 'a> {
    input: &'s ProgramInput<'a>,
    server: &'s ServerSpec,
    /// The folder that the server is started for.
    folder: PathBuf,
}

impl<'s, 'a> ServerProgram<'s, 'a> {
    fn new(input: &'s ProgramInput<'a>, server: &'s ServerSpec) -> ServerProgram<'s, 'a> {
        let folder = project::join(input.root, project::folder_of(input.root, input.path, &server.cwd));
        ServerProgram { input, server, folder }
    }

    fn key(&self) -> ServerKey {
        let gate = &self.input.rule.gate;
        ServerKey {
            project: Version::of_value(&(&gate.name, &self.folder)),
            configuration: runtime::configured(gate, self.server, self.input.program, &self.folder),
        }
    }

    /// Returns the request for the diagnostics of the text and of those that the same run checks.
    ///
    /// Errors: `Unreachable` if the server cannot see one of the drafts as the command would, or the project is too large.
    fn request(&self) -> Result<DiagnosticsRequest<'a>, GateError> {
        let input = self.input;
        let files = self.files()?;
        if let Some(what) = self.unseen_part(&files) {
            return Err(unseen(&what));
        }
        let path = input.root.join(input.path);
        let path = path.to_str().ok_or_else(|| unseen("a path that is not UTF-8"))?.to_owned();
        let language = language_id(self.server, input.language, input.path);
        let own = DocumentText { path, language, view: input.text.view() };
        let also = input.batched.iter().map(|other| document_for(self.server, other));
        let also = also.collect::<Option<Vec<_>>>().ok_or_else(|| unseen("a path"))?;
        Ok(DiagnosticsRequest {
            texts: std::iter::once(own).chain(also).collect(),
            overlays: self.other_documents(),
            files,
            has_new_files: !input.on_disk || input.overlays.iter().any(|other| !imports::is_on_disk(other)),
            offer: self.server.diagnostics.offer,
        })
    }

    /// Returns the files of the project, by absolute path.
    fn files(&self) -> Result<BTreeMap<String, Version>, GateError> {
        let names: Vec<&str> = self.server.config.iter().map(|file| file.name.as_str()).collect();
        runtime::survey(&self.input.rule.gate, &self.folder, &names).ok_or_else(|| {
            GateError::Unreachable("the project has too many files for the language server".to_owned())
        })
    }

    /// Returns what the server cannot see of the drafts, as the end of a sentence.
    fn unseen_part(&self, files: &BTreeMap<String, Version>) -> Option<String> {
        let input = self.input;
        if let Some(other) = input.overlays.iter().find(|other| imports::is_configuration(self.server, other))
        {
            return Some(format!("the draft of its configuration {}", other.path));
        }
        let unsaved = || (!input.on_disk).then_some("a file that is not on disk");
        let removed = || input.overlays.iter().any(|other| other.text.is_none()).then_some("a removed file");
        let new = || {
            let is_new = |other: &&DraftOverlay<'_>| other.text.is_some() && !imports::is_on_disk(other);
            input.overlays.iter().any(is_new).then_some("a second file that is not on disk")
        };
        match self.server.new_files {
            NewFiles::None => unsaved().or_else(removed).or_else(new).map(str::to_owned),
            NewFiles::Alone => removed().or_else(new).map(str::to_owned),
            NewFiles::All => removed().map(str::to_owned),
            NewFiles::Unimported => imports::unresolved_import(input, files, |_| false),
            NewFiles::ExistingFolders => {
                let is_in_folder = |path: &Path| path.parent().is_some_and(Path::is_dir);
                imports::unresolved_import(input, files, is_in_folder)
            }
        }
    }

    /// Returns the other drafts that the server can read and does not check.
    fn other_documents(&self) -> Vec<DocumentText<'a>> {
        let input = self.input;
        let is_checked = |other: &DraftOverlay<'a>| input.batched.iter().any(|also| also.path == other.path);
        let reads = |other: &DraftOverlay<'a>| input.rule.gate.covers(other.language) && !is_checked(other);
        let others = input.overlays.iter().filter(|other| reads(other));
        others.filter_map(|other| document_for(self.server, other)).collect()
    }

    fn launch(&self, limits: PoolLimits) -> Result<Launch, GateError> {
        let ServerProgram { input, server, folder } = self;
        if let Some(why) = isolation_shortfall(input.isolation, input.ceiling) {
            return Err(GateError::WeakIsolation(why));
        }
        let level = strongest(input.ceiling);
        // With Landlock a program has no private folders except one of its own.
        let stage = (level == Isolation::Landlock).then(Stage::new).transpose();
        let stage = stage.map_err(|error| {
            GateError::Unreachable(format!(
                "could not make a private folder for the language server: {error}"
            ))
        })?;
        let uri = documents::uri(&folder.to_string_lossy());
        Ok(Launch {
            sandbox: self.sandbox(level, stage.as_ref()),
            _stage: stage,
            program: input.program.to_owned(),
            argv: server.words.iter().map(OsString::from).collect(),
            folder: folder.clone(),
            env: self.env()?,
            initialize_params: initialize_params(&uri, folder, server),
            capabilities: Capabilities { settings: server.settings.clone(), status: server.status.clone() },
            memory: server.memory,
            idle_timeout: limits.idle_timeout,
        })
    }

    /// Returns the server's sandbox: like that of the gate's command, but without a staged draft.
    fn sandbox(&self, level: Isolation, stage: Option<&Stage>) -> Sandbox {
        let caches = self.server.env.iter().any(|(_, value)| value.has(Hole::Cache));
        let words = self.server.words.iter().map(PathBuf::from);
        Sandbox {
            level,
            tree: Some(self.input.root.to_owned()),
            readable: words.filter(|word| word.is_absolute()).collect(),
            run_dir: stage.map(|stage| stage.path().to_owned()),
            cache: self.input.cache.filter(|_| caches).map(Path::to_owned),
            ..Sandbox::default()
        }
    }

    fn env(&self) -> Result<Vec<(OsString, OsString)>, GateError> {
        let mut env = project::search_env(self.input.search);
        for (name, value) in &self.server.env {
            env.push((name.into(), self.expand(value)?));
        }
        Ok(env)
    }

    fn expand(&self, template: &CommandWord) -> Result<OsString, GateError> {
        let mut word = OsString::new();
        for part in &template.parts {
            match (part, self.input.cache) {
                (WordPart::Text(text), _) => word.push(text),
                (WordPart::Hole(Hole::Root), _) => word.push(&self.folder),
                (WordPart::Hole(Hole::Cache), Some(cache)) => {
                    create_private(cache).map_err(|error| {
                        let why = format!("could not make a cache for the language server: {error}");
                        GateError::Unreachable(why)
                    })?;
                    word.push(cache);
                }
                (WordPart::Hole(_) | WordPart::Value(_), _) => {
                    let why = "there is no cache for the language server";
                    return Err(GateError::Unreachable(why.to_owned()));
                }
            }
        }
        Ok(word)
    }
}

fn unseen(what: &str) -> GateError {
    GateError::Unreachable(format!("the language server cannot see {what}"))
}

/// The document for a draft.
fn document_for<'a>(server: &ServerSpec, other: &DraftOverlay<'a>) -> Option<DocumentText<'a>> {
    let path = other.root.join(other.path).to_str()?.to_owned();
    let language = language_id(server, other.language, other.path);
    Some(DocumentText { path, language, view: other.text?.view() })
}

/// The language id of a file: LSP 3.17, `TextDocumentItem`.
fn language_id(server: &ServerSpec, language: Option<&Language>, path: &str) -> String {
    let name = language.map_or("plaintext", |language| language.name.as_str());
    let own = server.language_ids.iter().find(|(known, _)| known == name).map(|(_, id)| id.as_str());
    match (own, path.rsplit_once('.')) {
        (Some(id), _) => id.to_owned(),
        (None, Some((_, "tsx"))) => "typescriptreact".to_owned(),
        (None, Some((_, "jsx"))) => "javascriptreact".to_owned(),
        (None, _) => name.to_owned(),
    }
}

/// The parameters of `initialize`. There is no process id: a sandboxed server sees other numbers.
fn initialize_params(uri: &str, folder: &Path, server: &ServerSpec) -> Value {
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    json!({
        "processId": null,
        "clientInfo": { "name": "lockgate", "version": env!("CARGO_PKG_VERSION") },
        "rootUri": uri,
        "rootPath": folder.to_string_lossy(),
        "workspaceFolders": [{ "uri": uri, "name": name }],
        "initializationOptions": server.options,
        "capabilities": {
            "general": { "positionEncodings": ["utf-8", "utf-16"] },
            "textDocument": {
                "synchronization": { "dynamicRegistration": false },
                "publishDiagnostics": { "versionSupport": true, "relatedInformation": false },
                "diagnostic": { "dynamicRegistration": true, "relatedDocumentSupport": false },
            },
            "workspace": {
                "configuration": true,
                "workspaceFolders": true,
                "applyEdit": false,
                "didChangeConfiguration": { "dynamicRegistration": true },
                "didChangeWatchedFiles": { "dynamicRegistration": true },
                "diagnostics": { "refreshSupport": true },
            },
            "window": { "workDoneProgress": true },
            "experimental": { "serverStatusNotification": true },
        },
    })
}
