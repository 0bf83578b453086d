//! `cargo check` as a gate under Landlock and its filter: with a build script that writes, copies and makes programs, and
//! with a procedural macro, both of which cargo compiles, links and runs.

use std::fs;
use std::process::Command;

use serde_json::json;

use super::files::write_all;
use super::wire::{Server, lockgate};

const MANIFEST: &str = r#"[package]
name = "app"
version = "0.1.0"
edition = "2021"

[dependencies]
shapes = { path = "shapes" }

[workspace]
members = ["shapes"]
"#;

const LOCK: &str = r#"version = 4

[[package]]
name = "app"
version = "0.1.0"
dependencies = [
 "shapes",
]

[[package]]
name = "shapes"
version = "0.1.0"
"#;

/// Writes a module, copies it with its mode, and makes a program and runs it.
const BUILD: &str = r##"use std::os::unix::fs::PermissionsExt;
use std::{env, fs, path::Path, process::Command};

fn main() {
    let out = env::var("OUT_DIR").unwrap();
    let out = Path::new(&out);
    fs::write(out.join("draft.rs"), "pub const MADE: u32 = 7;\n").unwrap();
    fs::copy(out.join("draft.rs"), out.join("made.rs")).unwrap();
    let program = out.join("program.sh");
    fs::write(&program, "#!/bin/sh\nexit 0\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(Command::new(&program).status().unwrap().success());
    println!("cargo:rerun-if-changed=build.rs");
}
"##;

const MACRO: &str = r#"use proc_macro::TokenStream;

#[proc_macro]
pub fn answer(_: TokenStream) -> TokenStream {
    "fn answer() -> u32 { 42 }".parse().unwrap()
}
"#;

const MACRO_MANIFEST: &str = r#"[package]
name = "shapes"
version = "0.1.0"
edition = "2021"

[lib]
proc-macro = true
"#;

const POLICY: &str =
    "quality_gates:\n  rust:\n    - { tool: cargo-check, required: true }\nlimits: { total: 5m }\n";

fn source(result: &str) -> String {
    format!(
        "shapes::answer!();\n\nmod made {{\n    include!(concat!(env!(\"OUT_DIR\"), \"/made.rs\"));\n}}\n\n\
         pub fn sum() -> {result} {{\n    answer() + made::MADE\n}}\n"
    )
}

fn is_there(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        super::store::not_run(&format!("{program} is not there"));
    }
    found
}

#[test]
fn build_scripts_and_macros_run_under_landlock() {
    if !is_there("cargo") || !is_there("cc") {
        return;
    }
    for level in ["none", "landlock"] {
        let (user, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = dir.path().canonicalize().unwrap();
        write_all(
            &root,
            &[
                ("Cargo.toml", MANIFEST),
                ("Cargo.lock", LOCK),
                ("build.rs", BUILD),
                ("src/lib.rs", &source("u32")),
                ("shapes/Cargo.toml", MACRO_MANIFEST),
                ("shapes/src/lib.rs", MACRO),
                ("quality.yaml", POLICY),
            ],
        );
        let mut command = lockgate(user.path());
        command.env("LOCKGATE_ISOLATION", level);
        // The home of the test is empty, and cargo finds its compiler in that of the person.
        for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            let own = std::env::home_dir().map(|home| home.join(folder)).filter(|path| path.is_dir());
            if let Some(own) = own.filter(|_| std::env::var_os(name).is_none()) {
                command.env(name, own);
            }
        }
        let mut server = Server::start_by(command, &root, &["--trust"]);
        let mut edit =
            |text: String| server.call("safe_edit_file", &json!({"path": "src/lib.rs", "content": text}));
        let passed = edit(format!("{}// Changed.\n", source("u32")));
        assert_eq!(passed.status(), "written", "{level}: {}", passed.text);
        let gate = &passed.structured["gates"][0];
        assert_eq!(gate["outcome"], "passed", "{level}: {}", passed.text);
        if gate["isolation"] != level {
            super::store::not_run(&format!("this machine has no {level}"));
            continue;
        }
        // The control: the gate has compiled what the build script and the macro made.
        let refused = edit(source("String"));
        assert_eq!(refused.code(), "GATE_REFUSED", "{level}: {}", refused.text);
        assert!(refused.text.contains("E0308"), "{level}: {}", refused.text);
        assert!(fs::read_to_string(root.join("src/lib.rs")).unwrap().ends_with("// Changed.\n"));
        assert!(!root.join("target").exists(), "the project was written to");
    }
}
