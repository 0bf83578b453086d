//! Samples, replayed and run on this machine.

use std::sync::Arc;

use super::*;
use crate::{DiskState, Finding, InstalledProgram, replay, run_sample};
use lockgate_policy::{Gate, Sample};

fn sample(output: Option<&str>, exit: i32) -> Sample {
    Sample {
        path: "src/a.py".to_owned(),
        draft: "é = 1\nbad\n".to_owned(),
        before: None,
        siblings: Vec::new(),
        with: vec![("src/conf".to_owned(), String::new()), ("src/b.py".to_owned(), "bad\n".to_owned())],
        output: output.map(str::to_owned),
        errors: String::new(),
        exit,
        finds: Vec::new(),
    }
}

fn shown(found: &[Finding]) -> Vec<(Option<&str>, usize, usize, &str)> {
    found
        .iter()
        .map(|found| (found.elsewhere.as_deref(), found.line, found.column, found.message.as_str()))
        .collect()
}

const MORE: &str = "cwd: [conf]\ncolumns: bytes\noutput: { regex: '^(?P<file>.+?):(?P<line>\\d+):(?P<column>\\d+): (?P<message>.*)$' }";

#[test]
fn a_recorded_output_is_read_like_a_new_one() {
    let fixture = Fixture::new(&[]);
    let rule = fixture.rule("", "'{path}', '{draft}'", &format!("input: shadow\n{MORE}"));
    let output = "{root}/src/a.py:1:3: one\na.py:2:1: two\n{draft}:2:2: three\nb.py:1:9: other\n{root}/c.py:1:9: other\n";
    let found = replay(&rule.gate, &sample(Some(output), 1)).unwrap();
    let expected = [
        (None, 1, 2, "one"),
        (None, 2, 1, "two"),
        (None, 2, 2, "three"),
        (Some("src/b.py"), 1, 9, "other"),
        (Some("c.py"), 1, 9, "other"),
    ];
    assert_eq!(shown(&found), expected);
    assert_eq!((found[0].gate.as_str(), found[0].fresh, found[0].blocking), ("tool", false, false));
    assert_eq!(replay(&rule.gate, &sample(Some(""), 0)), Ok(Vec::new()));
    assert_eq!(replay(&rule.gate, &sample(Some(""), 9)), Err("broken: ended with exit code 9".to_owned()));
    assert_eq!(replay(&rule.gate, &sample(None, 0)), Err("the sample has no `output`".to_owned()));
}

fn run(
    fixture: &Fixture,
    gate: &Arc<Gate>,
    sample: &Sample,
    disk_state: DiskState,
) -> Result<Vec<Finding>, String> {
    let (program, search) = (python(), &fixture.search);
    let installed = InstalledProgram { program: &program, search, cache: None, isolation: Isolation::None };
    let found = run_sample(gate, sample, &installed, disk_state, &Watch::idle());
    found.map_err(|error| error.to_string())
}

#[test]
fn a_program_checks_a_sample_like_a_draft() {
    let fixture = Fixture::new(&[]);
    let finds_bad = "import sys, os\nfor path in (sys.argv[2], 'b.py'):\n  for at, line in enumerate(open(path, encoding='utf-8'), 1):\n    \
                     if line == 'bad\\n': print(f'{path}:{at}:1: bad')";
    let reads_disk = "import sys\nassert 'bad' not in open(sys.argv[3]).read()";
    for (script, input, words) in
        [(finds_bad, "staged", "'{path}'"), (finds_bad, "shadow", "'{draft}', '{path}'")]
    {
        let rule = fixture.rule(script, words, &format!("input: {input}\n{MORE}"));
        for disk_state in [DiskState::Empty, DiskState::Missing] {
            let found = run(&fixture, &rule.gate, &sample(None, 0), disk_state).unwrap();
            assert_eq!(
                shown(&found),
                [(None, 2, 1, "bad"), (Some("src/b.py"), 1, 1, "bad")],
                "{input} {disk_state:?}"
            );
        }
    }
    // A program that reads the file on disk and not the draft is found out: it finds nothing.
    let rule = fixture.rule(reads_disk, "'{draft}', '{path}'", &format!("input: shadow\n{MORE}"));
    let blind = run(&fixture, &rule.gate, &sample(None, 0), DiskState::Empty);
    assert_eq!(blind, Ok(Vec::new()));
    let outside = Sample { with: vec![("../x".to_owned(), String::new())], ..sample(None, 0) };
    let result = run(&fixture, &rule.gate, &outside, DiskState::Empty);
    assert_eq!(result, Err("broken: ../x: not a path below a root".to_owned()));
    let failing: Arc<_> =
        fixture.rule("raise SystemExit(7)", "'{path}'", &format!("input: staged\n{MORE}")).gate;
    let result = run(&fixture, &failing, &sample(None, 0), DiskState::Missing);
    assert_eq!(result, Err("broken: ended with exit code 7".to_owned()));
}
