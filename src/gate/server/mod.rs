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
use super::process::{Sandbox, isolation_shortfall, strongest};
use super::runtime::{self, GateRuntime};
use super::stage::{Stage, private_folder};
use super::watch::Limit;
use crate::policy::{CommandWord, Hole, Isolation, Language, NewFiles, ServerSpec, WordPart};
use crate::text::{Buffer, Version};

pub(super) use self::pool::{PoolLimits, ServerPool};

/// Checks the text and those of `batched` with the server, and returns the findings of each, in this order.
/// Waits for its turn at the server and for a slot first; the gate's time starts after that.
pub(super) fn check(
    ask: &ProgramInput<'_>,
    server: &ServerSpec,
    workshop: &GateRuntime,
    limit: Limit<'_>,
) -> Result<Vec<Vec<ToolFinding>>, GateError> {
    let folder = folder(ask, server);
    let files = files(ask, server, &folder)?;
    let path = visible_path(ask, server, &files)?;
    let own = (path, language_id(server, ask.language, ask.path), ask.text.view());
    let also = ask.batched.iter().map(|other| document_for(server, other)).collect::<Option<Vec<_>>>();
    let also =
        also.ok_or_else(|| GateError::Unreachable("the language server cannot see a path".to_owned()))?;
    let asked: Vec<_> = std::iter::once(own).chain(also).collect();
    let company = other_documents(ask);
    let question = DiagnosticsRequest {
        texts: asked.iter().map(text).collect(),
        overlays: company.iter().map(text).collect(),
        files,
        has_new_files: !ask.on_disk || ask.overlays.iter().any(|other| !imports::is_on_disk(other)),
        offer: server.offer,
    };
    let buffers: Vec<&Buffer> =
        std::iter::once(ask.text).chain(ask.batched.iter().filter_map(|other| other.text)).collect();
    let launch = || launch(ask, server, &folder, workshop.pool.limits);
    workshop.pool.with_server(&key(ask, server, &folder), question.has_new_files, limit, launch, |session| {
        let _slot = workshop.slots.take(limit)?;
        let (items, columns) = session.diagnostics(&question, limit.with_timeout(ask.rule.timeout))?;
        let both = items.iter().zip(&buffers);
        both.map(|(items, text)| diagnostic_findings(items, server, columns, text)).collect()
    })
}

/// Returns the folder, relative to the root, of the server for a file.
pub(super) fn folder_of(root: &Path, server: &ServerSpec, path: &str) -> String {
    project::folder_of(root, path, &server.cwd).to_owned()
}

/// Starts the server for a text, if it does not run yet.
pub(super) fn prewarm(ask: &ProgramInput<'_>, server: &ServerSpec, fleet: &ServerPool) {
    let folder = folder(ask, server);
    fleet.prewarm(&key(ask, server, &folder), || launch(ask, server, &folder, fleet.limits));
}

/// Returns the absolute path of the text, if the server can see it and the other drafts as the command would.
fn visible_path(
    ask: &ProgramInput<'_>,
    server: &ServerSpec,
    files: &BTreeMap<String, Version>,
) -> Result<String, GateError> {
    let away = |why: &str| Err(GateError::Unreachable(format!("the language server cannot see {why}")));
    if let Some(other) = ask.overlays.iter().find(|other| imports::is_configuration(server, other)) {
        return away(&format!("the draft of its configuration {}", other.path));
    }
    if !ask.on_disk && server.new_files == NewFiles::None {
        return away("a file that is not on disk");
    }
    let is_new = |other: &&DraftOverlay<'_>| other.text.is_some() && !imports::is_on_disk(other);
    match server.new_files {
        NewFiles::None | NewFiles::Alone | NewFiles::All => {
            if ask.overlays.iter().any(|other| other.text.is_none()) {
                return away("a removed file");
            }
            if server.new_files != NewFiles::All && ask.overlays.iter().any(is_new) {
                return away("a second file that is not on disk");
            }
        }
        NewFiles::Unimported => {
            if let Some(why) = imports::unresolved_import(ask, files, |_| false) {
                return away(&why);
            }
        }
        NewFiles::ExistingFolders => {
            let has_folder = |path: &Path| path.parent().is_some_and(Path::is_dir);
            if let Some(why) = imports::unresolved_import(ask, files, has_folder) {
                return away(&why);
            }
        }
    }
    match ask.root.join(ask.path).to_str() {
        Some(path) => Ok(path.to_owned()),
        None => away("a path that is not UTF-8"),
    }
}

/// The other drafts that the server can read and does not check: path, language and text.
fn other_documents<'a>(ask: &ProgramInput<'a>) -> Vec<(String, String, &'a str)> {
    let Some(server) = ask.rule.gate.server() else { return Vec::new() };
    let asked = |other: &&&DraftOverlay<'a>| !ask.batched.iter().any(|also| also.path == other.path);
    let reads = |other: &&&DraftOverlay<'a>| ask.rule.gate.covers(other.language);
    ask.overlays.iter().filter(asked).filter(reads).filter_map(|other| document_for(server, other)).collect()
}

