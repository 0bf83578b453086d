//! Recognizes lines that runtimes, launchers and tools print besides their findings: interpreter warnings,
//! package manager notices, progress.
//!
//! They say nothing about the checked text, so a reader may skip them. A line that is not listed here is an
//! error, and a line that reports a crash is never skipped.

use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use crate::constant_pattern::{regex, regex_set};

/// Notes of launchers and runtimes of tools. They do not look like findings of any tool.
const NOTES: [&str; 33] = [
    // Shells, the loader and the locale.
    r"^\S*sh: (?:line \d+: )?warning: setlocale: ",
    r"^\S+: warning: setlocale: ",
    r"^perl: warning: (?:Setting locale failed|Please check that your locale settings|Falling back to )",
    r#"^\t(?:LANGUAGE|LC_\w+|LANG) = (?:\(unset\)|".*"),?$"#,
    r"^    are supported and installed on your system\.$",
    r"^(?:ERROR: )?ld\.so: object '.*' from LD_PRELOAD cannot be preloaded",
    r"^(?:direnv|mise|asdf|nvm|pyenv|rbenv): ",
    // Node and its package managers.
    r"^\(node:\d+\) ",
    r"^\(Use `node --trace-\w+ \.\.\.` to show where the warning was created\)$",
    r"^npm (?:warn|WARN|notice|info|http)\b",
    r"^yarn (?:run )?v\d",
    r"^warning (?:package\.json|\.\./package\.json|[\w./-]+ > ): ?",
    r"^\s*WARN\s+(?:deprecated|Unsupported engine|Issue while reading|The field|\d+ deprecated)\b",
    r"^Browserslist: |^\s+npx (?:update-)?browserslist|^\s+Why you should do it regularly: |^\[baseline-browser-mapping\] ",
    r"^Debugger (?:listening on |attached\.)|^Waiting for the debugger to disconnect|^For help, see: https://nodejs\.org/",
    // Python, its installers and launchers.
    r"^WARNING: (?:You are using pip version|There was an error checking the latest version of pip|Ignoring invalid distribution|Running pip as the 'root' user)",
    r"^\[notice\] ",
    r"^DEPRECATION: ",
    r"^(?:Resolved|Prepared|Installed|Uninstalled|Audited) \d+ packages? in ",
    // The Java virtual machine.
    r"^(?:NOTE: )?Picked up (?:JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS): ",
    r"^(?:OpenJDK|Java HotSpot\(TM\)) .*VM warning: ",
    r"^WARNING: (?:A terminally deprecated method|A restricted method|An illegal reflective access|Please consider reporting this|Use --(?:illegal-access|enable-native-access)|All illegal access operations|Restricted methods will be|\S+ has been called by |sun\.misc\.)",
    // cargo and rustup.
    r"^ {1,11}(?:Blocking waiting for file lock|Updating |Locking |Adding |Downloading |Downloaded |Compiling |Checking |Finished |Fresh |Dirty |Building |Running )",
    r"^warning: (?:unused (?:manifest|config) key|virtual workspace defaulting|profiles for the non root package|.*\.cargo/config` is deprecated|no edition set|file `.*` found to be present in multiple)",
    r"^info: (?:syncing channel|latest update|downloading|installing|component|using existing|default toolchain|note: )",
    // Go.
    r"^go: (?:downloading|finding|extracting|added|upgraded|found|warning:) ",
    r"^warning: (?:GOPATH set to GOROOT|both GOPATH and GOROOT are the same directory|ignoring (?:symlink|go\.mod))",
    // Outdated or unused settings of any tool.
    r"(?i)^\[?(?:warn(?:ing)?|notice|note|info|debug|deprecat\w*)\]?[: ].*(?:deprecat|will be removed|no longer (?:supported|maintained)|unstable|experimental|pre-release|unused (?:config|section|manifest|key)|unknown (?:option|key|config|setting|property)|unrecogni[sz]ed (?:option|key|config|setting)|invalid (?:option|key) .*ignor|new(?:er)? version|new release|update available|out of date|outdated)",
    r"(?i)^(?:a new (?:version|release) of \S+ is available|\S+ \d+\.\d+\S* is available\b|update available\b|new version available\b)",
    // Progress.
    r"^\s*\d{1,3}%(?:\||$| )",
    r"^\s*\[[#=>. -]+\]\s*\d{1,3}%",
    r"^[\u{2800}-\u{28ff}] ",
    r"^(?:[\x08\x1b]|\[\d*[A-Z])+$",
];

/// The first line of a Python warning about installed code. It looks like a finding with a file and a line.
const FOREIGN_WARNING: &str = r"^(?:\S*/(?:site-packages|dist-packages|lib(?:64)?/python\d[\d.]*)/\S*|<(?:frozen [\w.]+|string|unknown|sys)>|sys):\d+: (?:\w+\.)*\w*Warning: ";

/// Patterns of the messages that programs print when they crash.
const CRASHES: [&str; 8] = [
    r"^Traceback \(most recent call last\):?",
    r"^(?:panic|fatal error): ",
    r"^thread '.*' (?:\(\d+\) )?panicked at",
    r"(?i)\binternal (?:compiler )?error\b",
    // Before version 15 node ended with exit code 0 after it.
    r"^\(node:\d+\) UnhandledPromiseRejectionWarning: ",
    r"(?i)^(?:segmentation fault|bus error|out of memory|killed)\b",
    r"^(?:Error: the compiler unexpectedly panicked|FATAL ERROR: .* JavaScript heap)",
    r"^Exception in thread ",
];

/// The line before a harmless Python traceback: of finalizers and of logging.
const HARMLESS: &str = r"^(?:Exception ignored in|--- Logging error ---|Error in atexit\._run_exitfuncs:)";

