//! Finds the fences of a Markdown block around new lines, as an agent writes them around code in an answer.
//!
//! A fence is an accident on the first line of a text, on its last line if no other one opens its block, and around the lines
//! of an edit. Inside of a comment or a string it is text of the author.

use super::super::code_files::extension;
use super::super::lexical_syntax::TextKind;
use super::super::parsed_text::TreePart;
use super::super::text_pair::{DamageFinding, MAX_FINDINGS, TextPair, excerpt, fence, indent, is_bare};
use crate::pieces::ReplacedLines;

/// The longest word or words after a fence, in bytes.
const LONGEST_INFO: usize = 100;

/// Signs of a page that may show Markdown.
const MARKDOWN_HOSTS: [&str; 10] =
    ["mark", "md", "textarea", "xmp", "<pre", "<script type", "<template id", "<doc", "{%", "{{"];

/// A fence on a line of its own.
#[derive(Debug, Clone, Copy)]
struct FenceLine<'t> {
    line: usize,
    delimiter: &'t str,
}

impl FenceLine<'_> {
    /// True if this fence closes the block that another one opens.
    fn closes(&self, open: &FenceLine<'_>) -> bool {
        self.line > open.line + 1 && self.delimiter.starts_with(open.delimiter)
    }
}

pub(super) fn look(texts: &TextPair<'_>) -> Vec<DamageFinding> {
    if !is_code(texts) {
        return Vec::new();
    }
    match at_start(texts).or_else(|| at_end(texts)) {
        Some(fence) => vec![finding_at(texts, fence)],
        None => around_pieces(texts),
    }
}

/// True for a text in which a block of Markdown is at most a part of a comment or of a string.
fn is_code(texts: &TextPair<'_>) -> bool {
    match texts.kind {
        TextKind::Code | TextKind::Data => true,
        TextKind::Prose | TextKind::Unknown => {
            matches!(texts.language(), "html" | "dockerfile") || texts.is_code_file
        }
        TextKind::Patch => false,
    }
}

/// Returns the new fence on the first line with text.
fn at_start<'t>(texts: &TextPair<'t>) -> Option<FenceLine<'t>> {
    let first = (1..=texts.after.count()).find(|line| has_text(texts, *line))?;
    opening(texts, first).filter(|fence| is_new(texts, fence.line))
}

/// Returns the new fence on the last line with text, if the text has no other one.
fn at_end<'t>(texts: &TextPair<'t>) -> Option<FenceLine<'t>> {
    let last = (1..=texts.after.count()).rev().find(|line| has_text(texts, *line))?;
    let fence = closing(texts, last).filter(|_| texts.after.text(last).starts_with(['`', '~']))?;
    let is_alone = || (1..last).all(|line| opening(texts, line).is_none());
    (is_new(texts, last) && begins_in_code(texts, last) && is_alone()).then_some(fence)
}

/// Finds the blocks whose fences are the first line of a piece and the last line of that piece or of a later one.
fn around_pieces(texts: &TextPair<'_>) -> Vec<DamageFinding> {
    let mut findings = Vec::new();
    let mut open: Option<FenceLine<'_>> = None;
    for piece in &texts.pieces {
        let Some((first, last)) = ends(texts, piece) else { continue };
        let start = opening(texts, first).filter(|fence| is_new(texts, fence.line));
        let close = closing(texts, last);
        let is_closed = |open: &FenceLine<'_>| close.is_some_and(|close| close.closes(open));
        let Some(block) = start.filter(is_closed).or_else(|| open.filter(is_closed)) else {
            open = start.or(open);
            continue;
        };
        open = None;
        if begins_in_code(texts, block.line) && !may_show_markdown(texts) {
            findings.push(finding_at(texts, block));
        }
        if findings.len() == MAX_FINDINGS {
            break;
        }
    }
    findings
}

/// Returns the first and the last line of a piece with text.
fn ends(texts: &TextPair<'_>, piece: &ReplacedLines) -> Option<(usize, usize)> {
    let mut lines = piece.new_lines().filter(|line| has_text(texts, *line));
    let first = lines.next()?;
    Some((first, lines.next_back().unwrap_or(first)))
}

