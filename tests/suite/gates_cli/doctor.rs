//! `lockgate gates doctor`: what works, what does not, and what is not even tried.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{BLIND, DEFINED, FAILS, FINDS, ILL, entry, executable, fixture, gates, json};

#[test]
fn the_doctor_runs_nothing_of_an_untrusted_repository() {
    let fixture = fixture(FINDS);
    let report = json(&fixture, &["doctor"], ILL);
    let it = entry(&report, "it");
    assert_eq!(
        (it["state"].as_str(), report["trusted"].as_bool()),
        (Some("needs_trust"), Some(false)),
        "{report:#}"
    );
    assert_eq!(fixture.ran(), [""; 0], "its command is the repository's");
    let text = gates(&fixture, &["doctor"], ILL).stdout;
    assert!(text.contains("isolation none: programs run with your rights"), "{text}");
    assert!(text.contains("no bubblewrap: LOCKGATE_ISOLATION allows none at most"), "{text}");
    assert!(
        text.contains(
            "tested    each program in a sample project of its gate; the gates of a trusted policy also"
        ),
        "{text}"
    );
    assert!(text.contains("quality.yaml, not trusted") && text.contains("failed    1 of 1: it"), "{text}");

    // A gate of the catalogue whose program is in the repository, be it named by the policy or not.
    executable(&fixture, "root/.venv/bin/ruff", FINDS);
    assert_eq!(entry(&json(&fixture, &["doctor", "ruff"], ILL), "ruff")["state"], "needs_trust");
    fixture.trust(".");
    assert_eq!(entry(&json(&fixture, &["doctor", "ruff"], ILL), "ruff")["state"], "needs_trust");
    assert_eq!(fixture.ran(), [""; 0], "trust covers what the policy names");
    // The control: with a person's word, both run.
    fixture.write("root/quality.yaml", &DEFINED.replace("[{ tool: it,", "[{ tool: ruff }, { tool: it,"));
    let report = json(&fixture, &["doctor", "--trust"], ILL);
    assert_eq!(entry(&report, "it")["state"], "works", "{report:#}");
    assert_eq!(entry(&report, "ruff")["state"], "broken", "{report:#}");
    let programs_run = fixture.ran();
    for program in ["root/.venv/bin/ruff check ", "bin/it /"] {
        assert!(programs_run.iter().any(|line| line.contains(program)), "{program}: {programs_run:?}");
    }
}

#[test]
fn the_doctor_distinguishes_working_and_broken_gates() {
    let fixture = fixture(FINDS);
    fixture.trust(".");
    let report = json(&fixture, &["doctor"], 0);
    let it = entry(&report, "it");
    assert_eq!(
        (&it["state"], &it["version"], &it["wanted"]),
        (&"works".into(), &"1.2.3".into(), &true.into())
    );
    assert_eq!(
        (&report["well"], &report["isolation"], &report["trusted"]),
        (&true.into(), &"none".into(), &true.into())
    );
    let ran = fixture.ran();
    assert!(ran.iter().all(|line| !line.contains("root/") || line.contains("root/app.py")), "{ran:?}");

    executable(&fixture, "bin/it", BLIND);
    let text = gates(&fixture, &["doctor"], ILL).stdout;
    assert!(text.contains("finds nothing in its canary (a text that must not pass)"), "{text}");
    assert_eq!(entry(&json(&fixture, &["doctor"], ILL), "it")["state"], "broken");
    executable(&fixture, "bin/it", FAILS);
    assert_eq!(entry(&json(&fixture, &["doctor"], ILL), "it")["why"], "ended with exit code 3");

    fixture.write("root/quality.yaml", &DEFINED.replace("canary: ", "# "));
    assert_eq!(
        entry(&json(&fixture, &["doctor", "--trust"], ILL), "it")["state"],
        "broken",
        "its probe fails"
    );
    executable(&fixture, "bin/it", BLIND);
    let report = json(&fixture, &["doctor", "--trust"], 0);
    assert_eq!((&entry(&report, "it")["state"], &report["well"]), (&"unproven".into(), &true.into()));
    let text = gates(&fixture, &["doctor", "--trust"], 0).stdout;
    assert!(text.contains("passed    the policy's gate has no known problem, but is unproven\n"), "{text}");
    let text = gates(&fixture, &["doctor", "it", "syntax", "--trust"], 0).stdout;
    assert!(text.contains("passed    1 of 2 named gates work; unproven: it\n"), "{text}");

    fs::remove_file(fixture.at("bin/it")).unwrap();
    let text = gates(&fixture, &["doctor", "--trust"], ILL).stdout;
    assert!(text.contains("no it in the search path") && text.contains("install: pip install it"), "{text}");
    assert_eq!(entry(&json(&fixture, &["doctor", "--trust"], ILL), "it")["state"], "unavailable");
    // What the policy does not name need not be here.
    fixture.write("root/quality.yaml", "quality_gates: {}\n");
    assert_eq!(json(&fixture, &["doctor"], 0)["well"], true);
    assert_eq!(entry(&json(&fixture, &["doctor", "syntax"], 0), "syntax")["state"], "works");
}

