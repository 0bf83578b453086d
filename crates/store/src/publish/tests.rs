//! What publishing does to real files, with all of its guards and with fewer of them.

mod appenders;

use super::guards::Guards;
use super::swap::SwapNames;
use super::{batch, stage};
use crate::content::Content;
use crate::file_write::FileWrite;
use crate::outcome::{GuardLevel, PublishedBatch};
use crate::paths::file_location::FileLocation;
use crate::{FileSnapshot, Files};
use lockgate_error::Error;
use lockgate_error::{Code, Disk};
use lockgate_policy::HardLinks;
use lockgate_policy::Publishing;
use rustix::fs::OFlags;
use std::cell::Cell;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const LIMIT: u64 = 1 << 20;

struct Fixture {
    dir: TempDir,
    files: Files,
}

impl Fixture {
    fn new(texts: &[(&str, &str)]) -> Fixture {
        Fixture::within(tempfile::tempdir().unwrap(), texts)
    }

    /// In memory, where the machine has such a folder.
    fn fast(texts: &[(&str, &str)]) -> Fixture {
        let memory = Path::new("/dev/shm");
        let dir = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        Fixture::within(dir.unwrap(), texts)
    }

    fn within(dir: TempDir, texts: &[(&str, &str)]) -> Fixture {
        for (name, text) in texts {
            fs::write(dir.path().join(name), text).unwrap();
        }
        let files = Files::open(&[dir.path().to_owned()]).unwrap();
        Fixture { dir, files }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let mut names = names_in(self.dir.path());
        names.sort();
        names
    }

    /// Publishes `(name, text)` pairs as one edit, with a look in between each two steps.
    fn publish(
        &self,
        edits: &[(&str, Option<&str>)],
        publishing: Publishing,
        guards: Guards<'_>,
    ) -> Result<PublishedBatch, Error> {
        let make_text = |name: &str, _: &[u8]| {
            edits.iter().find(|(it, _)| *it == name).and_then(|(_, text)| text.map(str::to_owned))
        };
        let names: Vec<&str> = edits.iter().map(|(name, _)| *name).collect();
        self.publish_made(&names, make_text, publishing, guards)
    }

    /// The same with texts that are made of those that were read.
    fn publish_made(
        &self,
        names: &[&str],
        make: impl Fn(&str, &[u8]) -> Option<String>,
        publishing: Publishing,
        guards: Guards<'_>,
    ) -> Result<PublishedBatch, Error> {
        let read = |name: &&str| -> Result<(FileLocation, Option<FileSnapshot>, Option<String>), Error> {
            let place = self.files.admit(name)?;
            let snapshot = self.files.read(&place, LIMIT)?;
            let text = make(name, snapshot.as_ref().map_or(b"", |snapshot| snapshot.bytes()));
            Ok((place, snapshot, text))
        };
        let targets = names.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let writes: Vec<FileWrite<'_>> = targets
            .iter()
            .map(|(place, snapshot, text)| {
                FileWrite::new(
                    place,
                    snapshot.as_ref().map(|snapshot| snapshot.expected(Content::new(snapshot.bytes()))),
                    text.as_ref().map(|text| Content::new(text.as_bytes())),
                )
            })
            .collect();
        batch::publish_with_guards(&self.files.roots, &writes, publishing, None, guards)
    }
}

/// What another program does that no lease holds back.
fn put(path: &Path, text: &str) {
    let temporary = tempfile::NamedTempFile::new().unwrap();
    fs::write(temporary.path(), text).unwrap();
    temporary.persist(path).unwrap();
}

/// Appends a line, if nobody holds back whoever opens the file; tells whether it did.
fn append(path: &Path, line: &str) -> bool {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = fs::File::options().append(true).custom_flags(flags).open(path);
    file.is_ok_and(|mut file| file.write_all(line.as_bytes()).is_ok())
}

