//! A PostgreSQL of the program's own, as durable as it comes.

use std::fs;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Whom it runs as where the program is root's: it refuses root.
const NOBODY: u32 = 65534;
/// The role of the servers, which row-level security rules.
const ROLE: &str = "lockgate";
const SECRET: &str = "of-this-run-alone";

pub struct Postgres {
    programs: PathBuf,
    dir: PathBuf,
    port: u16,
    process: Child,
}

impl Postgres {
    /// Starts one in a new folder beneath `dir`.
    pub fn start(dir: &Path) -> Postgres {
        let programs = programs().expect("PostgreSQL's programs are not here: install postgresql");
        let dir = dir.join("postgres");
        fs::create_dir(&dir).unwrap();
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&dir, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let status = unprivileged(&programs.join("initdb"))
            .args([
                "--auth-local=trust",
                "--auth-host=scram-sha-256",
                "--username=postgres",
                "--encoding=UTF8",
            ])
            .args(["--locale=C.UTF-8", "-D"])
            .arg(dir.join("data"))
            .stdout(Stdio::null())
            .status();
        assert!(status.unwrap().success(), "initdb failed");
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let log = fs::File::create(dir.join("log")).unwrap();
        let process = unprivileged(&programs.join("postgres"))
            .args(["-p", &port.to_string(), "-c", "listen_addresses=127.0.0.1", "-k"])
            .arg(&dir)
            .arg("-D")
            .arg(dir.join("data"))
            .args(std::env::var("LOCKGATE_POSTGRES").unwrap_or_default().split_whitespace())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let postgres = Postgres { programs, dir, port, process };
        let start = Instant::now();
        while postgres.psql("postgres", "SELECT 1").is_err() {
            assert!(start.elapsed() < Duration::from_secs(60), "PostgreSQL does not start");
            std::thread::sleep(Duration::from_millis(50));
        }
        postgres.psql("postgres", &format!("CREATE ROLE {ROLE} LOGIN PASSWORD '{SECRET}'")).unwrap();
        postgres.psql("postgres", &format!("CREATE DATABASE content OWNER {ROLE}")).unwrap();
        postgres
    }

    /// How a server reaches it.
    pub fn url(&self) -> String {
        format!("postgres://{ROLE}:{SECRET}@127.0.0.1:{}/content", self.port)
    }

    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Runs a statement as the superuser, whom no row-level security rules, and gives its rows as lines.
    pub fn ask(&self, statement: &str) -> Vec<String> {
        let answer = self.psql("content", statement);
        answer.unwrap_or_else(|why| panic!("{statement}: {why}")).lines().map(str::to_owned).collect()
    }

    /// Does something with each line of what `COPY ... TO STDOUT` gives.
    pub fn copy(&self, statement: &str, mut each: impl FnMut(&str)) {
        let mut process = self
            .client("content")
            .args(["-c", &format!("COPY ({statement}) TO STDOUT")])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        for line in BufReader::new(process.stdout.take().unwrap()).lines() {
            each(&line.unwrap());
        }
        assert!(process.wait().unwrap().success(), "{statement}");
    }

    /// Fills a table with what `give` writes, as `COPY ... FROM STDIN` takes it.
    pub fn fill(&self, table: &str, give: impl FnOnce(&mut dyn Write)) {
        let mut process = self
            .client("content")
            .args(["-c", &format!("COPY {table} FROM STDIN")])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut to = BufWriter::new(process.stdin.take().unwrap());
        give(&mut to);
        drop(to);
        assert!(process.wait().unwrap().success(), "{table} cannot be filled");
    }

    fn psql(&self, database: &str, statement: &str) -> Result<String, String> {
        let output = self.client(database).args(["-v", "ON_ERROR_STOP=1", "-c", statement]).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
    }

    fn client(&self, database: &str) -> Command {
        let mut command = unprivileged(&self.programs.join("psql"));
        command.args(["-X", "-A", "-t", "-q", "-U", "postgres", "-d", database]);
        command.args(["-p", &self.port.to_string(), "-h"]).arg(&self.dir);
        command
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // The quick and orderly end.
        let id = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(id, rustix::process::Signal::INT).ok();
        self.process.wait().ok();
    }
}

fn unprivileged(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir("/").env("LC_ALL", "C.UTF-8");
    if rustix::process::geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

/// Where `initdb` and `postgres` are: in the path, or where Debian has them, the latest first.
fn programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found: Vec<(u32, PathBuf)> = fs::read_dir("/usr/lib/postgresql").map_or(Vec::new(), |versions| {
        versions.flatten().map(|entry| (number(&entry.file_name()), entry.path().join("bin"))).collect()
    });
    found.sort();
    let installed = found.into_iter().rev().map(|(_, bin)| bin);
    std::env::split_paths(&path)
        .chain(installed)
        .find(|bin| ["initdb", "postgres", "psql"].iter().all(|name| bin.join(name).exists()))
}

fn number(name: &std::ffi::OsStr) -> u32 {
    name.to_str().and_then(|name| name.parse().ok()).unwrap_or(0)
}
