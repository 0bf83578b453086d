//! Finds the brackets of C and C++ that a compiler reads, without the grammar.
//!
//! The grammar does not expand macros: it ends the body of a macro at a comment, and drops characters where a macro replaces
//! a keyword. So brackets are counted by tokens. Brackets in the body of a macro, in `#if 0` and in the second and later
//! branches of a conditional do not count: a bracket opened there is usually opened in the first branch, too. If it is not,
//! [`super::branches`] searches for branches that fit together.
//!
//! Invariant: every byte is read a few times, so any text takes linear time, and brackets take no memory.

use std::ops::Range;

/// A part of a text that decides which brackets count.
#[derive(Debug, Clone, Copy)]
pub(super) enum BracketPiece<'t> {
    /// A bracket outside of comments, literals and directives.
    Bracket(&'t str, usize),
    /// A directive without its `#`, and the offset of that.
    Directive(&'t str, usize),
}

/// Passes the brackets that count to `see`, each with its offset, in text order.
pub(super) fn brackets<'t>(text: &'t str, see: &mut dyn FnMut(&'t str, usize)) {
    let mut conditionals = Conditionals::default();
    pieces(text, &mut |piece| {
        if let BracketPiece::Directive(directive, at) = piece {
            conditionals.see(directive, at);
        }
    });
    let mut unread = conditionals.unread.iter().peekable();
    pieces(text, &mut |piece| {
        let BracketPiece::Bracket(token, at) = piece else { return };
        while unread.next_if(|range| range.end <= at).is_some() {}
        if !unread.peek().is_some_and(|range| range.contains(&at)) {
            see(token, at);
        }
    });
}

/// Passes the brackets and the directives of a text to `see`, in text order.
pub(super) fn pieces<'t>(text: &'t str, see: &mut dyn FnMut(BracketPiece<'t>)) {
    let (bytes, mut at, mut is_line_start) = (text.as_bytes(), 0, true);
    while let Some(byte) = bytes.get(at) {
        let start = at;
        if *byte == b'#' && is_line_start {
            at = directive_end(bytes, at);
            see(BracketPiece::Directive(text.get(start + 1..at).unwrap_or_default().trim_start(), start));
            continue;
        }
        at = token_end(bytes, at);
        let token = text.get(start..at).unwrap_or_default();
        if matches!(token, "(" | ")" | "[" | "]" | "{" | "}") {
            see(BracketPiece::Bracket(token, start));
        }
        is_line_start = match byte {
            b'\n' => true,
            b' ' | b'\t' | b'\r' | b'\\' => is_line_start,
            b'/' => is_line_start && token.starts_with("/*"),
            _ => false,
        };
    }
}

/// The braces that the macros of a text have in excess, so that a use of one opens or closes a brace.
#[derive(Debug, Default)]
pub(super) struct MacroBraces {
    /// A macro has more opening than closing braces.
    pub(super) opening: bool,
    /// A macro has more closing than opening braces.
    pub(super) closing: bool,
}

impl MacroBraces {
    /// Returns the excess braces of the macros that a text defines.
    pub(super) fn in_text(text: &str) -> MacroBraces {
        let mut braces = MacroBraces::default();
        pieces(text, &mut |piece| {
            if let BracketPiece::Directive(directive, _) = piece
                && directive.starts_with("define")
            {
                let balance = brace_balance(directive);
                braces.opening |= balance > 0;
                braces.closing |= balance < 0;
            }
        });
        braces
    }
}

/// Returns the number of opening minus closing braces outside of comments and literals.
fn brace_balance(text: &str) -> isize {
    let mut balance = 0;
    pieces(text, &mut |piece| {
        if let BracketPiece::Bracket(token, _) = piece {
            balance += isize::from(token == "{") - isize::from(token == "}");
        }
    });
    balance
}

/// The step that a directive makes through a conditional.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BranchStep {
    /// It opens a conditional with a first branch.
    If,
    /// It begins a further branch, on a condition.
    Elif,
    /// It begins the last branch.
    Else,
    /// It closes a conditional.
    Endif,
}

/// Returns the step of a directive, and if the branch that it begins is never read; `None` for another directive.
pub(super) fn step(directive: &str) -> Option<(BranchStep, bool)> {
    let name = directive.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(directive.len());
    let (name, condition) = directive.split_at_checked(name)?;
    Some(match name {
        "if" => (BranchStep::If, is_false(condition)),
        "ifdef" | "ifndef" => (BranchStep::If, false),
        "elif" => (BranchStep::Elif, is_false(condition)),
        "elifdef" | "elifndef" => (BranchStep::Elif, false),
        "else" => (BranchStep::Else, false),
        "endif" => (BranchStep::Endif, false),
        _ => return None,
    })
}

