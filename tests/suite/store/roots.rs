//! Several roots: which one a path is in, and how the file is named in an answer.

use super::*;
use std::os::unix::ffi::OsStringExt;

#[test]
fn a_path_may_lie_in_any_of_several_roots_and_the_nearest_is_taken() {
    let fixture = Fixture::new(&[("a.txt", "1"), ("inner/b.txt", "2")]);
    fs::create_dir(fixture.outside("second")).unwrap();
    fs::write(fixture.outside("second/c.txt"), "3").unwrap();
    let files = Files::open(&[fixture.at(""), fixture.outside("second"), fixture.at("inner")]).unwrap();
    let shown = |path: PathBuf| files.admit(path.to_str().unwrap()).unwrap().shown().to_owned();
    let absolute = |path: PathBuf| fs::canonicalize(path).unwrap().display().to_string();
    assert_eq!(shown(fixture.at("a.txt")), "a.txt");
    assert_eq!(shown(fixture.outside("second/c.txt")), absolute(fixture.outside("second/c.txt")));
    assert_eq!(shown(fixture.at("inner/b.txt")), absolute(fixture.at("inner/b.txt")));
    let (by_inner, by_outer) =
        (files.admit(fixture.at("inner/b.txt").to_str().unwrap()), files.admit("inner/b.txt"));
    assert_eq!(by_inner.unwrap().key(), by_outer.unwrap().key());
}

#[test]
fn a_link_into_another_root_is_followed_there() {
    let fixture = Fixture::new(&[]);
    fs::create_dir(fixture.outside("second")).unwrap();
    fs::write(fixture.outside("second/c.txt"), "3").unwrap();
    fixture.link(fixture.outside("second/c.txt"), "c");
    let files = Files::open(&[fixture.at(""), fixture.outside("second")]).unwrap();
    let place = files.admit("c").unwrap();
    assert_eq!(place.resolved(), fs::canonicalize(fixture.outside("second/c.txt")).unwrap().to_str());
    assert_eq!(files.read(&place, LIMIT).unwrap().unwrap().bytes(), b"3");
}

/// A fixture, and three roots besides its own with links in and between them; one has no name that is text but by a link.
fn linked_roots() -> (Fixture, Vec<PathBuf>) {
    let fixture = Fixture::new(&[("a.txt", "1"), ("inner/b.txt", "2"), ("deep/er/x.txt", "")]);
    let unnameable = fixture.outside("root").with_file_name(std::ffi::OsString::from_vec(b"r\xff".to_vec()));
    for (root, link) in [(fixture.outside("second"), "named second"), (unnameable, "third")] {
        fs::create_dir_all(root.join("real")).unwrap();
        fs::write(root.join("real/c.txt"), "3").unwrap();
        std::os::unix::fs::symlink("real", root.join("l")).unwrap();
        std::os::unix::fs::symlink(fixture.at("inner"), root.join("across")).unwrap();
        std::os::unix::fs::symlink(root, fixture.outside(link)).unwrap();
    }
    fixture.link("deep/er", "l");
    fixture.link(fixture.outside("named second/real"), "across");
    let roots = vec![
        fixture.at(""),
        fixture.outside("named second"),
        fixture.outside("third"),
        fixture.at("inner"),
        fixture.at(""),
    ];
    (fixture, roots)
}

#[test]
fn the_answered_path_admitted_again_is_the_same_place_in_every_root() {
    let (fixture, roots) = linked_roots();
    let files = Files::open(&roots).unwrap();
    let mut paths: Vec<String> = [
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
            paths.push(root.join(path).display().to_string());
        }
    }
    let check = |path: &str| {
        let place = files.admit(path).unwrap();
        for path_shown in [Some(place.shown()), place.resolved()].into_iter().flatten() {
            let again = files.admit(path_shown).unwrap();
            assert_eq!(
                (again.key(), again.in_root()),
                (place.key(), place.in_root()),
                "{path} -> {path_shown}"
            );
        }
        (place.shown().to_owned(), place.in_root().to_owned())
    };
    paths.iter().for_each(|path| drop(check(path)));
    assert_eq!(check("l/../x.txt"), ("l/../x.txt".to_owned(), "deep/x.txt".to_owned()));
    assert_eq!(
        check(fixture.at("a.txt").to_str().unwrap()).0,
        "a.txt",
        "a root that is given twice is the first"
    );
    assert!(check(fixture.outside("third/l/c.txt").to_str().unwrap()).0.ends_with("third/l/c.txt"));
}
