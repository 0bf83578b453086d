//! Outcomes of runs.

use tokio_util::sync::CancellationToken;

use super::*;
use lockgate_sandbox::Halt;

const LINES: &str = "output: { regex: '^(?P<file>.+?):(?P<line>\\d+):(?P<column>\\d+): (?P<message>.*)$' }";

/// A script that prints these lines; `PATH` and `ROOT` stand for its arguments.
fn saying(lines: &[&str]) -> String {
    let lines = lines.join("\\n");
    format!(
        "import sys\nsys.stdin.read()\nprint('''{lines}'''.replace('PATH', sys.argv[2]).replace('ROOT', sys.argv[3]))\nsys.exit(1)"
    )
}

#[test]
fn findings_are_in_the_edited_file_however_it_is_called() {
    let fixture = Fixture::new(&[("conf", ""), ("src/a.py", "old"), ("src/b.py", "")]);
    let lines =
        ["PATH:1:1: m", "src/a.py:1:2: m", "./src/../src/a.py:1:3: m", "a.py:1:4: m", "file://PATH:1:5: m"];
    let other_lines = [
        "src/b.py:7:8: m",
        "ROOT/src/b.py:7:9: m",
        "b.py:7:10: m",
        "none.py:1:1: m",
        "/x/y/z/lib/w.py:1:1: m",
    ];
    for input in ["staged", "stdin"] {
        let rule = fixture.rule(
            &saying(&[&lines[..], &other_lines].concat()),
            "'{path}', '{root}'",
            &format!("input: {input}\n{LINES}"),
        );
        let found = fixture.check(&rule, "src/a.py", "text is long\n").unwrap();
        let places: Vec<_> = found
            .iter()
            .map(|finding| (finding.elsewhere.as_deref(), finding.line, finding.column))
            .collect();
        let expected = [
            (None, 1, 1),
            (None, 1, 2),
            (None, 1, 3),
            (None, 1, 4),
            (None, 1, 5),
            (Some("none.py"), 1, 1),
            (Some("…/z/lib/w.py"), 1, 1),
            (Some("src/b.py"), 7, 8),
            (Some("src/b.py"), 7, 9),
            (Some("src/b.py"), 7, 10),
        ];
        assert_eq!(places, expected, "{input}");
    }
}

#[test]
fn a_name_that_leads_to_the_file_by_links_is_the_files() {
    let fixture = Fixture::new(&[("src/a.py", "old"), ("src/b.py", "")]);
    let alias = fixture.home.path().join("alias");
    std::os::unix::fs::symlink(fixture.root(), &alias).unwrap();
    std::os::unix::fs::symlink("src", fixture.root().join("link")).unwrap();
    let script = "import os, sys\nsys.stdin.read()\nfile, root = sys.argv[2:]\n\
                  print(os.path.realpath(file) + ':1:1: m')\nprint(root + '/link/a.py:1:2: m')\n\
                  print(root + '/link/b.py:1:3: m')\nsys.exit(1)";
    let rule = fixture.rule(script, "'{path}', '{root}'", &format!("input: stdin\n{LINES}"));
    let by_alias =
        |input: &ProgramInput<'_>| within_a_minute(check)(&ProgramInput { root: &alias, ..*input });
    let found = fixture.run(&rule, "src/a.py", b"text\n", by_alias).unwrap();
    let places: Vec<_> = found.iter().map(|finding| (finding.elsewhere.as_deref(), finding.column)).collect();
    assert_eq!(places, [(None, 1), (None, 2), (Some("link/b.py"), 3)]);
}

#[test]
fn a_shadow_may_be_called_by_the_name_of_the_draft() {
    let fixture = Fixture::new(&[("a.py", "old")]);
    let more = format!("input: shadow\n{LINES}");
    let rule = fixture.rule(&saying(&["PATH:1:1: m"]), "'{draft}', '{root}'", &more);
    assert_eq!(fixture.check(&rule, "a.py", "new").unwrap()[0].elsewhere, None);
    let script = "import sys, os\nprint(os.path.relpath(sys.argv[2]) + ':1:1: m')\nsys.exit(1)";
    let rule = fixture.rule(script, "'{draft}'", &more);
    assert_eq!(
        fixture.check(&rule, "a.py", "new").unwrap()[0].elsewhere,
        None,
        "and relative to where it runs"
    );
}

