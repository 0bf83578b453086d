//! Lists the files of a project and finds signs of the tools that its team uses.
//!
//! Invariant: nothing runs and no secret is read: only file names, first lines of files without an extension, and
//! configuration files.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};

use lockgate_engine::Workspace;
use lockgate_error::Error;
use lockgate_policy::{Gate, language_of, languages, yaml_texts};

use super::known_tools::KnownTool;

/// Folders of third-party files, in case no ignore file lists them.
const THIRD_PARTY_FOLDERS: [&str; 5] = ["node_modules", ".venv", "venv", "vendor", "third_party"];
/// Maximum size in bytes of a script whose first line is read, and of a configuration file.
const MAX_BYTES: u64 = 1 << 20;
/// Maximum number of files without an extension that are opened.
const MAX_SCRIPTS: usize = 500;
/// Maximum number of files with the same name or purpose that are opened.
const MAX_NAMESAKES: usize = 20;
const POLICY: &str = "quality.yaml";
/// The file that lists the hooks of pre-commit.
const HOOKS: &str = ".pre-commit-config.yaml";
/// The files that list development packages, for npm and for Python.
const NPM: &str = "package.json";
const PYTHON: [&str; 4] = ["pyproject.toml", "dev-requirements.txt", "setup.cfg", "Pipfile"];

pub(super) struct ProjectFiles<'a> {
    workspace: &'a Workspace,
    /// The project's own files, nearest to the top first.
    files: Vec<String>,
    /// Indices into `files` by file name.
    by_name: HashMap<String, Vec<usize>>,
    /// The files that list packages of Python, once they were read.
    python_lists: OnceCell<Vec<(String, String)>>,
    /// The hooks of pre-commit, once they were read.
    hooks: OnceCell<Vec<String>>,
    counts: BTreeMap<&'static str, usize>,
    texts: RefCell<BTreeMap<String, Option<String>>>,
}

impl<'a> ProjectFiles<'a> {
    /// Lists the files that git does not ignore.
    ///
    /// Errors: `PATH_OUTSIDE_ROOT` for a root that does not exist.
    pub(super) fn read(workspace: &'a Workspace) -> Result<ProjectFiles<'a>, Error> {
        let mut files: Vec<String> =
            workspace.project_files()?.into_iter().filter(|path| is_own(path)).collect();
        files.sort_by_key(|path| path.matches('/').count());
        let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, path) in files.iter().enumerate() {
            by_name.entry(last_name(path).to_owned()).or_default().push(at);
        }
        let mut project = ProjectFiles {
            workspace,
            python_lists: OnceCell::new(),
            files,
            by_name,
            hooks: OnceCell::new(),
            counts: BTreeMap::new(),
            texts: RefCell::default(),
        };
        project.count();
        Ok(project)
    }

    fn count(&mut self) {
        let mut left = MAX_SCRIPTS;
        for path in &self.files {
            let nameless = !last_name(path).contains('.');
            let known = language_of(path, None).or_else(|| {
                left = left.checked_sub(usize::from(nameless))?;
                let text = nameless.then(|| self.workspace.read_prefix(path, MAX_BYTES))??;
                language_of(path, text.lines().next())
            });
            if let Some(language) = known {
                *self.counts.entry(&language.name).or_default() += 1;
            }
        }
    }

    /// Returns the languages with files in the project, in the order of the table, with the numbers of files.
    pub(super) fn languages(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let count = |name: &'static str| Some((name, *self.counts.get(name)?));
        languages().iter().filter_map(move |language| count(language.name.as_str()))
    }

    /// True if the path exists in the root.
    pub(super) fn exists(&self, path: &str) -> bool {
        self.workspace.exists(path)
    }

    /// Returns the first file with a name, or in a folder if the name ends in a slash.
    pub(super) fn find(&self, name: &str) -> Option<&str> {
        if name.ends_with('/') {
            return self.files.iter().map(String::as_str).find(|path| path.starts_with(name));
        }
        self.named(name).next()
    }

    fn named(&self, name: &str) -> impl Iterator<Item = &str> {
        let places = self.by_name.get(name).map(Vec::as_slice).unwrap_or_default();
        places.iter().filter_map(|at| self.files.get(*at)).map(String::as_str)
    }

    /// Returns the sign that the team uses a tool, as the end of a sentence that begins with the tool's name.
    pub(super) fn sign(&self, known: &KnownTool, gate: &Gate) -> Option<String> {
        let configured =
            || own_configuration(known, gate).find_map(|(name, text)| self.configured(name, text));
        let further = || known.signs.iter().find_map(|sign| self.further_sign(sign));
        configured().or_else(further).or_else(|| self.hook(&gate.name)).or_else(|| self.package_sign(gate))
    }

