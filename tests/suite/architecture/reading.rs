//! Reads the sources, and the rules in docs/architecture.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

/// A source file of the package.
pub struct Source {
    /// Its path: its crate, then the path under the crate's `src`, with `mod.rs` for `lib.rs`. The program has its folders
    /// for crates.
    pub path: String,
    /// Its text without comments.
    pub code: String,
    /// Its lines up to its tests.
    pub lines: Vec<String>,
    /// True if it holds nothing but tests.
    pub is_test: bool,
}

impl Source {
    /// The crate that it belongs to, without `lockgate-`.
    pub fn krate(&self) -> &str {
        let first = self.path.split('/').next().unwrap_or("");
        first.strip_suffix(".rs").unwrap_or(first)
    }

    /// The code up to its tests.
    pub fn without_tests(&self) -> String {
        uncommented(&self.lines.join("\n"))
    }
}

/// Every Rust file below a folder of the package, with its text.
pub fn rust_files(home: &str) -> Vec<(PathBuf, String)> {
    let mut texts = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(home)];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                texts.push((path, text));
            }
        }
    }
    texts.sort();
    texts
}

/// Every source file of the program and of the crates.
pub fn sources() -> Vec<Source> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut texts: Vec<(PathBuf, String)> = [rust_files("src"), rust_files("crates")].concat();
    texts.retain(|(path, _)| path.iter().any(|part| part == "src"));
    let tests: BTreeSet<PathBuf> = texts.iter().flat_map(|(path, text)| test_files(path, text)).collect();
    assert!(texts.len() > 40, "only {} files were found", texts.len());
    let place = |path: &Path| {
        let path = path.strip_prefix(home).unwrap().display().to_string();
        match path.strip_prefix("crates/") {
            Some(rest) => rest.replacen("/src/lib.rs", "/mod.rs", 1).replacen("/src/", "/", 1),
            None => path.trim_start_matches("src/").to_owned(),
        }
    };
    let source = |(path, text): &(PathBuf, String)| Source {
        path: place(path),
        code: uncommented(text),
        lines: without_test_items(text),
        is_test: tests.iter().any(|test| path == test || path.starts_with(test.with_extension(""))),
    };
    texts.iter().map(source).collect()
}

/// The lines of a formatted text without the items that exist in tests only.
pub fn without_test_items(text: &str) -> Vec<String> {
    let (mut kept, mut lines) = (Vec::new(), text.lines());
    while let Some(line) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            kept.push(line.to_owned());
            continue;
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        // The first line of the item comes after its other attributes.
        let mut item = lines.find(|line| !line.trim_start().starts_with("#["));
        let is_end = |line: &str| {
            let ends_item = |end| line.strip_prefix(indent).is_some_and(|line| line.starts_with(end));
            line.ends_with([';', ',']) && line.strip_prefix(indent).is_some_and(|rest| !rest.starts_with(' '))
                || line.ends_with(" {}")
                || ends_item('}')
        };
        while item.is_some_and(|line| !is_end(line)) {
            item = lines.next();
        }
    }
    kept
}

/// The files that a file declares as modules for tests only.
pub fn test_files(path: &Path, text: &str) -> Vec<PathBuf> {
    static DECLARED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"#\[cfg\(test\)\]\s*(?:#\[path = "([^"]+)"\]\s*)?mod (\w+);"#).unwrap()
    });
    let folder = path.parent().unwrap();
    let is_root =
        path.file_name().is_some_and(|name| name == "mod.rs" || name == "lib.rs" || name == "main.rs");
    let inner = if is_root { folder.to_owned() } else { path.with_extension("") };
    let file = |found: regex::Captures<'_>| match found.get(1) {
        Some(given) => folder.join(given.as_str()),
        None => inner.join(format!("{}.rs", &found[2])),
    };
    DECLARED.captures_iter(text).map(file).collect()
}

/// A text without its line comments.
pub fn uncommented(text: &str) -> String {
    let code = |line: &str| !line.trim_start().starts_with("//");
    text.lines().filter(|line| code(line)).collect::<Vec<_>>().join("\n")
}

/// The members of a group of imports, up to its closing brace.
fn group_members(group: &str) -> Vec<String> {
    let mut members = vec![String::new()];
    let mut depth = 0;
    for c in group.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                members.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(member) = members.last_mut() {
            member.push(c);
        }
    }
    members
}

