//! What the command line says.

use std::path::PathBuf;

/// Where the entities are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// As files in a root for each organisation: what the same load costs without a database.
    Files,
    /// In a PostgreSQL of the program's own.
    Postgres,
}

/// What is to be done.
#[derive(Debug, Clone)]
pub struct Options {
    pub binary: PathBuf,
    pub dir: PathBuf,
    pub storage: Storage,
    pub entities: usize,
    pub organizations: usize,
    pub clients: usize,
    /// Edits and reads that are offered each second, by all clients together.
    pub edits_a_second: f64,
    pub reads_a_second: f64,
    /// Edits in all.
    pub edits: usize,
    /// After which part of the edits a server is killed; never where it is absent.
    pub kill_at: Option<f64>,
    /// True if latencies beyond the goals fail.
    pub strict: bool,
    /// The numbers of entities over which growth is shown, in place of the load.
    pub growth: Vec<usize>,
    /// True if the HTTP front itself is measured, in place of the load.
    pub front: bool,
    /// True if damage is done to the store in the end, which must be found.
    pub control: bool,
    /// True if the folder stays.
    pub keep: bool,
}

pub const HELP: &str = "\
the load of many clients on two servers that share one store

  --binary PATH        the lockgate that serves (the one that cargo built)
  --dir PATH           where database and configurations lie (the system's temporary folder)
  --store WHERE        postgres or files (postgres)
  --entities N         how many there are (10000)
  --organizations N    to how many organisations they belong (8)
  --clients N          how many connections offer the load (64)
  --edits-a-second N   edits that all clients together offer (200)
  --reads-a-second N   reads that all clients together offer (600)
  --edits N            edits in all (100000)
  --seconds N          the same by time
  --kill-at PART       the part of the edits after which a server is killed (0.5)
  --no-kill            none is
  --strict             fail where a latency is beyond its goal
  --control            do damage to the store in the end, all of which must be found
  --growth N,N,N       in its place: what one call costs over so many entities
  --front              in its place: what the HTTP front itself costs
  --keep               leave the folder";

impl Options {
    /// Reads the arguments; an error is what to tell the person.
    pub fn read(words: impl Iterator<Item = String>) -> Result<Options, String> {
        let binary = std::env::var_os("LOCKGATE_BINARY").unwrap_or(env!("CARGO_BIN_EXE_lockgate").into());
        let mut options = Options {
            binary: binary.into(),
            dir: std::env::temp_dir(),
            storage: Storage::Postgres,
            entities: 10_000,
            organizations: 8,
            clients: 64,
            edits_a_second: 200.0,
            reads_a_second: 600.0,
            edits: 100_000,
            kill_at: Some(0.5),
            strict: false,
            growth: Vec::new(),
            front: false,
            control: false,
            keep: false,
        };
        let mut seconds = None;
        // Cargo adds `--bench`.
        let mut words = words.filter(|word| word != "--bench");
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} wants a value"));
            match word.as_str() {
                "--binary" => options.binary = value()?.into(),
                "--dir" => options.dir = value()?.into(),
                "--store" => options.storage = parse_storage(&value()?)?,
                "--entities" => options.entities = number(&value()?)?,
                "--organizations" => options.organizations = number::<usize>(&value()?)?.clamp(1, 90),
                "--clients" => options.clients = number(&value()?)?,
                "--edits-a-second" => options.edits_a_second = number(&value()?)?,
                "--reads-a-second" => options.reads_a_second = number(&value()?)?,
                "--edits" => options.edits = number(&value()?)?,
                "--seconds" => seconds = Some(number::<f64>(&value()?)?),
                "--kill-at" => options.kill_at = Some(number(&value()?)?),
                "--no-kill" => options.kill_at = None,
                "--strict" => options.strict = true,
                "--growth" => {
                    options.growth = value()?.split(',').map(number).collect::<Result<Vec<usize>, _>>()?;
                }
                "--front" => (options.front, options.storage) = (true, Storage::Files),
                "--control" => options.control = true,
                "--keep" => options.keep = true,
                _ => return Err(HELP.to_owned()),
            }
        }
        if let Some(seconds) = seconds {
            options.edits = (seconds * options.edits_a_second) as usize;
        }
        Ok(options)
    }
}

fn parse_storage(word: &str) -> Result<Storage, String> {
    match word {
        "files" => Ok(Storage::Files),
        "postgres" => Ok(Storage::Postgres),
        _ => Err(format!("--store is files or postgres, not {word}")),
    }
}

fn number<N: std::str::FromStr>(word: &str) -> Result<N, String> {
    word.parse().map_err(|_| format!("{word} is no number"))
}
