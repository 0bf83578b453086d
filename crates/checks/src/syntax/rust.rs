//! Parses Rust with syn.

use super::fault::{Pass, SyntaxFault};
use super::parse::Parse;
use super::parts::{self, ChangedPart};
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, Expr, Item};

/// The message of syn for tokens that it cannot read; it gives no further detail.
const UNREADABLE: &str = "cannot parse string into token stream";
const AT_THE_END: &str = "unexpected end of input";

/// Parses a file: first its tokens up to a fault, then its items up to a fault.
pub(super) fn read(text: &str, _path: &str) -> Parse {
    let (shebang, code) = without_shebang(text);
    match item_starts.parse_str(code) {
        Ok(starts) => {
            let starts = starts.into_iter().map(|start| shebang + start);
            Parse::valid(parts::thinned(text, starts, |_| true))
        }
        Err(_) if is_included(code) => Parse::valid(Vec::new()),
        Err(error) => Parse::faulty(error.into_iter().map(|error| fault(&error, code, shebang)).collect()),
    }
}

/// Parses a file as [`syn::File`] does, and returns the offsets at which its items start.
fn item_starts(input: ParseStream<'_>) -> syn::Result<Vec<usize>> {
    input.call(Attribute::parse_inner)?;
    let mut starts = Vec::new();
    while !input.is_empty() {
        starts.push(input.span().byte_range().start);
        input.parse::<Item>()?;
    }
    Ok(starts)
}

/// True for a file that `include!` takes for a table: an array or a tuple. Other expressions are none, because what is left of
/// broken code often looks like them: a block is a function without its head.
fn is_included(code: &str) -> bool {
    let is_table = |expression: &Expr| match expression {
        Expr::Array(_) | Expr::Repeat(_) => true,
        Expr::Tuple(tuple) => !tuple.elems.is_empty(),
        _ => false,
    };
    syn::parse_str::<Expr>(code).is_ok_and(|expression| match &expression {
        Expr::Reference(reference) => is_table(&reference.expr),
        other => is_table(other),
    })
}

/// True if a changed part is the beginning of its file, or has nothing that is valid only there: inner attributes and
/// inner documentation. A table is valid only as a whole file.
pub(super) fn fits(change: &ChangedPart<'_>, _path: &str) -> bool {
    let is_valid_anywhere = || !["#!", "//!", "/*!"].iter().any(|inner| change.new.contains(inner));
    (change.before.is_empty() || is_valid_anywhere()) && !is_included(change.new)
}

/// Splits off a first line `#!...` that is not an inner attribute; returns its length and the rest.
fn without_shebang(text: &str) -> (usize, &str) {
    let attribute = |rest: &str| rest.trim_start().starts_with('[');
    match text.strip_prefix("#!") {
        Some(rest) if !attribute(rest) => {
            let end = text.find('\n').unwrap_or(text.len());
            (end, text.get(end..).unwrap_or_default())
        }
        _ => (0, text),
    }
}

fn fault(error: &syn::Error, code: &str, shebang: usize) -> SyntaxFault {
    let message = error.to_string();
    let range = error.span().byte_range();
    // At the end of a file there is no token, and syn reports the start of the file.
    if range.end == 0 && message.starts_with(AT_THE_END) {
        return SyntaxFault::new(shebang + code.len(), shebang + code.len(), message);
    }
    let (at, end) = (shebang + range.start, shebang + range.end);
    if message != UNREADABLE {
        return SyntaxFault::new(at, end, message);
    }
    let rest = code.get(range.start..).unwrap_or_default();
    let (pass, message) = match rest.chars().next() {
        Some(open @ ('(' | '[' | '{')) => (Pass::OpenBrackets, format!("\"{open}\" is never closed")),
        Some(close @ (')' | ']' | '}')) => (Pass::Tokens, format!("unexpected \"{close}\"")),
        Some('"') if has_end(rest) => (Pass::Tokens, "string with an invalid escape".to_owned()),
        Some('"') => (Pass::Strings, "string without closing quote".to_owned()),
        Some(other) => (Pass::Tokens, format!("unreadable token at \"{other}\"")),
        None => (Pass::Tokens, "unreadable token".to_owned()),
    };
    SyntaxFault { pass, ..SyntaxFault::new(at, end, message) }
}

/// True if the string at the start of a text has a closing quote.
fn has_end(text: &str) -> bool {
    let mut bytes = text.bytes().skip(1);
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return true,
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::cases::judged;
    use super::*;

    #[test]
    fn a_string_is_unclosed_or_has_an_invalid_escape() {
        let message = |text: &str| judged("a.rs", None, text).findings[0].message.clone();
        assert_eq!(message("fn f() { g(\"\\q\"); }\n"), "string with an invalid escape");
        assert_eq!(message("fn f() { g(\"a\\\"); }\n"), "string without closing quote");
    }

    #[test]
    fn a_table_is_valid_as_a_whole_file_only() {
        assert!(fits(&ChangedPart { before: "mod a;\n", old: "", new: "fn b() {}\n", after: "" }, "a.rs"));
        assert!(!fits(&ChangedPart { before: "mod a;\n", old: "", new: "[1, 2]\n", after: "" }, "a.rs"));
        let lines = |count: usize| (0..count).map(|n| format!("    let a{n} = {n};\n")).collect::<String>();
        let function = |name: &str| format!("/// What it does.\nfn {name}() {{\n{}}}\n", lines(60));
        let text = [function("a"), function("b"), function("c")].concat();
        assert_eq!(judged("a.rs", None, &text).findings, []);
        for (from, to) in [("fn b() {\n", "{\n"), ("fn b() {", "[1, 2]\nfn b() {"), ("fn b() {", "Table {")] {
            let edited = text.replacen(from, to, 1);
            assert!(judged("a.rs", Some(&text), &edited).blocking().count() > 0, "{to}");
        }
    }
}
