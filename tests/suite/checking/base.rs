//! What files are compared with: every way to name a revision, and every sort of repository.

use std::fs;

use super::super::trust::fixture::Fixture;
use super::{BAD, GOOD, check, commit, finding_texts, git, json, judged, project, write};

/// Three commits on main, of which the second breaks `b.py` and the third `c.py`; `a.py` is broken since, and from the
/// first a branch `side` parts, on which `s.py` is broken.
fn history() -> Fixture {
    let fixture = project();
    commit(&fixture, &[("a.py", GOOD), ("b.py", GOOD), ("c.py", GOOD)]);
    git(&fixture, "root", &["branch", "side"]);
    commit(&fixture, &[("b.py", BAD)]);
    git(&fixture, "root", &["tag", "-a", "-m", "x", "v1"]);
    commit(&fixture, &[("c.py", BAD)]);
    write(&fixture, &[("a.py", BAD)]);
    fixture
}

#[test]
fn a_revision_is_named_as_for_git() {
    let fixture = history();
    let full = git(&fixture, "root", &["rev-parse", "HEAD~1"]);
    let short = &full[..9];
    for (base, expected) in [
        ("HEAD", &["a.py"][..]),
        ("main", &["a.py"]),
        ("refs/heads/main", &["a.py"]),
        ("@", &["a.py"]),
        ("HEAD~1", &["a.py", "c.py"]),
        ("HEAD^", &["a.py", "c.py"]),
        ("v1", &["a.py", "c.py"]),
        (full.as_str(), &["a.py", "c.py"]),
        (short, &["a.py", "c.py"]),
        ("HEAD~1^{tree}", &["a.py", "c.py"]),
        ("HEAD~2", &["a.py", "b.py", "c.py"]),
        ("side", &["a.py", "b.py", "c.py"]),
        ("side...", &["a.py", "b.py", "c.py"]),
        ("...v1", &["a.py", "c.py"]),
        ("side...main", &["a.py", "b.py", "c.py"]),
    ] {
        let answer = json(&fixture, &["--base", base], 1);
        assert_eq!(finding_texts(&answer), expected, "{base}");
        assert_eq!(answer["bases"][0]["revision"], base);
    }
}

#[test]
fn the_merge_base_is_the_base_of_both_histories() {
    let fixture = history();
    git(&fixture, "root", &["stash", "-q"]);
    git(&fixture, "root", &["checkout", "-q", "side"]);
    commit(&fixture, &[("s.py", BAD)]);
    // Against main itself, a later fault of main counts as fixed, and a.py is as it was in both.
    assert_eq!(finding_texts(&json(&fixture, &["--base", "main..."], 1)), ["s.py"]);
    assert_eq!(judged(&json(&fixture, &["--base", "main..."], 1)), ["s.py"]);
    assert_eq!(judged(&json(&fixture, &["--base", "main"], 1)), ["b.py", "c.py", "s.py"]);
}

#[test]
fn an_unknown_revision_is_refused_with_a_reason() {
    let fixture = history();
    let unknown = "no commit, branch or tag has this name";
    for (base, reason) in [
        ("none", unknown),
        ("HEAD~9", "\"HEAD\" is known, and `~9` leads nowhere from there"),
        ("HEAD:a.py", "it is neither a commit nor a folder"),
        ("", unknown),
        ("-x", unknown),
        ("main..side", "it is a range"),
        ("0123456", unknown),
        ("main...none", unknown),
        ("HEAD@{u}", "\"HEAD\" is known, and `@{u}` leads nowhere"),
        (":/nowhere", unknown),
    ] {
        let output = check(&fixture, &[&format!("--base={base}")], 2);
        assert!(
            output.stderr.contains(&format!("there is no revision {base:?} here: {reason}")),
            "{base}: {}",
            output.stderr
        );
        let hint = output.stderr.split("hint").nth(1).unwrap();
        assert!(hint.contains("`git log --oneline --all` lists the commits"), "{base}: {hint}");
        assert!(!hint.contains("HEAD~"), "{base}: {hint}");
    }
}

#[test]
fn without_a_repository_every_finding_counts() {
    let fixture = Fixture::new();
    fixture.write("root/a.py", BAD);
    let output = check(&fixture, &[], 1);
    assert!(
        output.stdout.contains("is not in a git repository, so every finding counts"),
        "{}",
        output.stdout
    );
    assert_eq!(finding_texts(&json(&fixture, &[], 1)), ["a.py"]);
    assert_eq!(judged(&json(&fixture, &["app.py"], 0)), ["app.py"]);
    assert!(check(&fixture, &["--base", "HEAD"], 2).stderr.contains("is not in a git repository"));
    let fixture = project();
    write(&fixture, &[("a.py", BAD)]);
    assert!(check(&fixture, &[], 1).stdout.contains("there is no commit yet"));
    assert!(check(&fixture, &["--base", "HEAD"], 2).stderr.contains("there is no revision"));
}

