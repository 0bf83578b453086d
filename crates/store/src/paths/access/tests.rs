//! Thousands of spellings of protected paths, all refused, and near misses, all allowed.

use super::*;
use std::collections::BTreeSet;

const PROTECTED_PATHS: &[&str] = &[
    ".git",
    ".git/config",
    ".git/hooks/pre-commit",
    ".git/objects/aa/bb",
    "quality.yaml",
    ".lockgate/quality.yaml",
    ".st3/quality.yaml",
    ".lockgate/trust",
    ".husky/pre-push",
    ".envrc",
    ".mcp.json",
    ".vscode/settings.json",
    ".vscode/tasks.json",
    ".vscode/launch.json",
    ".vscode/mcp.json",
    ".claude/settings.json",
    ".claude/hooks/a.sh",
    ".cursor/mcp.json",
    ".codex/hooks.json",
    ".codex/config.toml",
    ".github/hooks/lockgate.json",
    ".windsurf/hooks.json",
    ".clinerules/hooks/PreToolUse",
    ".opencode/plugin/a.ts",
    ".opencode/plugins/lockgate.js",
    ".factory/hooks.json",
    ".agents/hooks.json",
    ".agents/mcp_config.json",
    ".github/mcp.json",
    ".zed/settings.json",
    ".zed/tasks.json",
    ".gemini/settings.json",
    ".env",
    ".env.local",
    ".env.example.local",
    ".env.sample~",
    ".env.templates",
    ".environment",
    "server.pem",
    "tls.key",
    "store.p12",
    "id_rsa",
    "id_rsa.pub",
    ".ssh/config",
    ".ssh/authorized_keys",
    "id_dsa",
    "id_ecdsa_sk",
    "id_ed25519",
    "id_ed25519.pub",
    "id_ed25519_work",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".git-credentials",
    ".aws/credentials",
    ".kube/config",
    ".docker/config.json",
    "sign.pfx",
    "store.jks",
    "release.keystore",
    "x.ppk",
    "x.kdbx",
    "x.ovpn",
    "ssh_host_x",
    ".dev.varsx",
    "kubeconfig",
    "x.kubeconfig",
    ".dockercfg",
    ".cargo/credentials.toml",
    ".cargo/credentials",
    ".gem/credentials",
    ".bundle/config",
    ".hex/hex.config",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".nuget/NuGet/NuGet.Config",
    ".composer/auth.json",
    ".config/composer/auth.json",
    ".config/pypoetry/auth.toml",
    ".config/gh/hosts.yml",
    ".config/glab-cli/a/b",
    ".config/gcloud/a/b",
    ".config/git/credentials",
    ".config/containers/auth.json",
    ".config/helm/registry/config.json",
    ".config/doctl/a/b",
    ".config/op/a/b",
    ".azure/msal_token_cachex",
    ".azure/accessTokens.json",
    ".oci/a/b",
    ".boto",
    ".s3cfg",
    ".passwd-s3fs",
    "rclone.conf",
    ".rclone.conf",
    ".my.cnf",
    ".mylogin.cnf",
    ".pg_service.conf",
    ".htpasswd",
    ".vnc/passwd",
    ".gnupg/a/b",
    ".password-store/a/b",
    ".vault-token",
    ".terraformrc",
    "terraform.rc",
    ".terraform.d/a/b",
    ".pulumi/credentials.json",
    ".databrickscfg",
    ".snowsql/config",
    ".snowflake/a/b",
    ".dbt/profiles.yml",
    ".kaggle/a/b",
    ".huggingface/token",
    ".fly/config.yml",
    ".credentials",
];

