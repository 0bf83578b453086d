//! A server says what it finds in the very text, in whichever way it offers.

use super::*;

const BEFORE: &str = "bad\n";
const AFTER: &str = "bad\né😀 badly\n";

#[test]
fn every_way_to_tell_is_heard() {
    for way in ["pull", "dynamic", "push", "bare", "drip", "again", "refresh", "once", "flood", "asks"] {
        let trial = Trial::new(way);
        let verdict = trial.judge("a.txt", Some(BEFORE), AFTER);
        assert_eq!(found(&verdict), ["1:1 old seen bad", "2:4 new seen badly"], "{way}");
        assert_eq!(became(&verdict).1, "", "{way}");
        assert_eq!(trial.runs(), 0, "{way}: its command was not asked");
        assert_eq!(found(&trial.judge("new.txt", None, "fine\n")), [""; 0], "{way}");
    }
}

#[test]
fn its_command_runs_if_servers_are_not_kept_running() {
    let trial = Trial::new("pull");
    let unkept = || GateRuntime { ceiling: Ceiling(Isolation::None), ..GateRuntime::default() };
    let trial = Trial { runtime: unkept(), ..trial };
    assert_eq!(found(&trial.judge("a.txt", Some(BEFORE), "bad\nbadly\n")).len(), 2);
    assert!(trial.runs() > 0 && trial.log().is_empty());
    let alone = Trial::with("pull", Has::ServerAlone, "", PoolLimits::default());
    let alone = Trial { runtime: unkept(), ..alone };
    let (outcome, why) = became(&alone.judge("a.txt", None, "bad\n"));
    assert_eq!((outcome, why.as_str()), (Outcome::Unavailable, "servers are not kept running"));
}

#[test]
fn the_server_reads_all_drafts_of_a_call_and_then_the_disk() {
    let trial = Trial::new("pull");
    trial.write("b.txt", "on disk\n");
    trial.write("a.txt", "see b.txt\n");
    let together =
        trial.together(&[("a.txt", Some("x\n"), "see b.txt\n"), ("b.txt", Some("on disk\n"), "drafted\n")]);
    assert_eq!(found(&together[0]), ["1:1 new drafted"]);
    // Both were refused, or might have been: nothing of them is left.
    assert_eq!(found(&trial.judge("a.txt", Some("x\n"), "see b.txt\n")), ["1:1 new on disk"]);
    // What others write is seen as well, be it open or not.
    trial.write("b.txt", "by others\n");
    trial.write("c.txt", "new here\n");
    assert_eq!(found(&trial.judge("a.txt", Some("x\n"), "see b.txt\n")), ["1:1 new by others"]);
    assert_eq!(found(&trial.judge("a.txt", Some("x\n"), "see c.txt\n")), ["1:1 new new here"]);
    std::fs::remove_file(trial.path("c.txt")).unwrap();
    assert_eq!(found(&trial.judge("a.txt", Some("x\n"), "see c.txt\n\n")), ["1:1 new nothing"]);
    let watched = trial.noted("watched").into_iter().filter(|path| !path.starts_with(['.', 'a']));
    assert_eq!(watched.collect::<Vec<_>>(), ["b.txt 2", "c.txt 1", "c.txt 3"]);
    assert_eq!(trial.noted("started").len(), 1);
}

#[test]
fn a_new_file_is_closed_after_it_was_judged() {
    let trial = Trial::new("pull");
    assert_eq!(found(&trial.judge("new.txt", None, "bad\n")), ["1:1 new seen bad"]);
    wait_for("the end of the new file", || trial.noted("didClose") == ["new.txt"]);
}

#[test]
fn the_draft_of_an_entity_is_shown_at_its_path_and_the_disk_afterwards() {
    let trial = Trial::new("pull");
    assert_eq!(
        found(&trial.stored("flow", "x\nbad\n", "bad\nbad\n", "python")),
        ["1:1 new seen bad", "2:1 old seen bad"]
    );
    wait_for("the end of both texts", || trial.noted("didClose") == ["flow", "flow"]);
    assert_eq!(trial.noted("language"), ["flow python", "flow python"]);
    trial.write("b.txt", "on disk\n");
    trial.write("a.txt", "see b.txt\n");
    assert_eq!(found(&trial.stored("b.txt", "x\n", "bad\n", "python")), ["1:1 new seen bad"]);
    assert_eq!(found(&trial.judge("a.txt", Some("x\n"), "see b.txt\n")), ["1:1 new on disk"]);
    assert_eq!(std::fs::read_to_string(trial.path("b.txt")).unwrap(), "on disk\n");
}

