//! The types of entities: their rules hold in every mode, for every kind of edit, and the drafts of a call see only drafts of
//! their own type.

use std::path::PathBuf;
use std::sync::Arc;

use lockgate_checks::{Outcome, Watch};
use lockgate_edit::request::{BlockFields, Direction, Entity, EntityKind, Mode, Request, Target};
use lockgate_edit::{Edit, Insertion, LineEdit, LineEditNames, Occurrences, OnDuplicate};
use lockgate_engine::{LinesRequest, Report, Status, TrustOverride, Workspace};
use lockgate_error::{Code, Error};
use tempfile::TempDir;

use super::edits::revert;

/// One server with stored content of its own.
struct Fixture {
    workspace: Arc<Workspace>,
    runtime: tokio::runtime::Runtime,
    dir: TempDir,
}

const FLOW: &str = "import x\n\n\n@workflow\ndef f():\n    return 1\n";

impl Fixture {
    fn new(policy: &str) -> Fixture {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        std::fs::create_dir_all(&root).unwrap();
        std::fs::write(root.join("quality.yaml"), policy).unwrap();
        let roots: [PathBuf; 1] = [root];
        let own = dir.path().join("own");
        let workspace = Workspace::at(&roots)
            .with_state_dir(&own)
            .with_trust_override(TrustOverride::Process)
            .open()
            .unwrap();
        Fixture::over(workspace, dir)
    }

    fn over(workspace: Arc<Workspace>, dir: TempDir) -> Fixture {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        Fixture { workspace, runtime, dir }
    }

    fn edit(&self, kind: &str, edit: Edit, mode: Mode) -> Result<Report, Error> {
        self.runtime.block_on(self.workspace.edit(request(kind, "a.py", edit, mode), Watch::idle()))
    }

    fn edit_all(&self, requests: Vec<Request>) -> Result<Vec<Report>, Error> {
        self.runtime.block_on(self.workspace.edit_all(requests, Watch::idle()))
    }

    /// The text that stands there.
    fn text(&self, kind: &str) -> Option<String> {
        match self
            .runtime
            .block_on(self.workspace.read(LinesRequest::from(target(kind, "a.py")), Watch::idle()))
        {
            Ok(reading) => Some(reading.text.view().to_owned()),
            Err(rejection) if rejection.code == Code::FileNotFound => None,
            Err(rejection) => panic!("{rejection:?}"),
        }
    }
}

fn target(kind: &str, path: &str) -> Target {
    let kind = EntityKind::from_name(kind).unwrap();
    Target::Entity(Entity { kind, path: path.to_owned(), app_id: None, organization_id: None })
}

fn request(kind: &str, path: &str, edit: Edit, mode: Mode) -> Request {
    Request { mode, ..Request::new(target(kind, path), edit) }
}

fn content(text: &str) -> Edit {
    Edit::Content(text.to_owned())
}

/// Each kind of edit that makes one line of another.
fn edits(line: usize, from: &str, to: &str, whole: &str) -> [Edit; 4] {
    let search = BlockFields {
        search: from.to_owned(),
        replace: to.to_owned(),
        occurrences: Occurrences::Block,
        tolerance: None,
        start_line: None,
        end_line: None,
        within: None,
        on_duplicate: OnDuplicate::Reject,
    };
    let lines = LineEdit {
        start_line: line,
        end_line: line,
        new_content: format!("{to}\n"),
        expect: None,
        names: LineEditNames::Lists,
    };
    let inserted = Insertion {
        at_line: line + 1,
        content: format!("{to}\n"),
        expect: None,
        names: LineEditNames::Lists,
    };
    [content(whole), search.into_edit().unwrap(), Edit::Lines(vec![lines]), Edit::Insert(vec![inserted])]
}

#[test]
fn no_kind_of_edit_and_no_mode_passes_the_rules_over() {
    let fixture = Fixture::new("");
    for mode in [Mode::Strict, Mode::Interactive, Mode::VerifyOnly] {
        fixture.edit("workflow", content(FLOW), Mode::Strict).unwrap();
        // A line that is put after the decorator makes a class of what was a function.
        let spoilt = FLOW.replace("@workflow", "class A: ...");
        for edit in edits(4, "@workflow", "class A: ...", &spoilt) {
            let allowed = edits(6, "    return 1", "    return 2", &FLOW.replace("return 1", "return 2"));
            let refused = match fixture.edit("workflow", edit.clone(), mode) {
                // A decorator without its function is no Python, which the gate tells first where it may refuse.
                Ok(report) if matches!(edit, Edit::Insert(_)) && mode != Mode::Interactive => {
                    assert!(report.verdict.refuses(), "{mode:?} {edit:?}");
                    continue;
                }
                answer => answer.unwrap_err(),
            };
            assert_eq!(refused.code, Code::EntityMismatch, "{mode:?} {edit:?}");
            assert_eq!(fixture.text("workflow").as_deref(), Some(FLOW), "{mode:?} {edit:?}");
            for edit in allowed {
                let edit_report = fixture.edit("workflow", edit.clone(), mode).unwrap();
                let expected = if mode == Mode::VerifyOnly { Status::Verified } else { Status::Written };
                assert_eq!(edit_report.status, expected, "{mode:?} {edit:?}");
                fixture.edit("workflow", content(FLOW), Mode::Strict).unwrap();
            }
        }
    }
}

