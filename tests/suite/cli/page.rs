//! The page of the command line is what the commands say of themselves.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::suite::wire::lockgate;

/// The part of the page that is written by hand.
const HEAD: &str = "# Command line\n\n\
    Generated from the help texts of the commands; `cargo xtask docs` rewrites it.\n\n\
    `lockgate COMMAND --help` prints the same.\n\
    [errors.md](errors.md) has the exit codes, which depend on the family of a rejection.\n\
    `lockgate check` has [its own](check.md#output) for what it finds.\n\n\
    ## Environment\n\n\
    | variable | purpose |\n|---|---|\n\
    | `LOCKGATE_STORE` | URL of the database of entities, if `--store` names none; a URL with a password belongs here |\n\
    | `LOCKGATE_TOKEN` | token of the clients of `lockgate serve --http`; without it, one is created and stored |\n\
    | `LOCKGATE_SEAL` | secret that servers behind one balancer share: [serving.md](serving.md) |\n\
    | `LOCKGATE_LOG` | what `lockgate serve` logs to standard error, such as `debug`; the default is `warn,rmcp=error` |\n\
    | `LOCKGATE_ISOLATION` | strongest isolation of gate programs: `none`, `landlock` or `bubblewrap`; [security.md](security.md) |\n\
    | `LOCKGATE_PAGER`, `PAGER` | pager of `lockgate log` and `show` on a terminal; an empty value or `cat` is none, the default is `less` |\n\
    | `LESS` | options of `less`; the default is `FRX` |\n\
    | `NO_COLOR`, `CLICOLOR_FORCE` | switch colours off, or on without a terminal, unless `--color` says it |\n\
    | `XDG_STATE_HOME`, `XDG_CACHE_HOME` | folders of the journal, of trust and of caches; the defaults are `~/.local/state` and `~/.cache` |\n\
    | `XDG_CONFIG_HOME` | folder of the configuration of git, and of some clients of `lockgate init`; the default is `~/.config` |\n";

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/cli.md")
}

/// The help of a command, as it is without a terminal; no line ends with a blank.
fn help(command: &[&str]) -> String {
    let home = tempfile::tempdir().unwrap();
    let output = lockgate(home.path()).args(command).arg("--help").env_remove("COLUMNS").output().unwrap();
    assert!(output.status.success(), "{command:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The names below `Commands:` in a help text.
fn subcommands(help: &str) -> Vec<&str> {
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let list = list.take_while(|line| !line.is_empty());
    // A line with more blanks continues the text of the one above.
    let names = list.filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    names.filter_map(|line| line.split(' ').next()).filter(|name| *name != "help").collect()
}

/// Writes the section of a command, and those of its subcommands.
fn section(text: &mut String, command: &[&str]) {
    let help = help(command);
    let words = [&["lockgate"], command].concat().join(" ");
    let level = if command.len() > 1 { "###" } else { "##" };
    write!(text, "\n{level} {words}\n\n```text\n{}\n```\n", help.trim_end()).unwrap();
    for name in subcommands(&help) {
        section(text, &[command, &[name]].concat());
    }
}

#[test]
fn the_page_of_the_command_line_is_its_help() {
    let mut expected = HEAD.to_owned();
    section(&mut expected, &[]);
    for command in ["serve token", "gates doctor", "store app add"] {
        assert!(expected.contains(&format!("\n### lockgate {command}\n")), "the control: {command}");
    }
    if std::env::var_os("UPDATE").is_some() {
        fs::write(page(), &expected).unwrap();
    }
    let is = fs::read_to_string(page()).unwrap_or_default();
    assert!(is == expected, "docs/cli.md is out of step; rewrite it with cargo xtask docs");
}

#[test]
fn every_variable_of_the_command_line_is_on_its_page() {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let variable = regex::Regex::new(r#""(LOCKGATE_[A-Z_]+|XDG_[A-Z_]+)""#).unwrap();
    let mut count = 0;
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = fs::read_to_string(&path) {
                for found in variable.captures_iter(&text) {
                    count += 1;
                    assert!(
                        HEAD.contains(&format!("`{}`", &found[1])),
                        "{} in {}",
                        &found[1],
                        path.display()
                    );
                }
            }
        }
    }
    assert!(count >= 5, "{count} variables");
}
