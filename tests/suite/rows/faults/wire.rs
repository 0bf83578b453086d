//! The wire to PostgreSQL breaks at each message of an edit, in four ways, for good or for a moment.

use lockgate::edit::Edit;
use lockgate::engine::Report;
use lockgate::error::{Disk, Error};
use lockgate::request::Expect;

use super::super::postgres::{Database, Postgres};
use super::super::proxy::{At, Proxy, Then};
use super::{Client, Fate, Ledger, clear, fate, request, the_app};

/// A database, a server that reaches it by the proxy, and one that reaches it past the proxy.
struct Scene {
    proxy: Proxy,
    served: Client,
    witness: Client,
    database: Database<'static>,
    dir: tempfile::TempDir,
}

impl Scene {
    fn new() -> Option<Scene> {
        let postgres = Postgres::shared()?;
        let database = postgres.database();
        let proxy = Proxy::before(&postgres.socket());
        let dir = tempfile::tempdir().unwrap();
        let witness = Client::of(&database.url(), &dir.path().join("witness"));
        assert_eq!(witness.text("src/a.txt"), None);
        database.boss(&the_app());
        let served = Client::of(&database.url_at(proxy.address), &dir.path().join("served"));
        Some(Scene { proxy, served, witness, database, dir })
    }

    /// Makes an edit over and over, each time with the wire broken at a later message, until it breaks no more.
    fn at_each_message(
        &self,
        at: At,
        then: Then,
        edit: impl Fn(usize) -> Result<Vec<Report>, Error>,
        check: impl Fn(usize, &Result<Vec<Report>, Error>),
    ) -> usize {
        for number in 0.. {
            self.proxy.arm(number, at, then);
            let answer = edit(number);
            let (seen, broke) = self.proxy.mend();
            let what = format!("{at:?} {then:?} {number}: {broke:?} of {seen:#?}");
            if broke.is_none() {
                assert!(answer.is_ok(), "nothing broke: {what}: {answer:?}");
                check(number, &answer);
                return number;
            }
            if let Err(refusal) = &answer {
                clear(refusal);
                // Whoever may look again knows; and what was never sent was not obeyed.
                let committing = seen.iter().any(|message| message.to_ascii_uppercase().contains("COMMIT"));
                let may_be_unknown = then == Then::Broken && committing;
                assert!(refusal.disk == Disk::Untouched || may_be_unknown, "{what}: {refusal:?}");
            }
            check(number, &answer);
        }
        unreachable!()
    }
}

/// Ways that are tried at every message: those where whoever connects again is let in, as it is after a restart.
#[test]
fn an_edit_is_there_once_wherever_the_wire_breaks_for_a_moment() {
    let Some(scene) = Scene::new() else { return };
    for at in At::ALL {
        let path = format!("src/{at:?}.txt");
        let mut ledger = Ledger::begin(&scene.witness, &path);
        let sent = std::cell::RefCell::new(&mut ledger);
        let count = scene.at_each_message(
            at,
            Then::Mended,
            |number| scene.served.append(&path, &format!("edit {number}.")).map(|report| vec![report]),
            |number, answer| {
                sent.borrow_mut().note(&format!("edit {number}."), answer);
            },
        );
        ledger.check(&scene.witness);
        assert!(count >= 5, "an edit has no more than {count} messages");
    }
}

#[test]
fn an_edit_is_there_once_wherever_the_wire_breaks_for_good() {
    let Some(scene) = Scene::new() else { return };
    let mut unknown = 0;
    for at in [At::Before, At::Unheard] {
        let path = format!("src/{at:?}.txt");
        let mut ledger = Ledger::begin(&scene.witness, &path);
        let sent = std::cell::RefCell::new(&mut ledger);
        let fates = std::cell::RefCell::new(Vec::new());
        scene.at_each_message(
            at,
            Then::Broken,
            |number| scene.served.append(&path, &format!("edit {number}.")).map(|report| vec![report]),
            |number, answer| {
                fates.borrow_mut().push(sent.borrow_mut().note(&format!("edit {number}."), answer))
            },
        );
        unknown += fates.into_inner().iter().filter(|fate| **fate == Fate::Unknown).count();
        ledger.check(&scene.witness);
    }
    // The control: there is a message after which nobody can know.
    assert!(unknown >= 1);
}

