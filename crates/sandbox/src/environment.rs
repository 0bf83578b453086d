//! The environment of a gate's program: the variables that tools need, and none of the caller's others, which
//! may hold API keys.
//!
//! Invariant: of the caller's variables, only those in [`INHERITED_PATHS`] and [`INHERITED_NAMES`] reach a
//! program.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Inherited if the value is an absolute path: a relative one would depend on the working directory.
const INHERITED_PATHS: [&str; 14] = [
    // Tools keep their configuration here, and by default their cache.
    "HOME",
    // The same, for tools that follow the XDG Base Directory Specification.
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    // Compilers, their modules and their caches, if they are not below the home, as in many container images.
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOROOT",
    "GOPATH",
    "GOMODCACHE",
    "GOCACHE",
    "JAVA_HOME",
    // A folder with room for temporary files.
    "TMPDIR",
    // Only its absolute entries. Tools start other programs through it.
    "PATH",
];

/// Inherited unchanged: without a passwd entry, programs find the user's name nowhere else.
const INHERITED_NAMES: [&str; 2] = ["USER", "LOGNAME"];

/// Variables set for every program; the reason is above each.
///
/// Not included: `CI`, which changes the findings of some tools, and `GOFLAGS=-mod=readonly`, which is go's
/// default except in projects with a `vendor` folder, which it would break.
const FIXED: [(&str, &str); 20] = [
    // English messages and UTF-8 text, whatever the caller's locale.
    ("LANG", "C.UTF-8"),
    ("LC_ALL", "C.UTF-8"),
    // No colours, no cursor movements: https://no-color.org, terminfo(5).
    ("NO_COLOR", "1"),
    ("TERM", "dumb"),
    // Python does not search the project's folder before its own modules, so a file named `json.py` is not
    // run.
    ("PYTHONSAFEPATH", "1"),
    // Gates write nothing into the project, `__pycache__` included.
    ("PYTHONDONTWRITEBYTECODE", "1"),
    // Python reads and writes UTF-8, also in versions where that is not the default.
    ("PYTHONUTF8", "1"),
    // Sets have the same iteration order in each run, and so have a tool's findings.
    ("PYTHONHASHSEED", "0"),
    // A `toolchain` line in go.mod or a rust-toolchain.toml downloads no compiler.
    ("GOTOOLCHAIN", "local"),
    ("RUSTUP_AUTO_INSTALL", "0"),
    // No module and no crate is downloaded: a gate that needs one fails. `GONOPROXY` lists modules that go
    // fetches despite `GOPROXY=off`; `none` empties the list: https://go.dev/ref/mod#environment-variables
    ("GOPROXY", "off"),
    ("GONOPROXY", "none"),
    ("CARGO_NET_OFFLINE", "true"),
    // Warnings of Node.js about itself are not findings.
    ("NODE_NO_WARNINGS", "1"),
    // No update checks and no telemetry.
    ("NO_UPDATE_NOTIFIER", "1"),
    ("NPM_CONFIG_UPDATE_NOTIFIER", "false"),
    ("DO_NOT_TRACK", "1"),
    // A git that a tool starts asks for no password, and takes no lock just to refresh its index.
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    // No pager waits for input.
    ("PAGER", "cat"),
];

/// The variable with a run's mark, which identifies its descendants.
pub(super) const MARK: &str = "LOCKGATE_GATE";

/// Returns the environment of a program. In this order: the caller's inherited variables, the fixed ones,
/// those of the sandbox (`None` removes an inherited one), the program's own, and the mark. Of two with the
/// same name, the later counts.
pub(super) fn environment(
    sandbox_variables: &[(OsString, Option<OsString>)],
    own: &[(OsString, OsString)],
    mark: &str,
) -> Vec<(OsString, OsString)> {
    let fixed = FIXED.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let mark = (OsString::from(MARK), OsString::from(mark));
    let is_removed =
        |name: &OsString| sandbox_variables.iter().any(|(known, value)| known == name && value.is_none());
    let inherited_variables =
        inherited(|name| env::var_os(name)).into_iter().filter(|(name, _)| !is_removed(name));
    let added = sandbox_variables.iter().filter_map(|(name, value)| Some((name.clone(), value.clone()?)));
    inherited_variables.chain(fixed).chain(added).chain(own.iter().cloned()).chain([mark]).collect()
}

/// Returns the caller's home if `HOME` is an absolute path.
pub(super) fn home() -> Option<PathBuf> {
    env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute())
}

fn inherited(caller: impl Fn(&str) -> Option<OsString>) -> Vec<(OsString, OsString)> {
    let names = INHERITED_NAMES.iter().map(|name| (name, caller(name)));
    let paths = INHERITED_PATHS.iter().map(|name| (name, caller(name).and_then(|value| absolute(&value))));
    names.chain(paths).filter_map(|(name, value)| Some((name.into(), value?))).collect()
}

/// Returns the absolute entries of a path list.
fn absolute(paths: &OsStr) -> Option<OsString> {
    let paths: Vec<_> = env::split_paths(paths).filter(|path| Path::is_absolute(path)).collect();
    env::join_paths(&paths).ok().filter(|joined| !joined.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inherited_from(caller: &[(&str, &str)]) -> Vec<(String, String)> {
        let ours =
            |name: &str| caller.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
        let text = |text: OsString| text.into_string().unwrap();
        inherited(ours).into_iter().map(|(name, value)| (text(name), text(value))).collect()
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn only_absolute_folders_remain_in_the_search_path() {
        assert_eq!(
            inherited_from(&[
                ("PATH", ".:/bin::bin:/usr/bin"),
                ("HOME", "me"),
                ("TMPDIR", ""),
                ("USER", "me")
            ]),
            [pair("USER", "me"), pair("PATH", "/bin:/usr/bin")]
        );
        assert_eq!(inherited_from(&[("PATH", "."), ("HOME", "/me")]), [pair("HOME", "/me")]);
    }

    #[test]
    fn no_other_variable_is_inherited() {
        let secrets = ["GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "VIRTUAL_ENV", "PYTHONPATH", "LD_PRELOAD"];
        assert_eq!(inherited_from(&secrets.map(|name| (name, "/x"))), []);
    }

    #[test]
    fn what_a_gate_says_of_its_own_counts_but_not_for_the_mark() {
        let own = [("TERM", "x"), (MARK, "y"), ("OWN", "z")].map(|(name, value)| (name.into(), value.into()));
        let variables = environment(&[], &own, "the mark");
        let last = |name: &str| {
            let found = variables.iter().rev().find(|(known, _)| known == name);
            found.map(|(_, value)| value.to_str().unwrap())
        };
        assert_eq!([last("TERM"), last(MARK), last("OWN")], [Some("x"), Some("the mark"), Some("z")]);
        assert_eq!(last("LANG"), Some("C.UTF-8"));
    }

    #[test]
    fn what_a_sandbox_removes_is_absent_and_a_gate_may_set_it_again() {
        let sandbox_variables =
            [("PATH", None), ("TERM", None), ("TMPDIR", Some("/tmp")), ("OWN", Some("a"))]
                .map(|(name, value)| (OsString::from(name), value.map(OsString::from)));
        let variables = environment(&sandbox_variables, &[("OWN".into(), "b".into())], "");
        let all = |name: &str| variables.iter().filter(|(known, _)| known == name).count();
        assert_eq!([all("PATH"), all("OWN")], [0, 2]);
        assert_eq!(variables.iter().rev().find(|(name, _)| name == "OWN").unwrap().1, "b");
        assert!(variables.contains(&("TMPDIR".into(), "/tmp".into())));
    }
}
