//! The latest edits of this process, by which a call is compared with the texts at its arrival.
//!
//! Calls that arrive together start in any order. Their line numbers count the texts that their callers could have seen,
//! which are those at the arrival, not those that the calls find.

use std::collections::VecDeque;
use std::time::Instant;

use parking_lot::Mutex;

use lockgate_store::LockKey;
use lockgate_text::Version;

/// The most edits that are remembered. A call that more of them overtake is compared with the text when it began to wait.
const MAX_EDITS: usize = 4096;

/// The latest edits, oldest first.
#[derive(Debug, Default)]
pub(super) struct RecentEdits(Mutex<VecDeque<RecentEdit>>);

#[derive(Debug)]
struct RecentEdit {
    /// The time before the new text could be in place, and a time at which it was.
    began: Instant,
    time: Instant,
    key: LockKey,
    replaced: Version,
}

impl RecentEdits {
    /// Adds an edit whose lock is still held: a time before the new text could be in place and one at which it was, and the
    /// version that it replaced.
    pub(super) fn add(&self, key: LockKey, (began, time): (Instant, Instant), replaced: Version) {
        let mut edits = self.0.lock();
        if edits.len() == MAX_EDITS {
            edits.pop_front();
        }
        edits.push_back(RecentEdit { began, time, key, replaced });
    }

    /// Returns the version of a target at the first time, if an edit can have replaced it until the second one. `None` if
    /// more edits were made since then than are remembered.
    pub(super) fn version_at(&self, time: Instant, until: Instant, key: &LockKey) -> Option<Version> {
        let edits = self.0.lock();
        if edits.len() == MAX_EDITS && edits.front().is_some_and(|oldest| oldest.time > time) {
            return None;
        }
        let replaced = edits.iter().find(|edit| edit.time > time && edit.key == *key)?;
        (replaced.began <= until).then_some(replaced.replaced)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::resolve_target;
    use crate::tests::Fixture;
    use lockgate_checks::Watch;
    use lockgate_edit::request::{Request, Target};
    use lockgate_edit::{Edit, LineEdit, LineEditNames};
    use lockgate_error::Code;
    use lockgate_store::DefaultOwner;
    use std::fs;
    use std::time::Duration;

    const THREE_LINES: &str = "one\ntwo\nthree\n";

    fn replace_line(line: usize, text: &str) -> Request {
        let (new_content, names) = (text.to_owned(), LineEditNames::Lists);
        let edit = LineEdit { start_line: line, end_line: line, new_content, expect: None, names };
        Request::new(Target::File("a.txt".to_owned()), Edit::Lines(vec![edit]))
    }

    /// Makes the first line two, then replaces the third line by a call that arrived before or after that. Returns the text,
    /// or the code of the rejection.
    async fn third_line(policy: &str, arrives_first: Option<Instant>) -> Result<String, Code> {
        let fixture = Fixture::new(&[("a.txt", THREE_LINES), ("quality.yaml", policy)]);
        let edit = |request, watch| fixture.services.edit(request, watch);
        edit(replace_line(1, "1\none\n"), Watch::idle()).await.unwrap();
        let arrival = arrives_first.unwrap_or_else(Instant::now);
        let edited = edit(replace_line(3, "THREE\n"), Watch::idle().with_arrival(arrival)).await;
        edited.map_err(|error| error.code)?;
        Ok(fs::read_to_string(fixture.root().join("a.txt")).unwrap())
    }

    #[tokio::test]
    async fn line_numbers_count_the_text_at_the_arrival() {
        let before = Instant::now();
        assert_eq!(third_line("", Some(before)).await.unwrap(), "1\none\ntwo\nTHREE\n");
        assert_eq!(third_line("", None).await.unwrap(), "1\none\nTHREE\nthree\n");
    }

    /// A text that is read between the exchange of the files and the look at the clock is the new one.
    #[test]
    fn an_edit_can_have_replaced_a_text_since_it_began() {
        let edits = RecentEdits::default();
        let fixture = Fixture::new(&[("a.txt", "a")]);
        let target = Target::File("a.txt".to_owned());
        let key =
            resolve_target(&fixture.services, &target, DefaultOwner::Closest, None).unwrap().place.key();
        let version = Version::hash(b"a");
        let at = |milliseconds| Duration::from_millis(milliseconds);
        let start = Instant::now();
        edits.add(key.clone(), (start + at(10), start + at(20)), version);
        let version_at = |arrival, until| edits.version_at(start + at(arrival), start + at(until), &key);
        assert_eq!(
            [version_at(0, 9), version_at(0, 15), version_at(15, 30)],
            [None, Some(version), Some(version)]
        );
        assert_eq!(version_at(20, 30), None);
    }

    #[tokio::test]
    async fn without_the_text_at_the_arrival_the_call_is_refused() {
        let (policy, before) = ("never_journal: [a.txt]\n", Instant::now());
        assert_eq!(third_line(policy, Some(before)).await, Err(Code::EditConflict));
        assert_eq!(third_line(policy, None).await.unwrap(), "1\none\nTHREE\nthree\n");
    }

    #[tokio::test]
    async fn the_text_is_the_one_that_the_first_edit_since_the_arrival_replaced() {
        let fixture = Fixture::new(&[("a.txt", THREE_LINES)]);
        let edit = |request, watch| fixture.services.edit(request, watch);
        edit(replace_line(1, "1\none\n"), Watch::idle()).await.unwrap();
        let late = Watch::idle();
        for line in ["2\n1\n", "3\n2\n"] {
            edit(replace_line(1, line), Watch::idle()).await.unwrap();
        }
        edit(replace_line(4, "THREE\n"), late).await.unwrap();
        let text = fs::read_to_string(fixture.root().join("a.txt")).unwrap();
        assert_eq!(text, "3\n2\n1\none\ntwo\nTHREE\n");
    }
}