/// A line that reports an error of the program itself, without a location.
const FAILURE: &str = r"(?i)^(?:[\w.-]+: )?(?:fatal|error|critical|panic)\b";

static NOTE_SET: LazyLock<RegexSet> = LazyLock::new(|| regex_set(&NOTES));
static CRASH_SET: LazyLock<RegexSet> = LazyLock::new(|| regex_set(&CRASHES));
static FOREIGN_REGEX: LazyLock<Regex> = LazyLock::new(|| regex(FOREIGN_WARNING));
static HARMLESS_REGEX: LazyLock<Regex> = LazyLock::new(|| regex(HARMLESS));
static FAILURE_REGEX: LazyLock<Regex> = LazyLock::new(|| regex(FAILURE));

/// Returns true for a line that says nothing about the checked text.
pub(super) fn is_note(line: &str) -> bool {
    is_on() && (NOTE_SET.is_match(line) || FOREIGN_REGEX.is_match(line)) && !is_crash(line)
}

/// Returns true for a line that reports an error of the program itself, and is no known note.
pub(super) fn is_failure(line: &str) -> bool {
    is_on() && FAILURE_REGEX.is_match(line) && !is_note(line)
}

/// Returns the first line of this text that reports a crash, except for tracebacks that the interpreter
/// prints while it exits.
pub(super) fn crash(text: &str) -> Option<&str> {
    let mut before = "";
    text.lines().find(|line| {
        let is_harmless = HARMLESS_REGEX.is_match(before);
        before = line;
        is_crash(line) && !is_harmless
    })
}

/// Returns true for a line that reports a crash of the program.
pub(super) fn is_crash(line: &str) -> bool {
    CRASH_SET.is_match(line)
}

/// Returns the lines of an output that may matter: without blank lines, lines that `ignore` matches, and
/// warnings about installed code. Of a line that was overwritten on a terminal, the last text counts.
pub(super) fn lines<'t>(text: &'t str, ignore: Option<&'t Regex>) -> impl Iterator<Item = &'t str> {
    lines_and_findings(text, ignore, &|_| false, &|_| false)
}

/// Like [`lines`], for findings recognized by their form: an overwritten text that `is_finding` accepts
/// counts as well, and a line that `is_own` accepts is not a warning about installed code.
pub(super) fn lines_and_findings<'t>(
    text: &'t str,
    ignore: Option<&'t Regex>,
    is_finding: &'t dyn Fn(&str) -> bool,
    is_own: &'t dyn Fn(&str) -> bool,
) -> impl Iterator<Item = &'t str> {
    let mut quotes_source = false;
    text.lines().flat_map(move |line| texts_that_count(line, is_finding)).filter(move |line| {
        let is_source = quotes_source && line.starts_with("  ") && !is_own(line);
        quotes_source = is_on() && FOREIGN_REGEX.is_match(line) && !is_own(line);
        let says_nothing = line.trim().is_empty() || ignore.is_some_and(|ignore| ignore.is_match(line));
        !(is_source || quotes_source || says_nothing)
    })
}

/// The texts between carriage returns that count: the last one, and each that is a finding. After a finding,
/// the last one may be the rest of its message.
fn texts_that_count<'t>(line: &'t str, is_finding: &dyn Fn(&str) -> bool) -> Vec<&'t str> {
    let line = line.trim_end_matches('\r');
    if !line.contains('\r') || !is_on() {
        return vec![line];
    }
    let found: Vec<&str> = line.split('\r').filter(|text| is_finding(text)).collect();
    if found.is_empty() { line.rsplit('\r').take(1).collect() } else { found }
}

#[cfg(not(test))]
pub(super) const fn is_on() -> bool {
    true
}

#[cfg(test)]
pub(super) use self::switch::is_on;

/// Lets a test read outputs as if no note were known.
#[cfg(test)]
pub(crate) mod switch {
    use std::cell::Cell;

    thread_local! {
        static ON: Cell<bool> = const { Cell::new(true) };
    }

    pub(crate) fn is_on() -> bool {
        ON.with(Cell::get)
    }

    /// Runs `work` without skipping known notes.
    pub(crate) fn without_notes<T>(work: impl FnOnce() -> T) -> T {
        let was_on = ON.with(|on| on.replace(false));
        let result = work();
        ON.with(|on| on.set(was_on));
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_of_tools_are_no_notes() {
        for line in [
            "a.py:1:2: error: x is deprecated",
            "a.py:3: SyntaxWarning: invalid escape sequence",
            "src/lib.rs:1:1: warning: unused import",
            "error: could not compile `a`",
            "warning: unused variable: `x`",
            "go: updates to go.mod needed",
            "go: cannot find main module",
            "Success",
            "note",
        ] {
            assert!(!is_note(line), "{line}");
            assert!(!is_crash(line), "{line}");
            assert_eq!(lines(line, None).collect::<Vec<_>>(), [line]);
        }
    }

    #[test]
    fn a_warning_about_installed_code_goes_with_its_source_line() {
        let text =
            "/usr/lib/python3.11/site-packages/a.py:7: DeprecationWarning: old\n  import imp\n  a.py:1: x\n";
        assert_eq!(lines(text, None).collect::<Vec<_>>(), ["  a.py:1: x"]);
        assert_eq!(switch::without_notes(|| lines(text, None).count()), 3, "each is read without it");
    }

    #[test]
    fn of_a_line_that_was_overwritten_the_last_text_counts() {
        assert_eq!(lines(" 10%\r100%\ra.py:1: x\r\nb\n", None).collect::<Vec<_>>(), ["a.py:1: x", "b"]);
    }
}
