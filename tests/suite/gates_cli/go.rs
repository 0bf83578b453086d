//! go vet with a Go that has no overlay for it and with one that has: what passes, what is found, and what keeps the gate
//! from being called broken.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::suite::files;
use crate::suite::mcp::installed;
use crate::suite::store::not_run;
use crate::suite::wire::{Answer, Server, lockgate};

const GO_VET: &str = include_str!("../../../gates/go-vet.yaml");

/// The definition as it is, and the gate with one of its defences taken away.
const SHIPPED: &str = "go-vet";
/// The canary takes the place of the draft, so that its declarations are gone.
const REPLACES: &str = "vet-replaces";
/// The newer command for every version.
const OVERLAY: &str = "vet-overlay";
/// The same without a canary.
const UNPROVEN: &str = "vet-unproven";

/// What only vet finds, as a file of its own.
const IN_PLACE: &str = "package m\n\nimport \"fmt\"\n\nfunc _() { fmt.Printf(\"%d\", \"canary\") }\n";

/// The file that all others of the package need.
const CORE: &str = "package m\n\ntype Shape struct{ W, H int }\n\nfunc Area(s Shape) int { return s.W * s.H }\n\nconst Limit = 10\n";
const SHAPE: &str =
    "package m\n\ntype Shape struct{ W, H int }\n\nfunc Area(s Shape) int { return s.W * s.H }\n";
const USES: [(&str, &str); 3] = [
    ("a.go", "package m\n\nfunc A() int { return Area(Shape{1, 2}) }\n"),
    ("b.go", "package m\n\nfunc B() int { return Area(Shape{Limit, 2}) }\n"),
    ("c.go", "package m\n\nfunc C() bool { return A()+B() < Limit }\n"),
];
const PRINTS: &str = "package m\n\nimport \"fmt\"\n\nfunc A() { fmt.Printf(\"%s\\n\", \"x\") }\n";

/// A definition below `define`, under another name.
fn defined(name: &str, definition: &str) -> String {
    let lines: String = definition.lines().map(|line| format!("    {line}\n")).collect();
    format!("  {name}:\n{lines}")
}

/// The definition without the lines from the one that begins with `key` to the next key.
fn without(definition: &str, key: &str) -> String {
    let mut skips = false;
    let remaining = definition.lines().filter(|line| {
        if !line.starts_with(' ') {
            skips = line.starts_with(key);
        }
        !skips
    });
    let remaining: String = remaining.map(|line| format!("{line}\n")).collect();
    assert_ne!(remaining, definition, "{key}");
    remaining
}

/// A project with one package for each scenario, all of them the same but for `prints`.
struct Project {
    server: Server,
    root: tempfile::TempDir,
    _user: tempfile::TempDir,
}

impl Project {
    /// Starts a server that finds this Go first, and judges by this gate.
    fn new(go: &Path, gate: &str) -> Project {
        let (root, user) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let overlay = without(GO_VET, "older:");
        let replaces = without(GO_VET, "canary:") + &format!("canary: {}\n", Value::from(IN_PLACE));
        let mut policy = format!(
            "quality_gates: {{ go: [{{ tool: {gate}, level: block, required: true, timeout: 5m }}] }}\nlimits: {{ total: 10m }}\ndefine:\n"
        );
        policy += &defined(REPLACES, &replaces);
        policy += &defined(OVERLAY, &overlay);
        policy += &defined(UNPROVEN, &without(&overlay, "canary:"));
        let write = |path: &str, text: &str| files::write(root.path().join(path), text);
        write("quality.yaml", &policy);
        write("go.mod", "module example.org/m\n\ngo 1.19\n");
        write("prints/a.go", PRINTS);
        for package in ["rename", "uses", "declaration", "split", "core", "fault"] {
            write(&format!("{package}/z_core.go"), CORE);
            for (file, text) in USES {
                write(&format!("{package}/{file}"), text);
            }
        }
        let mut command = lockgate(user.path());
        let inherited = std::env::var_os("PATH").unwrap();
        let folders = std::iter::once(go.parent().unwrap().to_owned());
        let folders = folders.chain(std::env::split_paths(&inherited));
        command.env("PATH", std::env::join_paths(folders).unwrap());
        let server = Server::start_by(command, root.path(), &["--trust", "--tools", "all"]);
        Project { server, root, _user: user }
    }

    /// What became of the gate in each file, and the answer.
    fn edit(&mut self, edits: &[Value]) -> (Vec<String>, Answer) {
        let answer = self.server.call("edit_files", &json!({ "edits": edits }));
        let mut outcomes = Vec::new();
        outcomes_in(&answer.structured, &mut outcomes);
        (outcomes, answer)
    }

    #[track_caller]
    fn passes(&mut self, what: &str, edits: &[Value]) {
        let (outcomes, answer) = self.edit(edits);
        assert_eq!(answer.status(), "written", "{what}: {}", answer.text);
        assert!(!outcomes.is_empty() && outcomes.iter().all(|one| one == "passed"), "{what}: {outcomes:?}");
    }

