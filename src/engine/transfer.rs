//! Stored content as files of a folder: all of it written into one, and a folder's files brought in, each as an edit.
//!
//! Invariant: what is brought in goes along the line as any edit does; one file that is refused stops no other.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::check::cancelled;
use super::{ReadResponse, Report, Status, Workspace};
use crate::edit::Edit;
use crate::error::{Code, Error};
use crate::gate::{Verdict, Watch};
use crate::request::{Author, Entity, Expect, GateOptions, Mode, ReadRequest, Request, Target};
use crate::store::{Added, EntityDatabase, ExportDir, ImportDir, ImportItem, NamedKey};
use crate::text::Version;

/// What was written into a folder.
#[derive(Debug)]
pub struct Exported {
    /// How many entities.
    pub entities: usize,
    /// How many apps are in the list.
    pub apps: usize,
    /// The entities that could not be files, each as it is told, and why.
    pub failed: Vec<(String, Error)>,
}

/// How a folder is brought in.
#[derive(Debug, Clone)]
pub struct Bring {
    /// The folder.
    pub folder: PathBuf,
    /// What becomes of an entity that is there with another text.
    pub others: OnConflict,
    /// What happens to each text and to the findings about it.
    pub mode: Mode,
    /// Who asks.
    pub author: Author,
}

/// What becomes of what is there already, and is not as the folder has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnConflict {
    /// It stays, and the file is refused.
    Stay,
    /// It is replaced.
    Go,
}

/// What became of a file of the folder, or of a line in its list of apps.
#[derive(Debug)]
pub struct Imported {
    /// What it is called in the folder.
    pub name: String,
    /// What became of it.
    pub done: Result<ImportStatus, Error>,
}

/// How a file is in the database now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportStatus {
    /// It was not there before.
    Created,
    /// Something else was there.
    Replaced,
    /// It was there just so.
    Unchanged,
    /// It would be written, and was not, as was asked.
    Verified,
}

