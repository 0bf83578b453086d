//! The wire to PostgreSQL breaks at each message of an edit, in four ways, for good or for a moment.

use std::cell::{Cell, RefCell};

use lockgate_edit::request::Expect;
use lockgate_edit::{Edit, LineEdit, LineEditNames};
use lockgate_engine::Report;
use lockgate_error::{Code, Disk, Error};

use super::super::postgres::{Database, Postgres};
use super::super::proxy::{FaultPoint, Proxy, Then, When};
use super::{Client, WriteLog, WriteOutcome, clear, request, the_app, write_outcome};

/// A database, a server that reaches it by the proxy, and one that reaches it past the proxy.
struct Fixture {
    proxy: Proxy,
    served: Client,
    witness: Client,
    database: Database<'static>,
    dir: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Option<Fixture> {
        let postgres = Postgres::shared()?;
        let database = postgres.database();
        let proxy = Proxy::before(&postgres.socket());
        let dir = tempfile::tempdir().unwrap();
        let witness = Client::new(&database.url(), &dir.path().join("witness"));
        assert_eq!(witness.text("src/a.txt"), None);
        database.boss(&the_app());
        let served = Client::new(&database.url_at(proxy.address), &dir.path().join("served"));
        Some(Fixture { proxy, served, witness, database, dir })
    }

    /// Makes an edit with the wire broken at a message; returns whether it broke.
    fn at(
        &self,
        (when, at, then): (When, FaultPoint, Then),
        edit: impl Fn() -> Result<Vec<Report>, Error>,
        check: impl FnOnce(&Result<Vec<Report>, Error>),
    ) -> bool {
        self.proxy.arm(when, at, then);
        let answer = edit();
        let (messages, broke) = self.proxy.clear_fault();
        let what = format!("{when:?} {at:?} {then:?}: {broke:?} of {messages:#?}");
        match &answer {
            Ok(_) => (),
            Err(rejection) => {
                assert!(broke.is_some(), "nothing broke: {what}: {rejection:?}");
                clear(rejection);
                // Whoever may look again knows; and what was never sent was not obeyed.
                let committing = messages.iter().any(|message| message == "Query COMMIT");
                let may_be_unknown = then == Then::Broken && committing;
                assert!(rejection.disk == Disk::Untouched || may_be_unknown, "{what}: {rejection:?}");
            }
        }
        check(&answer);
        broke.is_some()
    }

    /// Makes an edit over and over, each time with the wire broken some messages later, until it breaks no more; gives how
    /// often it broke.
    fn at_each(
        &self,
        (step, at, then): (usize, FaultPoint, Then),
        edit: impl Fn(usize) -> Result<Vec<Report>, Error>,
        check: impl Fn(usize, &Result<Vec<Report>, Error>),
    ) -> usize {
        let breaks = |number: &usize| {
            let when = When::Number(*number);
            self.at((when, at, then), || edit(*number), |answer| check(*number, answer))
        };
        (0..).step_by(step).take_while(breaks).count()
    }
}

/// Whoever connects again is let in, as it is after a restart.
#[test]
fn an_edit_is_there_once_wherever_the_wire_breaks_for_a_moment() {
    let Some(fixture) = Fixture::new() else { return };
    for at in [FaultPoint::Before, FaultPoint::AnswerLost, FaultPoint::Within, FaultPoint::AnswerCut] {
        let path = format!("src/{at:?}.txt");
        let ledger = RefCell::new(WriteLog::begin(&fixture.witness, &path));
        let line = |number: usize| format!("edit {number}.");
        let broke = fixture.at_each(
            (1, at, Then::Mended),
            |number| fixture.served.append(&path, &line(number)).map(|report| vec![report]),
            |number, answer| {
                ledger.borrow_mut().note(&line(number), answer);
            },
        );
        ledger.into_inner().check(&fixture.witness);
        assert!(broke >= 5, "an edit has no more than {broke} messages");
    }
}

/// The commit arrives after its lookup has started: the lookup waits until the old connection has ended.
#[test]
fn a_late_commit_is_detected() {
    let Some(fixture) = Fixture::new() else { return };
    let ledger = RefCell::new(WriteLog::begin(&fixture.witness, "src/a.txt"));
    for number in 0..3 {
        let line = format!("edit {number}.");
        let edit = || fixture.served.append("src/a.txt", &line).map(|report| vec![report]);
        let broke = fixture.at((When::Commit, FaultPoint::Late, Then::Mended), edit, |answer| {
            assert_eq!(ledger.borrow_mut().note(&line, answer), WriteOutcome::There, "{answer:?}");
        });
        assert!(broke);
    }
    ledger.into_inner().check(&fixture.witness);
}

