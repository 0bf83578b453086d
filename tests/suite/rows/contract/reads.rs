//! Looking: at lines, at whole texts, for a pattern, and at what there is.

use lockgate_edit::Edit;
use lockgate_edit::request::Expect;
use lockgate_engine::LinesRequest;
use lockgate_error::Code;
use lockgate_text::Version;

use super::common::{utf16, written};
use crate::suite::edits::search;
use crate::suite::rows::fixture::EntityFixture;

pub fn lines_and_whole_texts(fixture: &EntityFixture) {
    let crlf = "one\r\ntwo\r\nthree\r\nfour\r\nfive";
    let creation = fixture.put("src/a.txt", crlf.as_bytes());
    fixture.put("src/empty.txt", b"");
    let read_lines = |path: &str, start_line, end_line| {
        let target = fixture.target(path);
        let response = fixture.read(LinesRequest { target, start_line, end_line });
        let shown = response.map(|reading| {
            assert_eq!(
                Some(reading.text.version()),
                creation.version.filter(|_| path == "src/a.txt").or(Some(Version::hash(b"")))
            );
            let text: Vec<&str> =
                (reading.start_line..=reading.end_line).map(|line| reading.text.lines().text(line)).collect();
            format!("{} {} {} {text:?}", reading.path, reading.start_line, reading.end_line)
        });
        fixture.log.record("lines", shown.as_ref().cloned());
        shown
    };
    assert_eq!(read_lines("src/a.txt", 2, 3).unwrap(), "src/a.txt 2 3 [\"two\", \"three\"]");
    assert_eq!(read_lines("src/a.txt", 5, 99).unwrap(), "src/a.txt 5 5 [\"five\"]");
    assert_eq!(read_lines("src/a.txt", 6, 7).unwrap_err().code, Code::RangeOutOfBounds);
    assert_eq!(read_lines("src/none.txt", 1, 1).unwrap_err().code, Code::FileNotFound);
    assert!(read_lines("src/empty.txt", 1, 9).is_ok());
    assert_eq!(fixture.text("src/a.txt"), crlf);
}

/// What a search showed, in a line for each match.
pub fn search_paths(
    fixture: &EntityFixture,
    pattern: &str,
    path: Option<&str>,
    most: usize,
) -> Result<Vec<String>, Code> {
    let response = fixture.search(pattern, path, most);
    let shown = response.map(|matches| {
        let mut lines: Vec<String> = matches
            .matches
            .iter()
            .map(|found| {
                let (before, after) = (found.context_before.len(), found.context_after.len());
                format!(
                    "{}:{}:{}+{before}+{after} {}",
                    found.path, found.line_number, found.text, found.version
                )
            })
            .collect();
        lines.push(format!("{} {}", matches.total_matches, matches.truncated));
        lines
    });
    fixture.log.record("search", shown.as_ref().map(|lines| lines.join("; ")));
    shown.map_err(|error| error.code).map(|lines| {
        lines.iter().map(|line| line.split_whitespace().next().unwrap_or_default().to_owned()).collect()
    })
}

pub fn searching(fixture: &EntityFixture) {
    fixture.put("src/a.py", b"import os\n\ndef get_agents(client):\n    return os\n");
    fixture.put("src/b.py", "# get_agents, é\u{1F600}\nx = 'Get_Agents'\n".as_bytes());
    fixture.put("src/deep/c.txt", b"nothing\r\nget_agents\r\nend");
    fixture.put("src/deep/d.txt", &utf16("get_agents\nsecond\n", [0xFF, 0xFE]));
    fixture.put("src/e_f.txt", b"100% a_b\nget agents\n");
    fixture.put("src/empty.txt", b"");
    let all = search_paths(fixture, "get_agents", None, 20).unwrap();
    assert_eq!(all[..3], ["src/a.py:3:def", "src/b.py:1:#", "src/deep/c.txt:2:get_agents+1+1"]);
    assert_eq!(all.len(), 5, "{all:?}");
    for (pattern, path, most) in [
        ("def get_.*\\(", None, 20),
        ("(?i)get_agents", None, 20),
        ("get_agents", Some("src/a.py"), 20),
        ("get_agents", Some("src/deep"), 20),
        ("get_agents", Some("src/**/*.py"), 20),
        ("get_agents", None, 2),
        ("^$", None, 20),
        (".", None, 5),
        ("100% a_b", None, 20),
        ("a.b", None, 20),
        ("é\u{1F600}", None, 20),
        ("é", None, 20),
        ("\u{1F600}", None, 20),
        ("no such thing", None, 20),
        ("os|second", None, 20),
        ("[ge]et", None, 20),
        ("end$", None, 20),
        ("nothing$", None, 20),
        ("\\d+%", None, 20),
        ("(", None, 20),
        ("x", Some("src/none.py"), 20),
    ] {
        search_paths(fixture, pattern, path, most).ok();
    }
    // What was changed, taken back or removed is found as it is now.
    let edit = written(fixture, "src/a.py", search("get_agents", "get_people"));
    assert_eq!(search_paths(fixture, "get_people", None, 20).unwrap().len(), 2);
    fixture.undo(&edit).unwrap();
    assert_eq!(search_paths(fixture, "get_people", None, 20).unwrap(), ["0"]);
    fixture.edit("src/a.py", Edit::Remove, Expect::Anything).unwrap();
    assert_eq!(search_paths(fixture, "get_agents", None, 20).unwrap().len(), 4);
}

pub fn listing(fixture: &EntityFixture) {
    for path in [
        "src/b.txt",
        "src/a.txt",
        "src/deep/x.py",
        "src/deep-er.txt",
        "src/B.txt",
        "src/é.txt",
        "src/a_c",
        "src/axc",
    ] {
        fixture.put(path, path.as_bytes());
    }
    let listed = |prefix: &str, most: usize| {
        let response = fixture.list(prefix, most);
        let shown = response.map(|entries| {
            let mut paths: Vec<String> = entries
                .entries
                .iter()
                .map(|entry| format!("{} {} {}", entry.path, entry.size, entry.version.as_ref().unwrap()))
                .collect();
            paths.push(entries.truncated.to_string());
            paths
        });
        fixture.log.record("list", shown.as_ref().map(|lines| lines.join("; ")));
        shown.unwrap().len() - 1
    };
    assert_eq!(listed("src/", 20), 8);
    assert_eq!(listed("src", 20), 8);
    listed("src/deep", 20);
    assert_eq!(listed("src/deep/", 20), 1);
    assert_eq!(listed("src/a_", 20), 1);
    assert_eq!(listed("src/a", 2), 2);
    assert_eq!(listed("src/", 7), 7);
    assert_eq!(listed("src/", 8), 8);
    assert_eq!(listed("src/none", 8), 0);
    assert_eq!(listed("src/%", 8), 0);
    assert_eq!(listed("src/*.txt", 20), 5);
    assert_eq!(listed("src/*.txt", 2), 2);
    assert_eq!(listed("*.py", 20), 1);
    assert_eq!(listed("*.rs", 20), 0);
    fixture.edit("src/b.txt", Edit::Remove, Expect::Anything).unwrap();
    assert_eq!(listed("src/", 20), 7);
}
