//! A workflow that is named without its organisation: which row a call means, and that it writes that row or none.

use std::path::PathBuf;
use std::sync::{Arc, Once};

use lockgate_checks::Watch;
use lockgate_edit::Edit;
use lockgate_edit::request::{
    Author, Direction, Entity, Expect, HistoryRequest, Request, Target, UndoRequest,
};
use lockgate_engine::{EditId, EntityDatabase, LinesRequest, Report, Status, Tenant, Workspace};
use lockgate_error::{Code, Error};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::fixture::{OWNER, kind, version};
use crate::suite::edits::{content, revert, search};

const FLOW: &str = "@workflow\ndef a():\n    return 1\n\n\ndef b():\n    return 2\n";

const POLICY: &str = "quality_gates: { python: [{ tool: syntax }] }\n";

/// A database, and servers over it that belong to an organisation or to nobody.
struct Fixture {
    dir: TempDir,
    database: Arc<EntityDatabase>,
    runtime: Runtime,
}

struct Server<'f> {
    workspace: Arc<Workspace>,
    runtime: &'f Runtime,
}

impl Fixture {
    fn new() -> Fixture {
        let dir = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", dir.path().join("content.db").display());
        let database = Arc::new(EntityDatabase::from_url(&url).unwrap());
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        Fixture { dir, database, runtime }
    }

    fn acme(&self) -> Server<'_> {
        self.server("acme", Tenant::Organization(OWNER.to_owned()), POLICY)
    }

    fn nobody(&self) -> Server<'_> {
        self.server("nobody", Tenant::Global, POLICY)
    }

    /// A server with folders of its own, of this name.
    fn server(&self, name: &str, tenant: Tenant, policy: &str) -> Server<'_> {
        let own = self.dir.path().join(name);
        let (roots, state): ([PathBuf; 1], PathBuf) = ([own.join("root")], own.join("state"));
        std::fs::create_dir_all(&roots[0]).unwrap();
        std::fs::write(roots[0].join("quality.yaml"), policy).unwrap();
        let opening = Workspace::at(&roots).with_state_dir(&state).with_tenant(tenant);
        let workspace = opening.with_database(Arc::clone(&self.database)).open().unwrap();
        Server { workspace, runtime: &self.runtime }
    }
}

fn target(organization: Option<&str>) -> Target {
    Target::Entity(Entity {
        kind: kind("workflow"),
        path: "a.py".to_owned(),
        app_id: None,
        organization_id: organization.map(str::to_owned),
    })
}

fn request(organization: Option<&str>, edit: Edit) -> Request {
    Request::new(target(organization), edit)
}

fn organization(report: &Report) -> Option<&str> {
    report.target.entity.as_ref().unwrap().organization_id.as_deref()
}

impl Server<'_> {
    fn run(&self, request: Request) -> Result<Report, Error> {
        self.runtime.block_on(self.workspace.edit(request, Watch::idle()))
    }

    #[track_caller]
    fn write(&self, organization: Option<&str>, edit: Edit) -> Report {
        let report = self.run(request(organization, edit)).unwrap();
        assert_eq!(report.status, Status::Written);
        report
    }

    fn text(&self, organization: Option<&str>) -> Option<String> {
        let whole = LinesRequest::from(target(organization));
        match self.runtime.block_on(self.workspace.read(whole, Watch::idle())) {
            Ok(reading) => Some(reading.text.view().to_owned()),
            Err(rejection) if rejection.code == Code::FileNotFound => None,
            Err(rejection) => panic!("{rejection:?}"),
        }
    }

    #[track_caller]
    fn revert(&self, revert: UndoRequest) -> Report {
        let reports = self.runtime.block_on(self.workspace.undo_or_redo(revert, Watch::idle()));
        let [report] = <[Report; 1]>::try_from(reports.unwrap()).unwrap_or_else(|all| panic!("{all:?}"));
        report
    }

    #[track_caller]
    fn revert_edit(&self, direction: Direction, edit: &Report) -> Report {
        self.revert(revert(direction, edit.edit_id.map(|id| id.to_string())))
    }

    /// Undoes or redoes the last edit of the workflow, without naming its organisation.
    #[track_caller]
    fn revert_last(&self, direction: Direction) -> Report {
        self.revert(UndoRequest { target: Some(target(None)), ..revert(direction, None) })
    }

    fn history(&self) -> Vec<EditId> {
        let history = HistoryRequest { target: Some(target(None)), max_entries: 10 };
        let entries = self.runtime.block_on(self.workspace.read(history, Watch::idle())).unwrap();
        entries.iter().map(|entry| entry.id).collect()
    }
}