#[test]
fn a_history_that_is_cut_off_is_named_as_the_reason() {
    let fixture = history();
    git(&fixture, "root", &["commit", "-q", "-a", "-m", "x"]);
    let url = format!("file://{}", fixture.root().display());
    git(&fixture, "outside", &["clone", "-q", "--depth", "1", &url, "clone"]);
    let root = fixture.at("outside/clone");
    let arguments = ["--root", root.to_str().unwrap()];
    check(&fixture, &arguments, 0);
    for base in ["HEAD~1", "HEAD~2...", "v1"] {
        let output = check(&fixture, &[&arguments[..], &["--base", base]].concat(), 2);
        assert!(output.stderr.contains("`fetch-depth: 2`"), "{}", output.stderr);
    }
    git(&fixture, "outside/clone", &["fetch", "-q", "--deepen=1"]);
    assert_eq!(
        finding_texts(&json(&fixture, &[&arguments[..], &["--base", "HEAD~1"]].concat(), 1)),
        ["a.py"]
    );
}

#[test]
fn a_branch_of_the_remote_is_named_or_fetched() {
    let fixture = history();
    let url = format!("file://{}", fixture.root().display());
    git(&fixture, "outside", &["clone", "-q", "-b", "side", &url, "whole"]);
    git(&fixture, "outside", &["clone", "-q", "-b", "side", "--single-branch", &url, "single"]);
    git(&fixture, "root", &["checkout", "-q", "-f", "side"]);
    commit(&fixture, &[("s.py", GOOD)]);
    git(&fixture, "outside", &["clone", "-q", "-b", "side", "--depth", "1", &url, "shallow"]);
    let refused = |clone: &str, base: &str| {
        let root = fixture.at(&format!("outside/{clone}"));
        check(&fixture, &["--root", root.to_str().unwrap(), "--base", base], 2).stderr
    };
    assert!(refused("whole", "main...").contains("name `origin/main...`"), "{}", refused("whole", "main..."));
    git(&fixture, "outside/whole", &["branch", "-q", "main-fix"]);
    let hint = refused("whole", "main-fix...main");
    assert!(hint.contains("name `main-fix...origin/main`"), "{hint}");
    let fetch = "git fetch origin main:refs/remotes/origin/main";
    for base in ["main...", "origin/main..."] {
        assert!(refused("single", base).contains(&format!("`{fetch}`")), "{}", refused("single", base));
    }
    let unshallow = fetch.replace("fetch", "fetch --unshallow");
    let hint = refused("shallow", "origin/main...");
    assert!(hint.contains(&format!("`{unshallow}`")) && !hint.contains("--deepen"), "{hint}");
    // What the hints say works.
    for (clone, command) in [("single", fetch), ("shallow", unshallow.as_str())] {
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        git(&fixture, &format!("outside/{clone}"), &words);
    }
    for clone in ["whole", "single", "shallow"] {
        let root = fixture.at(&format!("outside/{clone}"));
        check(&fixture, &["--root", root.to_str().unwrap(), "--base", "origin/main..."], 0);
    }
    // The controls: no branch has such a name, or there is no remote.
    assert!(!refused("whole", "0123456").contains("git fetch"));
    assert!(!check(&fixture, &["--base", "none..."], 2).stderr.contains("git fetch"));
}

#[test]
fn a_root_may_be_a_folder_of_a_repository() {
    let fixture = project();
    commit(&fixture, &[("d/a.py", GOOD), ("d/e/b.py", GOOD), ("c.py", GOOD)]);
    write(&fixture, &[("d/a.py", BAD), ("d/e/b.py", BAD), ("c.py", BAD)]);
    let root = fixture.at("root/d");
    let arguments = ["--root", root.to_str().unwrap()];
    assert_eq!(finding_texts(&json(&fixture, &arguments, 1)), ["a.py", "e/b.py"]);
    assert_eq!(finding_texts(&json(&fixture, &[&arguments[..], &["e"]].concat(), 1)), ["e/b.py"]);
    let annotations = check(&fixture, &[&arguments[..], &["--format", "github"]].concat(), 1).stdout;
    assert!(
        annotations.starts_with("::error file=d/a.py,line=2,"),
        "relative to the top of the repository: {annotations}"
    );
}

