//! A real PostgreSQL for tests: in a temporary folder, by a user without power, reached by a socket in that folder.
//!
//! Invariant: a cluster ends, and its folder goes, with the process that began it, also where that is killed.

mod database;
mod host;
mod running;
mod tls;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use rustix::process::Pid;

use crate::suite::store::not_run;
use crate::suite::wire::TIMEOUT;
pub use database::Database;
pub use host::behind;
use host::{id_of, is_dead, output_text, programs};
pub use running::Ending;
use running::{GUARD, Running};
pub use tls::Certificates;

/// The role that made the cluster, and whom nothing holds.
pub const BOSS: &str = "boss";
/// The role that a server of lockgate is; it owns its database, and no more.
pub const KEEPER: &str = "keeper";
/// Its password, which needs to be written otherwise in a URL.
pub const PASSWORD: &str = "s3cret/@:?";
pub const PASSWORD_IN_URL: &str = "s3cret%2F%40%3A%3F";

/// A cluster.
pub struct Postgres {
    folder: PathBuf,
    programs: PathBuf,
    user: Option<&'static str>,
    /// What stands before the command that runs the cluster.
    behind: Vec<OsString>,
    settings: Vec<(String, String)>,
    running: Mutex<Option<Running>>,
}

impl Postgres {
    /// The cluster that all tests of this process share; nothing where none is to be had.
    pub fn shared() -> Option<&'static Postgres> {
        static SHARED: OnceLock<Option<Postgres>> = OnceLock::new();
        SHARED.get_or_init(|| Postgres::start(&[])).as_ref()
    }

    /// Makes a cluster and starts it; nothing where none is to be had.
    pub fn start(settings: &[(&str, &str)]) -> Option<Postgres> {
        let postgres = Postgres::prepared(settings, Vec::new())?;
        postgres.begin();
        Some(postgres)
    }

    /// The same for a cluster that is run by a command before which these words stand.
    pub fn start_behind(behind: Vec<OsString>) -> Option<Postgres> {
        let postgres = Postgres::prepared(&[], behind)?;
        postgres.begin();
        Some(postgres)
    }

    fn prepared(settings: &[(&str, &str)], behind: Vec<OsString>) -> Option<Postgres> {
        let Some(programs) = programs() else {
            not_run("stored content in PostgreSQL: there is no initdb (Debian's package is `postgresql`)");
            return None;
        };
        let root = rustix::process::geteuid().is_root();
        let user = root.then(|| if id_of("postgres").is_some() { "postgres" } else { "nobody" });
        let folder = tempfile::Builder::new().prefix("lockgate-pg-").tempdir().unwrap();
        if let Some(user) = user {
            let Some((user, group)) = id_of(user) else {
                not_run("stored content in PostgreSQL: there is no user without power");
                return None;
            };
            chown(folder.path(), Some(user), Some(group)).unwrap();
        }
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let settings = settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let postgres =
            Postgres { folder: folder.keep(), programs, user, behind, settings, running: Mutex::default() };
        if postgres.user.is_some() && Command::new("setpriv").arg("--version").output().is_err() {
            not_run("stored content in PostgreSQL: there is no setpriv to become a user without power");
            return None;
        }
        postgres.make();
        Some(postgres)
    }

    fn make(&self) {
        let mut initdb = self.unprivileged(&self.programs.join("initdb"));
        initdb.arg("-D").arg(self.data()).args(["-U", BOSS, "-A", "trust", "-E", "UTF8", "--locale=C"]);
        let output = initdb.args(["--no-sync", "--no-instructions", "--wal-segsize=1"]).output().unwrap();
        assert!(output.status.success(), "initdb: {}", String::from_utf8_lossy(&output.stderr));
        let own = "listen_addresses = ''\nunix_socket_permissions = 0777\nshared_buffers = 32MB\nmax_connections = 80\n\
             min_wal_size = 4MB\nmax_wal_size = 64MB\njit = off\nautovacuum = off\nfsync = off\n";
        let mut text = format!("{own}unix_socket_directories = '{}'\n", self.folder.display());
        for (key, value) in &self.settings {
            writeln!(text, "{key} = '{value}'").unwrap();
        }
        let conf = self.data().join("postgresql.conf");
        std::fs::OpenOptions::new().append(true).open(conf).unwrap().write_all(text.as_bytes()).unwrap();
        // The wire is a socket, and a sum of a thousand hashes for each connection takes long in a debug build.
        let rules = format!("local all {BOSS} trust\nlocal all all password\n");
        std::fs::write(self.data().join("pg_hba.conf"), rules).unwrap();
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// The folder of the cluster, in which its socket is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The socket of the cluster.
    pub fn socket(&self) -> PathBuf {
        self.folder.join(".s.PGSQL.5432")
    }

    /// A command as the user to whom the cluster belongs.
    fn unprivileged(&self, program: &Path) -> Command {
        let mut command = match self.user {
            None => Command::new(program),
            Some(user) => {
                let (id, group) = id_of(user).unwrap();
                let (id, group) = (id.to_string(), group.to_string());
                let mut command = Command::new("setpriv");
                command.args(["--reuid", &id, "--regid", &group, "--clear-groups"]).arg(program);
                command
            }
        };
        command.current_dir(&self.folder).env_remove("PGDATA").env("LC_ALL", "C");
        command
    }

    /// The same command, begun by what stands before it.
    fn behind(&self, command: Command) -> Command {
        if self.behind.is_empty() {
            return command;
        }
        let mut whole = behind(&self.behind, &command);
        whole.current_dir(&self.folder);
        whole
    }

    /// The first process of the cluster.
    pub fn id(&self) -> u32 {
        let running = self.running.lock().unwrap();
        running.as_ref().unwrap().postmaster.as_raw_nonzero().get().unsigned_abs()
    }

    /// Makes a folder that belongs to whom the cluster does, where its processes see it.
    pub fn make_folder(&self, folder: &Path) {
        let path = PathBuf::from(format!("/proc/{}/root{}", self.id(), folder.display()));
        std::fs::create_dir(&path).unwrap();
        if let Some((user, group)) = self.user.and_then(id_of) {
            chown(&path, Some(user), Some(group)).unwrap();
        }
    }

    /// Starts the cluster, and waits until it takes connections.
    pub fn begin(&self) {
        let start = Instant::now();
        loop {
            match self.try_begin() {
                Ok(running) => {
                    *self.running.lock().unwrap() = Some(running);
                    return self.meet();
                }
                // What was killed has ended only when its last process has.
                Err(why) => assert!(start.elapsed() < TIMEOUT, "PostgreSQL does not start: {why}"),
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn try_begin(&self) -> Result<Running, String> {
        let log = std::fs::File::create(self.folder.join("log")).unwrap();
        let mut guard = self.behind(self.unprivileged(Path::new("/bin/sh")));
        guard.args(["-c", GUARD, "sh"]).arg(&self.folder).arg(self.programs.join("postgres"));
        guard.arg("-D").arg(self.data()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        let mut guard = guard.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(guard.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let postmaster = Pid::from_raw(line.trim().parse().unwrap()).unwrap();
        let mut running = Running { input: guard.stdin.take(), guard, postmaster };
        let start = Instant::now();
        loop {
            let status = std::fs::read_to_string(self.data().join("postmaster.pid")).unwrap_or_default();
            let mut lines = status.lines();
            let own = lines.next() == Some(postmaster.as_raw_nonzero().to_string().as_str());
            if own && lines.last().is_some_and(|line| line.trim() == "ready") {
                return Ok(running);
            }
            if is_dead(postmaster) || start.elapsed() > TIMEOUT {
                running.end("keep");
                return Err(std::fs::read_to_string(self.folder.join("log")).unwrap_or_default());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Makes the role of the servers where it is not there yet.
    fn meet(&self) {
        let role = self.boss("postgres", &format!("SELECT 1 FROM pg_roles WHERE rolname = '{KEEPER}'"));
        if role.is_empty() {
            self.boss("postgres", &format!("CREATE ROLE {KEEPER} LOGIN PASSWORD '{PASSWORD}'"));
        }
    }

    /// Ends the cluster; it can be begun again.
    pub fn end(&self, how: Ending) {
        let Some(mut running) = self.running.lock().unwrap().take() else { return };
        running.stop(how);
    }

    /// Makes a database that belongs to [`KEEPER`].
    pub fn database(&self) -> Database<'_> {
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        let name = format!("db{}", NEXT.fetch_add(1, Ordering::Relaxed));
        self.boss("postgres", &format!("CREATE DATABASE {name} OWNER {KEEPER} TEMPLATE template0"));
        Database { postgres: self, name }
    }

    /// Runs SQL as the role that nothing holds, and gives its rows, columns parted by `|`.
    #[track_caller]
    pub fn boss(&self, database: &str, sql: &str) -> String {
        output_text(self.psql(database, BOSS, sql))
    }

    /// The same for a statement that somebody else may end.
    pub fn boss_may_fail(&self, database: &str, sql: &str) -> bool {
        self.psql(database, BOSS, sql).status.success()
    }

    /// A program of PostgreSQL's that connects as this role.
    pub fn client(&self, program: &str, role: &str) -> Command {
        let mut client = Command::new(self.programs.join(program));
        client.args(["-U", role, "-h"]).arg(&self.folder);
        client.env("PGPASSWORD", PASSWORD).env("PGCONNECT_TIMEOUT", "30").current_dir("/");
        client
    }

    fn psql(&self, database: &str, role: &str, sql: &str) -> Output {
        let mut psql = self.client("psql", role);
        psql.args(["-XqAt", "-v", "ON_ERROR_STOP=1", "-d", database, "-f", "-"]);
        psql.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = psql.spawn().unwrap();
        let (mut input, sql) = (child.stdin.take().unwrap(), sql.to_owned());
        let feeding = std::thread::spawn(move || input.write_all(sql.as_bytes()));
        let output = child.wait_with_output().unwrap();
        feeding.join().unwrap().ok();
        output
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if let Ok(running) = self.running.get_mut()
            && let Some(mut running) = running.take()
        {
            running.end("remove");
        }
        std::fs::remove_dir_all(&self.folder).ok();
    }
}
