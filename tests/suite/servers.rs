//! Language servers that stay: real ones find what their commands find, and see what a call is about to write.
//!
//! What misbehaves is tested beside the code, by a server that misbehaves on command.

use std::path::PathBuf;

use lockgate_checks::Isolation;
use lockgate_checks::{
    Draft, ExecPermission, GateEnv, GateInput, GateRuntime, InputLocation, Lost, OnDisk, Outcome,
    ResolvedPrograms, SearchPath, Verdict, Watch, judge_all,
};
use lockgate_policy::{Policy, Profile, language_of};
use lockgate_text::{Buffer, Hints, LineMap};

use super::files;
use super::store::not_run;
use super::wire::tools_path;

/// A project with one gate, and what is kept from one call to the next.
struct Project {
    dir: tempfile::TempDir,
    policy: Policy,
    permission: ExecPermission,
    runtime: GateRuntime,
}

/// One file of a call: its path, its text before, and after.
type Edit<'a> = (&'a str, Option<&'a str>, &'a str);

/// Selects if the workspace keeps servers.
#[derive(Clone, Copy, PartialEq)]
enum KeepServers {
    Yes,
    No,
}

impl Project {
    /// A project that the gate judges; nothing where its programs are not to be had.
    fn new(gate: &str, language: &str, keep_servers: KeepServers, files: &[(&str, &str)]) -> Option<Project> {
        let dir = tempfile::tempdir().unwrap();
        files::write_all(dir.path(), files);
        let text =
            format!("quality_gates: {{ {language}: [{{ tool: {gate} }}] }}\nlimits: {{ total: 60s }}\n");
        let policy = Policy::parse("quality.yaml", &text).unwrap();
        let path = tools_path();
        let search = SearchPath { folders: &[], roots: &[], path: &path };
        let programs = ResolvedPrograms::find(policy.commands(), &search);
        let program_name = match keep_servers {
            KeepServers::Yes => ResolvedPrograms::server_name(gate),
            KeepServers::No => gate.to_owned(),
        };
        if programs.program(&program_name).is_none() {
            not_run(&format!("servers: {program_name} is not here"));
            return None;
        }
        let gate_runtime = GateRuntime::default();
        if keep_servers == KeepServers::Yes {
            gate_runtime.keep_servers();
        }
        Some(Project { dir, policy, permission: ExecPermission::Granted(programs), runtime: gate_runtime })
    }

    fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    /// What the gate says of all edits of a call.
    fn judge(&self, edits: &[Edit<'_>]) -> Vec<Verdict> {
        let read = |text: &str| Buffer::read(text.as_bytes().to_vec(), Hints::default()).unwrap();
        let root = self.root();
        let texts: Vec<(Option<Buffer>, Buffer, LineMap)> = edits
            .iter()
            .map(|(path, before, after)| {
                let (old, new) = (before.map(read), read(after));
                if let Some(before) = before {
                    files::write(root.join(path), before);
                }
                let empty = read("");
                let base = old.as_ref().unwrap_or(&empty);
                let map = base.rewrite(after).unwrap().line_map(base, &new);
                (old, new, map)
            })
            .collect();
        let files_exist = |_: &str| false;
        let cases: Vec<GateInput<'_>> = edits
            .iter()
            .zip(&texts)
            .map(|((path, _, after), (old, new, map))| {
                let language = language_of(path, after.lines().next());
                GateInput {
                    draft: Draft {
                        path,
                        language,
                        before: old.as_ref(),
                        after: new,
                        map,
                        files_exist: &files_exist,
                        input_location: InputLocation::of_file(old.as_ref()),
                    },
                    rules: self.policy.effective_rules(path, language, Profile::Batch),
                    env: GateEnv {
                        root: &root,
                        exec_permission: &self.permission,
                        runtime: &self.runtime,
                        isolation: Isolation::None,
                        cache: None,
                    },
                    removed: false,
                    group: 0,
                    on_disk: OnDisk::Before,
                    dead_links: &[],
                    lost: Lost::none(),
                }
            })
            .collect();
        judge_all(&cases, &Watch::idle())
    }

    /// The findings of the gate in one edit, or why it says nothing.
    #[track_caller]
    fn finds(&self, edit: Edit<'_>) -> Vec<String> {
        finding_texts(&self.judge(&[edit])[0])
    }
}

#[track_caller]
fn finding_texts(verdict: &Verdict) -> Vec<String> {
    assert_eq!(verdict.runs.last().unwrap().why, None);
    found_in(verdict)
}

/// The findings, from server and command alike.
#[track_caller]
fn found_in(verdict: &Verdict) -> Vec<String> {
    let run = verdict.runs.last().unwrap();
    assert!(matches!(run.outcome, Outcome::Passed | Outcome::Found), "{run:?}");
    let shown = |finding: &lockgate_checks::Finding| {
        let (line, column, code) = (finding.line, finding.column, finding.code.as_deref().unwrap_or("-"));
        let place = finding.elsewhere.as_deref().unwrap_or("here");
        let fresh = if finding.fresh { "new" } else { "old" };
        format!("{place}:{line}:{column} {code} {} {fresh} {}", finding.severity.name(), finding.message)
    };
    let mut all: Vec<String> = verdict.findings.iter().map(shown).collect();
    all.sort();
    all
}

const PYTHON: [(&str, &str); 3] = [
    ("pkg/__init__.py", ""),
    ("pkg/a.py", "from .b import old\n\nx: int = old()\n"),
    ("pkg/b.py", "def old() -> int:\n    return 1\n"),
];

#[test]
fn pyright_finds_as_a_server_what_it_finds_as_a_command() {
    both_find_the_same("pyright");
}

#[test]
fn basedpyright_finds_as_a_server_what_it_finds_as_a_command() {
    both_find_the_same("basedpyright");
}

#[test]
fn ty_finds_as_a_server_what_it_finds_as_a_command() {
    both_find_the_same("ty");
}

/// Asks the server of a gate for Python, and its command.
#[track_caller]
fn both_find_the_same(gate: &str) {
    let both = [KeepServers::Yes, KeepServers::No]
        .map(|keep_servers| Project::new(gate, "python", keep_servers, &PYTHON));
    let [Some(server), Some(command)] = both else { return };
    let before = PYTHON[1].1;
    for after in [
        "from .b import old\n\ns = \"é😀\"; y: str = old()\n",
        "from .b import old\n\nx: int = old()\nz: str = x; é = \"😀\" + 1\n",
        "from .b import nothing\n\nx: int = (\n",
        "import os\nx: int = 1\n",
        "",
    ] {
        let found = server.finds(("pkg/a.py", Some(before), after));
        assert_eq!(found, command.finds(("pkg/a.py", Some(before), after)), "{after}");
        if gate == "ty" {
            // Its command is asked about files that are not on disk.
            continue;
        }
        let found = server.finds(("pkg/new.py", None, after));
        assert_eq!(found, command.finds(("pkg/new.py", None, after)), "new: {after}");
    }
}

#[test]
fn pyright_sees_all_drafts_of_a_call_and_afterwards_the_disk() {
    let Some(project) = Project::new("pyright", "python", KeepServers::Yes, &PYTHON) else { return };
    let (a, b) = (PYTHON[1].1, PYTHON[2].1);
    let (new_a, new_b) = (a.replace("old", "new"), b.replace("old", "new"));
    let [caller, called] = [("pkg/a.py", Some(a), new_a.as_str()), ("pkg/b.py", Some(b), new_b.as_str())];
    assert_eq!(project.judge(&[caller, called]).iter().map(finding_texts).collect::<Vec<_>>(), [[""; 0]; 2]);
    let singly = project.finds(caller);
    assert!(singly.iter().any(|found| found.contains("\"new\" is unknown import symbol")), "{singly:?}");
    // The call above was refused: a question about another file sees what is on disk.
    let third = "from .b import old\n\ny: int = old()\n";
    assert_eq!(project.finds(("pkg/c.py", None, third)), [""; 0]);
    // And what others wrote meanwhile.
    files::write(project.root().join("pkg/b.py"), &new_b);
    let third = format!("{third}# again\n");
    let found = project.finds(("pkg/c.py", None, &third));
    assert!(found.iter().any(|found| found.contains("\"old\" is unknown import symbol")), "{found:?}");
}

#[test]
fn pyright_finds_as_a_server_in_new_files_what_it_finds_as_a_command() {
    new_files_are_judged_alike("pyright", &["reportMissingImports", "reportAttributeAccessIssue"]);
}

#[test]
fn basedpyright_finds_as_a_server_in_new_files_what_it_finds_as_a_command() {
    new_files_are_judged_alike("basedpyright", &["reportMissingImports", "reportAttributeAccessIssue"]);
}

#[test]
fn ty_finds_as_a_server_in_new_files_what_it_finds_as_a_command() {
    new_files_are_judged_alike("ty", &["import-not-found", "unresolved-import"]);
}

/// Asks the server of a gate for Python and its command about calls that create files.
#[track_caller]
fn new_files_are_judged_alike(gate: &str, missing: &[&str]) {
    let both = [KeepServers::Yes, KeepServers::No]
        .map(|keep_servers| Project::new(gate, "python", keep_servers, &PYTHON));
    let [Some(server), Some(command)] = both else { return };
    let a = PYTHON[1].1;
    let good = "def fresh() -> int:\n    return 1\n";
    let wrong = "y: str = 1\n";
    let uses = "from .b import old\n\ny: str = old()\n";
    let imports = "from .new import fresh\n\nx: str = fresh()\n";
    let imports_well = "from .new import fresh\n\nx: int = fresh()\n";
    let imports_deep = "from .sub.deep import fresh\n\nx: str = fresh()\n";
    let unrelated = "from .b import old\n\nx: str = old()\n";
    // Each call, and whether no file of it imports a new one.
    let calls: [(&[Edit<'_>], bool); 7] = [
        (&[("pkg/new.py", None, good)], true),
        (&[("pkg/sub/deep.py", None, "from ..b import old\n\ny: str = old()\n")], true),
        (&[("pkg/new.py", None, good), ("pkg/new2.py", None, uses)], true),
        (&[("pkg/new.py", None, wrong), ("pkg/a.py", Some(a), unrelated)], true),
        (&[("pkg/new.py", None, good), ("pkg/a.py", Some(a), imports)], false),
        (&[("pkg/new.py", None, good), ("pkg/new2.py", None, imports)], false),
        (&[("pkg/sub/deep.py", None, good), ("pkg/a.py", Some(a), imports_deep)], false),
    ];
    for (call, by_server) in calls {
        let (found, expected) = (server.judge(call), command.judge(call));
        for (verdict, expected) in found.iter().zip(&expected) {
            assert_eq!(found_in(verdict), found_in(expected), "{call:?}");
            let why = verdict.runs[0].why.as_deref().unwrap_or_default();
            // The command of ty is asked about every new file.
            let by_command = why.ends_with("its command was run instead");
            assert_eq!(by_command, !by_server || gate == "ty", "{call:?}: {why}");
        }
    }
    // What is only in another call is not there: the server sees the disk again.
    let found = server.finds(("pkg/a.py", Some(a), imports));
    assert_eq!(found, command.finds(("pkg/a.py", Some(a), imports)));
    assert!(found.iter().any(|found| missing.iter().any(|code| found.contains(code))), "{found:?}");
    // And what was published meanwhile is.
    files::write(server.root().join("pkg/new.py"), good);
    assert_eq!(server.finds(("pkg/a.py", Some(a), imports_well)), [""; 0]);
}

#[test]
fn tsc_finds_modules_in_new_folders_by_its_command() {
    let both = [KeepServers::Yes, KeepServers::No]
        .map(|keep_servers| Project::new("tsc", "typescript", keep_servers, &TYPESCRIPT));
    let [Some(server), Some(command)] = both else { return };
    let a = TYPESCRIPT[1].1;
    let good = "export const fresh = (): number => 1;\n";
    let importer = |module: &str| {
        format!("import {{ fresh }} from \"{module}\";\n\nexport const a: string = fresh();\n")
    };
    let [importing, below] = [importer("./new"), importer("./sub/deep")];
    let uses = "import { old } from \"../b\";\n\nexport const y: string = old();\n";
    let calls: [(&[Edit<'_>], bool); 5] = [
        (&[("src/new.ts", None, good), ("src/a.ts", Some(a), &importing)], true),
        (&[("src/sub/deep.ts", None, uses)], true),
        (&[("src/sub/deep.ts", None, uses), ("src/new.ts", None, good)], true),
        (&[("src/sub/deep.ts", None, good), ("src/a.ts", Some(a), &below)], false),
        (&[("src/sub/deep.ts", None, good), ("src/sub/two.ts", None, &importer("./deep"))], false),
    ];
    for (call, by_server) in calls {
        let (found, expected) = (server.judge(call), command.judge(call));
        for (verdict, expected) in found.iter().zip(&expected) {
            assert_eq!(found_in(verdict), found_in(expected), "{call:?}");
            assert_eq!(verdict.runs[0].why.is_none(), by_server, "{call:?}: {:?}", verdict.runs[0]);
        }
    }
    let alone = server.finds(("src/a.ts", Some(a), &importing));
    assert!(alone.iter().any(|found| found.contains("TS2307")), "{alone:?}");
}

#[test]
fn gopls_sees_new_files_in_new_folders() {
    let Some(project) = go() else { return };
    let deep = "package sub\n\nfunc Fresh() int { return e() }\n";
    let caller = "package x\n\nimport \"example.org/x/sub\"\n\nfunc A() int { return old() + sub.Fresh() }\n";
    let call: [Edit<'_>; 3] = [
        ("sub/deep.go", None, deep),
        ("sub/e.go", None, "package sub\n\nfunc e() int { return 1 }\n"),
        ("a.go", Some(GO[1].1), caller),
    ];
    assert_eq!(project.judge(&call).iter().map(finding_texts).collect::<Vec<_>>(), [[""; 0]; 3]);
    let wrong = project.judge(&[
        call[0],
        ("sub/e.go", None, "package sub\n\nfunc e() string { return \"\" }\n"),
        call[2],
    ]);
    assert!(finding_texts(&wrong[0]).iter().any(|found| found.contains("cannot use e()")), "{wrong:?}");
    let alone = project.finds(("a.go", Some(GO[1].1), caller));
    assert!(alone.iter().any(|found| found.contains("example.org/x/sub")), "{alone:?}");
}

const GO: [(&str, &str); 3] = [
    ("go.mod", "module example.org/x\n\ngo 1.16\n"),
    ("a.go", "package x\n\nfunc A() int { return old() }\n"),
    ("b.go", "package x\n\nfunc old() int { return 1 }\n"),
];

/// A project of Go, where the server and the compiler that are here get along.
fn go() -> Option<Project> {
    let project = Project::new("gopls", "go", KeepServers::Yes, &GO)?;
    let run = project
        .judge(&[("a.go", Some(GO[1].1), "package x\n\nfunc A() int { return older }\n")])
        .remove(0)
        .runs;
    if run[0].outcome != Outcome::Found {
        not_run(&format!("servers: gopls does not get along with the go that is here: {:?}", run[0]));
        return None;
    }
    Some(project)
}

#[test]
fn gopls_finds_the_very_place() {
    let Some(project) = go() else { return };
    let before = Some(GO[1].1);
    let wrong = "package x\n\nfunc A() string { é := \"é😀\"; _ = é; return old() }\n";
    let found = project.finds(("a.go", before, wrong));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("here:3:44 ") && found[0].contains(" error new cannot use old()"),
        "{found:?}"
    );
    let broken = project.finds(("a.go", before, "package x\n\nfunc A( int { return old() }\n"));
    assert!(broken.iter().any(|found| found.starts_with("here:3:")), "{broken:?}");
    assert_eq!(project.finds(("a.go", before, "package x\n\nfunc A() int { return old() + 1 }\n")), [""; 0]);
}

#[test]
fn gopls_sees_all_drafts_of_a_call_and_afterwards_the_disk() {
    let Some(project) = go() else { return };
    let (a, b) = (GO[1].1, GO[2].1);
    let (new_a, new_b) = (a.replace("old", "renewed"), b.replace("old", "renewed"));
    let [caller, called] = [("a.go", Some(a), new_a.as_str()), ("b.go", Some(b), new_b.as_str())];
    assert_eq!(project.judge(&[caller, called]).iter().map(finding_texts).collect::<Vec<_>>(), [[""; 0]; 2]);
    let singly = project.finds(caller);
    assert!(singly.iter().any(|found| found.contains("renewed")), "{singly:?}");
    assert_eq!(project.finds(("c.go", None, "package x\n\nfunc C() int { return old() }\n")), [""; 0]);
}

const TYPESCRIPT: [(&str, &str); 3] = [
    ("tsconfig.json", "{ \"include\": [\"src\"], \"compilerOptions\": { \"strict\": true } }\n"),
    ("src/a.ts", "import { old } from \"./b\";\n\nexport const a: number = old();\n"),
    ("src/b.ts", "export const old = (): number => 1;\n"),
];

#[test]
fn tsc_finds_as_a_server_what_it_finds_as_a_command() {
    let both = [KeepServers::Yes, KeepServers::No]
        .map(|keep_servers| Project::new("tsc", "typescript", keep_servers, &TYPESCRIPT));
    let [Some(server), Some(command)] = both else { return };
    let before = TYPESCRIPT[1].1;
    for after in [
        "import { old } from \"./b\";\n\nconst é = \"😀\"; export const a: string = old(); é;\n",
        "import { none } from \"./b\";\nexport function f(p) { return p; }\n",
        "export const a: { x: { y: string } } = { x: { y: 1 } };\n",
        "let x = (;\n",
        "export {};\n",
    ] {
        let edit = ("src/a.ts", Some(before), after);
        assert_eq!(server.finds(edit), command.finds(edit), "{after}");
        let edit = ("src/new.ts", None, after);
        assert_eq!(server.finds(edit), command.finds(edit), "new: {after}");
    }
    let called = ("src/b.ts", Some(TYPESCRIPT[2].1), "export const renewed = (): number => 1;\n");
    let caller = before.replace("old", "renewed");
    let caller = ("src/a.ts", Some(before), caller.as_str());
    for project in [&server, &command] {
        assert_eq!(
            project.judge(&[caller, called]).iter().map(finding_texts).collect::<Vec<_>>(),
            [[""; 0]; 2]
        );
        let singly = project.finds(caller);
        assert!(singly.iter().any(|found| found.contains("renewed")), "{singly:?}");
    }
}
