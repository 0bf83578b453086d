//! Many calls at once on one file: none is lost, and none waits for ever.

use std::fs;
use std::path::Path;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::wire::{Answer, Server, lockgate};

/// Edits that are under way at the same time.
const EDITS: usize = 200;

/// A file with a place for each edit.
fn path_list() -> String {
    (0..EDITS).map(|edit| format!("place {edit:03} is free\n")).collect()
}

fn taken(text: &str) -> usize {
    (0..EDITS).filter(|edit| text.contains(&format!("place {edit:03} is taken by {edit}\n"))).count()
}

/// The edit of one place: no other edit touches its line, and each changes the length of the file.
fn edit(edit: usize) -> Value {
    json!({"path": "places.txt", "search": format!("place {edit:03} is free"),
        "replace": format!("place {edit:03} is taken by {edit}"), "show_diff": false})
}

#[test]
fn two_hundred_edits_at_once_are_all_there() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("places.txt");
    fs::write(&file, path_list()).unwrap();
    let mut server = Server::start(root.path(), &[]);
    let calls: Vec<u64> = (0..EDITS).map(|it| server.post_call("safe_edit_file", &edit(it))).collect();
    for (at, call) in calls.into_iter().enumerate() {
        let answer = server.wait_answer(call).unwrap_or_else(|why| panic!("edit {at}: {why}"));
        assert_eq!(answer.status(), "written", "edit {at}: {}", answer.structured);
        assert_eq!(answer.structured["replacements"], 1, "edit {at}");
    }
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!((taken(&text), text.lines().count()), (EDITS, EDITS), "{text}");
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1, "something was left behind");
}

/// The positive control: the same edits, each a careful read, change and atomic replacement, but without the lock.
#[test]
fn without_the_lock_the_same_edits_lose_some() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("places.txt");
    fs::write(&file, path_list()).unwrap();
    let together = Barrier::new(8);
    thread::scope(|scope| {
        for worker in 0..8 {
            let (file, together) = (&file, &together);
            scope.spawn(move || {
                together.wait();
                for edit in (worker..EDITS).step_by(8) {
                    replace_without_lock(file, edit);
                }
            });
        }
    });
    let survivors = taken(&fs::read_to_string(&file).unwrap());
    assert!(survivors < EDITS, "the edits did not overlap, so the test above proves nothing");
}

fn replace_without_lock(file: &Path, edit: usize) {
    let text = fs::read_to_string(file).unwrap();
    let old = format!("place {edit:03} is free");
    let text = text.replace(&old, &format!("place {edit:03} is taken by {edit}"));
    let staged = file.with_extension(format!("{edit}"));
    fs::write(&staged, text).unwrap();
    thread::sleep(Duration::from_millis(1));
    fs::rename(staged, file).unwrap();
}

/// Calls that are sent in one write may start in any order. Before their arrival was recorded, one of four rounds failed.
#[test]
fn line_numbers_of_calls_that_arrive_together_count_the_same_text() {
    let refused = send_line_edits_together("quality_gates: {}\n");
    assert_eq!(refused, 0);
}

/// The journal has no text to compare with, but most calls have one, because they wait for the others.
#[test]
fn without_a_journal_most_calls_that_arrive_together_are_written_and_all_of_them_right() {
    let refused = send_line_edits_together("quality_gates: {}\nnever_journal: ['*.txt']\n");
    assert!(refused < ROUNDS * CALLS / 4, "{refused}");
}

const ROUNDS: usize = 30;
const CALLS: usize = 12;

/// Sends rounds of line edits of one file, each in one write, and checks the lines that are changed. Returns the number of
/// calls that were refused with `EDIT_CONFLICT`.
fn send_line_edits_together(policy: &str) -> usize {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("quality.yaml"), policy).unwrap();
    let mut server = Server::start(root.path(), &[]);
    let mut refused = 0;
    for round in 0..ROUNDS {
        let path = format!("{round}.txt");
        let old: Vec<String> = (1..=5 * CALLS).map(|line| format!("line {line}\n")).collect();
        fs::write(root.path().join(&path), old.concat()).unwrap();
        let new = |line: usize| format!("new {line}\nand more\n");
        let call = |at: usize| {
            let line = 5 * at;
            let edit = json!({"start_line": line, "end_line": line, "new_content": new(line)});
            json!({"path": path, "line_edits": [edit], "show_diff": false})
        };
        let calls: Vec<Value> = (1..=CALLS).map(call).collect();
        let mut expected = old;
        for (at, id) in (1..).zip(server.post_calls("safe_edit_file", &calls)) {
            let answer = server.wait_answer(id).unwrap();
            if answer.structured["success"] == json!(true) {
                expected[5 * at - 1] = new(5 * at);
            } else {
                assert_eq!(answer.code(), "EDIT_CONFLICT", "{}", answer.structured);
                refused += 1;
            }
        }
        let text = fs::read_to_string(root.path().join(&path)).unwrap();
        assert_eq!(text, expected.concat(), "round {round}");
    }
    refused
}

