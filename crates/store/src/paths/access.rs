//! The built-in rules about paths, matched under any spelling: paths that are protected, paths that need
//! confirmation before a write, and paths that get a note.
//!
//! They guard files that run commands (hooks, settings), files that define how edits are judged (the policy),
//! and secrets.
//!
//! Invariant: pure; the result depends on the text of the path alone.

use super::spelling;
use lockgate_error::{Code, Error};

/// One built-in rule: its glob, and the folded names that it matches in sequence at any depth.
#[derive(Debug)]
pub(crate) struct AccessRule {
    glob: &'static str,
    names: &'static [&'static str],
}

/// Names of protected files or folders; a symlink of such a name protects its target.
pub(crate) const MARKED_NAMES: &[&str] = &[
    ".git",
    ".git/hooks",
    ".lockgate",
    ".lockgate/quality.yaml",
    ".st3/quality.yaml",
    "quality.yaml",
    ".husky",
    ".claude",
    ".cursor",
    ".vscode",
    ".vscode/settings.json",
    ".vscode/tasks.json",
    ".vscode/launch.json",
    ".vscode/mcp.json",
    ".zed",
    ".zed/settings.json",
    ".zed/tasks.json",
    ".gemini",
    ".codex",
    ".codex/hooks.json",
    ".codex/config.toml",
    ".github/hooks",
    ".windsurf",
    ".windsurf/hooks.json",
    ".clinerules",
    ".clinerules/hooks",
    ".opencode",
    ".opencode/plugin",
    ".opencode/plugins",
    ".factory",
    ".factory/hooks.json",
    ".agents",
    ".agents/hooks.json",
    ".agents/mcp_config.json",
    ".github/mcp.json",
    ".mcp.json",
    ".envrc",
    ".env",
    ".ssh",
    ".aws",
    ".kube",
    ".docker",
    ".docker/config.json",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".git-credentials",
    "kubeconfig",
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
    ".config/glab-cli",
    ".config/gcloud",
    ".config/git/credentials",
    ".config/containers/auth.json",
    ".config/helm/registry/config.json",
    ".config/doctl",
    ".config/op",
    ".azure/accessTokens.json",
    ".oci",
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
    ".gnupg",
    ".password-store",
    ".vault-token",
    ".terraformrc",
    "terraform.rc",
    ".terraform.d",
    ".pulumi/credentials.json",
    ".databrickscfg",
    ".snowsql/config",
    ".snowflake",
    ".dbt/profiles.yml",
    ".kaggle",
    ".huggingface/token",
    ".fly/config.yml",
    ".credentials",
];

/// Protected folders in which a symlink of any name protects its target, because the target is run, obeyed,
/// or a secret.
pub(crate) const MARKED_FOLDERS: &[&str] = &[
    ".git",
    ".git/hooks",
    ".lockgate",
    ".husky",
    ".claude",
    ".cursor",
    ".gemini",
    ".github/hooks",
    ".clinerules/hooks",
    ".opencode/plugin",
    ".opencode/plugins",
    ".ssh",
    ".aws",
    ".kube",
    ".config/glab-cli",
    ".config/gcloud",
    ".config/doctl",
    ".config/op",
    ".oci",
    ".gnupg",
    ".password-store",
    ".terraform.d",
    ".snowflake",
    ".kaggle",
];

