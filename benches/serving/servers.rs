//! The servers: two processes of lockgate on one store.

use std::cell::Cell;
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::entities::organization;
use super::options::{Options, Storage};
use super::postgres::Postgres;
use super::usage::processor_time;

/// One server.
pub struct Server {
    pub address: SocketAddr,
    pub process: Child,
    /// What it had spent when it was killed.
    spent: Cell<Option<Duration>>,
    log: PathBuf,
}

/// The folder of a run.
pub struct RunDir {
    // Before the folder that contains it.
    pub database: Option<Postgres>,
    pub binary: PathBuf,
    pub dir: PathBuf,
    _folder: Option<TempDir>,
}

/// The token of an organisation.
pub fn token(number: usize) -> String {
    format!("the-token-of-organisation-{number:02}")
}

impl RunDir {
    pub fn new(options: &Options) -> RunDir {
        let folder = tempfile::Builder::new().prefix("lockgate-serving-").tempdir_in(&options.dir).unwrap();
        let dir = folder.path().canonicalize().unwrap();
        let folder = if options.keep {
            println!("it lies in {}", folder.keep().display());
            None
        } else {
            Some(folder)
        };
        // The user of the database passes through it.
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o711)).unwrap();
        let database = (options.storage == Storage::Postgres).then(|| Postgres::start(&dir));
        for number in 0..options.organizations {
            fs::create_dir_all(dir.join("roots").join(organization(number))).unwrap();
        }
        fs::create_dir_all(dir.join("roots/global/modules")).unwrap();
        let place = RunDir { database, binary: options.binary.clone(), dir, _folder: folder };
        place.configure(options);
        place
    }

    /// The root of an organisation's files, or of those that are everybody's.
    pub fn root(&self, of: Option<usize>) -> PathBuf {
        self.dir.join("roots").join(of.map_or("global".to_owned(), organization))
    }

    fn config(&self) -> PathBuf {
        self.dir.join("serve.yaml")
    }

    fn configure(&self, options: &Options) {
        let mut text =
            "listen: '127.0.0.1:0'\nlimits: { requests: 1000, sessions: 2000, connections: 4000 }\n"
                .to_owned();
        text += "tokens:\n";
        for number in 0..options.organizations {
            let hash = blake3::hash(token(number).as_bytes()).to_hex();
            let scope = match &self.database {
                Some(_) => format!("organization: {}", organization(number)),
                None => {
                    format!("roots: [{}, {}]", self.root(Some(number)).display(), self.root(None).display())
                }
            };
            let name = organization(number);
            text += &format!("- {{ name: {name}, hash: 'blake3:{hash}', {scope}, tools: [all] }}\n");
        }
        fs::write(self.config(), text).unwrap();
        fs::set_permissions(self.config(), fs::Permissions::from_mode(0o600)).unwrap();
    }

    /// A command of the lockgate that is measured. The state of one user protects its files.
    pub fn lockgate(&self, name: &str) -> Command {
        let home = self.dir.join(if self.database.is_some() { name } else { "home" });
        fs::create_dir_all(&home).unwrap();
        let mut command = Command::new(&self.binary);
        command.current_dir(&home).env("HOME", &home).env("XDG_STATE_HOME", home.join("state"));
        command.env("XDG_CACHE_HOME", home.join("cache")).env_remove("LOCKGATE_TOKEN");
        match &self.database {
            Some(database) => command.env("LOCKGATE_STORE", database.url()),
            None => command.env_remove("LOCKGATE_STORE"),
        };
        command
    }

    /// Starts a server.
    pub fn serve(&self, name: &str) -> Server {
        let log = self.dir.join(format!("{name}.log"));
        let mut command = self.lockgate(name);
        command.args(["serve", "--config"]).arg(self.config());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(fs::File::create(&log).unwrap());
        let mut process = command.spawn().unwrap();
        let start = Instant::now();
        loop {
            let log_text = fs::read_to_string(&log).unwrap();
            let address =
                log_text.split("listening on http://").nth(1).and_then(|after| after.split_once("/mcp\n"));
            if let Some((address, _)) = address {
                return Server { address: address.parse().unwrap(), process, spent: Cell::default(), log };
            }
            let is_over = process.try_wait().unwrap().is_some() || start.elapsed() > Duration::from_secs(60);
            assert!(!is_over, "the server does not listen: {log_text}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Server {
    pub fn kill(&mut self) {
        self.spent.set(Some(self.spent()));
        self.process.kill().ok();
        self.process.wait().ok();
    }

    /// Processor time that it spent, and its programs.
    pub fn spent(&self) -> Duration {
        self.spent.get().unwrap_or_else(|| processor_time(self.process.id()))
    }

    /// What it said beside its first lines.
    pub fn log_text(&self) -> String {
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        text.lines().filter(|line| !line.contains("listening on")).take(20).collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}