/// What the second call comes before: the first one leaves it as it is.
const HEAD: &str = "# head\n";

/// A text whose judging takes a while: the lock is held meanwhile.
fn slow(value: usize) -> String {
    format!("{HEAD}{}", format!("x = [{value}]\n").repeat(300_000))
}

fn contend(lock_wait: &str) -> (Answer, Answer, String) {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("quality.yaml"), format!("limits: {{ lock_wait: {lock_wait} }}\n")).unwrap();
    fs::write(root.path().join("a.py"), format!("{HEAD}x = 0\n")).unwrap();
    let mut server = Server::start(root.path(), &[]);
    let first =
        server.post_call("safe_edit_file", &json!({"path": "a.py", "content": slow(1), "show_diff": false}));
    thread::sleep(Duration::from_millis(400));
    let elsewhere = server.call("safe_edit_file", &json!({"path": "b.py", "content": "y = 1\n"}));
    assert_eq!(elsewhere.status(), "written", "another file waits for nobody: {}", elsewhere.structured);
    let second = server.call(
        "safe_edit_file",
        &json!({"path": "a.py", "insert_lines": [{"at_line": 1, "content": "y = 2\n"}]}),
    );
    let first = server.wait_answer(first).unwrap();
    let third = server
        .call("safe_edit_file", &json!({"path": "a.py", "search": "x", "replace": "z", "search_count": 1}));
    assert_eq!(third.status(), "written", "the lock was not given back: {}", third.structured);
    (first, second, fs::read_to_string(root.path().join("a.py")).unwrap())
}

#[test]
fn a_call_that_waits_too_long_is_refused() {
    let (first, second, text) = contend("10ms");
    assert_eq!(first.status(), "written", "{}", first.structured);
    assert_eq!(second.code(), "LOCK_TIMEOUT", "{}", second.structured);
    assert!(second.text.contains("Another edit operation is in progress for this file"), "{}", second.text);
    assert!(!text.contains("y = 2"));
}

/// The positive control: with a longer wait, the same second call is written.
#[test]
fn a_call_that_waits_long_enough_is_served() {
    let (first, second, text) = contend("60s");
    assert_eq!((first.status(), second.status()), ("written", "written"), "{}", second.structured);
    assert!(text.starts_with("y = 2\n# head\nz = [1]\n"), "{:.60}", text);
}

/// A project with a gate that takes two seconds, and writes down when it begins and ends.
fn slow_server(lines: usize) -> (tempfile::TempDir, tempfile::TempDir, Server) {
    slow_server_within(lines, "2", "{}")
}

/// The same with a gate that takes this many seconds, and these limits.
fn slow_server_within(
    lines: usize,
    seconds: &str,
    limits: &str,
) -> (tempfile::TempDir, tempfile::TempDir, Server) {
    let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let log = outside.path().join("log");
    let script =
        format!("cat > /dev/null; echo begin >> '{0}'; sleep {seconds}; echo end >> '{0}'", log.display());
    let gate = format!(
        "{{ about: Takes its time., languages: ['*'], kind: command, input: stdin, command: [sh, -c, \"{script}\"], output: {{ text: exit, message: m }} }}"
    );
    let policy = format!(
        "define: {{ slow: {gate} }}\nquality_gates: {{ '*': [{{ tool: slow }}] }}\nlimits: {limits}\n"
    );
    fs::write(root.path().join("quality.yaml"), policy).unwrap();
    for name in ["one.txt", "two.txt"] {
        fs::write(
            root.path().join(name),
            (1..=lines).map(|line| format!("line {line}\n")).collect::<String>(),
        )
        .unwrap();
    }
    let mut command = lockgate(outside.path());
    command.env("LOCKGATE_ISOLATION", "none");
    let server = Server::start_by(command, root.path(), &["--tools", "all", "--trust"]);
    (root, outside, server)
}

