//! What the system's rights forbid, also where a rename or root's power would walk past them.

use super::*;
use rustix::fs::Mode;
use std::os::unix::fs::chown;
use std::process::Command;

const NOBODY: u32 = 65534;

/// Names the folder that root prepared for a test which runs again as an unprivileged user.
const PREPARED: &str = "LOCKGATE_TEST_PREPARED";

/// Runs the test of that name again as an unprivileged user, with a folder for it; true when that user is who runs now.
fn is_unprivileged(test: &str, prepared: Option<&Path>) -> bool {
    let module = module_path!().split_once("::").map_or("", |(_, module)| module);
    runs_unprivileged(&format!("{module}::{test}"), prepared)
}

/// The same for the test of that whole name.
pub fn runs_unprivileged(test: &str, prepared: Option<&Path>) -> bool {
    if !rustix::process::geteuid().is_root() {
        return true;
    }
    let exe = std::env::current_exe().unwrap();
    let user = NOBODY.to_string();
    let command = Command::new("setpriv")
        .args(["--reuid", &user, "--regid", &user, "--clear-groups"])
        .arg(exe)
        .args(["--exact", test, "--nocapture"])
        .env("HOME", "/nonexistent")
        .envs(prepared.map(|folder| (PREPARED, folder)))
        .output();
    match command {
        Err(error) => {
            not_run(&format!("{test}: there is no setpriv to become an unprivileged user: {error}"));
        }
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned()
                + &String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && text.contains("1 passed"), "as an unprivileged user:\n{text}");
        }
    }
    false
}

#[test]
fn a_file_without_any_write_bit_is_refused_to_root_too() {
    let fixture = Fixture::new(&[("a.txt", "old")]);
    chmod(&fixture.at("a.txt"), 0o444);
    let time = fs::metadata(fixture.at("a.txt")).unwrap().modified().unwrap();
    assert_eq!(fixture.code("a.txt"), Code::PermissionDenied);
    assert_eq!(fs::metadata(fixture.at("a.txt")).unwrap().modified().unwrap(), time);
    chmod(&fixture.at("a.txt"), 0o644);
    assert!(fixture.write("a.txt", "new").is_ok(), "the control");
}

#[test]
fn rights_withdrawn_after_admission_are_noticed_when_publishing() {
    type Change = fn(&Path) -> rustix::io::Result<()>;
    let changes: [(Change, &str); 3] = [
        (|path| rustix::fs::chmod(path, Mode::from_raw_mode(0o444)), "is read-only: no write bit is set"),
        (
            |path| rustix::fs::chmod(path, Mode::from_raw_mode(0o4755)),
            "runs with the rights of its owner or group (setuid, setgid)",
        ),
        (set_capabilities, "carries file capabilities"),
    ];
    for (change, problem) in changes {
        let fixture = Fixture::new(&[("a.txt", "old")]);
        let place = fixture.files.admit("a.txt").unwrap();
        let snapshot = fixture.files.read(&place, LIMIT).unwrap().unwrap();
        if let Err(errno) = change(&fixture.at("a.txt")) {
            not_run(&format!("a file that {problem} cannot be made here: {errno}"));
            continue;
        }
        for after in [Some(&b"new"[..]), None] {
            let error = publish_or_remove(&fixture, &place, &snapshot, after).unwrap_err();
            assert_eq!((error.code, error.message), (Code::PermissionDenied, format!("a.txt {problem}")));
        }
        assert_eq!((fixture.text("a.txt").as_str(), fixture.tree()), ("old", vec!["a.txt".to_owned()]));
        let _ = rustix::fs::removexattr(fixture.at("a.txt"), "security.capability");
        chmod(&fixture.at("a.txt"), 0o644);
        publish_or_remove(&fixture, &place, &snapshot, Some(b"new")).unwrap();
    }
}

/// Gives the file `old` another text, or removes it.
fn publish_or_remove(
    fixture: &Fixture,
    place: &FileLocation,
    snapshot: &FileSnapshot,
    after: Option<&[u8]>,
) -> Result<(), Error> {
    let before = Some(snapshot.expected(Content::new(b"old")));
    let write = FileWrite::new(place, before, after.map(Content::new));
    fixture.files.publish(&[write], Publishing::default(), None).map(drop)
}

