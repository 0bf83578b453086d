//! A person's word that commands may run: how it is given, what ends it, and who cannot give it.

pub mod fixture;
mod record;
mod running;

use std::fs;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::store::not_run;
use super::wire::outcome;
use fixture::Fixture;

/// The exit code of what is not trusted.
const WITHHELD: i32 = 8;

/// A fixture with a policy whose program is outside of the root.
fn fixture() -> Fixture {
    let fixture = Fixture::new();
    fixture.program("bin/it");
    fixture.policy("root/quality.yaml", "[it]");
    fixture
}

#[track_caller]
fn trusted(fixture: &Fixture) {
    let status = fixture.call(&["trust", "status"]);
    assert_eq!(status.exit, 0, "{}{}", status.stdout, status.stderr);
}

#[track_caller]
fn withheld(fixture: &Fixture, why: &str) {
    let status = fixture.call(&["trust", "status"]);
    assert_eq!(status.exit, WITHHELD, "{}{}", status.stdout, status.stderr);
    assert!(status.stdout.contains(&fixture.fill(why)), "{why}: {}", status.stdout);
}

const NEVER: &str = "the commands of quality.yaml are not trusted";
const CHANGED: &str = "quality.yaml, or what it includes, changed since its commands were trusted";

#[test]
fn trust_is_granted_once_and_revoked() {
    let fixture = fixture();
    withheld(&fixture, NEVER);
    let unasked = fixture.call(&["trust"]);
    assert!(unasked.exit == 2 && unasked.stderr.contains("not a terminal"), "{}", unasked.stderr);
    withheld(&fixture, NEVER);
    fixture.trust(".");
    trusted(&fixture);
    let again = fixture.call(&["trust"]);
    assert!(
        again.exit == 0 && again.stdout.contains("is already trusted"),
        "{}{}",
        again.stdout,
        again.stderr
    );
    assert_eq!(fixture.call(&["trust", "revoke"]).stdout, "revoked   1 record\n");
    withheld(&fixture, NEVER);
    assert_eq!(fixture.call(&["trust", "revoke"]).stdout, "revoked   nothing was trusted\n");
    assert_eq!(fixture.ran(), [""; 0], "nothing runs by being looked at");
}

#[test]
fn any_change_of_the_policy_ends_it() {
    let fixture = fixture();
    fixture.trust(".");
    fixture.append("root/quality.yaml", "# a remark\n");
    withheld(&fixture, CHANGED);
    fixture.policy("root/quality.yaml", "[it]");
    trusted(&fixture);
    fs::rename(fixture.at("root/quality.yaml"), fixture.at("root/old.yaml")).unwrap();
    fixture.write("root/.lockgate/quality.yaml", &fs::read_to_string(fixture.at("root/old.yaml")).unwrap());
    withheld(&fixture, "the commands of .lockgate/quality.yaml are not trusted");
}

#[test]
fn any_change_of_a_program_s_place_ends_it() {
    let mut fixture = fixture();
    fixture.trust(".");
    let another = "the program of the gate it is now ";
    fs::rename(fixture.at("bin/it"), fixture.at("bin/other")).unwrap();
    withheld(&fixture, &format!("{another}none, and {{FIXTURE}}/bin/it was trusted"));
    fixture.link(&fixture.at("bin/other"), "bin/it");
    withheld(&fixture, &format!("{another}{{FIXTURE}}/bin/it (which is {{FIXTURE}}/bin/other), and"));
    fixture.program("before/it");
    let path = fixture.path.clone();
    fixture.path = format!("{}:{path}", fixture.at("before").display());
    withheld(&fixture, &format!("{another}{{FIXTURE}}/before/it, and {{FIXTURE}}/bin/it was trusted"));
    fixture.path = path;
    fs::remove_file(fixture.at("bin/it")).unwrap();
    fs::rename(fixture.at("bin/other"), fixture.at("bin/it")).unwrap();
    trusted(&fixture);
}

#[test]
fn a_program_that_comes_later_was_not_trusted() {
    let fixture = fixture();
    fixture.policy("root/quality.yaml", "['{venv}/bin/it', later]");
    fixture.trust(".");
    trusted(&fixture);
    fixture.program("root/.venv/bin/it");
    withheld(&fixture, "is now {FIXTURE}/root/.venv/bin/it, and none was trusted");
}

#[test]
fn a_change_of_what_is_included_ends_it() {
    let fixture = fixture();
    fixture.write("root/sub/quality.yaml", "extends: parent\nlimits: { file: 1MiB }\n");
    let status = |fixture: &Fixture| fixture.call(&["trust", "status", "sub/deep"]).exit;
    fixture.trust("sub");
    assert_eq!(status(&fixture), 0);
    withheld(&fixture, NEVER);
    fixture.append("root/quality.yaml", "# a remark\n");
    let withheld = fixture.call(&["trust", "status", "sub/deep"]);
    assert_eq!(withheld.exit, WITHHELD);
    assert!(withheld.stdout.contains("with `lockgate trust sub/deep`"), "{}", withheld.stdout);
    fixture.trust("sub/deep");
    assert_eq!(status(&fixture), 0);
    fixture.trust(".");
    trusted(&fixture);
    assert_eq!(fixture.call(&["trust", "revoke", "sub"]).exit, 0);
    trusted(&fixture);
    assert_eq!(status(&fixture), WITHHELD);
    fixture.trust("sub");
    assert_eq!(fixture.call(&["trust", "revoke"]).stdout, "revoked   2 records\n");
}