const RUNNABLE_PATHS: &[&str] = &[
    ".githooks",
    ".githooks/pre-commit",
    ".hg/hgrc",
    ".hg/sharedpath",
    ".jj/repo/config.toml",
    "app.code-workspace",
    ".codex/prompts/a.md",
    ".windsurf/rules/a.md",
    ".kiro/hooks/a.kiro.hook",
    ".exrc",
    ".nvimrc",
    ".nvim.lua",
    ".dir-locals.el",
    ".zed/debug.json",
    "crush.json",
    ".crush.json",
    ".qwen/settings.json",
    ".amazonq/mcp.json",
    ".kilocode/mcp.json",
    ".roo/mcp.json",
    ".continue/config.yaml",
    ".opencode/agent/a.md",
    "opencode.json",
    "opencode.jsonc",
    ".sl/a/b",
    "_darcs/a/b",
    ".bzr/a/b",
    ".pijul/a/b",
    ".repo/a/b",
    "_MTN/a/b",
    ".fossil-settings/a/b",
    "CVS/Root",
    ".p4config",
    ".arcconfig",
    ".gitconfig",
    ".config/git/a/b",
    ".trae/a/b",
    ".junie/a/b",
    ".factory/a/b",
    ".github/copilot/a/b",
    ".gitlab/duo/a/b",
    ".copilot/a/b",
    ".augment/a/b",
    ".amp/a/b",
    ".crush/a/b",
    ".cline/a/b",
    ".goose/a/b",
    ".aider.conf.yml",
    ".codebuddy/a/b",
    ".iflow/a/b",
    ".zencoder/a/b",
    ".tabnine/a/b",
    ".rovodev/a/b",
    ".qodo/a/b",
    ".codeium/a/b",
    ".grok/a/b",
    ".vibe/a/b",
    ".kimi/a/b",
    ".antigravity/a/b",
    ".openhands/a/b",
    ".idea/a/b",
    "x.run.xml",
    ".fleet/a/b",
    ".vs/a/b",
    ".theia/a/b",
    ".nova/a/b",
    ".helix/a/b",
    ".bsp/a/b",
    ".vscode/c_cpp_properties.json",
    ".vscode/cmake-kits.json",
    "x.sublime-project",
    ".externalToolBuilders/a/b",
    ".replit",
    ".vimrc",
    ".gvimrc",
    ".lvimrc",
    "_vimrc",
    "_gvimrc",
    "_exrc",
    ".vim/coc-settings.json",
    ".lazy.lua",
    ".dir-locals-2.el",
    ".gdbinit",
    ".lldbinit",
    ".irbrc",
    ".pryrc",
    ".byebugrc",
    ".rdbgrc",
    ".Rprofile",
    ".Renviron",
    ".iex.exs",
    ".ghci",
    ".ocamlinit",
    ".octaverc",
    ".erlang",
    ".pdbrc",
    ".agents/mcp.json",
    ".warp/mcp.json",
];

