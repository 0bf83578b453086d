//! Finds the place of a quote that differs from the file, with the matching of lockgate's own tools.
//!
//! Invariant: an edit is made only if exactly one place matches, or if the call replaces every place.

use super::edit::{NamedLines, QuoteMatches, QuotedReplacement};
use super::patch::Chunk;
use super::simulate::unix;
use super::simulate_patch::{ChunkPlace, chunk_places, insertion_line, ordered_places};
use lockgate_edit::request::{BlockFields, EntityKind, ToleranceFields};
use lockgate_edit::{
    self as edit, Edit, EditLimits, EditPart, Insertion, LineEdit, LineEditNames, Occurrences, OnDuplicate,
    PlanContext, PlannedEdit,
};
use lockgate_error::{Code, Error};
use lockgate_policy::language_of;
use lockgate_syntax::Grammars;
use lockgate_text::{Buffer, Hints};

/// The least similarity of a match, as for `edit_code`.
const THRESHOLD: f64 = 0.9;
/// The most characters of a line in a message.
const LINE_WIDTH: usize = 60;
const LIMITS: EditLimits = EditLimits { bytes: 64 << 20, steps: 40_000_000 };

/// The result of a search.
#[derive(Debug)]
pub enum Located {
    /// The bytes of the file after the edit.
    Found(Vec<u8>),
    /// Quote and replacement are the same.
    Same,
    /// No place, or several, with a hint.
    Rejected(Box<Error>),
    /// The text cannot be searched for quotes.
    Unknown,
}

/// Finds the place of a quote, and makes the edit there. Without a match in the lines that the call names, all lines are
/// searched.
pub fn quote(path: &str, before: &[u8], quote: &QuotedReplacement) -> Located {
    if let Some(lines) = quote.lines {
        match quote_in(path, before, quote, Some(lines)) {
            Located::Rejected(error) if error.code == Code::MatchNotFound => {}
            Located::Unknown => {}
            located @ (Located::Found(_) | Located::Same | Located::Rejected(_)) => return located,
        }
    }
    quote_in(path, before, quote, None)
}

/// Finds the place of a quote in some lines, or in all.
fn quote_in(path: &str, before: &[u8], quote: &QuotedReplacement, lines: Option<NamedLines>) -> Located {
    let occurrences = match quote.matches {
        QuoteMatches::Only => Occurrences::Block,
        QuoteMatches::Every => Occurrences::EveryBlock,
    };
    let (start, end) = lines.map(|lines| (lines.start, lines.end)).unzip();
    match block_edit(unix(&quote.old), unix(&quote.new), occurrences, start, end) {
        Ok(edit) => located(before, bytes_after(path, before, &edit)),
        Err(_) => Located::Unknown,
    }
}

/// Finds the places of the chunks of a host's patch, and makes all of its changes.
pub fn chunks(path: &str, before: &[u8], chunks: &[Chunk]) -> Located {
    let edit = chunks_edit(before, chunks, chunk_places);
    located(before, edit.and_then(|edit| bytes_after_chunks(path, before, &edit, chunks)))
}

/// Returns the bytes of a file after the chunks of a patch.
///
/// Errors: those of [`update`], and those of making its changes, such as `NO_MATCH` and `RANGE_OVERLAP`.
pub fn updated_bytes(path: &str, before: &[u8], chunks: &[Chunk]) -> Result<Vec<u8>, Error> {
    bytes_after_chunks(path, before, &update(before, chunks)?, chunks)
}

/// Returns the edit that applies the chunks of a patch to a file, without a host. Its parts are in the order of the chunks, and
/// have the index 0, that of the file.
///
/// Line numbers in place of a header, as in a unified diff, do not count. Chunks that are in the file in one way only, in
/// their order and without overlap, have those places. Otherwise a chunk that the tool of a host finds exactly has that
/// place; any other is looked for below the last such chunk of its section. If it is not there, and above in one place only,
/// it has that place.
///
/// Errors: `NOT_TEXT`; `NO_MATCH` for a header that is not a line below that chunk, and for a chunk below the last line;
/// `NO_MATCH` and `AMBIGUOUS_MATCH` for a chunk that quotes blank lines only.
pub fn update(before: &[u8], chunks: &[Chunk]) -> Result<Edit, Error> {
    let chunks: Vec<Chunk> = chunks.iter().map(Chunk::without_line_numbers).collect();
    chunks_edit(before, &chunks, ordered_places)
}

