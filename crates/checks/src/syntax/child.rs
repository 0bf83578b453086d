//! Parses a large text in a child process.
//!
//! The memory of a parser cannot be limited from outside, and a thread cannot be stopped: ten megabytes of TOML took two
//! gigabytes, and a parser continued after its time limit. A process can have a memory limit (`RLIMIT_DATA`), and it can be
//! killed. It takes about 6 ms to start, so small texts are parsed in this process.
//!
//! The process runs this program's own executable with [`COMMAND`], the [`Task`], the language, the path and the memory
//! limit as arguments. It reads the text from standard input and writes a [`Reply`] to standard output.
//!
//! Invariant: a text that needs too much memory or stack ends only that process, and the process has ended when [`ask`]
//! returns.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::thread::Builder;

use libc::SIGABRT;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

use super::doubled;
use super::fault::SyntaxFault;
use super::parse::{Parse, ParseFailure, wait_for_slot};
use super::table::{self, OwnParser};
use super::tree::MAX_FAULTS;
use super::worker::panic_message;
use crate::markdown_page::{MarkdownPage, headings};
use lockgate_sandbox::{Halt, Limit, Order, ProcessOutcome, Sandbox, run as run_program};
use lockgate_syntax::{self as grammar, MemoryLimit};

/// The first argument of a parser process.
const COMMAND: &str = "__parse";
/// The stack of the parser, in bytes. A text uses all of it only if it nests thousands of levels deep.
const STACK: usize = if cfg!(debug_assertions) { 128 << 20 } else { 32 << 20 };
/// The processor time limit of the process, in seconds; it applies if its parent died and cannot kill it.
const SECONDS: u64 = 120;

static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Sets the executable that parses large texts from now on; its `main` must call [`parse_for_parent`] first.
///
/// Without it, large texts are parsed in this process, where their parsers may take hundreds of times the memory of the text.
pub fn parse_large_texts_with(executable: PathBuf) {
    // A second call sets the same executable.
    let _set_already = PROGRAM.set(executable);
}

/// Returns the executable that reads a text of this length, if the text is large and an executable is set.
pub(crate) fn program_for(length: usize) -> Option<&'static Path> {
    program().filter(|_| length > grammar::SMALL)
}

/// Returns the executable that reads large texts, if one is set.
pub(super) fn program() -> Option<&'static Path> {
    PROGRAM.get().map(PathBuf::as_path)
}

/// The work of a parser process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// Find the faults with the language's own parser, and the duplicate keys if the same pass finds them.
    Faults,
    /// Find the duplicate keys.
    Keys,
    /// Read the title and the links of a Markdown page.
    Page,
    /// Read the headings of a Markdown page.
    Headings,
}

impl Task {
    const ALL: [Task; 4] = [Task::Faults, Task::Keys, Task::Page, Task::Headings];

    const fn name(self) -> &'static str {
        match self {
            Task::Faults => "faults",
            Task::Keys => "keys",
            Task::Page => "page",
            Task::Headings => "headings",
        }
    }
}

/// The reply of a parser process, as JSON on its standard output.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Reply {
    Faults { faults: Vec<SyntaxFault>, keys: Option<Vec<SyntaxFault>>, parts: Vec<u32> },
    TooDeep,
    Keys(Vec<SyntaxFault>),
    Page(MarkdownPage),
    Headings(HashSet<String>),
    Panicked(String),
}

/// The reason that a process gave no reply.
#[derive(Debug)]
pub(crate) enum NoReply {
    /// The caller cancelled the call, or the time limit was reached; the process was killed.
    Halted(Halt),
    /// The process could not read the text within its limits. The text completes a sentence that begins with the name of
    /// the parser.
    Failed(String),
    /// The parser panicked, with this message.
    Panicked(String),
}

/// Returns the failure for a process that gave no reply, or an unexpected one; `reader` names the parser.
pub(crate) fn failure(reader: &str, reply: Result<Reply, NoReply>) -> ParseFailure {
    match reply {
        Err(NoReply::Halted(halt)) => ParseFailure::Halted(halt),
        Err(NoReply::Failed(why)) => ParseFailure::Unreadable(format!("{reader} {why}")),
        Err(NoReply::Panicked(words)) => ParseFailure::Broken(format!("{reader} panicked: {words}")),
        Ok(_) => ParseFailure::Broken(format!("{reader} gave an unexpected reply")),
    }
}