#[test]
fn a_gate_that_skips_its_canary_needs_a_configuration() {
    let fixture = fixture(FINDS);
    fixture.write(
        "root/quality.yaml",
        &DEFINED.replace("probe:", "config: [it.cfg]\n    unconfigured: skip\n    probe:"),
    );
    let report = json(&fixture, &["doctor", "--trust"], ILL);
    assert_eq!(entry(&report, "it")["state"], "needs_configuration", "{report:#}");
    assert_eq!(entry(&report, "it")["why"], "the project has no configuration of it");
    let with = DEFINED.replace("draft: \"good\\n\"", "draft: \"good\\n\", with: { it.cfg: \"\" }");
    fixture.write(
        "root/quality.yaml",
        &with.replace("probe:", "config: [it.cfg]\n    unconfigured: skip\n    probe:"),
    );
    assert_eq!(entry(&json(&fixture, &["doctor", "--trust"], 0), "it")["state"], "works");
}

/// The doctor, the samples and an edit say the same of a set-up, in the words of each.
#[test]
fn the_doctor_the_samples_and_an_edit_agree() {
    let isolated = format!("{DEFINED}require_isolation: bubblewrap\n");
    let setups: [(&str, Option<&str>, &str, [&str; 3]); 5] = [
        ("it works", Some(FINDS), DEFINED, ["works", "passed", "passed"]),
        ("no program", None, DEFINED, ["unavailable", "unavailable", "unavailable"]),
        ("it fails", Some(FAILS), DEFINED, ["broken", "failed", "broken"]),
        ("it is blind", Some(BLIND), DEFINED, ["broken", "failed", "broken"]),
        ("no sandbox", Some(FINDS), isolated.as_str(), ["unavailable", "unavailable", "unavailable"]),
    ];
    for (what, program, policy, expected) in setups {
        let fixture = fixture(FINDS);
        fixture.write("root/quality.yaml", policy);
        match program {
            Some(program) => executable(&fixture, "bin/it", program),
            None => fs::remove_file(fixture.at("bin/it")).unwrap(),
        }
        let exit = if expected[0] == "works" { 0 } else { ILL };
        let doctor = json(&fixture, &["doctor", "it", "--trust"], exit);
        let doctor = entry(&doctor, "it");
        let tested = json(&fixture, &["test", "it", "--trust", "--require-all"], exit);
        let tested = entry(&tested, "it");
        let mut server = fixture.server(&["--tools", "all", "--trust"]);
        let edit = server.call("safe_edit_file", &serde_json::json!({"path": "new.py", "content": "good\n"}));
        let edited = &edit.structured["gates"][0];
        let states = [&doctor["state"], &tested["outcome"], &edited["outcome"]];
        assert_eq!(states.map(|state| state.as_str().unwrap_or_default()), expected, "{what}: {}", edit.text);
        // Where all say the same word, they give the same reason.
        if expected[0] == expected[2] {
            assert_eq!(doctor["why"], edited["why"], "{what}");
        }
        if expected[0] == "unavailable" {
            assert_eq!(tested["why"], edited["why"], "{what}");
        }
        let installs = doctor["install_hints"].as_array().is_some_and(|hints| !hints.is_empty());
        assert_eq!(installs, program.is_none(), "{what}: a program that is there is not to be installed");
    }
}

