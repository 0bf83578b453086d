//! Policies with a fault: whatever they would run, they refuse every write that they cover.

use std::fs;
use std::os::unix::fs::symlink;

use crate::suite::trust::fixture::{Fixture, policy};

/// A good policy with one word of it replaced.
fn spoilt(fixture: &Fixture, from: &str, to: &str) {
    fixture.program("bin/it");
    let good = policy("[it]");
    let bad = good.replace(from, to);
    assert_ne!(good, bad);
    fixture.write("root/quality.yaml", &bad);
}

/// A policy that is nothing but this text.
fn only(fixture: &Fixture, text: &str) {
    fixture.write("root/quality.yaml", text);
}

type Fault = (&'static str, fn(&Fixture));

pub const FAULTS: &[Fault] = &[
    ("a huge policy", |fixture| only(fixture, &format!("{}\n# {}\n", policy("[it]"), "x".repeat(1 << 20)))),
    ("a deep policy", |fixture| only(fixture, &format!("{}define: {}", policy("[it]"), "[".repeat(100_000)))),
    ("a policy of many values", |fixture| {
        only(fixture, &format!("validate_commands: [{}]\n", "[x],".repeat(30_000)))
    }),
    ("a bomb of aliases", |fixture| only(fixture, "a: &a [x,x]\nb: &b [*a,*a]\nquality_gates: *b\n")),
    ("a key that stands twice", |fixture| only(fixture, &format!("{0}\n{0}", policy("[it]")))),
    ("a tag of another program", |fixture| {
        only(fixture, "quality_gates: !!python/object/apply:os.system [\"id\"]\n")
    }),
    ("bytes", |fixture| fs::write(fixture.at("root/quality.yaml"), [0xff, 0xfe, 0, 1]).unwrap()),
    ("a link out of the root", |fixture| {
        fixture.policy("outside/quality.yaml", "[it]");
        symlink("../outside/quality.yaml", fixture.at("root/quality.yaml")).unwrap();
    }),
    ("a link to what an edit could change", |fixture| {
        fixture.policy("root/sub/settings.yaml", "[it]");
        symlink("../settings.yaml", fixture.at("root/sub/deep/quality.yaml")).unwrap();
        spoilt(fixture, "kind:", "knid:");
    }),
    ("a link that leads nowhere", |fixture| symlink("nowhere", fixture.at("root/quality.yaml")).unwrap()),
    ("a loop of links", |fixture| symlink("quality.yaml", fixture.at("root/quality.yaml")).unwrap()),
    ("a folder", |fixture| fs::create_dir(fixture.at("root/quality.yaml")).unwrap()),
    ("a pipe", |fixture| {
        let mode = rustix::fs::Mode::from_raw_mode(0o644);
        let (folder, pipe) = (rustix::fs::CWD, rustix::fs::FileType::Fifo);
        rustix::fs::mknodat(folder, fixture.at("root/quality.yaml"), pipe, mode, 0).unwrap();
    }),
    ("a program above the root", |fixture| spoilt(fixture, "bin: [it]", "bin: [../bin/it]")),
    ("a program in the root", |fixture| spoilt(fixture, "bin: [it]", "bin: [./it]")),
    ("a program in a folder of the root", |fixture| spoilt(fixture, "bin: [it]", "bin: [bin/it]")),
    ("a program by the root", |fixture| spoilt(fixture, "bin: [it]", "bin: [\"{root}/it\"]")),
    ("a program out of the environment", |fixture| {
        spoilt(fixture, "bin: [it]", "bin: [\"{venv}/bin/../../it\"]")
    }),
    ("a program that is no template", |fixture| spoilt(fixture, "bin: [it]", "bin: [\"{venv}x/it\"]")),
    ("an absolute first word", |fixture| spoilt(fixture, "command: [it,", "command: [/bin/sh,")),
    ("a first word with a hole", |fixture| spoilt(fixture, "command: [it,", "command: [\"{path}\",")),
    ("one text for a shell", |fixture| {
        spoilt(fixture, "command: [it, \"{path}\"]", "command: it {path}; id")
    }),
    ("a word with a NUL", |fixture| spoilt(fixture, "\"{path}\"", "\"a\\0b\"")),
    ("a switch for a shell", |fixture| spoilt(fixture, "input: stdin", "shell: true\n    input: stdin")),
    ("a variable that is two", |fixture| {
        spoilt(fixture, "input: stdin", "env: { \"A=B\": c }\n    input: stdin")
    }),
    ("its own meaning of a known gate", |fixture| {
        fixture.program("bin/it");
        only(fixture, &policy("[it]").replace("  it:\n", "  syntax:\n").replace("tool: it", "tool: syntax"));
    }),
    ("an unknown gate", |fixture| spoilt(fixture, "tool: it", "tool: other")),
];