/// Returns the edit that applies the chunks of a patch to a file, with the places that a function finds for them.
fn chunks_edit(
    before: &[u8],
    chunks: &[Chunk],
    find_places: fn(&Buffer, &[Chunk]) -> Vec<ChunkPlace>,
) -> Result<Edit, Error> {
    let buffer = Buffer::read(before.to_vec(), Hints::default())?;
    let places = find_places(&buffer, chunks);
    if let ([only], [place]) = (chunks, places.as_slice()) {
        return chunk_edit(&buffer, only, *place);
    }
    let mut parts = Vec::new();
    for (index, (chunk, place)) in chunks.iter().zip(places).enumerate() {
        let edit = chunk_edit(&buffer, chunk, place).map_err(|error| naming_chunk(error, index, chunk))?;
        parts.push(EditPart { entry: 0, edit });
    }
    Ok(Edit::Several(parts))
}

/// Adds the number and the first quoted line of a chunk to an error about it.
fn naming_chunk(mut error: Error, index: usize, chunk: &Chunk) -> Error {
    let line = chunk.old().find(|line| !line.trim().is_empty());
    let line = line.map(|line| line.trim().chars().take(LINE_WIDTH).collect::<String>());
    let line = line.map(|line| format!(" ({line:?})")).unwrap_or_default();
    error.message = format!("chunk {}{line}: {}", index + 1, error.message);
    error
}

/// Returns the bytes of a file after the edit of several chunks. An error of one of them names it.
fn bytes_after_chunks(path: &str, before: &[u8], edit: &Edit, chunks: &[Chunk]) -> Result<Vec<u8>, Error> {
    let buffer = Buffer::read(before.to_vec(), Hints::default())?;
    let planned = plan(path, &buffer, edit).map_err(|error| match edit {
        // An overlap is none of a single chunk.
        Edit::Several(parts) if error.code != Code::RangeOverlap => {
            let mut chunks = parts.iter().zip(chunks).enumerate();
            let of_chunk = chunks.find_map(|(index, (part, chunk))| {
                Some(naming_chunk(plan(path, &buffer, &part.edit).err()?, index, chunk))
            });
            of_chunk.unwrap_or(error)
        }
        _ => error,
    })?;
    Ok(buffer.apply(&planned.plan)?.bytes().to_vec())
}

/// Returns the edit that replaces a text, which is searched from line `start` to line `end`.
fn block_edit(
    search: String,
    replace: String,
    occurrences: Occurrences,
    start: Option<usize>,
    end: Option<usize>,
) -> Result<Edit, Error> {
    let number = |line: usize| i64::try_from(line).ok();
    let fields = BlockFields {
        search,
        replace,
        occurrences,
        tolerance: Some(ToleranceFields { threshold: THRESHOLD, any_line: false }),
        start_line: start.and_then(number),
        end_line: end.and_then(number),
        within: None,
        on_duplicate: OnDuplicate::Reject,
    };
    fields.into_edit()
}

