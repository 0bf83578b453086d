//! Reading and publishing: what arrives, what is kept, what is refused, and that nothing is left behind.

use super::*;
use rustix::fs::XattrFlags;
use std::os::unix::fs::MetadataExt;

fn umask() -> u32 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:")).unwrap();
    u32::from_str_radix(line.trim(), 8).unwrap()
}

#[test]
fn a_file_is_replaced_whole_and_nothing_else_changes() {
    let fixture = Fixture::new(&[("a.txt", "old"), ("b.txt", "other")]);
    let published = fixture.write("a.txt", "new text").unwrap();
    assert_eq!((published.created, published.notes.len()), (false, 0));
    assert_eq!((fixture.text("a.txt").as_str(), fixture.text("b.txt").as_str()), ("new text", "other"));
    assert_eq!(fixture.tree(), ["a.txt", "b.txt"]);
}

#[test]
fn a_link_stays_a_link() {
    let fixture = Fixture::new(&[("real/a.txt", "old")]);
    fixture.link("real/a.txt", "l");
    let _ = fixture.write("l", "new").unwrap();
    assert!(fixture.at("l").is_symlink());
    assert_eq!(fixture.text("real/a.txt"), "new");
    assert_eq!(fixture.tree(), ["l", "real", "real/a.txt"]);
}

#[test]
fn a_new_file_gets_its_folders_and_the_rights_of_the_umask() {
    let fixture = Fixture::new(&[]);
    let published = fixture.write("a/b/new.txt", "x").unwrap();
    assert!(published.created);
    assert_eq!(fixture.tree(), ["a", "a/b", "a/b/new.txt"]);
    let mode = |path| fs::metadata(fixture.at(path)).unwrap().mode() & 0o7777;
    assert_eq!(mode("a/b/new.txt"), 0o666 & !umask());
    assert_eq!(mode("a/b"), 0o777 & !umask());
}

#[test]
fn names_of_the_greatest_length_can_be_edited() {
    let fixture = Fixture::new(&[]);
    let name = "é".repeat(127);
    let _ = fixture.write(&name, "1").unwrap();
    let _ = fixture.write(&name, "2").unwrap();
    assert_eq!(fixture.tree(), [name]);
}

#[test]
fn mode_owner_attributes_and_acl_are_preserved() {
    let fixture = Fixture::new(&[("a.sh", "old")]);
    let path = fixture.at("a.sh");
    chmod(&path, 0o751);
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&path, Some(1234), Some(2345)).unwrap();
    } else {
        not_run("owner and group are kept: only root may give files away");
    }
    rustix::fs::setxattr(&path, "user.note", b"kept", XattrFlags::empty()).unwrap();
    let acl = rustix::fs::setxattr(&path, "system.posix_acl_access", &ACL, XattrFlags::empty());
    let before = fs::metadata(&path).unwrap();
    let _ = fixture.write("a.sh", "new").unwrap();
    let after = fs::metadata(&path).unwrap();
    assert_eq!((after.mode(), after.uid(), after.gid()), (before.mode(), before.uid(), before.gid()));
    assert_ne!(after.ino(), before.ino(), "the control: it is another file");
    let attribute = |name: &str| {
        let mut space = [0_u8; 256];
        let length = rustix::fs::getxattr(&path, name, &mut space[..]).unwrap();
        space[..length].to_vec()
    };
    assert_eq!(attribute("user.note"), b"kept");
    match acl {
        Ok(()) => assert_eq!(attribute("system.posix_acl_access"), ACL),
        Err(errno) => not_run(&format!("an ACL is kept: this file system takes none: {errno}")),
    }
}

#[test]
fn an_acl_that_the_folder_would_give_is_not_added() {
    let fixture = Fixture::new(&[("d/a.txt", "old")]);
    let path = fixture.at("d/a.txt");
    chmod(&path, 0o640);
    if let Err(errno) =
        rustix::fs::setxattr(fixture.at("d"), "system.posix_acl_default", &ACL, XattrFlags::empty())
    {
        not_run(&format!("a folder's ACL is not added: this file system takes none: {errno}"));
        return;
    }
    let _ = fixture.write("d/a.txt", "new").unwrap();
    let _ = fixture.write("d/fresh.txt", "new").unwrap();
    let has_acl = |path: &str| {
        rustix::fs::getxattr(fixture.at(path), "system.posix_acl_access", &mut [0_u8; 256][..]).is_ok()
    };
    assert!(has_acl("d/fresh.txt"), "the control: a new file takes the folder's ACL");
    assert!(!has_acl("d/a.txt"));
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o640);
}

