//! Finds uninstalled packages of pip and similar package managers.

use std::fs;

use toml_edit::{Document, Item, TableLike, Value};

use super::draft_files::{DraftFiles, Uninstalled, join};
use crate::command::project::folders_above;

/// Manifests in which each line declares a package.
const REQUIREMENTS: [&str; 5] = [
    "requirements.txt",
    "requirements-dev.txt",
    "dev-requirements.txt",
    "requirements-test.txt",
    "test-requirements.txt",
];
/// The install commands, by the lock file of each package manager.
const LOCKS: [(&str, &str); 4] = [
    ("uv.lock", "uv sync --all-extras --all-groups"),
    ("poetry.lock", "poetry install --all-extras"),
    ("pdm.lock", "pdm install"),
    ("Pipfile.lock", "pipenv sync --dev"),
];
/// Packages whose import name differs from their own.
const IMPORTED_AS: [(&str, &str); 22] = [
    ("attr", "attrs"),
    ("bs4", "beautifulsoup4"),
    ("Crypto", "pycryptodome"),
    ("cv2", "opencv-python"),
    ("dateutil", "python-dateutil"),
    ("docx", "python-docx"),
    ("dotenv", "python-dotenv"),
    ("fitz", "pymupdf"),
    ("git", "gitpython"),
    ("jose", "python-jose"),
    ("jwt", "pyjwt"),
    ("magic", "python-magic"),
    ("multipart", "python-multipart"),
    ("MySQLdb", "mysqlclient"),
    ("OpenSSL", "pyopenssl"),
    ("PIL", "pillow"),
    ("psycopg2", "psycopg2-binary"),
    ("serial", "pyserial"),
    ("skimage", "scikit-image"),
    ("sklearn", "scikit-learn"),
    ("yaml", "pyyaml"),
    ("zmq", "pyzmq"),
];

/// Finds the uninstalled package of a module, from the manifests above the file.
pub(super) fn uninstalled(files: &DraftFiles<'_>, path: &str, module: &str) -> Option<Uninstalled> {
    let names = packages(module);
    let top = module.split('.').next()?;
    let (folder, manifest, package) = folders_above(path).find_map(|folder| {
        let (manifest, package) = declared(files, folder, &names)?;
        Some((folder, manifest, package))
    })?;
    if folders_above(path).any(|folder| is_installed(files, folder, top)) {
        return None;
    }
    let (home, install) = match files.nearest(folder, &LOCKS) {
        Some((home, install)) => (home, install.to_owned()),
        None => (folder.to_owned(), installer(files, folder, &manifest)),
    };
    Some(Uninstalled { package, manifest: join(folder, &manifest), install, folder: home })
}

/// The names that a module's package may have: `google.cloud.x` comes from `google-cloud-x`, or from
/// `google`.
fn packages(module: &str) -> Vec<String> {
    let parts: Vec<&str> = module.split('.').collect();
    let mut names: Vec<String> = (1..=parts.len())
        .filter_map(|count| parts.get(..count))
        .map(|parts| normal(&parts.join("-")))
        .filter(|name| !name.is_empty())
        .collect();
    let other = IMPORTED_AS.iter().filter(|(import, _)| parts.first() == Some(import));
    names.extend(other.map(|(_, package)| (*package).to_owned()));
    names
}

/// Normalizes a name as PEP 503 compares it.
fn normal(name: &str) -> String {
    let parts = name.split(['-', '_', '.']).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("-").to_lowercase()
}

/// Returns the manifest of a folder that declares one of the packages, and its name there.
fn declared(files: &DraftFiles<'_>, folder: &str, names: &[String]) -> Option<(String, String)> {
    let find = |manifest: &str, parse: fn(&str) -> Vec<String>| {
        let declared = files.declared(&join(folder, manifest), parse);
        let package = declared.iter().find(|name| names.contains(&normal(name)))?;
        Some((manifest.to_owned(), package.clone()))
    };
    let in_toml = ["pyproject.toml", "Pipfile"].into_iter().find_map(|name| find(name, declared_in_toml));
    let in_lines =
        || REQUIREMENTS.into_iter().chain(["setup.cfg"]).find_map(|name| find(name, declared_in_lines));
    in_toml.or_else(in_lines)
}

/// The packages that the lines of a manifest begin with.
fn declared_in_lines(text: &str) -> Vec<String> {
    text.lines().filter_map(requirement).collect()
}

/// The package name at the start of a requirement (PEP 508); `None` for a comment or an option.
fn requirement(line: &str) -> Option<String> {
    let line = line.trim();
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let name: String = line.chars().take_while(|c| is_part(*c)).collect();
    let is_name = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    // In setup.cfg, a key is followed by its value.
    let rest = line.get(name.len()..).unwrap_or_default().trim_start();
    let is_key = rest.starts_with('=') && !rest.starts_with("==");
    // What may follow a name by PEP 508; in setup.cfg a file name may begin with the name of a package.
    let is_end = rest.chars().next().is_none_or(|c| "[;@(<>=!~#".contains(c));
    (is_name && !is_key && is_end).then_some(name)
}