/// Returns the edit of one chunk, at the lines that it quotes exactly if they are known. Else the known lines above and a
/// header narrow the lines to search, and so does the mark that the chunk ends the file.
fn chunk_edit(buffer: &Buffer, chunk: &Chunk, place: ChunkPlace) -> Result<Edit, Error> {
    let quoted: Vec<&str> = chunk.old().collect();
    let new: String = chunk.new_lines().flat_map(|line| [line, "\n"]).collect();
    let is_blank = |line: &&str| line.trim().is_empty();
    if let Some(NamedLines { start, end }) = place.exact.filter(|_| !quoted.iter().all(is_blank)) {
        return search_edit(&quoted, new, Some(start), Some(end));
    }
    let above_end = place.above.map_or(0, |above| above.end);
    let header = chunk.header.as_deref().map(|header| header_line(buffer, header, above_end)).transpose();
    let header = header.map_err(|error| match quoted.as_slice() {
        [] => error
            .hint("quote a line beside the new ones; without a quote, they are added at the end of the file"),
        [_, ..] => error,
    })?;
    if quoted.is_empty() {
        let names = LineEditNames::default();
        let at_line = insertion_line(buffer);
        let insertion = Insertion { at_line, content: new, expect: None, names };
        return Ok(Edit::Insert(vec![insertion]));
    }
    let count = buffer.lines().count();
    let start = match (header, place.above) {
        (None, Some(above)) => Some(first_line_below(buffer, above, &quoted)?),
        // Some patches repeat the header as the first line.
        (Some(header), _) if places_by(str::trim, buffer, header + 1, &quoted).is_empty() => Some(header),
        (Some(header), _) => Some(header + 1),
        (None, None) => None,
    };
    let first = if chunk.at_end && quoted.len() <= count {
        let last_place = count - quoted.len() + 1;
        Some(start.map_or(last_place, |start| start.max(last_place)))
    } else {
        start
    };
    let exact_places = || places(buffer, first.unwrap_or(1), &quoted);
    if quoted.iter().all(is_blank) {
        return blank_edit(&exact_places(), quoted.len(), new);
    }
    // The search would also find a quote that begins with a blank line below a line that is not blank.
    let below_blank = quoted.first().is_some_and(is_blank).then(exact_places);
    let (start, end) = match below_blank.as_deref() {
        Some([line]) => (Some(*line), Some(line + quoted.len() - 1)),
        Some(_) | None => (first, None),
    };
    search_edit(&quoted, new, start, end)
}

/// Returns the edit that replaces quoted lines. They are searched from line `start` to line `end`.
fn search_edit(
    quoted: &[&str],
    new: String,
    start: Option<usize>,
    end: Option<usize>,
) -> Result<Edit, Error> {
    let search = quoted.iter().flat_map(|line| [*line, "\n"]).collect();
    block_edit(search, new, Occurrences::Block, start, end)
}

/// Returns the number of the first line below line `above` that is the header of a chunk: an exact line, or else one that
/// differs in blanks at its end, or at both ends.
fn header_line(buffer: &Buffer, header: &str, above: usize) -> Result<usize, Error> {
    let trims: [fn(&str) -> &str; 3] = [|line| line, str::trim_end, str::trim];
    let found = trims.iter().find_map(|trim| {
        let mut lines = buffer.lines().iter().zip(1..).skip(above);
        lines.find_map(|(line, number)| (trim(line) == trim(header)).then_some(number))
    });
    found.ok_or_else(|| {
        let lines =
            if above == 0 { "no line of the file".to_owned() } else { format!("no line below line {above}") };
        let message = format!("{lines} is the header of a chunk, `@@ {header}`");
        Error::new(Code::MatchNotFound, message).hint("give a whole line of the file after `@@`, or nothing")
    })
}

/// Returns the first line to search for a chunk below the lines of another. If those lines alone have the quoted ones, it is
/// the first of them, so that the two chunks overlap. If only one place above has the quoted lines, and no place below has
/// them with other blanks around, the chunks are in another order, and it is that place.
///
/// Errors: `NO_MATCH` if the file has no line below.
fn first_line_below(buffer: &Buffer, above: NamedLines, quoted: &[&str]) -> Result<usize, Error> {
    let is_nowhere_below = || places_by(str::trim, buffer, above.start, quoted).is_empty();
    match places(buffer, 1, quoted).as_slice() {
        [.., line] if *line > above.end => Ok(above.end + 1),
        [.., line] if *line >= above.start => Ok(above.start),
        [only] if is_nowhere_below() => Ok(*only),
        _ if above.end >= buffer.lines().count() => {
            let message = "a chunk is below another one that ends with the last line of the file";
            Err(Error::new(Code::MatchNotFound, message).hint("give the chunks in the order of the file"))
        }
        _ => Ok(above.end + 1),
    }
}