/// The open conditionals, and the ranges that do not count.
#[derive(Default)]
struct Conditionals {
    open: Vec<Conditional>,
    unread: Vec<Range<usize>>,
}

struct Conditional {
    /// Set once a branch of it was read.
    is_taken: bool,
    /// The offset from which its branches are not read.
    skipped_from: Option<usize>,
}

impl Conditionals {
    /// Adds the next directive, without its `#`.
    fn see(&mut self, directive: &str, at: usize) {
        match step(directive) {
            Some((BranchStep::If, is_false)) => {
                self.open.push(Conditional { is_taken: !is_false, skipped_from: is_false.then_some(at) });
            }
            Some((BranchStep::Elif | BranchStep::Else, is_false)) => {
                let Some(innermost) = self.open.last_mut() else { return };
                if innermost.is_taken {
                    innermost.skipped_from.get_or_insert(at);
                } else if !is_false {
                    innermost.is_taken = true;
                    let start = innermost.skipped_from.take();
                    self.leave_out(start, at);
                }
            }
            Some((BranchStep::Endif, _)) => {
                let start = self.open.pop().and_then(|closed| closed.skipped_from);
                self.leave_out(start, at);
            }
            None => {}
        }
    }

    fn leave_out(&mut self, start: Option<usize>, end: usize) {
        if let Some(start) = start
            && self.open.iter().all(|outer| outer.skipped_from.is_none())
        {
            self.unread.push(start..end);
        }
    }
}

/// True for a condition that no definition can make true.
fn is_false(condition: &str) -> bool {
    let condition = condition.trim();
    let rest = ["0", "(0)", "false"].iter().find_map(|zero| condition.strip_prefix(zero));
    rest.is_some_and(|rest| {
        let after = rest.trim_start();
        after.is_empty() || ["//", "/*", "&&"].iter().any(|next| after.starts_with(next))
    })
}

/// Returns the end of the directive at this offset; a backslash at the end of a line or a comment continues it.
fn directive_end(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(|byte| *byte != b'\n') {
        at = token_end(bytes, at);
    }
    at
}

/// Returns the end of the comment, literal, word, joined line or single byte at this offset.
fn token_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let length = match rest {
        [b'/', b'/', ..] => line_comment(rest),
        [b'/', b'*', ..] => {
            let body = rest.get(2..).unwrap_or_default();
            memchr::memmem::find(body, b"*/").map_or(rest.len(), |end| end + 4)
        }
        [b'\\', b'\r', b'\n', ..] => 3,
        [b'\\', _, ..] => 2,
        [quote @ (b'"' | b'\''), ..] => literal(rest, *quote),
        [first, ..] if is_word(*first) => word(rest),
        _ => 1,
    };
    (at + length).min(bytes.len())
}

fn line_comment(rest: &[u8]) -> usize {
    for newline in memchr::memchr_iter(b'\n', rest) {
        let line = rest.get(..newline).unwrap_or_default();
        if !line.strip_suffix(b"\r").unwrap_or(line).ends_with(b"\\") {
            return newline;
        }
    }
    rest.len()
}