/// Edits by line numbers that wait while lines are inserted above them.
#[test]
fn line_numbers_of_a_waiting_call_refer_to_the_text_after_the_wait() {
    let (root, _beside, mut server) = slow_server(9);
    let line = |line: usize, text: &str| json!({"path": "one.txt", "line_edits": [{"start_line": line, "end_line": line, "new_content": text}]});
    let insert = json!({"path": "one.txt", "insert_lines": [{"at_line": 3, "content": "new\nnewer\n"}]});
    let first = server.post_call("safe_edit_file", &insert);
    thread::sleep(Duration::from_millis(500));
    let second = server.post_call("safe_edit_file", &line(7, "seven\n"));
    thread::sleep(Duration::from_millis(100));
    let third = server.post_call("safe_edit_file", &line(7, "sieben\n"));
    let mut anyway = line(1, "eins\n");
    anyway["mode"] = "interactive".into();
    let [fourth, fifth] = [1, 2].map(|_| {
        thread::sleep(Duration::from_millis(100));
        server.post_call("safe_edit_file", &anyway)
    });
    let [first, second, third, fourth, fifth] =
        [first, second, third, fourth, fifth].map(|call| server.wait_answer(call).unwrap());
    // `interactive` writes in any case: the lines that were changed meanwhile are meant by their numbers, and it is told.
    assert_eq!((fourth.status(), fifth.status()), ("written", "unchanged"), "{}", fifth.structured);
    assert!(fifth.structured["validation_warnings"][0].as_str().unwrap().contains("was changed since"));
    assert_eq!((first.status(), second.status()), ("written", "written"), "{}", second.structured);
    assert_eq!(second.structured["line_map"][0], json!({"from": 3, "by": 2}), "{}", second.structured);
    assert_eq!(third.code(), "EDIT_CONFLICT", "{}", third.structured);
    let diff = third.structured["since"]["diff"].as_str().unwrap();
    assert!(diff.contains("-line 7\n+seven\n"), "{diff}");
    assert_eq!(third.structured.get("field"), None, "it named no version");
    let text = fs::read_to_string(root.path().join("one.txt")).unwrap();
    assert_eq!(text, "eins\nline 2\nnew\nnewer\nline 3\nline 4\nline 5\nline 6\nseven\nline 8\nline 9\n");
}

#[test]
fn calls_that_queue_for_a_slow_gate_are_all_applied_in_turn() {
    let (root, outside, mut server) = slow_server(5);
    let calls: Vec<u64> = (1..=5)
        .map(|line| {
            let edit = json!({"path": "one.txt", "search": format!("line {line}"), "replace": format!("edit {line}")});
            server.post_call("safe_edit_file", &edit)
        })
        .collect();
    for (line, call) in (1..).zip(calls) {
        let answer = server.wait_answer(call).unwrap_or_else(|why| panic!("edit {line}: {why}"));
        assert_eq!(answer.status(), "written", "edit {line}: {}", answer.structured);
        assert_eq!(answer.structured["gates"][0]["outcome"], "passed", "edit {line}");
    }
    let text = fs::read_to_string(root.path().join("one.txt")).unwrap();
    assert_eq!(text, (1..=5).map(|line| format!("edit {line}\n")).collect::<String>());
    assert_eq!(fs::read_to_string(outside.path().join("log")).unwrap(), "begin\nend\n".repeat(5));
}

/// As many edits of one file at once as a client once sent; together their gates take longer than an edit may wait for
/// another process.
fn answers_of_a_queue(limits: &str) -> (Vec<Answer>, String) {
    const CALLS: usize = 26;
    let (root, _outside, mut server) = slow_server_within(CALLS, "0.2", limits);
    let edit = |line: usize| json!({"path": "one.txt", "line_edits": [{"start_line": line, "end_line": line, "new_content": format!("edit {line}\n")}]});
    let calls: Vec<u64> = (1..=CALLS).map(|line| server.post_call("safe_edit_file", &edit(line))).collect();
    let answers = calls.into_iter().map(|call| server.wait_answer(call).unwrap()).collect();
    (answers, fs::read_to_string(root.path().join("one.txt")).unwrap())
}

#[test]
fn each_edit_of_a_long_queue_is_written() {
    let (answers, text) = answers_of_a_queue("{ lock_wait: 1s, queue_wait: 2m }");
    for (line, answer) in (1..).zip(&answers) {
        assert_eq!(answer.status(), "written", "edit {line}: {}", answer.structured);
    }
    assert_eq!(text, (1..=answers.len()).map(|line| format!("edit {line}\n")).collect::<String>());
}

/// The control: with the shorter limit for the queue as well, most give up, and say how many edits come before them.
#[test]
fn an_edit_that_gives_up_in_the_queue_says_how_many_are_before_it() {
    let (answers, text) = answers_of_a_queue("{ lock_wait: 1s, queue_wait: 1s }");
    let (written, refused): (Vec<_>, Vec<_>) =
        answers.iter().partition(|answer| answer.status() == "written");
    assert!(!written.is_empty() && refused.len() > answers.len() / 2, "{} were written", written.len());
    for answer in &refused {
        assert_eq!(answer.code(), "LOCK_TIMEOUT", "{}", answer.structured);
        assert!(answer.text.contains(" before this one in the queue"), "{}", answer.text);
    }
    assert_eq!(text.matches("edit ").count(), written.len(), "{text}");
}