fn text<'t>((path, language, view): &'t (String, String, &'t str)) -> DocumentText<'t> {
    DocumentText { path, language, view }
}

/// The document for a draft: path, language and text.
fn document_for<'a>(server: &ServerSpec, other: &DraftOverlay<'a>) -> Option<(String, String, &'a str)> {
    let path = other.root.join(other.path).to_str()?.to_owned();
    Some((path, language_id(server, other.language, other.path), other.text?.view()))
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
fn folder(ask: &ProgramInput<'_>, server: &ServerSpec) -> PathBuf {
    project::join(ask.root, project::folder_of(ask.root, ask.path, &server.cwd))
}

/// The files of the project, by absolute path.
fn files(
    ask: &ProgramInput<'_>,
    server: &ServerSpec,
    folder: &Path,
) -> Result<BTreeMap<String, Version>, GateError> {
    let named: Vec<&str> = server.config.iter().map(|file| file.name.as_str()).collect();
    runtime::survey(&ask.rule.gate, folder, &named).ok_or_else(|| {
        GateError::Unreachable("the project has too many files for the language server".to_owned())
    })
}

fn key(ask: &ProgramInput<'_>, server: &ServerSpec, folder: &Path) -> ServerKey {
    let place = (&ask.rule.gate.name, folder);
    let tool = runtime::configured(&ask.rule.gate, server, ask.program, folder);
    ServerKey { project: Version::of_value(&place), configuration: tool }
}

fn launch(
    ask: &ProgramInput<'_>,
    server: &ServerSpec,
    folder: &Path,
    hours: PoolLimits,
) -> Result<Launch, GateError> {
    if let Some(why) = isolation_shortfall(ask.isolation, ask.ceiling) {
        return Err(GateError::Unavailable(why));
    }
    let level = strongest(ask.ceiling);
    // With Landlock a program has no private folders except one of its own.
    let stage = (level == Isolation::Landlock).then(Stage::new).transpose();
    let stage = stage.map_err(|error| {
        GateError::Unreachable(format!("could not make a private folder for the language server: {error}"))
    })?;
    let uri = documents::uri(&folder.to_string_lossy());
    Ok(Launch {
        sandbox: sandbox_for(ask, server, level, stage.as_ref()),
        _stage: stage,
        program: ask.program.to_owned(),
        argv: server.words.iter().map(OsString::from).collect(),
        folder: folder.to_owned(),
        env: env(ask, server, folder)?,
        initialize_params: initialize_params(&uri, folder, server),
        capabilities: Capabilities {
            settings: server.settings.clone(),
            ready: server.ready.clone(),
            config_error: server.failed.clone(),
        },
        memory: server.memory,
        idle_timeout: hours.idle_timeout,
    })
}

/// The server's sandbox: like that of the gate's command, but without a staged draft.
fn sandbox_for(
    ask: &ProgramInput<'_>,
    server: &ServerSpec,
    level: Isolation,
    stage: Option<&Stage>,
) -> Sandbox {
    let caches = server.env.iter().any(|(_, value)| value.has(Hole::Cache));
    let words = server.words.iter().map(PathBuf::from);
    Sandbox {
        level,
        tree: Some(ask.root.to_owned()),
        readable: words.filter(|word| word.is_absolute()).collect(),
        run_dir: stage.map(|stage| stage.path().to_owned()),
        cache: ask.cache.filter(|_| caches).map(Path::to_owned),
        ..Sandbox::default()
    }
}

fn env(
    ask: &ProgramInput<'_>,
    server: &ServerSpec,
    folder: &Path,
) -> Result<Vec<(OsString, OsString)>, GateError> {
    let mut env = vec![(OsString::from("PATH"), ask.search.to_owned())];
    env.extend(
        project::python_environment(ask.search).map(|home| (OsString::from("VIRTUAL_ENV"), home.into())),
    );
    for (name, value) in &server.env {
        env.push((name.into(), expand(value, ask, folder)?));
    }
    Ok(env)
}

fn expand(template: &CommandWord, ask: &ProgramInput<'_>, folder: &Path) -> Result<OsString, GateError> {
    let mut word = OsString::new();
    for piece in &template.pieces {
        match (piece, ask.cache) {
            (WordPart::Text(text), _) => word.push(text),
            (WordPart::Hole(Hole::Root), _) => word.push(folder),
            (WordPart::Hole(Hole::Cache), Some(cache)) => {
                let unmade = |error| {
                    GateError::Unreachable(format!("could not make a cache for the language server: {error}"))
                };
                private_folder(cache).map_err(unmade)?;
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
