//! Every key that a policy and the definition of a gate may have, in one table.
//!
//! From it come the keys that are known where a text is read, the JSON Schema, and the table of docs/policy.md.
//!
//! Invariant: what stands here is read, checked and kept; what a later version will keep stands here with the one value
//! that asks for nothing.

use super::damage::WEIGHTS;
use super::definition::{COLUMNS, IN_STEPS, INPUTS, MANAGERS, ROLES, SCOPES, STREAMS};
use super::demands::{CONFIRMED, GUARDED, INTERACTIVE, RUN};
use super::hooks::{AT_RISK, CLINE, DRIFTED, FAILED};
use super::isolation::ISOLATIONS;
use super::paths::ACCESS;
use super::publishing::{DURABILITIES, HARD_LINKED};
use super::rule::{BASELINES, FIX_SCOPES, LEVELS, PROFILES};
use super::served::{BESIDE, SERVED, SERVER_KIND};
use super::severity::SEVERITIES;
use super::source::EXTENDS;
use super::value_shape::Absent::{Described, Is, Refused};
use super::value_shape::ValueShape::{
    Age, ByLanguage, ByName, Duration, Either, Flag, Glob, Language, List, Map, Regex, Size, Text, Tool,
    Whole, Words,
};
use super::value_shape::{Range, Setting, ValueShape, words};

/// The largest file that a policy may admit: offsets in a file fit 32 bits.
pub(super) const FILE: Range =
    Range { min: 1, max: (4 << 30) - 1, description: "at least 1 byte and less than 4GiB" };
pub(super) const WAIT: Range = Range { min: 0, max: 3_600_000, description: "at most 60m" };
pub(super) const TIME: Range = Range { min: 1, max: 3_600_000, description: "at least 1ms and at most 60m" };
/// Below the shortest limit that hosts have for a hook, by default 30 seconds.
pub(super) const DEADLINE: Range =
    Range { min: 100, max: 600_000, description: "at least 100ms and at most 10m" };
pub(super) const STEPS: Range =
    Range { min: 1_000, max: 1_000_000_000, description: "from 1000 to 1000000000" };
pub(super) const JOURNAL: Range = Range { min: 0, max: 1 << 40, description: "at most 1024GiB" };
pub(super) const JOURNAL_AGE: Range = Range { min: 0, max: 3650 * 86_400_000, description: "at most 3650d" };
pub(super) const EXIT: Range = Range { min: 0, max: 255, description: "from 0 to 255" };
/// A place in a text, counted from 1.
pub(super) const COUNT: Range = Range { min: 1, max: u32::MAX as u64, description: "at least 1" };

/// The toolsets that there are.
pub(super) const TOOLSETS: [&str; 9] =
    ["edit", "look", "text", "code", "ai", "content", "history", "legacy", "all"];