/// A commit that reports an error may have been made: the edit is looked up.
#[test]
fn a_commit_that_was_made_and_reports_an_error_is_detected() {
    let Some(fixture) = Fixture::new() else { return };
    let ledger = RefCell::new(WriteLog::begin(&fixture.witness, "src/a.txt"));
    let edit = || fixture.served.append("src/a.txt", "edit.").map(|report| vec![report]);
    let broke = fixture.at((When::Commit, FaultPoint::AnswerFull, Then::Mended), edit, |answer| {
        assert_eq!(ledger.borrow_mut().note("edit.", answer), WriteOutcome::There, "{answer:?}");
    });
    assert!(broke);
    ledger.into_inner().check(&fixture.witness);
}

/// The statements behind a beginning are sent before its answer comes; without it they change nothing.
#[test]
fn an_edit_whose_transaction_does_not_begin_is_made_once() {
    let Some(fixture) = Fixture::new() else { return };
    // Row-level security alone would not stop a statement that runs without its transaction.
    fixture.database.boss("UPDATE apps SET organization = ''");
    let ledger = RefCell::new(WriteLog::begin(&fixture.witness, "src/a.txt"));
    for number in 0..3 {
        let line = format!("edit {number}.");
        let edit = || fixture.served.append("src/a.txt", &line).map(|report| vec![report]);
        let broke = fixture.at((When::Begin, FaultPoint::Missing, Then::Mended), edit, |answer| {
            assert_eq!(ledger.borrow_mut().note(&line, answer), WriteOutcome::There, "{answer:?}");
        });
        assert!(broke);
    }
    ledger.into_inner().check(&fixture.witness);
}

#[test]
fn an_edit_is_there_once_wherever_the_wire_breaks_for_good() {
    let Some(fixture) = Fixture::new() else { return };
    let unknown = Cell::new(0);
    let log = WriteLog::begin(&fixture.witness, "src/a.txt");
    let ledger = RefCell::new(log);
    let edit = |line: &str| fixture.served.append("src/a.txt", line).map(|report| vec![report]);
    let note = |line: &str, answer: &Result<Vec<Report>, Error>| {
        let outcome = ledger.borrow_mut().note(line, answer);
        unknown.set(unknown.get() + usize::from(outcome == WriteOutcome::Unknown));
    };
    for at in FaultPoint::ALL {
        let line = format!("{at:?}.");
        assert!(fixture.at((When::Commit, at, Then::Broken), || edit(&line), |answer| note(&line, answer)));
    }
    // The control: there is a message after which nobody can know.
    assert!(unknown.get() >= 2);
    let line = |number: usize| format!("edit {number}.");
    fixture.at_each(
        (2, FaultPoint::AnswerLost, Then::Broken),
        |number| edit(&line(number)),
        |number, answer| note(&line(number), answer),
    );
    ledger.into_inner().check(&fixture.witness);
}

#[test]
fn a_batch_and_its_undoing_are_whole_wherever_the_wire_breaks() {
    let Some(fixture) = Fixture::new() else { return };
    let paths = |number: usize| ["a", "b", "c"].map(|name| format!("src/{number}/{name}.txt"));
    let paths_exist = |number: usize| paths(number).map(|path| fixture.witness.text(&path).is_some());
    fixture.at_each(
        (1, FaultPoint::AnswerLost, Then::Mended),
        |number| {
            let new = |path: &String| request(path, Edit::Content(format!("{number}\n")), Expect::Absent);
            fixture.served.edit_all(paths(number).iter().map(new).collect())
        },
        |number, answer| {
            assert_eq!(paths_exist(number), [write_outcome(answer) == WriteOutcome::There; 3], "{number}")
        },
    );
    let creation = |number: usize| {
        let new = |path: &String| request(path, Edit::Content(format!("{number}\n")), Expect::Absent);
        let number = number + 1000;
        let reports = fixture.witness.edit_all(paths(number).iter().map(new).collect()).unwrap();
        reports[0].edit_id.unwrap().to_string()
    };
    fixture.at_each(
        (1, FaultPoint::AnswerLost, Then::Mended),
        |number| fixture.served.undo(&creation(number)),
        |number, answer| {
            assert_eq!(
                paths_exist(number + 1000),
                [write_outcome(answer) != WriteOutcome::There; 3],
                "{number}"
            )
        },
    );
}

