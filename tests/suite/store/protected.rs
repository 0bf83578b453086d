//! What may never be written, under whatever name it is asked for.

use super::*;

/// A root with protected files, and with links to and from them.
fn guarded() -> Fixture {
    let fixture = Fixture::new(&[
        (".git/config", "c"),
        (".env", "SECRET"),
        ("notes/x.txt", "n"),
        ("cfg/policy", "p"),
        ("sep/x", ""),
    ]);
    fixture.link(".git", "harmless");
    fixture.link(".git/config", "plain.txt");
    fixture.link("../.env", "notes/readme.txt");
    fixture.link("cfg/policy", "quality.yaml");
    fixture.link("sep", ".husky");
    fs::hard_link(fixture.at(".env"), fixture.at("notes/hard.txt")).unwrap();
    fixture
}

#[test]
fn protected_paths_are_refused_there_or_not_under_any_disguise() {
    let fixture = guarded();
    for path in [
        ".git/config",
        ".git/new",
        ".GIT/new",
        "sub/.git",
        "harmless/config",
        "harmless/new",
        "plain.txt",
        "notes/readme.txt",
        "notes/hard.txt",
        "quality.yaml",
        "cfg/policy",
        "sep/pre-push",
        "x/quality.yaml",
        ".vscode/settings.json",
        "a/.envrc",
        "a.git\u{2024}/../.g\u{200b}it/x",
        "notes/../.git/config",
    ] {
        let error = fixture.rejection(path);
        assert_eq!(error.code, Code::Protected, "{path}: {}", error.message);
        assert!(error.message.contains("rule"), "{}", error.message);
    }
}

#[test]
fn similar_names_that_are_not_protected_are_written() {
    let fixture = guarded();
    for path in [
        ".gitignore",
        ".github/x.yml",
        "quality.yaml.md",
        "keyboard.py",
        ".claude.md",
        "cfg/other",
        "notes/x.txt",
    ] {
        assert!(fixture.files.admit(path).is_ok(), "{path}");
    }
}

#[test]
fn the_target_of_a_link_in_a_protected_folder_is_protected() {
    for (link, target, written) in [
        (".git/hooks", "hooks", "hooks/pre-commit"),
        (".git/hooks", "hooks", "hooks/new"),
        (".git/hooks/pre-commit", "tools/check.sh", "tools/check.sh"),
        (".git/config", "conf/git", "conf/git"),
        (".husky/pre-push", "tools/check.sh", "tools/check.sh"),
        (".claude/settings.json", "conf/c.json", "conf/c.json"),
        (".claude/commands", "conf", "conf/any"),
        (".cursor/mcp.json", "conf/c.json", "conf/c.json"),
        (".ssh/config", "conf/ssh", "conf/ssh"),
        (".ssh/deploy", "conf/deploy", "conf/deploy"),
        (".lockgate/trust", "conf/trust", "conf/trust"),
        (".lockgate", "conf", "conf/any"),
        (".vscode", "conf", "conf/tasks.json"),
        (".vscode/settings.json", "conf/s.json", "conf/s.json"),
        (".vscode/tasks.json", "conf/s.json", "conf/s.json"),
        (".vscode/launch.json", "conf/s.json", "conf/s.json"),
        (".vscode/mcp.json", "conf/s.json", "conf/s.json"),
        (".mcp.json", "conf/s.json", "conf/s.json"),
        (".envrc", "conf/s.json", "conf/s.json"),
        (".env.local", "conf/local", "conf/local"),
        (".env.d", "conf", "conf/any"),
        ("tls.key", "conf/tls", "conf/tls"),
        ("cert.PEM", "conf/tls", "conf/tls"),
        ("id_rsa", "conf/rsa", "conf/rsa"),
        ("id_ed25519.old", "conf/rsa", "conf/rsa"),
    ] {
        for above in ["", "pkg/"] {
            let unrelated = format!("{above}unrelated/x");
            let fixture = Fixture::new(&[(&format!("{above}{written}"), "x"), (&unrelated, "x")]);
            let at = fixture.at(&format!("{above}{link}"));
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            assert!(fixture.files.admit(&format!("{above}{written}")).is_ok(), "the control: {link}");
            let target = format!("{}{target}", "../".repeat(link.matches('/').count()));
            std::os::unix::fs::symlink(target, at).unwrap();
            assert_eq!(fixture.code(&format!("{above}{written}")), Code::Protected, "{above}{link}");
            assert!(fixture.files.admit(&unrelated).is_ok(), "{above}{link}");
        }
    }
}

#[test]
fn a_link_whose_name_holds_no_secret_protects_nothing() {
    let fixture = Fixture::new(&[("conf/local", "x"), ("conf/rsa", "x")]);
    fixture.link("conf/local", ".env.example");
    fixture.link("conf/local", "keyboard.txt");
    fixture.link("conf/rsa", "id_rsa.txt.md");
    fixture.link("conf/rsa", "id_ed25519.pub.md");
    assert!(fixture.files.admit("conf/local").is_ok());
    assert_eq!(fixture.code("conf/rsa"), Code::Protected, "`id_rsa*` covers the third link");
    fs::remove_file(fixture.at("id_rsa.txt.md")).unwrap();
    assert!(fixture.files.admit("conf/rsa").is_ok());
}

/// A workspace file is runnable and not secret: everybody may read it, and the policy decides who may write it.
#[test]
fn the_target_of_a_link_with_a_runnable_name_is_runnable_and_not_protected() {
    for (link, target, written) in [
        ("app.code-workspace", "conf/app.json", "conf/app.json"),
        ("APP.Code-Workspace", "conf/app.json", "conf/app.json"),
        ("app.code-workspace", "conf", "conf/app.json"),
        ("app.code-workspace", "conf", "conf/new.json"),
    ] {
        for above in ["", "pkg/"] {
            let unrelated = format!("{above}unrelated/x");
            let fixture = Fixture::new(&[(&format!("{above}conf/app.json"), "x"), (&unrelated, "x")]);
            let written = format!("{above}{written}");
            let rule = |path: &str| fixture.files.admit(path).unwrap().runnable();
            assert_eq!(rule(&written), None, "the control: {link}");
            fixture.link(target, &format!("{above}{link}"));
            assert_eq!(rule(&written), Some("*.code-workspace"), "{above}{link}");
            assert!(fixture.files.admit_to_read(&written).is_ok(), "{above}{link}");
            assert_eq!(rule(&unrelated), None, "{above}{link}");
        }
    }
    let fixture = Fixture::new(&[("conf/app.json", "x")]);
    fixture.link("conf/app.json", "app.code-workspace.md");
    assert_eq!(fixture.files.admit("conf/app.json").unwrap().runnable(), None);
}

#[test]
fn a_git_folder_under_another_name_is_protected_from_writing() {
    let fixture = Fixture::new(&[
        ("meta/HEAD", "ref"),
        ("meta/objects/x", ""),
        ("meta/refs/x", ""),
        ("meta/config", ""),
    ]);
    assert_eq!(fixture.code("meta/config"), Code::Protected);
    assert_eq!(fixture.code("meta/hooks/post-checkout"), Code::Protected);
    assert!(fixture.files.admit("other/config").is_ok());
}
