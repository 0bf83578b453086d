//! Recognizes templates, whose tags `{{ ... }}` and `{% ... %}` are replaced before the text is parsed, as in Helm charts,
//! Jinja and cookiecutter.
//!
//! Invariant: a text counts as a template only if its tags stop the parser: without the tags the parser must read further.
//! So a fault next to a tag remains a fault.

use std::ops::Range;

use crate::path::folder;

/// The names of folders that contain templates.
const FOLDERS: [&str; 4] = ["templates", "template", "chart", "charts"];

/// The words that begin a statement of Go templates.
const STATEMENTS: [&str; 10] =
    ["if", "else", "end", "range", "with", "define", "block", "template", "include", "break"];

/// The most tags of a text that are checked.
const MAX_TAGS: usize = 10_000;

/// The longest tag, in bytes.
const LONGEST: usize = 2_000;

/// A tag of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TemplateTag {
    span: Range<usize>,
    kind: TagKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TagKind {
    /// A statement, a comment, or a value that trims the space around it; only templates have these.
    Statement,
    /// A value with a path that only Go templates use, as in `{{ .Values.name }}`.
    Path,
    /// A value, as in `{{ name }}`, which may also be braces of the language itself.
    Value,
}

/// Returns the tags of a text. `${{` does not begin a tag: expressions of GitHub workflows are valid YAML values.
pub(super) fn tags(text: &str) -> Vec<TemplateTag> {
    let mut tags = Vec::new();
    let mut from = 0;
    while tags.len() < MAX_TAGS
        && let Some(found) = memchr::memchr(b'{', text.as_bytes().get(from..).unwrap_or_default())
    {
        let at = from + found;
        from = at + 1;
        if text.get(..at).is_some_and(|before| before.ends_with('$')) {
            continue;
        }
        if let Some(tag) = tag_at(text, at) {
            from = tag.span.end;
            tags.push(tag);
        }
    }
    tags
}

fn tag_at(text: &str, at: usize) -> Option<TemplateTag> {
    let rest = text.get(at..)?;
    let close = match rest.as_bytes().get(1)? {
        b'{' => "}}",
        b'%' => "%}",
        b'#' => "#}",
        _ => return None,
    };
    let end = rest.get(2..rest.floor_char_boundary(LONGEST))?.find(close)? + 2;
    let inside = rest.get(2..end)?;
    let kind = if close == "}}" { value(inside)? } else { TagKind::Statement };
    Some(TemplateTag { span: at..at + end + 2, kind })
}

/// Returns the kind of a tag between two pairs of braces; `None` for a map of the language itself.
fn value(inside: &str) -> Option<TagKind> {
    let trims = inside.starts_with('-') || inside.ends_with('-') || inside.starts_with("/*");
    let content = inside.trim_matches(['-', '~']).trim();
    let word = content.split(|character: char| !character.is_alphanumeric() && character != '_').next()?;
    let is_map = content.contains(['{', '}']) || content.replace(":=", "").contains(':');
    match content.chars().next()? {
        _ if trims || STATEMENTS.contains(&word) => Some(TagKind::Statement),
        '.' | '$' => Some(TagKind::Path),
        first if (first.is_alphabetic() || first == '_') && !is_map => Some(TagKind::Value),
        _ => None,
    }
}

/// Returns the text with its tags replaced: statements and tags alone on a line become blank, every other tag becomes a
/// value. Lines keep their numbers.
pub(super) fn filled(language: &str, text: &str, tags: &[TemplateTag]) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut at = 0;
    for tag in tags {
        filled.push_str(text.get(at..tag.span.start).unwrap_or_default());
        let inside = text.get(tag.span.clone()).unwrap_or_default();
        let blank = tag.kind == TagKind::Statement || is_alone(text, &tag.span);
        let (first, rest) = match (blank, language) {
            (true, _) => (' ', ' '),
            (false, "json" | "jsonc" | "toml") => ('0', ' '),
            (false, _) => ('x', 'x'),
        };
        filled.push(first);
        filled.extend(inside.chars().skip(1).map(|character| if character == '\n' { '\n' } else { rest }));
        at = tag.span.end;
    }
    filled.push_str(text.get(at..).unwrap_or_default());
    filled
}

/// True for a tag with only white space next to it on its lines.
fn is_alone(text: &str, span: &Range<usize>) -> bool {
    // Only the white space is read: a line may be as long as the text and have as many tags.
    let is_blank = |c: char| c != '\n' && c.is_whitespace();
    let before = text.get(..span.start).unwrap_or_default().trim_end_matches(is_blank);
    let after = text.get(span.end..).unwrap_or_default().trim_start_matches(is_blank);
    (before.is_empty() || before.ends_with('\n')) && (after.is_empty() || after.starts_with('\n'))
}

/// True if the path of a text marks it as a template.
pub(super) fn is_named(path: &str) -> bool {
    path.contains("{{") || path.contains("{%") || folder(path).split('/').any(|name| FOLDERS.contains(&name))
}

/// True if these lines, given as a range of offsets, have a tag that only templates have.
pub(super) fn is_marked(tags: &[TemplateTag], lines: &Range<usize>) -> bool {
    let overlaps = |tag: &&TemplateTag| tag.span.start < lines.end && tag.span.end > lines.start;
    tags.iter().filter(overlaps).any(|tag| tag.kind != TagKind::Value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TagKind> {
        tags(text).into_iter().map(|tag| tag.kind).collect()
    }

    #[test]
    fn tags_differ_from_braces_of_the_language() {
        for text in [
            "{{- if .x }}",
            "{{ end }}",
            "{% for a in b %}",
            "{# c #}",
            "{{/* c */}}",
            "{{ include \"a\" . }}",
        ] {
            assert_eq!(kinds(text), [TagKind::Statement], "{text}");
        }
        for text in ["{{ .Values.a }}", "{{.a}}", "{{ $x }}"] {
            assert_eq!(kinds(text), [TagKind::Path], "{text}");
        }
        for text in ["{{ a }}", "{{a.b | upper}}", "{{ a(1, 2) }}"] {
            assert_eq!(kinds(text), [TagKind::Value], "{text}");
        }
        for text in ["${{ a }}", "{{\"a\": 1}}", "{{a: 1}}", "{{}}", "{{ a", "{a}", "{", "{{ {a} }}", "é{"] {
            assert_eq!(kinds(text), [], "{text}");
        }
    }

    #[test]
    fn what_is_filled_in_keeps_the_lines() {
        let text = "{% if é %}\na: {{ b }}c\n  {{ d }}\n{# e\nf #}g\n";
        let filled = filled("yaml", text, &tags(text));
        assert_eq!(filled.lines().count(), text.lines().count());
        assert_eq!(filled.lines().map(str::trim).collect::<Vec<_>>(), ["", "a: xxxxxxxc", "", "", "g"]);
    }

    #[test]
    fn hostile_texts_end_quickly() {
        let start = std::time::Instant::now();
        for piece in ["{{", "{% ", "{{ a", "{", "{{ a }}", "{#é"] {
            let text = piece.repeat(200_000 / piece.len());
            let found = tags(&text);
            drop(filled("yaml", &text, &found));
        }
        assert!(start.elapsed().as_secs() < 20);
    }
}
