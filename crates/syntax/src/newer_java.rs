//! Java syntax that the grammar does not support yet.
//!
//! These become spaces: the word `module` of an import, the qualifiers and modifiers of patterns, all patterns of a `case`
//! but the first, and the annotations of variable arguments. The underscores between the digits of a number become zeros,
//! as the grammar allows only one, and none after a zero. A constructor call that is not the first statement gets another
//! name, so that the grammar takes it for the call of a method.
//!
//! Invariant: comments and literals of text stay as they are, and the time is linear in the text.

use std::ops::Range;

use super::rewrite::{HiddenRange, rewrite};

/// The maximum length in bytes of the patterns of a `case`, of an annotation and of type arguments.
const LONGEST: usize = 2000;
/// The maximum length in bytes of a number whose underscores are read.
const LONGEST_NUMBER: usize = 200;
/// The maximum depth of patterns within a pattern.
const DEEPEST: usize = 50;

/// Hides what Java has had since its grammar was made; `None` if there is nothing of it.
pub(super) fn without_newer_java(text: &str) -> Option<String> {
    let mut scan = JavaScan { text, at: 0, last: LastToken::Nothing, hidden: Vec::new() };
    while scan.at < text.len() {
        scan.step();
    }
    rewrite(text, scan.hidden)
}

/// The last token that is no white space and no comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LastToken {
    Nothing,
    /// A character that is no part of a word, at this offset.
    Sign(u8, usize),
    /// An annotation with this start.
    Annotation(usize),
    Word,
}

struct JavaScan<'t> {
    text: &'t str,
    at: usize,
    last: LastToken,
    hidden: Vec<HiddenRange>,
}

impl JavaScan<'_> {
    fn step(&mut self) {
        let (text, start) = (self.text, self.at);
        let bytes = text.as_bytes();
        let next = after_blank(text, start);
        if next > start {
            self.at = next;
            return;
        }
        let Some(byte) = bytes.get(start) else { return };
        if matches!(byte, b'"' | b'\'') {
            (self.at, self.last) = (after_literal(text, start), LastToken::Word);
            return;
        }
        if byte.is_ascii_digit() {
            let end = start + word_length(bytes.get(start..).unwrap_or_default());
            self.hidden.extend(underscores(text, start..end).map(|at| (at..at + 1, Some("0"))));
            (self.at, self.last) = (end, LastToken::Word);
            return;
        }
        if let Some(end) = word(text, start) {
            (self.at, self.last) = (end, self.see_word(start..end));
            return;
        }
        if *byte == b'@'
            && let Some(end) = annotation_name(text, start)
        {
            (self.at, self.last) = (end, LastToken::Annotation(start));
            return;
        }
        if text.get(start..).is_some_and(|rest| rest.starts_with("...")) {
            if let LastToken::Annotation(annotation) = self.last {
                self.hidden.push((annotation..start, None));
            }
            (self.at, self.last) = (start + 3, LastToken::Word);
            return;
        }
        (self.at, self.last) = (start + 1, LastToken::Sign(*byte, start));
    }

    /// Hides what begins with a word, and returns the last token.
    fn see_word(&mut self, span: Range<usize>) -> LastToken {
        let (text, next) = (self.text, after_blank(self.text, span.end));
        match text.get(span.clone()).unwrap_or_default() {
            "import" => {
                let module = word(text, next).filter(|end| text.get(next..*end) == Some("module"));
                // `module` may also be the first part of a name.
                if let Some(end) = module.filter(|end| word(text, after_blank(text, *end)).is_some()) {
                    self.hidden.push((next..end, None));
                }
            }
            "case" => self.hidden.extend(case_patterns(text, span.end).unwrap_or_default()),
            "instanceof" => self.hidden.extend(one_pattern(text, span.end).unwrap_or_default()),
            name @ ("super" | "this") if text.as_bytes().get(next) == Some(&b'(') => {
                let other = if name == "super" { "supeR" } else { "thiS" };
                match self.last {
                    LastToken::Sign(b';' | b'}' | b'.', _) => self.hidden.push((span, Some(other))),
                    LastToken::Sign(b'>', close) => {
                        if let Some(open) = opening(text, close) {
                            self.hidden.extend([(open..close + 1, None), (span, Some(other))]);
                        }
                    }
                    LastToken::Sign(..) | LastToken::Nothing | LastToken::Annotation(_) | LastToken::Word => {
                    }
                }
            }
            _ => {}
        }
        LastToken::Word
    }
}