fn names_in(dir: &Path) -> Vec<String> {
    fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn publishing(hard_links: HardLinks) -> Publishing {
    Publishing { hard_links, ..Publishing::default() }
}

/// All levels that a file system may offer, each with less than the one before.
fn levels() -> [(GuardLevel, Guards<'static>); 3] {
    let all = Guards { timeout: std::time::Duration::ZERO, ..Guards::ALL };
    let exchange = Guards { lease: false, ..all };
    [
        (GuardLevel::Lease, all),
        (GuardLevel::Exchange, exchange),
        (GuardLevel::Compare, Guards { exchange: false, ..exchange }),
    ]
}

#[test]
fn all_writes_of_an_edit_are_made_at_every_level_and_nothing_is_left() {
    for (level, guards) in levels() {
        let fixture = Fixture::new(&[("a", "1"), ("b", "2"), ("gone", "3")]);
        let edits = [("a", Some("one")), ("new/c", Some("three")), ("gone", None), ("b", Some(""))];
        let published = fixture.publish(&edits, Publishing::default(), guards).unwrap();
        assert_eq!(
            (fixture.text("a").as_str(), fixture.text("b").as_str(), fixture.text("new/c").as_str()),
            ("one", "", "three")
        );
        assert_eq!(
            (fixture.names(), names_in(&fixture.at("new"))),
            (vec!["a".into(), "b".into(), "new".into()], vec!["c".into()])
        );
        let removed = if level == GuardLevel::Compare { GuardLevel::Exchange } else { level };
        let levels: Vec<GuardLevel> = published.files.iter().map(|file| file.level).collect();
        assert_eq!(levels, [level, GuardLevel::Exchange, removed, level]);
        let created: Vec<bool> = published.files.iter().map(|file| file.created).collect();
        assert_eq!(created, [false, true, false, false]);
        assert!(published.files.iter().all(|file| file.notes.is_empty()), "{:?}", published.files);
    }
}

#[test]
fn where_the_last_write_fails_all_are_taken_back_at_every_level() {
    for (level, guards) in levels() {
        let fixture = Fixture::new(&[("a", "1"), ("gone", "2"), ("z", "3")]);
        let is_done = Cell::new(false);
        let change = || {
            if fixture.at("new/c").exists() && !is_done.replace(true) {
                put(&fixture.at("z"), "theirs");
            }
        };
        let edits = [("a", Some("one")), ("gone", None), ("new/c", Some("c")), ("z", Some("three"))];
        let error =
            fixture.publish(&edits, Publishing::default(), Guards { step: &change, ..guards }).unwrap_err();
        assert_eq!((error.code, error.disk), (Code::EditConflict, Disk::Untouched), "{error:?}");
        let texts = (fixture.text("a"), fixture.text("gone"), fixture.text("z"));
        assert_eq!(texts, ("1".into(), "2".into(), "theirs".into()), "{level:?}");
        assert_eq!(fixture.names(), ["a", "gone", "z"], "{level:?}");
    }
}

#[test]
fn what_somebody_changed_after_it_was_published_is_not_taken_back_and_nothing_is_lost() {
    for (level, guards) in levels() {
        let fixture = Fixture::new(&[("a", "1"), ("z", "3")]);
        let is_ours = || fixture.text("a") == "one";
        // Their text replaces ours as soon as nothing holds it back, and then the last file changes.
        let change = || {
            if is_ours() && names_in(fixture.dir.path()).len() < 5 {
                put(&fixture.at("a"), "theirs, on ours");
                put(&fixture.at("z"), "theirs");
            }
        };
        let edits = [("a", Some("one")), ("z", Some("three"))];
        let error =
            fixture.publish(&edits, Publishing::default(), Guards { step: &change, ..guards }).unwrap_err();
        assert_eq!(error.code, Code::EditConflict);
        assert_eq!(
            (fixture.text("a"), fixture.text("z")),
            ("theirs, on ours".into(), "theirs".into()),
            "{level:?}"
        );
        let kept_names: Vec<String> =
            fixture.names().into_iter().filter(|name| name.ends_with(".kept")).collect();
        let is_reported = kept_names.iter().all(|name| error.message.contains(name.as_str()));
        assert!(
            is_reported && !fixture.names().iter().any(|name| name.ends_with(".lockgate")),
            "{error:?} {kept_names:?}"
        );
    }
}

/// An edit of this file and of `z`, which others change once this one is there, and append to this one as soon as they can.
fn appended(fixture: &Fixture, name: &str, guards: Guards<'_>) -> Error {
    let (is_appended, is_changed) = (Cell::new(false), Cell::new(false));
    let change = || {
        if fs::read_to_string(fixture.at(name)).is_ok_and(|text| text.starts_with("one")) {
            if !is_changed.replace(true) {
                put(&fixture.at("z"), "theirs");
            }
            is_appended.set(is_appended.get() || append(&fixture.at(name), "added\n"));
        }
    };
    let guards = Guards { step: &change, timeout: Guards::ALL.timeout, ..guards };
    let edits = [(name, Some("one\n")), ("z", Some("three"))];
    let error = fixture.publish(&edits, Publishing::default(), guards).unwrap_err();
    assert!(is_appended.get(), "nobody appended: {error:?}");
    assert_eq!((error.code, fixture.text("z").as_str()), (Code::EditConflict, "theirs"), "{error:?}");
    error
}

#[test]
fn what_was_appended_to_a_file_that_is_taken_back_stays_at_its_end() {
    for (level, guards) in levels() {
        let fixture = Fixture::new(&[("a", "1\n"), ("z", "3")]);
        let error = appended(&fixture, "a", guards);
        assert_eq!(
            (fixture.text("a").as_str(), error.disk),
            ("1\nadded\n", Disk::Untouched),
            "{level:?}: {error:?}"
        );
        assert_eq!(fixture.names(), ["a", "z"], "{level:?}");
        // The control: taken back only where nobody came.
        let fixture = Fixture::new(&[("a", "1\n"), ("z", "3")]);
        let error = appended(&fixture, "a", Guards { together: false, ..guards });
        assert_eq!(
            (fixture.text("a").as_str(), error.disk),
            ("one\nadded\n", Disk::Unknown),
            "{level:?}: {error:?}"
        );
    }
}

#[test]
fn what_was_appended_to_a_new_file_that_is_taken_back_is_kept_beside() {
    for (level, guards) in levels() {
        let fixture = Fixture::new(&[("z", "3")]);
        let error = appended(&fixture, "new", guards);
        let kept_names: Vec<String> = fixture.names().into_iter().filter(|name| name != "z").collect();
        assert!(
            kept_names.len() == 1 && error.message.contains(&kept_names[0]),
            "{level:?}: {kept_names:?} {error:?}"
        );
        assert_eq!(
            (fixture.text(&kept_names[0]).as_str(), error.disk),
            ("one\nadded\n", Disk::Untouched),
            "{level:?}"
        );
        // The control: the new file stays.
        let fixture = Fixture::new(&[("z", "3")]);
        let error = appended(&fixture, "new", Guards { together: false, ..guards });
        assert_eq!(
            (fixture.text("new").as_str(), error.disk),
            ("one\nadded\n", Disk::Unknown),
            "{level:?}: {error:?}"
        );
    }
}

#[test]
fn whoever_waits_for_the_last_of_many_files_has_them_all_left_as_they_were_and_goes_on() {
    let names: Vec<String> = (0..100).map(|number| format!("f{number:02}")).collect();
    let texts: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "old")).collect();
    let edits: Vec<(&str, Option<&str>)> = names.iter().map(|name| (name.as_str(), Some("new"))).collect();
    for together in [true, false] {
        let fixture = Fixture::fast(&texts);
        let (tries, is_appended) = (Cell::new(0), Cell::new(false));
        let step = || {
            // As soon as the first is new, somebody wants to write the last, which is old yet.
            let is_between = fixture.text("f00") == "new" && fixture.text("f99") == "old";
            if is_between && !is_appended.get() {
                tries.set(tries.get() + 1);
                is_appended.set(append(&fixture.at("f99"), " and more"));
            }
        };
        let guards = Guards { step: &step, together, ..Guards::ALL };
        let result = fixture.publish(&edits, Publishing::default(), guards);
        assert!(result.is_err(), "{result:?}");
        assert_eq!(tries.get() == 1, !together, "held back from before the first is exchanged");
        assert!(
            append(&fixture.at("f99"), "!") && fixture.text("f99").starts_with("old"),
            "nobody is held any more"
        );
        assert!(names.iter().all(|name| fixture.text(name).starts_with("old")), "all were taken back");
        assert_eq!(fixture.names().len(), 100);
    }
}

