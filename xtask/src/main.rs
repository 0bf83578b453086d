//! Writes what is generated from the code. `cargo xtask` lists the tasks, and `cargo xtask all` runs them.
//!
//! A page is written by the test that compares it, so the page and the test cannot differ.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus};

/// A task: its name, what it writes, and its commands.
struct Task {
    name: &'static str,
    writes: &'static str,
    steps: &'static [Step],
}

/// A command, which is run with `UPDATE=1` in its environment, and the file for its standard output.
struct Step(&'static [&'static str], Option<&'static str>);

const TASKS: [Task; 4] = [
    Task {
        name: "docs",
        writes: "docs/cli.md, tools.md, errors.md, policy.md and serving.md, and the table in docs/gates.md",
        steps: &[Step(
            &[
                "cargo",
                "test",
                "--quiet",
                "--test",
                "all",
                "--",
                "the_page_of_the_command_line_is",
                "the_page_of_tools_is",
                "errors_page_is",
                "the_tables_of_the_page_are",
                "the_table_of_the_page_is",
                "the_table_of_tools_is",
            ],
            None,
        )],
    },
    Task {
        name: "levels",
        writes: "the table of isolation levels in docs/security.md; needs bubblewrap and Landlock",
        steps: &[Step(
            &["cargo", "test", "--quiet", "--package", "lockgate-sandbox", "--lib", "--", "each_level_stops"],
            None,
        )],
    },
    Task {
        name: "schemas",
        writes: "target/policy.schema.json and target/tools.schema.json",
        steps: &[
            Step(&["cargo", "run", "--quiet", "--", "schema", "policy"], Some("target/policy.schema.json")),
            Step(&["cargo", "run", "--quiet", "--", "schema", "tools"], Some("target/tools.schema.json")),
        ],
    },
    Task {
        name: "picture",
        writes: "docs/images/refused.svg, the picture of the README; needs python3",
        steps: &[
            Step(&["cargo", "build", "--quiet"], None),
            Step(&["python3", "docs/images/refused.py", "target/debug/lockgate"], None),
        ],
    },
];

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    let tasks: Vec<&Task> = TASKS.iter().filter(|task| name == "all" || task.name == name).collect();
    if tasks.is_empty() {
        return usage();
    }
    for step in tasks.iter().flat_map(|task| task.steps) {
        match run(step) {
            Ok(status) if status.success() => {}
            Ok(status) => return failed(&format!("{} ended with {status}", step.0.join(" "))),
            Err(error) => return failed(&format!("{} cannot be run: {error}", step.0.join(" "))),
        }
    }
    ExitCode::SUCCESS
}

fn run(Step(words, into): &Step) -> io::Result<ExitStatus> {
    let mut words = words.iter().map(|word| in_target(word));
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words).env("UPDATE", "1");
    if let Some(file) = into.map(in_target) {
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        command.stdout(File::create(file)?);
    }
    command.status()
}

/// Returns a path below `target` as one in cargo's target directory, and any other word as it is.
fn in_target(word: &str) -> PathBuf {
    match (word.strip_prefix("target/"), std::env::var_os("CARGO_TARGET_DIR")) {
        (Some(path), Some(target)) => PathBuf::from(target).join(path),
        (Some(_) | None, _) => PathBuf::from(word),
    }
}

fn usage() -> ExitCode {
    let mut text = String::from("cargo xtask TASK\n\n");
    for task in &TASKS {
        text.push_str(&format!("  {:8}  {}\n", task.name, task.writes));
    }
    text.push_str("  all       all of these\n");
    failed(&text)
}

fn failed(message: &str) -> ExitCode {
    // If standard error is closed, there is no other place for the message.
    let _ = writeln!(io::stderr(), "{message}");
    ExitCode::FAILURE
}
