//! What publishing does to real files, with all of its guards and with fewer of them.

use super::*;
use crate::error::Code;
use crate::policy::HardLinks;
use crate::store::{FileSnapshot, Files};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const LIMIT: u64 = 1 << 20;

struct Scene {
    dir: TempDir,
    files: Files,
}

impl Scene {
    fn new(texts: &[(&str, &str)]) -> Scene {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in texts {
            fs::write(dir.path().join(name), text).unwrap();
        }
        let files = Files::open(&[dir.path().to_owned()]).unwrap();
        Scene { dir, files }
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
        wanted: &[(&str, Option<&str>)],
        how: Publishing,
        guards: Guards<'_>,
    ) -> Result<Done, Error> {
        let read = |name: &str| -> Result<(FilePlace, Option<FileSnapshot>), Error> {
            let place = self.files.admit(name)?;
            let snapshot = self.files.read(&place, LIMIT)?;
            Ok((place, snapshot))
        };
        let seen = wanted.iter().map(|(name, _)| read(name)).collect::<Result<Vec<_>, _>>()?;
        let writes: Vec<FileWrite<'_>> = seen
            .iter()
            .zip(wanted)
            .map(|((place, snapshot), (_, text))| FileWrite {
                place,
                before: snapshot.as_ref().map(|snapshot| snapshot.held(Content::of(snapshot.bytes()))),
                after: text.map(|text| Content::of(text.as_bytes())),
                mode: None,
                folders: 0,
                told: Told::default(),
            })
            .collect();
        batch::publish(self.files.roots(), &writes, how, None, guards)
    }
}

/// What another program does that no lease holds back.
fn put(path: &Path, text: &str) {
    let beside = tempfile::NamedTempFile::new().unwrap();
    fs::write(beside.path(), text).unwrap();
    beside.persist(path).unwrap();
}