/// Returns what to hide in the patterns of a `case` that ends before `at`; `None` if these are no patterns.
fn case_patterns(text: &str, at: usize) -> Option<Vec<HiddenRange>> {
    let text = text.get(..text.floor_char_boundary(at.saturating_add(LONGEST))).unwrap_or(text);
    let mut hidden = Vec::new();
    let first = pattern(text, at, 0, &mut hidden)?;
    let kept = hidden.len();
    let mut end = first;
    loop {
        let next = after_blank(text, end);
        let rest = text.get(next..)?;
        if rest.starts_with(',') {
            end = pattern(text, next + 1, 0, &mut hidden)?;
            continue;
        }
        let is_guard = word(text, next).is_some_and(|end| text.get(next..end) == Some("when"));
        if !(is_guard || rest.starts_with(':') || rest.starts_with("->")) {
            return None;
        }
        hidden.truncate(kept);
        if end > first {
            hidden.push((first..end, None));
        }
        return Some(hidden);
    }
}

/// Returns what to hide in the pattern of an `instanceof` that ends before `at`; `None` if this is no pattern.
fn one_pattern(text: &str, at: usize) -> Option<Vec<HiddenRange>> {
    let text = text.get(..text.floor_char_boundary(at.saturating_add(LONGEST))).unwrap_or(text);
    let mut hidden = Vec::new();
    pattern(text, at, 0, &mut hidden)?;
    Some(hidden)
}

/// Returns the end of the pattern at this offset, and adds what to hide in it.
fn pattern(text: &str, at: usize, depth: usize, hidden: &mut Vec<HiddenRange>) -> Option<usize> {
    if depth > DEEPEST {
        return None;
    }
    let mut at = after_blank(text, at);
    loop {
        let end = match word(text, at) {
            Some(end) if text.get(at..end) == Some("final") => end,
            Some(_) => break,
            None => annotation(text, at)?,
        };
        hidden.push((at..end, None));
        at = after_blank(text, end);
    }
    let start = at;
    let (mut name, mut end) = (start, word(text, start)?);
    loop {
        let next = after_blank(text, end);
        match text.as_bytes().get(next)? {
            b'.' => {
                name = after_blank(text, next + 1);
                end = word(text, name)?;
            }
            b'<' => end = type_arguments(text, next)?,
            b'[' => {
                let rest = text.get(next + 1..)?.trim_start().strip_prefix(']')?;
                end = text.len() - rest.len();
            }
            b'(' => {
                if name > start {
                    hidden.push((start..name, None));
                }
                return components(text, next + 1, depth, hidden);
            }
            _ => return word(text, next),
        }
    }
}

/// Returns the end of the components of a record pattern that begin at this offset.
fn components(text: &str, mut at: usize, depth: usize, hidden: &mut Vec<HiddenRange>) -> Option<usize> {
    loop {
        at = after_blank(text, at);
        if text.as_bytes().get(at) == Some(&b')') {
            return Some(at + 1);
        }
        let unnamed = word(text, at).filter(|end| text.get(at..*end) == Some("_"));
        let end = match unnamed {
            Some(end) => end,
            None => pattern(text, at, depth + 1, hidden)?,
        };
        at = after_blank(text, end);
        match text.as_bytes().get(at)? {
            b',' => at += 1,
            b')' => return Some(at + 1),
            _ => return None,
        }
    }
}

