//! Repositories that would like to run something.

use std::fs;

use super::Then::{NeverFound, Plain, Withheld};
use super::{Repository, Then};
use crate::suite::trust::fixture::{Fixture, policy};

const fn repository(name: &'static str, then: Then, build: fn(&Fixture)) -> Repository {
    Repository { name, covers: "app.py", build, then }
}

const fn below(name: &'static str, then: Then, build: fn(&Fixture)) -> Repository {
    Repository { name, covers: "sub/deep/new.py", build, then }
}

/// A policy whose program is outside, and whose definition says this, too.
fn saying(fixture: &Fixture, more: &str) {
    fixture.program("bin/it");
    fixture.write("root/quality.yaml", &format!("{}    {more}\n", policy("[it]")));
}

/// A policy that was trusted as it was.
fn once_trusted(fixture: &Fixture) {
    fixture.program("bin/it");
    fixture.policy("root/quality.yaml", "[it]");
    fixture.trust(".");
}

/// A policy that names tools of the catalogue, which are outside, and configuration that they would run.
fn tools(fixture: &Fixture, files: &[(&str, &str)]) {
    for tool in ["pylint", "mypy"] {
        fixture.program(&format!("bin/{tool}"));
    }
    fixture.write("root/quality.yaml", "quality_gates: { python: [{ tool: pylint }, { tool: mypy }] }\n");
    lay(fixture, files);
}

fn lay(fixture: &Fixture, files: &[(&str, &str)]) {
    for (path, text) in files {
        fixture.write(&format!("root/{path}"), text);
    }
}

const TOUCH: &str = "echo code >> '{FIXTURE}/outside/ran'";