/// The table of docs/architecture.md: the crates that each crate depends on, without `lockgate-`.
pub fn table() -> BTreeMap<String, BTreeSet<String>> {
    let rows = page()
        .lines()
        .skip_while(|line| !line.starts_with("| crate | depends on |"))
        .skip(2)
        .map(str::to_owned)
        .collect::<Vec<_>>();
    let rows = rows.iter().take_while(|line| line.starts_with('|'));
    let read = |row: &String| {
        let mut cells = row.trim_matches('|').splitn(2, '|').map(|cell| cell.replace('`', ""));
        let module = cells.next().unwrap_or_default().trim().to_owned();
        let uses = cells.next().unwrap_or_default();
        (module, uses.split(',').map(|used| used.trim().to_owned()).filter(|used| !used.is_empty()).collect())
    };
    let table: BTreeMap<String, BTreeSet<String>> = rows.map(read).collect();
    assert!(table.len() > 8, "docs/architecture.md has no table `| crate | depends on |`");
    table
}

/// The dependencies among the crates of the workspace, without `lockgate-`, as their manifests have them.
pub fn manifests() -> BTreeMap<String, BTreeSet<String>> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = vec![
        ("lockgate".to_owned(), home.join("Cargo.toml")),
        ("gates".to_owned(), home.join("gates/Cargo.toml")),
    ];
    for entry in fs::read_dir(home.join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        files.push((name, folder.join("Cargo.toml")));
    }
    let line = Regex::new(r"(?m)^lockgate-([\w-]+)\.workspace").unwrap();
    let read = |(name, path): (String, PathBuf)| {
        let text = fs::read_to_string(path).unwrap();
        let section =
            text.split("\n[dependencies]").nth(1).unwrap_or_default().split("\n[").next().unwrap_or_default();
        (name, line.captures_iter(section).map(|found| found[1].to_owned()).collect())
    };
    files.into_iter().map(read).collect()
}

/// The places that docs/architecture.md calls pure, as paths under `src` without `.rs`.
pub fn pure_modules() -> Vec<String> {
    let page = page();
    let Some(sentence) = page.split("\n\n").find(|text| text.contains("are **pure**")) else {
        return Vec::new();
    };
    let names = sentence.split("are **pure**").next().unwrap_or_default();
    let quoted = Regex::new("`([^`]+)`").unwrap();
    let mut places = Vec::new();
    for name in quoted.captures_iter(names).map(|found| found[1].to_owned()) {
        match name.split_once("::{") {
            None => places.push(name.replace("::", "/")),
            Some((module, group)) => {
                places.extend(
                    group.trim_end_matches('}').split(',').map(|part| format!("{module}/{}", part.trim())),
                );
            }
        }
    }
    places
}

fn page() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/architecture.md")).unwrap()
}

/// The modules of a crate, by their paths without `::mod`, each with the modules of this crate that its code imports. An import through a parent's `pub use` counts for the module that defines the name.
pub fn imports(part: &str, sources: &[Source]) -> BTreeMap<String, BTreeSet<String>> {
    let start = format!("{part}/");
    let files = sources.iter().filter(|source| !source.is_test && source.path.starts_with(&start));
    let mut uses: BTreeMap<String, Vec<Import>> = BTreeMap::new();
    for source in files {
        let path = source.path.trim_start_matches(&start).trim_end_matches(".rs");
        let module = if path == "mod" { "" } else { path.trim_end_matches("/mod") }.replace('/', "::");
        uses.insert(module, imports_of(&source.without_tests()));
    }
    let names: BTreeSet<&String> = uses.keys().collect();
    let absolute = |module: &str, path: &[String]| -> Option<Vec<String>> {
        let mut base: Vec<String> =
            module.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => {
                base.clear();
                // The program's folders are parts of one crate.
                let is_program = path.get(1).is_some_and(|name| name == part);
                rest = path.get(if is_program { 2 } else { 1 }..)?;
            }
            "self" => rest = path.get(1..)?,
            "super" => {
                while rest.first().is_some_and(|name| name == "super") {
                    base.pop()?;
                    rest = rest.get(1..)?;
                }
            }
            first => {
                let child = [base.join("::"), first.to_owned()].join("::");
                names.contains(&child.trim_start_matches("::").to_owned()).then_some(())?;
            }
        }
        base.extend(rest.iter().cloned());
        Some(base)
    };
    let exported: BTreeMap<(String, String), Vec<String>> = uses
        .iter()
        .flat_map(|(module, imports)| imports.iter().map(move |import| (module, import)))
        .filter(|(_, import)| import.is_exported)
        .filter_map(|(module, import)| {
            Some(((module.clone(), import.path.last()?.clone()), absolute(module, &import.path)?))
        })
        .collect();
    let defining = |path: &[String]| -> String {
        let (mut module, mut rest) = (String::new(), path.to_vec());
        for _ in 0..20 {
            let Some(first) = rest.first().cloned() else { break };
            let child = if module.is_empty() { first.clone() } else { format!("{module}::{first}") };
            if names.contains(&child) {
                module = child;
                rest.remove(0);
            } else if let Some(target) = exported.get(&(module.clone(), first)) {
                rest = target.iter().cloned().chain(rest.into_iter().skip(1)).collect();
                module = String::new();
            } else {
                break;
            }
        }
        module
    };
    uses.iter()
        .map(|(module, imports)| {
            let of_children =
                |target: &String| module.is_empty() || target.starts_with(&format!("{module}::"));
            let targets = imports.iter().filter_map(|import| {
                let target = defining(&absolute(module, &import.path)?);
                (target != *module && !(import.is_exported && of_children(&target))).then_some(target)
            });
            (module.clone(), targets.collect())
        })
        .collect()
}

