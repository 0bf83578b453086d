//! Finds a line or a block of lines that is repeated at the edge of the edit.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::lexical_syntax::TextKind;
use super::lexis::LexicalPart;
use super::text_pair::{DamageFinding, MAX_FINDINGS, TextPair};
use crate::pieces::ReplacedLines;

/// The most lines at which a block that was doubled before may begin, or eight times the lines of the new one.
const MAX_STARTS: usize = 400;

/// Lines that valid texts repeat.
static COMMON: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let lines = "\
        end|else|else:|fi|done|esac|then|begin|break|break;|continue|continue;|return|return;|pass|default:|\
        try:|try|do|finally:|endif|return nil";
    lines.split('|').collect()
});

pub(super) fn look(texts: &TextPair<'_>) -> Vec<DamageFinding> {
    if texts.before.is_none() || matches!(texts.kind, TextKind::Patch) {
        return Vec::new();
    }
    texts.pieces.iter().filter_map(|piece| doubled(texts, piece)).take(MAX_FINDINGS).collect()
}

fn doubled(texts: &TextPair<'_>, piece: &ReplacedLines) -> Option<DamageFinding> {
    let (size, line) = smallest(texts, piece)?;
    if was_doubled(texts, piece, size, line) {
        return None;
    }
    let what = match size {
        1 => format!("line {line} repeats line {}", line - 1),
        _ => format!("lines {line}-{} repeat lines {}-{}", line + size - 1, line - size, line - 1),
    };
    let message = format!("{what}, at the edge of the edit; keep one of them");
    Some(DamageFinding { line, column: 1, message })
}

/// Returns the smallest block that is doubled at an edge of the piece and says enough: its size, and the first line of its
/// second copy. The edit wrote a part of it.
fn smallest(texts: &TextPair<'_>, piece: &ReplacedLines) -> Option<(usize, usize)> {
    let (first, last) = piece.new;
    let length = (last + 1).checked_sub(first).filter(|length| *length > 0)?;
    let [above, below] = [first, last + 1].map(|edge| sizes(texts, edge, length));
    let is_above = |size: &usize| above.binary_search(size).is_ok();
    let at_edges = [(&above, first), (&below, last + 1)].into_iter().filter_map(|(sizes, line)| {
        let least = fewest_lines(texts, line, *sizes.last()?)?;
        let enough = sizes.get(sizes.partition_point(|size| *size < least)..)?;
        // A block above hides one of its size below.
        let size = enough.iter().find(|size| line == first || !is_above(size))?;
        Some((*size, line))
    });
    let at_edges = at_edges.min_by_key(|(size, _)| *size);
    let is_at_edge = is_above(&length) || below.binary_search(&length).is_ok();
    at_edges.or_else(|| {
        let line = rotated(texts, piece, length).filter(|_| !is_at_edge)?;
        fewest_lines(texts, line, length).map(|_| (length, line))
    })
}

/// Returns the sizes of the blocks above a line that are repeated from this line on, in ascending order.
///
/// The line is read as a place of a search for the text below it in the text above it: what matches there at the end is
/// such a block, and so is each of its prefixes that is its suffix as well.
fn sizes(texts: &TextPair<'_>, line: usize, longest: usize) -> Vec<usize> {
    let after = texts.after;
    let longest = longest.min(line - 1).min((after.count() + 1).saturating_sub(line));
    let mut prefixes: Vec<usize> = vec![0];
    let shorter = |prefixes: &[usize], size: usize| {
        size.checked_sub(1).and_then(|at| prefixes.get(at)).copied().unwrap_or_default()
    };
    // The longest prefix that ends with a further line, if `size` lines of it match up to there.
    let grown = |prefixes: &[usize], mut size: usize, text: &str| loop {
        if size < longest && after.text(line + size) == text {
            return size + 1;
        }
        if size == 0 {
            return 0;
        }
        size = shorter(prefixes, size);
    };
    for at in 1..longest {
        let size = grown(&prefixes, shorter(&prefixes, at), after.text(line + at));
        prefixes.push(size);
    }
    let above = line - longest..line;
    let mut size = above.fold(0, |size, at| grown(&prefixes, size, after.text(at)));
    let mut sizes = Vec::new();
    while size > 0 {
        sizes.push(size);
        size = shorter(&prefixes, size);
    }
    sizes.reverse();
    sizes
}

/// Returns the first line of the second copy of a block that was inserted next to its copy: the diff of such an insertion may
/// start at any of its lines.
fn rotated(texts: &TextPair<'_>, piece: &ReplacedLines, size: usize) -> Option<usize> {
    let (first, last) = piece.new;
    let equal = |one: usize, other: usize| {
        one >= 1 && other <= texts.after.count() && texts.after.text(one) == texts.after.text(other)
    };
    let back = (1..=size).take_while(|step| first > *step && equal(first - step, last + 1 - step)).count();
    let on = (1..=size).take_while(|step| equal(first + step - 1, last + step)).count();
    (back + on >= size && back < size).then(|| first + size - back)
}