#[test]
fn restored_text_is_not_judged() {
    let (free, bound) = (
        "entities: { job: { owner: global } }",
        "define: { titled: { kind: pattern, languages: ['*'], must_match: '^# ', message: no title } }\n\
         entities: { job: { owner: global, gates: [titled] } }",
    );
    let fixture = Fixture::new(free);
    let first = fixture.edit("job", content("one\n"), Mode::Strict).unwrap();
    let second = fixture.edit("job", content("two\n"), Mode::Strict).unwrap();
    std::fs::write(fixture.dir.path().join("root/quality.yaml"), bound).unwrap();
    assert_eq!(fixture.edit("job", content("two\n"), Mode::Strict).unwrap_err().code, Code::EntityMismatch);
    let revert = |direction, report: &Report| {
        let revert = revert(direction, report.edit_id.map(|id| id.to_string()));
        fixture.runtime.block_on(fixture.workspace.undo_or_redo(revert, Watch::idle())).unwrap();
        fixture.text("job")
    };
    assert_eq!(revert(Direction::Undo, &second).as_deref(), Some("one\n"));
    assert_eq!(revert(Direction::Redo, &second).as_deref(), Some("two\n"));
    assert_eq!(revert(Direction::Undo, &second).as_deref(), Some("one\n"));
    assert_eq!(revert(Direction::Undo, &first), None);
    let removed = fixture.edit("job", content("# A\n"), Mode::Strict).unwrap();
    assert_eq!(removed.status, Status::Written);
    assert!(fixture.edit("job", Edit::Remove, Mode::Strict).unwrap().is_removed());
}

#[test]
fn drafts_of_a_call_see_only_drafts_of_their_own_type() {
    // A program that finds what stands in the other file of the call.
    let policy = "define:\n  look:\n    kind: command\n    languages: ['*']\n    input: staged\n    scope: project\n    \
        command: [sh, -c, 'cd \"${0%/*}\" && cat b.txt | sed \"s/^/1:/\"', '{path}']\n    \
        output: { regex: '^(?P<line>\\d+):(?P<message>.*)$' }\n\
        quality_gates: { '*': [{ tool: look, level: warn }] }\n\
        entities: { note: { owner: global }, page: { owner: global } }\n";
    let fixture = Fixture::new(policy);
    std::fs::write(fixture.dir.path().join("root/b.txt"), "on disk\n").unwrap();
    let messages = |requests: Vec<Request>| -> Vec<String> {
        let reports = fixture.edit_all(requests).unwrap();
        assert!(reports[0].verdict.runs.iter().all(|run| run.outcome == Outcome::Found), "{reports:?}");
        reports[0].verdict.findings.iter().map(|finding| finding.message.clone()).collect()
    };
    let (own, other) = (request("note", "a.txt", content("a\n"), Mode::VerifyOnly), |kind| {
        request(kind, "b.txt", content("drafted\n"), Mode::VerifyOnly)
    });
    assert_eq!(messages(vec![own.clone(), other("note")]), ["drafted"]);
    assert_eq!(messages(vec![own.clone(), other("page")]), ["on disk"]);
    let same = request("page", "a.txt", content("a\n"), Mode::VerifyOnly);
    assert_eq!(messages(vec![own, same]), ["on disk"], "two entities of one path are two");
}

#[test]
fn without_a_root_the_types_are_those_that_are_compiled_in() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = Workspace::without_roots().with_state_dir(dir.path()).open().unwrap();
    let fixture = Fixture::over(workspace, dir);
    assert_eq!(fixture.edit("module", content(FLOW), Mode::Strict).unwrap_err().code, Code::EntityMismatch);
    assert_eq!(fixture.edit("workflow", content(FLOW), Mode::Strict).unwrap().status, Status::Written);
    let broken =
        fixture.edit("workflow", content("@workflow\ndef f():\n    x = = 1\n"), Mode::Strict).unwrap();
    assert_eq!(broken.status, Status::Refused);
    let refused = fixture.edit("note", content("x\n"), Mode::Strict).unwrap_err();
    assert_eq!((refused.code, refused.field.as_deref()), (Code::InvalidInput, Some("entity_type")));
}

/// Each text was a workflow, and what is left of the two edits would be none.
#[test]
fn rebased_undo_is_judged() {
    let fixture = Fixture::new("{}");
    let lines = |f: &str, g: &str| {
        format!("{f}def f(): pass\n{}{g}def g(): pass\n", "# far from each other\n".repeat(10))
    };
    let write = |text: &str| fixture.edit("workflow", content(text), Mode::Strict).unwrap();
    write(&lines("@workflow\n", ""));
    let first = write(&lines("@workflow\n", "@workflow\n"));
    let last = lines("", "@workflow\n");
    write(&last);
    let revert = revert(Direction::Undo, first.edit_id.map(|id| id.to_string()));
    let refused =
        fixture.runtime.block_on(fixture.workspace.undo_or_redo(revert, Watch::idle())).unwrap_err();
    assert_eq!(refused.code, Code::EntityMismatch);
    assert_eq!(fixture.text("workflow").as_deref(), Some(last.as_str()));
}