/// Names of runnable files or folders; a symlink of such a name makes its target runnable.
pub(crate) const RUNNABLE_NAMES: &[&str] = &[
    ".githooks",
    ".hg",
    ".hg/hgrc",
    ".jj",
    ".codex",
    ".windsurf",
    ".kiro",
    ".roo",
    ".continue",
    ".opencode",
    "opencode.json",
    "opencode.jsonc",
    ".exrc",
    ".nvimrc",
    ".nvim.lua",
    ".dir-locals.el",
    ".zed/debug.json",
    "crush.json",
    ".crush.json",
    ".qwen",
    ".amazonq",
    ".kilocode",
    ".sl",
    "_darcs",
    ".bzr",
    ".pijul",
    ".repo",
    "_MTN",
    ".fossil-settings",
    "CVS/Root",
    ".p4config",
    ".arcconfig",
    ".gitconfig",
    ".config/git",
    ".trae",
    ".junie",
    ".factory",
    ".github/copilot",
    ".gitlab/duo",
    ".copilot",
    ".augment",
    ".amp",
    ".crush",
    ".cline",
    ".goose",
    ".aider.conf.yml",
    ".codebuddy",
    ".iflow",
    ".zencoder",
    ".tabnine",
    ".rovodev",
    ".qodo",
    ".codeium",
    ".grok",
    ".vibe",
    ".kimi",
    ".antigravity",
    ".openhands",
    ".idea",
    ".fleet",
    ".vs",
    ".theia",
    ".nova",
    ".helix",
    ".bsp",
    ".vscode/c_cpp_properties.json",
    ".vscode/cmake-kits.json",
    ".externalToolBuilders",
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
    ".warp",
];

/// Runnable folders in which a symlink of any name makes its target runnable.
pub(crate) const RUNNABLE_FOLDERS: &[&str] = &[
    ".githooks",
    ".hg",
    ".jj",
    ".codex",
    ".windsurf",
    ".kiro",
    ".roo",
    ".continue",
    ".opencode",
    ".qwen",
    ".amazonq",
    ".kilocode",
    ".sl",
    "_darcs",
    ".bzr",
    ".pijul",
    ".repo",
    "_MTN",
    ".fossil-settings",
    ".config/git",
    ".trae",
    ".junie",
    ".factory",
    ".github/copilot",
    ".gitlab/duo",
    ".copilot",
    ".augment",
    ".amp",
    ".crush",
    ".cline",
    ".goose",
    ".codebuddy",
    ".iflow",
    ".zencoder",
    ".tabnine",
    ".rovodev",
    ".qodo",
    ".codeium",
    ".grok",
    ".vibe",
    ".kimi",
    ".antigravity",
    ".openhands",
    ".idea",
    ".fleet",
    ".vs",
    ".theia",
    ".nova",
    ".helix",
    ".bsp",
    ".externalToolBuilders",
    ".warp",
];

