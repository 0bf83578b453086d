//! Many servers at once.

use lockgate_checks::Watch;
use lockgate_edit::Insertion;
use lockgate_edit::request::{Expect, Mode};
use lockgate_engine::Status;
use lockgate_error::Code;
use lockgate_text::Version;

use crate::suite::edits::{content, insertion};
use crate::suite::rows::fixture::EntityFixture;

const WORKERS: usize = 6;

const EDITS: usize = 12;

/// Every edit that was acknowledged is there once, and none that was refused.
pub fn many_servers_at_one_text(fixture: &EntityFixture) {
    fixture.put("src/a.txt", b"begin\n");
    let results: Vec<(String, Result<Status, Code>)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS)
            .map(|worker| {
                scope.spawn(move || {
                    let line = |number: usize| format!("worker {worker} edit {number}.");
                    let each = |number: usize| {
                        let edit = insertion(Insertion::END, &line(number));
                        let request = fixture.request("src/a.txt", edit, Mode::Strict, Expect::Anything);
                        let server = &fixture.servers[(worker + number) % 2];
                        let answer = fixture.runtime.block_on(server.edit(request, Watch::idle()));
                        (line(number), answer.map(|report| report.status).map_err(|error| error.code))
                    };
                    (0..EDITS).map(each).collect::<Vec<_>>()
                })
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    let text = fixture.text("src/a.txt");
    let mut appended: Vec<&str> = text.lines().skip(1).collect();
    let mut acknowledged: Vec<&str> = results
        .iter()
        .filter(|(_, answer)| *answer == Ok(Status::Written))
        .map(|(line, _)| line.as_str())
        .collect();
    assert!(acknowledged.len() >= EDITS, "{results:?}");
    appended.sort_unstable();
    acknowledged.sort_unstable();
    assert_eq!(appended, acknowledged);
    let other: Vec<_> = results
        .iter()
        .filter(|(_, answer)| !matches!(answer, Ok(Status::Written) | Err(Code::EditConflict)))
        .collect();
    assert!(other.is_empty(), "{other:?}");
    let history = lockgate_edit::request::HistoryRequest {
        target: Some(fixture.target("src/a.txt")),
        max_entries: 1000,
    };
    let history = fixture.runtime.block_on(fixture.servers[0].read(history, Watch::idle())).unwrap();
    assert_eq!(history.len(), acknowledged.len() + 1);
    // The past is one chain: each edit began with what the one before it left.
    let chained = history.windows(2).all(|two| two[0].changes[0].before == two[1].changes[0].after);
    assert!(chained, "{history:?}");
    assert_eq!(history[0].changes[0].after, Some(Version::hash(text.as_bytes())));
}

pub fn many_servers_making_one_text(fixture: &EntityFixture) {
    // The folder of files is there: they do not wait for one that is made.
    fixture.put("src/first.txt", b"");
    for round in 0..6 {
        let path = format!("src/{round}.txt");
        let answers: Vec<Result<Status, Code>> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..WORKERS)
                .map(|worker| {
                    let path = &path;
                    scope.spawn(move || {
                        let edit = content(&format!("worker {worker}\n"));
                        let request = fixture.request(path, edit, Mode::Strict, Expect::Absent);
                        let answer = fixture
                            .runtime
                            .block_on(fixture.servers[worker % 2].edit(request, Watch::idle()));
                        answer.map(|report| report.status).map_err(|error| error.code)
                    })
                })
                .collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).collect()
        });
        let winners: Vec<usize> =
            (0..WORKERS).filter(|&worker| answers[worker] == Ok(Status::Written)).collect();
        assert_eq!(winners.len(), 1, "{answers:?}");
        assert!(
            answers.iter().all(|answer| matches!(answer, Ok(Status::Written) | Err(Code::FileExists))),
            "{answers:?}"
        );
        assert_eq!(fixture.text(&path), format!("worker {}\n", winners[0]));
    }
}