/// Returns the first line of each place, from line `first` on, that has the quoted lines. Blanks at the end of a line do not
/// count.
fn places(buffer: &Buffer, first: usize, quoted: &[&str]) -> Vec<usize> {
    places_by(str::trim_end, buffer, first, quoted)
}

/// Does the same, with another function that removes the blanks that do not count.
fn places_by(trim: fn(&str) -> &str, buffer: &Buffer, first: usize, quoted: &[&str]) -> Vec<usize> {
    let lines: Vec<&str> = buffer.lines().iter().map(trim).collect();
    let is_quoted = |lines: &[&str]| lines.iter().zip(quoted).all(|(line, quoted)| *line == trim(quoted));
    let places = lines.windows(quoted.len().max(1)).zip(1..).filter(|(lines, _)| is_quoted(lines));
    places.map(|(_, line)| line).filter(|line| *line >= first).collect()
}

/// Returns the edit of a chunk that quotes this many blank lines, from the places that have them.
fn blank_edit(places: &[usize], count: usize, new_content: String) -> Result<Edit, Error> {
    let error = match places {
        [start_line] => {
            let (end_line, names) = (start_line + count - 1, LineEditNames::default());
            let edit = LineEdit { start_line: *start_line, end_line, new_content, expect: None, names };
            return Ok(Edit::Lines(vec![edit]));
        }
        [] => Error::new(Code::MatchNotFound, "a chunk quotes only blank lines, and there are none"),
        several => {
            let message = format!("a chunk quotes only blank lines, which are in {} places", several.len());
            Error::new(Code::AmbiguousMatch, message)
        }
    };
    Err(error.hint("quote a line beside them that is not blank"))
}

fn located(before: &[u8], result: Result<Vec<u8>, Error>) -> Located {
    match result {
        Ok(after) if after == before => Located::Same,
        Ok(after) => Located::Found(after),
        Err(error) => rejected(error),
    }
}

/// Returns the bytes of a file after an edit.
fn bytes_after(path: &str, before: &[u8], edit: &Edit) -> Result<Vec<u8>, Error> {
    let buffer = Buffer::read(before.to_vec(), Hints::default())?;
    Ok(buffer.apply(&plan(path, &buffer, edit)?.plan)?.bytes().to_vec())
}

fn plan(path: &str, buffer: &Buffer, edit: &Edit) -> Result<PlannedEdit, Error> {
    let language = language_of(path, buffer.view().lines().next()).map(|language| language.name.as_str());
    let context = PlanContext { noun: EntityKind::FILE, path, language, syntax: &Grammars, limits: LIMITS };
    edit::plan(edit, buffer, context)
}

