//! Which paths become places, and under which code the others are refused.

use super::*;
use rustix::fs::{CWD, FileType, Mode};
use std::time::{Duration, Instant};

#[test]
fn a_path_may_be_relative_or_absolute_under_every_name_of_its_root() {
    let scene = Scene::new(&[("src/a.py", "x"), ("b/c.py", "y")]);
    std::os::unix::fs::symlink(scene.at(""), scene.outside("link")).unwrap();
    fs::create_dir(scene.outside("other")).unwrap();
    let given = scene.outside("other/../link/./");
    let files = Files::open(std::slice::from_ref(&given)).unwrap();
    let spelled = [
        scene.at("src/a.py"),
        scene.outside("link/src/a.py"),
        given.join("src/a.py"),
        scene.at("b/../src/a.py"),
    ];
    let key = files.admit("src/a.py").unwrap().key();
    for path in spelled {
        let place = files.admit(path.to_str().unwrap()).unwrap();
        assert_eq!(
            (place.key(), place.shown(), place.resolved()),
            (key.clone(), "src/a.py", None),
            "{path:?}"
        );
    }
    assert_eq!(files.admit("./b//../src/./a.py").unwrap().shown(), "src/a.py");
}

#[test]
fn a_path_may_lie_in_any_of_several_roots_and_the_nearest_is_taken() {
    let scene = Scene::new(&[("a.txt", "1"), ("inner/b.txt", "2")]);
    fs::create_dir(scene.outside("second")).unwrap();
    fs::write(scene.outside("second/c.txt"), "3").unwrap();
    let files = Files::open(&[scene.at(""), scene.outside("second"), scene.at("inner")]).unwrap();
    let shown = |path: PathBuf| files.admit(path.to_str().unwrap()).unwrap().shown().to_owned();
    let absolute = |path: PathBuf| fs::canonicalize(path).unwrap().display().to_string();
    assert_eq!(shown(scene.at("a.txt")), "a.txt");
    assert_eq!(shown(scene.outside("second/c.txt")), absolute(scene.outside("second/c.txt")));
    assert_eq!(shown(scene.at("inner/b.txt")), absolute(scene.at("inner/b.txt")));
    let (by_inner, by_outer) =
        (files.admit(scene.at("inner/b.txt").to_str().unwrap()), files.admit("inner/b.txt"));
    assert_eq!(by_inner.unwrap().key(), by_outer.unwrap().key());
}

#[test]
fn the_answered_path_admitted_again_is_the_same_place_in_every_root() {
    use std::os::unix::ffi::OsStringExt;
    let scene = Scene::new(&[("a.txt", "1"), ("inner/b.txt", "2"), ("deep/er/x.txt", "")]);
    let unnameable = scene.outside("root").with_file_name(std::ffi::OsString::from_vec(b"r\xff".to_vec()));
    for (root, link) in [(scene.outside("second"), "named second"), (unnameable, "third")] {
        fs::create_dir_all(root.join("real")).unwrap();
        fs::write(root.join("real/c.txt"), "3").unwrap();
        std::os::unix::fs::symlink("real", root.join("l")).unwrap();
        std::os::unix::fs::symlink(scene.at("inner"), root.join("across")).unwrap();
        std::os::unix::fs::symlink(root, scene.outside(link)).unwrap();
    }
    scene.link("deep/er", "l");
    scene.link(scene.outside("named second/real"), "across");
    let roots = [
        scene.at(""),
        scene.outside("named second"),
        scene.outside("third"),
        scene.at("inner"),
        scene.at(""),
    ];
    let files = Files::open(&roots).unwrap();
    let mut asked: Vec<String> = [
        "a.txt",
        "./inner/../a.txt",
        "inner/b.txt",
        "l/x.txt",
        "l/../x.txt",
        "l/../../a.txt",
        "across/c.txt",
        "new/n.txt",
    ]
    .map(str::to_owned)
    .into();
    for root in &roots[..3] {
        for path in ["l/c.txt", "real/../real/c.txt", "l/../new.txt", "across/b.txt", "n/e/w.txt"] {
            asked.push(root.join(path).display().to_string());
        }
    }
    let law = |path: &str| {
        let place = files.admit(path).unwrap();
        for answered in [Some(place.shown()), place.resolved()].into_iter().flatten() {
            let again = files.admit(answered).unwrap();
            assert_eq!(
                (again.key(), again.in_root()),
                (place.key(), place.in_root()),
                "{path} -> {answered}"
            );
        }
        (place.shown().to_owned(), place.in_root().to_owned())
    };
    asked.iter().for_each(|path| drop(law(path)));
    assert_eq!(law("l/../x.txt"), ("l/../x.txt".to_owned(), "deep/x.txt".to_owned()));
    assert_eq!(law(asked[0].as_str()).0, "a.txt", "a root that is given twice is the first");
    assert_eq!(
        law(scene.at("a.txt").to_str().unwrap()).0,
        "a.txt",
        "a root that is given twice is the first"
    );
    assert!(law(scene.outside("third/l/c.txt").to_str().unwrap()).0.ends_with("third/l/c.txt"));
}

