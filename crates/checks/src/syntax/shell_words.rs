//! Counts the keywords of a shell script without the grammar.
//!
//! The grammar of bash loses its way in some valid scripts, and then misses a `done` that is there. So a keyword that it
//! misses behind a place that it could not read is certain only if the script has fewer of that keyword than of the one that
//! opens the construct.
//!
//! Invariant: the time is linear in the text.

use std::collections::HashMap;

/// The keywords that close a construct, each with the one that occurs once in it.
const PAIRS: [(&str, &str); 3] = [("fi", "if"), ("done", "do"), ("esac", "case")];

/// Returns the keywords that occur less often in a script than the constructs that they close.
pub(super) fn missing(text: &str) -> Vec<&'static str> {
    let mut counts = [0_isize; PAIRS.len()];
    words(text, &mut |word| {
        for ((close, open), count) in PAIRS.iter().zip(&mut counts) {
            *count += isize::from(word == *open) - isize::from(word == *close);
        }
    });
    PAIRS.iter().zip(counts).filter(|(_, count)| *count > 0).map(|((close, _), _)| *close).collect()
}

/// Passes the words of a script to `see` that are in no comment, string or here-document.
fn words<'t>(text: &'t str, see: &mut dyn FnMut(&'t str)) {
    let bytes = text.as_bytes();
    let (mut at, mut start, mut wanted) = (0, 0, None);
    // The last line with each text, found where the first here-document may begin.
    let mut last_lines: Option<HashMap<&str, usize>> = None;
    while let Some(byte) = bytes.get(at) {
        let is_first = at == start;
        let next = match byte {
            b'\\' => at + 2,
            b'\'' => after(text, at + 1, "'"),
            b'"' => after_string(bytes, at + 1),
            b'#' if is_first => {
                at + text.get(at..).and_then(|rest| rest.find('\n')).unwrap_or(text.len() - at)
            }
            b'<' if wanted.is_none() && bytes.get(at + 1) == Some(&b'<') => {
                wanted = here_word(text, at + 2);
                at + 2
            }
            _ => at + 1,
        };
        if matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'(' | b')' | b'|' | b'&' | b'`') {
            see(text.get(start..at).unwrap_or_default());
            start = next;
        }
        if *byte == b'#' && is_first {
            start = next;
        }
        at = next;
        if *byte == b'\n'
            && let Some(word) = wanted.take()
        {
            let last = last_lines.get_or_insert_with(|| line_offsets(text)).get(word).copied();
            // Without an end it was no here-document, but a shift.
            if last.is_some_and(|last| last >= at) {
                at = after_document(text, at, word);
            }
            start = at;
        }
    }
    see(text.get(start..).unwrap_or_default());
}

/// Returns the offset after the next occurrence of a delimiter.
fn after(text: &str, at: usize, delimiter: &str) -> usize {
    let found = text.get(at..).and_then(|rest| rest.find(delimiter));
    found.map_or(text.len(), |found| at + found + delimiter.len())
}

/// Returns the offset after the string in double quotes that begins here.
fn after_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Returns the word that ends the here-document whose operator ends at this offset; `None` for a here-string.
fn here_word(text: &str, at: usize) -> Option<&str> {
    let rest = text.get(at..)?;
    let rest = rest.strip_prefix('-').unwrap_or(rest).trim_start_matches([' ', '\t']);
    let rest = rest.trim_start_matches(['\'', '"', '\\']);
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    rest.get(..end).filter(|word| !word.is_empty())
}

/// Returns the offset after the line that ends a here-document.
fn after_document(text: &str, at: usize, word: &str) -> usize {
    let mut end = at;
    for line in text.get(at..).unwrap_or_default().split_inclusive('\n') {
        end += line.len();
        if line.trim() == word {
            return end;
        }
    }
    at
}

/// Returns the offset of the last line with each text, without the blanks around it.
fn line_offsets(text: &str) -> HashMap<&str, usize> {
    let mut at = 0;
    let mut offsets = HashMap::new();
    for line in text.split_inclusive('\n') {
        offsets.insert(line.trim(), at);
        at += line.len();
    }
    offsets
}

#[cfg(test)]
mod tests {
    use super::super::cases::judged;
    use super::*;

    #[test]
    fn keywords_are_counted_outside_of_text() {
        let none: [&str; 0] = [];
        assert_eq!(missing("if a; then b; fi; for c in d\ndo e; done\ncase f in (g) h;; esac\n"), none);
        assert_eq!(missing("if a; then\n"), ["fi"]);
        assert_eq!(missing("while a; do case b in c) if d; then e; fi;; esac"), ["done"]);
        assert_eq!(missing("case a in b) ;;\n# esac\necho 'esac' \"\\\"esac\" $esac esac.x\n"), ["esac"]);
        assert_eq!(missing("cat <<'EOF' | a\nif do case\nEOF\nb=$((1<<do))\n"), none);
        assert_eq!(missing("a <<- E; if b\n do\n\tE\nthen c; fi <<< do.\n"), none);
        assert_eq!(missing("a=`b; case c in d) e;; esac`\n"), none);
        assert_eq!(missing("# if\n#do\necho a# 'if do case' \\'\n"), none);
        missing("\\");
        missing("<<\"");
    }

    #[test]
    fn a_case_without_an_end_blocks() {
        let blocks = |text: &str| judged("a.sh", None, text).blocking().count() > 0;
        for text in [
            "case $1 in\n  a) echo a ;;\n  b) echo b ;;\n",
            "case $1 in\n  a) echo a ;;\n  b) echo b\n",
            "case $1 in\n",
            "case a in b) c;; esac\ncase d in e) f;;\n",
            "f() {\n  case $1 in\n    a) b ;;\n    c) d ;;\n}\nf a\n",
            "while a; do\n  case $1 in\n    b) c ;;\n    *) d ;;\n  shift\ndone\n",
        ] {
            let found = judged("a.sh", None, text).findings;
            assert!(blocks(text), "{text}: {found:?}");
            assert!(found.iter().any(|found| found.message == "missing \"esac\""), "{text}: {found:?}");
            // The control: the grammar cannot read this either, but no `esac` is missing.
            assert!(!blocks(&format!("{text} esac esac\n")), "{text}");
        }
        // A `case` in a text that the grammar takes for code.
        assert!(!blocks("cat <<EOF | while read x; do\ncase $x in\nEOF\necho $x\ndone\n"));
        assert!(!blocks("case $1 in\n  a) echo $(( ;;\nesac\n"));
    }

    #[test]
    fn a_keyword_behind_an_unreadable_place_is_missing_only_if_it_is_not_there() {
        let blocks = |text: &str| judged("a.sh", None, text).blocking().count() > 0;
        let unread = "echo )\nfor a in b; do\n  c\n";
        assert!(blocks(unread) && !blocks(&format!("{unread}done\n")));
        // The grammar misses this `done`, too: to it the word is an argument.
        assert!(!judged("a.sh", None, &format!("{unread}c done\n")).findings.is_empty());
        assert!(!blocks(&format!("{unread}c done\n")));
        // The control: where it could read everything before, it is believed.
        assert!(blocks("for a in b; do\n  c\nc done\n"));
    }
}
