//! Finds placeholders for code that was not sent, such as `... rest of code unchanged`.
//!
//! Words without dots count only where the edit replaced lines, and not above a line that it wrote: `remaining items` is a
//! comment on that line. Valid texts contain three dots as well, so dots alone count only if the edit removed more lines
//! than it added. The same applies to words that an author writes with dots: in code, where the dots spread a value
//! (`...rest`), and inside of a comment, where they abridge an example.

use std::sync::LazyLock;

use regex::Regex;

use super::elided_words;
use super::lexical_syntax::TextKind;
use super::lexis::LexicalPart;
use super::text_pair::{DamageFinding, MAX_FINDINGS, TextPair, excerpt, indent};
use crate::constant_pattern::regex;
use crate::pieces::ReplacedLines;
use lockgate_text::WordList;

/// The fewest lines that the edit must remove for three dots to count as their elision.
const FEWEST_LOST: usize = 3;

/// Matches every line that can be an elision; the other patterns run only on these lines.
static TRIGGER: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\.\.\.|…|\b(rest|remainder|remaining|existing|unchanged|omitted|previous|snip(ped)?|truncated|elided|same as|as before|keep|remains?|stays?|same|continues?|everything|others?|no (other )?changes?)\b",
    )
});

/// Captures the words of a line without the comment delimiters.
static WORDS: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?x) ^\s* (?P<open> //+!? | \#+ | --+ | /\*+ | \{\s*/\*+ | <!--+ | \* | ;+ | %+ | \x22{3} | '{3} | [\[(<{]+ )?
          \s* (?P<words> .*? ) \s* (?: \*+/\s*\}? | --+> | \x22{3} | '{3} | [\])>}]+ )? ;? \s* $",
    )
});

/// Captures the words of a comment after code.
static TRAILING: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\s(?://+|#+|--|/\*+|<!--+)\s*(?P<words>(?:\.\.\.|…).*?)\s*(?:\*+/|--+>)?\s*$"));

/// Matches the words after the dots, or before them.
static DOTTED: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?xi) ^ (?:\(|\[)? \s* (?:and\s+|with\s+|keep\s+|all\s+|the\s+|your\s+|my\s+|our\s+|any\s+|some\s+|include\s+|insert\s+|add\s+|copy\s+|same\s+as\s+)*
          (?: rest | remaining | remainder | existing | previous | unchanged | same(?:\s*$|\s+(?:as\s+(?:before|above)|code|logic|body|implementation|content)) | other | original | omitted
            | snip(?:ped)? | truncated | elided | more\s+(?:code|methods|functions|lines|of\s+the\s+same|here)
            | code | implementation | unmodified | (?:as|like)\s+(?:before|above|is) | no\s+changes? | continue[sd]?
            | (?:other|additional)\s+\w+ | function\s+body | body | imports )
          \b [^=;{}]{0,70} $",
    )
});

/// Matches words that mark an elision without dots.
static UNDOTTED: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?xi) ^ \(? (?:keep\s+|leave\s+|all\s+|and\s+)* (?:the\s+|your\s+|my\s+|our\s+|this\s+|all\s+)*
          (?:
            (?: rest | remainder ) \s+ (?: of \s+ (?:the\s+|this\s+|your\s+|my\s+)? [\w.()'` -]{1,40}? \s+ )?
              (?: (?:is\s+|are\s+|remains?\s+|stays?\s+|continues?\s+|goes\s+|follows\s+)?
                  (?: unchanged | the\s+same | same | here | omitted\b.* | elided | as\s+(?:is|before|it\s+was) | unmodified | untouched )
                | remains? | continues? | follows | stays )
          | (?: remaining | existing | previous | original | unchanged | unmodified | other ) \s+
              (?: code | content | contents | implementation | logic | methods? | functions? | class(?:es)? | file | body | lines | imports | tests | definitions? | fields | members | properties | sections? )
              (?: \s+ (?:is|are|remains?|stays?|continues?|goes|follows) )?
              (?: \s+ (?: here | unchanged | the\s+same | as\s+(?:is|before) | omitted\b.* | below | above | elided | unmodified | untouched ) )+
          | (?: code | implementation | contents? | file | body | methods? | functions? | lines | section | logic | imports | tests ) \s+ (?:is\s+|are\s+|remains?\s+|stays?\s+|was\s+|has\s+been\s+)*
              (?: unchanged | omitted\s+for\s+(?:brevity|clarity|space)| omitted | elided | truncated(?:\s+for\s+brevity)? | the\s+same | as\s+before )
          | (?: omitted | truncated | elided | snipped ) \s+ for \s+ (?: brevity | clarity | space )
          | no \s+ changes \s+ (?: here | below | above | to \s+ (?:the\s+)? (?:rest|remaining) .* )
          )
          \.? \)? $",
    )
});

