//! Compares the files that a search skips with those that the crate `ignore` skips.

use super::*;
use ignore::WalkBuilder;
use std::collections::BTreeSet;

#[test]
fn the_rules_of_a_repository_above_a_root_count_and_others_do_not() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    write(&top.join("outer/repository/sub/root/a.txt"), "");
    write(&top.join("outer/repository/sub/root/b.txt"), "");
    write(&top.join("outer/repository/sub/root/c.txt"), "");
    write(&top.join("outer/.gitignore"), "c.txt\n");
    write(&top.join("outer/repository/.gitignore"), "b.txt\n");
    let names = || {
        let files = Files::open(&[top.join("outer/repository/sub/root")]).unwrap();
        let SearchTarget::Roots(below) = files.search_target(None).unwrap() else { panic!() };
        let clock = clock(&());
        let found = files.find(&below, Hidden::Excluded, SearchLimits { most: 9, largest: 9, clock: &clock });
        found.files.iter().map(|(place, _)| place.shown().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(), ["a.txt", "b.txt", "c.txt"]);
    fs::create_dir(top.join("outer/repository/.git")).unwrap();
    assert_eq!(names(), ["a.txt", "c.txt"]);
}

/// What the crate's own walk gives, in the order of the paths.
fn reference(root: &Path) -> BTreeSet<String> {
    let mut walk = WalkBuilder::new(root);
    walk.hidden(false).ignore(false).git_global(false).require_git(false).parents(false);
    walk.filter_entry(|entry| entry.file_name() != ".git");
    let is_file = |entry: &ignore::DirEntry| entry.file_type().is_some_and(|kind| kind.is_file());
    let name =
        |entry: ignore::DirEntry| entry.path().strip_prefix(root).unwrap().to_str().unwrap().to_owned();
    walk.build().map(Result::unwrap).filter(is_file).map(name).collect()
}

fn any_path() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["a", "b", "c.log", "build", ".x"]);
    prop::collection::vec(name, 1..4).prop_map(|names| names.join("/"))
}

fn any_rules() -> impl Strategy<Value = String> {
    let rule = prop::sample::select(vec![
        "a", "/a", "a/", "*.log", "!c.log", "build/", "/build", "b/*", "!b/a", "**/a", "a/**", ".x", "# a",
        "\\!x", "a/b", "!a/", "c.l?g", "[ab]",
    ]);
    prop::collection::vec(rule, 0..4).prop_map(|rules| rules.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_rules_of_git_mean_what_they_mean_to_others(
        paths in prop::collection::vec(any_path(), 1..12),
        rules in prop::collection::vec((any_path(), any_rules()), 0..4),
        top in any_rules(),
        excluded in prop::option::of(any_rules()),
    ) {
        let fixture = Fixture::new(&[]);
        let root = fixture.root();
        for path in &paths {
            // Some of them are folders by now.
            let _ = fs::create_dir_all(root.join(path).parent().unwrap()).and_then(|()| fs::write(root.join(path), ""));
        }
        let mut rules = rules;
        rules.push((String::new(), top));
        for (folder, rules) in &rules {
            let _unless_a_file = fs::write(root.join(folder).join(".gitignore"), rules);
        }
        if let Some(excluded) = excluded {
            write(&root.join(".git/info/exclude"), &excluded);
        }
        let found: BTreeSet<String> = fixture.found("", Hidden::Included).into_iter().collect();
        prop_assert_eq!(found, reference(&root));
    }
}