/// Returns the length of a literal in these quotes; the end of the line ends it.
fn literal(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while let Some(byte) = rest.get(at) {
        at += match byte {
            b'\\' if rest.get(at + 1) == Some(&b'\r') => 3,
            b'\\' => 2,
            b'\n' => return at,
            byte if *byte == quote => return at + 1,
            _ => 1,
        };
    }
    at
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// Returns the length of a name or a number; a raw string is included with its prefix.
fn word(rest: &[u8]) -> usize {
    let is_number = rest.first().is_some_and(u8::is_ascii_digit);
    let mut end = 0;
    while let Some(byte) = rest.get(end) {
        let is_separator =
            *byte == b'\'' && is_number && rest.get(end + 1).is_some_and(|next| is_word(*next));
        if !is_word(*byte) && !is_separator {
            break;
        }
        end += 1;
    }
    let is_raw = matches!(rest.get(..end), Some(b"R" | b"LR" | b"uR" | b"UR" | b"u8R"));
    let raw = || raw_string(rest.get(end..)?);
    end + if is_raw { raw().unwrap_or_default() } else { 0 }
}

/// Returns the length of the raw string that begins with these quotes; without an end it takes the rest, as a comment does.
/// Its delimiter has at most 16 characters.
fn raw_string(rest: &[u8]) -> Option<usize> {
    let body = rest.strip_prefix(b"\"")?;
    let open = body.iter().take(17).position(|byte| *byte == b'(')?;
    let close = [b")", body.get(..open)?, b"\""].concat();
    let end = memchr::memmem::find(body, &close);
    Some(end.map_or(rest.len(), |end| 1 + end + close.len()))
}

#[cfg(test)]
mod tests {
    use super::super::cases::judged;
    use super::*;

    /// Returns the number of unmatched brackets that block this text as a new file, in C and in C++.
    fn refused(text: &str) -> usize {
        let lone = |path: &str| {
            judged(path, None, text).blocking().filter(|found| found.message.contains("unmatched")).count()
        };
        lone("a.c").max(lone("a.cpp"))
    }

    /// Each would search the rest of the text.
    #[test]
    fn raw_strings_without_an_end_are_read_in_linear_time() {
        let text = "#define A R\"(\n".repeat(400_000);
        let began = std::time::Instant::now();
        assert_eq!(directive_end(text.as_bytes(), 0), text.len());
        assert!(began.elapsed() < std::time::Duration::from_secs(20), "{:?}", began.elapsed());
    }

    #[test]
    fn the_brackets_of_macros_do_not_count() {
        for text in [
            "#define F(x) (g(x, 1 /* one */, 2))\nint a;\n",
            "#define F(x) do { /* c */ \\\n  g(x); \\\n} while (0)\nint a;\n",
            "#define F(x) do { /* c */ \\\r\n  g(x); \\\r\n} while (0)\r\nint a;\r\n",
            "#define F(x) (g(x /* one\n two */, 2))\nint a;\n",
            "#define OPEN /* a */ {\nint a;\n",
            "  /* a */ # define F(x) /* b */ (x\nint a;\n",
            "#error \"(\" is /* not */ good (\nint a;\n",
        ] {
            assert_eq!(refused(text), 0, "{text}");
            // The same brackets count outside of a macro and after one.
            assert!(refused(&format!("{text}int f(void) {{\n")) > 0, "{text}");
            assert!(refused(&format!("{text}int b = 1);\n")) > 0, "{text}");
        }
        assert!(refused("int a; # define F(x) /* b */ (x\n") > 0, "no directive");
        assert!(refused("#define F(x) g(x) /* b */\n(\n") > 0, "below the macro");
    }

    #[test]
    fn what_no_compiler_reads_does_not_count() {
        for condition in ["0", "0 // off", "0 && A", "(0)", "false", "0 /* off */"] {
            for lone in ["}}}", "(", "don't {", "#if A\n(\n#endif\n)"] {
                let text = format!("int a;\n#if {condition}\n{lone}\n#endif\nint b;\n");
                assert_eq!(refused(&text), 0, "{text}");
                let text =
                    format!("int a;\n#if {condition}\n{lone}\n#else\nint f(void) {{\n#endif\nint b;\n");
                assert!(refused(&text) > 0, "{text}");
            }
        }
        for condition in ["1", "0 || A", "A", "00", "0x1"] {
            assert!(refused(&format!("int a;\n#if {condition}\n}}\n#endif\nint b;\n")) > 0, "{condition}");
        }
        assert!(refused("int a;\n#if 0\n}\nint b;\n") > 0, "there is no end");
        assert!(refused("int a;\n#if 0\n}\n#elif A\n}\n#endif\n") > 0);
    }

    #[test]
    fn tokens_are_those_of_the_language() {
        let places = |text| {
            let mut places = Vec::new();
            brackets(text, &mut |token, at| places.push((token, at)));
            places
        };
        let found = |text| places(text).into_iter().map(|(token, _)| token).collect::<String>();
        assert_eq!(found("a(\"(\\\"(\", '(', '\\'', L'(' /* ( */) // ( \\\n (\n{ [ ] }"), "(){[]}");
        assert_eq!(found("a = 1'000'000; b(1'0);"), "()");
        assert_eq!(found("a(R\"x( )\" ( )x\", u8R\"(()\" )"), "()");
        assert_eq!(found("\"open (\n)"), ")");
        assert_eq!(found("é(\\"), "(");
        assert_eq!(found("/* ("), "");
        assert_eq!(found("/*\n#if 0\n*/ ( )\n"), "()");
        assert_eq!(places("é()"), [("(", 2), (")", 3)]);
    }

    #[test]
    fn a_macro_in_the_place_of_a_keyword_hides_no_bracket() {
        let class = "template <typename T>\nclass A {\n  NO_CHECK(\"a\") T* get() const {\n    return (T*)(b());\n  }\n\n  \
                     void c() {\n    if (d()) {\n      e(f());\n    }\n  }\n};\n";
        assert_eq!(refused(class), 0);
        assert!(refused(&class.replace("(b())", "(b()")) > 0);
    }
}