/// Returns the fence on a line that may open a block: only the name of a language or a few words follow it.
fn opening<'t>(texts: &TextPair<'t>, line: usize) -> Option<FenceLine<'t>> {
    let text = texts.after.text(line).trim_start();
    let delimiter = fence(text)?;
    let info = text.strip_prefix(delimiter)?.trim();
    let is_info = info.len() <= LONGEST_INFO && !info.contains(['`', '~', ';']);
    (is_info && !info.starts_with(['+', ',', ')', ']'])).then_some(FenceLine { line, delimiter })
}

/// Returns the fence on a line with nothing else.
fn closing<'t>(texts: &TextPair<'t>, line: usize) -> Option<FenceLine<'t>> {
    opening(texts, line).filter(|_| is_bare(texts.after.text(line).trim_start()))
}

/// True if the edit wrote a line that the text before did not have.
fn is_new(texts: &TextPair<'_>, line: usize) -> bool {
    !texts.stood_at(line) && !texts.was_there(texts.after.text(line))
}

fn has_text(texts: &TextPair<'_>, line: usize) -> bool {
    !texts.after.text(line).trim().is_empty()
}

/// True if a fence is neither in a comment nor in a string that begins before it, by the lexical walk and by the grammar.
/// Where a language has strings in backticks, two of those of a fence are an empty one.
fn begins_in_code(texts: &TextPair<'_>, line: usize) -> bool {
    let text = texts.after.text(line);
    let start = texts.after.span(line).start + indent(text).len();
    let is_code = texts.part_range(start).is_none_or(|part| part.start == start && part.len() <= 2);
    // The end of a comment may be the offset at which its next line starts.
    is_code
        && match texts.parsed.part(start + 1) {
            Some(TreePart::Code) => true,
            Some(TreePart::Literal(at)) => at >= start,
            // In a page and in YAML, almost any text is valid.
            Some(TreePart::Text) => matches!(texts.language(), "html" | "yaml"),
            Some(TreePart::Comment) => false,
            // A text that is too large or too deep for its grammar is not sure.
            None => !texts.parsed.has_grammar(),
        }
}

/// True if a text may show a block of Markdown at a place that the lexical walk takes for code.
fn may_show_markdown(texts: &TextPair<'_>) -> bool {
    let view = texts.draft.after.view();
    match texts.language() {
        "html" => MARKDOWN_HOSTS.iter().any(|sign| view.contains(sign)),
        // Strings of databases have many forms.
        "sql" => view.contains('$'),
        "dockerfile" => view.contains("<<"),
        // The lexical walk reads the first document of a line.
        "bash" => view.lines().any(|line| line.matches("<<").count() > 1),
        "" if matches!(extension(texts.draft.path).as_str(), "vue" | "svelte") => {
            MARKDOWN_HOSTS.iter().any(|sign| view.contains(sign))
        }
        "" | "text" | "yaml" | "xml" | "csv" => true,
        _ => false,
    }
}

fn finding_at(texts: &TextPair<'_>, fence: FenceLine<'_>) -> DamageFinding {
    let text = texts.after.text(fence.line);
    let message = format!(
        "`{}` is the fence of a Markdown block; send the lines without their fences",
        excerpt(text, 40)
    );
    texts.finding_at(fence.line, indent(text).len(), message)
}

#[cfg(test)]
mod tests {
    use crate::damage::tests::findings;
    use lockgate_policy::Accident;

    fn found(path: &str, before: Option<&str>, after: &str) -> Vec<usize> {
        let findings = findings(Accident::LinePrefixes, path, before, after);
        findings.into_iter().map(|finding| finding.line).collect()
    }

    const NONE: [usize; 0] = [];

