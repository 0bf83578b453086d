//! What may never be touched: the built-in rules, found under any spelling of a path.
//!
//! They guard what runs commands (hooks, settings), what says how edits are judged (the policy), and secrets.
//!
//! Invariant: pure; the answer depends on the text of the path alone.

use super::spelling;
use crate::error::{Code, Error};

/// One built-in rule: the glob that it is known by, and the folded names that it finds side by side at any depth.
#[derive(Debug)]
pub(super) struct Rule {
    glob: &'static str,
    names: &'static [&'static str],
}

/// Names by which a protected file or folder may stand in a folder; a symlink of such a name protects its target.
pub(super) const MARKED_NAMES: &[&str] = &[
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
    ".mcp.json",
    ".envrc",
    ".env",
    ".ssh",
];

/// Protected folders in which whatever name a symlink has, its target is run or obeyed.
pub(super) const MARKED_FOLDERS: &[&str] =
    &[".git", ".git/hooks", ".lockgate", ".husky", ".claude", ".cursor", ".gemini"];

const RULES: &[Rule] = &[
    rule(".env*", &[".env*"]),
    rule("*.pem", &["*.pem"]),
    rule("*.key", &["*.key"]),
    rule("*.p12", &["*.p12"]),
    rule("id_rsa*", &["id_rsa*"]),
    rule(".ssh/**", &[".ssh"]),
    rule(".git/**", &[".git"]),
    rule("quality.yaml", &["quality.yaml"]),
    rule(".lockgate/**", &[".lockgate"]),
    rule(".husky/**", &[".husky"]),
    rule(".mcp.json", &[".mcp.json"]),
    rule(".vscode/settings.json", &[".vscode", "settings.json"]),
    rule(".vscode/tasks.json", &[".vscode", "tasks.json"]),
    rule(".vscode/launch.json", &[".vscode", "launch.json"]),
    rule(".vscode/mcp.json", &[".vscode", "mcp.json"]),
    rule(".zed/settings.json", &[".zed", "settings.json"]),
    rule(".zed/tasks.json", &[".zed", "tasks.json"]),
    rule(".gemini/**", &[".gemini"]),
    rule(".claude/**", &[".claude"]),
    rule(".cursor/**", &[".cursor"]),
];

const fn rule(glob: &'static str, names: &'static [&'static str]) -> Rule {
    Rule { glob, names }
}

/// The rule that a git folder under another name falls under.
pub(super) const GIT_FOLDER: &str = ".git/**";

/// The first rule that covers a root-relative path, by its glob.
pub(super) fn rule_for(path: &str) -> Option<&'static str> {
    let readings = spelling::folded(path);
    RULES.iter().find(|rule| readings.iter().any(|names| rule.finds(names))).map(|rule| rule.glob)
}

/// Whether a name is so plain that no rule can cover a path of such names alone; far quicker to tell than
/// [`rule_for`], and true of nearly every name.
pub(super) fn is_plain(name: &str) -> bool {
    let bytes = name.as_bytes();
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.+=,@%#()[]{}".contains(byte);
    let ends = |ending: &str| {
        let at = bytes.len().saturating_sub(ending.len());
        bytes.get(at..).is_some_and(|end| end.eq_ignore_ascii_case(ending.as_bytes()))
    };
    let begins = |start: &str| {
        bytes.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start.as_bytes()))
    };
    bytes.iter().all(plain)
        && !bytes.starts_with(b".")
        && !bytes.ends_with(b".")
        && !["quality", "id_rsa"].into_iter().any(begins)
        && ![".pem", ".key", ".p12"].into_iter().any(ends)
}

/// The refusal of a path that a rule covers.
pub(super) fn protected(path: &str, rule: &str) -> Error {
    Error::new(
        Code::Protected,
        format!("{path} may not be read or written: the built-in rule {rule} protects it"),
    )
}