const REVIEWED_PATHS: &[(&str, &str)] = &[
    (".github/workflows/ci.yml", "in CI"),
    (".github/actions/x/action.yml", "in CI"),
    (".gitlab-ci.yml", "in CI"),
    (".circleci/config.yml", "in CI"),
    ("Jenkinsfile", "in CI"),
    (".pre-commit-config.yaml", "at a commit"),
    ("lefthook.yml", "at a commit"),
    ("lefthook.yaml", "at a commit"),
    (".devcontainer/devcontainer.json", "when a development container starts"),
    (".devcontainer.json", "when a development container starts"),
    ("Makefile", "in a build"),
    ("GNUmakefile", "in a build"),
    ("package.json", "in a build"),
    (".cargo/config.toml", "in a build"),
    (".cargo/config", "in a build"),
    ("build.rs", "in a build"),
    ("lefthook-local.yml", "at a commit"),
    (".config/lefthook.toml", "at a commit"),
    (".gitlab-ci.yaml", "in CI"),
    (".forgejo/workflows/a/b", "in CI"),
    (".gitea/workflows/a/b", "in CI"),
    (".buildkite/a/b", "in CI"),
    (".woodpecker/a/b", "in CI"),
    (".woodpecker.yml", "in CI"),
    (".drone.yml", "in CI"),
    (".travis.yml", "in CI"),
    (".cirrus.yml", "in CI"),
    ("appveyor.yml", "in CI"),
    (".appveyor.yml", "in CI"),
    ("azure-pipelines.yml", "in CI"),
    ("bitbucket-pipelines.yml", "in CI"),
    ("prek.toml", "at a commit"),
    (".pre-commit-config.yml", "at a commit"),
    (".pre-commit-hooks.yaml", "at a commit"),
    ("lefthook.jsonc", "at a commit"),
    (".lefthook.yml", "at a commit"),
    (".lefthook.yaml", "at a commit"),
    (".lefthook.toml", "at a commit"),
    (".lefthook.json", "at a commit"),
    (".lefthook.jsonc", "at a commit"),
    ("lefthook-local.yaml", "at a commit"),
    ("lefthook-local.toml", "at a commit"),
    ("lefthook-local.json", "at a commit"),
    ("lefthook-local.jsonc", "at a commit"),
    (".lefthook-local.yml", "at a commit"),
    (".lefthook-local.yaml", "at a commit"),
    (".lefthook-local.toml", "at a commit"),
    (".lefthook-local.json", "at a commit"),
    (".lefthook-local.jsonc", "at a commit"),
    (".lefthook/a/b", "at a commit"),
    (".lefthook-local/a/b", "at a commit"),
    (".huskyrcx", "at a commit"),
    ("husky.config.js", "at a commit"),
    (".lintstagedrcx", "at a commit"),
    ("lint-staged.config.x", "at a commit"),
    (".simple-git-hooks.x", "at a commit"),
    ("simple-git-hooks.x", "at a commit"),
    (".overcommit.yml", "at a commit"),
    (".git-hooks/a/b", "at a commit"),
    ("captainhook.json", "at a commit"),
    ("grumphp.yml", "at a commit"),
    (".gitpod.yml", "when a development container starts"),
    (".gitpod/a/b", "when a development container starts"),
    (".idx/a/b", "when a development container starts"),
    (".codesandbox/a/b", "when a development container starts"),
    ("devfile.yaml", "when a development container starts"),
    (".devfile.yaml", "when a development container starts"),
    (".yarnrc.yml", "in a build"),
    (".yarnrc", "in a build"),
    (".pnpmfile.cjs", "in a build"),
    (".gclient", "in a build"),
    (".mvn/jvm.config", "in a build"),
    (".sbtopts", "in a build"),
    (".jvmopts", "in a build"),
    ("mise.toml", "when a shell enters the folder"),
    (".mise.toml", "when a shell enters the folder"),
    ("mise.local.toml", "when a shell enters the folder"),
    (".mise.local.toml", "when a shell enters the folder"),
    (".mise/a/b", "when a shell enters the folder"),
    (".config/mise/a/b", "when a shell enters the folder"),
    (".autoenv", "when a shell enters the folder"),
];

const ALLOWED: &[&str] = &[
    ".gitignore",
    ".gitattributes",
    ".gitmodules",
    ".github/x.yml",
    "git/config",
    "a.git",
    "quality.yaml.md",
    "quality.yml",
    "my_quality.yaml",
    "keyboard.py",
    ".claude.md",
    "CLAUDE.md",
    ".codex/prompts/a.md",
    ".github/hooks.md",
    "codex/hooks.json",
    "hooks.json",
    ".windsurf/rules/a.md",
    ".clinerules/style.md",
    ".opencode/plugin.md",
    "opencode/plugins/a.js",
    ".factory/config.json",
    ".vscode/extensions.json",
    "settings.json",
    "vscode/settings.json",
    "tasks.json",
    "mcp.json",
    "src/env.py",
    "env",
    "environment.ts",
    "pem.rs",
    "x.pem.txt",
    "key",
    "monkey.py",
    "keys/index.ts",
    "p12.go",
    "rsa.c",
    "my_id_rsa.c",
    "ssh/config",
    ".cursorrules",
    ".huskyrc",
    "lockgate/x",
    "a~1",
    "git~x",
    "mcp~1",
    "~",
    "x~1.pe",
    ".st3/other.yaml",
    "a:b",
    "git.rs",
    ".env.example",
    ".env.sample",
    ".env.template",
    "id_ed25519.pub.txt",
    "id_ecdsa.pub.md",
    "my_id_ed25519.c",
    "id_card.rs",
    "npmrc",
    ".npmignore",
    ".npmrc.md",
    "netrc",
    ".netrc.py",
    "pgpass",
    "git-credentials",
    "aws/credentials",
    "kube/config",
    ".docker/Dockerfile",
    "config.json",
    "docker/config.json",
    "pfx.rs",
    "jks",
    "keystore.ts",
    "x.keystore.md",
    "cargo/credentials.toml",
    ".cargo/config.toml",
    "credentials",
    "gcloud/x",
    ".config/git/config",
    ".config/ghost/hosts.yml",
    "kubeconfig.md",
    "ssh_hosts",
    "boto.py",
    "my.cnf",
    ".azure/pipelines.yml",
    "auth.json",
    "gradle.properties",
    ".dev.var",
    "ovpn.rs",
    "terraform.tf",
];