/// Matches words that mark an elision only if the edit removed lines; otherwise they may be a valid comment.
static LOOSE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?xi) ^ (?: same \s+ as \s+ (?:before|above|original) | as \s+ before | unchanged | no \s+ (?:other\s+)? changes? \b .*
          | keep \s+ (?:all\s+|the\s+|your\s+)* (?:existing|rest|remaining|remainder|original|other) \b .{0,40}
          | (?:existing|remaining|other|previous|original|unchanged) \s+ \w+ (?:\s+here)? | (?:the\s+)? rest \s+ of \s+ .{0,40} ) \.? $",
    )
});

/// Words of operators that join two operands, and those before an operand.
static OPERATORS: WordList = WordList::new(
    "
    as async await catch delete extends for if in infer instanceof is keyof new on or readonly satisfies
    typeof void yield
    ",
);

/// Words that do not end a sentence.
const CONNECTIVES: &[&str] = &[
    "a", "an", "and", "as", "at", "by", "for", "if", "in", "into", "of", "or", "so", "that", "the", "to",
    "when", "with",
];

/// Words in brackets that stand for lines that were not sent.
const NOTES: &[&str] = &["truncated", "omitted", "elided", "snip", "snipped"];

/// The most lines below a tag that are searched for its end.
const FARTHEST_END: usize = 200;

/// The least white space before an example in a comment, in characters.
const EXAMPLE_INDENT: usize = 3;

pub(super) fn look(texts: &TextPair<'_>) -> Vec<DamageFinding> {
    if texts.kind == TextKind::Patch {
        return Vec::new();
    }
    texts.written().filter_map(|(line, piece)| elision(texts, line, piece)).take(MAX_FINDINGS).collect()
}

fn elision(texts: &TextPair<'_>, line: usize, piece: &ReplacedLines) -> Option<DamageFinding> {
    let text = texts.after.text(line);
    if text.len() > 200 || !TRIGGER.is_match(text) || !elides(texts, piece, line, text) {
        return None;
    }
    let is_example = !loses_lines(texts, piece) && texts.is_in_string(line);
    if is_example || texts.was_there(text) {
        return None;
    }
    let message = format!(
        "`{}` replaces code that was not sent; send that code, or edit only the lines that change",
        excerpt(text, 60)
    );
    Some(texts.finding_at(line, indent(text).len(), message))
}

fn elides(texts: &TextPair<'_>, piece: &ReplacedLines, line: usize, text: &str) -> bool {
    let has_lost = loses_lines(texts, piece);
    let captures = WORDS.captures(text);
    let part =
        |name: &str| captures.as_ref().and_then(|captures| captures.name(name)).map(|part| part.as_str());
    let (open, words) = (part("open"), part("words").unwrap_or_default());
    let words = words.trim_matches(|c: char| "[](){}<>*-_=~ ".contains(c));
    let is_comment = open.is_some_and(|open| {
        !open.starts_with(['[', '(', '<', '{']) || open.contains("--") || open.contains('*')
    });
    let is_prose = texts.kind == TextKind::Prose || texts.is_fenced(line);
    // Where nothing was replaced, nothing was left out: `the rest of the buffer is unchanged` is a comment on the code.
    let replaces = texts.before.is_some() && !piece.is_insertion();
    let is_elided = match dotted(words) {
        Some("") => has_lost && !is_prose && (is_comment || is_no_statement(texts, line)),
        // `.... etc.` may also end a comment of several lines.
        Some(rest) if begins_dotted(words) => {
            let is_authors = match is_comment || is_inside_comment(texts, line) {
                true => !has_lost && is_abridged(texts, line),
                false => is_spread(rest, words),
            };
            let is_counted = || has_lost && !texts.is_fenced(line) && elided_words::all_elide(rest);
            (DOTTED.is_match(rest) || is_counted()) && !is_authors
                || has_lost && (is_etc(rest) || is_comment && elided_words::are_few(rest))
        }
        // A sentence may end with dots.
        Some(rest) => {
            let is_elided = replaces && UNDOTTED.is_match(rest)
                || has_lost && (DOTTED.is_match(rest) || elided_words::all_elide(rest));
            is_elided && open.is_some() && (has_lost || !introduces(texts, line))
        }
        None if open.is_some() => {
            let is_loose = || LOOSE.is_match(words) || elided_words::all_elide(words);
            let is_note = || !is_comment && is_note(texts, piece, line, text.trim());
            (replaces && UNDOTTED.is_match(words) || has_lost && (is_loose() || is_note()))
                && !introduces(texts, line)
        }
        None => false,
    };
    (is_elided || ends_in_elision(texts, line, text)) && (!is_prose || has_lost) && !is_heading(texts, text)
}

