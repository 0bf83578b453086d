//! Finds a closing tag of a tool call, such as `</new_string>`, that is the last new line of an edit.
//!
//! Where the text before or after opens such an element, it is part of the text.

use super::super::lexical_syntax::TextKind;
use super::super::lexis::LexicalPart;
use super::super::text_pair::{DamageFinding, MAX_FINDINGS, TextPair, indent};
use crate::pieces::ReplacedLines;
use lockgate_text::Buffer;

/// The elements of the calls of tools.
const ELEMENTS: [&str; 9] = [
    "new_string",
    "old_string",
    "new_str",
    "old_str",
    "file_text",
    "function_calls",
    "antml:parameter",
    "antml:invoke",
    "antml:function_calls",
];

/// Elements that other documents have as well.
const COMMON: [&str; 3] = ["content", "parameter", "invoke"];

/// Returns a finding for each piece whose new lines end with such tags.
pub(super) fn look(texts: &TextPair<'_>) -> Vec<DamageFinding> {
    let tags = texts.pieces.iter().filter_map(|piece| last_tag(texts, piece)).take(MAX_FINDINGS);
    let texts_of_edit = || std::iter::once(texts.draft.after).chain(texts.draft.before);
    tags.filter(|(_, name)| !texts_of_edit().any(|text| opens(text, name)))
        .map(|(line, name)| {
            let message =
                format!("`</{name}>` is the end of a tool call, not of the text; send the text without it");
            texts.finding_at(line, indent(texts.after.text(line)).len(), message)
        })
        .collect()
}

/// Returns the first of the tags at the end of a piece's new lines, with its line and its name.
fn last_tag<'t>(texts: &TextPair<'t>, piece: &ReplacedLines) -> Option<(usize, &'t str)> {
    let lines = piece.new_lines().rev().filter(|line| !texts.after.text(*line).trim().is_empty());
    lines.map_while(|line| Some((line, leaked(texts, line)?))).last()
}

/// Returns the name of a closing tag of a call that is a line of its own.
fn leaked<'t>(texts: &TextPair<'t>, line: usize) -> Option<&'t str> {
    // A leaked tag has no indentation.
    let tag = texts.after.text(line).trim_end();
    let name = tag.strip_prefix("</")?.strip_suffix('>')?;
    let is_element = ELEMENTS.contains(&name) || COMMON.contains(&name) && !may_be_a_fragment(texts);
    let is_leaked = is_element
        && !texts.was_there(tag)
        && !texts.is_fenced(line)
        && texts.part_of_line(line) == LexicalPart::Code;
    is_leaked.then_some(name)
}

/// True for a document of tags, whose elements another file may open.
fn may_be_a_fragment(texts: &TextPair<'_>) -> bool {
    match texts.kind {
        TextKind::Code | TextKind::Patch => false,
        TextKind::Data => texts.language() == "xml",
        TextKind::Prose | TextKind::Unknown => !matches!(texts.language(), "markdown" | "text"),
    }
}

/// True if a text has an opening tag with this name.
fn opens(text: &Buffer, name: &str) -> bool {
    let is_end_of_name = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || "_-:".contains(c));
    text.view().split('<').skip(1).filter_map(|tag| tag.strip_prefix(name)).any(is_end_of_name)
}

#[cfg(test)]
mod tests {
    use crate::damage::tests::findings;
    use lockgate_policy::Accident;

    fn found(path: &str, before: Option<&str>, after: &str) -> usize {
        findings(Accident::LinePrefixes, path, before, after).len()
    }

    #[test]
    fn closing_tags_of_calls_are_found() {
        for (path, before, after) in [
            ("a.md", Some("# A\n\nb\n"), "# A\n\nb c\n</new_string>\n"),
            ("a.md", Some("# A\n\nb\n"), "# A\n\nb\n</new_string>\n"),
            ("a.txt", None, "hello\n</content>\n"),
            ("a.py", None, "def f():\n    pass\n</content>\n</invoke>\n"),
            ("a.js", Some("f();\n"), "f();\ng();\n</parameter>\n"),
            ("a.html", Some("<p>a</p>\n"), "<p>b</p>\n</new_string>\n"),
            ("a.tsx", Some("const a = <p>b</p>;\n"), "const a = <p>c</p>;\n</old_string>\n"),
            ("a.rs", Some("fn f() {}\n"), "fn f() {}\nfn g() {}\n</function_calls>\n"),
        ] {
            assert_eq!(found(path, before, after), 1, "{path}: {after}");
        }
    }

    #[test]
    fn closing_tags_that_belong_to_the_text_are_not() {
        for (path, before, after) in [
            ("a.xml", Some("<content>\n<a/>\n"), "<content>\n<b/>\n</content>\n"),
            ("a.md", Some("# A\n"), "# A\n\n<content>\nb\n</content>\n"),
            ("a.md", Some("# A\n"), "# A\n\n<parameter name=\"a\">\nb\n</parameter>\n"),
            ("a.md", Some("# A\n\n```\nb\n```\n"), "# A\n\n```\nb c\n</new_string>\n```\n"),
            ("a.md", Some("# A\n\n</content>\n"), "# A\n\nb\n\n</content>\n"),
            ("a.md", Some("# A\n"), "# A\n\nIt ends with\n`</new_string>`\n"),
            ("a.py", Some("a = 1\n"), "a = \"\"\"\nb\n</content>\n\"\"\"\n"),
            ("a.py", Some("a = 1\n"), "a = 1\n# The end is\n# </content>\n"),
            ("a.html", Some("<p>a</p>\n"), "<p>b</p>\n</content>\n"),
            ("footer.php", None, "</content>\n"),
            ("a.tsx", Some("f();\n"), "const a = (\n<Content>\nb\n</Content>\n);\n"),
            ("a.svelte", Some("<p>a</p>\n"), "<p>a</p>\n</content>\n"),
            ("a.md", Some("# A\n"), "# A\n\n</content>\n\nmore\n"),
        ] {
            assert_eq!(found(path, before, after), 0, "{path}: {after}");
        }
    }
}
