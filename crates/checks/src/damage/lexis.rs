//! Finds the comments and strings of a text in one walk, with no lookahead beyond the end of a line or a string.
//!
//! The lexer is approximate: it accepts every text and continues after an unclosed string. A rule that must be sure also
//! consults the grammar.
//!
//! Invariant: the parts are in text order and do not overlap; the time is linear in the text.

use std::ops::Range;

use super::lexical_syntax::{LexicalSyntax, Quirk, Quoted};

/// The longest regular expression that is read, in bytes; what is longer is taken for divisions.
const LONGEST_REGEX: usize = 4096;

/// The lexical kind of a part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LexicalPart {
    Code,
    Comment,
    Text,
}

/// The comments and strings of a text.
#[derive(Debug, Default)]
pub(super) struct Lexis {
    parts: Vec<(Range<usize>, LexicalPart)>,
}

impl Lexis {
    /// Finds the comments and strings of a text.
    pub(super) fn read(text: &str, syntax: &LexicalSyntax) -> Lexis {
        let mut reader = LexicalReader { text, syntax, at: 0, parts: Vec::new(), solid: None, wanted: None };
        while reader.at < text.len() {
            reader.step();
        }
        Lexis { parts: reader.parts }
    }

    /// Returns the lexical part at an offset.
    pub(super) fn at(&self, offset: usize) -> LexicalPart {
        self.find(offset).map_or(LexicalPart::Code, |(_, part)| *part)
    }

    /// Returns the range of the comment or string around an offset; `None` in code.
    pub(super) fn range_at(&self, offset: usize) -> Option<Range<usize>> {
        self.find(offset).map(|(range, _)| range.clone())
    }

    fn find(&self, offset: usize) -> Option<&(Range<usize>, LexicalPart)> {
        let next = self.parts.partition_point(|(range, _)| range.end <= offset);
        self.parts.get(next).filter(|(range, _)| range.contains(&offset))
    }
}

struct LexicalReader<'t> {
    text: &'t str,
    syntax: &'t LexicalSyntax,
    at: usize,
    parts: Vec<(Range<usize>, LexicalPart)>,
    /// The last byte of code on this line that is not white space.
    solid: Option<u8>,
    /// The word that ends the here-document that begins on the next line.
    wanted: Option<&'t str>,
}

