//! An edit in one of the modes, as a caller asks for it; one file for each mode.

mod content;
mod insert_lines;
mod line_edits;
mod restore;
mod search_replace;
mod several;

use crate::operations::{Insertion, LineEdit, LineEditNames, Needle, Occurrences, Search};
use crate::planned::{PlanContext, PlannedEdit};
use lockgate_error::{Code, CorrectedEdit, Error, NextCall};
use lockgate_text::Buffer;

/// An edit in exactly one of the four modes, or an edit that restores an earlier state.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Edit {
    /// The whole new text of the file, with its line ends.
    Content(String),
    /// New text for ranges of lines; all line numbers are those before the edit.
    Lines(Vec<LineEdit>),
    /// New text before lines; all line numbers are those before the edit.
    Insert(Vec<Insertion>),
    /// New text for the matches of a search.
    Search(Search),
    /// The exact bytes of an earlier version.
    Restore(Vec<u8>),
    /// Removes the file, as the undo of its creation does.
    Remove,
    /// Several edits, all of them on the text before the call. They must not overlap.
    Several(Vec<EditPart>),
}

/// One of several edits of a text.
pub type EditPart = several::Part<Edit>;

/// An `expect` that an edit by line number leaves out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingExpect {
    /// The path of the field that is missing, as in `line_edits[2].expect`.
    pub field: String,
    /// The line that it would quote, from 1; one past the last line for the end of the text.
    pub line: usize,
    /// The next step for the caller.
    pub hint: &'static str,
}

/// Plans an edit of a text. All parts of the edit are planned, or none.
///
/// Errors: those of each mode, and `NOT_ENCODABLE` if the file's encoding cannot represent the new text.
pub fn plan(edit: &Edit, buffer: &Buffer, context: PlanContext<'_>) -> Result<PlannedEdit, Error> {
    plan_part(edit, buffer, context)?.with_end(buffer)
}

/// Plans an edit, except for the changes at the end of the text that depend on other edits.
fn plan_part(edit: &Edit, buffer: &Buffer, context: PlanContext<'_>) -> Result<PlannedEdit, Error> {
    match edit {
        Edit::Content(content) => content::plan(content, buffer, context.limits.bytes),
        Edit::Lines(edits) => line_edits::plan(edits, buffer),
        Edit::Insert(insertions) => insert_lines::plan(insertions, buffer),
        Edit::Search(search) => search_replace::plan(search, buffer, context),
        Edit::Restore(bytes) => restore::plan(bytes, buffer),
        Edit::Remove => restore::remove(buffer),
        Edit::Several(parts) => {
            let plan = |edit: &Edit| plan_part(edit, buffer, context);
            let planned = several::plan(parts, buffer, (Edit::is_whole, Edit::replaces_every_match), plan);
            planned.map_err(|error| {
                let error = naming_writer(error, parts, buffer, context);
                proposing(error, parts, buffer, context)
            })
        }
    }
}

/// Says in an error about a quote without a match that an earlier edit of the call writes it, if one does.
fn naming_writer(error: Error, parts: &[EditPart], buffer: &Buffer, context: PlanContext<'_>) -> Error {
    let has_call = matches!(error.next.as_deref(), Some(NextCall::Edit { .. }));
    if error.code != Code::MatchNotFound || has_call {
        return error;
    }
    let later = parts.iter().find(|part| Some(part.entry) == error.entry_index());
    let Some(later) = later.and_then(|later| later.edit.as_search()) else { return error };
    let Needle::Literal(quote) = &later.needle else { return error };
    let quote = quote.replace("\r\n", "\n");
    if later.lines.is_some() || later.within.is_some() || buffer.view().contains(&quote) {
        return error;
    }
    let writes = |part: &&EditPart| {
        let planned = plan_part(&part.edit, buffer, context);
        let after = planned.and_then(|planned| buffer.apply(&planned.plan));
        after.is_ok_and(|after| after.view().contains(&quote))
    };
    let earlier = || parts.iter().take_while(|part| Some(part.entry) != error.entry_index());
    let Some(entry) = earlier().find(writes).map(|writer| writer.entry) else { return error };
    let (own, noun) = (error.entry_index().unwrap_or_default(), context.noun);
    error.hint(format!(
        "edits[{own}] quotes text that edits[{entry}] writes; quote the {noun} as it is before the call, or make both changes in edits[{entry}]"
    ))
}

