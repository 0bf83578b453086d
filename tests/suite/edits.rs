//! Edits in short, as a caller of the library says them.

use lockgate_edit::request::{Author, Direction, Request, Target, UndoRequest, Whose};
use lockgate_edit::{Edit, Insertion, LineEdit, LineEditNames, Needle, Occurrences, OnDuplicate, Search};
use lockgate_matching::MatchTolerance;

/// An edit of a file, in the default mode and whatever is there.
pub fn of_file(path: &str, edit: Edit) -> Request {
    Request::new(Target::File(path.to_owned()), edit)
}

/// An edit to undo or redo; without an id, the last one.
pub fn revert(direction: Direction, edit_id: Option<String>) -> UndoRequest {
    UndoRequest { direction, edit_id, target: None, whose: Whose::Everyone, author: Author::default() }
}

/// The whole text.
pub fn content(text: &str) -> Edit {
    Edit::Content(text.to_owned())
}

/// Other text for these lines.
pub fn lines(first: usize, last: usize, text: &str) -> Edit {
    Edit::Lines(vec![LineEdit {
        start_line: first,
        end_line: last,
        new_content: text.to_owned(),
        expect: None,
        names: LineEditNames::Lists,
    }])
}

/// New lines before this one.
pub fn insertion(at: usize, text: &str) -> Edit {
    Edit::Insert(vec![Insertion {
        at_line: at,
        content: text.to_owned(),
        expect: None,
        names: LineEditNames::Lists,
    }])
}

/// Other text for each match of a quoted one.
pub fn search(from: &str, to: &str) -> Edit {
    searching(Needle::Literal(from.to_owned()), to.to_owned())
}

/// Other text for each match, also where it stands there already.
pub fn searching(needle: Needle, replace: String) -> Edit {
    Edit::Search(Search {
        needle,
        replace,
        count: None,
        expect_matches: None,
        lines: None,
        within: None,
        occurrences: Occurrences::Matches,
        tolerance: MatchTolerance::Wrapping,
        on_duplicate: OnDuplicate::InsertAgain,
    })
}
