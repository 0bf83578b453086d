//! Reads a large text with its language's own parser, in a process of its own.
//!
//! The memory of such a parser cannot be bounded from outside, and a thread cannot be stopped: ten megabytes of TOML
//! took two gigabytes, and a parser whose time was up ran on. A process can be given a limit of memory
//! (`RLIMIT_DATA`), and it can be killed. It takes about 6 ms to start, so small texts are read without one.
//!
//! The process is the program's own executable, started with [`COMMAND`], the language, the path and the limit; it reads the
//! text from standard input and writes a [`Reply`].
//!
//! Invariant: a text that takes too much memory or stack ends that process and nothing else.

use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::thread::Builder;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

use super::super::process::{Cage, Ended, Order, run as run_program};
use super::super::watch::Limit;
use super::Parse;
use super::apart::{End, last_words};
use super::fault::Fault;
use super::table::{self, Own, Row};
use super::tree::MOST_FAULTS;
use crate::grammar;

/// The first argument of a process that reads a text.
const COMMAND: &str = "__parse";
/// The stack of the parser, in bytes. It is used only where a text nests thousands of levels deep.
const STACK: usize = if cfg!(debug_assertions) { 128 << 20 } else { 32 << 20 };
/// How many seconds of a processor the process may use, should nobody be left to kill it.
const SECONDS: u64 = 120;

static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Has large texts parsed by this executable from now on; its `main` begins with [`parse_for_parent`].
///
/// Without it they are parsed in this process, where their parsers may take hundreds of times the memory of the text.
pub fn parse_large_texts_with(executable: PathBuf) {
    // Whoever comes second says the same.
    let _set_already = PROGRAM.set(executable);
}

/// Returns the executable that parses large texts, where there is one.
pub(super) fn program() -> Option<&'static Path> {
    PROGRAM.get().map(PathBuf::as_path)
}

/// What a process says of its text.
#[derive(Debug, Serialize, Deserialize)]
enum Reply {
    Read(Vec<Place>),
    TooDeep,
    Panicked(String),
}

/// A fault on its way between two processes.
#[derive(Debug, Serialize, Deserialize)]
struct Place {
    at: usize,
    end: usize,
    pass: u8,
    message: String,
}

/// Has a text read; `NoThread` where the process ended without a reply, as it does when its limits are reached.
pub(super) fn run(program: &Path, row: &Row, path: &str, text: &str, limit: Limit<'_>) -> End<Parse> {
    let memory = grammar::allowed(text.len()).to_string();
    let argv = [COMMAND, row.name, path, memory.as_str()].map(OsString::from).to_vec();
    let order = Order {
        program,
        argv,
        folder: Path::new("/"),
        env: Vec::new(),
        input: Some(text.as_bytes()),
        cage: Cage::default(),
    };
    match run_program(&order, limit) {
        Ended::Exited { code: 0, stdout, .. } => match serde_json::from_slice(&stdout) {
            Ok(Reply::Read(places)) => End::Done(Parse::Read(places.into_iter().map(Fault::from).collect())),
            Ok(Reply::TooDeep) => End::Done(Parse::TooDeep),
            // Some parsers report a refused allocation by a panic.
            Ok(Reply::Panicked(words)) if words.contains("out of memory") => End::NoThread,
            Ok(Reply::Panicked(words)) => End::Panicked(words),
            Err(_) => End::NoThread,
        },
        Ended::Exited { .. } | Ended::Deaf { .. } | Ended::Broken(_) => End::NoThread,
        Ended::Halted(halt) => End::Halted(halt),
    }
}

/// Reads a text for the process that started this one, where its arguments say so.
pub fn parse_for_parent(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    if arguments.next()? != COMMAND {
        return None;
    }
    let arguments: Vec<String> = arguments.map_while(|word| word.into_string().ok()).collect();
    let [language, path, memory] = arguments.as_slice() else { return Some(ExitCode::from(2)) };
    Some(match reply(language, path, memory) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

fn reply(language: &str, path: &str, memory: &str) -> Result<(), Box<dyn std::error::Error>> {
    let row = table::row(language).ok_or("unknown language")?;
    let own = row.parser.as_ref().ok_or("no parser")?;
    bound(memory.parse()?)?;
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let read = || -> Reply { read(own, &text, path) };
    let reply = std::thread::scope(|scope| {
        let thread = Builder::new().stack_size(STACK).spawn_scoped(scope, read)?;
        std::io::Result::Ok(thread.join().unwrap_or_else(|panic| Reply::Panicked(last_words(panic.as_ref()))))
    })?;
    std::io::stdout().write_all(&serde_json::to_vec(&reply)?)?;
    Ok(())
}

fn read(own: &Own, text: &str, path: &str) -> Reply {
    let parse = match own.levels.map(|levels| levels(text)) {
        Some(Err(fault)) => Parse::Read(vec![fault]),
        Some(Ok(_)) | None => (own.read)(text, path),
    };
    match parse {
        Parse::Read(faults) => Reply::Read(faults.into_iter().take(MOST_FAULTS).map(Place::from).collect()),
        Parse::TooDeep => Reply::TooDeep,
    }
}

/// Limits what this process may take from now on. The kernel counts the stack of a thread as memory.
fn bound(memory: usize) -> Result<(), Box<dyn std::error::Error>> {
    let limit = |resource, most: u64| {
        let most = getrlimit(resource).maximum.map_or(most, |maximum| maximum.min(most));
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
    };
    let status = std::fs::read_to_string("/proc/self/status")?;
    let data = status.lines().find_map(|line| line.strip_prefix("VmData:")).ok_or("no VmData")?;
    let kib: usize = data.split_whitespace().next().ok_or("no VmData")?.parse()?;
    limit(Resource::Data, ((kib << 10) + STACK + memory) as u64)?;
    limit(Resource::Core, 0)?;
    limit(Resource::Cpu, SECONDS)?;
    Ok(())
}

impl From<Fault> for Place {
    fn from(fault: Fault) -> Place {
        Place { at: fault.at, end: fault.end, pass: fault.pass, message: fault.message }
    }
}

impl From<Place> for Fault {
    fn from(place: Place) -> Fault {
        Fault { pass: place.pass, ..Fault::new(place.at, place.end, place.message) }
    }
}