#[test]
fn commands_are_shown_in_full_and_cannot_be_disguised() {
    let fixture = fixture();
    fixture.program("root/.venv/bin/own");
    let more = "  own:\n    about: \"Is \\e[2Jours.\\nprogram   /usr/bin/true\"\n    languages: [python]\n    kind: command\n    \
                input: stdin\n    command: [own, --flag, \"{path}\", \"{args}\", --last]\n    bin: ['{venv}/bin/own']\n    \
                env: { LD_PRELOAD: /tmp/x.so, PLACE: \"{cache}/own\" }\n    output: { text: exit, message: bad }\n    \
                path: ['{venv}/bin']\n    unconfigured: [--plain, 'a b']\n    config: [own.ini]\n    \
                values: { year: { in: [own.toml], match: 'year = (\\d+)', default: \"2000\" } }\n";
    fixture.append("root/quality.yaml", more);
    let text = fs::read_to_string(fixture.at("root/quality.yaml")).unwrap();
    let own = "    - { tool: own, args: [\"--two words\", \"it's\\n\\u202e\"] }\n  go:\n    - { tool: it, args: [-v] }\n";
    fixture.write("root/quality.yaml", &text.replace("    - tool: it\n", &format!("    - tool: it\n{own}")));
    let printed = fixture.call(&["trust"]).stdout;
    for line in [
        "root      {FIXTURE}/root",
        "policy    quality.yaml",
        "own Is \u{241b}[2Jours.\u{240a}program   /usr/bin/true",
        "runs      own --flag {path} '--two words' 'it'\\''s\u{240a}\u{fffd}' --last",
        "runs      it {path}",
        "runs      it {path} -v",
        "with      LD_PRELOAD=/tmp/x.so",
        "with      PLACE={cache}/own",
        "with      {venv}/bin before its search path",
        "with      {year} from own.toml, else `2000`",
        "with      --plain 'a b' where the project has no configuration of it",
        "program   {FIXTURE}/root/.venv/bin/own, INSIDE THE REPOSITORY",
        "program   {FIXTURE}/bin/it",
        "may       do all that you can do; anyone who can change the repository decides what",
    ] {
        assert!(printed.lines().any(|shown| shown == fixture.fill(line)), "{line}\n{printed}");
    }
    assert!(!printed.contains(['\u{1b}', '\u{202e}']), "{printed:?}");
}

#[test]
fn json_reports_the_same_as_the_text() {
    let fixture = fixture();
    fixture.program("root/bin/it");
    let status = |code: i32| -> Value {
        let output = fixture.call(&["trust", "status", "--json"]);
        assert_eq!(output.exit, code, "{}", output.stderr);
        serde_json::from_str(&output.stdout).unwrap()
    };
    let report = status(WITHHELD);
    assert_eq!((&report["trusted"], &report["why"]), (&json!(false), &json!(NEVER)));
    assert_eq!(report["policies"], json!(["quality.yaml"]));
    let command = json!({"gate": "it", "words": ["it", "{path}"], "env": {}, "with": [], "program": fixture.at("bin/it"),
        "real_path": fixture.at("bin/it"), "inside_repository": false, "passed_over": []});
    assert_eq!(report["commands"], json!([command]));
    fixture.trust(".");
    assert_eq!((status(0)["trusted"].clone(), status(0)["why"].clone()), (json!(true), json!(null)));
}

#[test]
fn a_policy_that_runs_nothing_needs_no_trust() {
    let fixture = Fixture::new();
    trusted(&fixture);
    let output = fixture.call(&["trust"]);
    assert!(
        output.exit == 0 && output.stdout.contains("nothing to trust"),
        "{}{}",
        output.stdout,
        output.stderr
    );
    fixture.write("root/quality.yaml", "quality_gate: {}\n");
    assert_eq!(fixture.call(&["trust", "--yes"]).exit, 8);
    assert!(fixture.call(&["trust", "status"]).stderr.contains("POLICY_INVALID"));
    assert!(!fixture.at("user/state/lockgate/trust").exists());
}

/// What a person at a terminal sees who gives these answers; `None` where no terminal can be made.
fn at_a_terminal(fixture: &Fixture, answer: &str) -> Option<(String, i32)> {
    let command = format!("{} trust; echo \"exit $?\"", env!("CARGO_BIN_EXE_lockgate"));
    let mut script = Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).current_dir(fixture.root());
    for (name, value) in fixture.command().get_envs() {
        value.map(|value| script.env(name, value));
    }
    let mut child = match script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(error) => {
            not_run(&format!("the question of `lockgate trust`: there is no `script`: {error}"));
            return None;
        }
    };
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), answer.as_bytes()).unwrap();
    let printed = outcome(&child.wait_with_output().unwrap()).stdout;
    let exit = printed.split("exit ").last().unwrap().trim().parse().unwrap();
    Some((printed, exit))
}

#[test]
fn a_confirmation_accepts_only_yes() {
    for (answer, is_yes) in
        [("y\n", true), ("yes\n", true), ("n\n", false), ("\n", false), ("yess\n", false), ("\u{4}", false)]
    {
        let fixture = fixture();
        let Some((printed, exit)) = at_a_terminal(&fixture, answer) else { return };
        assert!(printed.contains("Trust these commands? [y/N]"), "{printed}");
        assert_eq!(exit, if is_yes { 0 } else { WITHHELD }, "{answer:?}: {printed}");
        if is_yes { trusted(&fixture) } else { withheld(&fixture, NEVER) }
    }
}

#[test]
fn no_tool_grants_trust() {
    let fixture = fixture();
    let mut server = fixture.server(&["--tools", "all"]);
    let id = server.post("tools/list", json!({}));
    let listed = server.wait(id).unwrap()["result"]["tools"].to_string();
    assert!(listed.contains("safe_edit_file") && !listed.contains("trust"), "{listed}");
}