/// True for a last line of a piece that is one of [`NOTES`] in brackets. In valid code it is a list, and a tag with an end is an
/// element.
fn is_note(texts: &TextPair<'_>, piece: &ReplacedLines, line: usize, text: &str) -> bool {
    let inner = |open: char, close: char| text.strip_prefix(open)?.strip_suffix(close);
    let Some(word) = inner('<', '>').or_else(|| inner('[', ']')) else { return false };
    let is_last = || (line + 1..=piece.new.1).all(|line| texts.after.text(line).trim().is_empty());
    let has_end = || {
        let mut below = (line + 1..=texts.after.count()).take(FARTHEST_END);
        below.any(|line| texts.after.text(line).contains(&format!("</{word}")))
    };
    NOTES.contains(&word.trim().to_lowercase().as_str())
        && is_last()
        && !texts.is_fenced(line)
        && !texts.is_sound(line)
        && !(text.starts_with('<') && has_end())
}

/// True if the edit wrote the line below a comment, at the same indentation: then the comment is about that line.
fn introduces(texts: &TextPair<'_>, line: usize) -> bool {
    let mut below = (line + 1..=texts.after.count()).take(3);
    let next = below.find(|line| !texts.after.text(*line).trim().is_empty());
    next.is_some_and(|next| {
        let text = texts.after.text(next);
        let is_code = text.chars().any(char::is_alphanumeric) && comment_words(texts, next).is_none();
        is_code
            && indent(text).len() == indent(texts.after.text(line)).len()
            && !texts.stood_at(next)
            && !texts.was_there(text)
    })
}

/// True for dots on a line of code that the language does not allow there. In Python they are a statement, and in other
/// languages a parameter, an operand or text between tags.
fn is_no_statement(texts: &TextPair<'_>, line: usize) -> bool {
    let is_continued = line > 1 && texts.after.text(line - 1).trim_end().ends_with('\\');
    texts.kind == TextKind::Code && !is_continued && !texts.is_in_string(line) && !texts.is_sound(line)
}

/// True if the edit removed enough more lines than it added.
fn loses_lines(texts: &TextPair<'_>, piece: &ReplacedLines) -> bool {
    let (removed, added) = (piece.old_lines().count(), piece.new_lines().count());
    // The line of the elision was added, too.
    texts.before.is_some() && removed + 1 >= added + FEWEST_LOST
}

/// True if the words next to the dots begin with `etc`.
fn is_etc(words: &str) -> bool {
    words.split(|c: char| !c.is_alphanumeric()).next().is_some_and(|word| word.eq_ignore_ascii_case("etc"))
}

fn begins_dotted(words: &str) -> bool {
    words.starts_with("...") || words.starts_with('…')
}

/// Returns the words without the dots at their start or end; `None` if there are no dots.
fn dotted(words: &str) -> Option<&str> {
    let trimmed = words.trim_matches(|c: char| c == '.' || c == '…' || c.is_whitespace());
    let at = words.find(trimmed).unwrap_or_default();
    let before = words.get(..at).unwrap_or_default();
    let after = words.get(at + trimmed.len()..).unwrap_or_default();
    let dots = |text: &str| text.contains("...") || text.contains('…');
    (dots(before) || dots(after)).then_some(trimmed)
}