/// Returns the least size of a block from this line on whose repetition is hardly intended; blank lines, brackets and rows of
/// data do not count. None if no block of at most `most` lines is so.
fn fewest_lines(texts: &TextPair<'_>, start: usize, most: usize) -> Option<usize> {
    let in_string = texts.part_of_line(start) == LexicalPart::Text;
    let (least_telling, least_length) = match texts.kind {
        TextKind::Data if in_string => return None,
        TextKind::Data => (3, 0),
        TextKind::Prose if !texts.is_fenced(start) => (1, 9),
        TextKind::Code if in_string => (1, 21),
        TextKind::Prose | TextKind::Code | TextKind::Patch | TextKind::Unknown => (1, 0),
    };
    let (mut telling, mut longest) = (0, 0);
    (1..=most).find(|size| {
        let text = texts.after.text(start + size - 1).trim();
        telling += usize::from(tells(texts, text));
        longest = longest.max(text.len());
        telling >= least_telling && longest >= least_length
    })
}

fn tells(texts: &TextPair<'_>, text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let table = texts.kind == TextKind::Prose && text.starts_with(['|', '+', '<']);
    letters > 2 && !table && !text.starts_with("</") && !COMMON.contains(text)
}

/// True if the text before already had such a pair, in or next to the replaced lines.
fn was_doubled(texts: &TextPair<'_>, piece: &ReplacedLines, size: usize, line: usize) -> bool {
    let Some(before) = texts.before else { return false };
    let from = piece.old.0.saturating_sub(2 * size).max(1);
    let to = (piece.old.1 + 2 * size).min(before.count()).min(from + MAX_STARTS.max(8 * size) - 1);
    let text = texts.after.text(line);
    // A block is repeated behind it if as many lines in a row are the lines that follow them at its distance.
    let mut row = 0;
    (from..to + size).take_while(|line| line + size <= before.count()).any(|line| {
        row = if before.text(line) == before.text(line + size) { row + 1 } else { 0 };
        row >= size && before.text(line + 1 - size) == text
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::damage::tests::findings;
    use lockgate_policy::Accident;
    use lockgate_sandbox::processor_time;

    fn found(before: &str, after: &str) -> Vec<String> {
        let findings = findings(Accident::DoubledLines, "a.py", Some(before), after);
        findings.into_iter().map(|finding| finding.message).collect()
    }

    fn body(lines: usize) -> String {
        (0..lines).map(|line| format!("    step_{line}(a)\n")).collect()
    }

    #[test]
    fn long_blocks_that_are_doubled_are_found() {
        for lines in [1, 39, 40, 41, 56, 300] {
            let (head, body, tail) = ("def f(a):\n", body(lines), "\n\ndef g(b):\n    return b\n");
            let before = format!("{head}{body}{tail}");
            assert_eq!(found(&before, &format!("{head}{body}{body}{tail}")).len(), 1, "{lines} lines");
            assert_eq!(found(&before, &format!("{before}{before}")).len(), 1, "a file of {lines} lines");
            // A block that begins and ends with blank lines.
            let spaced = format!("{head}\n{body}\n{tail}");
            assert_eq!(
                found(&spaced, &format!("{head}\n{body}\n\n{body}\n{tail}")).len(),
                1,
                "{lines} lines"
            );
        }
        let long = body(56);
        let more = format!("def f(a):\n{long}");
        assert_eq!(
            found(&more, &format!("{more}{long}")),
            ["lines 58-113 repeat lines 2-57, at the edge of the edit; keep one of them"]
        );
    }

    #[test]
    fn long_blocks_that_differ_or_were_doubled_are_none() {
        let (one, blank) = (body(56), "\n".repeat(100));
        let other = one.replace("step_30", "step_31");
        assert_eq!(found(&one, &format!("{one}{other}")), [""; 0], "one line differs");
        assert_eq!(found(&one, &format!("{one}{blank}")), [""; 0], "blank lines");
        let twice = format!("{one}{one}");
        assert_eq!(found(&twice, &format!("{one}{one}{one}")), [""; 0], "it was doubled before");
        assert_eq!(found("x = 1\n", &twice), [""; 0], "not at the edge");
    }

    #[test]
    fn blocks_are_compared_in_linear_time() {
        // Blank lines match everywhere and say nothing; rows of several lines match at each of their beginnings.
        for row in ["\n", "}\n", "\n}\n)\n", "\n}\n\n}\n\n\n"] {
            let time = |count: usize| {
                let (before, after) = (row.repeat(count), row.repeat(2 * count));
                let start = processor_time();
                found(&before, &format!("{after}x = 1\n"));
                processor_time().saturating_sub(start)
            };
            let (short, long) = (time(4_000), time(64_000));
            assert!(long < short * 64 + Duration::from_millis(500), "{row:?}: {short:?} and {long:?}");
        }
    }
}
