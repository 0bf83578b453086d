//! Applies a patch in the format of `apply_patch`, as one batch.

use lockgate_edit::Edit;
use lockgate_edit::request::{Author, Expect, FilePermissions, Mode, Request, Target};
use lockgate_engine::{TrustOverride, Workspace};
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
        for file in &files {
            let entry = requests.len();
            let changes = changes(&workspace, file, entry).await.map_err(|error| error.with_entry(entry))?;
            for request in changes {
                requests.push(Request { mode, author: author.clone(), ..request });
            }
        }
        workspace.edit_all(requests, watch).await
    });
    let paths = patch.paths().into_iter().map(str::to_owned).collect();
    (EditResult { reports, kind: CallKind::Batch(paths) }, ResponseOptions::default())
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