impl Rule {
    fn finds(&self, names: &[String]) -> bool {
        names.windows(self.names.len()).any(|window| {
            window
                .iter()
                .zip(self.names)
                .all(|(name, pattern)| matches(name, pattern) || is_short(name, pattern))
        })
    }
}

/// One asterisk, at the start or at the end of the pattern.
fn matches(name: &str, pattern: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(suffix), _) => name.ends_with(suffix),
        (None, Some(prefix)) => name.starts_with(prefix),
        (None, None) => name == pattern,
    }
}

/// Whether `name` can be the 8.3 name that Windows gives a file which the pattern matches (`GIT~1`, `GI7EBA~1`).
fn is_short(name: &str, pattern: &str) -> bool {
    let Some((stem, tail)) = name.split_once('~') else { return false };
    let (number, extension) = tail.split_once('.').unwrap_or((tail, ""));
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) || pattern.starts_with('*') {
        return false;
    }
    let (long, open) = pattern.strip_suffix('*').map_or((pattern, false), |prefix| (prefix, true));
    let long = long.trim_start_matches('.');
    let (long, long_extension) = long.rsplit_once('.').unwrap_or((long, ""));
    let short: String = long.chars().take(6).collect();
    let hashed: String = long.chars().take(2).collect();
    let stem_fits = stem == short || (open && stem.starts_with(&short)) || is_hashed(stem, &hashed);
    stem_fits && (open || long_extension.chars().take(3).eq(extension.chars()))
}

/// Two letters of the name and four hexadecimal digits: what Windows makes of the fifth namesake.
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
        ".zed/settings.json",
        ".zed/tasks.json",
        ".gemini/settings.json",
        ".env",
        ".env.local",
        ".env.example",
        ".environment",
        "server.pem",
        "tls.key",
        "store.p12",
        "id_rsa",
        "id_rsa.pub",
        ".ssh/config",
        ".ssh/authorized_keys",
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

    fn spellings() -> BTreeSet<String> {
        let letters = |path: &'static str| LETTERS.iter().map(move |respell| respell(path));
        PROTECTED
            .iter()
            .flat_map(|path| letters(path))
            .flat_map(|path| SHAPES.iter().map(move |s| s(&path)))
            .collect()
    }

    #[test]
    fn thousands_of_spellings_are_all_refused() {
        let spellings = spellings();
        assert!(spellings.len() >= 2_000, "{}", spellings.len());
        let missed: Vec<_> = spellings.iter().filter(|path| rule_for(path).is_none()).collect();
        assert!(missed.is_empty(), "{} of {}: {missed:#?}", missed.len(), spellings.len());
    }

    #[test]
    fn comparing_bytes_would_miss_most_spellings() {
        let plain = |path: &str| {
            RULES.iter().any(|rule| rule.finds(&path.split('/').map(str::to_owned).collect::<Vec<_>>()))
        };
        let missed = spellings().iter().filter(|path| !plain(path)).count();
        assert!(missed > 1_000, "the control found nearly everything: only {missed} missed");
    }

    #[test]
    fn no_rule_covers_plain_names() {
        let plain = |path: &str| path.split('/').all(is_plain);
        let missed: Vec<_> = spellings().into_iter().filter(|path| plain(path)).collect();
        assert!(missed.is_empty(), "{missed:?}");
        for name in ["main.rs", "a-b_c.test.ts", "Makefile", "[id]", "x.pem.txt", "__init__.py", "git", "env"]
        {
            assert!(is_plain(name), "{name}");
        }
        for rule in RULES {
            assert!(rule.names.iter().any(|name| !is_plain(&name.replace('*', "x"))), "{}", rule.glob);
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
        ] {
            assert!(rule_for(path).is_some(), "{path}");
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

    #[test]
    fn the_page_of_the_policy_names_every_rule() {
        let page = include_str!("../../docs/policy.md");
        for rule in RULES {
            assert!(page.contains(&format!("`{}`", rule.glob)), "{}", rule.glob);
        }
    }

    #[test]
    fn the_refusal_names_the_rule() {
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