/// A program that does not find the mistake behind the draft, or finds something else there, does not work.
#[test]
fn the_doctor_tries_every_text_of_a_canary() {
    let canary = |more: &str| DEFINED.replace("canary: \"bad\\n\"", &format!("canary: {{ {more} }}"));
    for (more, state, why) in [
        ("append: \"bad\\n\", finds: bad, text: \"x\\n\"", "works", ""),
        (
            "append: \"bad\\n\", finds: worse, text: \"bad\\n\"",
            "broken",
            "parses its canary, but misses the mistake",
        ),
        ("append: \"x\\n\", finds: bad, text: \"y\\n\"", "broken", "tried: a mistake behind a draft"),
    ] {
        let fixture = fixture(FINDS);
        let policy = canary(more);
        assert_ne!(policy, DEFINED);
        fixture.write("root/quality.yaml", &policy);
        let report = json(&fixture, &["doctor", "it", "--trust"], if state == "works" { 0 } else { ILL });
        let it = entry(&report, "it");
        assert_eq!(it["state"], state, "{more}: {it:#}");
        assert!(it["why"].as_str().unwrap_or_default().contains(why), "{more}: {it:#}");
    }
}

/// A program that works everywhere but beside a file of the project.
const FAILS_HERE: &str = "#!/bin/sh
printf '%s\\n' \"$0 $*\" >> '{FIXTURE}/outside/ran'
[ \"$1\" = --version ] && { echo 'it 1.2.3'; exit; }
[ -e broken.cfg ] && { echo 'cannot read broken.cfg' >&2; exit 3; }
grep -n bad || true
";

#[test]
fn the_doctor_tries_a_gate_of_the_policy_on_a_file_of_the_project() {
    let fixture = fixture(FAILS_HERE);
    // Files below a policy that is invalid, or that nobody trusts, are not tried.
    for (folder, policy) in [("0", "quality_gates: 5\n"), ("1", DEFINED)] {
        fixture.write(&format!("root/{folder}/quality.yaml"), policy);
        fixture.write(&format!("root/{folder}/x.py"), "good\n");
    }
    fixture.write("root/a/empty.py", "");
    fixture.write("root/a/here.py", "good\nbad\n");
    fixture.trust(".");
    let answer = json(&fixture, &["doctor"], 0);
    let it = entry(&answer, "it");
    assert_eq!((&it["state"], &it["in_project"]["path"]), (&"works".into(), &"a/here.py".into()), "{it:#}");
    assert_eq!(it["in_project"]["outcome"], "found", "{it:#}");
    let text = gates(&fixture, &["doctor"], 0).stdout;
    assert!(text.contains("    in this project: found on a/here.py\n"), "{text}");

    fixture.write("root/broken.cfg", "");
    let answer = json(&fixture, &["doctor"], ILL);
    let it = entry(&answer, "it");
    assert_eq!(it["state"], "broken", "{it:#}");
    let why = "ended with exit code 3: cannot read broken.cfg (on a/here.py of this project)";
    assert_eq!(it["why"], why, "{it:#}");
    // An edit gets the same answer.
    let mut server = fixture.server(&["--tools", "all"]);
    let edit = server.call("safe_edit_file", &serde_json::json!({"path": "a/new.py", "content": "good\n"}));
    assert_eq!(edit.structured["gates"][0]["outcome"], "broken", "{}", edit.text);
    // The control: the samples alone do not show it.
    assert_eq!(entry(&json(&fixture, &["test", "it"], 0), "it")["outcome"], "passed");

    // Without trust, nothing of the project is read.
    fixture.write("root/quality.yaml", &format!("{DEFINED}\n# Another text.\n"));
    fs::remove_file(fixture.at("outside/ran")).unwrap();
    let it = json(&fixture, &["doctor"], ILL);
    assert_eq!(entry(&it, "it")["in_project"], serde_json::Value::Null, "{it:#}");
    assert_eq!(fixture.ran(), [""; 0]);
}

/// The trial of the isolation hides a file in the folder for temporary files, wherever that is.
#[test]
fn a_folder_for_temporary_files_elsewhere_takes_no_isolation_away() {
    let elsewhere = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (root, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let isolation = |temporary: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lockgate"));
        command.args(["gates", "doctor", "syntax", "--json"]).current_dir(root.path());
        command.env("HOME", home.path()).env("TMPDIR", temporary).env_remove("LOCKGATE_ISOLATION");
        let output = command.output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        (report["isolation"].clone(), report["short_of_best"].clone())
    };
    assert_eq!(isolation(elsewhere.path()), isolation(Path::new("/tmp")));
}