impl<'t> LexicalReader<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn step(&mut self) {
        let rest = self.rest();
        let Some(byte) = rest.bytes().next() else {
            self.at = self.text.len();
            return;
        };
        if byte == b'\n' {
            (self.solid, self.at) = (None, self.at + 1);
            if let Some(word) = self.wanted.take() {
                self.here_document(word);
            }
            return;
        }
        if self.begins(byte)
            && let Some((end, part)) = self.part(rest)
        {
            let start = self.at;
            self.at = (start + end.max(1)).min(self.text.len());
            self.parts.push((start..self.at, part));
            self.solid = Some(b'"');
            return;
        }
        self.pass(byte);
    }

    /// True if a comment or a string could begin with this byte.
    fn begins(&self, byte: u8) -> bool {
        let first = |word: &str| word.as_bytes().first() == Some(&byte);
        self.syntax.line_comments.iter().any(|word| first(word))
            || self.syntax.block_comment.is_some_and(|(open, _)| first(open))
            || self.syntax.strings.iter().any(|quoted| first(quoted.open))
            || match self.syntax.quirk {
                Quirk::Rust => matches!(byte, b'r' | b'\''),
                Quirk::Slashes => byte == b'/',
                Quirk::Shell => byte == b'<',
                Quirk::None | Quirk::Words => false,
            }
    }

    fn pass(&mut self, byte: u8) {
        let escaped = byte == b'\\' && self.syntax.quirk == Quirk::Shell;
        let width = |text: &str| text.chars().next().map_or(1, char::len_utf8);
        let mut step = width(self.rest());
        if escaped && !self.rest().starts_with("\\\n") {
            step += width(self.rest().get(step..).unwrap_or_default());
        }
        if !byte.is_ascii_whitespace() {
            self.solid = Some(byte);
        }
        self.at += step;
    }

    /// Returns the kind and the length of the comment or string at the current offset.
    fn part(&mut self, rest: &'t str) -> Option<(usize, LexicalPart)> {
        if self.syntax.line_comments.iter().any(|open| rest.starts_with(open)) && self.may_comment() {
            return Some((line(rest), LexicalPart::Comment));
        }
        if let Some((open, close)) = self.syntax.block_comment.filter(|(open, _)| rest.starts_with(open)) {
            let inside = rest.get(open.len()..).unwrap_or_default();
            let end = inside.find(close).map_or(rest.len(), |end| open.len() + end + close.len());
            return Some((end, LexicalPart::Comment));
        }
        if self.syntax.quirk == Quirk::Shell {
            self.wanted = self.wanted.or_else(|| here_word(rest));
        }
        let literal = match self.syntax.quirk {
            Quirk::Rust => rust_literal(rest, self.before()),
            Quirk::Slashes => self.regex(rest),
            Quirk::None | Quirk::Shell | Quirk::Words => None,
        };
        if let Some(end) = literal {
            return Some((end, LexicalPart::Text));
        }
        if self.is_inside_word() {
            return None;
        }
        let quoted = self.syntax.strings.iter().find(|quoted| rest.starts_with(quoted.open))?;
        Some((string(rest, quoted), LexicalPart::Text))
    }

    fn before(&self) -> Option<u8> {
        self.at.checked_sub(1).and_then(|at| self.text.as_bytes().get(at).copied())
    }

    fn may_comment(&self) -> bool {
        let at_word = self.before().is_none_or(|byte| byte.is_ascii_whitespace() || b";|&()".contains(&byte));
        match self.syntax.quirk {
            Quirk::Shell | Quirk::Words => at_word,
            Quirk::None | Quirk::Rust | Quirk::Slashes => true,
        }
    }

    /// True if a quote at the current offset is an apostrophe, in a language whose strings need no quotes.
    fn is_inside_word(&self) -> bool {
        let word = self.before().is_some_and(|byte| byte.is_ascii_alphanumeric());
        self.syntax.quirk == Quirk::Words && word
    }

    /// Returns the length of the regular expression at the current offset, if a value may begin there.
    fn regex(&self, rest: &str) -> Option<usize> {
        let may =
            self.solid.is_none_or(|byte| b"(,=:[!&|?{};+-*%<>~^".contains(&byte)) || self.after_keyword();
        if !may || !rest.starts_with('/') {
            return None;
        }
        let (mut class, mut escaped) = (false, false);
        for (at, byte) in rest.bytes().enumerate().take(LONGEST_REGEX).skip(1) {
            match byte {
                b'\n' => return None,
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'[' => class = true,
                b']' => class = false,
                b'/' if !class => return Some(at + 1),
                _ => {}
            }
        }
        None
    }

    fn after_keyword(&self) -> bool {
        let before = self.text.get(self.at.saturating_sub(8)..self.at).unwrap_or_default().trim_end();
        ["return", "typeof", "case", "in", "of"].iter().any(|word| before.ends_with(word))
    }

    /// Reads a here-document up to the line that is this word.
    fn here_document(&mut self, word: &str) {
        let start = self.at;
        while self.at < self.text.len() {
            let rest = self.rest();
            let end = line(rest);
            self.at = (self.at + end + 1).min(self.text.len());
            if rest.get(..end).unwrap_or_default().trim() == word {
                break;
            }
        }
        if self.at > start {
            self.parts.push((start..self.at, LexicalPart::Text));
        }
    }
}

/// Returns the length of the first line, without its line end.
fn line(text: &str) -> usize {
    memchr::memchr(b'\n', text.as_bytes()).unwrap_or(text.len())
}