const RULES: &[AccessRule] = &[
    named(&[".env*"]),
    named(&["*.pem"]),
    named(&["*.key"]),
    named(&["*.p12"]),
    named(&["*.pfx"]),
    named(&["*.jks"]),
    named(&["*.keystore"]),
    named(&["id_rsa*"]),
    named(&["id_dsa*"]),
    named(&["id_ecdsa*"]),
    named(&["id_ed25519*"]),
    rule(".ssh/**", &[".ssh"]),
    rule(".aws/**", &[".aws"]),
    rule(".kube/**", &[".kube"]),
    rule(".docker/config.json", &[".docker", "config.json"]),
    named(&[".netrc"]),
    named(&["_netrc"]),
    named(&[".npmrc"]),
    named(&[".pypirc"]),
    named(&[".pgpass"]),
    named(&[".git-credentials"]),
    named(&["*.ppk"]),
    named(&["*.kdbx"]),
    named(&["*.ovpn"]),
    named(&["ssh_host_*"]),
    named(&[".dev.vars*"]),
    named(&["kubeconfig"]),
    named(&["*.kubeconfig"]),
    named(&[".dockercfg"]),
    rule(".cargo/credentials.toml", &[".cargo", "credentials.toml"]),
    rule(".cargo/credentials", &[".cargo", "credentials"]),
    rule(".gem/credentials", &[".gem", "credentials"]),
    rule(".bundle/config", &[".bundle", "config"]),
    rule(".hex/hex.config", &[".hex", "hex.config"]),
    rule(".m2/settings.xml", &[".m2", "settings.xml"]),
    rule(".m2/settings-security.xml", &[".m2", "settings-security.xml"]),
    rule(".gradle/gradle.properties", &[".gradle", "gradle.properties"]),
    rule(".nuget/NuGet/NuGet.Config", &[".nuget", "nuget", "nuget.config"]),
    rule(".composer/auth.json", &[".composer", "auth.json"]),
    rule(".config/composer/auth.json", &[".config", "composer", "auth.json"]),
    rule(".config/pypoetry/auth.toml", &[".config", "pypoetry", "auth.toml"]),
    rule(".config/gh/hosts.yml", &[".config", "gh", "hosts.yml"]),
    rule(".config/glab-cli/**", &[".config", "glab-cli"]),
    rule(".config/gcloud/**", &[".config", "gcloud"]),
    rule(".config/git/credentials", &[".config", "git", "credentials"]),
    rule(".config/containers/auth.json", &[".config", "containers", "auth.json"]),
    rule(".config/helm/registry/config.json", &[".config", "helm", "registry", "config.json"]),
    rule(".config/doctl/**", &[".config", "doctl"]),
    rule(".config/op/**", &[".config", "op"]),
    rule(".azure/msal_token_cache*", &[".azure", "msal_token_cache*"]),
    rule(".azure/accessTokens.json", &[".azure", "accesstokens.json"]),
    rule(".oci/**", &[".oci"]),
    named(&[".boto"]),
    named(&[".s3cfg"]),
    named(&[".passwd-s3fs"]),
    named(&["rclone.conf"]),
    named(&[".rclone.conf"]),
    named(&[".my.cnf"]),
    named(&[".mylogin.cnf"]),
    named(&[".pg_service.conf"]),
    named(&[".htpasswd"]),
    rule(".vnc/passwd", &[".vnc", "passwd"]),
    rule(".gnupg/**", &[".gnupg"]),
    rule(".password-store/**", &[".password-store"]),
    named(&[".vault-token"]),
    named(&[".terraformrc"]),
    named(&["terraform.rc"]),
    rule(".terraform.d/**", &[".terraform.d"]),
    rule(".pulumi/credentials.json", &[".pulumi", "credentials.json"]),
    named(&[".databrickscfg"]),
    rule(".snowsql/config", &[".snowsql", "config"]),
    rule(".snowflake/**", &[".snowflake"]),
    rule(".dbt/profiles.yml", &[".dbt", "profiles.yml"]),
    rule(".kaggle/**", &[".kaggle"]),
    rule(".huggingface/token", &[".huggingface", "token"]),
    rule(".fly/config.yml", &[".fly", "config.yml"]),
    named(&[".credentials"]),
    rule(".git/**", &[".git"]),
    named(&["quality.yaml"]),
    rule(".lockgate/**", &[".lockgate"]),
    rule(".husky/**", &[".husky"]),
    named(&[".mcp.json"]),
    rule(".vscode/settings.json", &[".vscode", "settings.json"]),
    rule(".vscode/tasks.json", &[".vscode", "tasks.json"]),
    rule(".vscode/launch.json", &[".vscode", "launch.json"]),
    rule(".vscode/mcp.json", &[".vscode", "mcp.json"]),
    rule(".zed/settings.json", &[".zed", "settings.json"]),
    rule(".zed/tasks.json", &[".zed", "tasks.json"]),
    rule(".gemini/**", &[".gemini"]),
    rule(".claude/**", &[".claude"]),
    rule(".cursor/**", &[".cursor"]),
    rule(".codex/hooks.json", &[".codex", "hooks.json"]),
    rule(".codex/config.toml", &[".codex", "config.toml"]),
    rule(".github/hooks/**", &[".github", "hooks"]),
    rule(".windsurf/hooks.json", &[".windsurf", "hooks.json"]),
    rule(".clinerules/hooks/**", &[".clinerules", "hooks"]),
    rule(".opencode/plugin/**", &[".opencode", "plugin"]),
    rule(".opencode/plugins/**", &[".opencode", "plugins"]),
    rule(".factory/hooks.json", &[".factory", "hooks.json"]),
    rule(".agents/hooks.json", &[".agents", "hooks.json"]),
    rule(".agents/mcp_config.json", &[".agents", "mcp_config.json"]),
    rule(".github/mcp.json", &[".github", "mcp.json"]),
];