/// An import: its path, and true if it is exported again.
struct Import {
    path: Vec<String>,
    is_exported: bool,
}

/// The `use` declarations of a code, with groups resolved, and the paths in it that begin with `super`, `crate`, an imported
/// module or a child module.
fn imports_of(code: &str) -> Vec<Import> {
    // A visibility names a module without using it.
    static VISIBILITY: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"pub\(in [^)]*\)").unwrap());
    let code = &*VISIBILITY.replace_all(code, "pub(crate)");
    static DECLARATION: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?s)\b(pub(?:\([^)]*\))? )?use ([^;]+);").unwrap());
    static INLINE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\b(?:crate::|(?:super::)+)\w+(?:::\w+)*").unwrap());
    let mut imports = Vec::new();
    let mut other = code.to_owned();
    for found in DECLARATION.captures_iter(code) {
        let tree: String = found[2].split_whitespace().collect::<Vec<_>>().join(" ");
        other = other.replace(&found[0], "");
        for path in expanded(&tree) {
            let path = path.split(" as ").next().unwrap_or_default();
            let path = path.split("::").map(|name| name.trim().to_owned()).collect();
            imports.push(Import { path, is_exported: found.get(1).is_some() });
        }
    }
    let paths = INLINE.find_iter(&other);
    let mut inline: Vec<Vec<String>> =
        paths.map(|found| found.as_str().split("::").map(str::to_owned).collect()).collect();
    static IN_MODULE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?:^|[^\w:])([a-z_]\w*)::(\w+)").unwrap());
    for found in IN_MODULE.captures_iter(&other) {
        let imported = imports.iter().find(|import| import.path.last().is_some_and(|name| *name == found[1]));
        let module = imported.map_or_else(|| vec![found[1].to_owned()], |import| import.path.clone());
        inline.push(module.into_iter().chain([found[2].to_owned()]).collect());
    }
    imports.extend(inline.into_iter().map(|path| Import { path, is_exported: false }));
    imports
}

/// The paths of a tree of imports.
fn expanded(tree: &str) -> Vec<String> {
    match tree.split_once('{') {
        None => vec![tree.trim().to_owned()],
        Some((start, group)) => group_members(group)
            .iter()
            .filter(|member| !member.trim().is_empty())
            .flat_map(|member| expanded(member.trim()))
            .map(|path| format!("{}{path}", start.trim()))
            .map(|path| path.trim_end_matches("::self").to_owned())
            .collect(),
    }
}

/// The modules of which each imports the others, directly or not; empty if there is none.
pub fn import_cycle(imports: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<String> {
    let reached = |start: &String| {
        let mut reached = BTreeSet::new();
        let mut open: Vec<&String> = imports.get(start).into_iter().flatten().collect();
        while let Some(module) = open.pop() {
            if reached.insert(module) {
                open.extend(imports.get(module).into_iter().flatten());
            }
        }
        reached
    };
    imports.keys().filter(|module| reached(module).contains(module)).cloned().collect()
}