#[test]
fn the_undo_of_an_edit_is_one_of_the_row_that_it_changed() {
    let fixture = Fixture::new();
    let (acme, nobody) = (fixture.acme(), fixture.nobody());
    let creation = nobody.write(None, content(FLOW));
    acme.write(Some(OWNER), content(&format!("{FLOW}# own\n")));
    let change = nobody.write(None, search("return 1", "return 100"));
    acme.write(None, search("return 1", "return 100"));
    let own = format!("{FLOW}# own\n").replace("return 1", "return 100");
    for status in [Status::Written, Status::AlreadyApplied] {
        let report = acme.revert_edit(Direction::Undo, &change);
        assert_eq!((report.status, organization(&report), report.version), (status, None, creation.version));
        assert_eq!((nobody.text(None).as_deref(), acme.text(None).as_deref()), (Some(FLOW), Some(&*own)));
    }
    let id = change.edit_id.unwrap().to_string();
    let shown = fixture.runtime.block_on(acme.workspace.entry_diffs(id)).unwrap();
    assert!(shown.diffs[0].as_ref().unwrap().contains("+    return 100\n"), "{:?}", shown.diffs);
    acme.revert_edit(Direction::Redo, &change);
    assert_eq!(nobody.text(None), Some(FLOW.replace("return 1", "return 100")));
    acme.revert_edit(Direction::Undo, &change);
    assert!(acme.revert_edit(Direction::Undo, &creation).is_removed());
    assert_eq!((nobody.text(None), acme.text(None).as_deref()), (None, Some(&*own)));
    assert!(acme.revert_edit(Direction::Redo, &creation).is_created());
    assert_eq!((nobody.text(None).as_deref(), acme.text(None).as_deref()), (Some(FLOW), Some(&*own)));
}

#[test]
fn a_row_that_is_removed_during_a_call_is_not_replaced_by_the_global_one() {
    let own = format!("{FLOW}# own\n");
    for (edit, is_versioned) in [
        (search("return 1", "return 100"), false),
        (search("return 1", "return 100"), true),
        (content(&format!("{FLOW}# other\n")), false),
    ] {
        let fixture = Fixture::new();
        let (acme, nobody) = (fixture.acme(), fixture.nobody());
        let other = fixture.server("other", Tenant::Organization(OWNER.to_owned()), POLICY).workspace;
        nobody.write(None, content(FLOW));
        let creation = acme.write(Some(OWNER), content(&own));
        let expect = if is_versioned { version(&creation) } else { Expect::Anything };
        // The first gate that starts is the moment of the removal.
        let (removal, handle) = (Once::new(), fixture.runtime.handle().clone());
        let progress = move |_: &str, _: usize, _: usize| {
            removal.call_once(|| {
                let remove = other.edit(request(Some(OWNER), Edit::Remove), Watch::idle());
                handle.block_on(remove).unwrap();
            });
        };
        let call = Request { expect, ..request(None, edit) };
        let watch = Watch::idle().with_progress(Box::new(progress));
        let rejection = fixture.runtime.block_on(acme.workspace.edit(call, watch)).unwrap_err();
        assert!(matches!(rejection.code, Code::FileNotFound | Code::EditConflict), "{rejection:?}");
        assert_eq!(nobody.text(None).as_deref(), Some(FLOW), "{rejection:?}");
        assert_eq!(acme.text(Some(OWNER)), None, "the control: it was removed during the call");
    }
}