/// The files that start a program when a person merely opens or uses the folder.
const RUNNABLE: &[AccessRule] = &[
    rule(".githooks/**", &[".githooks"]),
    rule(".hg/**", &[".hg"]),
    rule(".jj/**", &[".jj"]),
    named(&["*.code-workspace"]),
    rule(".codex/**", &[".codex"]),
    rule(".windsurf/**", &[".windsurf"]),
    rule(".kiro/**", &[".kiro"]),
    rule(".roo/**", &[".roo"]),
    rule(".continue/**", &[".continue"]),
    rule(".opencode/**", &[".opencode"]),
    named(&["opencode.json"]),
    named(&["opencode.jsonc"]),
    named(&[".exrc"]),
    named(&[".nvimrc"]),
    named(&[".nvim.lua"]),
    named(&[".dir-locals.el"]),
    rule(".zed/debug.json", &[".zed", "debug.json"]),
    named(&["crush.json"]),
    named(&[".crush.json"]),
    rule(".qwen/**", &[".qwen"]),
    rule(".amazonq/**", &[".amazonq"]),
    rule(".kilocode/**", &[".kilocode"]),
    rule(".sl/**", &[".sl"]),
    rule("_darcs/**", &["_darcs"]),
    rule(".bzr/**", &[".bzr"]),
    rule(".pijul/**", &[".pijul"]),
    rule(".repo/**", &[".repo"]),
    rule("_MTN/**", &["_mtn"]),
    rule(".fossil-settings/**", &[".fossil-settings"]),
    rule("CVS/Root", &["cvs", "root"]),
    named(&[".p4config"]),
    named(&[".arcconfig"]),
    named(&[".gitconfig"]),
    rule(".config/git/**", &[".config", "git"]),
    rule(".trae/**", &[".trae"]),
    rule(".junie/**", &[".junie"]),
    rule(".factory/**", &[".factory"]),
    rule(".github/copilot/**", &[".github", "copilot"]),
    rule(".gitlab/duo/**", &[".gitlab", "duo"]),
    rule(".copilot/**", &[".copilot"]),
    rule(".augment/**", &[".augment"]),
    rule(".amp/**", &[".amp"]),
    rule(".crush/**", &[".crush"]),
    rule(".cline/**", &[".cline"]),
    rule(".goose/**", &[".goose"]),
    named(&[".aider.conf.yml"]),
    rule(".codebuddy/**", &[".codebuddy"]),
    rule(".iflow/**", &[".iflow"]),
    rule(".zencoder/**", &[".zencoder"]),
    rule(".tabnine/**", &[".tabnine"]),
    rule(".rovodev/**", &[".rovodev"]),
    rule(".qodo/**", &[".qodo"]),
    rule(".codeium/**", &[".codeium"]),
    rule(".grok/**", &[".grok"]),
    rule(".vibe/**", &[".vibe"]),
    rule(".kimi/**", &[".kimi"]),
    rule(".antigravity/**", &[".antigravity"]),
    rule(".openhands/**", &[".openhands"]),
    rule(".idea/**", &[".idea"]),
    named(&["*.run.xml"]),
    rule(".fleet/**", &[".fleet"]),
    rule(".vs/**", &[".vs"]),
    rule(".theia/**", &[".theia"]),
    rule(".nova/**", &[".nova"]),
    rule(".helix/**", &[".helix"]),
    rule(".bsp/**", &[".bsp"]),
    rule(".vscode/c_cpp_properties.json", &[".vscode", "c_cpp_properties.json"]),
    rule(".vscode/cmake-kits.json", &[".vscode", "cmake-kits.json"]),
    named(&["*.sublime-project"]),
    rule(".externalToolBuilders/**", &[".externaltoolbuilders"]),
    named(&[".replit"]),
    named(&[".vimrc"]),
    named(&[".gvimrc"]),
    named(&[".lvimrc"]),
    named(&["_vimrc"]),
    named(&["_gvimrc"]),
    named(&["_exrc"]),
    rule(".vim/coc-settings.json", &[".vim", "coc-settings.json"]),
    named(&[".lazy.lua"]),
    named(&[".dir-locals-2.el"]),
    named(&[".gdbinit"]),
    named(&[".lldbinit"]),
    named(&[".irbrc"]),
    named(&[".pryrc"]),
    named(&[".byebugrc"]),
    named(&[".rdbgrc"]),
    rule(".Rprofile", &[".rprofile"]),
    rule(".Renviron", &[".renviron"]),
    named(&[".iex.exs"]),
    named(&[".ghci"]),
    named(&[".ocamlinit"]),
    named(&[".octaverc"]),
    named(&[".erlang"]),
    named(&[".pdbrc"]),
    rule(".agents/mcp.json", &[".agents", "mcp.json"]),
    rule(".warp/**", &[".warp"]),
];

