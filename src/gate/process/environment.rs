//! The environment of a gate's program: what a tool needs to find its things, and nothing of what the caller keeps in
//! its own, where the keys of services lie.
//!
//! Invariant: of the caller's variables only those in [`KEPT`] reach a program.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Kept when they name something by an absolute path: what is relative would mean another place in each folder.
const KEPT_PLACES: [&str; 14] = [
    // Where a tool's configuration, and its cache by default, lie.
    "HOME",
    // The same, where the XDG Base Directory Specification is followed.
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    // Where compilers, their modules and their caches lie when not below the home, as in many container images.
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOROOT",
    "GOPATH",
    "GOMODCACHE",
    "GOCACHE",
    "JAVA_HOME",
    // Where there is room for temporary files.
    "TMPDIR",
    // Of its entries, the absolute ones: the programs that tools start themselves.
    "PATH",
];

/// Kept as they are: programs that ask for the user's name find no other where there is no passwd entry.
const KEPT_NAMES: [&str; 2] = ["USER", "LOGNAME"];

/// Said to every program, each for the reason above it.
///
/// Not among them: `CI`, which changes what some tools judge, and `GOFLAGS=-mod=readonly`, which is go's own default
/// but for projects with a `vendor` folder, which it would break.
const SAID: [(&str, &str); 20] = [
    // Messages in English and text in UTF-8, whatever the caller speaks.
    ("LANG", "C.UTF-8"),
    ("LC_ALL", "C.UTF-8"),
    // No colours, no cursor movements: https://no-color.org, terminfo(5).
    ("NO_COLOR", "1"),
    ("TERM", "dumb"),
    // The folder of the project is not put before Python's own modules, so that a file named `json.py` is not run.
    ("PYTHONSAFEPATH", "1"),
    // A gate writes nothing into the project, no `__pycache__` either.
    ("PYTHONDONTWRITEBYTECODE", "1"),
    // Python reads and writes UTF-8, for versions in which it does not by itself.
    ("PYTHONUTF8", "1"),
    // Sets are gone through in the same order each time, so that a tool's findings are, too.
    ("PYTHONHASHSEED", "0"),
    // A `toolchain` line in go.mod or a rust-toolchain.toml downloads no compiler.
    ("GOTOOLCHAIN", "local"),
    ("RUSTUP_AUTO_INSTALL", "0"),
    // No module and no crate is downloaded: a gate that needs one fails instead. `GONOPROXY` names modules that go
    // fetches past `GOPROXY=off`, and `none` says that there are none: https://go.dev/ref/mod#environment-variables
    ("GOPROXY", "off"),
    ("GONOPROXY", "none"),
    ("CARGO_NET_OFFLINE", "true"),
    // Warnings of Node.js about itself are no findings.
    ("NODE_NO_WARNINGS", "1"),
    // No question about newer versions, and no counting of users.
    ("NO_UPDATE_NOTIFIER", "1"),
    ("NPM_CONFIG_UPDATE_NOTIFIER", "false"),
    ("DO_NOT_TRACK", "1"),
    // A git that a tool starts asks nobody for a password, and takes no lock only to refresh its index.
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    // Nothing waits for a reader.
    ("PAGER", "cat"),
];

/// The variable that holds a run's mark, by which its descendants are known.
pub(super) const MARK: &str = "LOCKGATE_GATE";

/// Gives the environment of a program: what is kept of the caller's, what every program is told, what its cage says or
/// takes away, what this one is told, and the mark. Of two with the same name the later counts.
pub(super) fn environment(
    cage: &[(OsString, Option<OsString>)],
    own: &[(OsString, OsString)],
    mark: &str,
) -> Vec<(OsString, OsString)> {
    let said = SAID.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let mark = (OsString::from(MARK), OsString::from(mark));
    let unsaid = |name: &OsString| cage.iter().any(|(known, value)| known == name && value.is_none());
    let kept = kept(|name| env::var_os(name)).into_iter().filter(|(name, _)| !unsaid(name));
    let caged = cage.iter().filter_map(|(name, value)| Some((name.clone(), value.clone()?)));
    kept.chain(said).chain(caged).chain(own.iter().cloned()).chain([mark]).collect()
}

/// The home of the caller, when it is named by an absolute path.
pub(super) fn home() -> Option<PathBuf> {
    env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute())
}

fn kept(caller: impl Fn(&str) -> Option<OsString>) -> Vec<(OsString, OsString)> {
    let names = KEPT_NAMES.iter().map(|name| (name, caller(name)));
    let places = KEPT_PLACES.iter().map(|name| (name, caller(name).and_then(|value| absolute(&value))));
    names.chain(places).filter_map(|(name, value)| Some((name.into(), value?))).collect()
}

/// The absolute ones of one path or several.
fn absolute(paths: &OsStr) -> Option<OsString> {
    let paths: Vec<_> = env::split_paths(paths).filter(|path| Path::is_absolute(path)).collect();
    env::join_paths(&paths).ok().filter(|joined| !joined.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept_of(caller: &[(&str, &str)]) -> Vec<(String, String)> {
        let ours =
            |name: &str| caller.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
        let text = |text: OsString| text.into_string().unwrap();
        kept(ours).into_iter().map(|(name, value)| (text(name), text(value))).collect()
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn only_absolute_places_are_kept() {
        assert_eq!(
            kept_of(&[("PATH", ".:/bin::bin:/usr/bin"), ("HOME", "me"), ("TMPDIR", ""), ("USER", "me")]),
            [pair("USER", "me"), pair("PATH", "/bin:/usr/bin")]
        );
        assert_eq!(kept_of(&[("PATH", "."), ("HOME", "/me")]), [pair("HOME", "/me")]);
    }

    #[test]
    fn nothing_else_is_kept() {
        let secrets = ["GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "VIRTUAL_ENV", "PYTHONPATH", "LD_PRELOAD"];
        assert_eq!(kept_of(&secrets.map(|name| (name, "/x"))), []);
    }

    #[test]
    fn what_a_gate_says_of_its_own_counts_but_not_for_the_mark() {
        let own = [("TERM", "x"), (MARK, "y"), ("OWN", "z")].map(|(name, value)| (name.into(), value.into()));
        let made = environment(&[], &own, "the mark");
        let last = |name: &str| {
            let found = made.iter().rev().find(|(known, _)| known == name);
            found.map(|(_, value)| value.to_str().unwrap())
        };
        assert_eq!([last("TERM"), last(MARK), last("OWN")], [Some("x"), Some("the mark"), Some("z")]);
        assert_eq!(last("LANG"), Some("C.UTF-8"));
    }

    #[test]
    fn what_a_cage_takes_away_is_not_there_and_a_gate_may_say_it_again() {
        let cage = [("PATH", None), ("TERM", None), ("TMPDIR", Some("/tmp")), ("OWN", Some("a"))]
            .map(|(name, value)| (OsString::from(name), value.map(OsString::from)));
        let made = environment(&cage, &[("OWN".into(), "b".into())], "");
        let all = |name: &str| made.iter().filter(|(known, _)| known == name).count();
        assert_eq!([all("PATH"), all("OWN")], [0, 2]);
        assert_eq!(made.iter().rev().find(|(name, _)| name == "OWN").unwrap().1, "b");
        assert!(made.contains(&("TMPDIR".into(), "/tmp".into())));
    }
}