/// Completes a proposal for one of several edits with those for the others, so that the whole call works. Without such a
/// call, the hint says why not.
fn proposing(mut error: Error, parts: &[EditPart], buffer: &Buffer, context: PlanContext<'_>) -> Error {
    let hint = match error.next.as_deref() {
        _ if parts.len() == 1 => return error,
        Some(NextCall::Edit { .. }) => format!("quote the {}'s actual text", context.noun),
        Some(NextCall::Move { .. } | NextCall::Fields { .. }) => error.next_step().to_owned(),
        Some(_) | None => {
            let first = error.entry_index();
            let later = parts.iter().skip_while(|part| Some(part.entry) != first).skip(1);
            let wrong = later.filter_map(|EditPart { entry, edit }| {
                plan_part(edit, buffer, context).err().map(|error| error.with_named_entry(*entry))
            });
            return error.with_others(wrong);
        }
    };
    let (mut planned, mut corrected) = (Vec::with_capacity(parts.len()), Vec::new());
    for EditPart { entry, edit } in parts {
        let own = plan_part(edit, buffer, context).or_else(|wrong| {
            let next = wrong.next.as_deref();
            let Some((edit, next)) = next.and_then(|next| Some((edit.corrected(next)?, next.clone()))) else {
                return Err(wrong);
            };
            corrected.push(CorrectedEdit { entry: *entry, next });
            plan_part(&edit, buffer, context)
        });
        match own {
            Ok(own) => planned.push(own),
            Err(_) => {
                error.next = None;
                let is_other = error.entry_index() != Some(*entry);
                let suffix = if is_other { format!("; edits[{entry}] is wrong, too") } else { String::new() };
                return error.hint(hint + &suffix);
            }
        }
    }
    let are_texts = corrected.iter().all(|one| matches!(one.next, NextCall::Edit { .. }));
    match (several::join(planned, buffer), corrected.len()) {
        (Err(_), _) => {
            error.next = None;
            error.hint(format!("{hint}; with it, two edits change the same text"))
        }
        (Ok(_), 1) => error,
        (Ok(_), count) => {
            let call = "`next` is the same call with";
            let hint = if are_texts {
                format!("{call} the {}'s actual text in {count} edits", context.noun)
            } else {
                format!("{call} corrections of {count} edits")
            };
            error.hint(hint).with_next(NextCall::Edits(corrected))
        }
    }
}

impl Edit {
    /// Returns the edit as a proposed call has it; `None` if the call is not this edit with other texts, lines or fields.
    fn corrected(&self, next: &NextCall) -> Option<Edit> {
        let mut edit = self.clone();
        match (&mut edit, next) {
            (Edit::Search(own), NextCall::Edit { search, replace }) => {
                own.needle = Needle::Literal(search.clone());
                own.replace.clone_from(replace);
            }
            (Edit::Search(own), NextCall::Fields { set, unset }) => own.change_fields(set, unset)?,
            (Edit::Lines(edits), NextCall::Move { index, by, .. }) => {
                let moved = edits.get_mut(*index)?;
                moved.start_line = moved.start_line.checked_add_signed(*by)?;
                moved.end_line = moved.end_line.checked_add_signed(*by)?;
            }
            (Edit::Insert(insertions), NextCall::Move { index, by, .. }) => {
                let moved = insertions.get_mut(*index)?;
                moved.at_line = moved.at_line.checked_add_signed(*by)?;
            }
            _ => return None,
        }
        Some(edit)
    }