    #[test]
    fn a_file_in_a_block_of_markdown_is_found() {
        for (path, word, code) in [
            ("n.ts", "ts", "export function f() {\n  return 1;\n}\n"),
            ("n.js", "js", "export function f() {\n  return 1;\n}\n"),
            ("n.tsx", "tsx", "export const F = () => <p>a</p>;\n"),
            ("n.py", "python", "def f():\n    return 1\n"),
            ("n.go", "go", "package a\n\nvar x = 1\n"),
            ("n.rs", "", "fn f() {}\n"),
            ("n.c", "c", "int x;\n"),
            ("n.css", "css", "a { color: red; }\n"),
            ("n.sh", "bash", "echo \"$a\"\n"),
            ("n.html", "html", "<!DOCTYPE html>\n<title>a</title>\n"),
            ("n.sql", "sql", "select 1;\n"),
            ("n.xml", "xml", "<r/>\n"),
            ("n.json", "json", "{}\n"),
            ("n.yaml", "yaml", "a: 1\n"),
            ("n.toml", "toml", "a = 1\n"),
            ("Dockerfile", "dockerfile", "FROM a\n"),
            ("Makefile", "make", "a:\n\tb\n"),
            ("n.vue", "vue", "<template>\n  <p/>\n</template>\n"),
            ("n.rb", "ruby title=\"n.rb\"", "puts 1\n"),
        ] {
            for fence in ["```", "~~~", "````"] {
                let block = format!("{fence}{word}\n{code}{fence}\n");
                assert_eq!(found(path, None, &block), [1], "{path}: {block}");
                assert_eq!(found(path, Some(code), &block), [1], "{path}: {block}");
                let open = format!("\n{fence}{word}\n{code}");
                assert_eq!(found(path, Some("x\n"), &open), [2], "{path}: {open}");
                let closed = format!("{code}{fence}\n");
                assert_eq!(found(path, Some(code), &closed), [closed.lines().count()], "{path}: {closed}");
            }
            assert_eq!(found(path, None, code), NONE, "{path}: {code}");
        }
    }

    #[test]
    fn lines_of_an_edit_in_a_block_of_markdown_are_found() {
        for (path, before, after, line) in [
            ("a.js", "f();\n\ng(1);\nh(1);\n", "f();\n\n```js\ng(2);\nh(1);\n```\n", 3),
            ("a.ts", "f();\n\ng(1);\nk();\n", "f();\n\n```ts\ng(2);\n```\nk();\n", 3),
            ("a.ts", "f();\ng();\nk();\n", "f();\n```ts\ng();\n```\nk();\n", 2),
            ("a.js", "function f() {\n  g();\n}\n", "function f() {\n  ```js\n  g(1);\n  ```\n}\n", 2),
            ("a.js", "f();\nk();\n", "f();\n~~~\ng();\n~~~\nk();\n", 2),
            ("a.py", "f()\nk()\n", "f()\n```python\ng()\n```\nk()\n", 2),
            ("a.c", "int a;\nint c;\n", "int a;\n```c\nint b;\n```\nint c;\n", 2),
            ("a.css", "a { }\nc { }\n", "a { }\n```css\nb { }\n```\nc { }\n", 2),
            ("a.sh", "f\nk\n", "f\n```bash\ng \"$a\"\n```\nk\n", 2),
            ("a.sql", "select 1;\nselect 3;\n", "select 1;\n```sql\nselect 2;\n```\nselect 3;\n", 2),
            ("Dockerfile", "FROM a\nRUN c\n", "FROM a\n```dockerfile\nRUN b\n```\nRUN c\n", 2),
            ("a.html", "<p>a</p>\n<p>c</p>\n", "<p>a</p>\n```html\n<p>b</p>\n```\n<p>c</p>\n", 2),
            ("a.vue", "<p>a</p>\n<p>c</p>\n", "<p>a</p>\n```html\n<p>b</p>\n```\n<p>c</p>\n", 2),
        ] {
            assert_eq!(found(path, Some(before), after), [line], "{path}: {after}");
        }
    }