#[test]
fn rights_withdrawn_from_a_user_or_a_folder_after_admission_are_noticed_too() {
    if !is_unprivileged("rights_withdrawn_from_a_user_or_a_folder_after_admission_are_noticed_too", None) {
        return;
    }
    let fixture = Fixture::new(&[("d/a.txt", "old")]);
    let place = fixture.files.admit("d/a.txt").unwrap();
    let snapshot = fixture.files.read(&place, LIMIT).unwrap().unwrap();
    for (path, mode, usual, problem) in [
        ("d/a.txt", 0o466, 0o644, "is not writable by this user"),
        ("d", 0o555, 0o755, "is in a folder that this user may not write to"),
    ] {
        chmod(&fixture.at(path), mode);
        let write = |after| publish_or_remove(&fixture, &place, &snapshot, after);
        let errors = [Some(&b"new"[..]), None].map(|after| write(after).unwrap_err());
        chmod(&fixture.at(path), usual);
        for error in errors {
            assert_eq!(error.code, Code::PermissionDenied, "{path}");
            assert_eq!(error.message, format!("d/a.txt {problem}"), "{path}");
        }
        assert_eq!(fixture.text("d/a.txt"), "old");
    }
    publish_or_remove(&fixture, &place, &snapshot, Some(b"new")).unwrap();
}

/// Gives a program the right to use low ports, without any of root's other powers.
fn set_capabilities(path: &Path) -> rustix::io::Result<()> {
    // Version 2, effective, cap_net_bind_service permitted.
    let caps = [1, 0, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    rustix::fs::setxattr(path, "security.capability", &caps, rustix::fs::XattrFlags::empty())
}

#[test]
fn privileged_files_are_refused() {
    let fixture = Fixture::new(&[("suid", "x"), ("sgid", "x"), ("caps", "x")]);
    chmod(&fixture.at("suid"), 0o4755);
    chmod(&fixture.at("sgid"), 0o2755);
    assert_eq!(
        (fixture.code("suid"), fixture.code("sgid")),
        (Code::PermissionDenied, Code::PermissionDenied)
    );
    match set_capabilities(&fixture.at("caps")) {
        Ok(()) => assert_eq!(fixture.code("caps"), Code::PermissionDenied),
        Err(errno) => not_run(&format!("file capabilities cannot be set here: {errno}")),
    }
}

#[test]
fn hard_links_are_refused_with_a_hint() {
    let fixture = Fixture::new(&[("a.txt", "x"), ("single.txt", "x")]);
    fs::hard_link(fixture.at("a.txt"), fixture.at("b.txt")).unwrap();
    let error = fixture.write("b.txt", "y").unwrap_err();
    assert_eq!(error.code, Code::PermissionDenied);
    assert!(error.message.contains("2 names") && error.hint.is_some(), "{}", error.message);
    let place = fixture.files.admit("single.txt").unwrap();
    let snapshot = fixture.files.read(&place, LIMIT).unwrap().unwrap();
    fs::hard_link(fixture.at("single.txt"), fixture.at("twin.txt")).unwrap();
    let error =
        publish(&fixture.files, &place, Some(snapshot.expected(Content::new(b"x"))), b"y").unwrap_err();
    assert_eq!(error.code, Code::PermissionDenied, "a link made after admission");
}

#[test]
fn another_users_file_is_refused_although_a_rename_could_replace_it() {
    let test = "another_users_file_is_refused_although_a_rename_could_replace_it";
    if rustix::process::geteuid().is_root() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("theirs.txt"), "old").unwrap();
        chmod(&dir.path().join("theirs.txt"), 0o666);
        chmod(dir.path(), 0o777);
        let _ = is_unprivileged(test, Some(dir.path()));
        return;
    }
    let Some(dir) = std::env::var_os(PREPARED).map(PathBuf::from) else {
        return not_run(&format!("{test}: only root can prepare another user's file"));
    };
    let files = Files::open(std::slice::from_ref(&dir)).unwrap();
    let error = files.admit("theirs.txt").unwrap_err();
    assert_eq!(error.code, Code::PermissionDenied, "{}", error.message);
    assert!(error.hint.unwrap().contains("`chown`"));
    assert!(write(&files, "mine.txt", "x").is_ok(), "the control: the folder itself is ours to write");
    fs::rename(dir.join("mine.txt"), dir.join("theirs.txt")).unwrap();
}

