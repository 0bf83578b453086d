//! A folder that somebody keeps exchanging for a symlink to the outside: no write may follow it.

use super::*;
use rustix::fs::{CWD, RenameFlags};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const WRITES: usize = 10_000;
const UNTOUCHED: &str = "must stay";

/// A root with a folder `d`, which a thread exchanges for a link to `outside` as long as `work` runs.
fn while_swapped(work: impl FnOnce(&Path, &Path)) {
    let fast = Path::new("/dev/shm");
    let dir = if fast.is_dir() { tempfile::tempdir_in(fast) } else { tempfile::tempdir() }.unwrap();
    let (root, outside) = (dir.path().join("root"), dir.path().join("outside"));
    fs::create_dir_all(root.join("d")).unwrap();
    fs::create_dir(&outside).unwrap();
    fs::write(root.join("d/f.txt"), "0").unwrap();
    fs::write(outside.join("f.txt"), UNTOUCHED).unwrap();
    std::os::unix::fs::symlink(&outside, root.join("link")).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let (folder, link) = (root.join("d"), root.join("link"));
                rustix::fs::renameat_with(CWD, folder, CWD, link, RenameFlags::EXCHANGE).unwrap();
            }
        });
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(&root, &outside)));
        stop.store(true, Ordering::Relaxed);
        outcome.unwrap();
    });
}

fn has_escaped(outside: &Path) -> bool {
    let names = fs::read_dir(outside).unwrap().count();
    names != 1 || fs::read_to_string(outside.join("f.txt")).unwrap() != UNTOUCHED
}

#[test]
fn ten_thousand_writes_never_leave_the_root() {
    while_swapped(|root, outside| {
        let files = Files::open(&[root.to_owned()]).unwrap();
        let mut written = 0;
        for number in 0..WRITES {
            let path =
                if number % 3 == 0 { format!("d/new{}.txt", number % 7) } else { "d/f.txt".to_owned() };
            match write(&files, &path, &number.to_string()) {
                Ok(_) => written += 1,
                Err(error) => assert!(
                    [Code::PathOutsideRoot, Code::EditConflict, Code::IoFailed, Code::FileNotFound]
                        .contains(&error.code),
                    "{error:?}"
                ),
            }
        }
        assert!(!has_escaped(outside));
        println!("{written} of {WRITES} writes were done, none outside");
        assert!(written > WRITES / 100, "only {written} writes were done: the test shows nothing");
    });
}

#[test]
fn a_writer_that_compares_resolved_paths_escapes() {
    while_swapped(|root, outside| {
        let start = Instant::now();
        let mut tries = 0_u64;
        while start.elapsed() < Duration::from_secs(20) {
            tries += 1;
            let path = root.join("d/f.txt");
            let inside = fs::canonicalize(&path).is_ok_and(|real| real.starts_with(root));
            if inside {
                let _ = fs::write(&path, "escaped");
            }
            if has_escaped(outside) {
                println!("the naive writer escaped after {tries} tries");
                return;
            }
        }
        not_run(&format!("{tries} tries of the naive writer could not provoke an escape on this machine"));
    });
}