#[test]
fn a_file_that_is_open_for_writing_is_a_conflict_and_no_lower_level() {
    for links in [HardLinks::Refuse, HardLinks::InPlace] {
        let fixture = Fixture::new(&[("a", "1")]);
        if links == HardLinks::InPlace {
            fs::hard_link(fixture.at("a"), fixture.at("b")).unwrap();
        }
        let writer = fs::File::options().append(true).open(fixture.at("a")).unwrap();
        let start = std::time::Instant::now();
        let error = fixture.publish(&[("a", Some("2"))], publishing(links), Guards::ALL).unwrap_err();
        assert!(
            error.code == Code::EditConflict && error.message.contains("open for writing"),
            "{}",
            error.message
        );
        assert!(start.elapsed() >= Guards::ALL.timeout, "it was waited for");
        drop(writer);
        assert!(fixture.publish(&[("a", Some("2"))], publishing(links), Guards::ALL).is_ok(), "the control");
        assert_eq!(fixture.text("a"), "2");
    }
}

#[test]
fn a_file_with_several_names_is_written_as_the_policy_says() {
    for (links, level, other) in [
        (HardLinks::Split, GuardLevel::Lease, "old"),
        (HardLinks::InPlace, GuardLevel::InPlace, "the new text"),
    ] {
        let fixture = Fixture::new(&[("a", "old")]);
        fs::hard_link(fixture.at("a"), fixture.at("b")).unwrap();
        let error = fixture.publish(&[("a", Some("x"))], Publishing::default(), Guards::ALL).unwrap_err();
        assert_eq!((error.code, fixture.text("a").as_str()), (Code::PermissionDenied, "old"));
        assert!(error.hint.unwrap().contains("hard_links"));
        let published =
            fixture.publish(&[("a", Some("the new text"))], publishing(links), Guards::ALL).unwrap();
        assert_eq!(published.files[0].level, level);
        assert_eq!((fixture.text("a").as_str(), fixture.text("b").as_str()), ("the new text", other));
        assert_eq!(fixture.names(), ["a", "b"]);
        let failing = [("a", Some("")), ("missing/../b/c", Some("x"))];
        assert!(fixture.publish(&failing, publishing(links), Guards::ALL).is_err());
        let (z, change) = (fixture.at("z"), || put(&fixture.at("z"), "theirs"));
        fs::write(&z, "z").unwrap();
        let guards = Guards { step: &change, timeout: std::time::Duration::ZERO, ..Guards::ALL };
        assert!(fixture.publish(&[("a", Some("s")), ("z", Some("y"))], publishing(links), guards).is_err());
        assert_eq!((fixture.text("a").as_str(), fixture.names().len()), ("the new text", 3), "taken back");
    }
}