    #[test]
    fn fences_of_an_author_are_none() {
        let block = "```js\nf();\n```\n";
        for (path, before, after) in [
            ("a.md", "# A\n", "# A\n\nBLOCK"),
            ("a.md", "a\n", "BLOCK"),
            ("a.txt", "a\n", "BLOCK"),
            ("a.rst", "a\n", "BLOCK"),
            ("a.mdx", "a\n", "BLOCK"),
            ("a.qmd", "a\n", "BLOCK"),
            ("README", "a\n", "BLOCK"),
            ("prompt.j2", "a\n", "```python\n{{ code }}\n```\n"),
            ("a.md.tmpl", "a\n", "BLOCK"),
            ("a.diff", "a\n", "BLOCK"),
            ("a.py", "def f():\n    pass\n", "def f():\n    \"\"\"F.\n\nBLOCK    \"\"\"\n    pass\n"),
            ("a.py", "'''\na\n'''\n", "'''\na\nBLOCK'''\n"),
            ("a.py", "x = r'''\n'''\n", "x = r'''\nBLOCK'''\n"),
            ("a.js", "/*\na\n*/\nf();\n", "/*\na\nBLOCK*/\nf();\n"),
            ("a.js", "x = `\n`;\n", "x = `\n~~~js\nf();\n~~~\n`;\n"),
            ("a.js", "x = `${y ? `z` : ''}\n`;\n", "x = `${y ? `z` : ''}\n~~~js\nf();\n~~~\n`;\n"),
            ("a.js", "x = `\n`;\n", "x = `\n\\`\\`\\`js\nf();\n\\`\\`\\`\n`;\n"),
            ("a.jsx", "const a = <M>\n</M>;\n", "const a = <M>\nBLOCK</M>;\n"),
            ("a.rs", "/*!\na\n*/\nfn f() {}\n", "/*!\na\nBLOCK*/\nfn f() {}\n"),
            ("a.rs", "/// a\nfn f() {}\n", "/// a\n/// ```\n/// f();\n/// ```\nfn f() {}\n"),
            ("a.rs", "const A: &str = r\"\n\";\n", "const A: &str = r\"\nBLOCK\";\n"),
            ("A.java", "/**\na\n*/\nclass A {}\n", "/**\na\nBLOCK*/\nclass A {}\n"),
            ("a.sh", "cat <<EOF\nEOF\n", "cat <<EOF\nBLOCKEOF\n"),
            ("a.sh", "cat <<'A' <<'B'\nA\nB\n", "cat <<'A' <<'B'\nBLOCKA\nBLOCKB\n"),
            ("a.sh", "echo '\n'\n", "echo '\nBLOCK'\n"),
            ("a.yaml", "a: |\n  b\n", "a: |\n  b\n  ```js\n  f();\n  ```\n"),
            ("a.yaml", "a: |\n  b\n", "a: |\n  b\n  ```\n"),
            ("a.toml", "a = \"\"\"\n\"\"\"\n", "a = \"\"\"\nBLOCK\"\"\"\n"),
            ("a.csv", "a,\"\n\"\n", "a,\"\nBLOCK\"\n"),
            ("a.xml", "<r>\n</r>\n", "<r>\nBLOCK</r>\n"),
            ("a.html", "<textarea>\n</textarea>\n", "<textarea>\nBLOCK</textarea>\n"),
            ("a.html", "<div markdown=\"1\">\n</div>\n", "<div markdown=\"1\">\nBLOCK</div>\n"),
            ("a.vue", "<docs>\na\n</docs>\n", "<docs>\na\nBLOCK</docs>\n"),
            ("a.jl", "\"\"\"\n\"\"\"\nf() = 1\n", "\"\"\"\nBLOCK\"\"\"\nf() = 1\n"),
            ("a.sql", "do $$\n$$;\n", "do $$\nBLOCK$$;\n"),
            ("Dockerfile", "COPY <<A /b\nA\n", "COPY <<A /b\nBLOCKA\n"),
            // A fence that was there.
            ("a.js", "```js\nf();\n", "```js\ng();\n"),
        ] {
            let after = after.replace("BLOCK", block);
            assert_eq!(found(path, Some(before), &after), NONE, "{path}: {after}");
        }
    }
}