#[test]
fn packs_worktrees_and_detached_heads_are_read() {
    let fixture = history();
    git(&fixture, "root", &["gc", "-q", "--aggressive", "--prune=now"]);
    assert_eq!(finding_texts(&json(&fixture, &["--base", "HEAD~1"], 1)), ["a.py", "c.py"]);
    git(&fixture, "root", &["worktree", "add", "-q", "--detach", "../outside/tree", "v1"]);
    fixture.write("outside/tree/a.py", BAD);
    let root = fixture.at("outside/tree");
    let arguments = ["--root", root.to_str().unwrap()];
    assert_eq!(
        finding_texts(&json(&fixture, &arguments, 1)),
        ["a.py"],
        "its own HEAD, not that of the other folder"
    );
    assert_eq!(
        finding_texts(&json(&fixture, &[&arguments[..], &["--base", "main~2"]].concat(), 1)),
        ["a.py", "b.py"]
    );
}

#[test]
fn submodules_and_other_repositories_are_left_to_themselves() {
    let fixture = project();
    fixture.write("outside/lib/l.py", GOOD);
    git(&fixture, "outside/lib", &["init", "-q"]);
    git(&fixture, "outside/lib", &["add", "-A"]);
    git(&fixture, "outside/lib", &["commit", "-q", "-m", "x"]);
    commit(&fixture, &[("a.py", GOOD)]);
    let url = fixture.at("outside/lib");
    git(&fixture, "root", &["submodule", "add", "-q", url.to_str().unwrap(), "lib"]);
    git(&fixture, "root", &["commit", "-q", "-m", "x"]);
    write(&fixture, &[("lib/l.py", BAD), ("other/.git/HEAD", "x"), ("other/x.py", BAD), ("a.py", BAD)]);
    let answer = json(&fixture, &[], 1);
    assert_eq!(judged(&answer), ["a.py"]);
    assert_eq!(answer["passed_over"][0]["path"], "lib");
    let is_skipped = |path: &str| {
        let answer = json(&fixture, &["a.py", path], 1);
        assert_eq!(judged(&answer), ["a.py"], "{path}");
        let skipped = &answer["passed_over"][0];
        assert_eq!((&skipped["path"], &skipped["why"]), (&path.into(), &"another repository".into()));
    };
    ["lib", "lib/l.py", "lib/gone.py", "other/x.py"].into_iter().for_each(is_skipped);
    let text = check(&fixture, &["-v", "a.py", "lib"], 1).stdout;
    assert!(text.contains("skipped lib: another repository"), "{text}");
    let root = fixture.at("root/lib");
    assert_eq!(
        finding_texts(&json(&fixture, &["--root", root.to_str().unwrap()], 1)),
        ["l.py"],
        "by itself it is one"
    );
    // `git diff --name-only` names a submodule whose folder is gone.
    fs::remove_dir_all(&root).unwrap();
    ["lib", "lib/l.py"].into_iter().for_each(is_skipped);
    check(&fixture, &["a.py", "nothing.py"], 3);
    // A folder of files in its place is judged.
    write(&fixture, &[("lib/l.py", BAD)]);
    assert_eq!(judged(&json(&fixture, &["lib"], 1)), ["lib/l.py"]);
}

#[test]
fn how_a_text_is_written_is_no_change() {
    let fixture = project();
    commit(&fixture, &[("crlf.py", "x = 1\ny = (\n"), ("bom.py", GOOD), ("a.py", "x = 1\ny = (\nz = 2\n")]);
    write(&fixture, &[("crlf.py", "x = 1\r\ny = (\r\n"), ("bom.py", &format!("\u{feff}{GOOD}"))]);
    assert_eq!(json(&fixture, &[], 0)["counts"]["unchanged"], 3);
    // One line is another, all are written differently: what was there is old all the same.
    let policy = "quality_gates: { '*': [{ tool: no-todo }] }\ndefine:\n  no-todo: { about: No TODO., kind: pattern, \
                  languages: ['*'], must_not_match: 'TODO', message: a TODO }\nbaseline: edited_lines\n";
    commit(&fixture, &[("quality.yaml", policy), ("t.txt", "TODO a\nb\nc\n")]);
    write(&fixture, &[("t.txt", "TODO a\r\nb\r\nTODO d\r\n")]);
    let answer = json(&fixture, &[], 1);
    assert_eq!((&answer["counts"]["blocking"], &answer["counts"]["old"]), (&1.into(), &1.into()));
    assert_eq!(answer["findings"][0]["line"], 3);
}

#[test]
fn a_text_that_the_repository_keeps_elsewhere_is_passed_over() {
    let fixture = project();
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n";
    commit(&fixture, &[("a.py", pointer)]);
    write(&fixture, &[("a.py", BAD)]);
    let answer = json(&fixture, &[], 0);
    assert_eq!(answer["passed_over"][0]["why"], "stored in Git LFS");
}

