//! `lockgate gates test`: samples judged here and now, with programs of the tests' own.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{DEFINED, FAILS, FINDS, ILL, entry, executable, fixture, gates, json};
use crate::suite::wire::TIMEOUT;

#[test]
fn samples_are_judged_here_and_now() {
    let fixture = fixture(FINDS);
    let untrusted = json(&fixture, &["test", "it"], 0);
    assert_eq!((&entry(&untrusted, "it")["outcome"], fixture.ran()), (&"needs_trust".into(), Vec::new()));
    gates(&fixture, &["test", "it", "--require-all"], ILL);
    let report = json(&fixture, &["test", "it", "syntax", "--trust", "--require-all"], 0);
    assert_eq!((&entry(&report, "it")["outcome"], &report["passed"]), (&"passed".into(), &true.into()));
    assert_eq!(entry(&report, "it")["samples"].as_array().unwrap().len(), 2);
    assert!(entry(&report, "syntax")["samples"].as_array().unwrap().len() > 20);
    assert!(!fixture.ran().is_empty());

    fixture.write("root/quality.yaml", &DEFINED.replace("message: one", "message: two"));
    let text = gates(&fixture, &["test", "it", "--trust"], ILL).stdout;
    assert!(text.contains("sample 2: a.py, over a file"), "{text}");
    assert!(text.contains("- 2 two") && text.contains("+ 2:1 error bad one"), "{text}");
    assert!(text.contains("failed    0 of 1 gates passed") && text.contains("; failed it\n"), "{text}");
    assert!(text.ends_with("not your files, nor your project's configuration\n"), "{text}");
    let report = json(&fixture, &["test", "it", "--trust"], ILL);
    assert_eq!(entry(&report, "it")["samples"][1]["missing"][0], "2 two");

    fixture.write("root/quality.yaml", DEFINED);
    executable(&fixture, "bin/it", FAILS);
    let report = json(&fixture, &["test", "it", "--trust"], ILL);
    assert_eq!(entry(&report, "it")["samples"][0]["why"], "broken: ended with exit code 3");
    fs::remove_file(fixture.at("bin/it")).unwrap();
    let text = gates(&fixture, &["test", "it", "--trust"], 0).stdout;
    assert!(text.contains("unavailable") && text.contains("install: pip install it"), "{text}");
    gates(&fixture, &["test", "it", "--trust", "--require-all"], ILL);
}

#[test]
fn a_signal_ends_the_programs_and_leaves_nothing() {
    let fixture = fixture("#!/bin/sh\necho $$ > '{FIXTURE}/outside/started'\nexec sleep 600\n");
    fs::create_dir(fixture.at("tmp")).unwrap();
    let mut test = fixture.command();
    test.args(["gates", "test", "it", "--trust"]).env("TMPDIR", fixture.at("tmp"));
    let mut test = test.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let started =
        until(|| fs::read_to_string(fixture.at("outside/started")).ok().filter(|text| text.ends_with('\n')));
    let signal = Command::new("kill").arg("-INT").arg(test.id().to_string()).status().unwrap();
    assert!(signal.success());
    let status = until(|| test.try_wait().unwrap());
    assert_eq!(status.code(), Some(130));
    let process = Path::new("/proc").join(started.trim());
    assert!(!process.exists(), "the program goes on");
    assert_eq!(fs::read_dir(fixture.at("tmp")).unwrap().count(), 0);
}

/// Waits until there is something.
#[track_caller]
fn until<T>(mut poll: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + TIMEOUT;
    loop {
        if let Some(found) = poll() {
            return found;
        }
        assert!(Instant::now() < end, "nothing came");
        std::thread::sleep(Duration::from_millis(5));
    }
}
