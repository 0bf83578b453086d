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

/// A policy whose program lies outside, and whose definition says this, too.
fn saying(scene: &Fixture, more: &str) {
    scene.program("bin/it");
    scene.write("root/quality.yaml", &format!("{}    {more}\n", policy("[it]")));
}

/// A policy that was trusted as it was.
fn once_trusted(scene: &Fixture) {
    scene.program("bin/it");
    scene.policy("root/quality.yaml", "[it]");
    scene.trust(".");
}

/// A policy that names tools of the catalogue, which lie outside, and configuration that they would run.
fn tools(scene: &Fixture, files: &[(&str, &str)]) {
    for tool in ["pylint", "mypy"] {
        scene.program(&format!("bin/{tool}"));
    }
    scene.write("root/quality.yaml", "quality_gates: { python: [{ tool: pylint }, { tool: mypy }] }\n");
    lay(scene, files);
}

fn lay(scene: &Fixture, files: &[(&str, &str)]) {
    for (path, text) in files {
        scene.write(&format!("root/{path}"), text);
    }
}

const TOUCH: &str = "echo code >> '{SCENE}/outside/ran'";

pub const REPOSITORIES: &[Repository] = &[
    repository("an absolute path of its own", NeverFound, |scene| {
        scene.program("root/tools/evil");
        scene.policy("root/quality.yaml", "['{SCENE}/root/tools/evil']");
    }),
    repository("a program in the working folder", NeverFound, |scene| {
        scene.program("root/evil");
        scene.policy("root/quality.yaml", "[evil]");
    }),
    repository("a program in a folder of the search path", NeverFound, |scene| {
        scene.program("root/bin/evil");
        scene.policy("root/quality.yaml", "[evil]");
    }),
    repository("its own program by the name of a known one", Withheld, |scene| {
        scene.program("root/bin/it");
        scene.program("root/it");
        saying(scene, "# shadowed");
    }),
    repository("a link from outside to its own program", NeverFound, |scene| {
        scene.program("root/tools/evil");
        scene.link(&scene.at("root/tools/evil"), "bin/evil");
        scene.policy("root/quality.yaml", "[evil]");
    }),
    repository("a program of its virtual environment", Withheld, |scene| {
        scene.program("root/.venv/bin/evil");
        scene.policy("root/quality.yaml", "['{venv}/bin/evil']");
    }),
    below("a virtual environment by its other name", Withheld, |scene| {
        scene.program("root/sub/venv/bin/evil");
        scene.policy("root/sub/quality.yaml", "['{venv}/bin/evil']");
    }),
    repository("a program of npm", Withheld, |scene| {
        scene.program("root/node_modules/evil/cli.js");
        scene.link(&scene.at("root/node_modules/evil/cli.js"), "root/node_modules/.bin/evil");
        scene.policy("root/quality.yaml", "['{node_modules}/.bin/evil']");
    }),
    repository("LD_PRELOAD", Withheld, |scene| saying(scene, "env: { LD_PRELOAD: \"{root}/evil.so\" }")),
    repository("PATH", Withheld, |scene| {
        scene.program("root/bin/cat");
        saying(scene, "env: { PATH: \"{root}/bin\" }");
    }),
    repository("PYTHONPATH", Withheld, |scene| {
        saying(scene, "env: { PYTHONPATH: \"{root}\", PYTHONSTARTUP: \"{root}/a.py\" }")
    }),
    repository("variables of git", Withheld, |scene| {
        saying(
            scene,
            "env: { GIT_SSH_COMMAND: \"{root}/evil\", GIT_EXTERNAL_DIFF: \"{root}/evil\", GIT_DIR: \"{root}\" }",
        );
    }),
    repository("variables of node", Withheld, |scene| {
        saying(scene, "env: { NODE_OPTIONS: \"--require {root}/evil.js\" }")
    }),
    below("a nested policy", Withheld, |scene| {
        scene.program("bin/it");
        scene.write("root/quality.yaml", "quality_gates: { python: [{ tool: syntax }] }\n");
        scene.policy("root/sub/quality.yaml", "[it]");
    }),
    below("commands in the policy above, which is trusted itself", Withheld, |scene| {
        scene.program("bin/it");
        scene.policy("root/sub/quality.yaml", "[it]");
        scene.trust("sub");
        scene.write("root/sub/deep/quality.yaml", "extends: parent\n");
    }),
    below("commands two policies above", Withheld, |scene| {
        scene.program("bin/it");
        scene.policy("root/quality.yaml", "[it]");
        for folder in ["root/sub", "root/sub/deep"] {
            scene.write(&format!("{folder}/quality.yaml"), "extends: parent\nlimits: { file: 1MiB }\n");
        }
    }),
    repository("a policy in .lockgate", Withheld, |scene| {
        scene.program("bin/it");
        scene.policy("root/.lockgate/quality.yaml", "[it]");
    }),
    repository("a policy in .st3", Withheld, |scene| {
        scene.program("bin/it");
        scene.policy("root/.st3/quality.yaml", "[it]");
    }),
    repository("a policy that changed since it was trusted", Withheld, |scene| {
        once_trusted(scene);
        scene.append("root/quality.yaml", "# a remark\n");
    }),
    repository("a program that became a link since it was trusted", Withheld, |scene| {
        once_trusted(scene);
        fs::rename(scene.at("bin/it"), scene.at("bin/other")).unwrap();
        scene.link(&scene.at("bin/other"), "bin/it");
    }),
    repository("a program that moved since it was trusted", Withheld, |scene| {
        scene.program("bin/it");
        scene.policy("root/quality.yaml", "['{venv}/bin/it', it]");
        scene.trust(".");
        scene.program("root/.venv/bin/it");
    }),
    repository("a record that others can write", Withheld, |scene| {
        once_trusted(scene);
        let folder = scene.at("user/state/lockgate/trust");
        fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    }),
    repository("a record that was taken back", Withheld, |scene| {
        once_trusted(scene);
        assert_eq!(scene.call(&["trust", "revoke"]).exit, 0);
    }),
    repository("records of its own", Withheld, |scene| {
        once_trusted(scene);
        let state = scene.at("user/state/lockgate");
        fs::rename(&state, scene.at("root/lockgate")).unwrap();
        scene.link(&scene.root(), "user/linked");
        fs::remove_dir(scene.at("user/state")).unwrap();
        fs::rename(scene.at("user/linked"), scene.at("user/state")).unwrap();
    }),
    repository("a shell", Withheld, |scene| {
        let shell = format!("command: [sh, -c, \"{TOUCH}; cat\", \"{{path}}\"]");
        scene.write("root/quality.yaml", &policy("[sh]").replace("command: [it, \"{path}\"]", &shell));
    }),
    repository("a fixer", Withheld, |scene| {
        scene.program("bin/it");
        let fixer = policy("[it]").replace("text: exit, message: bad", "text: formatted");
        scene.write("root/quality.yaml", &fixer.replace("kind: command", "kind: command\n    role: fix"));
    }),
    repository("a probe and a canary", Withheld, |scene| {
        saying(scene, "probe: [it, --version]\n    canary: \"x\"")
    }),
    repository("a linked copy", Withheld, |scene| {
        scene.program("bin/it");
        scene.write("root/quality.yaml", &policy("[it]").replace("stdin", "staged"));
    }),
    repository("gates by path", Withheld, |scene| {
        scene.program("bin/it");
        let text = policy("[it]").replace(
            "quality_gates:\n  python:\n    - tool: it\n",
            "quality_gates: {}\npaths: [{ match: \"*.py\", gates: [it] }]\n",
        );
        scene.write("root/quality.yaml", &text);
    }),
    repository("gates for every language", Withheld, |scene| {
        scene.program("bin/it");
        scene.write(
            "root/quality.yaml",
            &policy("[it]").replace("  python:", "  \"*\":").replace("[python]", "[\"*\"]"),
        );
    }),
    repository("commands to validate with", Plain, |scene| {
        scene.program("root/bin/evil");
        scene.write("root/quality.yaml", "validate_commands: [[evil], [sh, -c, \"exit 1\"]]\n");
    }),
    repository("commands that are switched off", Plain, |scene| {
        scene.program("bin/it");
        scene.write("root/quality.yaml", &policy("[it]").replace("tool: it", "{ tool: it, enabled: false }"));
    }),
    repository("code in the configuration of known tools", Withheld, |scene| {
        tools(
            scene,
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
    repository("code that tools load unasked", Plain, |scene| {
        let python = "import os\nos.system(\"touch ran\")\n";
        lay(
            scene,
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
    repository("hooks and settings of git", Plain, |scene| {
        for hook in ["pre-commit", "post-checkout", "fsmonitor-watchman", "post-index-change"] {
            scene.program(&format!("root/.git/hooks/{hook}"));
        }
        scene.program("root/evil");
        lay(
            scene,
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