/// The files that run later, by occasion.
const REVIEWED: &[(&str, &[AccessRule])] = &[
    (
        "in CI",
        &[
            rule(".github/workflows/**", &[".github", "workflows"]),
            rule(".github/actions/**", &[".github", "actions"]),
            named(&[".gitlab-ci.yml"]),
            rule(".circleci/**", &[".circleci"]),
            rule("Jenkinsfile", &["jenkinsfile"]),
            named(&[".gitlab-ci.yaml"]),
            rule(".forgejo/workflows/**", &[".forgejo", "workflows"]),
            rule(".gitea/workflows/**", &[".gitea", "workflows"]),
            rule(".buildkite/**", &[".buildkite"]),
            rule(".woodpecker/**", &[".woodpecker"]),
            named(&[".woodpecker.yml"]),
            named(&[".drone.yml"]),
            named(&[".travis.yml"]),
            named(&[".cirrus.yml"]),
            named(&["appveyor.yml"]),
            named(&[".appveyor.yml"]),
            named(&["azure-pipelines.yml"]),
            named(&["bitbucket-pipelines.yml"]),
        ],
    ),
    (
        "at a commit",
        &[
            named(&[".pre-commit-config.yaml"]),
            named(&["lefthook.yml"]),
            named(&["lefthook.yaml"]),
            named(&["lefthook.toml"]),
            named(&["lefthook.json"]),
            named(&["lefthook-local.yml"]),
            named(&["prek.toml"]),
            named(&[".pre-commit-config.yml"]),
            named(&[".pre-commit-hooks.yaml"]),
            named(&["lefthook.jsonc"]),
            named(&[".lefthook.yml"]),
            named(&[".lefthook.yaml"]),
            named(&[".lefthook.toml"]),
            named(&[".lefthook.json"]),
            named(&[".lefthook.jsonc"]),
            named(&["lefthook-local.yaml"]),
            named(&["lefthook-local.toml"]),
            named(&["lefthook-local.json"]),
            named(&["lefthook-local.jsonc"]),
            named(&[".lefthook-local.yml"]),
            named(&[".lefthook-local.yaml"]),
            named(&[".lefthook-local.toml"]),
            named(&[".lefthook-local.json"]),
            named(&[".lefthook-local.jsonc"]),
            rule(".lefthook/**", &[".lefthook"]),
            rule(".lefthook-local/**", &[".lefthook-local"]),
            named(&[".huskyrc*"]),
            named(&["husky.config.js"]),
            named(&[".lintstagedrc*"]),
            named(&["lint-staged.config.*"]),
            named(&[".simple-git-hooks.*"]),
            named(&["simple-git-hooks.*"]),
            named(&[".overcommit.yml"]),
            rule(".git-hooks/**", &[".git-hooks"]),
            named(&["captainhook.json"]),
            named(&["grumphp.yml"]),
        ],
    ),
    (
        "when a development container starts",
        &[
            rule(".devcontainer/**", &[".devcontainer"]),
            named(&[".devcontainer.json"]),
            named(&[".gitpod.yml"]),
            rule(".gitpod/**", &[".gitpod"]),
            rule(".idx/**", &[".idx"]),
            rule(".codesandbox/**", &[".codesandbox"]),
            named(&["devfile.yaml"]),
            named(&[".devfile.yaml"]),
        ],
    ),
    (
        "in a build",
        &[
            rule("Makefile", &["makefile"]),
            rule("GNUmakefile", &["gnumakefile"]),
            named(&["package.json"]),
            rule(".cargo/config.toml", &[".cargo", "config.toml"]),
            rule(".cargo/config", &[".cargo", "config"]),
            named(&["build.rs"]),
            named(&[".yarnrc.yml"]),
            named(&[".yarnrc"]),
            named(&[".pnpmfile.cjs"]),
            named(&[".gclient"]),
            rule(".mvn/**", &[".mvn"]),
            named(&[".sbtopts"]),
            named(&[".jvmopts"]),
        ],
    ),
    (
        "when a shell enters the folder",
        &[
            named(&["mise.toml"]),
            named(&[".mise.toml"]),
            named(&["mise.local.toml"]),
            named(&[".mise.local.toml"]),
            rule(".mise/**", &[".mise"]),
            rule(".config/mise/**", &[".config", "mise"]),
            named(&[".autoenv"]),
        ],
    ),
];