/// What lies beside a file while it is written: with a file that has no name first, nothing before it is complete.
#[test]
fn a_staged_copy_has_a_name_only_once_it_is_complete() {
    for unnamed in [true, false] {
        let fixture = Fixture::new(&[("a", "1")]);
        let texts = std::cell::RefCell::new(Vec::new());
        let record_text = || {
            let staged_name = fixture.names().into_iter().find(|name| name.ends_with(".lockgate"));
            texts.borrow_mut().extend(staged_name.map(|name| fixture.text(&name)));
        };
        let place = fixture.files.admit("a").unwrap();
        let snapshot = fixture.files.read(&place, LIMIT).unwrap().unwrap();
        let before = Some(snapshot.expected(Content::new(b"1")));
        let after = Some(Content::new(b"complete"));
        let write = FileWrite::new(&place, before, after);
        let folder = fixture.files.roots[0].folder("").unwrap();
        let guards = Guards { unnamed, ..Guards::ALL };
        let (target, staged) = (place.name.as_str(), ".a.0000000000000001.lockgate");
        let swap_names = SwapNames { folder: &folder, target, staged, shown: "a", guards };
        let mut copy = stage::StagedFile::open(&swap_names, &write, b"complete").unwrap();
        record_text();
        copy.fill(&write).unwrap();
        record_text();
        copy.name().unwrap();
        record_text();
        let expected_texts: &[&str] = if unnamed { &["complete"] } else { &["", "complete", "complete"] };
        assert_eq!(*texts.borrow(), expected_texts, "the control is a file with a name from the beginning");
        drop(copy);
        assert_eq!(fixture.names(), ["a"]);
        let published =
            fixture.publish(&[("a", Some("2")), ("b", Some("3"))], Publishing::default(), guards).unwrap();
        assert_eq!((published.files.len(), fixture.names()), (2, vec!["a".to_owned(), "b".to_owned()]));
    }
}

