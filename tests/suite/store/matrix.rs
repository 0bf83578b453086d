//! What a file may carry, held against what may be done to it: all of it is kept, or the edit is refused with a code.

use super::rights::runs_unprivileged;
use super::*;
use lockgate_policy::HardLinks;
use rustix::fs::XattrFlags;
use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, chown};

/// Version 2, effective, cap_net_bind_service permitted.
const CAPABILITIES: [u8; 20] = [1, 0, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

const REFUSED: Option<Code> = Some(Code::PermissionDenied);
const KEPT: Option<Code> = None;

/// What a file carries beside its text.
#[derive(Debug, PartialEq, Eq)]
struct FileMetadata {
    mode: u32,
    owner: (u32, u32),
    attributes: BTreeMap<String, Vec<u8>>,
    is_link: bool,
}

fn read_metadata(path: &Path) -> FileMetadata {
    let found = fs::metadata(path).unwrap();
    let value = |name: &str| {
        let mut space = [0_u8; 256];
        let length = rustix::fs::getxattr(path, name, &mut space[..]).ok()?;
        Some((name.to_owned(), space[..length].to_vec()))
    };
    FileMetadata {
        mode: found.mode(),
        owner: (found.uid(), found.gid()),
        attributes: ["user.note", "system.posix_acl_access", "security.capability"]
            .into_iter()
            .filter_map(value)
            .collect(),
        is_link: path.is_symlink(),
    }
}

fn set(path: &Path, name: &str, value: &[u8]) -> bool {
    rustix::fs::setxattr(path, name, value, XattrFlags::empty()).is_ok()
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Gives a file, in a folder `d`, what it is to carry; false where that cannot be had here.
type Prepare = fn(&Fixture) -> bool;

/// What is carried, and what becomes of replacing and of removing it.
const FILES: &[(&str, Prepare, Option<Code>, Option<Code>)] = &[
    ("nothing", |_| true, KEPT, KEPT),
    (
        "mode 0751",
        |fixture| {
            chmod(&fixture.at("d/a"), 0o751);
            true
        },
        KEPT,
        KEPT,
    ),
    (
        "mode 0600",
        |fixture| {
            chmod(&fixture.at("d/a"), 0o600);
            true
        },
        KEPT,
        KEPT,
    ),
    (
        "mode 0222",
        |fixture| {
            chmod(&fixture.at("d/a"), 0o622);
            true
        },
        KEPT,
        KEPT,
    ),
    (
        "sticky bit",
        |fixture| {
            chmod(&fixture.at("d/a"), 0o1644);
            true
        },
        KEPT,
        KEPT,
    ),
    (
        "mode 0444",
        |fixture| {
            chmod(&fixture.at("d/a"), 0o444);
            true
        },
        REFUSED,
        REFUSED,
    ),
    (
        "setuid",
        |fixture| {
            chmod(&fixture.at("d/a"), 0o4755);
            true
        },
        REFUSED,
        REFUSED,
    ),
    (
        "setgid",
        |fixture| {
            chmod(&fixture.at("d/a"), 0o2755);
            true
        },
        REFUSED,
        REFUSED,
    ),
    ("attribute", |fixture| set(&fixture.at("d/a"), "user.note", b"kept"), KEPT, KEPT),
    ("ACL", |fixture| set(&fixture.at("d/a"), "system.posix_acl_access", &ACL), KEPT, KEPT),
    (
        "capabilities",
        |fixture| set(&fixture.at("d/a"), "security.capability", &CAPABILITIES),
        REFUSED,
        REFUSED,
    ),
    (
        "another owner",
        |fixture| is_root() && chown(fixture.at("d/a"), Some(1234), Some(2345)).is_ok(),
        KEPT,
        KEPT,
    ),
    ("hard link", |fixture| fs::hard_link(fixture.at("d/a"), fixture.at("other")).is_ok(), REFUSED, REFUSED),
    (
        "symlink",
        |fixture| {
            fs::rename(fixture.at("d/a"), fixture.at("real")).unwrap();
            fixture.link("../real", "d/a");
            true
        },
        KEPT,
        KEPT,
    ),
    (
        "sticky folder",
        |fixture| {
            chmod(&fixture.at("d"), 0o1777);
            true
        },
        KEPT,
        KEPT,
    ),
    ("folder with an ACL", |fixture| set(&fixture.at("d"), "system.posix_acl_default", &ACL), KEPT, KEPT),
];

#[test]
fn the_metadata_of_a_file_is_preserved_or_the_edit_is_refused() {
    for (what, prepare, replaced, removed) in FILES {
        let fixture = Fixture::new(&[("d/a", "old")]);
        if !prepare(&fixture) {
            not_run(&format!("{what}: cannot be had here"));
            continue;
        }
        let (was, tree) = (read_metadata(&fixture.at("d/a")), fixture.tree());
        let result = fixture.write("d/a", "new");
        assert_eq!(result.as_ref().err().map(|error| error.code), *replaced, "{what}: {result:?}");
        assert_eq!(fixture.text("d/a"), if replaced.is_some() { "old" } else { "new" }, "{what}");
        assert_eq!((read_metadata(&fixture.at("d/a")), fixture.tree()), (was, tree), "{what}");
        let result = remove(&fixture.files, "d/a");
        assert_eq!(result.as_ref().err().map(|error| error.code), *removed, "{what}: {result:?}");
        let exists = fs::metadata(fixture.at("d/a")).is_ok();
        assert_eq!(exists, removed.is_some(), "{what}");
        assert!(!fixture.tree().iter().any(|path| path.ends_with(".lockgate")), "{what}");
    }
}

#[test]
fn a_recreated_file_has_its_permission_bits() {
    for mode in [0o751, 0o600, 0o444, 0o666, 0o4755] {
        let fixture = Fixture::new(&[]);
        let place = fixture.files.admit("d/a").unwrap();
        let after = Some(Content::new(b"again"));
        let write = FileWrite { mode: Some(mode), ..FileWrite::new(&place, None, after) };
        let result = fixture.files.publish(&[write], Publishing::default(), None).unwrap();
        assert!(result.files[0].created);
        assert_eq!(read_metadata(&fixture.at("d/a")).mode & 0o7777, mode & 0o777, "and never a privilege");
    }
}

#[test]
fn the_other_names_of_a_file_keep_the_old_text_or_have_the_new_one() {
    for (hard_links, other) in [(HardLinks::Split, "old"), (HardLinks::InPlace, "new")] {
        let fixture = Fixture::new(&[("a", "old")]);
        chmod(&fixture.at("a"), 0o640);
        fs::hard_link(fixture.at("a"), fixture.at("b")).unwrap();
        let was = read_metadata(&fixture.at("a"));
        let place = fixture.files.admit("a").unwrap();
        let snapshot = fixture.files.read(&place, LIMIT).unwrap().unwrap();
        let how = Publishing { hard_links, ..Publishing::default() };
        assert!(snapshot.check_names(&place, how).is_ok());
        assert_eq!(
            snapshot.check_names(&place, Publishing::default()).unwrap_err().code,
            Code::PermissionDenied
        );
        let before = Some(snapshot.expected(Content::new(b"old")));
        let after = Some(Content::new(b"new"));
        let write = FileWrite::new(&place, before, after);
        assert!(fixture.files.publish(&[write], how, None).is_ok());
        assert_eq!((fixture.text("a").as_str(), fixture.text("b").as_str()), ("new", other));
        assert_eq!(
            (read_metadata(&fixture.at("a")), read_metadata(&fixture.at("b"))),
            (was, read_metadata(&fixture.at("b")))
        );
    }
}

#[test]
fn another_name_of_a_secret_is_refused_whatever_the_policy_says_of_links() {
    let fixture = Fixture::new(&[(".env", "SECRET"), ("b", "x")]);
    fs::hard_link(fixture.at(".env"), fixture.at("a")).unwrap();
    fs::hard_link(fixture.at("b"), fixture.at("c")).unwrap();
    assert_eq!(fixture.code("a"), Code::Protected);
    assert!(fixture.files.admit("c").is_ok(), "the control");
}

#[test]
fn a_mount_point_is_refused_with_a_hint_and_written_into_where_the_policy_says_so() {
    let fixture = Fixture::new(&[("a", "old"), ("real", "old")]);
    let mount = |args: &[&str]| {
        std::process::Command::new("mount").args(args).arg(fixture.at("real")).arg(fixture.at("a")).status()
    };
    if !mount(&["--bind"]).is_ok_and(|status| status.success()) {
        return not_run("a file that is a mount point: nothing can be mounted here");
    }
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let error = fixture.write("a", "new").unwrap_err();
        assert_eq!(error.code, Code::PermissionDenied, "{error:?}");
        assert!(error.hint.unwrap().contains("in_place"));
        assert_eq!((fixture.text("real").as_str(), fixture.tree()), ("old", vec!["a".into(), "real".into()]));
        assert_eq!(remove(&fixture.files, "a").unwrap_err().code, Code::PermissionDenied);
        let place = fixture.files.admit("a").unwrap();
        let snapshot = fixture.files.read(&place, LIMIT).unwrap().unwrap();
        let (before, after) =
            (Some(snapshot.expected(Content::new(b"old"))), Some(Content::new(b"the new one")));
        let write = FileWrite::new(&place, before, after);
        let how = Publishing { hard_links: HardLinks::InPlace, ..Publishing::default() };
        let result = fixture.files.publish(&[write], how, None).unwrap();
        assert_eq!(result.files[0].level.name(), "in_place");
        assert_eq!(
            (fixture.text("real").as_str(), fixture.tree()),
            ("the new one", vec!["a".into(), "real".into()])
        );
    }));
    let _ = std::process::Command::new("umount").arg(fixture.at("a")).status();
    outcome.unwrap();
}

/// What only an unprivileged user meets: folders that take no new name, and sticky ones with another's file.
#[test]
fn folders_that_forbid_it_refuse_every_sort_of_edit() {
    let module = module_path!().split_once("::").map_or("", |(_, module)| module);
    if !runs_unprivileged(&format!("{module}::folders_that_forbid_it_refuse_every_sort_of_edit"), None) {
        return;
    }
    let fixture = Fixture::new(&[("d/a", "old"), ("s/mine", "old")]);
    let rejections = || {
        let codes = [fixture.write("d/a", "x"), fixture.write("d/new", "x"), remove(&fixture.files, "d/a")];
        codes.map(|result| result.map_err(|error| error.code).err())
    };
    chmod(&fixture.at("d"), 0o555);
    let refused = rejections();
    chmod(&fixture.at("d"), 0o755);
    assert_eq!(refused, [REFUSED; 3]);
    chmod(&fixture.at("s"), 0o1777);
    assert!(fixture.write("s/mine", "new").is_ok() && remove(&fixture.files, "s/mine").is_ok());
    assert_eq!(rejections(), [KEPT; 3], "the control");
}
