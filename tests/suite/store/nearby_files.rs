//! What stands beside the files: the policy, `.editorconfig`, neighbours.

use super::*;
use crate::suite::files;
use lockgate_text::{Encoding, LineEnd};

impl Fixture {
    fn policy(&self, path: &str) -> Result<Option<(String, String)>, Error> {
        let found = self.files.policy_text(&self.files.admit(path)?)?;
        Ok(found.map(|policy| (policy.name, policy.text)))
    }

    fn hints(&self, path: &str) -> (Option<Encoding>, Option<LineEnd>) {
        let hints = self.files.hints(&self.files.admit(path).unwrap());
        (hints.charset, hints.line_end)
    }
}

#[test]
fn the_nearest_policy_is_found_in_the_order_of_its_names() {
    let fixture = Fixture::new(&[
        ("quality.yaml", "top"),
        ("a/.lockgate/quality.yaml", "a"),
        ("a/b/.st3/quality.yaml", "b"),
        ("c/quality.yaml", "c"),
        ("c/.lockgate/quality.yaml", "shadowed"),
        ("a/b/x.py", ""),
    ]);
    let found = |path| fixture.policy(path).unwrap().unwrap();
    assert_eq!(found("x.py"), ("quality.yaml".to_owned(), "top".to_owned()));
    assert_eq!(found("a/x.py"), ("a/.lockgate/quality.yaml".to_owned(), "a".to_owned()));
    assert_eq!(found("a/b/x.py"), ("a/b/.st3/quality.yaml".to_owned(), "b".to_owned()));
    assert_eq!(found("c/new/deep/x.py"), ("c/quality.yaml".to_owned(), "c".to_owned()));
    assert_eq!(Fixture::new(&[]).policy("x.py").unwrap(), None);
}

#[test]
fn the_policy_above_is_searched_from_the_parent_folder() {
    let fixture = Fixture::new(&[
        ("quality.yaml", "top"),
        ("a/quality.yaml", "a"),
        ("a/.lockgate/quality.yaml", "shadowed"),
        ("a/b/c/.st3/quality.yaml", "c"),
        ("a/b/c/x.py", ""),
    ]);
    let place = fixture.files.admit("a/b/c/x.py").unwrap();
    let mut found = Vec::new();
    let mut next = fixture.files.policy_text(&place).unwrap();
    while let Some(policy) = next {
        next = fixture.files.policy_above(&policy).unwrap();
        found.push((policy.folder, policy.text));
    }
    let expected = [("a/b/c", "c"), ("a", "a"), ("", "top")];
    assert_eq!(found, expected.map(|(folder, text)| (folder.to_owned(), text.to_owned())));
    assert_eq!(fixture.files.policy_at_top().unwrap().unwrap().text, "top");
    assert_eq!(Fixture::new(&[("a/quality.yaml", "a")]).files.policy_at_top().unwrap(), None);
    fs::write(fixture.at("a/quality.yaml"), [0xff]).unwrap();
    let policy = fixture.files.policy_text(&place).unwrap().unwrap();
    assert_eq!(fixture.files.policy_above(&policy).unwrap_err().code, Code::PolicyInvalid);
}

#[test]
fn a_policy_that_is_there_but_cannot_be_read_is_never_passed_over() {
    type Spoil = fn(&Fixture);
    let faults: [(&str, Spoil); 6] = [
        ("not UTF-8", |fixture| fs::write(fixture.at("d/quality.yaml"), [0xff, 0xfe]).unwrap()),
        ("target outside the root", |fixture| fixture.link("../../secret", "d/quality.yaml")),
        ("target does not exist", |fixture| fixture.link("nowhere", "d/quality.yaml")),
        ("target does not exist", |fixture| fixture.link("nowhere", "d/.lockgate")),
        ("not a file", |fixture| fs::create_dir(fixture.at("d/quality.yaml")).unwrap()),
        ("larger than", |fixture| {
            fs::write(fixture.at("d/quality.yaml"), vec![b' '; (1 << 20) + 1]).unwrap()
        }),
    ];
    for (message, spoil) in faults {
        let fixture = Fixture::new(&[("quality.yaml", "top"), ("d/x.py", "")]);
        fs::write(fixture.outside("secret"), "quality_gates: {}").unwrap();
        assert_eq!(fixture.policy("d/x.py").unwrap().unwrap().1, "top", "the control");
        spoil(&fixture);
        let error = fixture.policy("d/x.py").unwrap_err();
        assert_eq!(error.code, Code::PolicyInvalid);
        assert!(error.message.contains(message), "{message}: {}", error.message);
    }
}

#[test]
fn a_policy_behind_a_link_rules_when_its_target_cannot_be_edited() {
    let target = |fixture: &Fixture, path: &str| fixture.code(path) == Code::Protected;
    let fixture = Fixture::new(&[("shared/quality.yaml", "shared"), ("d/x.py", "")]);
    fixture.link("../shared/quality.yaml", "d/quality.yaml");
    assert_eq!(fixture.policy("d/x.py").unwrap().unwrap().1, "shared");
    assert!(target(&fixture, "shared/quality.yaml"));
    for link in ["quality.yaml", ".lockgate/quality.yaml", ".st3/quality.yaml"] {
        let fixture = Fixture::new(&[("conf/q.yaml", "shared"), ("d/x.py", "")]);
        fs::create_dir_all(fixture.at(link).parent().unwrap()).unwrap();
        fixture.link(fixture.at("conf/q.yaml"), link);
        assert!(target(&fixture, "conf/q.yaml"), "{link}");
        fs::remove_file(fixture.at(link)).unwrap();
        let up = "../".repeat(link.matches('/').count());
        fixture.link(format!("{up}conf/q.yaml"), link);
        assert_eq!(fixture.policy("d/x.py").unwrap().unwrap().1, "shared", "{link}");
        assert!(target(&fixture, "conf/q.yaml"), "{link}");
        assert!(fixture.files.admit("conf/other.yaml").is_ok(), "the control");
    }
}