/// Another program changes the rights or the names of the file at any moment of the edit.
#[test]
fn no_change_of_rights_or_names_is_lost_whenever_it_comes() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let changes: [fn(&Path); 2] = [
        |dir| fs::set_permissions(dir.join("a"), fs::Permissions::from_mode(0o600)).unwrap(),
        |dir| fs::hard_link(dir.join("a"), dir.join("b")).unwrap(),
    ];
    for change in changes {
        for moment in 0.. {
            let fixture = Fixture::new(&[("a", "1")]);
            let steps = Cell::new(0);
            let step = || {
                if steps.replace(steps.get() + 1) == moment {
                    change(fixture.dir.path());
                }
            };
            let guards = Guards { step: &step, ..Guards::ALL };
            let result = fixture.publish(&[("a", Some("2"))], Publishing::default(), guards);
            if steps.get() <= moment {
                assert!(moment > 5 && result.is_ok(), "{moment}: {result:?}");
                break;
            }
            let is_written = fixture.text("a") == "2";
            assert_eq!(result.is_ok(), is_written, "{moment}: {result:?}");
            let found = fs::metadata(fixture.at("a")).unwrap();
            let has_link = fs::metadata(fixture.at("b")).is_ok_and(|link| link.ino() == found.ino());
            assert!(found.mode() & 0o777 == 0o600 || has_link, "{moment}: {result:?}");
        }
    }
}

#[test]
fn the_rights_to_another_users_file_are_asked_again() {
    use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
    if !rustix::process::geteuid().is_root() {
        return println!("NOT RUN: only root can give a file to another user");
    }
    let fixture = Fixture::new(&[("a", "1")]);
    std::os::unix::fs::chown(fixture.at("a"), Some(65534), Some(65534)).unwrap();
    let place = fixture.files.admit("a").unwrap();
    let snapshot = fixture.files.read(&place, LIMIT).unwrap().unwrap();
    let before = Some(snapshot.expected(Content::new(b"1")));
    let write = || {
        let write = FileWrite::new(&place, before, Some(Content::new(b"2")));
        fixture.files.publish(&[write], Publishing::default(), None).map(drop)
    };
    let none = CapabilitySet::empty();
    let without_powers = || {
        set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
            .unwrap();
        write()
    };
    let refused = std::thread::scope(|scope| scope.spawn(without_powers).join().unwrap());
    assert_eq!(refused.unwrap_err().message, "a is not writable by this user");
    write().unwrap();
}

