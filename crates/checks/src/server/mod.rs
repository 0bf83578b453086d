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
    let folder = folder(input, server);
    let files = files(input, server, &folder)?;
    let path = visible_path(input, server, &files)?;
    let language = language_id(server, input.language, input.path);
    let own = DocumentText { path, language, view: input.text.view() };
    let also = input.batched.iter().map(|other| document_for(server, other)).collect::<Option<Vec<_>>>();
    let also =
        also.ok_or_else(|| GateError::Unreachable("the language server cannot see a path".to_owned()))?;
    let question = DiagnosticsRequest {
        texts: std::iter::once(own).chain(also).collect(),
        overlays: other_documents(input, server),
        files,
        has_new_files: !input.on_disk || input.overlays.iter().any(|other| !imports::is_on_disk(other)),
        offer: server.diagnostics.offer,
    };
    let buffers: Vec<&Buffer> =
        std::iter::once(input.text).chain(input.batched.iter().filter_map(|other| other.text)).collect();
    let launch = || launch(input, server, &folder, runtime.pool.limits);
    runtime.pool.with_server(&key(input, server, &folder), &question, limit, launch, |session| {
        let _slot = runtime.slots.take(limit)?;
        let (items, columns) = session.diagnostics(&question, limit.with_timeout(input.rule.timeout))?;
        let both = items.iter().zip(&buffers);
        both.map(|(items, text)| diagnostic_findings(items, server, columns, text)).collect()
    })
}

/// Starts the server for a text, if it does not run yet.
pub(super) fn prewarm(input: &ProgramInput<'_>, server: &ServerSpec, pool: &ServerPool) {
    let folder = folder(input, server);
    pool.prewarm(&key(input, server, &folder), || launch(input, server, &folder, pool.limits));
}

/// Returns the absolute path of the text, if the server can see it and the other drafts as the command would.
fn visible_path(
    input: &ProgramInput<'_>,
    server: &ServerSpec,
    files: &BTreeMap<String, Version>,
) -> Result<String, GateError> {
    let unseen = |what: &str| GateError::Unreachable(format!("the language server cannot see {what}"));
    if let Some(what) = unseen_part(input, server, files) {
        return Err(unseen(&what));
    }
    let path = input.root.join(input.path);
    path.to_str().map(str::to_owned).ok_or_else(|| unseen("a path that is not UTF-8"))
}

/// Returns what the server cannot see of the drafts, as the end of a sentence.
fn unseen_part(
    input: &ProgramInput<'_>,
    server: &ServerSpec,
    files: &BTreeMap<String, Version>,
) -> Option<String> {
    if let Some(other) = input.overlays.iter().find(|other| imports::is_configuration(server, other)) {
        return Some(format!("the draft of its configuration {}", other.path));
    }
    let unsaved = || (!input.on_disk).then(|| "a file that is not on disk".to_owned());
    let removed = || {
        let is_removed = input.overlays.iter().any(|other| other.text.is_none());
        is_removed.then(|| "a removed file".to_owned())
    };
    let new = || {
        let is_new = |other: &&DraftOverlay<'_>| other.text.is_some() && !imports::is_on_disk(other);
        input.overlays.iter().any(is_new).then(|| "a second file that is not on disk".to_owned())
    };
    match server.new_files {
        NewFiles::None => unsaved().or_else(removed).or_else(new),
        NewFiles::Alone => removed().or_else(new),
        NewFiles::All => removed(),
        NewFiles::Unimported => imports::unresolved_import(input, files, |_| false),
        NewFiles::ExistingFolders => {
            let is_in_folder = |path: &Path| path.parent().is_some_and(Path::is_dir);
            imports::unresolved_import(input, files, is_in_folder)
        }
    }
}

/// The other drafts that the server can read and does not check.
fn other_documents<'a>(input: &ProgramInput<'a>, server: &ServerSpec) -> Vec<DocumentText<'a>> {
    let is_checked = |other: &DraftOverlay<'a>| input.batched.iter().any(|also| also.path == other.path);
    let reads = |other: &DraftOverlay<'a>| input.rule.gate.covers(other.language) && !is_checked(other);
    let others = input.overlays.iter().filter(|other| reads(other));
    others.filter_map(|other| document_for(server, other)).collect()
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