/// Published templates that a rule's pattern matches, and that hold no secret.
const TEMPLATES: &[&str] = &[".env.example", ".env.sample", ".env.template"];

/// The private ssh keys whose public half is not a secret.
const KEYS: &[&str] = &["id_dsa", "id_ecdsa", "id_ed25519"];

const fn rule(glob: &'static str, names: &'static [&'static str]) -> AccessRule {
    AccessRule { glob, names }
}

/// The rule of a single name, which is its own glob.
const fn named(names: &'static [&'static str; 1]) -> AccessRule {
    let [glob] = *names;
    AccessRule { glob, names }
}

/// The rule for a git folder under another name.
pub(crate) const GIT_FOLDER: &str = ".git/**";

/// Returns the first rule that covers a root-relative path, by its glob.
pub(crate) fn rule_for(path: &str) -> Option<&'static str> {
    first(RULES, &spelling::folded(path))
}

/// Returns the glob of the first rule by which a root-relative path starts a program when the folder is
/// opened or used.
pub(crate) fn runnable_for(path: &str) -> Option<&'static str> {
    first(RUNNABLE, &spelling::folded(path))
}

/// Returns the occasion on which the file at a root-relative path runs, for a person's review.
pub(crate) fn occasion_for(path: &str) -> Option<&'static str> {
    let readings = spelling::folded(path);
    REVIEWED.iter().find(|(_, rules)| first(rules, &readings).is_some()).map(|(occasion, _)| *occasion)
}

fn first(rules: &[AccessRule], readings: &[Vec<String>; 2]) -> Option<&'static str> {
    rules.iter().find(|rule| readings.iter().any(|names| rule.finds(names))).map(|rule| rule.glob)
}