fn string(rest: &str, quoted: &Quoted) -> usize {
    let mut at = quoted.open.len();
    let bytes = rest.as_bytes();
    while let Some(&byte) = bytes.get(at) {
        if byte == b'\\' && quoted.escapes {
            at += 2;
        } else if byte == b'\n' && !quoted.lines {
            return at;
        } else if bytes.get(at..).is_some_and(|rest| rest.starts_with(quoted.close.as_bytes())) {
            return at + quoted.close.len();
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// The longest escape of a character, without its first two characters, in bytes: `\u{10_FFFF}` with more underscores.
const LONGEST_ESCAPE: usize = 32;

/// Returns the length of a raw string or a character literal; `None` for a lifetime, a name or a plain string.
fn rust_literal(rest: &str, before: Option<u8>) -> Option<usize> {
    if before.is_some_and(|byte| byte.is_ascii_alphanumeric() && byte != b'b' || byte == b'_') {
        return None;
    }
    if let Some(character) = rest.strip_prefix('\'') {
        let first = character.chars().next()?;
        if first == '\\' {
            let escape = rest.as_bytes().get(3..).unwrap_or_default();
            let escape = escape.get(..LONGEST_ESCAPE).unwrap_or(escape);
            let end = escape.iter().position(|byte| matches!(byte, b'\'' | b'\n'))?;
            return (escape.get(end) == Some(&b'\'')).then_some(end + 4);
        }
        return character.get(first.len_utf8()..)?.starts_with('\'').then(|| 2 + first.len_utf8());
    }
    let raw = rest.strip_prefix('r')?;
    let hashes = raw.bytes().take_while(|byte| *byte == b'#').count();
    let inside = raw.get(hashes..)?.strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    Some(inside.find(&close).map_or(rest.len(), |at| 2 + hashes + at + close.len()))
}

/// Returns the word that ends the here-document that this operator starts.
fn here_word(rest: &str) -> Option<&str> {
    let word = rest.strip_prefix("<<").filter(|rest| !rest.starts_with('<'))?;
    let word = word.trim_start_matches(['-', ' ', '\\', '\'', '"']);
    let end = word.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(word.len());
    word.get(..end).filter(|word| !word.is_empty() && !word.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::super::lexical_syntax;
    use super::*;

    /// Returns the text with each part that is not code between marks.
    fn shown(language: &str, text: &str) -> String {
        let lexis = Lexis::read(text, lexical_syntax::find(language).unwrap());
        let mut marked = text.to_owned();
        for (part, what) in lexis.parts.iter().rev() {
            let (open, close) = if *what == LexicalPart::Comment { ("⟨", "⟩") } else { ("«", "»") };
            marked.insert_str(part.end, close);
            marked.insert_str(part.start, open);
        }
        marked
    }

    #[test]
    fn comments_and_strings_differ_from_code() {
        for (language, text, parts) in [
            ("python", "a = 'b' # c\n", "a = «'b'» ⟨# c⟩\n"),
            ("python", "a = \"\"\"b\n# c\n\"\"\"\n", "a = «\"\"\"b\n# c\n\"\"\"»\n"),
            ("python", "a = 'b\nc = 1\n", "a = «'b»\nc = 1\n"),
            ("rust", "fn f<'a>(x: &'a str) { '\\n'; 'b'; }", "fn f<'a>(x: &'a str) { «'\\n'»; «'b'»; }"),
            ("rust", "r#\"a\"b\"# /* c */ \"d\ne\"", "«r#\"a\"b\"#» ⟨/* c */⟩ «\"d\ne\"»"),
            ("javascript", "a = b / c / d; e(/\\n\"/g)", "a = b / c / d; e(«/\\n\"/»g)"),
            ("javascript", "`a\n${b}` // c", "«`a\n${b}`» ⟨// c⟩"),
            ("go", "`\\` + \"\\\"\"", "«`\\`» + «\"\\\"\"»"),
            ("bash", "a#b \\\" '\\' # c\n", "a#b \\\" «'\\'» ⟨# c⟩\n"),
            ("bash", "cat <<'EOF'\n\"a\nEOF\nb 'c'\n", "cat <<«'EOF'»\n«\"a\nEOF\n»b «'c'»\n"),
            ("yaml", "a: it's # b\nc: 'd'\n", "a: it's ⟨# b⟩\nc: «'d'»\n"),
            ("toml", "a = 'b\\' # c", "a = «'b\\'» ⟨# c⟩"),
            ("markdown", "a 'b' <!-- c -->", "a 'b' ⟨<!-- c -->⟩"),
        ] {
            assert_eq!(shown(language, text), parts, "{language}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "[a-z'\"`/*#\\\\<rR\n é🦀]{0,60}") {
            for language in lockgate_policy::languages() {
                let Some(syntax) = lexical_syntax::find(&language.name) else { continue };
                let lexis = Lexis::read(&text, syntax);
                let mut last = 0;
                for (part, _) in &lexis.parts {
                    proptest::prop_assert!(part.start >= last && part.end > part.start && part.end <= text.len());
                    last = part.end;
                }
            }
        }
    }
}