#[test]
fn a_policy_behind_a_link_to_what_may_be_edited_rules_nothing() {
    for link in ["sub/quality.yaml", "sub/.lockgate/quality.yaml"] {
        let fixture = Fixture::new(&[("conf/q.yaml", "weaker"), ("quality.yaml", "top"), ("sub/x.py", "")]);
        assert_eq!(fixture.policy("sub/x.py").unwrap().unwrap().1, "top", "the control");
        fs::create_dir_all(fixture.at(link).parent().unwrap()).unwrap();
        fixture.link(format!("{}conf/q.yaml", "../".repeat(link.matches('/').count())), link);
        let error = fixture.policy("sub/x.py").unwrap_err();
        assert_eq!(error.code, Code::PolicyInvalid, "{link}");
        assert!(error.message.contains("symlink to conf/q.yaml"), "{}", error.message);
    }
}

#[test]
fn hints_come_from_all_files_up_to_the_root_one_and_nearer_ones_win() {
    let fixture = Fixture::new(&[
        (".editorconfig", "[*]\ncharset = latin1\nend_of_line = crlf\n"),
        ("a/.editorconfig", "[*.py]\nend_of_line = lf\n[/sub/*.txt]\ncharset = utf-16le\n"),
        ("b/.editorconfig", "root = true\n[*.{c,h}]\ncharset = utf-8\n"),
    ]);
    assert_eq!(fixture.hints("x.txt"), (Some(Encoding::Latin1), Some(LineEnd::CrLf)));
    assert_eq!(fixture.hints("a/x.py"), (Some(Encoding::Latin1), Some(LineEnd::Lf)));
    assert_eq!(fixture.hints("a/deep/new/x.py"), (Some(Encoding::Latin1), Some(LineEnd::Lf)));
    assert_eq!(fixture.hints("a/sub/x.txt"), (Some(Encoding::Utf16Le), Some(LineEnd::CrLf)));
    assert_eq!(fixture.hints("b/x.c"), (Some(Encoding::Utf8), None));
    assert_eq!(fixture.hints("b/x.txt"), (None, None));
    assert_eq!(Fixture::new(&[]).hints("x"), (None, None));
}

#[test]
fn invalid_lines_of_hints_are_skipped() {
    let valid = "[*]\ncharset = latin1\n[*.txt]\nend_of_line = crlf\n";
    for (line, invalid) in [
        ("[*]", "no pair\n[*]"),
        ("[*.txt]", "= no key\n[*.txt]"),
        ("[*.txt]", "indent_size =\n[*.txt]"),
        ("[*]\n", "\u{feff}[*]\n"),
        ("[*.txt]", "[*.py\ncharset = utf-16le\n[*.txt]"),
        ("[*.txt]", "[]\ncharset = utf-16le\n[*.txt]"),
    ] {
        let fixture = Fixture::new(&[(".editorconfig", &valid.replacen(line, invalid, 1))]);
        assert_eq!(fixture.hints("x.txt"), (Some(Encoding::Latin1), Some(LineEnd::CrLf)), "{invalid:?}");
    }
}

#[test]
fn broken_hints_are_no_hints() {
    let fixture = Fixture::new(&[("d/x.py", "")]);
    fs::write(fixture.at(".editorconfig"), [0xff, 0xfe, 0]).unwrap();
    fixture.link("/etc/passwd", "d/.editorconfig");
    assert_eq!(fixture.hints("d/x.py"), (None, None));
}

#[test]
fn neighbouring_files_are_found_and_none_outside() {
    let fixture = Fixture::new(&[("a/b.txt", "x")]);
    fs::write(fixture.outside("secret"), "s").unwrap();
    fixture.link("..", "up");
    let place = fixture.files.admit("a/b.txt").unwrap();
    let exists = |path| fixture.files.exists(&place, path);
    assert!(exists("a/b.txt") && exists("a"));
    assert!(!exists("a/c.txt") && !exists("../secret") && !exists("up/secret") && !exists("/etc/passwd"));
}

#[test]
fn neighbouring_files_are_searched_in_the_root_of_the_file() {
    let fixture = Fixture::new(&[("first.txt", "")]);
    for path in ["second/pkg/a.py", "second/pkg/neighbour", "second/quality.yaml"] {
        files::write(fixture.outside(path), "second");
    }
    fixture.link(fixture.outside("second/pkg"), "l");
    let files = Files::open(&[fixture.at(""), fixture.outside("second")]).unwrap();
    for path in ["l/a.py".to_owned(), fixture.outside("second/pkg/a.py").display().to_string()] {
        let place = files.admit(&path).unwrap();
        assert_eq!(place.in_root(), "pkg/a.py");
        assert!(files.exists(&place, place.in_root()) && files.exists(&place, "pkg/neighbour"));
        assert!(!files.exists(&place, "first.txt") && !files.exists(&place, "l/a.py"));
        let policy = files.policy_text(&place).unwrap().unwrap();
        assert_eq!(
            Path::new(&policy.name),
            fs::canonicalize(fixture.outside("second/quality.yaml")).unwrap()
        );
        assert_eq!((policy.in_root.as_str(), policy.text.as_str()), ("quality.yaml", "second"));
    }
}
