//! Parses JavaScript and TypeScript with oxc.
//!
//! JavaScript may contain JSX whatever its extension is: bundlers read it in `.js` files, and plain JavaScript has no
//! expression that begins with `<`. TypeScript has (`<T>x`), so there the extension decides, as it does for its compiler.

use oxc_allocator::Allocator;
use oxc_diagnostics::OxcDiagnostic;
use oxc_parser::{ParseOptions, Parser};
use oxc_span::{GetSpan as _, SourceType, Span};

use super::fault::SyntaxFault;
use super::parse::Parse;
use super::parts::{self, ChangedPart, JOINT};

/// Parses JavaScript. If the file name names neither module nor script, the statements decide.
pub(super) fn read_javascript(text: &str, path: &str) -> Parse {
    read(text, source_type(path).unwrap_or_else(|| with_jsx(SourceType::unambiguous())))
}

/// Parses TypeScript, in the dialect of the file extension.
pub(super) fn read_typescript(text: &str, path: &str) -> Parse {
    read(text, source_type(path).unwrap_or_else(SourceType::ts))
}

/// True if the first comment of a text enables or disables Flow, whose type annotations are not JavaScript.
pub(super) fn is_flow(text: &str) -> bool {
    let is_comment = |line: &&str| {
        let line = line.trim_start();
        line.is_empty() || line.starts_with("/*") || line.starts_with('*') || line.starts_with("//")
    };
    let has_pragma = |line: &str| line.split_whitespace().any(|word| matches!(word, "@flow" | "@noflow"));
    text.lines().take(100).take_while(is_comment).any(has_pragma)
}

fn read(text: &str, source_type: SourceType) -> Parse {
    let arena = Allocator::default();
    // CommonJS wraps a file in a function, so it may return; a file name does not distinguish CommonJS from a script.
    let options =
        ParseOptions { allow_return_outside_function: !source_type.is_module(), ..ParseOptions::default() };
    let parsed = Parser::new(&arena, text, source_type).with_options(options).parse();
    let faults: Vec<SyntaxFault> =
        parsed.diagnostics.errors().map(|error| fault(error, text.len())).collect();
    if !faults.is_empty() {
        return Parse::faulty(faults);
    }
    let starts = parsed.program.body.iter().map(|statement| statement.span().start as usize);
    Parse::valid(parts::thinned(text, starts, |start| is_apart(text, start)))
}

/// True if a changed part is apart from the statements around it, is valid whether the file is a module or not, and does
/// not change what the file exports: a name must not be exported twice. False for a file that cannot be a module.
pub(super) fn fits(change: &ChangedPart<'_>, path: &str) -> bool {
    let possible = source_type(path).filter(|known| known.is_unambiguous() || known.is_module());
    let Some(source_type) = possible else { return false };
    let (start, end) = (change.before.len(), change.before.len() + change.new.len());
    let whole = format!("{}{}{}", change.before, change.new, change.after);
    let is_joined =
        (start > 0 && !is_apart(&whole, start)) || (!change.after.is_empty() && !is_apart(&whole, end));
    if is_joined {
        return false;
    }
    let (old, new) = (Exports::read(change.old, source_type), Exports::read(change.new, source_type));
    let is_valid = |source_type| matches!(read(change.new, source_type), Parse::Read { faults, .. } if faults.is_empty());
    old == new
        && is_valid(source_type.with_module(true))
        && (new.is_module || is_valid(source_type.with_script(true)))
}

/// True if a statement at this offset cannot belong to the text before it: that ends in `;` or `}`, and the statement
/// begins with a name, so that no operator joins the two.
fn is_apart(text: &str, start: usize) -> bool {
    let (before, rest) = text.split_at_checked(start).unwrap_or_default();
    // A text may have a comment sign in each line, so that the search for its other end is bounded.
    let before = before.get(before.ceil_char_boundary(start.saturating_sub(JOINT))..).unwrap_or_default();
    let is_name = |c: char| c.is_alphabetic() || c == '_' || c == '$';
    rest.starts_with(is_name) && without_comments(before).ends_with([';', '}'])
}

/// Removes white space and comments from the end of a text.
fn without_comments(mut text: &str) -> &str {
    loop {
        text = text.trim_end();
        let line = text.rfind('\n').map_or(0, |end| end + 1);
        let is_comment = text.get(line..).is_some_and(|last| last.trim_start().starts_with("//"));
        let cut =
            if is_comment { Some(line) } else { text.strip_suffix("*/").and_then(|_| text.rfind("/*")) };
        match cut.and_then(|cut| text.get(..cut)) {
            Some(rest) => text = rest,
            None => return text,
        }
    }
}

