//! What stands beside the files: the policy, `.editorconfig`, neighbours.

use super::*;
use lockgate::text::{Encoding, LineEnd};

impl Scene {
    fn policy(&self, path: &str) -> Result<Option<(String, String)>, Error> {
        self.files.policy_text(&self.files.admit_to_read(path)?)
    }

    fn hints(&self, path: &str) -> (Option<Encoding>, Option<LineEnd>) {
        let hints = self.files.hints(&self.files.admit(path).unwrap());
        (hints.charset, hints.line_end)
    }
}

#[test]
fn the_nearest_policy_is_found_in_the_order_of_its_names() {
    let scene = Scene::new(&[
        ("quality.yaml", "top"),
        ("a/.lockgate/quality.yaml", "a"),
        ("a/b/.st3/quality.yaml", "b"),
        ("c/quality.yaml", "c"),
        ("c/.lockgate/quality.yaml", "shadowed"),
        ("a/b/x.py", ""),
    ]);
    let found = |path| scene.policy(path).unwrap().unwrap();
    assert_eq!(found("x.py"), ("quality.yaml".to_owned(), "top".to_owned()));
    assert_eq!(found("a/x.py"), ("a/.lockgate/quality.yaml".to_owned(), "a".to_owned()));
    assert_eq!(found("a/b/x.py"), ("a/b/.st3/quality.yaml".to_owned(), "b".to_owned()));
    assert_eq!(found("c/new/deep/x.py"), ("c/quality.yaml".to_owned(), "c".to_owned()));
    assert_eq!(Scene::new(&[]).policy("x.py").unwrap(), None);
}

#[test]
fn a_policy_that_is_there_but_cannot_be_read_is_never_passed_over() {
    type Spoil = fn(&Scene);
    let faults: [(&str, Spoil); 6] = [
        ("not UTF-8", |scene| fs::write(scene.at("d/quality.yaml"), [0xff, 0xfe]).unwrap()),
        ("out of the root", |scene| scene.link("../../secret", "d/quality.yaml")),
        ("target is not there", |scene| scene.link("nowhere", "d/quality.yaml")),
        ("target is not there", |scene| scene.link("nowhere", "d/.lockgate")),
        ("not a file", |scene| fs::create_dir(scene.at("d/quality.yaml")).unwrap()),
        ("larger than", |scene| fs::write(scene.at("d/quality.yaml"), vec![b' '; (1 << 20) + 1]).unwrap()),
    ];
    for (seen, spoil) in faults {
        let scene = Scene::new(&[("quality.yaml", "top"), ("d/x.py", "")]);
        fs::write(scene.outside("secret"), "quality_gates: {}").unwrap();
        assert_eq!(scene.policy("d/x.py").unwrap().unwrap().1, "top", "the control");
        spoil(&scene);
        let error = scene.policy("d/x.py").unwrap_err();
        assert_eq!(error.code, Code::PolicyInvalid);
        assert!(error.message.contains(seen), "{seen}: {}", error.message);
    }
}

#[test]
fn a_policy_behind_a_link_inside_the_root_is_read() {
    let scene = Scene::new(&[("shared/policy.yaml", "shared"), ("d/x.py", "")]);
    scene.link("../shared/policy.yaml", "d/quality.yaml");
    assert_eq!(scene.policy("d/x.py").unwrap().unwrap().1, "shared");
}

#[test]
fn hints_come_from_all_files_up_to_the_root_one_and_nearer_ones_win() {
    let scene = Scene::new(&[
        (".editorconfig", "[*]\ncharset = latin1\nend_of_line = crlf\n"),
        ("a/.editorconfig", "[*.py]\nend_of_line = lf\n[/sub/*.txt]\ncharset = utf-16le\n"),
        ("b/.editorconfig", "root = true\n[*.{c,h}]\ncharset = utf-8\n"),
    ]);
    assert_eq!(scene.hints("x.txt"), (Some(Encoding::Latin1), Some(LineEnd::CrLf)));
    assert_eq!(scene.hints("a/x.py"), (Some(Encoding::Latin1), Some(LineEnd::Lf)));
    assert_eq!(scene.hints("a/deep/new/x.py"), (Some(Encoding::Latin1), Some(LineEnd::Lf)));
    assert_eq!(scene.hints("a/sub/x.txt"), (Some(Encoding::Utf16Le), Some(LineEnd::CrLf)));
    assert_eq!(scene.hints("b/x.c"), (Some(Encoding::Utf8), None));
    assert_eq!(scene.hints("b/x.txt"), (None, None));
    assert_eq!(Scene::new(&[]).hints("x"), (None, None));
}

#[test]
fn broken_hints_are_no_hints() {
    let scene = Scene::new(&[("d/x.py", "")]);
    fs::write(scene.at(".editorconfig"), [0xff, 0xfe, 0]).unwrap();
    scene.link("/etc/passwd", "d/.editorconfig");
    assert_eq!(scene.hints("d/x.py"), (None, None));
}

#[test]
fn neighbours_are_seen_and_never_those_outside() {
    let scene = Scene::new(&[("a/b.txt", "x")]);
    fs::write(scene.outside("secret"), "s").unwrap();
    scene.link("..", "up");
    let place = scene.files.admit("a/b.txt").unwrap();
    let exists = |path| scene.files.exists(&place, path);
    assert!(exists("a/b.txt") && exists("a"));
    assert!(!exists("a/c.txt") && !exists("../secret") && !exists("up/secret") && !exists("/etc/passwd"));
}