/// The starts of protected names that do not begin with a dot.
const STARTS: [&str; 10] = [
    "quality",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "_netrc",
    "ssh_host_",
    "kubeconfig",
    "rclone.conf",
    "terraform.rc",
];
/// The ends of protected names that do not begin with a dot.
const ENDINGS: [&str; 10] =
    [".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".ppk", ".kdbx", ".ovpn", ".kubeconfig"];

/// Returns true for a name so plain that [`rule_for`] finds no rule for a path of such names alone. Much
/// faster, and true of nearly every name.
pub(crate) fn is_plain(name: &str) -> bool {
    let bytes = name.as_bytes();
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.+=,@%#()[]{}".contains(byte);
    let has_ending = |ending: &str| {
        let at = bytes.len().saturating_sub(ending.len());
        bytes.get(at..).is_some_and(|end| end.eq_ignore_ascii_case(ending.as_bytes()))
    };
    let has_start = |start: &str| {
        bytes.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start.as_bytes()))
    };
    bytes.iter().all(plain)
        && !bytes.starts_with(b".")
        && !bytes.ends_with(b".")
        && !STARTS.into_iter().any(has_start)
        && !ENDINGS.into_iter().any(has_ending)
}

/// The error for a path that a rule covers.
pub(crate) fn protected(path: &str, rule: &str) -> Error {
    Error::new(
        Code::Protected,
        format!("{path} may not be read or written: the built-in rule {rule} protects it"),
    )
    .naming_target(path)
}

impl AccessRule {
    fn finds(&self, names: &[String]) -> bool {
        names.windows(self.names.len()).any(|window| {
            window
                .iter()
                .zip(self.names)
                .all(|(name, pattern)| matches(name, pattern) || is_short(name, pattern))
        })
    }
}

/// Returns true for a folded name that holds no secret although a pattern of secrets matches it.
fn is_published(name: &str) -> bool {
    let is_about_public_half =
        |key: &str| name.strip_prefix(key).is_some_and(|rest| rest.starts_with(".pub."));
    TEMPLATES.contains(&name) || KEYS.iter().any(|key| is_about_public_half(key))
}

/// Matches a pattern with one asterisk, at its start or end.
fn matches(name: &str, pattern: &str) -> bool {
    if is_published(name) {
        return false;
    }
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(suffix), _) => name.ends_with(suffix),
        (None, Some(prefix)) => name.starts_with(prefix),
        (None, None) => name == pattern,
    }
}

/// True if `name` can be the 8.3 name that Windows gives a file which the pattern matches (`GIT~1`,
/// `GI7EBA~1`).
fn is_short(name: &str, pattern: &str) -> bool {
    let Some((stem, tail)) = name.split_once('~') else { return false };
    let (number, extension) = tail.split_once('.').unwrap_or((tail, ""));
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    if let Some(ending) = pattern.strip_prefix("*.") {
        // An extension of three letters is kept whole, and matched as it is.
        return ending.len() > 3 && ending.chars().take(3).eq(extension.chars());
    }
    let (long, open) = pattern.strip_suffix('*').map_or((pattern, false), |prefix| (prefix, true));
    let long = long.trim_start_matches('.');
    let (long, long_extension) = long.rsplit_once('.').unwrap_or((long, ""));
    let short: String = long.chars().take(6).collect();
    let hashed: String = long.chars().take(2).collect();
    let stem_fits = stem == short || (open && stem.starts_with(&short)) || is_hashed(stem, &hashed);
    stem_fits && (open || long_extension.chars().take(3).eq(extension.chars()))
}