const NOT_RUNNABLE: &[&str] = &[
    ".github/CODEOWNERS",
    "githooks/pre-commit",
    ".githooks.md",
    "hg/hgrc",
    ".hgignore",
    ".jjconfig",
    "code-workspace",
    "app.code-workspace.md",
    "codex/config.toml",
    ".codexignore",
    ".windsurfrules",
    "kiro.ts",
    ".rooignore",
    "continue.py",
    "opencode.ts",
    "opencode.json5",
    "my-opencode.json",
    "irbrc.rb",
    ".agents/AGENTS.md",
    ".opencoderc",
    ".editorconfig",
    "_darcs.md",
    "darcs/prefs/defaults",
    "sl/config",
    ".slug",
    ".traefik.yml",
    "junie/mcp.json",
    "idea/workspace.xml",
    ".ideavimrc",
    "run.xml",
    "vimrc",
    "CVS/Entries",
    ".gitconfig.md",
    ".vscode/extensions.json",
    ".replit.md",
];

type Respelling = fn(&str) -> String;

const LETTERS: &[Respelling] = &[
    |path| path.to_owned(),
    |path| path.to_uppercase(),
    |path| {
        path.chars().enumerate().map(|(i, c)| if i % 2 == 0 { c.to_ascii_uppercase() } else { c }).collect()
    },
    |path| path.chars().map(wide).collect(),
    |path| path.replace('i', "ı"),
    |path| path.replace('s', "ſ").replace('k', "\u{212A}"),
    |path| path.chars().flat_map(|c| [c, '\u{200d}']).collect(),
    |path| format!("\u{feff}{}", path.replace('/', "/\u{2060}")),
    |path| path.replace('.', ".\u{00ad}"),
    |path| path.replace('e', "e\u{fe0f}"),
    |path| path.replace('.', "\u{2024}"),
];

const SHAPES: &[Respelling] = &[
    |path| path.to_owned(),
    |path| format!("a/b/c/{path}"),
    |path| format!("./x/../{path}"),
    |path| path.replace('/', "//"),
    |path| path.replace('/', "\\"),
    |path| format!("sub\\{}", path.replace('/', "\\")),
    |path| format!("{}.", path.replace('/', "./")),
    |path| format!("{} . ", path.replace('/', " /")),
    |path| format!("{path}::$DATA"),
    |path| format!("{}::$INDEX_ALLOCATION", path.replace('/', "::$INDEX_ALLOCATION/")),
    |path| format!("C:{path}"),
];

fn wide(c: char) -> char {
    let shifted = u32::from(c) + 0xFEE0;
    if c.is_ascii_graphic() && c != '/' { char::from_u32(shifted).unwrap_or(c) } else { c }
}