    fn further_sign(&self, sign: &str) -> Option<String> {
        if let Some(id) = sign.strip_prefix("hook:") {
            return self.hook(id);
        }
        let (name, text) = sign.split_once('#').unwrap_or((sign, ""));
        self.configured(name, text)
    }

    /// Finds a file with this name that contains the text outside comments.
    fn configured(&self, name: &str, text: &str) -> Option<String> {
        if text.is_empty() {
            return self.find(name).map(|path| format!("{path} is there"));
        }
        let holds = |path: &&str| {
            self.text(path).is_some_and(|content| uncommented(&content).any(|line| line.contains(text)))
        };
        let path = self.named(name).take(MAX_NAMESAKES).find(holds)?;
        let shown = text.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        Some(format!("{path} mentions {shown}"))
    }

    /// Finds the pre-commit hook of the tool.
    fn hook(&self, tool: &str) -> Option<String> {
        let hooks =
            self.hooks.get_or_init(|| self.text(HOOKS).map(|text| hook_ids(&text)).unwrap_or_default());
        let id = hooks.iter().find(|id| is_hook_of(id, tool))?;
        Some(format!("{HOOKS} has the hook {id}"))
    }

    /// Finds the file that lists the tool's package. If several gates share a package, this counts only for the gate
    /// with the package's name: a project that lints with ruff may use another formatter.
    fn package_sign(&self, gate: &Gate) -> Option<String> {
        if is_secondary(&gate.name) {
            return None;
        }
        gate.install().iter().find_map(|url| {
            let (kind, name) = url.strip_prefix("pkg:")?.split_once('/')?;
            let name = name.split('@').next()?.replace("%40", "@");
            let path = match kind {
                "npm" => {
                    let names = |path: &&str| self.text(path).is_some_and(|text| names_package(&text, &name));
                    self.named(NPM).take(MAX_NAMESAKES).find(names)
                }
                "pypi" => {
                    let name = python_name(&name);
                    let mut lists = self.python_lists().iter();
                    lists.find(|(_, text)| names_package(text, &name)).map(|(path, _)| path.as_str())
                }
                _ => None,
            };
            Some(format!("{} names the package {name}", path?))
        })
    }

    /// Returns the paths of the files that list packages of Python, with their texts as of [`python_name`].
    fn python_lists(&self) -> &[(String, String)] {
        self.python_lists.get_or_init(|| {
            let named = PYTHON.iter().flat_map(|name| self.named(name).take(MAX_NAMESAKES));
            let requirements = self.files.iter().filter(|path| lists_requirements(path)).take(MAX_NAMESAKES);
            let paths = named.chain(requirements.map(String::as_str));
            paths.filter_map(|path| Some((path.to_owned(), python_name(&self.text(path)?)))).collect()
        })
    }

    fn text(&self, path: &str) -> Option<String> {
        if let Some(known) = self.texts.borrow().get(path) {
            return known.clone();
        }
        let text = self.workspace.read_prefix(path, MAX_BYTES);
        self.texts.borrow_mut().insert(path.to_owned(), text.clone());
        text
    }
}

fn last_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// True for `requirements*.txt` and `requirements/*.txt`.
fn lists_requirements(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    name.ends_with(".txt") && (name.starts_with("requirements") || last_name(folders) == "requirements")
}

/// Returns the IDs of the hooks in a configuration of pre-commit. If the parser finds none, or the text is beyond its
/// limits, those at the beginnings of lines are found.
fn hook_ids(text: &str) -> Vec<String> {
    let parsed = yaml_texts(text, &["repos", "hooks", "id"]);
    parsed.filter(|ids| !ids.is_empty()).unwrap_or_else(|| {
        let ids = text.lines().filter_map(|line| line.trim_start_matches([' ', '-']).strip_prefix("id:"));
        ids.map(|id| id.trim().trim_matches(['"', '\'']).to_owned()).collect()
    })
}

/// Returns a text in which every spelling of the name of a Python package is the same: letter case, and `-`, `_` and `.`, do
/// not matter.
fn python_name(text: &str) -> String {
    text.replace(['_', '.'], "-").to_ascii_lowercase()
}

/// True if a file is the project's own: neither third-party nor a setting of an editor or client.
fn is_own(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_set_up = |folder: &str| folder.starts_with('.') && folder != ".github";
    name != POLICY
        && !folders.split('/').any(|folder| THIRD_PARTY_FOLDERS.contains(&folder) || is_set_up(folder))
}

