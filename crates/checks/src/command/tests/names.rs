//! Names of files in outputs, without a file system.

use super::super::file_names::{PathLookup, RunNames};
use crate::output::NamedFile;
use lockgate_policy::Input;
use std::path::Path;

fn names(root: &str, folder: &str, path: &str, input: Input) -> RunNames {
    let listed = ["src/b.py", "a.py", "-"].map(str::to_owned).to_vec();
    let [root, copy] = [root, "/tmp/lockgate-x/project/r"].map(Path::new);
    let folder = copy.join(folder);
    let own = copy.join(path);
    let bases = [folder.as_path(), copy, own.parent().unwrap()];
    let draft = Some(Path::new("/tmp/lockgate-x/draft/a.py"));
    RunNames::new(path, [root, copy].into_iter(), bases, draft, &[], input, PathLookup::Listed(listed))
}

#[test]
fn every_name_of_the_edited_file_is_known() {
    let names = names("/home/me/r", "src", "src/pkg/a.py", Input::Stdin);
    for name in [
        "/home/me/r/src/pkg/a.py",
        "/home/me/r/./src//x/../pkg/a.py",
        "/tmp/lockgate-x/project/r/src/pkg/a.py",
        "/tmp/lockgate-x/draft/a.py",
        "../../../draft/a.py",
        "pkg/a.py",
        "./pkg/a.py",
        "src/pkg/a.py",
        "file:///home/me/r/src/pkg/a.py",
        "file:///home/me/r/src/pkg/%61.py",
        " pkg/a.py ",
        "/home/me/r",
        ".",
        "",
        "-",
        "<stdin>",
        "stdin",
        "<standard input>",
        "<text>",
    ] {
        assert_eq!(names.resolve(name), NamedFile::Edited, "{name}");
    }
}

#[test]
fn a_bare_name_is_the_edited_file_where_no_other_has_it() {
    let bare = names("/r", "", "src/pkg/c.py", Input::Staged);
    assert_eq!(bare.resolve("c.py"), NamedFile::Edited);
    let other = names("/r", "", "src/pkg/a.py", Input::Staged);
    assert_eq!(
        other.resolve("a.py"),
        NamedFile::Other("a.py".to_owned()),
        "there is one where the program runs"
    );
    assert_eq!(other.resolve("-"), NamedFile::Other("-".to_owned()), "nothing came on standard input");
}

#[test]
fn other_files_are_named_from_the_root_or_by_their_end() {
    let names = names("/home/me/r", "src", "src/pkg/a.py", Input::Shadow);
    for (name, expected) in [
        ("b.py", "src/b.py"),
        ("/home/me/r/lib/x.py", "lib/x.py"),
        ("/tmp/lockgate-x/project/r/lib/x.py", "lib/x.py"),
        ("/home/me/rest/x.py", "…/me/rest/x.py"),
        ("/home/me/r/../q.py", "/home/me/q.py"),
        ("/usr/lib/python3/typing.pyi", "…/lib/python3/typing.pyi"),
        ("/x.py", "/x.py"),
        ("../../../../../../../etc/passwd", "/etc/passwd"),
        ("nowhere.py", "src/nowhere.py"),
        ("/home/me/r/src", "src"),
    ] {
        assert_eq!(names.resolve(name), NamedFile::Other(expected.to_owned()), "{name}");
    }
}

#[test]
fn the_whole_file_system_can_be_a_root() {
    let names = names("/", "", "etc/a.py", Input::Stdin);
    assert_eq!(names.resolve("/etc/a.py"), NamedFile::Edited);
    assert_eq!(names.resolve("/etc/b.py"), NamedFile::Other("etc/b.py".to_owned()));
}
