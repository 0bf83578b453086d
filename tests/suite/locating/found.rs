//! The smallest examples that the properties have found.

use std::num::NonZeroUsize;

use lockgate_edit::{LineWindow, Needle, Occurrences, OnDuplicate, Search};
use lockgate_error::Code;
use lockgate_matching::{MatchTolerance, TypoPolicy};

use super::{read, real};

fn edited(
    file: &str,
    search: &str,
    replace: &str,
    occurrences: Occurrences,
    window: Option<(usize, usize)>,
) -> Result<String, Code> {
    let request = Search {
        needle: Needle::Literal(search.to_owned()),
        replace: replace.to_owned(),
        count: None::<NonZeroUsize>,
        expect_matches: None,
        lines: window.map(|(start, end)| LineWindow { start, end }),
        within: None,
        occurrences,
        tolerance: MatchTolerance::Similar {
            threshold: MatchTolerance::THRESHOLD,
            typos: TypoPolicy::Certain,
        },
        on_duplicate: OnDuplicate::Reject,
    };
    let applied = real(&request, &read(file.as_bytes().to_vec())).map_err(|why| why.code)?;
    Ok(String::from_utf8(applied.bytes).unwrap())
}

#[test]
fn a_line_quoted_without_its_indentation_stays_a_line() {
    for occurrences in [Occurrences::Block, Occurrences::EveryBlock] {
        let block = |search, replace| edited("  a\n  b\n", search, replace, occurrences, None);
        assert_eq!(block("a\n", "c").as_deref(), Ok("  c\n  b\n"));
        assert_eq!(block("a\n", "").as_deref(), Ok("  b\n"));
        assert_eq!(block("a\n", "c\na\n").as_deref(), Ok("  c\n  a\n  b\n"));
        assert_eq!(block("a\n  b\n", "c\n  b").as_deref(), Ok("  c\n  b\n"));
    }
}

#[test]
fn a_line_that_stays_keeps_its_line_end_and_one_that_goes_its_blanks() {
    let block = |file, search, replace| edited(file, search, replace, Occurrences::Block, None);
    assert_eq!(block("x\na\r\nb\n", "x\na", "x\na\nc").as_deref(), Ok("x\na\r\nc\r\nb\n"));
    assert_eq!(block("a\nb  \n", "a\nb", "a").as_deref(), Ok("a\n"));
    assert_eq!(block("a\n\nb\n", "\n\nb\n", "b\n").as_deref(), Ok("a\nb\n"));
}

#[test]
fn a_slip_leaves_the_edges_of_an_edit_alone() {
    let file = "first\r\nsome value here\nlast\n";
    let block = |search, replace| edited(file, search, replace, Occurrences::Block, None);
    assert_eq!(
        block("some vlaue here\n", "\nsome vlaue here\n").as_deref(),
        Ok("first\r\n\r\nsome value here\nlast\n")
    );
    assert_eq!(block("some vlaue here\n", ""), Err(Code::MatchNotFound));
    let once = block("some vlaue here\n", "some vlaue here\nmore\n").unwrap();
    let twice = edited(&once, "some vlaue here\n", "some vlaue here\nmore\n", Occurrences::Block, None);
    assert_eq!(twice, Err(Code::AlreadyApplied));
}

#[test]
fn blank_lines_outside_of_the_window_stay() {
    let file = "a\n\n  b\nc\n";
    assert_eq!(
        edited(file, "\nb\nc\n", "b\nd\n", Occurrences::Block, Some((3, 4))).as_deref(),
        Ok("a\n\n  b\nd\n")
    );
}

#[test]
fn an_edit_of_a_window_is_not_made_twice() {
    let sent = |file: &str| edited(file, "  a\nb\n", "  a\nb\nc\n", Occurrences::Block, Some((2, 3)));
    let once = sent("x\na\nb\ny\n").unwrap();
    assert_eq!((once.as_str(), sent(&once)), ("x\na\nb\nc\ny\n", Err(Code::AlreadyApplied)));
    let elided = |file: &str| edited(file, "a\n...\nb\n", "a\nnew\n...\nb\n", Occurrences::Block, None);
    let once = elided("a\nx\nb\n").unwrap();
    assert_eq!((once.as_str(), elided(&once)), ("a\nnew\nx\nb\n", Err(Code::AlreadyApplied)));
}

#[test]
fn readings_do_not_take_signs_for_text() {
    let block = |file, search, replace| edited(file, search, replace, Occurrences::Block, None);
    assert_eq!(block("a\n", " a\n", " a\n+b\n").as_deref(), Ok("a\nb\n"));
    assert_eq!(block("    a\n", " a\n", " a\n+b\n"), Err(Code::EditConflict));
    assert_eq!(block("  a\n  b\n", "1|   a\n2|   b\n", "  c\n  b\n").as_deref(), Ok("  c\n  b\n"));
    assert_eq!(
        block("\\n\n\na\n", "1: \\n\n2: \n3: a\n", "1: \\n\n2: \n3: b\n").as_deref(),
        Ok("\\n\n\nb\n")
    );
}

#[test]
fn changed_lines_use_the_escapes_of_the_file() {
    let found = edited(
        "a < b\nnext = 1\n",
        "a &lt; b\nnext = 1\n",
        "a &lt; b\nnext &lt; 1\n",
        Occurrences::Block,
        None,
    );
    assert_eq!(found.as_deref(), Ok("a < b\nnext < 1\n"));
}