#[test]
fn a_program_that_fails_is_broken() {
    let fixture = Fixture::new(&[("a.py", "")]);
    let message = |script: &str| {
        broken(fixture.check(&fixture.rule(script, "x", &format!("input: stdin\n{LINES}")), "a.py", "x"))
    };
    assert_eq!(
        message("import sys; sys.stdin.read(); sys.exit('no such option')"),
        "found nothing, yet ended with exit code 1: no such option"
    );
    assert_eq!(message("import sys; sys.stdin.read(); sys.exit(3)"), "ended with exit code 3");
    assert_eq!(
        message("import sys; sys.stdin.read(); raise KeyError('x')"),
        "found nothing, yet ended with exit code 1: KeyError: 'x'"
    );
    // The same is said of a program that fails before it reads, however much of the draft the pipe holds.
    let fails_at_once =
        fixture.rule("import sys; sys.exit('no such option')", "x", &format!("input: stdin\n{LINES}"));
    for size in [1, 1 << 20] {
        assert_eq!(
            broken(fixture.check(&fails_at_once, "a.py", &"x".repeat(size))),
            "found nothing, yet ended with exit code 1: no such option"
        );
    }
    // The control: one that ends well, or with a finding, has not seen the rest.
    for script in ["pass", "import sys; print('a.py:1:1: m'); sys.exit(1)"] {
        let rule = fixture.rule(script, "x", &format!("input: stdin\n{LINES}"));
        let why = broken(fixture.check(&rule, "a.py", &"x".repeat(1 << 20)));
        assert_eq!(why, "did not read the whole draft", "{script}");
    }
    assert!(message("import os, sys; sys.stdin.read(); os.kill(os.getpid(), 9)").contains("signal 9"));
    assert!(
        message("import sys; sys.stdin.read(); print('half an ans')")
            .starts_with("wrote a line that is not a finding")
    );
}

#[test]
fn a_run_ends_with_its_limit_and_its_caller() {
    let fixture = Fixture::new(&[("a.py", "")]);
    let rule = fixture.rule("import time; time.sleep(60)", "'{path}'", &format!("input: staged\n{QUIET}"));
    let token = CancellationToken::new();
    let watch = Watch::new(token.clone(), None);
    let soon = watch.until(Instant::now() + Duration::from_millis(50));
    assert_eq!(
        fixture.run(&rule, "a.py", b"", |input| check(input, soon)),
        Err(GateError::Halted(Halt::TimedOut))
    );
    token.cancel();
    let late = watch.until(Instant::now() + Duration::from_secs(60));
    assert_eq!(
        fixture.run(&rule, "a.py", b"", |input| check(input, late)),
        Err(GateError::Halted(Halt::Cancelled))
    );
}

#[test]
fn a_file_that_is_excepted_is_not_for_the_program() {
    let fixture = Fixture::new(&[]);
    let rule = fixture.rule(
        "import sys; sys.stdin.read(); sys.exit(9)",
        "x",
        &format!("input: stdin\n{QUIET}\nexcept: ['*_test.go', doc.go, 'ab*bc']"),
    );
    for path in ["a_test.go", "sub/b_test.go", "_test.go", "x/doc.go", "abbc"] {
        let skipped = Err(GateError::Skipped("not for this file".to_owned()));
        assert_eq!(fixture.check(&rule, path, "x"), skipped, "{path}");
        assert_eq!(fixture.fix(&rule, path, "x"), Err(GateError::Skipped("not for this file".to_owned())));
    }
    for path in ["a_test.go/x.go", "test.go", "mydoc.go", "abc"] {
        assert!(broken(fixture.check(&rule, path, "x")).starts_with("ended with exit code 9"), "{path}");
    }
}

#[test]
fn what_cannot_be_staged_is_broken() {
    let fixture = Fixture::new(&[("a.py", "")]);
    let rule = fixture.rule("", "'{path}'", &format!("input: staged\n{QUIET}"));
    for path in ["../a.py", "/a.py", "b/../../a.py", "", "./a.py"] {
        assert!(broken(fixture.check(&rule, path, "x")).starts_with("could not get the draft: "), "{path}");
    }
    let relative = |input: &ProgramInput<'_>| {
        within_a_minute(check)(&ProgramInput { root: Path::new("root"), ..*input })
    };
    assert!(broken(fixture.run(&rule, "a.py", b"", relative)).contains("not an absolute path"));
}

#[test]
fn only_a_formatter_fixes() {
    let fixture = Fixture::new(&[]);
    let rule = fixture.rule("import sys; sys.stdin.read()", "x", &format!("input: stdin\n{QUIET}"));
    assert_eq!(broken(fixture.fix(&rule, "a.py", "")), "returns no text according to its definition");
}
