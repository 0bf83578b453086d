//! Applies a patch in the format of `apply_patch`, as one batch.

use lockgate_edit::Edit;
use lockgate_edit::request::{Author, Expect, FilePermissions, Mode, Request, Target};
use lockgate_engine::{HostFile, TrustOverride, Workspace};
use lockgate_error::{Code, Error};
use lockgate_hosts::locate;
use lockgate_hosts::patch::{FilePatch, Patch, PatchChange};
use lockgate_mcp::answer::{CallKind, EditResult, ResponseOptions};
use lockgate_text::Version;

use super::super::async_work::{author, work};
use super::super::store_args::CommandWorkspace;

/// Applies a patch: all of its files are written, or none.
pub(super) fn apply(
    workspace_args: &CommandWorkspace,
    trust_override: TrustOverride,
    patch: &Patch,
    mode: Mode,
    agreed: Option<String>,
) -> (EditResult, ResponseOptions) {
    let author = Author { confirmation_id: agreed, ..author("edit") };
    let files = patch.files.clone();
    let reports = work(workspace_args.open(trust_override), |workspace, watch| async move {
        let mut requests = Vec::new();
        let mut file_of_entry = Vec::new();
        for file in &files {
            let entry = requests.len();
            let changes = changes(&workspace, file, entry).await.map_err(|error| error.with_entry(entry))?;
            for request in changes {
                requests.push(Request { mode, author: author.clone(), ..request });
                file_of_entry.push(file);
            }
        }
        match workspace.edit_all(requests, watch).await {
            Ok(reports) => Ok(reports),
            Err(error) => {
                let file = error.entry_index().and_then(|entry| file_of_entry.get(entry));
                Err(match file {
                    Some(file) => naming_chunk(&workspace, file, error).await,
                    None => error,
                })
            }
        }
    });
    let paths: Vec<String> = patch.paths().into_iter().map(str::to_owned).collect();
    let path = reports.as_ref().err().and_then(|error| paths.get(error.entry_index()?)).cloned();
    let result = EditResult { reports, kind: CallKind::Batch(paths) };
    match path {
        Some(path) => {
            let result = EditResult { kind: CallKind::Single, ..result };
            let result = result.map_error(|error| naming_file(error, &path));
            (result, ResponseOptions { path: Some(path), ..ResponseOptions::default() })
        }
        None => (result, ResponseOptions::default()),
    }
}

/// Returns an error with the file that it is about in place of an index, because a patch has no list `edits`.
fn naming_file(mut error: Error, path: &str) -> Error {
    if !error.names_target() {
        error.message = format!("{path}: {}", error.message);
    }
    (error.entry, error.field) = (None, None);
    error
}

/// Returns the error of the chunk that does not fit into a file, if there is one, and else the same error.
async fn naming_chunk(workspace: &Workspace, file: &FilePatch, error: Error) -> Error {
    let PatchChange::Update { chunks, move_to: None } = &file.change else { return error };
    let Ok(HostFile { bytes: Some(before), .. }) = workspace.host_file(file.path.clone()).await else {
        return error;
    };
    match locate::updated_bytes(&file.path, &before, chunks) {
        Err(of_chunk) if of_chunk.code == error.code => match error.entry_index() {
            Some(entry) => of_chunk.with_entry(entry),
            None => of_chunk,
        },
        Ok(_) | Err(_) => error,
    }
}

/// Returns the edits that one part of a patch stands for. `entry` is the index of the first in the batch.
///
/// Errors: those of reading the file and of [`locate::update`]; `NOT_A_FILE` for a link to be moved; those of
/// [`locate::updated_bytes`] for a moved file.
async fn changes(workspace: &Workspace, file: &FilePatch, entry: usize) -> Result<Vec<Request>, Error> {
    let path = file.path.clone();
    let target = Target::File(path.clone());
    let (chunks, move_to) = match &file.change {
        PatchChange::Add(text) => return Ok(vec![Request::new(target, Edit::Content(text.clone()))]),
        PatchChange::Delete => return Ok(vec![Request::new(target, Edit::Remove)]),
        PatchChange::Update { chunks, move_to } => (chunks, move_to),
    };
    let file = workspace.host_file(path.clone()).await?;
    let Some(before) = file.bytes else {
        let message = format!("cannot update non-existent file: {path}");
        let hint = "correct the path, or create the file with a section `*** Add File: `";
        return Err(Error::new(Code::FileNotFound, message).naming_target(&path).hint(hint));
    };
    let expect = Expect::Version(Version::hash(&before).hex());
    match move_to {
        None => {
            let mut edit = locate::update(&before, chunks)?;
            // An error names the file by this index.
            if let Edit::Several(parts) = &mut edit {
                parts.iter_mut().for_each(|part| part.entry = entry);
            }
            Ok(vec![Request { expect, ..Request::new(target, edit) }])
        }
        Some(to) => {
            check_no_link(workspace, &path).await?;
            let after = locate::updated_bytes(&path, &before, chunks)?;
            let removal = Request { expect, ..Request::new(target, Edit::Remove) };
            let permissions = file.mode.map_or(FilePermissions::Usual, FilePermissions::Bits);
            let creation = Request::new(Target::File(to.clone()), Edit::Restore(after));
            Ok(vec![removal, Request { permissions, ..creation }])
        }
    }
}

/// Fails for a symlink to be moved: its target would be removed instead, and the link would lead nowhere.
///
/// Errors: `NOT_A_FILE`.
async fn check_no_link(workspace: &Workspace, path: &str) -> Result<(), Error> {
    let Some(target) = workspace.link_target(path.to_owned()).await else { return Ok(()) };
    let message = format!("{path} is a symlink to {target}, and a symlink cannot be moved");
    let hint = format!("name the file itself, `{target}`, or ask a person to remove the link");
    Err(Error::new(Code::NotAFile, message).naming_target(path).hint(hint))
}
