//! Asks a program for its version.

use std::ffi::OsStr;
use std::path::Path;
use std::time::{Duration, Instant};

use super::finding::sanitize;
use super::stage::Stage;
use lockgate_sandbox::{
    self as sandbox, Ceiling, Halt, Limit, Order, ProcessOutcome, Sandbox, Watch, strongest,
};

/// The time limit for a version query: some programs set themselves up when they first run.
const PROBE_TIME: Duration = Duration::from_secs(20);
/// The maximum length of a version that is shown, in characters.
const LONGEST_VERSION: usize = 30;

/// Asks the program at an absolute path for its version, with the arguments `probe`; `None` if there are
/// none. `search` is the search path for the programs that it starts.
///
/// Errors: the reason that it gave none, as the end of a sentence that begins with the program's name.
pub fn version(
    probe: &[String],
    program: &Path,
    search: &OsStr,
    watch: &Watch,
) -> Result<Option<String>, String> {
    version_with_limit(probe, program, search, watch.until(Instant::now() + PROBE_TIME))
}

/// Same as [`version`], with a time limit.
pub(super) fn version_with_limit(
    probe: &[String],
    program: &Path,
    search: &OsStr,
    limit: Limit<'_>,
) -> Result<Option<String>, String> {
    if probe.is_empty() {
        return Ok(None);
    }
    let stage = Stage::new().map_err(|error| error.to_string())?;
    let folder = stage.folder("probe").map_err(|error| error.to_string())?;
    let argv = probe.iter().map(Into::into).collect();
    let env = vec![("PATH".into(), search.to_owned())];
    let ceiling = Ceiling::default();
    let own = Some(stage.path().to_owned());
    let sandbox = Sandbox { level: strongest(ceiling), run_dir: own, ..Sandbox::default() };
    let order = Order { program, argv, cwd: &folder, env, input: None, sandbox };
    match sandbox::run(&order, limit) {
        ProcessOutcome::Exited { code: 0, stdout, stderr } => {
            let both =
                [stdout, stderr].map(|output| String::from_utf8_lossy(&output).into_owned()).join("\n");
            Ok(Some(number(&both)))
        }
        ProcessOutcome::Exited { code, .. } | ProcessOutcome::StdinUnread { code, .. } => {
            Err(format!("ended with exit code {code} when it was run for its version"))
        }
        ProcessOutcome::Broken(why) | ProcessOutcome::Killed { why, .. } => Err(why),
        ProcessOutcome::Halted(Halt::TimedOut) => Err("did not report its version in time".to_owned()),
        ProcessOutcome::Halted(Halt::Cancelled) => Err("was cancelled".to_owned()),
    }
}

/// Returns the first word that looks like a version, or else the first line.
fn number(output: &str) -> String {
    let plain = |word: &str| -> Option<String> {
        let digits = word.trim_start_matches(|c: char| c.is_ascii_alphabetic() || c == '(');
        let number: String =
            digits.chars().take_while(|c| c.is_ascii_alphanumeric() || ".+-".contains(*c)).collect();
        let number = number.trim_end_matches('.');
        (number.starts_with(|c: char| c.is_ascii_digit()) && number.contains('.')).then(|| number.to_owned())
    };
    let line = || output.lines().map(sanitize).find(|line| !line.is_empty()).unwrap_or_default();
    output.split_whitespace().find_map(plain).unwrap_or_else(line).chars().take(LONGEST_VERSION).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_say() {
        for (output, version) in [
            ("ruff 0.17.6\n", "0.17.6"),
            ("black, 26.10.1 (compiled: yes)\nPython (CPython) 3.11.7\n", "26.10.1"),
            ("go version go1.27.3 linux/amd64\n", "1.27.3"),
            ("v10.15.0\n", "10.15.0"),
            ("Version 7.0.2\n", "7.0.2"),
            ("rustfmt 1.9.0-stable (31fca3adb2 2026-01-01)\n", "1.9.0-stable"),
            ("ShellCheck - shell script analysis tool\nversion: 0.11.0\n", "0.11.0"),
            ("\n\u{1b}[1mnightly\u{1b}[0m build\n", "nightly build"),
            ("", ""),
        ] {
            assert_eq!(number(output), version, "{output:?}");
        }
        assert_eq!(number(&"x".repeat(99)).len(), LONGEST_VERSION);
    }
}
