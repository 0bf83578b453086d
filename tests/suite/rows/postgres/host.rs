//! The machine that a cluster is on: its programs, its users and its processes.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use rustix::process::Pid;

/// A command with these words before it, in the same surroundings.
pub fn behind(words: &[OsString], command: &Command) -> Command {
    let mut whole = Command::new(&words[0]);
    whole.args(&words[1..]).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => whole.env(name, value),
            None => whole.env_remove(name),
        };
    }
    whole
}

#[track_caller]
pub fn output_text(output: Output) -> String {
    assert!(output.status.success(), "psql: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

/// The folder of the programs of PostgreSQL: on the search path, or where Debian has them, the newest.
pub fn programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let named = std::env::split_paths(&path).map(|folder| folder.join("initdb"));
    let mut debian: Vec<(u32, PathBuf)> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin/initdb")))
        })
        .collect();
    debian.sort();
    let all = debian.into_iter().rev().map(|(_, path)| path).chain(named);
    all.filter_map(|path| path.canonicalize().ok())
        .filter_map(|path| path.parent().map(Path::to_owned))
        .find(|folder| ["initdb", "postgres", "psql"].iter().all(|name| folder.join(name).exists()))
}

/// The user of that name, and its group.
pub fn id_of(user: &str) -> Option<(u32, u32)> {
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    let line = users.lines().find(|line| line.split(':').next() == Some(user))?.to_owned();
    let mut fields = line.split(':').skip(2);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

/// The processes that a process began and that are still there.
pub fn children(of: Pid) -> Vec<Pid> {
    let parent = |stat: &str| stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse::<i32>().ok();
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let ids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    ids.filter(|id| {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        parent(&stat) == Some(of.as_raw_nonzero().get())
    })
    .filter_map(Pid::from_raw)
    .collect()
}

/// True if a process has ended, also where nobody has asked yet how: a shell that waits for a line does not.
pub fn is_dead(id: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", id.as_raw_nonzero()));
    let zombie =
        |stat: String| stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'));
    stat.map_or(true, zombie)
}