#[test]
fn a_repository_with_sha256_hashes_is_rejected_with_what_works() {
    let fixture = project();
    fs::remove_dir_all(fixture.at("root/.git")).unwrap();
    git(&fixture, "root", &["init", "-q", "--object-format=sha256"]);
    commit(&fixture, &[("a.py", GOOD)]);
    let refused = check(&fixture, &[], 2).stderr;
    assert!(refused.contains("only repositories with SHA-1 hashes"), "{refused}");
}

#[test]
fn objects_from_outside_of_the_repository_are_refused() {
    let fixture = history();
    git(&fixture, "outside", &["clone", "-q", "--shared", fixture.root().to_str().unwrap(), "clone"]);
    let root = fixture.at("outside/clone");
    let arguments = ["--root", root.to_str().unwrap()];
    let refused = check(&fixture, &arguments, 2).stderr;
    assert!(refused.contains("uses objects from") && refused.contains("git repack -a -d"), "{refused}");
    git(&fixture, "outside/clone", &["repack", "-q", "-a", "-d"]);
    fs::remove_file(root.join(".git/objects/info/alternates")).unwrap();
    check(&fixture, &arguments, 0);
}

#[test]
fn a_heading_that_is_gone_since_the_revision_warns_of_the_links_to_it() {
    let fixture = project();
    let guide = "# Guide\n\n## First steps\n\nSee [above](#first-steps).\n";
    let readme = "# Project\n\nSee [steps](docs/guide.md#first-steps).\n";
    commit(&fixture, &[("docs/guide.md", guide), ("README.md", readme)]);
    let dead = || {
        let answer = json(&fixture, &[], 0);
        let findings = answer["findings"].as_array().unwrap();
        let dead = findings.iter().filter(|found| found["code"] == "dead-anchor");
        dead.map(|found| found["message"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    write(&fixture, &[("docs/guide.md", &guide.replace("## First steps", "## Begin"))]);
    let links = "README.md:3, docs/guide.md:5";
    assert_eq!(dead(), [format!("2 links lead to #first-steps, which the edit removes: {links}")]);
    // The controls: the links are changed as well, and another text is changed.
    write(&fixture, &[("README.md", &readme.replace("#first-steps", "#begin"))]);
    assert_eq!(dead(), ["1 link leads to #first-steps, which the edit removes: docs/guide.md:5"]);
    write(&fixture, &[("docs/guide.md", &guide.replace("See", "Read"))]);
    assert_eq!(dead(), Vec::<String>::new());
}

#[test]
fn a_blob_that_is_missing_is_a_failure_and_not_a_new_file() {
    let fixture = project();
    commit(&fixture, &[("a.py", GOOD)]);
    let id = git(&fixture, "root", &["rev-parse", "HEAD:a.py"]);
    fs::remove_file(fixture.at(&format!("root/.git/objects/{}/{}", &id[..2], &id[2..]))).unwrap();
    write(&fixture, &[("a.py", BAD)]);
    assert!(check(&fixture, &[], 70).stderr.contains("the text of a.py at HEAD cannot be read"));
}

#[test]
fn what_a_sparse_checkout_leaves_out_is_not_deleted() {
    // The second is the control.
    for (command, change, deleted, exit) in
        [(&["sparse-checkout", "set", "a"][..], "added", 0, 1), (&["rm", "-q", "-r", "b"], "renamed", 2, 0)]
    {
        let fixture = project();
        commit(&fixture, &[("a/x.py", GOOD), ("b/y.py", BAD), ("b/z.py", GOOD)]);
        git(&fixture, "root", command);
        write(&fixture, &[("a/new.py", BAD)]);
        for paths in [&[][..], &["a", "b"]] {
            let answer = json(&fixture, paths, exit);
            let file = &answer["files"][0];
            assert_eq!((&file["path"], &file["change"]), (&"a/new.py".into(), &change.into()), "{answer}");
            assert_eq!(answer["counts"]["deleted"], deleted, "{answer}");
        }
    }
}

#[test]
fn a_root_in_a_folder_that_a_sparse_checkout_leaves_out_has_no_deleted_files() {
    let fixture = project();
    commit(&fixture, &[("a/b/x.py", GOOD), ("c/y.py", GOOD)]);
    git(&fixture, "root", &["sparse-checkout", "set", "--sparse-index", "c"]);
    write(&fixture, &[("a/b/new.py", GOOD)]);
    let root = fixture.root().join("a/b").display().to_string();
    let answer = json(&fixture, &["--root", &root], 0);
    assert_eq!(answer["counts"]["deleted"], 0, "{answer}");
}
