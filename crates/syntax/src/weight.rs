//! Estimates the duration of a parser step.
//!
//! The HTML grammar keeps the names of the open elements and scans them for each token: with 8,000 open
//! elements a step takes a hundred times as long. The number of tags, except void ones, bounds the
//! number of elements open at once.
//!
//! The Python grammar reads to the end of a block of comments for each line of it, to find the next indentation. The
//! HTML grammar reads to the end of the text for each comment that does not end.

/// This many open elements double the duration of a step.
const DOUBLING: usize = 70;

const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track",
    "wbr",
];

/// Returns the number of steps to charge for each parser step in this text.
pub(super) fn of_html(text: &str) -> usize {
    let opened = memchr::memchr_iter(b'<', text.as_bytes()).filter(|at| {
        let after = text.get(at + 1..).unwrap_or_default();
        let end = after.bytes().take(8).take_while(u8::is_ascii_alphanumeric).count();
        let name = after.get(..end).unwrap_or_default();
        after.starts_with(char::is_alphabetic) && !VOID.iter().any(|void| void.eq_ignore_ascii_case(name))
    });
    1 + opened.count() / DOUBLING
}

/// A step of the parser takes as long as this many bytes of comments that are read ahead; about a tenth of what was
/// measured, since such a step cannot be ended.
const READ_AHEAD: usize = 2000;

/// Returns the number of steps to charge for the comments of a Python text before it is parsed: for each comment, half
/// of the block that it stands in.
pub(super) fn of_python_comments(text: &str) -> usize {
    let (mut steps, mut comments, mut size) = (0_usize, 0_usize, 0_usize);
    for line in text.split_inclusive('\n') {
        match line.trim_ascii_start().as_bytes().first() {
            Some(b'#') => (comments, size) = (comments + 1, size + line.len()),
            None => size += line.len(),
            Some(_) => {
                steps = steps.saturating_add(comments.saturating_mul(size / 2) / READ_AHEAD);
                (comments, size) = (0, 0);
            }
        }
    }
    steps.saturating_add(comments.saturating_mul(size / 2) / READ_AHEAD)
}

/// A step of the HTML parser takes as long as this many bytes of comments; a fifth of what was measured, since the search for
/// the end of a comment cannot be ended.
const COMMENT_BYTES: usize = 200;

/// Returns the number of steps to charge for the comments of an HTML text that do not end, before it is parsed.
pub(super) fn of_html_comments(text: &str) -> usize {
    let after_last = text.rfind("-->").map_or(0, |end| end + 3);
    let rest = text.get(after_last..).unwrap_or_default();
    let read = rest.match_indices("<!--").map(|(at, _)| rest.len() - at);
    read.sum::<usize>() / COMMENT_BYTES
}

/// The HTML grammar serializes the open elements into a buffer of 1,024 bytes and drops what does not
/// fit.
const MAX_OPEN: usize = 1000;

/// True if the HTML grammar may have reported an end tag as an error because it had dropped the
/// element.
pub(super) fn html_forgets(text: &str) -> bool {
    let (mut open, mut most) = (0_usize, 0);
    for at in memchr::memchr_iter(b'<', text.as_bytes()) {
        let tag = text.get(at + 1..).unwrap_or_default();
        let (closes, tag) = tag.strip_prefix('/').map_or((false, tag), |tag| (true, tag));
        let length = tag.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'-').count();
        let name = tag.get(..length).unwrap_or_default();
        if length == 0 || VOID.iter().any(|void| void.eq_ignore_ascii_case(name)) {
            continue;
        }
        // The kind of an element; for an unknown one also its name and the name's length.
        open = if closes { open.saturating_sub(length + 2) } else { open + length + 2 };
        most = most.max(open);
    }
    most > MAX_OPEN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_forgotten_only_where_many_are_open() {
        let nested = |levels: usize| "<i>".repeat(levels) + &"</i>".repeat(levels);
        assert_eq!([300, 400].map(|levels| html_forgets(&nested(levels))), [false, true]);
        assert!(!html_forgets(&"<p>a</p><br>\n<a-b></a-b> < ".repeat(1000)));
    }

    #[test]
    fn a_block_of_comments_costs_the_square_of_its_length() {
        let block = |lines: usize| "    # a comment\n".repeat(lines);
        assert_eq!(of_python_comments("a = 1  # not a line of its own\n".repeat(10_000).as_str()), 0);
        assert!(of_python_comments(&block(400)) < 1000, "an ordinary licence");
        let (one, two) = (of_python_comments(&block(10_000)), of_python_comments(&block(20_000)));
        assert!((3 * one..5 * one).contains(&two), "{one} {two}");
        let apart = format!("{}a = 1\n", block(400)).repeat(25);
        assert!(of_python_comments(&apart) < one / 20);
    }

    #[test]
    fn what_may_be_open_weighs() {
        let weight = |piece: &str| of_html(&piece.repeat(DOUBLING));
        assert_eq!(["<br>", "< a", "</a>", "a", "<BR/>"].map(weight), [1; 5]);
        assert_eq!(["<a>", "<brr>", "<\u{e9}>", "<inputs", "<br-a>"].map(weight), [2, 2, 2, 2, 1]);
    }
}