/// Returns the configuration files of the catalogue that contain the tool's name; other files may configure anything.
/// Ignore files do not count: a project may ignore all files to disable the tool in someone's editor.
fn own_configuration<'g>(known: &'g KnownTool, gate: &'g Gate) -> impl Iterator<Item = (&'g str, &'g str)> {
    let all = gate.command().into_iter().flat_map(|command| &command.config);
    let bears = |name: &str| {
        let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        !known.config_name.is_empty() && plain.to_lowercase().contains(known.config_name)
    };
    all.map(|file| (file.name.as_str(), file.contains.as_str()))
        .filter(move |(name, text)| !name.ends_with("ignore") && bears(&format!("{name}#{text}")))
}

/// True if a hook belongs to the tool: `biome-check` belongs to biome, but `ruff-format` does not belong to ruff.
fn is_hook_of(id: &str, tool: &str) -> bool {
    let other = |known: &KnownTool| known.gate.len() > tool.len() && is_prefix(id, known.gate);
    is_prefix(id, tool) && !super::known_tools::TOOLS.iter().any(other)
}

/// True if a gate is another mode of another gate's program, such as `ruff-format` of ruff.
fn is_secondary(gate: &str) -> bool {
    super::known_tools::TOOLS.iter().any(|known| known.gate.len() < gate.len() && is_prefix(gate, known.gate))
}

fn is_prefix(id: &str, gate: &str) -> bool {
    id.strip_prefix(gate).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// Returns the lines that are not comments in any configuration format.
fn uncommented(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| {
        !["#", ";", "//"].iter().any(|comment_sign| line.trim_start().starts_with(comment_sign))
    })
}

/// True if a text names a package as a whole word at the start of a string, or of a line, which may be indented.
fn names_package(text: &str, package: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_./@".contains(c);
    let in_line = |line: &str| {
        line.match_indices(package).any(|(at, _)| {
            let before = line.get(..at).unwrap_or_default();
            let begins = before.trim_start().is_empty() || before.ends_with(['"', '\'']);
            let behind = line.get(at + package.len()..).unwrap_or_default();
            begins && !behind.starts_with(is_part)
        })
    };
    uncommented(text).any(in_line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_named_by_a_word_of_its_own() {
        for (text, package, named) in [
            ("[dependency-groups]\ndev = [\"ruff>=0.5\", 'mypy']\n", "ruff", true),
            ("dev = ['mypy']\n", "mypy", true),
            ("ruff==0.1\n", "ruff", true),
            ("dev =\n    ruff\n\tmypy ; x\n", "mypy", true),
            ("    x ruff\n", "ruff", false),
            ("black[d]>=2\n", "black", true),
            ("[tool.poetry.group.dev]\nblack = \"*\"\n", "black", true),
            ("{\"devDependencies\": {\"@biomejs/biome\": \"2\"}}", "@biomejs/biome", true),
            ("{\"devDependencies\": {\"eslint-plugin-x\": \"2\"}}", "eslint", false),
            ("ruff-lsp\n", "ruff", false),
            ("# uses ruff\n", "ruff", false),
            ("dev = [\n  # \"ruff\",\n]\n", "ruff", false),
            ("", "ruff", false),
        ] {
            assert_eq!(names_package(text, package), named, "{text}");
        }
    }

    #[test]
    fn a_python_package_has_several_spellings() {
        for (text, package, named) in
            [("MyPy==1\n", "mypy", true), ("Ruff_LSP\n", "ruff.lsp", true), ("ruff_lsp\n", "ruff", false)]
        {
            assert_eq!(names_package(&python_name(text), &python_name(package)), named, "{text}");
        }
    }

    #[test]
    fn files_of_requirements_have_many_names() {
        for (path, is) in [
            ("requirements.txt", true),
            ("a/requirements_dev.txt", true),
            ("a/requirements/test.txt", true),
            ("requirements/a/b.txt", false),
            ("dev.txt", false),
            ("requirements.md", false),
        ] {
            assert_eq!(lists_requirements(path), is, "{path}");
        }
    }

    #[test]
    fn a_secondary_gate_of_a_program_is_recognised() {
        for (gate, is) in [("ruff-format", true), ("ruff-imports", true), ("ruff", false), ("typos", false)] {
            assert_eq!(is_secondary(gate), is, "{gate}");
        }
    }

    #[test]
    fn a_hook_is_of_the_tool_that_it_is_a_way_of() {
        for (id, tool, is) in [
            ("ruff", "ruff", true),
            ("ruff-check", "ruff", true),
            ("ruff-format", "ruff", false),
            ("ruff-format", "ruff-format", true),
            ("biome-check", "biome", true),
            ("typos", "ty", false),
            ("mypyc", "mypy", false),
        ] {
            assert_eq!(is_hook_of(id, tool), is, "{id}");
        }
    }
}