#[test]
fn sizes_are_limited_before_and_while_reading() {
    let fixture = Fixture::new(&[("a.txt", "12345")]);
    let file = fs::File::create(fixture.at("huge")).unwrap();
    file.set_len(1 << 40).unwrap();
    let start = std::time::Instant::now();
    let error = fixture.read("huge").unwrap_err();
    assert_eq!(error.code, Code::TooLarge);
    assert_eq!(error.message, "huge is too large: 1099511627776 bytes, limit 10485760 bytes");
    assert!(start.elapsed().as_millis() < 100);
    let place = fixture.files.admit("a.txt").unwrap();
    assert_eq!(fixture.files.read(&place, 4).unwrap_err().code, Code::TooLarge);
    assert_eq!(fixture.files.read(&place, 5).unwrap().unwrap().bytes(), b"12345");
}

#[test]
fn a_file_that_grows_and_shrinks_is_read_whole_or_refused() {
    let fixture = Fixture::new(&[("a.txt", "")]);
    let (path, stop) = (fixture.at("a.txt"), std::sync::atomic::AtomicBool::new(false));
    let place = fixture.files.admit("a.txt").unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let file = fs::File::options().write(true).open(&path).unwrap();
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                for length in [0, 3_000_000, 100, 1_000_000] {
                    file.set_len(length).unwrap();
                }
            }
        });
        let (mut read, mut refused) = (0, 0);
        for _ in 0..500 {
            match fixture.files.read(&place, LIMIT) {
                Ok(Some(snapshot)) => {
                    assert!(
                        [0, 3_000_000, 100, 1_000_000].contains(&snapshot.bytes().len()),
                        "{}",
                        snapshot.bytes().len()
                    );
                    read += 1;
                }
                Ok(None) => panic!("the file was there all the time"),
                Err(error) => {
                    assert_eq!(error.code, Code::EditConflict, "{}", error.message);
                    refused += 1;
                }
            }
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        println!("{read} readings, {refused} rejections");
    });
}

#[test]
fn taking_the_bytes_leaves_a_snapshot_to_publish_with() {
    let fixture = Fixture::new(&[("a.txt", "old")]);
    let place = fixture.files.admit("a.txt").unwrap();
    let mut snapshot = fixture.files.read(&place, LIMIT).unwrap().unwrap();
    let bytes = snapshot.take_bytes();
    assert!(snapshot.bytes().is_empty());
    assert!(
        !publish(&fixture.files, &place, Some(snapshot.expected(Content::new(&bytes))), b"new")
            .unwrap()
            .created
    );
    assert_eq!(fixture.text("a.txt"), "new");
}

#[test]
fn a_full_disk_leaves_the_target_and_no_trace() {
    let fixture = Fixture::new(&[]);
    let mount = |args: &[&str]| {
        std::process::Command::new("mount").args(args).arg(fixture.at("")).status().is_ok_and(|s| s.success())
    };
    if !mount(&["-t", "tmpfs", "-o", "size=64k", "none"]) {
        not_run("a full disk: a small file system cannot be mounted here");
        return;
    }
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        fs::write(fixture.at("a.txt"), "old").unwrap();
        let files = Files::open(&[fixture.at("")]).unwrap();
        let error = write(&files, "a.txt", &"x".repeat(200_000)).unwrap_err();
        assert_eq!((error.code, fixture.text("a.txt").as_str()), (Code::NoSpace, "old"));
        assert_eq!(write(&files, "d/new.txt", &"x".repeat(200_000)).unwrap_err().code, Code::NoSpace);
        assert_eq!(fixture.tree(), ["a.txt"]);
    }));
    let _ = std::process::Command::new("umount").arg(fixture.at("")).status();
    outcome.unwrap();
}

#[test]
fn a_file_with_the_known_content_is_compared_and_not_kept() {
    let fixture = Fixture::new(&[("a.txt", "old\n")]);
    let place = fixture.files.admit_to_read("a.txt").unwrap();
    let read = |known: &[u8], limit| {
        let snapshot = fixture.files.read_unless_known(&place, limit, Some(known))?.unwrap();
        Ok::<_, Error>((snapshot.is_known(), snapshot.bytes().to_vec()))
    };
    assert_eq!(read(b"old\n", 4).unwrap(), (true, Vec::new()));
    for other in ["", "old", "new\n", "old\n\n"] {
        assert_eq!(read(other.as_bytes(), 4).unwrap(), (false, b"old\n".to_vec()), "{other:?}");
    }
    assert_eq!(read(b"old\n", 3).unwrap_err().code, Code::TooLarge);
    fs::remove_file(fixture.at("a.txt")).unwrap();
    assert!(fixture.files.read_unless_known(&place, 4, Some(b"old\n")).unwrap().is_none());
}