#[test]
fn an_entity_is_a_new_file_to_a_server_where_there_is_no_file() {
    let trial = Trial::with("pull", Has::ServerAndCommand, "new_files: none", PoolLimits::default());
    assert_eq!(found(&trial.stored("flow", "x\n", "bad\n", "python")), ["1:1 new seen bad"]);
    assert_eq!((trial.noted("didOpen").len(), trial.runs()), (0, 2), "its command is asked about both texts");
    trial.write("flow", "something else\n");
    assert_eq!(found(&trial.stored("flow", "x\n", "bad bad\n", "python")).len(), 2);
    assert!(!trial.noted("didOpen").is_empty());
}

#[test]
fn versions_only_rise() {
    let trial = Trial::new("push");
    trial.judge("a.txt", Some("x\n"), "bad\n");
    trial.judge("b.txt", Some("x\n"), "bad\n");
    trial.judge("a.txt", Some("x\n"), "bad y\n");
    let versions: Vec<u32> = trial
        .log()
        .iter()
        .filter(|line| line.starts_with("did") && !line.starts_with("didClose"))
        .map(|line| line.split(' ').nth(2).unwrap().parse().unwrap())
        .collect();
    assert!(versions.len() > 5 && versions.is_sorted(), "{versions:?}");
}

#[test]
fn a_second_new_file_of_a_call_is_judged_by_the_command() {
    let edits = [("a.txt", None, "bad\n"), ("b.txt", None, "fine\n")];
    let trial = Trial::new("pull");
    let verdicts = trial.together(&edits);
    assert_eq!(found(&verdicts[0]), ["1:1 new seen bad"]);
    let (outcome, why) = became(&verdicts[0]);
    assert!(
        outcome == Outcome::Found && why.contains("a second file that is not on disk; its command"),
        "{why}"
    );
    let all = Trial::with("pull", Has::ServerAndCommand, "new_files: all", PoolLimits::default());
    assert_eq!((found(&all.together(&edits)[0]), all.runs()), (vec!["1:1 new seen bad".to_owned()], 0));
}

#[test]
fn requests_for_all_files_of_a_call_precede_the_first_response() {
    let edits = [("a.txt", Some("x\n"), "bad\n"), ("b.txt", Some("x\n"), "bad badly\n")];
    let more = "new_files: all";
    let trial = Trial::with("together", Has::ServerAndCommand, more, PoolLimits::default());
    let verdicts = trial.together(&edits);
    let all: Vec<usize> = verdicts.iter().map(|verdict| found(verdict).len()).collect();
    assert_eq!((all, trial.runs()), (vec![1, 2], 0));
    // Control: the request is not answered before the next one arrives, so it was not sent alone.
    let alone = Trial::timed("together", Has::ServerAndCommand, more, PoolLimits::default(), "1500ms");
    assert_eq!(became(&alone.together(&edits[..1])[0]).0, Outcome::TimedOut);
    assert_eq!(alone.noted("diagnostic"), ["a.txt"]);
}

