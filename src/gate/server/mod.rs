//! Language servers that stay: each is asked again and again about texts that are not on disk, by the Language Server
//! Protocol 3.17.
//!
//! A server sees the draft as an open document, and the other drafts of the call beside it; afterwards it is given what is
//! on disk again. What it finds is read as the findings of the gate's command are, under the same name.
//!
//! Invariant: only what a server said of the very text counts. One that said nothing in time is late, one that cannot be
//! asked is [`Silence::Away`], and neither is ever taken for one that found nothing.

mod documents;
mod fleet;
mod frame;
mod imports;
mod link;
mod session;
mod spoken;
mod state;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use self::fleet::Key;
use self::link::Launch;
use self::session::{Question, Text};
use self::spoken::Manners;
use super::command::{Ask, project};
use super::company::Companion;
use super::output::{Seen, diagnosed};
use super::process::{Cage, shortfall, strongest};
use super::silence::Silence;
use super::stage::{Stage, private_folder};
use super::watch::Limit;
use super::workshop::{self, Workshop};
use crate::policy::{Hole, Isolation, Language, NewFiles, Piece, Server, Template};
use crate::text::{Buffer, Stamp};

pub(super) use self::fleet::{Fleet, Hours};

/// Has the server look at the text and at the others that it is asked about, which waits for its turn and for a slot; from
/// there on it has the time of the gate. Gives what it finds in each, in this order.
pub(super) fn look(
    ask: &Ask<'_>,
    server: &Server,
    workshop: &Workshop,
    limit: Limit<'_>,
) -> Result<Vec<Vec<Seen>>, Silence> {
    let folder = folder(ask, server);
    let files = files(ask, server, &folder)?;
    let path = sees(ask, server, &files)?;
    let own = (path, language_id(server, ask.language, ask.path), ask.text.view());
    let also = ask.also.iter().map(|other| shown(server, other)).collect::<Option<Vec<_>>>();
    let also = also.ok_or_else(|| Silence::Away("the language server cannot be shown a path".to_owned()))?;
    let asked: Vec<_> = std::iter::once(own).chain(also).collect();
    let company = company(ask);
    let question = Question {
        texts: asked.iter().map(text).collect(),
        company: company.iter().map(text).collect(),
        files,
        has_new: !ask.on_disk || ask.company.iter().any(|other| !imports::is_on_disk(other)),
        offer: server.offer,
    };
    let buffers: Vec<&Buffer> =
        std::iter::once(ask.text).chain(ask.also.iter().filter_map(|other| other.text)).collect();
    let launch = || launch(ask, server, &folder, workshop.fleet.hours);
    workshop.fleet.ask(&key(ask, server, &folder), question.has_new, limit, launch, |session| {
        let _slot = workshop.slots.take(limit)?;
        let (items, columns) = session.ask(&question, limit.within(ask.rule.timeout))?;
        let both = items.iter().zip(&buffers);
        both.map(|(items, text)| diagnosed(items, server, columns, text)).collect()
    })
}

/// The folder, relative to the root, of the server that would be asked about a file.
pub(super) fn folder_of(root: &Path, server: &Server, path: &str) -> String {
    project::folder_of(root, path, &server.cwd).to_owned()
}

/// Starts the server that would look at the text, where it does not run yet.
pub(super) fn prewarm(ask: &Ask<'_>, server: &Server, fleet: &Fleet) {
    let folder = folder(ask, server);
    fleet.prewarm(&key(ask, server, &folder), || launch(ask, server, &folder, fleet.hours));
}