/// The folder that the server is started for.
fn folder(input: &ProgramInput<'_>, server: &ServerSpec) -> PathBuf {
    project::join(input.root, project::folder_of(input.root, input.path, &server.cwd))
}

/// The files of the project, by absolute path.
fn files(
    input: &ProgramInput<'_>,
    server: &ServerSpec,
    folder: &Path,
) -> Result<BTreeMap<String, Version>, GateError> {
    let names: Vec<&str> = server.config.iter().map(|file| file.name.as_str()).collect();
    runtime::survey(&input.rule.gate, folder, &names).ok_or_else(|| {
        GateError::Unreachable("the project has too many files for the language server".to_owned())
    })
}

fn key(input: &ProgramInput<'_>, server: &ServerSpec, folder: &Path) -> ServerKey {
    let place = (&input.rule.gate.name, folder);
    let tool = runtime::configured(&input.rule.gate, server, input.program, folder);
    ServerKey { project: Version::of_value(&place), configuration: tool }
}

fn launch(
    input: &ProgramInput<'_>,
    server: &ServerSpec,
    folder: &Path,
    limits: PoolLimits,
) -> Result<Launch, GateError> {
    if let Some(why) = isolation_shortfall(input.isolation, input.ceiling) {
        return Err(GateError::WeakIsolation(why));
    }
    let level = strongest(input.ceiling);
    // With Landlock a program has no private folders except one of its own.
    let stage = (level == Isolation::Landlock).then(Stage::new).transpose();
    let stage = stage.map_err(|error| {
        GateError::Unreachable(format!("could not make a private folder for the language server: {error}"))
    })?;
    let uri = documents::uri(&folder.to_string_lossy());
    Ok(Launch {
        sandbox: sandbox_for(input, server, level, stage.as_ref()),
        _stage: stage,
        program: input.program.to_owned(),
        argv: server.words.iter().map(OsString::from).collect(),
        folder: folder.to_owned(),
        env: env(input, server, folder)?,
        initialize_params: initialize_params(&uri, folder, server),
        capabilities: Capabilities { settings: server.settings.clone(), status: server.status.clone() },
        memory: server.memory,
        idle_timeout: limits.idle_timeout,
    })
}

/// The server's sandbox: like that of the gate's command, but without a staged draft.
fn sandbox_for(
    input: &ProgramInput<'_>,
    server: &ServerSpec,
    level: Isolation,
    stage: Option<&Stage>,
) -> Sandbox {
    let caches = server.env.iter().any(|(_, value)| value.has(Hole::Cache));
    let words = server.words.iter().map(PathBuf::from);
    Sandbox {
        level,
        tree: Some(input.root.to_owned()),
        readable: words.filter(|word| word.is_absolute()).collect(),
        run_dir: stage.map(|stage| stage.path().to_owned()),
        cache: input.cache.filter(|_| caches).map(Path::to_owned),
        ..Sandbox::default()
    }
}

fn env(
    input: &ProgramInput<'_>,
    server: &ServerSpec,
    folder: &Path,
) -> Result<Vec<(OsString, OsString)>, GateError> {
    let mut env = project::search_env(input.search);
    for (name, value) in &server.env {
        env.push((name.into(), expand(value, input, folder)?));
    }
    Ok(env)
}

fn expand(template: &CommandWord, input: &ProgramInput<'_>, folder: &Path) -> Result<OsString, GateError> {
    let mut word = OsString::new();
    for piece in &template.pieces {
        match (piece, input.cache) {
            (WordPart::Text(text), _) => word.push(text),
            (WordPart::Hole(Hole::Root), _) => word.push(folder),
            (WordPart::Hole(Hole::Cache), Some(cache)) => {
                let unmade = |error| {
                    GateError::Unreachable(format!("could not make a cache for the language server: {error}"))
                };
                create_private(cache).map_err(unmade)?;
                word.push(cache);
            }
            (WordPart::Hole(_) | WordPart::Value(_), _) => {
                return Err(GateError::Unreachable("there is no cache for the language server".to_owned()));
            }
        }
    }
    Ok(word)
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