#[test]
fn a_batch_and_its_undoing_are_whole_wherever_the_wire_breaks() {
    let Some(scene) = Scene::new() else { return };
    let paths = |number: usize| ["a", "b", "c"].map(|name| format!("src/{number}/{name}.txt"));
    let there = |number: usize| paths(number).map(|path| scene.witness.text(&path).is_some());
    scene.at_each_message(
        At::Unheard,
        Then::Mended,
        |number| {
            let new = |path: &String| request(path, Edit::Content(format!("{number}\n")), Expect::Absent);
            scene.served.edit_all(paths(number).iter().map(new).collect())
        },
        |number, answer| assert_eq!(there(number), [fate(answer) == Fate::There; 3], "{number}"),
    );
    let made = |number: usize| {
        let new = |path: &String| request(path, Edit::Content(format!("{number}\n")), Expect::Absent);
        let number = number + 1000;
        let reports = scene.witness.edit_all(paths(number).iter().map(new).collect()).unwrap();
        reports[0].edit_id.unwrap().to_string()
    };
    scene.at_each_message(
        At::Unheard,
        Then::Mended,
        |number| scene.served.undo(&made(number)),
        |number, answer| assert_eq!(there(number + 1000), [fate(answer) != Fate::There; 3], "{number}"),
    );
}

#[test]
fn a_server_that_starts_on_a_broken_wire_serves_when_it_is_mended() {
    let Some(scene) = Scene::new() else { return };
    for at in [At::Before, At::Unheard] {
        for number in 0.. {
            let own = scene.dir.path().join(format!("{at:?}{number}"));
            let cold = Client::of(&scene.database.url_at(scene.proxy.address), &own);
            scene.proxy.arm(number, at, Then::Broken);
            let path = format!("src/{at:?}{number}.txt");
            let answer = cold.put(&path, "text\n");
            let (seen, broke) = scene.proxy.mend();
            let there = scene.witness.text(&path).is_some();
            match fate(&answer) {
                Fate::There => assert!(there),
                Fate::Absent => assert!(!there, "{broke:?} of {seen:#?}: {answer:?}"),
                Fate::Unknown => (),
            }
            assert!(cold.put(&path, "other\n").is_ok(), "it does not serve again: {broke:?} of {seen:#?}");
            assert_eq!(scene.witness.text(&path).as_deref(), Some("other\n"));
            if broke.is_none() {
                break;
            }
        }
    }
}

#[test]
fn a_server_whose_wire_is_cut_while_nobody_asks_serves_the_next_who_does() {
    let Some(scene) = Scene::new() else { return };
    let mut ledger = Ledger::begin(&scene.witness, "src/a.txt");
    for number in 0..10 {
        scene.proxy.blink();
        let line = format!("edit {number}.");
        let answer = scene.served.append("src/a.txt", &line);
        assert_eq!(ledger.note(&line, &answer), Fate::There, "{answer:?}");
    }
    scene.proxy.cut();
    let answer = scene.served.append("src/a.txt", "never.");
    assert_eq!(ledger.note("never.", &answer), Fate::Absent);
    clear(&scene.served.try_text("src/a.txt").unwrap_err());
    scene.proxy.mend();
    assert_eq!(ledger.note("at last.", &scene.served.append("src/a.txt", "at last.")), Fate::There);
    ledger.check(&scene.witness);
}

#[test]
fn a_wire_that_swallows_everything_is_given_up() {
    let Some(scene) = Scene::new() else { return };
    let mut ledger = Ledger::begin(&scene.witness, "src/a.txt");
    assert_eq!(ledger.note("first.", &scene.served.append("src/a.txt", "first.")), Fate::There);
    scene.proxy.hold();
    let answer = scene.served.append("src/a.txt", "swallowed.");
    assert_eq!(ledger.note("swallowed.", &answer), Fate::Absent);
    // What was held back arrives at last, and must do nothing any more.
    scene.proxy.mend();
    assert_eq!(ledger.note("second.", &scene.served.append("src/a.txt", "second.")), Fate::There);
    ledger.check(&scene.witness);
}