#[test]
fn a_secret_is_found_by_its_other_name_although_some_folders_cannot_be_entered() {
    let test = "a_secret_is_found_by_its_other_name_although_some_folders_cannot_be_entered";
    if !is_unprivileged(test, None) {
        return;
    }
    let fixture = Fixture::new(&[("a.txt", "x"), ("z/.env", "SECRET"), ("only/.env", "SECRET")]);
    let locked: Vec<PathBuf> = (0..8).map(|number| fixture.at(&format!("locked{number}"))).collect();
    locked.iter().for_each(|folder| fs::create_dir(folder).unwrap());
    fs::hard_link(fixture.at("z/.env"), fixture.at("notes.txt")).unwrap();
    fs::rename(fixture.at("only/.env"), locked[0].join(".env")).unwrap();
    fs::hard_link(locked[0].join(".env"), fixture.at("hidden.txt")).unwrap();
    // Half of them cannot be listed, half of them can be listed but hold what cannot be entered.
    locked
        .iter()
        .enumerate()
        .for_each(|(number, folder)| chmod(folder, if number % 2 == 0 { 0 } else { 0o600 }));
    let codes = (fixture.code("notes.txt"), fixture.code("hidden.txt"));
    let control = fixture.files.admit("a.txt").is_ok();
    locked.iter().for_each(|folder| chmod(folder, 0o700));
    assert_eq!(codes, (Code::Protected, Code::PermissionDenied));
    assert!(control, "the control: a file of one name is not searched for");
}

#[test]
fn a_marked_folder_that_cannot_be_listed_refuses_what_its_links_may_lead_to() {
    let test = "a_marked_folder_that_cannot_be_listed_refuses_what_its_links_may_lead_to";
    if !is_unprivileged(test, None) {
        return;
    }
    let fixture = Fixture::new(&[("a.txt", "x"), (".husky/pre-push", "x")]);
    assert!(fixture.files.admit("a.txt").is_ok(), "the control");
    chmod(&fixture.at(".husky"), 0);
    let code = fixture.files.admit("a.txt").map_err(|error| error.code);
    chmod(&fixture.at(".husky"), 0o700);
    assert_eq!(code.unwrap_err(), Code::PermissionDenied);
}

#[test]
fn the_owner_without_the_write_bit_is_refused() {
    if !is_unprivileged("the_owner_without_the_write_bit_is_refused", None) {
        return;
    }
    let fixture = Fixture::new(&[("a.txt", "x"), ("d/b.txt", "x"), ("e/f.txt", "x")]);
    chmod(&fixture.at("a.txt"), 0o466);
    assert_eq!(fixture.code("a.txt"), Code::PermissionDenied);
    chmod(&fixture.at("d"), 0o555);
    for path in ["d/b.txt", "d/new.txt", "d/x/new.txt"] {
        assert_eq!(fixture.code(path), Code::PermissionDenied, "{path}");
    }
    chmod(&fixture.at("e"), 0o000);
    assert_eq!(fixture.code("e/f.txt"), Code::PermissionDenied, "and not PATH_OUTSIDE_ROOT");
    chmod(&fixture.at("d"), 0o755);
    chmod(&fixture.at("e"), 0o755);
    assert!(fixture.write("d/b.txt", "y").is_ok(), "the control");
}

#[test]
fn a_folder_that_cannot_be_synced_is_a_note_and_not_a_rejection() {
    if !is_unprivileged("a_folder_that_cannot_be_synced_is_a_note_and_not_a_rejection", None) {
        return;
    }
    let fixture = Fixture::new(&[("d/a.txt", "old")]);
    chmod(&fixture.at("d"), 0o300);
    let published = fixture.write("d/a.txt", "new").unwrap();
    chmod(&fixture.at("d"), 0o755);
    assert_eq!(fixture.text("d/a.txt"), "new");
    assert!(published.notes.iter().any(|note| note.contains("power cut")), "{:?}", published.notes);
}