/// The control: two files do not wait for each other, so the log above shows more than that programs run one by one.
#[test]
fn calls_for_two_files_run_the_slow_gate_side_by_side() {
    if thread::available_parallelism().map_or(1, usize::from) < 2 {
        return;
    }
    let (_root, outside, mut server) = slow_server(1);
    let calls = ["one.txt", "two.txt"].map(|path| {
        server.post_call("safe_edit_file", &json!({"path": path, "search": "line", "replace": "edit"}))
    });
    for call in calls {
        assert_eq!(server.wait_answer(call).unwrap().status(), "written");
    }
    assert!(fs::read_to_string(outside.path().join("log")).unwrap().starts_with("begin\nbegin\n"));
}

/// The text that another program replaces, and the new one; nothing is replaced in a file that it creates.
type Save<'a> = (&'a str, &'a str);

/// Makes an edit, and while the gate runs on it for the first time, and each further time, another program's save.
fn overtaken(edit: &Value, saves: &[Save<'_>]) -> (Answer, String, usize) {
    let (root, outside, mut server) = slow_server(9);
    let begun = |times: usize| {
        let log = fs::read_to_string(outside.path().join("log")).unwrap_or_default();
        log.matches("begin").count() >= times
    };
    let call = server.post_call("safe_edit_file", edit);
    let file = root.path().join(edit["path"].as_str().unwrap());
    for (at, (from, to)) in (1..).zip(saves) {
        let waited = std::time::Instant::now();
        while !begun(at) && waited.elapsed() < Duration::from_secs(60) {
            thread::sleep(Duration::from_millis(20));
        }
        // Saved like an editor does, by a rename.
        let text = fs::read_to_string(&file).unwrap_or_default();
        let text = if from.is_empty() { (*to).to_owned() } else { text.replace(from, to) };
        fs::write(root.path().join("saved"), text).unwrap();
        fs::rename(root.path().join("saved"), &file).unwrap();
    }
    let answer = server.wait_answer(call).unwrap();
    let judged = fs::read_to_string(outside.path().join("log")).unwrap().matches("end").count();
    (answer, fs::read_to_string(&file).unwrap(), judged)
}

#[test]
fn a_save_of_other_lines_while_the_gates_run_is_kept_and_judged_with_the_edit() {
    let above = ("line 1\n", "line 1\nsaved\nsaved too\n");
    for edit in [
        json!({"path": "one.txt", "line_edits": [{"start_line": 7, "end_line": 7, "new_content": "seven\n"}]}),
        json!({"path": "one.txt", "search": "line 7", "replace": "seven"}),
    ] {
        let (answer, text, judged) = overtaken(&edit, &[above]);
        assert_eq!(answer.status(), "written", "{}", answer.structured);
        assert!(
            text.starts_with("line 1\nsaved\nsaved too\nline 2\n")
                && text.contains("line 6\nseven\nline 8\n"),
            "{text}"
        );
        assert_eq!(judged, 2, "what is written was judged");
        assert!(
            answer.structured["notes"].to_string().contains("rebased from version"),
            "{}",
            answer.structured
        );
    }
}

#[test]
fn a_save_that_the_edit_would_undo_is_kept_and_the_edit_refused() {
    let line = json!({"path": "one.txt", "line_edits": [{"start_line": 7, "end_line": 7, "new_content": "seven\n"}]});
    let theirs = ("line 7\n", "saved\n");
    let content = json!({"path": "one.txt", "content": "all of it\n"});
    let new = json!({"path": "new.txt", "content": "mine\n"});
    let cases: [(&Value, &[Save<'_>], &str); 4] = [
        (&line, &[theirs], "line 6\nsaved\nline 8\n"),
        (&content, &[theirs], "line 6\nsaved\nline 8\n"),
        (&new, &[("", "theirs\n")], "theirs\n"),
        (&line, &[("line 1\n", "one\n"), ("line 2\n", "two\n")], "one\ntwo\nline 3\n"),
    ];
    for (edit, saves, kept) in cases {
        let (answer, text, _) = overtaken(edit, saves);
        assert_eq!(answer.code(), "EDIT_CONFLICT", "{edit}: {}", answer.structured);
        assert!(answer.text.starts_with("nothing was written: "), "{}", answer.text);
        assert!(text.contains(kept) && !text.contains("seven") && !text.contains("mine"), "{edit}: {text}");
    }
}