#[test]
fn a_program_that_gets_privileges_before_its_copy_is_made_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = Fixture::new(&[("a", "1")]);
    let place = fixture.files.admit("a").unwrap();
    let snapshot = fixture.files.read(&place, LIMIT).unwrap().unwrap();
    let write = FileWrite::new(&place, Some(snapshot.expected(Content::new(b"1"))), Some(Content::new(b"2")));
    let folder = fixture.files.roots[0].folder("").unwrap();
    let staged = ".a.0000000000000001.lockgate";
    let names = SwapNames { folder: &folder, target: "a", staged, shown: "a", guards: Guards::ALL };
    for (mode, is_refused) in [(0o4755, true), (0o2755, true), (0o755, false)] {
        let mut copy = stage::StagedFile::open(&names, &write, b"2").unwrap();
        fs::set_permissions(fixture.at("a"), fs::Permissions::from_mode(mode)).unwrap();
        let code = copy.fill(&write).map_err(|error| error.code);
        assert_eq!(code, if is_refused { Err(Code::PermissionDenied) } else { Ok(()) }, "{mode:o}");
        // To revert a write, the old file is copied as it was.
        drop(stage::StagedFile::make(&names, &write, b"1").unwrap());
    }
    let mut copy = stage::StagedFile::open(&names, &write, b"2").unwrap();
    fs::hard_link(fixture.at("a"), fixture.at("b")).unwrap();
    assert_eq!(copy.fill(&write).unwrap_err().code, Code::EditConflict);
    drop(copy);
    fs::remove_file(fixture.at("b")).unwrap();
    assert_eq!(fixture.names(), ["a"]);
}

#[test]
fn rights_that_change_in_the_meantime_are_a_conflict() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = Fixture::new(&[("a", "1")]);
    let change = || fs::set_permissions(fixture.at("a"), fs::Permissions::from_mode(0o600)).unwrap();
    let error = fixture
        .publish(&[("a", Some("2"))], Publishing::default(), Guards { step: &change, ..Guards::ALL })
        .unwrap_err();
    assert!(error.message.contains("changed its permissions or attributes"), "{}", error.message);
    assert_eq!(fs::metadata(fixture.at("a")).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(fixture.publish(&[("a", Some("2"))], Publishing::default(), Guards::ALL).is_ok(), "the control");
}

/// Two calls, of which each brings a part of a git folder and the other comes between its first look and its end.
#[test]
fn of_two_calls_that_make_a_git_folder_together_one_is_refused() {
    for (git_layout, is_made) in [(true, false), (false, true)] {
        for (ours, theirs) in [("v/HEAD", "v/refs/x"), ("v/refs/x", "v/HEAD"), ("v/objects/x", "v/HEAD")] {
            let fixture = Fixture::new(&[]);
            for part in ["v/HEAD", "v/objects/x", "v/refs/x"] {
                if part != ours && part != theirs {
                    fs::create_dir_all(fixture.at(part).parent().unwrap()).unwrap();
                    fs::write(fixture.at(part), "x").unwrap();
                }
            }
            let other = std::cell::Cell::new(false);
            let step = || {
                if !other.replace(true) {
                    fs::create_dir_all(fixture.at(theirs).parent().unwrap()).unwrap();
                    fs::write(fixture.at(theirs), "x").unwrap();
                }
            };
            let guards = Guards { git_layout, step: &step, ..Guards::ALL };
            let result = fixture.publish(&[(ours, Some("x"))], Publishing::default(), guards);
            assert!(other.get(), "nothing came between");
            assert_eq!(result.is_ok(), is_made, "{ours} beside {theirs}: {result:?}");
            assert_eq!(fixture.at(ours).exists(), is_made, "{ours}");
            assert!(fixture.at(theirs).exists());
            if let Err(error) = result {
                assert_eq!(error.code, Code::Protected, "{}", error.message);
            }
        }
    }
}