fn names_in(dir: &Path) -> Vec<String> {
    fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn how(hard_links: HardLinks) -> Publishing {
    Publishing { hard_links, ..Publishing::default() }
}

/// All levels that a file system may offer, each with less than the one before.
fn levels() -> [(Level, Guards<'static>); 3] {
    let all = Guards { patience: std::time::Duration::ZERO, ..Guards::ALL };
    let exchange = Guards { lease: false, ..all };
    [
        (Level::Lease, all),
        (Level::Exchange, exchange),
        (Level::Compare, Guards { exchange: false, ..exchange }),
    ]
}

#[test]
fn all_writes_of_an_edit_are_made_at_every_level_and_nothing_is_left() {
    for (level, guards) in levels() {
        let scene = Scene::new(&[("a", "1"), ("b", "2"), ("gone", "3")]);
        let wanted = [("a", Some("one")), ("new/c", Some("three")), ("gone", None), ("b", Some(""))];
        let done = scene.publish(&wanted, Publishing::default(), guards).unwrap();
        assert_eq!(
            (scene.text("a").as_str(), scene.text("b").as_str(), scene.text("new/c").as_str()),
            ("one", "", "three")
        );
        assert_eq!(
            (scene.names(), names_in(&scene.at("new"))),
            (vec!["a".into(), "b".into(), "new".into()], vec!["c".into()])
        );
        let removed = if level == Level::Compare { Level::Exchange } else { level };
        let levels: Vec<Level> = done.files.iter().map(|file| file.level).collect();
        assert_eq!(levels, [level, Level::Exchange, removed, level]);
        let created: Vec<bool> = done.files.iter().map(|file| file.created).collect();
        assert_eq!(created, [false, true, false, false]);
        assert!(done.files.iter().all(|file| file.notes.is_empty()), "{:?}", done.files);
    }
}

#[test]
fn where_the_last_write_fails_all_are_taken_back_at_every_level() {
    for (level, guards) in levels() {
        let scene = Scene::new(&[("a", "1"), ("gone", "2"), ("z", "3")]);
        let last = scene.at("z");
        let change = || {
            if scene.at("new/c").exists() {
                put(&last, "theirs");
            }
        };
        let wanted = [("a", Some("one")), ("gone", None), ("new/c", Some("c")), ("z", Some("three"))];
        let error =
            scene.publish(&wanted, Publishing::default(), Guards { step: &change, ..guards }).unwrap_err();
        assert_eq!(
            (error.code, error.disk),
            (Code::EditConflict, crate::error::Disk::Untouched),
            "{error:?}"
        );
        let texts = (scene.text("a"), scene.text("gone"), scene.text("z"));
        assert_eq!(texts, ("1".into(), "2".into(), "theirs".into()), "{level:?}");
        assert_eq!(scene.names(), ["a", "gone", "z"], "{level:?}");
    }
}

#[test]
fn what_somebody_changed_after_it_was_published_is_not_taken_back_and_nothing_is_lost() {
    for (level, guards) in levels() {
        let scene = Scene::new(&[("a", "1"), ("z", "3")]);
        let ours = || scene.text("a") == "one";
        // Their text replaces ours as soon as nothing holds it back, and then the last file changes.
        let change = || {
            if ours() && names_in(scene.dir.path()).len() < 5 {
                put(&scene.at("a"), "theirs, on ours");
                put(&scene.at("z"), "theirs");
            }
        };
        let wanted = [("a", Some("one")), ("z", Some("three"))];
        let error =
            scene.publish(&wanted, Publishing::default(), Guards { step: &change, ..guards }).unwrap_err();
        assert_eq!(error.code, Code::EditConflict);
        assert_eq!(
            (scene.text("a"), scene.text("z")),
            ("theirs, on ours".into(), "theirs".into()),
            "{level:?}"
        );
        let kept: Vec<String> = scene.names().into_iter().filter(|name| name.ends_with(".kept")).collect();
        let told = kept.iter().all(|name| error.message.contains(name.as_str()));
        assert!(told && !scene.names().iter().any(|name| name.ends_with(".lockgate")), "{error:?} {kept:?}");
    }
}

#[test]
fn a_file_that_is_open_for_writing_is_a_conflict_and_no_lower_level() {
    let scene = Scene::new(&[("a", "1")]);
    let writer = fs::File::options().append(true).open(scene.at("a")).unwrap();
    let start = std::time::Instant::now();
    let error = scene.publish(&[("a", Some("2"))], Publishing::default(), Guards::ALL).unwrap_err();
    assert!(
        error.code == Code::EditConflict && error.message.contains("open for writing"),
        "{}",
        error.message
    );
    assert!(start.elapsed() >= Guards::ALL.patience, "it was waited for");
    drop(writer);
    assert!(scene.publish(&[("a", Some("2"))], Publishing::default(), Guards::ALL).is_ok(), "the control");
}

#[test]
fn a_file_with_several_names_is_written_as_the_policy_says() {
    for (links, level, other) in
        [(HardLinks::Split, Level::Lease, "old"), (HardLinks::InPlace, Level::InPlace, "the new text")]
    {
        let scene = Scene::new(&[("a", "old")]);
        fs::hard_link(scene.at("a"), scene.at("b")).unwrap();
        let refused = scene.publish(&[("a", Some("x"))], Publishing::default(), Guards::ALL).unwrap_err();
        assert_eq!((refused.code, scene.text("a").as_str()), (Code::PermissionDenied, "old"));
        assert!(refused.hint.unwrap().contains("hard_links"));
        let done = scene.publish(&[("a", Some("the new text"))], how(links), Guards::ALL).unwrap();
        assert_eq!(done.files[0].level, level);
        assert_eq!((scene.text("a").as_str(), scene.text("b").as_str()), ("the new text", other));
        assert_eq!(scene.names(), ["a", "b"]);
        let failing = [("a", Some("")), ("missing/../b/c", Some("x"))];
        assert!(scene.publish(&failing, how(links), Guards::ALL).is_err());
        let (z, change) = (scene.at("z"), || put(&scene.at("z"), "theirs"));
        fs::write(&z, "z").unwrap();
        let guards = Guards { step: &change, patience: std::time::Duration::ZERO, ..Guards::ALL };
        assert!(scene.publish(&[("a", Some("s")), ("z", Some("y"))], how(links), guards).is_err());
        assert_eq!((scene.text("a").as_str(), scene.names().len()), ("the new text", 3), "taken back");
    }
}

#[test]
fn rights_that_change_in_the_meantime_are_a_conflict() {
    use std::os::unix::fs::PermissionsExt;
    let scene = Scene::new(&[("a", "1")]);
    let change = || fs::set_permissions(scene.at("a"), fs::Permissions::from_mode(0o600)).unwrap();
    let error = scene
        .publish(&[("a", Some("2"))], Publishing::default(), Guards { step: &change, ..Guards::ALL })
        .unwrap_err();
    assert!(error.message.contains("other rights"), "{}", error.message);
    assert_eq!(fs::metadata(scene.at("a")).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(scene.publish(&[("a", Some("2"))], Publishing::default(), Guards::ALL).is_ok(), "the control");
}

/// Two calls, of which each brings a part of a git folder and the other comes between its first look and its end.
#[test]
fn of_two_calls_that_make_a_git_folder_together_one_is_refused() {
    for (git_layout, made) in [(true, false), (false, true)] {
        for (mine, theirs) in [("v/HEAD", "v/refs/x"), ("v/refs/x", "v/HEAD"), ("v/objects/x", "v/HEAD")] {
            let scene = Scene::new(&[]);
            for part in ["v/HEAD", "v/objects/x", "v/refs/x"] {
                if part != mine && part != theirs {
                    fs::create_dir_all(scene.at(part).parent().unwrap()).unwrap();
                    fs::write(scene.at(part), "x").unwrap();
                }
            }
            let other = std::cell::Cell::new(false);
            let step = || {
                if !other.replace(true) {
                    fs::create_dir_all(scene.at(theirs).parent().unwrap()).unwrap();
                    fs::write(scene.at(theirs), "x").unwrap();
                }
            };
            let guards = Guards { git_layout, step: &step, ..Guards::ALL };
            let done = scene.publish(&[(mine, Some("x"))], Publishing::default(), guards);
            assert!(other.get(), "nothing came between");
            assert_eq!(done.is_ok(), made, "{mine} beside {theirs}: {done:?}");
            assert_eq!(scene.at(mine).exists(), made, "{mine}");
            assert!(scene.at(theirs).exists());
            if let Err(error) = done {
                assert_eq!(error.code, Code::Protected, "{}", error.message);
            }
        }
    }
}