/// Declares tables: key, what may stand there, what holds without it, what it says.
macro_rules! tables {
    ($($(#[$about:meta])* $table:ident { $($name:literal: $shape:expr, $absent:expr => $meaning:literal;)* })*) => {
        $($(#[$about])* pub(in crate::policy) const $table: &[Setting] = &[
            $(Setting { name: $name, shape: $shape, absent: $absent, meaning: $meaning },)*
        ];)*
    };
}

mod entity;
mod pattern;

pub(super) use self::entity::ENTITY;
pub(super) use self::pattern::{DEMAND, LAYOUT, PATTERN, QUERY};
pub(super) use tables;

tables! {
    /// The keys at the top level of a policy.
    POLICY {
        "extends": Words(&words(&EXTENDS)), Described("nothing: the policy stands alone")
            => "the base of this policy: the next policy above its folder, or the built-in one";
        "quality_gates": ByLanguage(&List(&Map(&[RULE]), 1)), Described("those of the built-in policy")
            => "the gates for the files of each language, in this order";
        "define": ByName("^[a-z0-9][a-z0-9_-]{0,63}$", &DEFINITION), Is("{}")
            => "definitions of custom gates, by name";
        "baseline": Words(&words(&BASELINES)), Is("new")
            => "which findings count; each word includes those of the words before it";
        "paths": List(&Map(&[PATH]), 0), Is("[]") => "rules for single paths";
        "limits": Map(&[LIMITS]), Is("{}") => "limits of size and time";
        "modes": Map(&[MODES]), Is("{}") => "the modes that requests may have";
        "guards": Map(&[GUARDS]), Is("{}") => "what a request must state about the file that it changes";
        "validate_commands": List(&List(&Text, 1), 0), Is("[]")
            => "commands that `validate_command` of a request may name, each as a list of words; a failing command rejects the edit";
        "server": Map(&[SERVER]), Is("{}") => "what `lockgate serve` offers";
        "hooks": Map(&[HOOKS]), Is("{}") => "how `lockgate hook` guards the edit tools of an agent's host";
        "damage": Map(&[DAMAGE]), Is("{}") => "what the findings of each rule of the gate `damage` do: `block`, `warn`, or `off`";
        "confirm": Words(&words(&CONFIRMED)), Is("never")
            => "when a person must confirm a write: `risky` is a removal, a file that shrinks to under a quarter, or findings in `interactive` that would reject the edit in `strict`";
        "runnable": Words(&words(&RUN)), Is("ask")
            => "how to treat a write to a file that starts a program when a person opens or uses the folder, such as `.githooks/pre-commit`: `ask` a person, `refuse` it, or `allow` it";
        "require_isolation": Words(&words(&ISOLATIONS)), Is("none")
            => "the minimum sandbox for the programs of gates; they do not run where it is unavailable";
        "durability": Words(&words(&DURABILITIES)), Is("full")
            => "what is synced to disk before an edit returns: `full`: the file, its folder and the journal; `process`: the file alone";
        "hard_links": Words(&words(&HARD_LINKED)), Is("refuse")
            => "how to treat a hard-linked file: `split` gives the edited name its own file, `in_place` writes all names";
        "never_journal": List(&Glob, 0), Is("[]")
            => "files whose text is not journaled, in addition to secrets such as `.env*`; edits of them cannot be undone";
        "entities": ByName("^[a-z0-9_]{1,40}$", &Map(&[ENTITY])), Is("{}")
            => "entity types in addition to `app_file`, `workflow` and `module`, by name; only in the policy at the top of the first root";
    }
    /// One entry of a list of `quality_gates`.
    RULE {
        "tool": Tool, Refused => "the name of the gate";
        "enabled": Flag, Is("true") => "`false`: the gate does not run here, and is reported as skipped";
        "level": Words(&words(&LEVELS)), Is("block")
            => "`block`: a finding that counts rejects the edit; `warn`: it is only reported";
        "fail_on": Words(&words(&SEVERITIES)), Is("error") => "the lowest severity that rejects an edit at `level: block`";
        "on": List(&Words(&words(&PROFILES)), 1), Is("[edit, check]")
            => "when the gate runs: for an edit, for a check of existing files";
        "args": List(&Text, 0), Is("[]") => "additional arguments of the gate's command";
        "timeout": Duration(TIME), Described("that of the gate")
            => "the timeout of one run, further limited by the rest of `limits.total`";
        "required": Flag, Is("false")
            => "`true`: a gate that is not trusted, unavailable, broken or timed out rejects the edit in `strict`";
        "role": Words(&words(&ROLES)), Described("that of the gate")
            => "`fix`: the gate fixes the draft before the checks run; only for a gate that returns formatted text";
        "scope": Words(&words(&FIX_SCOPES)), Is("edit")
            => "with `role: fix`: `edit`: in a file that was not formatted before, the gate changes only the edited lines and what depends on them; `file`: it changes the whole file";
    }
    /// The keys of each entry in `paths`.
    PATH {
        "match": Glob, Refused => "the files to which the entry applies";
        "access": Words(&words(&ACCESS)), Described("that of the entries before, else `write`")
            => "`read`: every edit of such a file is rejected with `PROTECTED`";
        "gates": List(&Tool, 0), Described("those of the entries before, else those of the language")
            => "the only gates for such a file, in this order";
    }
    LIMITS {
        "file": Size(FILE), Is("10MiB") => "the largest file that is read or written";
        "lock_wait": Duration(WAIT), Is("20s") => "the longest wait for another edit of the same file";
        "total": Duration(TIME), Is("20s") => "the timeout of all gates of one edit together";
        "regex_steps": Whole(STEPS), Is("40000000")
            => "the most steps of the pattern of one edit; 40000000 take about 300 ms";
        "journal": Size(JOURNAL), Is("256MiB") => "the largest size of the journal of a root; the oldest edits are removed first";
        "journal_age": Age(JOURNAL_AGE), Is("30d") => "how long an edit stays in the journal";
    }
    MODES {
        "interactive": Words(&words(&INTERACTIVE)), Is("allow")
            => "`deny`: a request with `mode: interactive` is rejected with `INVALID_INPUT`";
    }
    GUARDS {
        "line_edits": Words(&words(&GUARDED)), Is("optional")
            => "`required`: `line_edits` and `insert_lines` need `expected_version`, or `expect` in each edit";
        "overwrite": Words(&words(&GUARDED)), Is("optional")
            => "`required`: `content` for an existing file, and deleting it, need `expected_version`";
    }
    SERVER {
        "tools": List(&Words(&TOOLSETS), 1), Is("[edit, text, look]")
            => "the toolsets without `--tools`; only in the policy at the top of the first root";
    }
    /// The guard of the edit tools of an agent's host.
    HOOKS {
        "drift": Words(&words(&DRIFTED)), Is("rewrite")
            => "a quote that differs from the file and matches in one place: `rewrite`: the call gets the exact quote, if the host accepts that; `keep`: the call stays as it is";
        "bytes": Words(&words(&AT_RISK)), Described("`deny` if the client's configuration has lockgate's server, else `report`")
            => "an edit whose tool would change bytes outside of it, such as line ends: `deny`: it is denied, with the call that keeps them; `report`: it passes, and the model is told; `report` counts only in a trusted policy";
        "fail": Words(&words(&FAILED)), Is("open")
            => "an edit that could not be judged in time, or because of an error: `open`: it passes; `closed`: it is denied";
        "deadline": Duration(DEADLINE), Is("25s") => "the longest time for one answer; it must be below the host's own limit, which is 30s or more; another value than the default counts only in a trusted policy";
        "cline": Words(&words(&CLINE)), Is("warn")
            => "a bad edit in Cline: `warn`: it passes, and the model is told; `cancel`: the call is cancelled, which ends the task";
    }
    /// The rules of the gate `damage`.
    DAMAGE {
        "line_prefixes": WEIGHT, Is("block") => "line numbers or diff marks in front of new lines";
        "elided_code": WEIGHT, Is("block") => "a placeholder such as `... rest of code unchanged`";
        "conflict_markers": WEIGHT, Is("block") => "conflict markers";
        "doubled_lines": WEIGHT, Is("warn") => "a duplicated line at the edge of the edit";
        "shrunk_file": WEIGHT, Is("warn") => "a file that shrank to under a quarter";
        "typographic_quotes": WEIGHT, Is("block") => "new typographic quotes in code";
        "escaped_newlines": WEIGHT, Is("block") => "escaped newlines written as text";
        "tabs_to_spaces": WEIGHT, Is("warn") => "tabs turned to spaces";
        "lost_decorators": WEIGHT, Is("warn") => "decorators or attributes lost above an edited symbol";
        "nul_bytes": WEIGHT, Is("block") => "NUL bytes";
        "lost_indentation": WEIGHT, Is("warn") => "a replaced line that is indented less than before, and so leaves its block";
        "used_definitions": WEIGHT, Is("warn") => "a removed definition that other files still use, by the index";
        "dropped_definitions": WEIGHT, Is("warn") => "definitions of an existing file that `content` lacks";
    }
    /// Every definition, whatever its kind.
    COMMON {
        "about": Text, Is("") => "what the gate is for, in one sentence";
        "languages": List(&Language, 1), Refused => "the languages that it supports";
        "role": Words(&words(&ROLES)), Is("check") => "whether it reports findings, or fixes them";
        "timeout": Duration(TIME), Is("5s") => "the timeout of one run";
        "transitional": Map(&[TRANSITIONAL]), Is("{}")
            => "patterns on `code message`: such new findings only warn in a single edit, unless the policy sets a `level`";
        "canary": Either(&[Text, Map(&[CANARY])]), Described("none") => "a text that no configuration lets pass";
        "in_steps": Words(&words(&IN_STEPS)), Described("what the policy says")
            => "in `edit_code`, whose edits are often one step of several, unless the policy sets a `role` or `level`: `fix`: it fixes the draft; `warn`: it does not block, and a note says so";
        "recorded": Text, Described("none") => "the tool and its version with which the samples were recorded";
        "samples": List(&Map(&[SAMPLE]), 0), Is("[]") => "texts with their expected findings";
    }
    SYNTAX_KIND { "kind": Words(&["syntax"]), Refused => "how the gate works"; }
    PATTERN_KIND { "kind": Words(&["pattern"]), Refused => "how the gate works"; }
    DAMAGE_KIND { "kind": Words(&["damage"]), Refused => "how the gate works"; }
    COMMAND_KIND { "kind": Words(&["command"]), Refused => "how the gate works"; }
    /// Definitions of the kind `command`.
    COMMAND {
        "command": List(&Text, 1), Refused => "`command`: the program and its arguments, without a shell";
        "input": Words(&words(&INPUTS)), Refused => "`command`: how the program gets the draft";
        "output": OUTPUT, Refused => "`command`: how its output is read";
        "bin": List(&Text, 1), Described("the program's name") => "`command`: where to look for the program";
        "path": List(&Words(&["{venv}/bin", "{node_modules}/.bin"]), 0), Is("[]")
            => "`command`: folders to put before its search path, if they exist";
        "cwd": List(&Text, 0), Is("[]")
            => "`command`: it runs in the nearest folder above the file that has one of these files, else in the root";
        "ran": List(&Whole(EXIT), 0), Is("[0, 1]") => "`command`: the exit codes after which its output is read";
        "unseen": Regex, Described("none") => "`command`: what it prints when it skipped the file";
        "missing": List(&Map(&[MISSING]), 0), Is("[]")
            => "`command`: what it prints when it fails because dependencies are missing on this machine";
        "packages": Map(&[PACKAGES]), Described("none")
            => "`command`: what it prints when it cannot find a package of npm or Python; counts if the project declares the package and it is not installed";
        "columns": Words(&words(&COLUMNS)), Is("characters") => "`command`: the unit of its columns";
        "scope": Words(&words(&SCOPES)), Is("file") => "`command`: what its result depends on";
        "config": List(&Text, 0), Is("[]")
            => "`command`: names of files whose text changes its result; `name#text` counts if the file contains that text";
        "unconfigured": Either(&[Words(&["skip"]), List(&Text, 0)]), Is("[]")
            => "`command`: without any `config` file it is skipped, or gets these arguments before those of `args`";
        "values": ByName("^[A-Za-z0-9_]+$", &Map(&[VALUE])), Is("{}")
            => "`command`: values from files of the project, filled in as `{name}`";
        "env": ByName("^[A-Za-z0-9_]+$", &Text), Is("{}") => "`command`: additional environment variables";
        "except": List(&Text, 0), Is("[]")
            => "`command`: names of files that it never checks; `*` matches any characters";
        "only": List(&Text, 0), Is("[]")
            => "`command`: names of the only files that it checks, with folders before them if it needs those";
        "network": Flag, Is("false") => "`command`: whether it may use the network";
        "probe": List(&Text, 0), Is("[]") => "`command`: the arguments that print its version";
        "install": List(&Text, 0), Is("[]") => "`command`: where to get it, as package URLs";
        "older": Map(&[OLDER]), Described("the same") => "`command`: how to run a program that is older than `command` requires";
    }
    PACKAGES {
        "manager": Words(&words(&MANAGERS)), Refused => "the package manager; the lock file selects the command";
        "findings": List(&Regex, 0), Is("[]")
            => "patterns on `code message` with a group `package`: such findings warn, and name the install command";
        "failures": List(&Regex, 0), Is("[]")
            => "patterns with a group `package` on what a failed run prints: the gate is `unavailable`, and names the command";
    }
    MISSING {
        "pattern": Regex, Refused => "what it prints, on stdout or stderr";
        "fetch": Text, Refused => "the command that fetches them, for the message";
    }
    OLDER {
        "than": Text, Refused => "the first version that supports `command`, as `1.24`; compared with the output of `probe`";
        "input": Words(&words(&INPUTS)), Refused => "how an older program gets the draft";
        "command": List(&Text, 1), Refused => "the same program, with the arguments for an older version";
    }
    CANARY {
        "append": Text, Described("none") => "an error that only the tool's own analysis finds, appended to the draft";
        "finds": Regex, Described("any") => "a pattern on `code message` of the finding there";
        "insert": Text, Described("none") => "what `append` needs, inserted after the match of `keep`";
        "keep": Regex, Described("nothing") => "the beginning of the draft to keep before `text`";
        "text": Text, Refused => "a text that fails under every configuration";
    }
    VALUE {
        "in": List(&Text, 1), Refused => "names of files; the nearest one above the file that has the value counts";
        "match": Regex, Refused => "the pattern of the value, as its only group";
        "default": Text, Refused => "the value if no file has it";
    }
    TRANSITIONAL {
        "always": List(&Regex, 0), Is("[]") => "in every single edit";
        "adding_imports": List(&Regex, 0), Is("[]") => "in a single edit that adds an import";
    }
    SAMPLE {
        "path": Text, Refused => "the path of the text";
        "draft": Text, Refused => "the text";
        "before": Text, Described("it is a new file") => "the text before; only in-process gates see it";
        "beside": List(&Text, 0), Is("[]") => "other paths that exist";
        "with": ByName("", &Text), Is("{}") => "other files with their texts";
        "output": Text, Described("none") => "what the program wrote to standard output";
        "errors": Text, Is("") => "what it wrote to standard error";
        "exit": Whole(EXIT), Is("0") => "its exit code";
        "finds": List(&Map(&[FOUND]), 0), Is("[]") => "every finding, in the order of the text";
    }
    FOUND {
        "line": Whole(COUNT), Refused => "its line";
        "column": Whole(COUNT), Described("any") => "its column";
        "code": Text, Described("any") => "its code";
        "severity": Words(&words(&SEVERITIES)), Described("any") => "its severity";
        "message": Text, Described("any") => "a part of its message";
    }
    /// The keys that every form of output accepts.
    SPOKEN {
        "from": Words(&words(&STREAMS)), Is("stdout") => "the stream that is read";
        "severity": Words(&words(&SEVERITIES)), Is("error") => "the severity of findings without one";
    }
    JSON { "json": Map(&[POINTERS]), Refused => "one JSON value, and where in it to find the parts of a finding"; }
    JSONL { "jsonl": Map(&[POINTERS]), Refused => "one JSON object per line, with the same keys; other lines may occur between them"; }
    SARIF { "sarif": Map(&[]), Refused => "SARIF 2.1.0"; }
    RDJSON { "rdjson": Map(&[]), Refused => "Reviewdog's format"; }
    LINES {
        "regex": Regex, Refused
            => "a regular expression whose matches are findings, with the groups `file`, `line`, `column`, `code`, `severity`, `message`";
        "ignore": Regex, Described("none") => "lines to ignore, in addition to the known notes of all programs";
    }
    EXITS {
        "text": Words(&["exit"]), Refused
            => "`exit`: an exit code other than 0 is a finding; `formatted`: it is the text as it should be";
        "message": Text, Described("the lines of the output that name a failure, and the last two") => "what the finding says";
    }
    FORMATTED {
        "text": Words(&["formatted"]), Refused
            => "`exit`: an exit code other than 0 is a finding; `formatted`: the output is the formatted text";
        "errors": Regex, Described("none") => "lines of standard error that say why there is no text";
    }
    POINTERS {
        "items": Text, Described("the value itself") => "the list of findings";
        "file": Text, Described("the edited file") => "the file";
        "line": Text, Refused => "the line";
        "column": Text, Described("none") => "the column";
        "code": Text, Described("none") => "the rule's name";
        "severity": Text, Described("that of `output`") => "its severity";
        "message": Text, Refused => "the message of the finding";
    }
}

/// The definition of a gate.
const DEFINITION: ValueShape = Either(&[
    Map(&[SYNTAX_KIND, COMMON]),
    Map(&[DAMAGE_KIND, COMMON]),
    Map(&[PATTERN_KIND, COMMON, PATTERN]),
    Map(&[COMMAND_KIND, COMMON, COMMAND]),
    Map(&[SERVER_KIND, COMMON, SERVED, COMMAND]),
    Map(&[SERVER_KIND, COMMON, SERVED, BESIDE]),
]);

const WEIGHT: ValueShape = Words(&words(&WEIGHTS));

const OUTPUT: ValueShape = Either(&[
    Map(&[JSON, SPOKEN]),
    Map(&[JSONL, SPOKEN]),
    Map(&[SARIF, SPOKEN]),
    Map(&[RDJSON, SPOKEN]),
    Map(&[LINES, SPOKEN]),
    Map(&[EXITS, SPOKEN]),
    Map(&[FORMATTED, SPOKEN]),
]);

/// Every key of a policy.
pub fn settings() -> &'static [Setting] {
    POLICY
}
