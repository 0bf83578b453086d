//! Finds placeholders for code that was not sent, such as `... rest of code unchanged`.
//!
//! Valid texts contain three dots as well, so dots alone count only if the edit removed more lines than it added.

use std::sync::LazyLock;

use regex::Regex;

use super::lexical_syntax::TextKind;
use super::lexis::LexicalPart;
use super::text_pair::{DamageFinding, TextPair};
use super::{compiled, elided_words};
use crate::delta::ReplacedLines;

/// The fewest lines that the edit must remove for three dots to count as their elision.
const FEWEST_LOST: usize = 3;

/// Matches every line that can be an elision; the other patterns run only on these lines.
static TRIGGER: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?i)\.\.\.|…|\b(rest|remainder|remaining|existing|unchanged|omitted|previous|snip|truncated|elided|same as|as before|keep|remains?|stays?|same|continues?|everything|others?|no (other )?changes?)\b",
    )
});

/// Captures the words of a line without the comment delimiters.
static WORDS: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?x) ^\s* (?P<open> //+!? | \#+ | --+ | /\*+ | \{\s*/\*+ | <!--+ | \* | ;+ | %+ | \x22{3} | '{3} | [\[(<{]+ )?
          \s* (?P<words> .*? ) \s* (?: \*+/\s*\}? | --+> | \x22{3} | '{3} | [\])>}]+ )? ;? \s* $",
    )
});

/// Captures the words of a comment after code.
static TRAILING: LazyLock<Regex> = LazyLock::new(|| {
    compiled(r"\s(?://+|#+|--|/\*+|<!--+)\s*(?P<words>(?:\.\.\.|…).*?)\s*(?:\*+/|--+>)?\s*$")
});

/// Matches the words after the dots, or before them.
static DOTTED: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?xi) ^ (?:\(|\[)? \s* (?:and\s+|with\s+|keep\s+|all\s+|the\s+|your\s+|my\s+|our\s+|any\s+|some\s+|include\s+|insert\s+|add\s+|copy\s+|same\s+as\s+)*
          (?: rest | remaining | remainder | existing | previous | unchanged | same | other | original | omitted
            | snip(?:ped)? | truncated | elided | more\s+(?:code|methods|functions|lines|of\s+the\s+same|here)
            | code | implementation | unmodified | (?:as|like)\s+(?:before|above|is) | no\s+changes? | continue[sd]?
            | (?:other|additional)\s+\w+ | function\s+body | body | imports | here )
          \b [^=;{}]{0,70} $",
    )
});

/// Matches words that mark an elision without dots.
static UNDOTTED: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
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
    compiled(
        r"(?xi) ^ (?: same \s+ as \s+ (?:before|above|original) | as \s+ before | unchanged | no \s+ (?:other\s+)? changes? \b .*
          | keep \s+ (?:all\s+|the\s+|your\s+)* (?:existing|rest|remaining|remainder|original|other) \b .{0,40}
          | (?:existing|remaining|other|previous|original|unchanged) \s+ \w+ (?:\s+here)? | (?:the\s+)? rest \s+ of \s+ .{0,40} ) \.? $",
    )
});

pub(super) fn look(texts: &TextPair<'_>) -> Vec<DamageFinding> {
    if texts.kind == TextKind::Patch {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (line, piece) in texts.written() {
        let text = texts.after.text(line);
        if text.len() > 200 || !TRIGGER.is_match(text) || !elides(texts, piece, line, text) {
            continue;
        }
        let is_example = texts.part_of_line(line) == LexicalPart::Text && lost(texts, piece) < FEWEST_LOST;
        if is_example || texts.was_there(text) {
            continue;
        }
        let excerpt: String = text.trim().chars().take(60).collect();
        let message = format!(
            "`{excerpt}` replaces code that was not sent; send that code, or edit only the lines that change"
        );
        let column = texts.column(line, text.len() - text.trim_start().len());
        findings.push(DamageFinding { line, column, message });
    }
    findings
}

fn elides(texts: &TextPair<'_>, piece: &ReplacedLines, line: usize, text: &str) -> bool {
    let lost = lost(texts, piece);
    let captures = WORDS.captures(text);
    let part =
        |name: &str| captures.as_ref().and_then(|captures| captures.name(name)).map(|part| part.as_str());
    let (open, words) = (part("open"), part("words").unwrap_or_default());
    let words = words.trim_matches(|c: char| "[](){}<>*-_=~ ".contains(c));
    let comment = open.is_some_and(|open| {
        !open.starts_with(['[', '(', '<', '{']) || open.contains("--") || open.contains('*')
    });
    let prose = texts.kind == TextKind::Prose || texts.is_fenced(line);
    let dots = dotted(words);
    let is_elided = match dots {
        Some("") => comment && lost >= FEWEST_LOST && !prose,
        // `.... etc.` may also end a comment of several lines.
        Some(rest) if begins_dotted(words) => {
            DOTTED.is_match(rest)
                || lost >= FEWEST_LOST && is_etc(rest)
                || comment && lost >= FEWEST_LOST && elided_words::few(rest)
        }
        // A sentence may end with dots.
        Some(rest) => {
            let is_elided = UNDOTTED.is_match(rest) || lost >= FEWEST_LOST && DOTTED.is_match(rest);
            (is_elided || lost >= FEWEST_LOST && elided_words::all_elide(rest)) && (comment || open.is_some())
        }
        None if comment || open.is_some() => {
            let loose = || LOOSE.is_match(words) || elided_words::all_elide(words);
            UNDOTTED.is_match(words) || lost >= FEWEST_LOST && loose()
        }
        None => false,
    };
    let is_elided = is_elided || trailing(texts, line, text);
    is_elided && (!prose || lost >= FEWEST_LOST) && !heading(texts, text)
}

/// Returns the number of removed lines minus the number of added lines.
fn lost(texts: &TextPair<'_>, piece: &ReplacedLines) -> usize {
    let removed = (piece.old.1 + 1).saturating_sub(piece.old.0);
    let added = (piece.new.1 + 1).saturating_sub(piece.new.0);
    if texts.before.is_some() { (removed + 1).saturating_sub(added) } else { 0 }
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

/// True for code with a comment after it that elides the rest.
fn trailing(texts: &TextPair<'_>, line: usize, text: &str) -> bool {
    let Some(words) = TRAILING.captures(text).and_then(|captures| captures.name("words")) else {
        return false;
    };
    let start = texts.after.span(line).start + words.start();
    let in_comment = texts.syntax.is_none() || texts.part(start) == LexicalPart::Comment;
    in_comment && dotted(words.as_str()).is_some_and(|rest| !rest.is_empty() && DOTTED.is_match(rest))
}

/// True for a heading of a Markdown page, which describes its section.
fn heading(texts: &TextPair<'_>, text: &str) -> bool {
    texts.language() == "markdown" && text.starts_with('#')
}