/// Runs a parser process for a text, as soon as a slot for large texts is free.
pub(crate) fn ask(
    program: &Path,
    task: Task,
    (language, path): (&str, &str),
    text: &str,
    limit: Limit<'_>,
) -> Result<Reply, NoReply> {
    let _slot = wait_for_slot(text, limit).map_err(NoReply::Halted)?;
    let memory = grammar::allowed(text);
    let argv = [COMMAND, task.name(), language, path, &memory.to_string()].map(OsString::from).to_vec();
    let order = Order {
        program,
        argv,
        cwd: Path::new("/"),
        env: Vec::new(),
        input: Some(text.as_bytes()),
        sandbox: Sandbox::default(),
    };
    let too_large = || NoReply::Failed(format!("exceeded its memory limit of {}", MemoryLimit(memory)));
    match run_program(&order, limit) {
        ProcessOutcome::Exited { code: 0, stdout, .. } => match serde_json::from_slice(&stdout) {
            Ok(Reply::Panicked(words)) if is_out_of_memory(&words) => Err(too_large()),
            Ok(Reply::Panicked(words)) => Err(NoReply::Panicked(words)),
            Ok(reply) => Ok(reply),
            Err(_) => Err(NoReply::Failed("gave an incomplete reply".to_owned())),
        },
        // A failed allocation ends the process with it.
        ProcessOutcome::Killed { signal: SIGABRT, .. } => Err(too_large()),
        ProcessOutcome::Killed { why, .. } | ProcessOutcome::Broken(why) => Err(NoReply::Failed(why)),
        ProcessOutcome::Exited { code, .. } | ProcessOutcome::StdinUnread { code, .. } => {
            Err(NoReply::Failed(format!("ended with exit code {code}")))
        }
        ProcessOutcome::Halted(halt) => Err(NoReply::Halted(halt)),
    }
}

/// True for the panic message of a parser that could not allocate memory or a further stack.
fn is_out_of_memory(words: &str) -> bool {
    words.contains("out of memory") || words.contains("Cannot allocate memory")
}

/// Runs as a parser process if the first argument says so, and returns its exit code; otherwise returns `None`.
pub fn parse_for_parent(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    if arguments.next()? != COMMAND {
        return None;
    }
    let arguments: Vec<String> = arguments.map_while(|word| word.into_string().ok()).collect();
    let [task, language, path, memory] = arguments.as_slice() else { return Some(ExitCode::from(2)) };
    let Some(task) = Task::ALL.into_iter().find(|known| known.name() == task) else {
        return Some(ExitCode::from(2));
    };
    Some(match reply(task, language, path, memory) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

fn reply(task: Task, language: &str, path: &str, memory: &str) -> Result<(), Box<dyn std::error::Error>> {
    bound(memory.parse()?)?;
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let read = || match task {
        Task::Faults => table::row(language)?.parser.as_ref().map(|own| faults(own, language, &text, path)),
        Task::Keys => Some(Reply::Keys(doubled::keys(language, &text))),
        Task::Page => Some(Reply::Page(MarkdownPage::read(&text))),
        Task::Headings => Some(Reply::Headings(headings(&text))),
    };
    let reply = std::thread::scope(|scope| {
        let thread = Builder::new().stack_size(STACK).spawn_scoped(scope, read)?;
        std::io::Result::Ok(
            thread.join().unwrap_or_else(|panic| Some(Reply::Panicked(panic_message(panic.as_ref())))),
        )
    })?;
    let reply = reply.ok_or("no parser for this language")?;
    std::io::stdout().write_all(&serde_json::to_vec(&reply)?)?;
    Ok(())
}

fn faults(own: &OwnParser, language: &str, text: &str, path: &str) -> Reply {
    let (parse, keys) = match own.levels.map(|levels| levels(text)) {
        Some(Err(fault)) => (Parse::faulty(vec![fault]), None),
        Some(Ok(_)) | None if language == "yaml" => {
            let (parse, keys) = doubled::read_yaml(text);
            (parse, Some(keys))
        }
        Some(Ok(_)) | None => ((own.read)(text, path), None),
    };
    match parse {
        Parse::Read { mut faults, parts } => {
            faults.truncate(MAX_FAULTS);
            Reply::Faults { keys: keys.filter(|_| faults.is_empty()), faults, parts }
        }
        Parse::TooDeep => Reply::TooDeep,
    }
}

/// Limits the memory and the processor time of this process from now on. The kernel counts the stack of a thread as memory.
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

#[cfg(test)]
mod tests {
    use super::is_out_of_memory;

    #[test]
    fn a_stack_that_was_refused_differs_from_other_panics() {
        let refused = std::io::Error::from_raw_os_error(12).to_string();
        assert!(is_out_of_memory(&format!(
            "called `Result::unwrap()` on an `Err` value: mprotect/mmap failed: {refused}"
        )));
        assert!(is_out_of_memory("memory allocation of 8 bytes failed: out of memory"));
        assert!(!is_out_of_memory("index out of bounds: the len is 1 but the index is 2"));
    }
}