#[test]
fn what_leads_out_is_refused() {
    let scene = Scene::new(&[("a.txt", "x"), ("d/b.txt", "y")]);
    fs::write(scene.outside("secret.txt"), "s").unwrap();
    fs::create_dir(scene.outside("root2")).unwrap();
    fs::write(scene.outside("root2/x.txt"), "s").unwrap();
    scene.link("../secret.txt", "rel");
    scene.link(scene.outside("secret.txt"), "abs");
    scene.link("..", "up");
    scene.link("/etc", "etc");
    scene.link("/proc/self", "proc");
    scene.link("../../secret.txt", "d/rel");
    let root2 = scene.outside("root2/x.txt");
    for path in [
        "../secret.txt",
        "d/../../secret.txt",
        "rel",
        "abs",
        "up/secret.txt",
        "up/new.txt",
        "etc/passwd",
        "etc/new",
        "proc/environ",
        "d/rel",
        "/etc/passwd",
        "/proc/self/environ",
        "/",
        root2.to_str().unwrap(),
        "../root/a.txt",
    ] {
        assert_eq!(scene.code(path), Code::PathOutsideRoot, "{path}");
    }
    assert_eq!(fs::read_to_string(scene.outside("secret.txt")).unwrap(), "s");
}

#[test]
fn links_inside_are_followed_relative_and_absolute() {
    let scene = Scene::new(&[("real/a.txt", "x")]);
    scene.link("real/a.txt", "rel");
    scene.link(scene.at("real/a.txt"), "abs");
    scene.link("real", "dir");
    scene.link("rel", "twice");
    let key = scene.files.admit("real/a.txt").unwrap().key();
    for path in ["rel", "abs", "dir/a.txt", "twice"] {
        let place = scene.files.admit(path).unwrap();
        assert_eq!((place.key(), place.shown(), place.resolved()), (key.clone(), path, Some("real/a.txt")));
    }
    assert_eq!(scene.files.admit("dir/new.txt").unwrap().resolved(), Some("real/new.txt"));
}

#[test]
fn a_link_into_another_root_is_followed_there() {
    let scene = Scene::new(&[]);
    fs::create_dir(scene.outside("second")).unwrap();
    fs::write(scene.outside("second/c.txt"), "3").unwrap();
    scene.link(scene.outside("second/c.txt"), "c");
    let files = Files::open(&[scene.at(""), scene.outside("second")]).unwrap();
    let place = files.admit("c").unwrap();
    assert_eq!(place.resolved(), fs::canonicalize(scene.outside("second/c.txt")).unwrap().to_str());
    assert_eq!(files.read(&place, LIMIT).unwrap().unwrap().bytes(), b"3");
}