pub const REPOSITORIES: &[Repository] = &[
    repository("an absolute path of its own", NeverFound, |fixture| {
        fixture.program("root/tools/evil");
        fixture.policy("root/quality.yaml", "['{FIXTURE}/root/tools/evil']");
    }),
    repository("a program in the working folder", NeverFound, |fixture| {
        fixture.program("root/evil");
        fixture.policy("root/quality.yaml", "[evil]");
    }),
    repository("a program in a folder of the search path", NeverFound, |fixture| {
        fixture.program("root/bin/evil");
        fixture.policy("root/quality.yaml", "[evil]");
    }),
    repository("its own program by the name of a known one", Withheld, |fixture| {
        fixture.program("root/bin/it");
        fixture.program("root/it");
        saying(fixture, "# shadowed");
    }),
    repository("a link from outside to its own program", NeverFound, |fixture| {
        fixture.program("root/tools/evil");
        fixture.link(&fixture.at("root/tools/evil"), "bin/evil");
        fixture.policy("root/quality.yaml", "[evil]");
    }),
    repository("a program of its virtual environment", Withheld, |fixture| {
        fixture.program("root/.venv/bin/evil");
        fixture.policy("root/quality.yaml", "['{venv}/bin/evil']");
    }),
    below("a virtual environment by its other name", Withheld, |fixture| {
        fixture.program("root/sub/venv/bin/evil");
        fixture.policy("root/sub/quality.yaml", "['{venv}/bin/evil']");
    }),
    repository("a program of npm", Withheld, |fixture| {
        fixture.program("root/node_modules/evil/cli.js");
        fixture.link(&fixture.at("root/node_modules/evil/cli.js"), "root/node_modules/.bin/evil");
        fixture.policy("root/quality.yaml", "['{node_modules}/.bin/evil']");
    }),
    repository("LD_PRELOAD", Withheld, |fixture| saying(fixture, "env: { LD_PRELOAD: \"{root}/evil.so\" }")),
    repository("PATH", Withheld, |fixture| {
        fixture.program("root/bin/cat");
        saying(fixture, "env: { PATH: \"{root}/bin\" }");
    }),
    repository("PYTHONPATH", Withheld, |fixture| {
        saying(fixture, "env: { PYTHONPATH: \"{root}\", PYTHONSTARTUP: \"{root}/a.py\" }")
    }),
    repository("variables of git", Withheld, |fixture| {
        saying(
            fixture,
            "env: { GIT_SSH_COMMAND: \"{root}/evil\", GIT_EXTERNAL_DIFF: \"{root}/evil\", GIT_DIR: \"{root}\" }",
        );
    }),
    repository("variables of node", Withheld, |fixture| {
        saying(fixture, "env: { NODE_OPTIONS: \"--require {root}/evil.js\" }")
    }),
    below("a nested policy", Withheld, |fixture| {
        fixture.program("bin/it");
        fixture.write("root/quality.yaml", "quality_gates: { python: [{ tool: syntax }] }\n");
        fixture.policy("root/sub/quality.yaml", "[it]");
    }),
    below("commands in the policy above, which is trusted itself", Withheld, |fixture| {
        fixture.program("bin/it");
        fixture.policy("root/sub/quality.yaml", "[it]");
        fixture.trust("sub");
        fixture.write("root/sub/deep/quality.yaml", "extends: parent\n");
    }),
    below("commands two policies above", Withheld, |fixture| {
        fixture.program("bin/it");
        fixture.policy("root/quality.yaml", "[it]");
        for folder in ["root/sub", "root/sub/deep"] {
            fixture.write(&format!("{folder}/quality.yaml"), "extends: parent\nlimits: { file: 1MiB }\n");
        }
    }),
    repository("a policy in .lockgate", Withheld, |fixture| {
        fixture.program("bin/it");
        fixture.policy("root/.lockgate/quality.yaml", "[it]");
    }),
    repository("a policy in .st3", Withheld, |fixture| {
        fixture.program("bin/it");
        fixture.policy("root/.st3/quality.yaml", "[it]");
    }),
    repository("a policy that changed since it was trusted", Withheld, |fixture| {
        once_trusted(fixture);
        fixture.append("root/quality.yaml", "# a remark\n");
    }),
    repository("a program that became a link since it was trusted", Withheld, |fixture| {
        once_trusted(fixture);
        fs::rename(fixture.at("bin/it"), fixture.at("bin/other")).unwrap();
        fixture.link(&fixture.at("bin/other"), "bin/it");
    }),
    repository("a program that moved since it was trusted", Withheld, |fixture| {
        fixture.program("bin/it");
        fixture.policy("root/quality.yaml", "['{venv}/bin/it', it]");
        fixture.trust(".");
        fixture.program("root/.venv/bin/it");
    }),
    repository("a record that others can write", Withheld, |fixture| {
        once_trusted(fixture);
        let folder = fixture.at("user/state/lockgate/trust");
        fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    }),
    repository("a record that was taken back", Withheld, |fixture| {
        once_trusted(fixture);
        assert_eq!(fixture.call(&["trust", "revoke"]).exit, 0);
    }),
    repository("records of its own", Withheld, |fixture| {
        once_trusted(fixture);
        let state = fixture.at("user/state/lockgate");
        fs::rename(&state, fixture.at("root/lockgate")).unwrap();
        fixture.link(&fixture.root(), "user/linked");
        fs::remove_dir(fixture.at("user/state")).unwrap();
        fs::rename(fixture.at("user/linked"), fixture.at("user/state")).unwrap();
    }),
    repository("a shell", Withheld, |fixture| {
        let shell = format!("command: [sh, -c, \"{TOUCH}; cat\", \"{{path}}\"]");
        fixture.write("root/quality.yaml", &policy("[sh]").replace("command: [it, \"{path}\"]", &shell));
    }),
    repository("a fixer", Withheld, |fixture| {
        fixture.program("bin/it");
        let fixer = policy("[it]").replace("text: exit, message: bad", "text: formatted");
        fixture.write("root/quality.yaml", &fixer.replace("kind: command", "kind: command\n    role: fix"));
    }),
    repository("a probe and a canary", Withheld, |fixture| {
        saying(fixture, "probe: [it, --version]\n    canary: \"x\"")
    }),
    repository("a linked copy", Withheld, |fixture| {
        fixture.program("bin/it");
        fixture.write("root/quality.yaml", &policy("[it]").replace("stdin", "staged"));
    }),
    repository("gates by path", Withheld, |fixture| {
        fixture.program("bin/it");
        let text = policy("[it]").replace(
            "quality_gates:\n  python:\n    - tool: it\n",
            "quality_gates: {}\npaths: [{ match: \"*.py\", gates: [it] }]\n",
        );
        fixture.write("root/quality.yaml", &text);
    }),
    repository("gates for every language", Withheld, |fixture| {
        fixture.program("bin/it");
        fixture.write(
            "root/quality.yaml",
            &policy("[it]").replace("  python:", "  \"*\":").replace("[python]", "[\"*\"]"),
        );
    }),
    repository("commands to validate with", Plain, |fixture| {
        fixture.program("root/bin/evil");
        fixture.write("root/quality.yaml", "validate_commands: [[evil], [sh, -c, \"exit 1\"]]\n");
    }),
    repository("commands that are switched off", Plain, |fixture| {
        fixture.program("bin/it");
        fixture
            .write("root/quality.yaml", &policy("[it]").replace("tool: it", "{ tool: it, enabled: false }"));
    }),
    repository("code in the configuration of known tools", Withheld, |fixture| {
        tools(
            fixture,
            &[
                (
                    ".pylintrc",
                    "[MAIN]\ninit-hook=__import__('os').system(\"touch ran\")\nload-plugins=evil\n",
                ),
                ("mypy.ini", "[mypy]\nplugins = ./evil.py\n"),
                (
                    "pyproject.toml",
                    "[tool.pylint.main]\nload-plugins = [\"evil\"]\n[tool.mypy]\nplugins = [\"evil.py\"]\n",
                ),
                ("evil.py", "import os\nos.system('touch ran')\n"),
            ],
        );
    }),
    repository("code that tools load unasked", Plain, |fixture| {
        let python = "import os\nos.system(\"touch ran\")\n";
        lay(
            fixture,
            &[
                ("conftest.py", python),
                ("setup.py", python),
                ("sitecustomize.py", python),
                ("noxfile.py", python),
                ("eslint.config.js", "require('child_process').execSync('touch ran')\n"),
                (".prettierrc.js", "require('child_process').execSync('touch ran')\n"),
                ("package.json", "{ \"scripts\": { \"preinstall\": \"touch ran\" } }\n"),
                ("Makefile", "all:\n\ttouch ran\n"),
                (
                    ".pre-commit-config.yaml",
                    "repos: [{ repo: local, hooks: [{ id: x, entry: touch ran, language: system }] }]\n",
                ),
                (".envrc", "touch ran\n"),
                (
                    ".vscode/tasks.json",
                    "{ \"tasks\": [{ \"command\": \"touch ran\", \"runOptions\": { \"runOn\": \"folderOpen\" } }] }\n",
                ),
                (".editorconfig", "root = true\n[*.py]\ncharset = $(touch ran)\nend_of_line = `touch ran`\n"),
            ],
        );
    }),
    repository("hooks and settings of git", Plain, |fixture| {
        for hook in ["pre-commit", "post-checkout", "fsmonitor-watchman", "post-index-change"] {
            fixture.program(&format!("root/.git/hooks/{hook}"));
        }
        fixture.program("root/evil");
        lay(
            fixture,
            &[
                (".git/HEAD", "ref: refs/heads/main\n"),
                (
                    ".git/config",
                    "[core]\n\tfsmonitor = ./evil\n\thooksPath = .\n\tpager = ./evil\n[filter \"x\"]\n\tclean = ./evil\n\tsmudge = ./evil\n[diff \"x\"]\n\texternal = ./evil\n\ttextconv = ./evil\n",
                ),
                (".gitattributes", "* filter=x diff=x\n"),
            ],
        );
    }),
];