/// The absolute path of the text, where the server can see it and all beside it as the command would.
fn sees(ask: &Ask<'_>, server: &Server, files: &BTreeMap<String, Stamp>) -> Result<String, Silence> {
    let away = |why: &str| Err(Silence::Away(format!("the language server cannot be shown {why}")));
    if let Some(other) = ask.company.iter().find(|other| imports::is_configuration(server, other)) {
        return away(&format!("the draft of its configuration {}", other.path));
    }
    if !ask.on_disk && server.new_files == NewFiles::None {
        return away("a file that is not on disk");
    }
    let is_new = |other: &&Companion<'_>| other.text.is_some() && !imports::is_on_disk(other);
    match server.new_files {
        NewFiles::None | NewFiles::Alone | NewFiles::All => {
            if ask.company.iter().any(|other| other.text.is_none()) {
                return away("that a file goes");
            }
            if server.new_files != NewFiles::All && ask.company.iter().any(is_new) {
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

/// The other drafts that the server can read and is not asked about: path, language and text.
fn company<'a>(ask: &Ask<'a>) -> Vec<(String, String, &'a str)> {
    let Some(server) = ask.rule.gate.server() else { return Vec::new() };
    let asked = |other: &&&Companion<'a>| !ask.also.iter().any(|also| also.path == other.path);
    let reads = |other: &&&Companion<'a>| ask.rule.gate.covers(other.language);
    ask.company.iter().filter(asked).filter(reads).filter_map(|other| shown(server, other)).collect()
}

fn text<'t>((path, language, view): &'t (String, String, &'t str)) -> Text<'t> {
    Text { path, language, view }
}

/// A draft as the server is shown it: path, language and text.
fn shown<'a>(server: &Server, other: &Companion<'a>) -> Option<(String, String, &'a str)> {
    let path = other.root.join(other.path).to_str()?.to_owned();
    Some((path, language_id(server, other.language, other.path), other.text?.view()))
}

/// The language of a file as the server calls it: LSP 3.17, `TextDocumentItem`.
fn language_id(server: &Server, language: Option<&Language>, path: &str) -> String {
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
fn folder(ask: &Ask<'_>, server: &Server) -> PathBuf {
    project::below(ask.root, project::folder_of(ask.root, ask.path, &server.cwd))
}

/// The files of the project, by their absolute paths.
fn files(ask: &Ask<'_>, server: &Server, folder: &Path) -> Result<BTreeMap<String, Stamp>, Silence> {
    let named: Vec<&str> = server.config.iter().map(|file| file.name.as_str()).collect();
    workshop::survey(&ask.rule.gate, folder, &named)
        .ok_or_else(|| Silence::Away("the language server cannot be told of so many files".to_owned()))
}

fn key(ask: &Ask<'_>, server: &Server, folder: &Path) -> Key {
    let place = (&ask.rule.gate.name, folder);
    let tool = workshop::configured(&ask.rule.gate, server, ask.program, folder);
    Key { place: Stamp::of_value(&place), tool }
}

fn launch(ask: &Ask<'_>, server: &Server, folder: &Path, hours: Hours) -> Result<Launch, Silence> {
    if let Some(why) = shortfall(ask.isolation, ask.ceiling) {
        return Err(Silence::Unavailable(why));
    }
    let level = strongest(ask.ceiling);
    // Landlock gives a program no private folders but one of its own.
    let stage = (level == Isolation::Landlock).then(Stage::new).transpose();
    let stage =
        stage.map_err(|error| Silence::Away(format!("the language server has no folder: {error}")))?;
    let uri = documents::uri(&folder.to_string_lossy());
    Ok(Launch {
        cage: cage(ask, server, level, stage.as_ref()),
        _stage: stage,
        program: ask.program.to_owned(),
        argv: server.words.iter().map(OsString::from).collect(),
        folder: folder.to_owned(),
        env: env(ask, server, folder)?,
        greeting: greeting(&uri, folder, server),
        manners: Manners {
            settings: server.settings.clone(),
            ready: server.ready.clone(),
            ill: server.ill.clone(),
        },
        memory: server.memory,
        idle: hours.idle,
    })
}

/// What the server is kept in: as a run of the gate's command is, but for the draft, which it is told.
fn cage(ask: &Ask<'_>, server: &Server, level: Isolation, stage: Option<&Stage>) -> Cage {
    let caches = server.env.iter().any(|(_, value)| value.has(Hole::Cache));
    let words = server.words.iter().map(PathBuf::from);
    Cage {
        level,
        tree: Some(ask.root.to_owned()),
        shown: words.filter(|word| word.is_absolute()).collect(),
        own: stage.map(|stage| stage.home().to_owned()),
        cache: ask.cache.filter(|_| caches).map(Path::to_owned),
        ..Cage::default()
    }
}

fn env(ask: &Ask<'_>, server: &Server, folder: &Path) -> Result<Vec<(OsString, OsString)>, Silence> {
    let mut env = vec![(OsString::from("PATH"), ask.search.to_owned())];
    env.extend(project::python(ask.search).map(|home| (OsString::from("VIRTUAL_ENV"), home.into())));
    for (name, value) in &server.env {
        env.push((name.into(), filled(value, ask, folder)?));
    }
    Ok(env)
}

fn filled(template: &Template, ask: &Ask<'_>, folder: &Path) -> Result<OsString, Silence> {
    let mut word = OsString::new();
    for piece in &template.pieces {
        match (piece, ask.cache) {
            (Piece::Text(text), _) => word.push(text),
            (Piece::Hole(Hole::Root), _) => word.push(folder),
            (Piece::Hole(Hole::Cache), Some(cache)) => {
                let unmade = |error| Silence::Away(format!("the language server has no cache: {error}"));
                private_folder(cache).map_err(unmade)?;
                word.push(cache);
            }
            (Piece::Hole(_) | Piece::Value(_), _) => {
                return Err(Silence::Away("the language server has no cache here".to_owned()));
            }
        }
    }
    Ok(word)
}

/// The parameters of `initialize`. No process is named: a server that is kept apart sees other numbers.
fn greeting(uri: &str, folder: &Path, server: &Server) -> Value {
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