#[test]
fn links_that_lead_nowhere_are_refused_clearly() {
    let scene = Scene::new(&[]);
    scene.link("missing.txt", "dangling");
    scene.link("missing", "dir");
    scene.link("loop2", "loop1");
    scene.link("loop1", "loop2");
    for path in ["dangling", "dir/new.txt"] {
        let error = scene.refusal(path);
        assert_eq!(error.code, Code::FileNotFound, "{path}");
        assert!(error.message.contains("symlink"), "{}", error.message);
    }
    let error = scene.refusal("loop1");
    assert_eq!(
        (error.code, error.message.as_str()),
        (Code::NotAFile, "not a file: loop1 is a loop of symlinks")
    );
}

#[test]
fn what_holds_no_text_is_refused_at_once() {
    let scene = Scene::new(&[("d/a.txt", "x")]);
    rustix::fs::mknodat(CWD, scene.at("fifo"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(scene.at("socket")).unwrap();
    let start = Instant::now();
    for path in ["d", "d/", "d/a.txt/", "d/a.txt/b", ".", "fifo", "socket"] {
        let error = scene.refusal(path);
        assert_eq!(error.code, Code::NotAFile, "{path}");
        assert!(error.message.starts_with("not a file: "), "{}", error.message);
    }
    let devices = Files::open(&["/dev".into()]).unwrap();
    let kernel = Files::open(&["/proc/self".into()]).unwrap();
    assert_eq!(devices.admit("null").unwrap_err().code, Code::NotAFile);
    assert_eq!(kernel.admit("status").unwrap_err().code, Code::NotAFile);
    assert!(start.elapsed() < Duration::from_millis(100), "{:?}", start.elapsed());
}

#[test]
fn a_slash_after_a_file_s_name_is_said_to_be_the_fault() {
    let scene = Scene::new(&[("a.txt", "x")]);
    let message = |path: &str| scene.refusal(path).message;
    assert_eq!(message("a.txt/"), "not a file: a.txt/ ends in `/` but names a file");
    assert_eq!(message("new/"), "not a file: new/ ends in `/` but names nothing that is there");
    fs::create_dir(scene.at("new")).unwrap();
    assert_eq!(message("new/"), "not a file: new/ is a directory");
}

#[test]
fn a_fifo_that_takes_the_file_s_place_does_not_block_reading() {
    let scene = Scene::new(&[("a.txt", "x")]);
    let place = scene.files.admit("a.txt").unwrap();
    fs::remove_file(scene.at("a.txt")).unwrap();
    rustix::fs::mknodat(CWD, scene.at("a.txt"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let start = Instant::now();
    assert_eq!(scene.files.read(&place, LIMIT).unwrap_err().code, Code::NotAFile);
    assert!(start.elapsed() < Duration::from_millis(100));
}

#[test]
fn impossible_and_unseemly_names_are_refused_with_their_field() {
    let scene = Scene::new(&[]);
    let long = format!("d/{}", "x".repeat(256));
    for path in ["", "a\0b", long.as_str(), "new\u{202e}txt.py", "a\nb", "dir\u{7}/x.py"] {
        let error = scene.refusal(path);
        assert_eq!((error.code, error.field.as_deref()), (Code::InvalidInput, Some("path")), "{path:?}");
    }
    fs::write(scene.at("old\u{202e}"), "x").unwrap();
    assert!(scene.files.admit("old\u{202e}").is_ok(), "an old name is what it is");
}

#[test]
fn new_files_have_stable_keys_and_make_no_folders_when_admitted() {
    let scene = Scene::new(&[]);
    let place = scene.files.admit("a/b/new.txt").unwrap();
    assert_eq!(place.key(), scene.files.admit("a/./x/../b/new.txt").unwrap().key());
    assert_ne!(place.key(), scene.files.admit("a/b/other.txt").unwrap().key());
    assert!(scene.files.read(&place, LIMIT).unwrap().is_none());
    assert!(scene.tree().is_empty());
    fs::create_dir(scene.at("a")).unwrap();
    assert_ne!(place.key(), scene.files.admit("a/b/new.txt").unwrap().key(), "the folder is there now");
}

/// A root with protected files, and with links to and from them.
fn guarded() -> Scene {
    let scene = Scene::new(&[
        (".git/config", "c"),
        (".env", "SECRET"),
        ("notes/x.txt", "n"),
        ("cfg/policy", "p"),
        ("sep/x", ""),
    ]);
    scene.link(".git", "harmless");
    scene.link(".git/config", "plain.txt");
    scene.link("../.env", "notes/readme.txt");
    scene.link("cfg/policy", "quality.yaml");
    scene.link("sep", ".husky");
    fs::hard_link(scene.at(".env"), scene.at("notes/hard.txt")).unwrap();
    scene
}

#[test]
fn protected_paths_are_refused_there_or_not_under_any_disguise() {
    let scene = guarded();
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
        let error = scene.refusal(path);
        assert_eq!(error.code, Code::Protected, "{path}: {}", error.message);
        assert!(error.message.contains("rule"), "{}", error.message);
    }
}

#[test]
fn what_only_looks_protected_may_be_written() {
    let scene = guarded();
    for path in [
        ".gitignore",
        ".github/x.yml",
        "quality.yaml.md",
        "keyboard.py",
        ".claude.md",
        "cfg/other",
        "notes/x.txt",
    ] {
        assert!(scene.files.admit(path).is_ok(), "{path}");
    }
}

#[test]
fn what_a_link_inside_a_protected_folder_leads_to_is_protected() {
    for (link, target, written) in [
        (".git/hooks", "hooks", "hooks/pre-commit"),
        (".git/hooks", "hooks", "hooks/new"),
        (".git/hooks/pre-commit", "tools/check.sh", "tools/check.sh"),
        (".git/config", "conf/git", "conf/git"),
        (".husky/pre-push", "tools/check.sh", "tools/check.sh"),
        (".claude/settings.json", "conf/c.json", "conf/c.json"),
        (".claude/commands", "conf", "conf/any"),
        (".cursor/mcp.json", "conf/c.json", "conf/c.json"),
        (".lockgate/trust", "conf/trust", "conf/trust"),
        (".lockgate", "conf", "conf/any"),
        (".vscode", "conf", "conf/tasks.json"),
        (".vscode/settings.json", "conf/s.json", "conf/s.json"),
        (".vscode/tasks.json", "conf/s.json", "conf/s.json"),
        (".vscode/launch.json", "conf/s.json", "conf/s.json"),
        (".vscode/mcp.json", "conf/s.json", "conf/s.json"),
        (".mcp.json", "conf/s.json", "conf/s.json"),
        (".envrc", "conf/s.json", "conf/s.json"),
    ] {
        for above in ["", "pkg/"] {
            let beside = format!("{above}unrelated/x");
            let scene = Scene::new(&[(&format!("{above}{written}"), "x"), (&beside, "x")]);
            let at = scene.at(&format!("{above}{link}"));
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            assert!(scene.files.admit(&format!("{above}{written}")).is_ok(), "the control: {link}");
            let target = format!("{}{target}", "../".repeat(link.matches('/').count()));
            std::os::unix::fs::symlink(target, at).unwrap();
            assert_eq!(scene.code(&format!("{above}{written}")), Code::Protected, "{above}{link}");
            assert!(scene.files.admit(&beside).is_ok(), "{above}{link}");
        }
    }
}

#[test]
fn a_git_folder_under_another_name_is_protected_from_writing() {
    let scene =
        Scene::new(&[("meta/HEAD", "ref"), ("meta/objects/x", ""), ("meta/refs/x", ""), ("meta/config", "")]);
    assert_eq!(scene.code("meta/config"), Code::Protected);
    assert_eq!(scene.code("meta/hooks/post-checkout"), Code::Protected);
    assert!(scene.files.admit("other/config").is_ok());
}