    /// Returns a phrase for what the edit would do to an existing file, or `None` if the edit has the whole text, so that it needs no file.
    pub fn needs_file_to(&self) -> Option<&'static str> {
        match self {
            Edit::Several(parts) if parts.iter().any(|part| part.edit.is_whole()) => None,
            Edit::Content(_) | Edit::Restore(_) => None,
            Edit::Several(_) => Some("apply edits to"),
            Edit::Lines(_) => Some("apply line edits to"),
            Edit::Insert(_) => Some("insert lines into"),
            Edit::Search(_) => Some("search in"),
            Edit::Remove => Some("remove"),
        }
    }

    fn as_search(&self) -> Option<&Search> {
        match self {
            Edit::Search(search) => Some(search),
            _ => None,
        }
    }

    /// Returns true for a search that replaces every match of a block.
    fn replaces_every_match(&self) -> bool {
        self.as_search().is_some_and(|search| search.occurrences == Occurrences::EveryBlock)
    }

    /// Returns true if the edit refers to lines by number.
    pub fn counts_lines(&self) -> bool {
        self.any_part(|part| {
            matches!(part, Edit::Lines(_) | Edit::Insert(_) | Edit::Search(Search { lines: Some(_), .. }))
        })
    }

    /// Returns true if the edit concerns the whole text, so that any other change of the file matters.
    pub fn is_whole(&self) -> bool {
        self.any_part(|part| matches!(part, Edit::Content(_) | Edit::Remove))
    }

    /// Returns true if the edit need not quote the text that it changes, so that it can fit another file than the one that
    /// is meant.
    pub fn is_unquoted(&self) -> bool {
        self.any_part(|part| !matches!(part, Edit::Search(_)))
    }

    /// Returns true if a condition is true for the edit, or for one of several.
    fn any_part(&self, condition: fn(&Edit) -> bool) -> bool {
        match self {
            Edit::Several(parts) => parts.iter().any(|part| part.edit.any_part(condition)),
            single => condition(single),
        }
    }

    /// Returns the first `expect` that an edit by line numbers leaves out, for a text of `count` lines. Lines that are
    /// appended without a number need none.
    pub fn missing_expect(&self, count: usize) -> Option<MissingExpect> {
        let missing = |list, at, names: LineEditNames, line, hint| {
            let hint = match names {
                LineEditNames::Lists => hint,
                LineEditNames::Instruction => "read the file, and give its `version` as `expected_version`",
            };
            MissingExpect { field: names.path(list, at, "expect"), line, hint }
        };
        let of_line = "read the file, and give the current line as `expect`, or `expected_version`";
        let of_end = "read the file, and give `expect: \"\"` after the last line, or `expected_version`";
        match self {
            Edit::Lines(edits) => {
                let (at, edit) = edits.iter().enumerate().find(|(_, edit)| edit.expect.is_none())?;
                Some(missing("line_edits", at, edit.names, edit.start_line, of_line))
            }
            Edit::Insert(insertions) => {
                let has_none =
                    |insertion: &Insertion| insertion.expect.is_none() && insertion.at_line != Insertion::END;
                let (at, insertion) = insertions.iter().enumerate().find(|(_, one)| has_none(one))?;
                let hint = if insertion.at_line > count { of_end } else { of_line };
                Some(missing("insert_lines", at, insertion.names, insertion.at_line, hint))
            }
            Edit::Content(_) | Edit::Search(_) | Edit::Restore(_) | Edit::Remove | Edit::Several(_) => None,
        }
    }

    /// Returns the mode's name on the wire.
    pub const fn mode(&self) -> &'static str {
        match self {
            Edit::Content(_) => "content",
            Edit::Lines(_) => "line_edits",
            Edit::Insert(_) => "insert_lines",
            Edit::Search(_) => "search/replace",
            Edit::Restore(_) => "restore",
            Edit::Remove => "remove",
            Edit::Several(_) => "edits",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planned::EditLimits;
    use lockgate_matching::{MatchTolerance, OnDuplicate};
    use lockgate_python_re::Flags;
    use lockgate_text::{Hints, NoSyntax};
    use std::num::NonZeroUsize;

    fn planned(text: &[u8], edits: Vec<Edit>) -> Result<(PlannedEdit, Vec<u8>), Error> {
        let buffer = Buffer::read(text.to_vec(), Hints::default())?;
        let part = |(entry, edit)| EditPart { entry, edit };
        let limits = EditLimits { bytes: 1 << 20, steps: 1_000_000 };
        let context = PlanContext { noun: "file", path: "a.txt", language: None, syntax: &NoSyntax, limits };
        let several = Edit::Several(edits.into_iter().enumerate().map(part).collect());
        let planned = plan(&several, &buffer, context)?;
        let after = buffer.apply(&planned.plan)?.bytes().to_vec();
        Ok((planned, after))
    }

    fn made(text: &str, edits: Vec<Edit>) -> String {
        String::from_utf8(planned(text.as_bytes(), edits).unwrap().1).unwrap()
    }

    fn insert(at_line: usize, content: &str) -> Edit {
        let content = content.to_owned();
        Edit::Insert(vec![Insertion { at_line, content, expect: None, names: LineEditNames::Lists }])
    }

    fn line(line: usize, new_content: &str) -> Edit {
        let new_content = new_content.to_owned();
        let names = LineEditNames::Lists;
        Edit::Lines(vec![LineEdit { start_line: line, end_line: line, new_content, expect: None, names }])
    }

    fn search(needle: &str, replace: &str, occurrences: Occurrences) -> Edit {
        Edit::Search(Search {
            needle: Needle::Literal(needle.to_owned()),
            replace: replace.to_owned(),
            count: None,
            expect_matches: None,
            lines: None,
            within: None,
            occurrences,
            tolerance: MatchTolerance::Wrapping,
            on_duplicate: OnDuplicate::Reject,
        })
    }

    #[test]
    fn appended_lines_follow_the_text_that_the_other_edits_leave() {
        let end = Insertion::END;
        assert_eq!(made("a\nb", vec![insert(3, "x"), insert(end, "y\n")]), "a\nb\nx\ny\n");
        assert_eq!(made("a\r\nb", vec![insert(3, "x"), insert(3, "y\n")]), "a\r\nb\r\nx\r\ny\r\n");
        assert_eq!(made("a\nb\n", vec![insert(3, "x"), insert(3, "y")]), "a\nb\nx\ny\n");
        assert_eq!(made("a\nb", vec![insert(3, "y"), line(2, "")]), "a\ny\n");
        assert_eq!(made("a\nb", vec![line(2, "c\n"), insert(3, "y")]), "a\nc\ny\n");
        assert_eq!(made("a\nb", vec![line(2, "c\n\n"), insert(3, "y")]), "a\nc\n\ny\n");
        assert_eq!(made("a\nb", vec![insert(3, "y"), line(2, "\n")]), "a\n\ny\n");
        assert_eq!(made("b", vec![line(1, "\n"), insert(2, "y")]), "\ny\n");
        assert_eq!(made("b", vec![line(1, ""), insert(2, "y")]), "y\n");
        assert_eq!(made("a\nb", vec![insert(2, "x"), insert(3, "y"), insert(2, "z")]), "a\nx\nz\nb\ny\n");
        for occurrences in [Occurrences::Matches, Occurrences::Block] {
            assert_eq!(made("a\nb", vec![insert(3, "y"), search("b", "b\nc", occurrences)]), "a\nb\nc\ny\n");
            assert_eq!(made("a\nb", vec![search("b", "", occurrences), insert(3, "y")]), "a\ny\n");
        }
        assert_eq!(made("a\nb", vec![insert(3, "y"), search("b", "b\n", Occurrences::Matches)]), "a\nb\ny\n");
        assert_eq!(made("", vec![insert(1, "x"), insert(1, "y")]), "x\ny\n");
    }

    #[test]
    fn a_pattern_makes_no_result_that_is_too_large() {
        let replaced = |count: Option<usize>, added: usize| {
            let Edit::Search(literal) =
                search("", &(r"\g<0>".to_owned() + &"x".repeat(added)), Occurrences::Matches)
            else {
                unreachable!()
            };
            let needle = Needle::Regex { pattern: "b".to_owned(), flags: Flags::default() };
            let edit = Edit::Search(Search { needle, count: count.and_then(NonZeroUsize::new), ..literal });
            planned("ab\n".repeat(1000).as_bytes(), vec![edit]).map(|(planned, _)| planned.matches.total)
        };
        let error = replaced(None, 1100).unwrap_err();
        assert_eq!((error.code, error.field.as_deref()), (Code::TooLarge, Some("replace")));
        assert_eq!(
            error.message,
            "the result is too large: its replacements have more than 1048576 characters"
        );
        assert_eq!(replaced(None, 100).unwrap(), Some(1000));
        assert_eq!(replaced(Some(1), 1100).unwrap(), Some(1000), "the other matches are only counted");
    }

    #[test]
    fn an_empty_line_at_the_end_keeps_its_line_end() {
        assert_eq!(made("x\ny", vec![line(2, "\n")]), "x\n\n");
        assert_eq!(made("x\r\ny", vec![line(2, "z\r\n\r\n")]), "x\r\nz\r\n\r\n");
        assert_eq!(made("y", vec![line(1, "\n")]), "\n");
        assert_eq!(made("x\ny", vec![line(2, "z\n")]), "x\nz", "the control: the file ends as before");
        assert_eq!(made("x\r\ny", vec![line(2, "z\r\n")]), "x\r\nz");
    }

    #[test]
    fn a_carriage_return_at_the_end_of_a_line_is_kept() {
        let made = |edit: Edit| made("a\r\nb\r\n", vec![edit]);
        let text = "q\r\r\n";
        assert_eq!(made(line(1, text)), "q\r\r\nb\r\n");
        assert_eq!(made(insert(2, text)), "a\r\nq\r\r\nb\r\n");
        assert_eq!(made(insert(3, text)), "a\r\nb\r\nq\r\r\n");
        let search = |needle: &str, replace: &str| search(needle, replace, Occurrences::Matches);
        assert_eq!(made(search("a", "q\r")), "q\r\r\nb\r\n", "the same as by a search");
        for text in ["q", "q\r", "q\n", "q\r\n"] {
            assert_eq!(made(line(1, text)), "q\r\nb\r\n", "the control: a line end is that of the file");
            assert_eq!(made(insert(3, text)), "a\r\nb\r\nq\r\n");
        }
        assert_eq!(made(line(1, "q\r\nz\r")), "q\r\nz\r\nb\r\n", "half a line end");
    }

    #[test]
    fn an_inserted_line_comes_before_what_a_search_inserts_there() {
        let Edit::Search(literal) = search("", "# ", Occurrences::Matches) else { panic!("another edit") };
        let needle = Needle::Regex { pattern: "^(?=b)".to_owned(), flags: Flags::MULTILINE };
        let comment = Edit::Search(Search { needle, ..literal });
        for edits in [vec![comment.clone(), insert(2, "x")], vec![insert(2, "x"), comment]] {
            assert_eq!(made("a\nb\n", edits), "a\nx\n# b\n");
        }
    }

    #[test]
    fn a_removed_open_line_does_not_overlap_an_edit_of_the_line_above() {
        let block = |needle: &str, replace: &str| search(needle, replace, Occurrences::Block);
        assert_eq!(made("a\nb\nc", vec![block("c", ""), block("b", "")]), "a");
        assert_eq!(made("a\nb\nc", vec![block("b\n", "b\nx\n"), block("c\n", "")]), "a\nb\nx");
        assert_eq!(made("a\r\nb\r\nc", vec![block("c", ""), block("b", "b\nx")]), "a\r\nb\r\nx");
        assert_eq!(made("a\nb\nc", vec![block("c", ""), line(2, "")]), "a");
        assert_eq!(made("a\nb\nc", vec![block("c", ""), insert(3, "x"), insert(4, "y")]), "a\nb\nx\ny\n");
        assert_eq!(made("a\nb", vec![block("a", ""), block("b", "")]), "");
        assert_eq!(made("a\nb\nc", vec![block("c", ""), line(2, "\n"), insert(4, "y")]), "a\n\ny\n");
        let twice = planned(b"a\nb\nc", vec![block("c", ""), block("b\nc", "")]).unwrap_err();
        assert_eq!(twice.code, Code::RangeOverlap);
    }

    #[test]
    fn the_end_of_the_last_line_is_noted_once() {
        let notes = |edits| planned(b"a\nb", edits).unwrap().0.notes;
        assert_eq!(notes(vec![insert(3, "x"), insert(3, "y")]).len(), 1);
        assert_eq!(notes(vec![line(2, ""), insert(3, "y")]), [""; 0]);
    }

    #[test]
    fn a_number_of_matches_that_is_not_complete_says_so() {
        let message = |count: usize| {
            let edit = search("x", "y", Occurrences::Block);
            planned("x\n".repeat(count).as_bytes(), vec![edit]).unwrap_err().message
        };
        assert_eq!(message(100_000), "the search text appears 100000 times in the file");
        assert_eq!(message(100_001), "the search text appears at least 100000 times in the file");
    }

    #[test]
    fn a_hint_names_the_edit_that_writes_the_quote_or_replaces_every_match() {
        let text = b"def three():\n    return 3\nthree()\n";
        let first = search("def three():", "def three(n):", Occurrences::Block);
        let both = search("def three(n):\n    return 3", "x", Occurrences::Block);
        let error = planned(text, vec![first, both]).unwrap_err();
        assert_eq!((error.code, error.entry_index()), (Code::MatchNotFound, Some(1)));
        assert_eq!(
            error.hint.as_deref(),
            Some(
                "edits[1] quotes text that edits[0] writes; quote the file as it is before the call, or make both changes in edits[0]"
            )
        );
        let every = || search("three", "four", Occurrences::EveryBlock);
        let one = || search("def three():", "def drei():", Occurrences::Block);
        for (edits, every) in [(vec![every(), one()], 0), (vec![one(), every()], 1)] {
            let error = planned(text, edits).unwrap_err();
            assert_eq!(error.code, Code::RangeOverlap);
            let hint = error.hint.unwrap_or_default();
            assert!(hint.starts_with(&format!("edits[{every}] replaces every match")), "{hint}");
        }
    }

    #[test]
    fn the_nearest_text_is_shown_as_whole_lines() {
        let error = |text: &str, quote: &str| {
            let part = EditPart { entry: 0, edit: search(quote, "x", Occurrences::Block) };
            planned(text.as_bytes(), vec![part.edit]).unwrap_err()
        };
        let lines = |error: &Error| error.best.as_ref().map(|best| (best.start_line, best.lines.clone()));
        // A fragment of a line is shown as the line.
        let line =
            "def pass_context(f: \"t.Callable[te.Concatenate[Context, P], R]\") -> \"t.Callable[P, R]\":";
        let one = error(&format!("import a\n\n{line}\n    pass\n"), "def pass_context(f):");
        assert_eq!(lines(&one), Some((3, vec![line.to_owned()])));
        assert_eq!(one.hint.as_deref(), Some("the nearest text is in line 3; quote the actual text"));
        let long = error(&format!("{line}{}\n", " # ".repeat(100)), "def pass_context(f):");
        assert_eq!(lines(&long), None, "a line that is cut is no text to quote");
        assert!(long.hint.is_some_and(|hint| hint.contains("\"def pass_context(f")));
        // A line beside the nearest ones is none of them, unless it closes a bracket.
        let method = "/**\n * A thing.\n */\n\n  Thing(flag) {\n    go();\n  }\n";
        let range =
            |text: &str, quote: &str| error(text, quote).best.map(|best| (best.start_line, best.end_line));
        assert_eq!(range(method, "getThing(flag) {"), Some((5, 5)));
        let list = "let a = 1;\n\nxs = [\n  one,\n  two,\n];\nlet c = 1;\n";
        assert_eq!(range(list, "xs = [one, two, three];"), Some((3, 6)));
        // A definition over several lines.
        let head = "import a\n\n\ndef pause(\n    info: str | None = None, err: bool = False\n) -> None:\n";
        let pause = &(head.to_owned() + &"    step()\n".repeat(9));
        for quote in ["def pause(info, err):", "def pause(info, err):\n    say(info, err)\n"] {
            let hint = error(pause, quote).hint.unwrap_or_default();
            assert_eq!(&*hint, "line 4 begins with \"def pause(\"; read it, and quote the actual text");
        }
        for quote in ["unrelated(info, err):", "if (someThing.else) return nothing"] {
            let hint = error(pause, quote).hint.unwrap_or_default();
            assert!(hint.starts_with("nothing like it is in the file"), "{hint}");
        }
        let short = error(head, "def pause(info, err):").hint.unwrap_or_default();
        assert!(short.ends_with(head.lines().last().unwrap()), "all lines are shown: {short}");
    }

    #[test]
    fn the_line_that_a_hint_asks_to_quote_is_shown_as_a_whole() {
        let hint = |line: &str| {
            let text = format!("a()\n  {line}\nx = 1\nb()\nx = 1\n");
            let error =
                planned(text.as_bytes(), vec![search("x = 1", "x = 2", Occurrences::Block)]).unwrap_err();
            error.hint.map(String::from)
        };
        let line = "a line of text with more than sixty characters, which is not cut in the middle of a word";
        assert_eq!(hint(line), Some(format!("quote the line before it, too; for line 3 that is {line:?}")));
        let long = line.repeat(10);
        let start: String = long.chars().take(400).collect();
        let begins = format!("quote the line before it, too; for line 3 that begins with {start:?}");
        assert_eq!(hint(&long), Some(begins));
    }

    #[test]
    fn appended_text_that_the_file_cannot_hold_is_rejected_with_its_entry() {
        let error = planned(b"a\n\xE9", vec![line(1, "b\n"), insert(3, "\u{2192}")]).unwrap_err();
        assert_eq!((error.code, error.entry_index()), (Code::NotEncodable, Some(1)));
    }
}