#[test]
fn new_files_without_imports_reach_a_server_that_resolves_imports_on_disk() {
    let importer = "from pkg import fresh\n";
    let calls: [(&[Edit<'_>], bool); 6] = [
        (&[("fresh.py", None, "bad\n")], true),
        (&[("fresh.py", None, "bad\n"), ("other.py", None, "bad\n")], true),
        (&[("fresh.py", None, "bad\n"), ("a.py", Some("x\n"), "bad # fresh\n")], true),
        (&[("fresh.py", None, "bad\n"), ("a.py", Some("x\n"), importer)], false),
        (&[("fresh.py", None, "bad\n"), ("other.py", None, importer)], false),
        (&[("sub/fresh.py", None, "bad\n"), ("a.py", Some("x\n"), "import sub\n")], false),
    ];
    for (call, by_server) in calls {
        for (more, by_server) in [("unimported", by_server), ("all", true), ("alone", call.len() == 1)] {
            let trial = Trial::with(
                "pull",
                Has::ServerAndCommand,
                &format!("new_files: {more}"),
                PoolLimits::default(),
            );
            let verdicts = trial.together(call);
            assert_eq!(trial.runs() == 0, by_server, "{more}: {call:?}");
            assert!(found(&verdicts[0]).contains(&"1:1 new seen bad".to_owned()), "{more}: {call:?}");
            if more == "unimported" && !by_server {
                let why = became(&verdicts[0]).1;
                assert!(why.contains("fresh.py, which is not on disk and which "), "{why}");
                assert!(why.ends_with(" may import; its command was run instead"), "{why}");
            }
        }
    }
}

#[test]
fn a_file_on_disk_that_imports_a_new_one_makes_the_command_run() {
    let call = [("fresh.py", None, "bad\n"), ("a.py", Some("x\n"), "import facade\n")];
    for (facade, runs) in [("from fresh import f\n", true), ("# fresh\n", false)] {
        let trial =
            Trial::with("pull", Has::ServerAndCommand, "new_files: unimported", PoolLimits::default());
        trial.write("facade.py", facade);
        let verdicts = trial.together(&call);
        assert_eq!(trial.runs() > 0, runs, "{facade}");
        let why = became(&verdicts[0]).1;
        assert_eq!(why.contains("which facade.py may import"), runs, "{why}");
    }
}

#[test]
fn a_pipe_or_a_device_next_to_a_new_file_does_not_block() {
    // The control: a file in that place is read.
    for (is_pipe, runs) in [(false, true), (true, false)] {
        let judge = move || {
            let trial =
                Trial::with("pull", Has::ServerAndCommand, "new_files: unimported", PoolLimits::default());
            let importer = trial.path("facade.py");
            if is_pipe {
                regular::make_pipe(&importer);
                std::os::unix::fs::symlink("/dev/zero", trial.path("zero.py")).unwrap();
            } else {
                trial.write("facade.py", "from fresh import f\n");
            }
            let call = [("fresh.py", None, "bad\n"), ("a.py", Some("x\n"), "import facade\n")];
            (found(&trial.together(&call)[0]), trial.runs() > 0)
        };
        let (found, ran) = regular::in_time(judge);
        assert_eq!((found, ran), (vec!["1:1 new seen bad".to_owned()], runs), "{is_pipe}");
    }
}

#[test]
fn a_server_may_see_new_files_in_folders_that_are_on_disk() {
    let importer = "from sub import fresh\n";
    for (folder_is_there, by_server) in [(true, true), (false, false)] {
        let trial =
            Trial::with("pull", Has::ServerAndCommand, "new_files: existing_folders", PoolLimits::default());
        if folder_is_there {
            std::fs::create_dir(trial.path("sub")).unwrap();
        }
        trial.together(&[("sub/fresh.py", None, "bad\n"), ("a.py", Some("x\n"), importer)]);
        assert_eq!(trial.runs() == 0, by_server);
    }
}

#[test]
fn the_draft_of_a_configuration_does_not_reach_a_server() {
    let call = |name: &'static str| [("a.py", Some("x\n"), "bad\n"), (name, Some("x\n"), "[tool.x]\n")];
    for (name, runs) in [("tool.toml", true), ("part.toml", true), ("other.toml", false)] {
        let more = "new_files: all\n    config: [tool.toml, 'part.toml#[tool.x']";
        let trial = Trial::with("pull", Has::ServerAndCommand, more, PoolLimits::default());
        let verdicts = trial.together(&call(name));
        assert_eq!(trial.runs() > 0, runs, "{name}");
        let expected =
            format!("cannot see the draft of its configuration {name}; its command was run instead");
        assert_eq!(became(&verdicts[0]).1.contains(&expected), runs, "{name}");
    }
}

#[test]
fn new_files_of_two_folders_are_judged_by_the_servers_of_both() {
    let more = "new_files: all\n    cwd: [.project]";
    let trial = Trial::with("pull", Has::ServerAndCommand, more, PoolLimits::default());
    for folder in ["p", "q"] {
        std::fs::create_dir(trial.path(folder)).unwrap();
        trial.write(&format!("{folder}/.project"), "");
    }
    let verdicts = trial.together(&[("p/new.txt", None, "bad\n"), ("q/deep/new.txt", None, "bad\n")]);
    for verdict in &verdicts {
        assert_eq!(found(verdict), ["1:1 new seen bad"]);
    }
    assert_eq!((trial.noted("started").len(), trial.runs()), (2, 0));
    // What lies in neither is asked of a server of the root.
    assert_eq!(found(&trial.judge("new.txt", None, "bad\n")), ["1:1 new seen bad"]);
    assert_eq!((trial.noted("started").len(), trial.runs()), (3, 0));
}