/// Another program moves the root away and makes another in its place: before anything is staged, and between two steps.
#[test]
fn a_root_that_is_replaced_before_an_edit_is_there_gets_nothing() {
    for (root_in_place, before) in [(true, true), (true, false), (false, true), (false, false)] {
        let dir = tempfile::tempdir().unwrap();
        let [root, aside] = ["p", "p.bak"].map(|name| dir.path().join(name));
        fs::create_dir(&root).unwrap();
        fs::write(root.join("a"), "1").unwrap();
        let files = Files::open(std::slice::from_ref(&root)).unwrap();
        let [changed, new] = ["a", "sub/b"].map(|path| files.admit(path).unwrap());
        let snapshot = files.read(&changed, LIMIT).unwrap().unwrap();
        let writes = [(&changed, Some(&snapshot)), (&new, None)].map(|(place, snapshot)| {
            FileWrite::new(
                place,
                snapshot.map(|snapshot| snapshot.expected(Content::new(snapshot.bytes()))),
                Some(Content::new(b"2")),
            )
        });
        let is_moved = Cell::new(false);
        let replace = || {
            if !is_moved.replace(true) {
                fs::rename(&root, &aside).unwrap();
                fs::create_dir(&root).unwrap();
            }
        };
        if before {
            replace();
        }
        let guards = Guards { root_in_place, step: &replace, ..Guards::ALL };
        let result = batch::publish_with_guards(&files.roots, &writes, Publishing::default(), None, guards);
        assert!(is_moved.get());
        assert!(names_in(&root).is_empty());
        let is_written = fs::read(aside.join("a")).unwrap() == b"2";
        // The control: without the check the edit is made in the folder that was moved away.
        assert_eq!((result.is_ok(), is_written), (!root_in_place, !root_in_place), "{before} {result:?}");
        if let Err(error) = result {
            assert_eq!((error.code, error.disk), (Code::IoFailed, Disk::Untouched), "{error}");
            assert!(error.message.contains("is no longer the folder that lockgate opened"), "{error}");
            assert_eq!(names_in(&aside), ["a"]);
        }
    }
}

#[test]
fn a_file_is_read_in_the_admitted_folder_and_written_only_where_its_path_leads() {
    let fixture = Fixture::new(&[]);
    fs::create_dir(fixture.at("d")).unwrap();
    fs::write(fixture.at("d/a"), "1").unwrap();
    let (place, folder) = fixture.files.admit_open("d/a").unwrap();
    fs::rename(fixture.at("d"), fixture.at("e")).unwrap();
    fs::create_dir(fixture.at("d")).unwrap();
    fs::write(fixture.at("d/a"), "other").unwrap();
    let snapshot = fixture.files.read_in(folder, &place, LIMIT, None).unwrap().unwrap();
    assert_eq!(snapshot.bytes(), b"1");
    let write = FileWrite::new(&place, Some(snapshot.expected(Content::new(b"1"))), Some(Content::new(b"2")));
    let error = fixture.files.publish(&[write], Publishing::default(), None).unwrap_err();
    assert_eq!(error.code, Code::EditConflict);
    assert_eq!([fixture.text("d/a"), fixture.text("e/a")], ["other", "1"]);
}

#[test]
fn every_mode_of_the_file_before_is_kept() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = Fixture::new(&[("a", "0")]);
    for mode in [0o600, 0o644, 0o666, 0o777, 0o1644] {
        fs::set_permissions(fixture.at("a"), fs::Permissions::from_mode(mode)).unwrap();
        let published = fixture.publish(&[("a", Some("1"))], Publishing::default(), Guards::ALL).unwrap();
        assert!(published.files[0].notes.is_empty());
        let found = fs::metadata(fixture.at("a")).unwrap().permissions().mode() & 0o7777;
        assert_eq!(found, mode, "{mode:o}");
    }
}