/// Returns the end of the type arguments that begin at this offset.
fn type_arguments(text: &str, open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate().skip(open) {
        match byte {
            b'<' => depth += 1,
            b'>' => depth = depth.checked_sub(1)?,
            b';' | b'{' | b'}' | b'(' | b')' | b'"' | b'=' => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// Returns the offset of the `<` that the `>` at this offset closes, if these are the type arguments of a statement.
fn opening(text: &str, close: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let bytes = text.as_bytes();
    for at in (close.saturating_sub(LONGEST)..=close).rev() {
        match bytes.get(at)? {
            b'>' => depth += 1,
            b'<' => depth = depth.checked_sub(1)?,
            b';' | b'{' | b'}' | b'(' | b')' | b'"' | b'=' => return None,
            _ => {}
        }
        if depth == 0 {
            let before = text.get(..at)?.trim_end();
            return before.ends_with([';', '{', '}', '.']).then_some(at);
        }
    }
    None
}

/// Returns the end of the annotation at this offset, with its arguments.
fn annotation(text: &str, at: usize) -> Option<usize> {
    let end = annotation_name(text, at)?;
    let open = after_blank(text, end);
    if text.as_bytes().get(open) != Some(&b'(') {
        return Some(end);
    }
    let (mut depth, mut at) = (0_usize, open);
    loop {
        match text.as_bytes().get(at)? {
            b'(' => depth += 1,
            b')' => depth -= 1,
            b'"' | b'\'' => {
                at = after_literal(text, at);
                continue;
            }
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

/// Returns the end of the name of the annotation at this offset; `@interface` is none.
fn annotation_name(text: &str, at: usize) -> Option<usize> {
    let start = after_blank(text, text.as_bytes().get(at).filter(|byte| **byte == b'@').map(|_| at + 1)?);
    let mut end = word(text, start)?;
    if text.get(start..end) == Some("interface") {
        return None;
    }
    while text.as_bytes().get(end) == Some(&b'.')
        && let Some(next) = word(text, end + 1)
    {
        end = next;
    }
    Some(end)
}

/// Returns the end of the name at this offset.
fn word(text: &str, at: usize) -> Option<usize> {
    let rest = text.as_bytes().get(at..)?;
    let length = word_length(rest);
    (length > 0 && !rest.first().is_some_and(u8::is_ascii_digit)).then_some(at + length)
}

/// Returns the length of the word or number at the start of these bytes.
fn word_length(bytes: &[u8]) -> usize {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..);
    bytes.iter().take_while(|byte| is_part(byte)).count()
}

/// Returns the offsets of the underscores of a number that are between two digits; none in a number over [`LONGEST_NUMBER`].
fn underscores(text: &str, number: Range<usize>) -> impl Iterator<Item = usize> {
    let digits = text.as_bytes().get(number.clone()).filter(|digits| digits.len() <= LONGEST_NUMBER);
    let digits = digits.unwrap_or_default();
    let is_hexadecimal = digits.get(..2).is_some_and(|mark| mark.eq_ignore_ascii_case(b"0x"));
    let is_digit = if is_hexadecimal { u8::is_ascii_hexdigit } else { u8::is_ascii_digit };
    let is_between = move |at: usize| {
        let (before, after) = digits.split_at(at);
        let neighbors =
            [before.iter().rev().find(|byte| **byte != b'_'), after.iter().find(|byte| **byte != b'_')];
        neighbors.into_iter().all(|digit| digit.is_some_and(is_digit))
    };
    let is_underscore = |at: &usize| digits.get(*at) == Some(&b'_');
    (0..digits.len()).filter(is_underscore).filter(move |at| is_between(*at)).map(move |at| number.start + at)
}

/// Returns the offset of the next byte that is no white space and in no comment.
fn after_blank(text: &str, mut at: usize) -> usize {
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let blank = rest.len() - rest.trim_ascii_start().len();
        let rest = rest.get(blank..).unwrap_or_default();
        at += blank;
        at += if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(inside) = rest.strip_prefix("/*") {
            inside.find("*/").map_or(rest.len(), |end| end + 4)
        } else {
            return at;
        };
    }
}

/// Returns the end of the literal that begins with the quote at this offset; the end of the line ends all but text blocks.
fn after_literal(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let is_block = text.get(at..).is_some_and(|rest| rest.starts_with("\"\"\""));
    let (quote, mut end) = (bytes.get(at).copied(), at + if is_block { 3 } else { 1 });
    while let Some(byte) = bytes.get(end) {
        match byte {
            b'\\' => end += 2,
            b'\n' if !is_block => return end,
            _ if is_block && bytes.get(end..end + 3) == Some(b"\"\"\"") => return end + 3,
            byte if !is_block && Some(*byte) == quote => return end + 1,
            _ => end += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::super::{find, parse, read};
    use super::*;

    fn body(statement: &str) -> String {
        format!("class A {{\n  int f(Object o) {{\n    {statement}\n    return 0;\n  }}\n}}\n")
    }

    fn constructor(statements: &str) -> String {
        format!("class A {{\n  A() {{\n    {statements}\n  }}\n}}\n")
    }

    fn has_error(text: &str) -> bool {
        read("java", "A.java", text, 1 << 20).unwrap().root_node().has_error()
    }

    /// True if the grammar alone reports an error.
    fn has_plain_error(text: &str) -> bool {
        let grammar = find("java").unwrap().dialects("A.java").remove(0);
        parse(&grammar, text, &mut || std::ops::ControlFlow::Continue(())).unwrap().root_node().has_error()
    }

    #[test]
    fn newer_java_is_read_and_the_places_stay() {
        let cases = [
            "B _, C _ -> 1",
            "B(var _), C(int _, _) -> 1",
            "B b, a.C _ when o != null -> 1",
            "a.B(var x) -> 1",
            "a.b.B<C>(int x, c.D(_, String[] _)) when x > 1 -> 1",
            "final B b -> 1",
            "@X @a.Y(\"z)\") B b -> 1",
            "B(final @X int x) -> 1",
            "B _ /* , */ , // :\n C _ -> 1",
        ];
        let mut texts: Vec<String> = cases
            .iter()
            .map(|case| body(&format!("int x = switch (o) {{ case {case}; default -> 2; }};")))
            .collect();
        texts.extend([
            "import module java.base;\nclass A {}\n".to_owned(),
            "import /* a */ module\n  java.base;\nimport a.b;\nclass A {}\n".to_owned(),
            body("if (o instanceof a.B(var x, c.D(_))) { }"),
            body("if (!(o instanceof @X a.b.C(int é))) { }"),
            body("switch (o) { case B _, C _: break; default: }"),
            "class A { void f(String @X ... a) { } }\n".to_owned(),
            constructor("int x = 1; super();"),
            constructor("if (x) { throw y; } this(1);"),
            constructor("int x = 1; /* ; */ super(x);"),
            constructor("int x = 1; g.super(x);"),
            constructor("int x = 1; <U>super(x);"),
        ]);
        for text in texts {
            assert!(has_plain_error(&text), "the grammar reads it: {text}");
            let hidden = without_newer_java(&text).unwrap_or_else(|| panic!("nothing is hidden: {text}"));
            let line_ends = |text: &str| text.match_indices('\n').map(|(at, _)| at).collect::<Vec<_>>();
            assert_eq!((hidden.len(), line_ends(&hidden)), (text.len(), line_ends(&text)), "{text}");
            assert!(!has_error(&text), "{text}{hidden}");
        }
    }

    #[test]
    fn faults_next_to_newer_java_stay() {
        for text in [
            body("int x = switch (o) { case B _, C _ -> ; default -> 2; };"),
            body("int x = switch (o) { case B _, -> 1; default -> 2; };"),
            body("int x = switch (o) { case B _ C _ -> 1; default -> 2; };"),
            body("if (o instanceof a.B(var x, )) ) { }"),
            constructor("int x = ; super();"),
            constructor("int x = 1 super();"),
            "import module java.base\nclass A {}\n".to_owned(),
            "import module;base\nclass A {}\n".to_owned(),
        ] {
            assert!(has_error(&text), "{text}");
        }
    }

    #[test]
    fn other_java_stays() {
        for text in [
            constructor("super();"),
            body("super.f(); this.f(); Runnable r = super::f;"),
            body("switch (x) { case 1, 2: case A, B: case C: case \"a\" + \"b\": }"),
            body(
                "switch (o) { case null, default -> 1; case B b when b.c -> 2; case a.B b -> 3; case B(var c) -> 4; }",
            ),
            body("boolean b = o instanceof A && o instanceof a.B b && o instanceof List<?> l;"),
            body("String s = \"; super() case B _, C _ ->\"; char c = '\\''; // ; super()\n"),
            body("String s = \"\"\"\n  ; super() \\\"\"\" ; this()\n\"\"\";"),
            "import module.a.B;\nimport static a.b.*;\n@interface X { int a() default 1; }\n".to_owned(),
        ] {
            assert_eq!(without_newer_java(&text), None, "{text}");
        }
        for text in [
            "",
            "case",
            "case B",
            "case B(",
            "case @",
            "case @A(",
            "instanceof A<",
            "\"",
            "'\\",
            "é.super(",
            "; super(",
        ] {
            without_newer_java(text);
        }
    }

    /// In a time that grows with the square, this would take hours.
    #[test]
    fn a_long_text_of_beginnings_is_read() {
        // In quadratic time, this test would take hours.
        for piece in [
            "case ",
            "case A(",
            "case A<",
            "case @A(",
            "/*",
            "> super(",
            ";super(",
            "@A ... ",
            "instanceof a.",
            "\"",
            "case A _, ",
        ] {
            without_newer_java(&piece.repeat(400_000 / piece.len()));
        }
    }
}