#[test]
fn a_confirmation_counts_only_for_the_row_that_it_is_about() {
    let fixture = Fixture::new();
    let (acme, nobody) = (fixture.acme(), fixture.nobody());
    let tenant = Tenant::Organization(OWNER.to_owned());
    let asking = fixture.server("asking", tenant, &format!("{POLICY}confirm: risky\n"));
    let large = "    x = 1\n".repeat(99);
    let own = format!("{FLOW}{large}");
    nobody.write(None, content(FLOW));
    acme.write(Some(OWNER), content(&own));
    // Only of the own workflow it leaves less than a quarter, so that a person is asked.
    let call = request(None, content(&FLOW.replace("return 1", "return 3")));
    let rejection = asking.run(call.clone()).unwrap_err();
    assert_eq!(rejection.code, Code::NotConfirmed, "{rejection:?}");
    let question = rejection.question.unwrap();
    let wanted = format!(
        "\nworkflow a.py of organisation {OWNER} (+1 -100): leaves less than a quarter of the workflow"
    );
    assert!(question.text.ends_with(&wanted), "{}", question.text);
    let author = Author { confirmation_id: Some(question.id), ..Author::default() };
    let confirmed = Request { author, ..call };
    acme.write(Some(OWNER), Edit::Remove);
    let rejection = asking.run(confirmed.clone()).unwrap_err();
    assert_eq!(rejection.code, Code::EditConflict, "{rejection:?}");
    assert_eq!(nobody.text(None).as_deref(), Some(FLOW));
    // The control: it counts where the row is as it was.
    acme.write(Some(OWNER), content(&own));
    let report = asking.run(confirmed).unwrap();
    assert_eq!((report.status, organization(&report)), (Status::Written, Some(OWNER)));
}

#[test]
fn a_deletion_that_is_repeated_leaves_the_global_row() {
    let fixture = Fixture::new();
    let (acme, nobody) = (fixture.acme(), fixture.nobody());
    nobody.write(None, content(FLOW));
    // Of the same text, so that its version is one of the global row, too.
    let creation = acme.write(Some(OWNER), content(FLOW));
    let remove = |expect| Request { expect, ..request(None, Edit::Remove) };
    let removal = acme.run(remove(version(&creation))).unwrap();
    assert_eq!((removal.status, organization(&removal)), (Status::Written, Some(OWNER)));
    let again = acme.run(remove(version(&creation))).unwrap();
    assert_eq!((again.status, again.edit_id), (Status::AlreadyApplied, removal.edit_id));
    assert_eq!(acme.run(remove(Expect::Anything)).unwrap_err().code, Code::FileNotFound);
    assert_eq!(nobody.text(None).as_deref(), Some(FLOW));
    // Its history is that of the removed one, which an undo brings back.
    assert_eq!(acme.history(), [removal.edit_id.unwrap(), creation.edit_id.unwrap()]);
    assert!(acme.revert_last(Direction::Undo).is_created());
    assert_eq!(acme.text(Some(OWNER)).as_deref(), Some(FLOW));
    let redo = acme.revert_last(Direction::Redo);
    assert_eq!((redo.is_removed(), organization(&redo)), (true, Some(OWNER)));
    assert_eq!(nobody.text(None).as_deref(), Some(FLOW));
    // An edit is one of the global row, as the caller reads it.
    let edit = acme.write(None, search("return 1", "return 3"));
    assert_eq!((organization(&edit), acme.text(None)), (None, nobody.text(None)));
    // Now the last edit of that path is this one.
    assert_eq!(acme.history().first(), edit.edit_id.as_ref());
    assert_eq!(organization(&acme.revert_last(Direction::Undo)), None);
    assert_eq!((acme.text(None).as_deref(), acme.text(Some(OWNER))), (Some(FLOW), None));
}

#[test]
fn a_global_row_that_an_organisation_removed_comes_back() {
    let fixture = Fixture::new();
    let (acme, nobody) = (fixture.acme(), fixture.nobody());
    nobody.write(None, content(FLOW));
    let removal = acme.write(None, Edit::Remove);
    assert_eq!(organization(&removal), None);
    assert_eq!(acme.history().first(), removal.edit_id.as_ref());
    assert!(acme.revert_last(Direction::Undo).is_created());
    assert_eq!(nobody.text(None).as_deref(), Some(FLOW));
    acme.revert_edit(Direction::Redo, &removal);
    assert_eq!(nobody.text(None), None);
}