fn spellings(paths: &[&'static str]) -> BTreeSet<String> {
    let letters = |path: &'static str| LETTERS.iter().map(move |respell| respell(path));
    paths
        .iter()
        .flat_map(|path| letters(path))
        .flat_map(|path| SHAPES.iter().map(move |s| s(&path)))
        .collect()
}

/// Returns true if a comparison of bytes finds the path.
fn finds_plainly(rules: &AccessRules, path: &str) -> bool {
    let names: Vec<_> = path.split('/').map(str::to_owned).collect();
    rules.rules.iter().any(|rule| rule.finds(&names))
}

#[test]
fn thousands_of_spellings_are_all_refused() {
    let spellings = spellings(PROTECTED_PATHS);
    assert!(spellings.len() >= 4_000, "{}", spellings.len());
    let missed: Vec<_> = spellings.iter().filter(|path| rule_for(path).is_none()).collect();
    assert!(missed.is_empty(), "{} of {}: {missed:#?}", missed.len(), spellings.len());
}

#[test]
fn comparing_bytes_would_miss_most_spellings() {
    let missed = spellings(PROTECTED_PATHS).iter().filter(|path| !finds_plainly(&PROTECTED, path)).count();
    assert!(missed > 2_000, "the control found nearly everything: only {missed} missed");
}

#[test]
fn runnable_files_are_found_under_every_spelling() {
    let spellings = spellings(RUNNABLE_PATHS);
    assert!(spellings.len() >= 1_000, "{}", spellings.len());
    let missed: Vec<_> = spellings.iter().filter(|path| runnable_for(path).is_none()).collect();
    assert!(missed.is_empty(), "{} of {}: {missed:#?}", missed.len(), spellings.len());
    let control = spellings.iter().filter(|path| !finds_plainly(&RUNNABLE, path)).count();
    assert!(control > 500, "the control found nearly everything: only {control} missed");
    for path in NOT_RUNNABLE {
        for path in [(*path).to_owned(), format!("a/{path}"), path.to_uppercase()] {
            assert_eq!(runnable_for(&path), None, "{path}");
        }
    }
    for rule in &RUNNABLE.rules {
        let found = |path: &&str| runnable_for(path) == Some(rule.glob);
        assert!(RUNNABLE_PATHS.iter().any(found), "no path tries {}", rule.glob);
    }
}

#[test]
fn a_file_that_is_readable_is_protected_by_no_rule() {
    let readable = RUNNABLE_PATHS.iter().chain(REVIEWED_PATHS.iter().map(|(path, _)| path));
    for path in readable {
        assert_eq!(rule_for(path), None, "{path}");
    }
}

#[test]
fn files_that_run_later_are_found_under_every_spelling_with_their_occasion() {
    for (path, occasion) in REVIEWED_PATHS {
        for path in spellings(&[path]) {
            assert_eq!(occasion_for(&path), Some(*occasion), "{path}");
        }
    }
    for path in [
        "makefile.md",
        "Makefile.am",
        "package-lock.json",
        "packages.json",
        ".github/CODEOWNERS",
        "workflows/ci.yml",
        "config.toml",
        "cargo/config.toml",
        "lefthook.md",
        "devcontainer.json",
        "build.py",
        "lefthook-local.md",
        ".lefthookrc",
        "lefthook/a",
        "mise.md",
        "huskyrc",
        "travis.yml",
        "src/main.rs",
    ] {
        assert_eq!(occasion_for(path), None, "{path}");
    }
}

#[test]
fn templates_of_environments_are_ordinary_under_every_spelling_and_nothing_near_them_is() {
    for name in TEMPLATES {
        // Where a colon may be a separator, what follows it has a name of its own, and none of the shapes gives a secret.
        for path in spellings(&[name]) {
            assert_eq!(rule_for(&path), None, "{path}");
        }
        for similar in [
            format!("{name}.local"),
            format!("{name}s"),
            format!("{name}~"),
            format!(".env/{name}"),
            format!("{name}:.env"),
            format!("{name}/.env"),
            format!("{name}\\.env"),
            format!(".env:{name}"),
        ] {
            assert!(rule_for(&similar).is_some(), "{similar}");
        }
    }
    assert!(rule_for("ENV~1.EXA").is_some(), "a short name does not say which file it is");
    // The control: without the exception, the pattern of secrets finds all of them.
    assert!(
        TEMPLATES
            .iter()
            .all(|name| PROTECTED.rules.iter().any(|rule| rule.glob == ".env*") && name.starts_with(".env"))
    );
}

#[test]
fn no_rule_covers_plain_names() {
    let plain = |path: &str| path.split('/').all(is_plain);
    let missed: Vec<_> = spellings(PROTECTED_PATHS).into_iter().filter(|path| plain(path)).collect();
    assert!(missed.is_empty(), "{missed:?}");
    for name in ["main.rs", "a-b_c.test.ts", "Makefile", "[id]", "x.pem.txt", "__init__.py", "git", "env"] {
        assert!(is_plain(name), "{name}");
    }
    for rule in &PROTECTED.rules {
        assert!(rule.names.iter().any(|name| !is_plain(&name.replace('*', "x"))), "{}", rule.glob);
        assert!(
            PROTECTED_PATHS.iter().any(|path| rule_for(path) == Some(rule.glob)),
            "no path tries {}",
            rule.glob
        );
    }
}

#[test]
fn short_names_of_windows_are_refused() {
    for path in [
        "GIT~1",
        "git~2/config",
        "GI7EBA~1",
        "LOCKGA~1/x",
        "HUSKY~1/pre-push",
        "CLAUDE~1",
        "CURSOR~1/mcp.json",
        "SSH~1/config",
        "VSCODE~1/settings.json",
        "VSCODE~1/SETTIN~1.JSO",
        "MCP~1.JSO",
        "QUALIT~1.YAM",
        "ENV~1",
        "ENV~1.LOC",
        "ENVRC~1",
        "LONGNA~1.PEM",
        "LONGNA~1.PFX",
        "RELEAS~1.KEY",
        "ID_ED2~1",
        "NETRC~1",
        "GIT-CR~1",
        "DOCKER~1/config.json",
        "AWS~1/credentials",
    ] {
        assert!(rule_for(path).is_some(), "{path}");
    }
}

#[test]
fn short_names_of_runnable_files_are_found() {
    for path in ["GITHOO~1/x", "OPENCO~1.JSO", "CODEX~1", "LONGNA~1.COD", "CONTIN~1/config.yaml"] {
        assert!(runnable_for(path).is_some(), "{path}");
    }
}

#[test]
fn near_misses_are_allowed_under_every_depth() {
    for path in ALLOWED {
        for path in [(*path).to_owned(), format!("a/{path}"), path.to_uppercase()] {
            assert_eq!(rule_for(&path), None, "{path}");
        }
    }
}

/// For a rule with an asterisk, the search for links compares all names of a folder with the rule itself.
#[test]
fn links_are_looked_for_under_the_names_of_rules() {
    for name in [".ssh", ".vscode/settings.json", ".nuget/NuGet/NuGet.Config", ".git/hooks", ".env"] {
        assert!(PROTECTED.names.contains(&name), "{name}");
    }
    for name in ["*.pem", ".ssh/**", "# Secrets.", "Secrets."] {
        assert!(!PROTECTED.names.contains(&name) && !PROTECTED.folders.contains(&name), "{name}");
    }
    assert!(PROTECTED.folders.contains(&".ssh") && !PROTECTED.folders.contains(&".vscode/settings.json"));
    assert!(RUNNABLE.names.contains(&"CVS/Root") && RUNNABLE.folders.contains(&"_MTN"));
    for rule in PROTECTED.rules.iter().chain(&RUNNABLE.rules) {
        // Names are looked up as the glob has them, so that only the letter case may be folded.
        assert_eq!(rule.names.join("/"), rule.glob.trim_end_matches("/**").to_ascii_lowercase());
    }
}

#[test]
fn the_page_of_the_policy_names_every_rule() {
    let page = include_str!("../../../../../docs/policy.md");
    let reviewed = REVIEWED.iter().flat_map(|(_, rules)| &rules.rules);
    for rule in PROTECTED.rules.iter().chain(&RUNNABLE.rules).chain(reviewed) {
        assert!(page.contains(&format!("`{}`", rule.glob)), "{}", rule.glob);
    }
}

#[test]
fn the_rejection_names_the_rule() {
    let rule = rule_for("a/.GIT/config").unwrap();
    let error = protected("a/.GIT/config", rule);
    assert_eq!(error.code, Code::Protected);
    assert_eq!(
        error.message,
        "a/.GIT/config may not be read or written: the built-in rule .git/** protects it"
    );
}

proptest::proptest! {
    #[test]
    fn depth_and_letter_case_never_open_a_protected_path(
        index in 0..PROTECTED_PATHS.len(), depth in 0..6usize, upper in proptest::collection::vec(proptest::bool::ANY, 40),
    ) {
        let cased = |(c, up): (char, &bool)| if *up { c.to_ascii_uppercase() } else { c };
        let path: String = PROTECTED_PATHS[index].chars().zip(upper.iter().cycle()).map(cased).collect();
        let path = format!("{}{path}", "d/".repeat(depth));
        proptest::prop_assert!(rule_for(&path).is_some());
    }
}