/// The packages that a `pyproject.toml` or a `Pipfile` declares, including extras and groups.
fn declared_in_toml(text: &str) -> Vec<String> {
    let Ok(document) = Document::parse(text) else { return Vec::new() };
    let root = document.as_item();
    let mut names = Vec::new();
    for way in ["project.dependencies", "tool.uv.dev-dependencies"] {
        names.extend(texts(at(root, way)));
    }
    for way in ["project.optional-dependencies", "dependency-groups", "tool.pdm.dev-dependencies"] {
        for (_, list) in entries(at(root, way)) {
            names.extend(texts(Some(list)));
        }
    }
    for way in ["tool.poetry.dependencies", "tool.poetry.dev-dependencies", "packages", "dev-packages"] {
        names.extend(entries(at(root, way)).map(|(name, _)| name.to_owned()));
    }
    for (_, group) in entries(at(root, "tool.poetry.group")) {
        names.extend(entries(group.get("dependencies")).map(|(name, _)| name.to_owned()));
    }
    names
}

fn at<'d>(item: &'d Item, way: &str) -> Option<&'d Item> {
    way.split('.').try_fold(item, |item, key| item.get(key))
}

fn entries(item: Option<&Item>) -> impl Iterator<Item = (&str, &Item)> {
    item.and_then(Item::as_table_like).into_iter().flat_map(TableLike::iter)
}

fn texts(item: Option<&Item>) -> Vec<String> {
    let list = item.and_then(Item::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).filter_map(requirement).collect()
}

/// Returns true if a folder's environment has the module; the tool then fails to find it for another reason.
fn is_installed(files: &DraftFiles<'_>, folder: &str, top: &str) -> bool {
    let libraries = [".venv", "venv"].map(|name| files.root.join(folder).join(name).join("lib"));
    let versions = libraries.iter().filter_map(|library| fs::read_dir(library).ok()).flatten().flatten();
    versions
        .map(|version| version.path().join("site-packages"))
        .any(|packages| packages.join(top).exists() || packages.join(format!("{top}.py")).exists())
}

/// The install command if there is no lock file.
fn installer(files: &DraftFiles<'_>, folder: &str, manifest: &str) -> String {
    match manifest {
        "Pipfile" => "pipenv install --dev".to_owned(),
        "pyproject.toml" => {
            let text = files.manifest(&join(folder, manifest)).unwrap_or_default();
            let is_poetry = text.contains("[tool.poetry");
            if is_poetry { "poetry install --all-extras" } else { "pip install -e ." }.to_owned()
        }
        "setup.cfg" => "pip install -e .".to_owned(),
        requirements => format!("pip install -r {requirements}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requirement_begins_with_its_name() {
        for (line, name) in [
            ("requests>=2", Some("requests")),
            ("  Foo_Bar[x]==1 ; python_version > '3'", Some("Foo_Bar")),
            ("a", Some("a")),
            ("a @ https://example.org/a.whl", Some("a")),
            ("# requests", None),
            ("-r other.txt", None),
            ("requests/__init__.py:E402, F401", None),
            ("requests # a comment", Some("requests")),
            ("install_requires =", None),
            ("name = requests", None),
            ("", None),
        ] {
            assert_eq!(requirement(line).as_deref(), name, "{line}");
        }
    }

    #[test]
    fn manifests_in_toml_declare_packages_in_several_tables() {
        let text = "[project]\ndependencies = ['a>=1']\n[project.optional-dependencies]\nx = ['b']\n\
                    [dependency-groups]\ndev = ['c', { include-group = 'x' }]\n[tool.poetry.dependencies]\nd = '1'\n\
                    [tool.poetry.group.dev.dependencies]\ne = '1'\n[tool.uv]\ndev-dependencies = ['f']\n";
        let mut names = declared_in_toml(text);
        names.sort();
        assert_eq!(names, ["a", "b", "c", "d", "e", "f"]);
        assert_eq!(declared_in_toml("[packages]\ng = '*'\n"), ["g"]);
        assert_eq!(declared_in_toml("not toml ["), [""; 0]);
    }

    #[test]
    fn a_module_comes_from_a_package_of_its_name_or_of_a_known_one() {
        assert_eq!(packages("yaml.x"), ["yaml", "yaml-x", "pyyaml"]);
        assert_eq!(packages("Foo_Bar"), ["foo-bar"]);
        assert_eq!(packages("google.cloud.x"), ["google", "google-cloud", "google-cloud-x"]);
    }
}