#[test]
fn root_keeps_the_owner_of_what_it_edits() {
    if !rustix::process::geteuid().is_root() {
        return not_run("root keeps the owner of what it edits: only root may edit another's file");
    }
    let fixture = Fixture::new(&[("a.txt", "old")]);
    chown(fixture.at("a.txt"), Some(NOBODY), Some(NOBODY)).unwrap();
    let _ = fixture.write("a.txt", "new").unwrap();
    use std::os::unix::fs::MetadataExt;
    let meta = fs::metadata(fixture.at("a.txt")).unwrap();
    assert_eq!((meta.uid(), meta.gid()), (NOBODY, NOBODY));
}

#[test]
fn metadata_that_a_user_cannot_copy_is_noticed_before_and_when_publishing() {
    let test = "metadata_that_a_user_cannot_copy_is_noticed_before_and_when_publishing";
    if rustix::process::geteuid().is_root() {
        let dir = tempfile::tempdir().unwrap();
        for (name, group) in [("plain", NOBODY), ("group", 33), ("attribute", NOBODY)] {
            fs::write(dir.path().join(name), "old").unwrap();
            chown(dir.path().join(name), Some(NOBODY), Some(group)).unwrap();
        }
        chown(dir.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        let attribute = dir.path().join("attribute");
        if let Err(errno) =
            rustix::fs::setxattr(attribute, "security.foo", b"x", rustix::fs::XattrFlags::empty())
        {
            return not_run(&format!("{test}: the attribute cannot be set here: {errno}"));
        }
        let _ = is_unprivileged(test, Some(dir.path()));
        return;
    }
    let Some(dir) = std::env::var_os(PREPARED).map(PathBuf::from) else {
        return not_run(&format!("{test}: only root can prepare such files"));
    };
    let files = Files::open(std::slice::from_ref(&dir)).unwrap();
    let check = |name: &str| {
        let place = files.admit(name).unwrap();
        let snapshot = files.read(&place, LIMIT).unwrap().unwrap();
        files.check_metadata(&place, &snapshot).map_err(|error| (error.code, error.message))
    };
    assert_eq!(check("plain"), Ok(()));
    let problem = "belongs to the group 33, which this user cannot give to a new file";
    assert_eq!(check("group"), Err((Code::PermissionDenied, format!("group {problem}"))));
    let problem = "has the attribute `security.foo`, which this user cannot give to a new file";
    assert_eq!(check("attribute"), Err((Code::PermissionDenied, format!("attribute {problem}"))));
    for (name, is_written) in [("plain", true), ("group", false), ("attribute", false)] {
        assert_eq!(write(&files, name, "new").is_ok(), is_written, "{name}");
    }
}

#[test]
fn an_append_only_folder_is_refused_before_a_copy_is_staged() {
    use rustix::fs::{CWD, IFlags, OFlags};
    let fixture = Fixture::new(&[("a", "old"), ("d/a", "old")]);
    let set = |path: &str, flags| {
        let folder = rustix::fs::openat(CWD, fixture.at(path), OFlags::RDONLY, Mode::empty()).unwrap();
        rustix::fs::ioctl_setflags(folder, flags)
    };
    let before = fixture.tree();
    let mut codes = Vec::new();
    for (folder, paths) in [("d", ["d/a", "d/new"]), ("", ["a", "new"])] {
        if let Err(errno) = set(folder, IFlags::APPEND) {
            return not_run(&format!("a folder cannot be made append-only here: {errno}"));
        }
        codes.extend(paths.map(|path| fixture.write(path, "x").map_err(|error| error.code).err()));
        codes.push(
            fixture
                .files
                .admit(format!("{folder}/sub/new").trim_start_matches('/'))
                .map_err(|error| error.code)
                .err(),
        );
        set(folder, IFlags::empty()).unwrap();
    }
    let refused = Some(Code::PermissionDenied);
    assert_eq!(codes, [refused, refused, None, refused, refused, None]);
    assert_eq!(fixture.tree(), before);
    assert!(fixture.write("d/a", "new").is_ok(), "the control");
}