/// A request whose answer was lost is sent again; where it cannot be seen that it was carried out, it is not carried out again.
#[test]
fn a_request_that_is_sent_again_is_not_made_twice_wherever_the_wire_breaks() {
    let Some(fixture) = Fixture::new() else { return };
    let line = |number, text: &str| {
        let edit = LineEdit {
            start_line: number,
            end_line: number,
            new_content: text.to_owned(),
            expect: None,
            names: LineEditNames::Lists,
        };
        Edit::Lines(vec![edit])
    };
    let version = |report: &Report| Expect::Version(report.version.unwrap().hex());
    let mut unseen = 0;
    for number in (0..).step_by(2) {
        let path = format!("src/{number}.txt");
        let first = fixture.witness.put(&path, "one\ntwo\nthree\n").unwrap();
        let send = || fixture.served.edit(&path, line(2, "TWO\n"), version(&first));
        assert!(send().is_ok());
        // As it stands there now, the same edit could be made again.
        for (number, text) in [(2, "two\n"), (1, "ONE\n")] {
            fixture.witness.edit(&path, line(number, text), Expect::Anything).unwrap();
        }
        fixture.proxy.arm(When::Number(number), FaultPoint::Before, Then::Broken);
        let rejection = send().unwrap_err();
        let (messages, broke) = fixture.proxy.clear_fault();
        assert_eq!(fixture.witness.text(&path).as_deref(), Some("ONE\ntwo\nthree\n"));
        let is_conflict =
            rejection.code == Code::EditConflict && rejection.message.contains("already applied as edit");
        assert!(is_conflict || broke.is_some(), "{rejection:?}");
        assert!(
            is_conflict || rejection.code == Code::StoreUnavailable,
            "{broke:?} of {messages:#?}: {rejection:?}"
        );
        unseen += usize::from(!is_conflict);
        if broke.is_none() {
            break;
        }
    }
    assert!(unseen > 2, "what was done before could not be seen {unseen} times");
}

#[test]
fn a_server_that_starts_without_a_connection_serves_once_it_is_restored() {
    let Some(fixture) = Fixture::new() else { return };
    for at in [FaultPoint::Before, FaultPoint::AnswerLost] {
        for number in (0..).step_by(3) {
            let own = fixture.dir.path().join(format!("{at:?}{number}"));
            let cold = Client::new(&fixture.database.url_at(fixture.proxy.address), &own);
            fixture.proxy.arm(When::Number(number), at, Then::Broken);
            let path = format!("src/{at:?}{number}.txt");
            let answer = cold.put(&path, "text\n");
            let (messages, broke) = fixture.proxy.clear_fault();
            let exists = fixture.witness.text(&path).is_some();
            match write_outcome(&answer) {
                WriteOutcome::There => assert!(exists),
                WriteOutcome::Absent => assert!(!exists, "{broke:?} of {messages:#?}: {answer:?}"),
                WriteOutcome::Unknown => (),
            }
            assert!(
                cold.put(&path, "other\n").is_ok(),
                "it does not serve again: {broke:?} of {messages:#?}"
            );
            assert_eq!(fixture.witness.text(&path).as_deref(), Some("other\n"));
            if broke.is_none() {
                break;
            }
        }
    }
}

#[test]
fn a_server_whose_idle_connection_was_cut_serves_the_next_call() {
    let Some(fixture) = Fixture::new() else { return };
    let mut ledger = WriteLog::begin(&fixture.witness, "src/a.txt");
    for number in 0..10 {
        fixture.proxy.blink();
        let line = format!("edit {number}.");
        let answer = fixture.served.append("src/a.txt", &line);
        assert_eq!(ledger.note(&line, &answer), WriteOutcome::There, "{answer:?}");
    }
    fixture.proxy.cut();
    let answer = fixture.served.append("src/a.txt", "never.");
    assert_eq!(ledger.note("never.", &answer), WriteOutcome::Absent);
    clear(&fixture.served.try_text("src/a.txt").unwrap_err());
    fixture.proxy.clear_fault();
    assert_eq!(ledger.note("at last.", &fixture.served.append("src/a.txt", "at last.")), WriteOutcome::There);
    ledger.check(&fixture.witness);
}

#[test]
fn a_wire_that_swallows_everything_is_given_up() {
    let Some(fixture) = Fixture::new() else { return };
    let mut ledger = WriteLog::begin(&fixture.witness, "src/a.txt");
    assert_eq!(ledger.note("first.", &fixture.served.append("src/a.txt", "first.")), WriteOutcome::There);
    fixture.proxy.hold();
    let answer = fixture.served.append("src/a.txt", "swallowed.");
    assert_eq!(ledger.note("swallowed.", &answer), WriteOutcome::Absent);
    // What was held back arrives at last, and must do nothing any more.
    fixture.proxy.clear_fault();
    assert_eq!(ledger.note("second.", &fixture.served.append("src/a.txt", "second.")), WriteOutcome::There);
    ledger.check(&fixture.witness);
}
