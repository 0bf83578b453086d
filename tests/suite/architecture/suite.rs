//! Every file of the suite is in the binary that is run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::reading::{rust_files, uncommented};

#[test]
fn no_file_of_the_suite_is_forgotten() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let files: BTreeMap<PathBuf, String> = rust_files("tests").into_iter().collect();
    let forgotten = forgotten(&home, &files);
    assert!(forgotten.is_empty(), "files of tests that no test binary has: {forgotten:?}");
}

/// The files that their module does not name. With `autotests = false` also those that stand beside `all.rs`.
fn forgotten(home: &Path, files: &BTreeMap<PathBuf, String>) -> Vec<PathBuf> {
    let is_program =
        |path: &Path| ["all.rs", "markdown_cases.rs"].iter().any(|name| *path == home.join(name));
    let is_known = |path: &Path| is_program(path) || names(module_of(home, path, files), path);
    files.keys().filter(|path| !is_known(path)).cloned().collect()
}

/// The text of the module that has to name a file.
fn module_of<'a>(home: &Path, path: &Path, files: &'a BTreeMap<PathBuf, String>) -> Option<&'a str> {
    let is_folder = path.file_name().is_some_and(|name| name == "mod.rs");
    let folder = path.ancestors().nth(if is_folder { 2 } else { 1 })?;
    let places = if folder == home.join("suite") {
        [home.join("all.rs"), PathBuf::new()]
    } else {
        [folder.with_extension("rs"), folder.join("mod.rs")]
    };
    places.iter().find_map(|place| files.get(place)).map(String::as_str)
}

/// True if a module names a file.
fn names(module: Option<&str>, path: &Path) -> bool {
    let stem = if path.ends_with("mod.rs") { path.parent().unwrap() } else { path };
    let name = stem.file_stem().unwrap().to_string_lossy();
    module.is_some_and(|text| {
        uncommented(text).lines().any(|line| {
            let line = line.trim_start();
            let line = line.strip_prefix("pub ").unwrap_or(line);
            line.strip_prefix("mod ").is_some_and(|rest| rest == format!("{name};"))
        })
    })
}

/// The positive control: forgotten files are found at each depth, and no others.
#[test]
fn a_forgotten_file_is_detected() {
    let home = Path::new("tests");
    let text = |path: &str, text: &str| (home.join(path), text.to_owned());
    let files = BTreeMap::from([
        text("all.rs", "mod suite {\n    mod store;\n    // mod regex;\n    mod tools;\n}"),
        text("beside.rs", ""),
        text("suite/store.rs", "pub mod deep;\nmod not_it;"),
        text("suite/store/deep.rs", "mod one;"),
        text("suite/store/it.rs", ""),
        text("suite/store/not_it.rs", ""),
        text("suite/store/deep/one.rs", ""),
        text("suite/store/deep/two.rs", ""),
        text("suite/regex.rs", ""),
        text("suite/tools/mod.rs", "mod known;"),
        text("suite/tools/known.rs", ""),
        text("suite/tools/lost.rs", ""),
        text("suite/nobody/lost.rs", ""),
    ]);
    let found = forgotten(home, &files);
    let found: Vec<_> = found.iter().map(|path| path.strip_prefix(home).unwrap().to_str().unwrap()).collect();
    assert_eq!(
        found,
        [
            "beside.rs",
            "suite/nobody/lost.rs",
            "suite/regex.rs",
            "suite/store/deep/two.rs",
            "suite/store/it.rs",
            "suite/tools/lost.rs",
        ]
    );
}
