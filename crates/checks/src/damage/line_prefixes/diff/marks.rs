//! The mark of a line in a diff.

/// Returns the mark at the start of a line, and the rest of the line.
pub(super) fn marked(text: &str) -> Option<(char, &str)> {
    let mark = text.chars().next().filter(|mark| matches!(mark, '+' | '-'))?;
    let rest = text.get(1..)?;
    // `--` is a comment in many languages, `---` a rule or the start of a page, `->` an arrow.
    let other = rest.starts_with(mark) || rest.starts_with(['=', '>']) || rest.trim().is_empty();
    (!other).then_some((mark, rest))
}