impl EntityDatabase {
    /// Writes every row into a folder that is not there or empty, and which app is whose.
    ///
    /// Errors: `FILE_EXISTS` for a folder that is not empty, `STORE_UNAVAILABLE`, and what ends the writing, such as
    /// `NO_SPACE`.
    pub fn export(&self, folder: &Path) -> Result<Exported, Error> {
        let apps = self.apps()?;
        let mut outbox = ExportDir::make(folder)?;
        let mut exported = Exported { entities: 0, apps: apps.len(), failed: Vec::new() };
        let mut ended = None;
        self.each_row(&mut |entity, bytes| {
            match outbox.put(&entity, &bytes) {
                Ok(()) => exported.entities += 1,
                // This one cannot be a file; others can.
                Err(why) if matches!(why.code, Code::InvalidInput | Code::FileExists) => {
                    exported.failed.push((told(&entity), why));
                }
                Err(why) => {
                    ended = Some(why);
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        })?;
        match ended {
            Some(why) => Err(why),
            None => outbox.close(&apps).map(|()| exported),
        }
    }

    /// Makes the apps of a folder's list known.
    ///
    /// Errors: those of reading the list; what is wrong with one app is told of that app.
    pub fn bring_apps(&self, folder: &Path) -> Result<Vec<Imported>, Error> {
        let add = |(id, organization): (String, Option<String>)| {
            let done = self.add_app(&id, organization.as_deref()).map(|added| match added {
                Added::New => ImportStatus::Created,
                Added::There => ImportStatus::Unchanged,
            });
            Imported { name: format!("app {id}"), done }
        };
        Ok(ImportDir::open(folder)?.apps()?.into_iter().map(add).collect())
    }
}

impl Workspace {
    /// Brings the files of a folder in, each as an edit of its own; a workspace that reaches everything.
    ///
    /// Errors: those of reading the folder; what is wrong with one file is told of that file.
    pub async fn bring(self: &Arc<Self>, bring: Bring, watch: Watch) -> Result<Vec<Imported>, Error> {
        let folder = bring.folder.clone();
        let opened = self.off_reactor(move |_| {
            let inbox = ImportDir::open(&folder)?;
            let letters = inbox.letters()?;
            Ok((Arc::new(inbox), letters))
        });
        let (inbox, letters) = opened.await?;
        let mut brought = Vec::with_capacity(letters.len());
        for ImportItem { name, named } in letters {
            if watch.cancelled() {
                brought.push(Imported { name, done: Err(cancelled()) });
                break;
            }
            let done = match named {
                Ok(named) => self.bring_one(&inbox, &name, named, &bring, &watch).await,
                Err(why) => Err(why),
            };
            brought.push(Imported { name, done });
        }
        Ok(brought)
    }

    async fn bring_one(
        self: &Arc<Self>,
        inbox: &Arc<ImportDir>,
        name: &str,
        named: NamedKey,
        bring: &Bring,
        watch: &Watch,
    ) -> Result<ImportStatus, Error> {
        let (inbox, file) = (Arc::clone(inbox), name.to_owned());
        let read = self.off_reactor(move |workspace| {
            let limit = workspace.policy_at_top()?.limits.file;
            Ok((workspace.entity_of(named), inbox.read(&file, limit)?))
        });
        let (entity, bytes) = read.await?;
        let stamp = Version::hash(&bytes);
        let mut request = Request {
            target: Target::Entity(entity),
            edit: Edit::Restore(bytes),
            mode: bring.mode,
            expect: Expect::Absent,
            scrutiny: GateOptions::default(),
            author: bring.author.clone(),
        };
        match self.edit(request.clone(), watch.silent()).await {
            Ok(report) => return landed(&report, ImportStatus::Created),
            Err(refusal) if refusal.code == Code::FileExists => {}
            Err(refusal) => return Err(refusal),
        }
        let ReadResponse::Whole(there) =
            self.look(ReadRequest::Whole(request.target.clone()), watch.silent()).await?
        else {
            return Err(Error::new(Code::Internal, "a look at a whole text showed something else"));
        };
        match (there.text.stamp() == stamp, bring.others) {
            (true, _) => Ok(ImportStatus::Unchanged),
            (false, OnConflict::Stay) => Err(differs()),
            (false, OnConflict::Go) => {
                request.expect = Expect::Version(there.text.stamp().hex());
                landed(&self.edit(request, watch.silent()).await?, ImportStatus::Replaced)
            }
        }
    }

    /// The entity that a name in a folder is for: its scope is an app where those of its type belong to apps.
    fn entity_of(&self, NamedKey { kind, scope, path }: NamedKey) -> Entity {
        let of_app = scope.as_deref().is_some_and(|id| self.owner(&kind, Some(id), None).is_ok());
        let (app_id, organization_id) = if of_app { (scope, None) } else { (None, scope) };
        Entity { kind, path, app_id, organization_id }
    }
}

/// How a file landed, by the report of its edit.
fn landed(report: &Report, written: ImportStatus) -> Result<ImportStatus, Error> {
    match report.status {
        Status::Written => Ok(written),
        Status::Unchanged | Status::AlreadyApplied => Ok(ImportStatus::Unchanged),
        Status::Verified => Ok(ImportStatus::Verified),
        Status::Refused => Err(refused(&report.verdict)),
    }
}

/// The refusal of gates in one line, that of the first among them.
fn refused(verdict: &Verdict) -> Error {
    let finding = verdict.findings.iter().find(|finding| finding.blocking);
    let run = verdict.runs.iter().find(|run| run.blocking);
    let seen = match (finding, run) {
        (Some(finding), _) => format!("{}: line {}: {}", finding.gate, finding.line, finding.message),
        (None, Some(run)) => format!("{}: {}", run.gate, run.why.as_deref().unwrap_or("it could not look")),
        (None, None) => "a gate refused it".to_owned(),
    };
    Error::new(Code::GateRefused, seen)
}

fn differs() -> Error {
    Error::new(Code::FileExists, "the database has another text for it")
        .hint("compare the two, and give --replace to have the file's")
}

/// An entity in a line, as its file would be called.
fn told(Entity { kind, path, app_id, organization_id }: &Entity) -> String {
    let scope = app_id.as_deref().or(organization_id.as_deref()).unwrap_or("_global");
    format!("{}/{scope}/{path}", kind.name())
}