    /// Sees that the edit is refused for something that is found, and that no gate is called broken.
    #[track_caller]
    fn finds(&mut self, what: &str, edits: &[Value], message: &str) {
        let (outcomes, answer) = self.edit(edits);
        assert_eq!(answer.code(), "GATE_REFUSED", "{what}: {}", answer.text);
        assert!(outcomes.iter().any(|one| one == "found"), "{what}: {outcomes:?}\n{}", answer.text);
        assert!(!outcomes.iter().any(|one| one == "broken"), "{what}: {outcomes:?}\n{}", answer.text);
        assert!(answer.text.contains(message), "{what}: {message}\n{}", answer.text);
        for edit in edits {
            let path = self.root.path().join(edit["path"].as_str().unwrap());
            let text = fs::read_to_string(path).unwrap();
            assert!(!text.contains("Surface") && !text.contains("%d"), "{what}: a refused edit was written");
        }
    }
}

/// All outcomes of gates in an answer, wherever they stand.
fn outcomes_in(value: &Value, all: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            all.extend(fields.get("outcome").and_then(Value::as_str).map(str::to_owned));
            fields.values().for_each(|field| outcomes_in(field, all));
        }
        Value::Array(items) => items.iter().for_each(|item| outcomes_in(item, all)),
        _ => {}
    }
}

fn renamed(package: &str, files: &[&str]) -> Vec<Value> {
    let edit =
        |file: &&str| json!({"path": format!("{package}/{file}"), "search": "Area", "replace": "Surface"});
    files.iter().map(edit).collect()
}

fn wrong_print() -> Vec<Value> {
    vec![json!({"path": "prints/a.go", "search": "%s", "replace": "%d"})]
}

fn core_changed() -> Vec<Value> {
    vec![json!({"path": "core/z_core.go", "search": "Limit = 10", "replace": "Limit = 11"})]
}

const PRINTF: &str = "fmt.Printf format %d has arg";

fn judged_by(go: &Path) {
    let mut project = Project::new(go, SHIPPED);
    project.finds("a wrong Printf", &wrong_print(), PRINTF);
    project.passes("a rename", &renamed("rename", &["z_core.go", "a.go", "b.go"]));
    let found = if version(go) < (1, 20) { "undeclared name: " } else { "undefined: " };
    project.finds("half a rename", &renamed("uses", &["a.go", "b.go"]), &format!("{found}Surface"));
    project.finds("the other half", &renamed("declaration", &["z_core.go"]), &format!("{found}Area"));
    let split = [
        json!({"path": "split/z_core.go", "content": "package m\n\nconst Limit = 10\n"}),
        json!({"path": "split/shape.go", "content": SHAPE}),
    ];
    project.passes("a split", &split);
    project.passes("the most used file", &core_changed());
    let mut faulty_core = CORE.replace("package m\n", "package m\n\nimport \"fmt\"\n");
    write!(faulty_core, "\nfunc P() {{ fmt.Printf(\"%d\", \"x\") }}\n").unwrap();
    let faulty_core = json!({"path": "fault/z_core.go", "content": faulty_core});
    project.finds("a fault in the most used file", &[faulty_core], PRINTF);
    drop(project);
    // The control: in the place of the draft the canary takes away what the other files need.
    let mut project = Project::new(go, REPLACES);
    let (outcomes, answer) = project.edit(&core_changed());
    assert_eq!(outcomes, ["broken"], "{}", answer.text);
}

/// The numbers of the version that a Go says.
fn version(go: &Path) -> (u32, u32) {
    let stdout = Command::new(go).arg("version").output().map(|output| output.stdout).unwrap_or_default();
    let stdout = String::from_utf8_lossy(&stdout).into_owned();
    let number = stdout.split_whitespace().find_map(|word| word.strip_prefix("go1.")).unwrap_or_default();
    let minor: String = number.chars().take_while(char::is_ascii_digit).collect();
    (1, minor.parse().unwrap_or_default())
}

/// A Go of the machine that is older than the overlay of go vet.
fn older_go() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let all = std::env::split_paths(&folders).map(|folder| folder.join("go"));
    let found = all.filter(|go| go.is_file()).find(|go| (1..24).contains(&version(go).1));
    if found.is_none() {
        not_run("go vet with a Go before 1.24: there is none in the search path");
    }
    found
}

#[test]
fn an_older_go_judges_the_draft_and_is_not_broken_by_its_canary() {
    let Some(go) = older_go() else { return };
    judged_by(&go);
    // The control: asked as a newer one, it parses the draft and analyses the text on disk. The canary shows that, and
    // nothing else does.
    for (gate, outcome, status) in [(OVERLAY, "skipped", "written"), (UNPROVEN, "passed", "written")] {
        let mut project = Project::new(&go, gate);
        let (outcomes, answer) = project.edit(&wrong_print());
        assert_eq!(
            (outcomes.as_slice(), answer.status()),
            ([outcome.to_owned()].as_slice(), status),
            "{gate}"
        );
    }
}

#[test]
fn a_newer_go_judges_the_draft_and_is_not_broken_by_its_canary() {
    let Some(go) = installed("LOCKGATE_TEST_VENV", "venv", "bin/go") else { return };
    assert!(version(&go) >= (1, 24), "{}", go.display());
    judged_by(&go);
}