/// The exports of a module.
#[derive(Debug, PartialEq, Eq)]
struct Exports {
    /// Set when the text has an import or an export, which makes its file a module.
    is_module: bool,
    /// The exported names, sorted; a default export is `default`.
    names: Vec<String>,
}

impl Exports {
    fn read(text: &str, source_type: SourceType) -> Exports {
        let arena = Allocator::default();
        let parsed = Parser::new(&arena, text, source_type.with_module(true)).parse();
        let record = &parsed.module_record;
        let name =
            |span: Span| text.get(span.start as usize..span.end as usize).unwrap_or_default().to_owned();
        let entries = record.local_export_entries.iter().chain(record.indirect_export_entries.iter());
        let mut names: Vec<String> = entries
            .filter_map(|entry| match entry.export_name.is_default() {
                true => Some("default".to_owned()),
                false => entry.export_name.span().map(name),
            })
            .collect();
        names.sort();
        Exports { is_module: record.has_module_syntax, names }
    }
}

/// Returns the dialect that the last extension of a path names.
fn source_type(path: &str) -> Option<SourceType> {
    SourceType::from_path(path.to_lowercase()).ok().map(with_jsx)
}

/// Allows JSX in a dialect of JavaScript.
fn with_jsx(source_type: SourceType) -> SourceType {
    if source_type.is_javascript() { source_type.with_jsx(true) } else { source_type }
}

fn fault(error: &OxcDiagnostic, end: usize) -> SyntaxFault {
    let label = error.labels.iter().find(|label| label.primary()).or_else(|| error.labels.first());
    let at = label.map_or(end, |label| label.offset() as usize);
    let length = label.map_or(0, |label| label.len() as usize);
    SyntaxFault::new(at, at.saturating_add(length), error.message.clone())
}

#[cfg(test)]
mod tests {
    use super::super::cases::judged;
    use crate::Outcome;

    #[test]
    fn javascript_may_contain_jsx_whatever_its_extension_is() {
        let jsx = "const a = (b) => <div c=\"d\"><p>{b < 2}</p></div>;\nconst e = <><p /></>;\n";
        for path in ["a.js", "a.mjs", "a.cjs", "a.jsx", "a.tsx"] {
            for before in [None, Some("f();\n")] {
                assert_eq!(judged(path, before, jsx).findings, [], "{path}");
            }
            // A wrong tag is found in a new file, and in one that has JSX.
            let wrong = jsx.replace("</p>", "</q>");
            for before in [None, Some(jsx)] {
                assert_eq!(judged(path, before, &wrong).blocking().count(), 1, "{path}");
            }
        }
        for path in ["a.ts", "a.mts", "a.cts"] {
            assert!(judged(path, None, jsx).blocking().count() > 0, "{path}");
        }
        assert_eq!(judged("a.ts", None, "const a = <T>b;\nconst c = <T>(d: T) => d;\n").findings, []);
    }

    #[test]
    fn plain_javascript_stays_valid_where_jsx_is_allowed() {
        let script = "<!-- a comment of HTML\nvar a = b < c, d = (a <b> c), e = [a<b, c>(d)];\n--> another\n\
                      if (a <!--b\n) {}\nwith (a) { b = 010; }\nx = a\n<b>c\n";
        for path in ["a.js", "a.cjs"] {
            assert_eq!(judged(path, None, script).findings, [], "{path}");
        }
        for text in ["let a = i <j>\n/k/g;\n", "f(a < b, c > d);\n", "a <<= 1; b >>>= 2; c = d<e&&f>g;\n"] {
            for path in ["a.js", "a.mjs", "a.cjs"] {
                assert_eq!(judged(path, None, text).findings, [], "{path}: {text}");
            }
        }
        assert!(judged("a.js", None, "let a = <b>c\n").blocking().count() > 0);
    }

    #[test]
    fn a_file_of_flow_is_not_judged_where_it_is_no_javascript() {
        let annotated = "\n\nexport const a: ?number = 1;\n";
        let outcome = |text: &str| judged("a.js", None, text).runs[0].outcome;
        for head in ["/**\n * @flow strict-local\n */", "// @flow", "'use strict';"] {
            assert_eq!(outcome(&format!("{head}\n\nexport const a = 1;\n")), Outcome::Passed, "{head}");
        }
        assert_eq!(
            outcome(&format!("/**\n * @format\n * @flow strict-local\n */{annotated}")),
            Outcome::Unavailable
        );
        assert_eq!(outcome(&format!("/* no pragma */{annotated}")), Outcome::Found);
        assert_eq!(outcome(&format!("const b = '@flow';{annotated}")), Outcome::Found);
    }
}
