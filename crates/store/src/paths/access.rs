//! The built-in rules about paths, matched under any spelling: paths that are protected, paths that need
//! confirmation before a write, and paths that get a note.
//!
//! They guard files that run commands (hooks, settings), files that define how edits are judged (the policy),
//! and secrets.
//!
//! Invariant: pure; the result depends on the text of the path alone.

use super::spelling;
use lockgate_error::{Code, Error};
use lockgate_text::fold;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The purpose for which a path is admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccessPurpose {
    /// The file is to be written.
    Write,
    /// The file is only read: publishing to a path admitted for this fails.
    Read,
    /// Another program writes the file, whatever the rights that lockgate would need: publishing fails.
    Outside,
}

/// The globs of protected files and folders. A glob matches at any depth; `/**` stands for the folder and all that is in it.
const PROTECTED_GLOBS: &str = "
    # Secrets.
    .env* *.pem *.key *.p12 *.pfx *.jks *.keystore id_rsa* id_dsa* id_ecdsa* id_ed25519* .ssh/** .aws/**
    .kube/** .docker/config.json .netrc _netrc .npmrc .pypirc .pgpass .git-credentials *.ppk *.kdbx
    *.ovpn ssh_host_* .dev.vars* kubeconfig *.kubeconfig .dockercfg .cargo/credentials.toml
    .cargo/credentials .gem/credentials .bundle/config .hex/hex.config .m2/settings.xml
    .m2/settings-security.xml .gradle/gradle.properties .nuget/NuGet/NuGet.Config .composer/auth.json
    .config/composer/auth.json .config/pypoetry/auth.toml .config/gh/hosts.yml .config/glab-cli/**
    .config/gcloud/** .config/git/credentials .config/containers/auth.json
    .config/helm/registry/config.json .config/doctl/** .config/op/** .azure/msal_token_cache*
    .azure/accessTokens.json .oci/** .boto .s3cfg .passwd-s3fs rclone.conf .rclone.conf .my.cnf
    .mylogin.cnf .pg_service.conf .htpasswd .vnc/passwd .gnupg/** .password-store/** .vault-token
    .terraformrc terraform.rc .terraform.d/** .pulumi/credentials.json .databrickscfg .snowsql/config
    .snowflake/** .dbt/profiles.yml .kaggle/** .huggingface/token .fly/config.yml .credentials
    # What decides about edits and commits.
    .git/** quality.yaml .lockgate/** .husky/**
    # Settings in which tools find commands to run.
    .mcp.json .vscode/settings.json .vscode/tasks.json .vscode/launch.json .vscode/mcp.json .zed/settings.json .zed/tasks.json .gemini/** .claude/**
    .cursor/** .codex/hooks.json .codex/config.toml .github/hooks/** .windsurf/hooks.json
    .clinerules/hooks/** .opencode/plugin/** .opencode/plugins/** .factory/hooks.json .agents/hooks.json
    .agents/mcp_config.json .github/mcp.json
";

/// The globs of files that start a program when a person merely opens or uses the folder.
const RUNNABLE_GLOBS: &str = "
    .githooks/** .hg/** .jj/** *.code-workspace .codex/** .windsurf/** .kiro/** .roo/** .continue/**
    .opencode/** opencode.json opencode.jsonc .exrc .nvimrc .nvim.lua .dir-locals.el .zed/debug.json
    crush.json .crush.json .qwen/** .amazonq/** .kilocode/** .sl/** _darcs/** .bzr/** .pijul/** .repo/**
    _MTN/** .fossil-settings/** CVS/Root .p4config .arcconfig .gitconfig .config/git/** .trae/**
    .junie/** .factory/** .github/copilot/** .gitlab/duo/** .copilot/** .augment/** .amp/** .crush/**
    .cline/** .goose/** .aider.conf.yml .codebuddy/** .iflow/** .zencoder/** .tabnine/** .rovodev/**
    .qodo/** .codeium/** .grok/** .vibe/** .kimi/** .antigravity/** .openhands/** .idea/** *.run.xml
    .fleet/** .vs/** .theia/** .nova/** .helix/** .bsp/** .vscode/c_cpp_properties.json
    .vscode/cmake-kits.json *.sublime-project .externalToolBuilders/** .replit .vimrc .gvimrc .lvimrc
    _vimrc _gvimrc _exrc .vim/coc-settings.json .lazy.lua .dir-locals-2.el .gdbinit .lldbinit .irbrc
    .pryrc .byebugrc .rdbgrc .Rprofile .Renviron .iex.exs .ghci .ocamlinit .octaverc .erlang .pdbrc
    .agents/mcp.json .warp/**
";

/// The globs of files that run later, by occasion.
const REVIEWED_GLOBS: [(&str, &str); 5] = [
    (
        "in CI",
        "
            .github/workflows/** .github/actions/** .gitlab-ci.yml .circleci/** Jenkinsfile
            .gitlab-ci.yaml .forgejo/workflows/** .gitea/workflows/** .buildkite/** .woodpecker/**
            .woodpecker.yml .drone.yml .travis.yml .cirrus.yml appveyor.yml .appveyor.yml
            azure-pipelines.yml bitbucket-pipelines.yml
        ",
    ),
    (
        "at a commit",
        "
            .pre-commit-config.yaml lefthook.yml lefthook.yaml lefthook.toml lefthook.json
            lefthook-local.yml prek.toml .pre-commit-config.yml .pre-commit-hooks.yaml lefthook.jsonc
            .lefthook.yml .lefthook.yaml .lefthook.toml .lefthook.json .lefthook.jsonc
            lefthook-local.yaml lefthook-local.toml lefthook-local.json lefthook-local.jsonc
            .lefthook-local.yml .lefthook-local.yaml .lefthook-local.toml .lefthook-local.json
            .lefthook-local.jsonc .lefthook/** .lefthook-local/** .huskyrc* husky.config.js
            .lintstagedrc* lint-staged.config.* .simple-git-hooks.* simple-git-hooks.* .overcommit.yml
            .git-hooks/** captainhook.json grumphp.yml
        ",
    ),
    (
        "when a development container starts",
        "
            .devcontainer/** .devcontainer.json .gitpod.yml .gitpod/** .idx/** .codesandbox/**
            devfile.yaml .devfile.yaml
        ",
    ),
    (
        "in a build",
        "
            Makefile GNUmakefile package.json .cargo/config.toml .cargo/config build.rs .yarnrc.yml
            .yarnrc .pnpmfile.cjs .gclient .mvn/** .sbtopts .jvmopts
        ",
    ),
    (
        "when a shell enters the folder",
        "
            mise.toml .mise.toml mise.local.toml .mise.local.toml .mise/** .config/mise/** .autoenv
        ",
    ),
];

/// One built-in rule: its glob, and the folded names that it matches in sequence at any depth.
#[derive(Debug)]
struct AccessRule {
    glob: &'static str,
    names: Vec<String>,
}

/// Built-in rules, and the names under which a folder is searched for links that they cover.
#[derive(Debug)]
pub(crate) struct AccessRules {
    rules: Vec<AccessRule>,
    /// The indices of the rules by their first names; those with an asterisk there are under `*`.
    by_name: HashMap<String, Vec<usize>>,
    /// Paths of files and folders; a symlink of such a name covers its target.
    pub(crate) names: Vec<&'static str>,
    /// Folders in which a symlink of any name covers its target, because the target is run, obeyed, or a secret.
    pub(crate) folders: Vec<&'static str>,
}

/// The rules for paths that may be neither read nor written.
pub(crate) static PROTECTED: LazyLock<AccessRules> = LazyLock::new(|| {
    let mut rules = AccessRules::read(PROTECTED_GLOBS);
    // Git's hooks are two folders deep, and policies have names in folders that no rule names.
    rules.names.extend([".git/hooks", ".lockgate/quality.yaml", ".st3/quality.yaml", ".env", ".envrc"]);
    rules.folders.push(".git/hooks");
    rules
});

/// The rules for paths that start a program when a person opens or uses the folder.
pub(crate) static RUNNABLE: LazyLock<AccessRules> = LazyLock::new(|| {
    let mut rules = AccessRules::read(RUNNABLE_GLOBS);
    rules.names.push(".hg/hgrc");
    rules
});

/// The rules for paths that run later, by occasion.
static REVIEWED: LazyLock<Vec<(&str, AccessRules)>> = LazyLock::new(|| {
    let read = |(occasion, globs)| (occasion, AccessRules::read(globs));
    REVIEWED_GLOBS.into_iter().map(read).collect()
});

impl AccessRules {
    /// Reads globs that blanks separate; a line that begins with `#` is a comment.
    fn read(globs: &'static str) -> AccessRules {
        let lines = globs.lines().filter(|line| !line.trim_start().starts_with('#'));
        let rules: Vec<AccessRule> = lines.flat_map(str::split_whitespace).map(AccessRule::new).collect();
        let folder = |rule: &AccessRule| rule.glob.strip_suffix("/**");
        let name = |rule: &AccessRule| folder(rule).unwrap_or(rule.glob);
        // A rule with another asterisk is compared with every link of a folder.
        let names = rules.iter().map(name).filter(|name| !name.contains('*')).collect();
        let folders = rules.iter().filter_map(folder).collect();
        let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, rule) in rules.iter().enumerate() {
            let first = rule.names.first().filter(|first| !first.contains('*'));
            by_name.entry(first.map_or_else(|| "*".to_owned(), String::clone)).or_default().push(at);
        }
        AccessRules { rules, by_name, names, folders }
    }

    /// Returns the glob of the first rule that covers a root-relative path.
    pub(crate) fn find(&self, path: &str) -> Option<&'static str> {
        self.first(&spelling::folded(path))
    }

    fn first(&self, readings: &[Vec<String>]) -> Option<&'static str> {
        let finds = |rule: &&AccessRule| readings.iter().any(|names| rule.finds(names));
        let names = || readings.iter().flatten().map(String::as_str);
        let rule = if names().any(|name| name.contains('~')) {
            // The first name can be the short one of a rule's.
            self.rules.iter().find(finds)
        } else {
            let indices = names().chain(["*"]).filter_map(|name| self.by_name.get(name)).flatten();
            let found = |at: &&usize| self.rules.get(**at).as_ref().is_some_and(finds);
            indices.filter(found).min().and_then(|at| self.rules.get(*at))
        };
        rule.map(|rule| rule.glob)
    }
}

/// Published templates that a rule's pattern matches, and that hold no secret.
const TEMPLATES: &[&str] = &[".env.example", ".env.sample", ".env.template"];

/// The private ssh keys whose public half is not a secret.
const KEYS: &[&str] = &["id_dsa", "id_ecdsa", "id_ed25519"];

/// The rule for a git folder under another name.
pub(crate) const GIT_FOLDER: &str = ".git/**";

/// Returns the glob of the first rule that protects a root-relative path.
pub(crate) fn rule_for(path: &str) -> Option<&'static str> {
    PROTECTED.find(path)
}

/// Returns the glob of the first rule by which a root-relative path starts a program when the folder is
/// opened or used.
pub(crate) fn runnable_for(path: &str) -> Option<&'static str> {
    RUNNABLE.find(path)
}

/// Returns the occasion on which the file at a root-relative path runs, for a person's review.
pub(crate) fn occasion_for(path: &str) -> Option<&'static str> {
    let readings = spelling::folded(path);
    REVIEWED.iter().find(|(_, rules)| rules.first(&readings).is_some()).map(|(occasion, _)| *occasion)
}

/// The protected names that do not begin with a dot, as patterns.
static UNDOTTED: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let first_names = PROTECTED.rules.iter().filter_map(|rule| rule.names.first());
    first_names.map(String::as_str).filter(|name| !name.starts_with('.')).collect()
});

/// Returns true for a name so plain that [`rule_for`] finds no rule for a path of such names alone. Much
/// faster, and true of nearly every name.
pub(crate) fn is_plain(name: &str) -> bool {
    let bytes = name.as_bytes();
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.+=,@%#()[]{}".contains(byte);
    let fits = |pattern: &&str| {
        let (part, pattern) = match pattern.strip_prefix('*') {
            Some(end) => (bytes.get(bytes.len().saturating_sub(end.len())..), end),
            None => {
                let start = pattern.trim_end_matches('*');
                (bytes.get(..start.len()), start)
            }
        };
        part.is_some_and(|part| part.eq_ignore_ascii_case(pattern.as_bytes()))
    };
    bytes.iter().all(plain)
        && !bytes.starts_with(b".")
        && !bytes.ends_with(b".")
        && !UNDOTTED.iter().any(fits)
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
    fn new(glob: &'static str) -> AccessRule {
        let path = glob.strip_suffix("/**").unwrap_or(glob);
        AccessRule { glob, names: path.split('/').map(fold).collect() }
    }

    fn finds(&self, names: &[String]) -> bool {
        names.windows(self.names.len()).any(|window| {
            window
                .iter()
                .zip(&self.names)
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
mod tests;