/// True if the words after the dots are an operand and not prose, which has two words side by side: `...rest,` and
/// `...(a ? b : c)`, not `...rest of the code`. A word between dots is prose as well. A comment after them does not count.
fn is_spread(words: &str, dotted: &str) -> bool {
    let (words, dotted) = (without_comment(words), without_comment(dotted));
    let ends_dotted = dotted.ends_with("...") || dotted.ends_with('…');
    let is_word = |word: &str| {
        word.chars().all(|c| c.is_alphanumeric() || c == '_')
            && word.starts_with(|c: char| !c.is_ascii_digit())
            && !OPERATORS.has(word)
    };
    let words: Vec<&str> =
        words.split_whitespace().map(|word| word.trim_matches(['(', ')', '[', ']'])).collect();
    let is_prose = words.windows(2).any(|pair| pair.iter().all(|word| is_word(word)));
    !ends_dotted && !is_prose
}

/// Returns the words before a comment at the end of their line.
fn without_comment(words: &str) -> &str {
    let start = ["//", "/*", " #"].iter().filter_map(|sign| words.find(sign)).min();
    start.and_then(|start| words.get(..start)).unwrap_or(words).trim_end()
}

/// True if a line begins inside of a comment that an earlier line opens.
fn is_inside_comment(texts: &TextPair<'_>, line: usize) -> bool {
    let before = texts.after.span(line).start.checked_sub(1);
    before.is_some_and(|line_end| texts.part(line_end) == LexicalPart::Comment)
}

/// True if a line of a comment abridges what its author wrote: it is not the first line of the comment, it is indented as
/// an example, it is next to an example, or its sentence goes on in the next line.
fn is_abridged(texts: &TextPair<'_>, line: usize) -> bool {
    let is_example =
        |line: &usize| comment_words(texts, *line).is_some_and(|words| indent_width(words) >= EXAMPLE_INDENT);
    let goes_on = || {
        let last = comment_words(texts, line)?.split_whitespace().next_back()?;
        let is_open = last.ends_with(',') || CONNECTIVES.contains(&last);
        comment_words(texts, line + 1).filter(|_| is_open)
    };
    is_inside_comment(texts, line)
        || [line, line.saturating_sub(1), line + 1].iter().any(is_example)
        || goes_on().is_some()
}

/// Returns what follows the sign of a comment of one line; `None` for another line.
fn comment_words<'t>(texts: &TextPair<'t>, line: usize) -> Option<&'t str> {
    if !(1..=texts.after.count()).contains(&line) {
        return None;
    }
    let text = texts.after.text(line);
    let sign = text.trim_start();
    let start = texts.after.span(line).start + indent(text).len();
    let is_comment = texts.syntax.is_none() || texts.part(start) == LexicalPart::Comment;
    let is_line = ["//", "#", "--", ";", "%"].iter().any(|open| sign.starts_with(open));
    (is_comment && is_line).then(|| sign.trim_start_matches(['/', '#', '!', '-', ';', '%']))
}

/// Returns the width of the white space before the first word, in characters; a tab counts as an indent.
fn indent_width(words: &str) -> usize {
    indent(words).chars().map(|c| if c == '\t' { EXAMPLE_INDENT } else { 1 }).sum()
}

/// True for code with a comment after it that elides the rest.
fn ends_in_elision(texts: &TextPair<'_>, line: usize, text: &str) -> bool {
    let Some(words) = TRAILING.captures(text).and_then(|captures| captures.name("words")) else {
        return false;
    };
    let span = texts.after.span(line).start;
    let (first, start) = (span + indent(text).len(), span + words.start());
    let is_comment = |at: usize| texts.part(at) == LexicalPart::Comment;
    let in_comment = texts.syntax.is_none() || is_comment(start) && !is_comment(first);
    // A comment next to a value that is spread says what it spreads.
    let spreads =
        text.get(..words.start()).is_some_and(|code| code.contains("...") && !code.trim().is_empty());
    in_comment
        && !spreads
        && dotted(words.as_str()).is_some_and(|rest| !rest.is_empty() && DOTTED.is_match(rest))
}

/// True for a heading of a Markdown page, which describes its section.
fn is_heading(texts: &TextPair<'_>, text: &str) -> bool {
    texts.language() == "markdown" && text.starts_with('#')
}