/// Matches two letters of the name and four hexadecimal digits, which Windows uses from the fifth similar
/// name on.
fn is_hashed(stem: &str, start: &str) -> bool {
    stem.strip_prefix(start)
        .is_some_and(|rest| rest.len() == 4 && rest.bytes().all(|b| b.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    //! Thousands of spellings of protected paths, all refused, and near misses, all allowed.

    use super::*;
    use std::collections::BTreeSet;

    const PROTECTED: &[&str] = &[
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
            path.chars()
                .enumerate()
                .map(|(i, c)| if i % 2 == 0 { c.to_ascii_uppercase() } else { c })
                .collect()
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
    fn finds_plainly(rules: &[AccessRule], path: &str) -> bool {
        let names: Vec<_> = path.split('/').map(str::to_owned).collect();
        rules.iter().any(|rule| rule.finds(&names))
    }

    #[test]
    fn thousands_of_spellings_are_all_refused() {
        let spellings = spellings(PROTECTED);
        assert!(spellings.len() >= 4_000, "{}", spellings.len());
        let missed: Vec<_> = spellings.iter().filter(|path| rule_for(path).is_none()).collect();
        assert!(missed.is_empty(), "{} of {}: {missed:#?}", missed.len(), spellings.len());
    }

    #[test]
    fn comparing_bytes_would_miss_most_spellings() {
        let missed = spellings(PROTECTED).iter().filter(|path| !finds_plainly(RULES, path)).count();
        assert!(missed > 2_000, "the control found nearly everything: only {missed} missed");
    }

    #[test]
    fn runnable_files_are_found_under_every_spelling() {
        let spellings = spellings(RUNNABLE_PATHS);
        assert!(spellings.len() >= 1_000, "{}", spellings.len());
        let missed: Vec<_> = spellings.iter().filter(|path| runnable_for(path).is_none()).collect();
        assert!(missed.is_empty(), "{} of {}: {missed:#?}", missed.len(), spellings.len());
        let control = spellings.iter().filter(|path| !finds_plainly(RUNNABLE, path)).count();
        assert!(control > 500, "the control found nearly everything: only {control} missed");
        for path in NOT_RUNNABLE {
            for path in [(*path).to_owned(), format!("a/{path}"), path.to_uppercase()] {
                assert_eq!(runnable_for(&path), None, "{path}");
            }
        }
        for rule in RUNNABLE {
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
                .all(|name| RULES.iter().any(|rule| rule.glob == ".env*") && name.starts_with(".env"))
        );
    }

    #[test]
    fn no_rule_covers_plain_names() {
        let plain = |path: &str| path.split('/').all(is_plain);
        let missed: Vec<_> = spellings(PROTECTED).into_iter().filter(|path| plain(path)).collect();
        assert!(missed.is_empty(), "{missed:?}");
        for name in ["main.rs", "a-b_c.test.ts", "Makefile", "[id]", "x.pem.txt", "__init__.py", "git", "env"]
        {
            assert!(is_plain(name), "{name}");
        }
        for rule in RULES {
            assert!(rule.names.iter().any(|name| !is_plain(&name.replace('*', "x"))), "{}", rule.glob);
            assert!(
                PROTECTED.iter().any(|path| rule_for(path) == Some(rule.glob)),
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
    fn every_rule_of_plain_names_is_among_the_names_of_links() {
        for (rules, names, folders) in
            [(RULES, MARKED_NAMES, MARKED_FOLDERS), (RUNNABLE, RUNNABLE_NAMES, RUNNABLE_FOLDERS)]
        {
            for rule in rules.iter().filter(|rule| !rule.names.concat().contains('*')) {
                // In the spelling that the program looks up.
                let path = rule.glob.trim_end_matches("/**");
                assert_eq!(lockgate_text::fold(path), rule.names.join("/"));
                assert!(names.contains(&path), "{}", rule.glob);
                assert_eq!(folders.contains(&path), rule.glob.ends_with("/**"), "{}", rule.glob);
            }
        }
    }

    #[test]
    fn the_page_of_the_policy_names_every_rule() {
        let page = include_str!("../../../../docs/policy.md");
        let reviewed = REVIEWED.iter().flat_map(|(_, rules)| *rules);
        for rule in RULES.iter().chain(RUNNABLE).chain(reviewed) {
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
            index in 0..PROTECTED.len(), depth in 0..6usize, upper in proptest::collection::vec(proptest::bool::ANY, 40),
        ) {
            let cased = |(c, up): (char, &bool)| if *up { c.to_ascii_uppercase() } else { c };
            let path: String = PROTECTED[index].chars().zip(upper.iter().cycle()).map(cased).collect();
            let path = format!("{}{path}", "d/".repeat(depth));
            proptest::prop_assert!(rule_for(&path).is_some());
        }
    }
}
