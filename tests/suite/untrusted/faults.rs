//! Policies with a fault: whatever they would run, they refuse every write that they cover.

use std::fs;
use std::os::unix::fs::symlink;

use crate::suite::trust::fixture::{Fixture, policy};

/// A good policy with one word of it replaced.
fn spoilt(scene: &Fixture, from: &str, to: &str) {
    scene.program("bin/it");
    let good = policy("[it]");
    let bad = good.replace(from, to);
    assert_ne!(good, bad);
    scene.write("root/quality.yaml", &bad);
}

/// A policy that is nothing but this text.
fn only(scene: &Fixture, text: &str) {
    scene.write("root/quality.yaml", text);
}

type Fault = (&'static str, fn(&Fixture));

pub const FAULTS: &[Fault] = &[
    ("a huge policy", |scene| only(scene, &format!("{}\n# {}\n", policy("[it]"), "x".repeat(1 << 20)))),
    ("a deep policy", |scene| only(scene, &format!("{}define: {}", policy("[it]"), "[".repeat(100_000)))),
    ("a policy of many values", |scene| {
        only(scene, &format!("validate_commands: [{}]\n", "[x],".repeat(30_000)))
    }),
    ("a bomb of aliases", |scene| only(scene, "a: &a [x,x]\nb: &b [*a,*a]\nquality_gates: *b\n")),
    ("a key that stands twice", |scene| only(scene, &format!("{0}\n{0}", policy("[it]")))),
    ("a tag of another program", |scene| {
        only(scene, "quality_gates: !!python/object/apply:os.system [\"id\"]\n")
    }),
    ("bytes", |scene| fs::write(scene.at("root/quality.yaml"), [0xff, 0xfe, 0, 1]).unwrap()),
    ("a link out of the root", |scene| {
        scene.policy("outside/quality.yaml", "[it]");
        symlink("../outside/quality.yaml", scene.at("root/quality.yaml")).unwrap();
    }),
    ("a link to what an edit could change", |scene| {
        scene.policy("root/sub/settings.yaml", "[it]");
        symlink("../settings.yaml", scene.at("root/sub/deep/quality.yaml")).unwrap();
        spoilt(scene, "kind:", "knid:");
    }),
    ("a link that leads nowhere", |scene| symlink("nowhere", scene.at("root/quality.yaml")).unwrap()),
    ("a loop of links", |scene| symlink("quality.yaml", scene.at("root/quality.yaml")).unwrap()),
    ("a folder", |scene| fs::create_dir(scene.at("root/quality.yaml")).unwrap()),
    ("a pipe", |scene| {
        let mode = rustix::fs::Mode::from_raw_mode(0o644);
        let (folder, pipe) = (rustix::fs::CWD, rustix::fs::FileType::Fifo);
        rustix::fs::mknodat(folder, scene.at("root/quality.yaml"), pipe, mode, 0).unwrap();
    }),
    ("a program above the root", |scene| spoilt(scene, "bin: [it]", "bin: [../bin/it]")),
    ("a program in the root", |scene| spoilt(scene, "bin: [it]", "bin: [./it]")),
    ("a program in a folder of the root", |scene| spoilt(scene, "bin: [it]", "bin: [bin/it]")),
    ("a program by the root", |scene| spoilt(scene, "bin: [it]", "bin: [\"{root}/it\"]")),
    ("a program out of the environment", |scene| {
        spoilt(scene, "bin: [it]", "bin: [\"{venv}/bin/../../it\"]")
    }),
    ("a program that is no template", |scene| spoilt(scene, "bin: [it]", "bin: [\"{venv}x/it\"]")),
    ("an absolute first word", |scene| spoilt(scene, "command: [it,", "command: [/bin/sh,")),
    ("a first word with a hole", |scene| spoilt(scene, "command: [it,", "command: [\"{path}\",")),
    ("one text for a shell", |scene| spoilt(scene, "command: [it, \"{path}\"]", "command: it {path}; id")),
    ("a word with a NUL", |scene| spoilt(scene, "\"{path}\"", "\"a\\0b\"")),
    ("a switch for a shell", |scene| spoilt(scene, "input: stdin", "shell: true\n    input: stdin")),
    ("a variable that is two", |scene| {
        spoilt(scene, "input: stdin", "env: { \"A=B\": c }\n    input: stdin")
    }),
    ("its own meaning of a known gate", |scene| {
        scene.program("bin/it");
        only(scene, &policy("[it]").replace("  it:\n", "  syntax:\n").replace("tool: it", "tool: syntax"));
    }),
    ("an unknown gate", |scene| spoilt(scene, "tool: it", "tool: other")),
];