/// Returns the result for an edit that cannot be made.
fn rejected(error: Error) -> Located {
    match error.code {
        Code::MatchNotFound
        | Code::AmbiguousMatch
        | Code::AlreadyApplied
        | Code::EditConflict
        | Code::RangeOverlap => Located::Rejected(Box::new(error)),
        _ => Located::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::{Patch, PatchChange};

    #[test]
    fn the_lines_of_a_call_choose_among_several_places() {
        let text = "def f():\n    x = 1\n\ndef g():\n    x = 1\n";
        let found = |lines: Option<(usize, usize)>| {
            let quote = QuotedReplacement {
                old: "  x = 1\n".to_owned(),
                new: "  x = 2\n".to_owned(),
                matches: QuoteMatches::Only,
                lines: lines.map(|(start, end)| NamedLines { start, end }),
            };
            match super::quote("a.txt", text.as_bytes(), &quote) {
                Located::Found(after) => Ok(String::from_utf8(after).unwrap()),
                Located::Rejected(error) => Err(error.code),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(found(Some((4, 5))).unwrap(), "def f():\n    x = 1\n\ndef g():\n    x = 2\n");
        for lines in [None, Some((1, 5)), Some((3, 3)), Some((90, 99))] {
            assert_eq!(found(lines), Err(Code::AmbiguousMatch), "{lines:?}");
        }
    }

    /// Returns the text of a file after the lines of an update, or the error.
    fn updated(before: &str, update: &str) -> Result<String, Error> {
        let patch = format!("*** Begin Patch\n*** Update File: a.txt\n{update}\n*** End Patch");
        let patch = Patch::parse(&patch).unwrap().with_joined_updates().unwrap();
        let PatchChange::Update { chunks: update, .. } = &patch.files[0].change else { panic!("{patch}") };
        match chunks("a.txt", before.as_bytes(), update) {
            Located::Found(after) => Ok(String::from_utf8(after).unwrap()),
            Located::Rejected(error) => Err(*error),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_header_must_be_a_line_of_the_file() {
        let text = "def f():\n    x = 1\n\ndef g():\n    x = 1\n";
        for chunk in ["-    x = 1\n+    x = 2", "+y = 1"] {
            let error = updated(text, &format!("@@ def nope():\n{chunk}")).unwrap_err();
            assert_eq!(error.code, Code::MatchNotFound, "{chunk}");
            assert!(error.message.contains("`@@ def nope():`"), "{chunk}: {error}");
        }
        let after = updated(text, "@@ def g():\n-    x = 1\n+    x = 2").unwrap();
        assert_eq!(after, "def f():\n    x = 1\n\ndef g():\n    x = 2\n");
    }

    #[test]
    fn the_order_of_exact_chunks_chooses_among_several_places() {
        let text = "def f():\n    x = 1\n\n\ndef g():\n    x = 1\n";
        let (change, one) = ("-    x = 1\n+    x = 2", "def f():\n    x = 2\n\n\ndef g():\n    x = 1\n");
        assert_eq!(updated(text, &format!("@@ def f():\n{change}")).unwrap(), one);
        let below = "@@\n-    x = 1\n+    x = 3";
        let both = "def f():\n    x = 2\n\n\ndef g():\n    x = 3\n";
        assert_eq!(updated(text, &format!("@@\n def f():\n{change}\n{below}")).unwrap(), both);
        // The place of a chunk that differs from the file does not show where the next one is.
        let drifted = updated(text, &format!("@@\n def  f():\n{change}\n{below}"));
        assert_eq!(drifted.unwrap_err().code, Code::AmbiguousMatch);
        assert_eq!(updated(text, &format!("@@\n{change}")).unwrap_err().code, Code::AmbiguousMatch);
        // Another section may be for any place.
        let section = |first: &str, other: &str| {
            updated(text, &format!("{first}\n{change}\n*** Update File: a.txt\n{other}"))
        };
        assert_eq!(section("@@\n def f():", below).unwrap_err().code, Code::AmbiguousMatch);
        let above = "@@ def f():\n-    x = 1\n+    x = 3";
        let both = "def f():\n    x = 3\n\n\ndef g():\n    x = 2\n";
        assert_eq!(section("@@\n def g():", above).unwrap(), both);
    }

    /// Returns the text of a file after the lines of an update without a host, or the error.
    fn updated_alone(before: &str, update: &str) -> Result<String, Error> {
        let patch = format!("*** Begin Patch\n*** Update File: a.txt\n{update}\n*** End Patch");
        let patch = Patch::parse(&patch).unwrap().with_joined_updates().unwrap();
        let PatchChange::Update { chunks: update, .. } = &patch.files[0].change else { panic!("{patch}") };
        updated_bytes("a.txt", before.as_bytes(), update).map(|after| String::from_utf8(after).unwrap())
    }

    #[test]
    fn without_a_host_chunks_that_fit_in_one_way_only_are_placed() {
        let text = "def a():\n    x = 1\n    y = 2\n\ndef b():\n    x = 1\n    y = 2\n";
        let (one, y) = ("@@\n     x = 1\n-    y = 2\n+    y = 5", "    y = 2\n");
        let [first, second] = [text.replacen(y, "    y = 5\n", 1), text.replace(y, "    y = 5\n")];
        let last_only = first.replace("y = 2", "y = 6").replace("y = 5", "y = 2").replace("y = 6", "y = 5");
        let b = |after: &str| after.replace("def b()", "def c()");
        let (below, tail) = ("@@\n-def b():\n+def c():", format!("{text}# end\n"));
        for (before, update, after) in [
            (text, format!("{one}\n{one}"), &second),
            (text, format!("{one}\n{below}"), &b(&first)),
            (text, format!("{below}\n{one}"), &b(&last_only)),
            (text, format!("{one}\n@@ def b():\n{}", one.trim_start_matches("@@\n")), &second),
            (text, format!("{one}\n@@ def b():\n+# end"), &format!("{first}# end\n")),
            (text, format!("{one}\n{one}\n@@\n+# end"), &format!("{second}# end\n")),
            (
                text.replace("x = 1", "x = 1 ").as_str(),
                format!("{one}\n{one}"),
                &second.replace("x = 1", "x = 1 "),
            ),
            (tail.as_str(), format!("{one}\n{one}\n@@\n-# end\n+# END"), &format!("{second}# END\n")),
        ] {
            assert_eq!(&updated_alone(before, &update).unwrap(), after, "{update}");
        }
        // Another choice is possible: a third place, another section, or a chunk that is not found.
        let third = format!("{text}\ndef c():\n    x = 1\n    y = 2\n");
        let section = format!("{one}\n*** Update File: a.txt\n{one}");
        let drifted = format!("@@\n-nothing like it\n+x\n{one}");
        for (before, update, code, named) in [
            (&third, format!("{one}\n{one}"), Code::AmbiguousMatch, "chunk 1 (\"x = 1\"): "),
            (
                &third,
                format!("@@\n-def a():\n+def z():\n{one}"),
                Code::AmbiguousMatch,
                "chunk 2 (\"x = 1\"): ",
            ),
            (&text.to_owned(), section, Code::AmbiguousMatch, "chunk 1 (\"x = 1\"): "),
            (&text.to_owned(), drifted, Code::MatchNotFound, "chunk 1 (\"nothing like it\"): "),
            (&text.to_owned(), format!("{one}\n{one}\n{one}"), Code::AmbiguousMatch, "chunk 1 (\"x = 1\"): "),
        ] {
            let error = updated_alone(before, &update).unwrap_err();
            assert_eq!(error.code, code, "{update}: {error}");
            assert!(error.message.starts_with(named), "{update}: {error}");
        }
        // The control: the patch of a host, whose tool counts both places.
        assert_eq!(updated(text, &format!("{one}\n{one}")).unwrap_err().code, Code::AmbiguousMatch);
    }

    #[test]
    fn without_a_host_line_numbers_are_no_header() {
        let change = "-x = 1\n+x = 2";
        for header in ["-1,2 +1,2 @@", "-1 +1 @@", "-12,7 +12,8 @@ fn f()"] {
            let update = format!("@@ {header}\n{change}");
            assert_eq!(updated_alone("x = 1\n", &update).unwrap(), "x = 2\n", "{header}");
            // The control: a host's tool looks for them as a line.
            assert_eq!(updated("x = 1\n", &update).unwrap_err().code, Code::MatchNotFound, "{header}");
        }
        for header in ["-1,2 +1,2", "-a +1 @@", "- + @@", "-1, +1 @@", "1 1 @@"] {
            let error = updated_alone("x = 1\n", &format!("@@ {header}\n{change}")).unwrap_err();
            assert_eq!(error.code, Code::MatchNotFound, "{header}");
        }
        // Without a quote, the place is not known.
        let error = updated_alone("x = 1\ny\n", "@@ -1,0 +2 @@\n+x = 2").unwrap_err();
        assert_eq!(error.code, Code::MatchNotFound);
        assert!(error.hint.unwrap().contains("quote a line beside the new ones"));
    }

    #[test]
    fn a_chunk_is_below_the_exact_chunk_before_it() {
        let both = "@@\n-mid\n+MID\n@@\n-x = 1;\n+x = 2;";
        assert_eq!(updated("x = 1;\nmid\nx = 1; \n", both).unwrap(), "x = 1;\nMID\nx = 2; \n");
        for text in ["x = 1;\nx = 1;\nmid\nend\n", "y\nmid\n", "x = 1;\nx = 1;\nmid\n"] {
            assert_eq!(updated(text, both).unwrap_err().code, Code::MatchNotFound, "{text:?}");
        }
        // The chunks are in another order than the file, unless the text is below, with other blanks.
        assert_eq!(updated("x = 1;\nmid\nend\n", both).unwrap(), "x = 2;\nMID\nend\n");
        assert_eq!(updated("x = 1;\nmid\n", both).unwrap(), "x = 2;\nMID\n");
        assert_eq!(updated("x = 1;\nmid\n  x = 1;\n", both).unwrap(), "x = 1;\nMID\n  x = 2;\n");
        // A drifted chunk between them does not change this.
        let three = "@@\n-mid\n+MID\n@@\n-say(one)\n+say(two)\n@@\n-x = 1;\n+x = 2;";
        let after = updated("x = 1;\nmid\nsay(one) \nx = 1; \n", three).unwrap();
        assert_eq!(after, "x = 1;\nMID\nsay(two) \nx = 2; \n");
        // Another section may be for any place.
        let section = both.replace("\n@@\n-x", "\n*** Update File: a.txt\n@@\n-x");
        assert_eq!(updated("x = 1;\nmid\nend\n", &section).unwrap(), "x = 2;\nMID\nend\n");
        let twice = "@@\n-x = 1;\n+x = 2;\n@@\n-x = 1;\n+x = 3;";
        assert_eq!(updated("x = 1;\nend\n", twice).unwrap_err().code, Code::RangeOverlap);
    }

    #[test]
    fn a_chunk_is_below_the_chunk_before_it_that_differs_in_blanks() {
        let both = "@@\n-mid\n+MID\n@@\n-x = 1\n+x = 2";
        for (text, after) in [
            ("x = 1\nmid \nx = 1\n", "x = 1\nMID \nx = 2\n"),
            ("x = 1\n  mid\nx = 1\n", "x = 1\n  MID\nx = 2\n"),
            ("x = 1\nmid \n  x = 1\n", "x = 1\nMID \n  x = 2\n"),
            ("x = 1\nmid \nend\n", "x = 2\nMID \nend\n"),
        ] {
            assert_eq!(updated(text, both).unwrap(), after, "{text:?}");
        }
        // Of several places, none is known to be the chunk's.
        let error = updated("x = 1\nmid \nx = 1\nmid \n", "@@\n mid\n@@\n-x = 1\n+x = 2").unwrap_err();
        assert_eq!(error.code, Code::AmbiguousMatch);
    }

    #[test]
    fn a_chunk_below_its_header_need_not_be_exact() {
        let chunk = "@@ f {\n-f {\n+g {";
        assert_eq!(updated("f {\nx\n  f {\n", chunk).unwrap(), "f {\nx\n  g {\n");
        assert_eq!(updated("f {\nx\n}\n", chunk).unwrap(), "g {\nx\n}\n", "the control: a repeated header");
    }

    #[test]
    fn lines_without_a_quote_are_added_before_a_blank_last_line() {
        assert_eq!(updated("a\n\n", "@@\n+c").unwrap(), "a\nc\n\n");
        assert_eq!(updated("a\n", "@@\n+c").unwrap(), "a\nc\n");
    }

    #[test]
    fn a_header_is_the_first_line_below_the_chunk_before_it_that_is_exact() {
        let both = "@@\n-mid\n+MID\n@@ f()\n-x = 1\n+x = 2";
        let text = "f()\nx = 1\nmid\nf()\nx = 1 \n";
        assert_eq!(updated(text, both).unwrap(), "f()\nx = 1\nMID\nf()\nx = 2 \n");
        let error = updated("f()\nx = 1\nmid\nx = 1 \n", both).unwrap_err();
        assert_eq!(error.code, Code::MatchNotFound);
        assert!(error.message.contains("below line 3") && error.message.contains("`@@ f()`"), "{error}");
        let text = "  f()\n  x = 1\nf()\nx = 1 \n";
        assert_eq!(updated(text, "@@ f()\n-x = 1\n+x = 2").unwrap(), "  f()\n  x = 1\nf()\nx = 2 \n");
        // Codex takes a byte order mark for a part of the first line.
        let text = "\u{feff}f()\nx = 1\nf()\nx = 1\n";
        let after = updated(text, "@@ f()\n-x = 1\n+x = 2").unwrap();
        assert_eq!(after, "\u{feff}f()\nx = 1\nf()\nx = 2\n");
    }

    #[test]
    fn only_a_whole_quote_or_an_insertion_shows_where_the_next_chunk_is() {
        let text = "x = 1\nend\nx = 1\n";
        let below = "@@\n-x = 1\n+x = 2";
        // The blank line of the quote is not in the file.
        let shortened = updated(text, &format!("@@\n-end\n-\n+END\n{below}"));
        assert!(shortened.is_err(), "{shortened:?}");
        let after = updated(text, &format!("@@ end\n+last\n{below}")).unwrap();
        assert_eq!(after, "x = 1\nend\nx = 2\nlast\n");
        let after = updated("a\nend\n", "@@\n+last\n@@\n-a\n+A").unwrap();
        assert_eq!(after, "A\nend\nlast\n");
    }

    #[test]
    fn a_chunk_of_blank_lines_needs_one_place() {
        assert_eq!(updated("a\n\nb\n", "@@\n-\n+x").unwrap(), "a\nx\nb\n");
        assert_eq!(updated("a\r\n\r\nb\r\n", "@@\n \n+x").unwrap(), "a\r\n\r\nx\r\nb\r\n");
        assert_eq!(updated("a\n\nb\n\nc\n", "@@ b\n-\n+x").unwrap(), "a\n\nb\nx\nc\n");
        for (text, code) in [
            ("a\nb\n", Code::MatchNotFound),
            ("a\n\nb\n\n", Code::AmbiguousMatch),
            ("a\n\n\nb\n", Code::AmbiguousMatch),
        ] {
            assert_eq!(updated(text, "@@\n-\n+x").unwrap_err().code, code, "{text:?}");
        }
    }

    #[test]
    fn a_chunk_that_ends_the_file_is_looked_for_there() {
        let end = "*** End of File";
        for (text, chunk, after) in [
            ("x\ny\nx\n", "-x\n+X", "x\ny\nX\n"),
            ("a\nx\n\na\nx\n", " a\n-x\n+X", "a\nx\n\na\nX\n"),
            ("a\n\nb\n\n", "-\n+x", "a\n\nb\nx\n"),
        ] {
            assert_eq!(updated(text, &format!("@@\n{chunk}\n{end}")).unwrap(), after, "{text:?}");
        }
        for (text, chunk) in [("x\ny\n", "@@\n-x\n+X"), ("a\nx\ny\n", "@@ a\n-x\n+X")] {
            assert!(updated(text, chunk).is_ok(), "the control: {text:?}");
            let error = updated(text, &format!("{chunk}\n{end}")).unwrap_err();
            assert_eq!(error.code, Code::MatchNotFound, "{text:?}");
        }
    }

    #[test]
    fn a_blank_line_above_tells_two_places_apart() {
        assert_eq!(updated("a\nend\n\nend\n", "@@\n \n-end\n+END").unwrap(), "a\nend\n\nEND\n");
        let error = updated("a\n\nend\n\nend\n", "@@\n \n-end\n+END").unwrap_err();
        assert_eq!(error.code, Code::AmbiguousMatch);
    }
}
