//! Finds new commands of a makefile that are indented with spaces, which make rejects as a "missing separator".
//!
//! Make accepts many lines with spaces before them: continued lines, assignments, directives, rules. So a line counts only
//! if it can be none of these, behind a rule, and outside of conditionals, whose other branch make skips.

use super::code_files::is_makefile;
use super::text_pair::{DamageFinding, MAX_FINDINGS, TextPair};
use lockgate_text::Lines;

const MESSAGE: &str = "a command of a makefile that is indented with spaces, which make rejects (missing separator); indent it with a tab";

/// The words that begin a directive, apart from `define` and the conditionals.
const DIRECTIVES: [&str; 12] = [
    "-include", "-load", "endef", "export", "include", "load", "override", "private", "sinclude", "undefine",
    "unexport", "vpath",
];

pub(super) fn look(texts: &TextPair<'_>) -> Vec<DamageFinding> {
    // A text that had such lines before is not for this make.
    if !is_makefile(texts.draft.path) || texts.before.is_some_and(|before| !rejected(before).is_empty()) {
        return Vec::new();
    }
    let new = rejected(texts.after).into_iter().filter(|line| !texts.stood_at(*line));
    new.take(MAX_FINDINGS).map(|line| texts.finding_at(line, 0, MESSAGE.to_owned())).collect()
}

/// Returns the lines that make rejects.
fn rejected(lines: Lines<'_>) -> Vec<usize> {
    let mut found = Vec::new();
    let (mut is_behind_rule, mut defines, mut conditionals, mut first) = (false, 0_usize, 0_usize, 1);
    let mut joined = String::new();
    for (line, text) in (1..).zip(lines.iter()) {
        if joined.is_empty() {
            first = line;
        }
        let text = text.trim_end_matches('\r');
        let backslashes = text.len() - text.trim_end_matches('\\').len();
        if backslashes % 2 == 1 {
            joined.push_str(text.strip_suffix('\\').unwrap_or(text));
            joined.push(' ');
            continue;
        }
        let text = std::mem::take(&mut joined) + text;
        // The last is a directive of another make, which accepts spaces.
        if text.contains(".RECIPEPREFIX") || text.starts_with('!') {
            return Vec::new();
        }
        if text.starts_with('\t') {
            continue;
        }
        let bare = without_comment(&text).trim();
        let mut words = bare.split_whitespace();
        let word = words.next().unwrap_or_default();
        let is_modifier = |word: &str| matches!(word, "override" | "export" | "unexport" | "private");
        let directive = bare.split_whitespace().find(|word| !is_modifier(word)).unwrap_or_default();
        match word {
            _ if directive == "define" => {
                defines += 1;
                is_behind_rule = false;
            }
            "endef" => defines = defines.saturating_sub(1),
            _ if defines > 0 => {}
            "" | "else" => {}
            "ifdef" | "ifndef" | "ifeq" | "ifneq" => conditionals += 1,
            "endif" => conditionals = conditionals.saturating_sub(1),
            _ if DIRECTIVES.contains(&word) => is_behind_rule = false,
            _ if is_behind_rule && text.starts_with(' ') && is_command(bare) => {
                found.extend((conditionals == 0).then_some(first));
            }
            _ => is_behind_rule = is_rule(bare),
        }
    }
    found
}

/// Returns a line without the comment at its end.
fn without_comment(text: &str) -> &str {
    let is_escaped = |at: usize| text.get(..at).is_some_and(|before| before.ends_with('\\'));
    let comment = text.match_indices('#').map(|(at, _)| at).find(|at| !is_escaped(*at));
    comment.and_then(|at| text.get(..at)).unwrap_or(text)
}

/// True for a line that has targets, and no variable of their own.
fn is_rule(bare: &str) -> bool {
    let (literal, _) = without_references(bare);
    let targets = literal.split(':').next().unwrap_or_default();
    targets.len() < literal.len()
        && (!literal.contains('=') || literal.contains(';'))
        && !targets.contains('=')
}

/// True for a line that make can read neither as an assignment nor as a rule, whatever its variables contain.
fn is_command(bare: &str) -> bool {
    let (literal, is_simple) = without_references(bare);
    let begins = bare.strip_prefix("./").is_some()
        || bare.starts_with(|first: char| first.is_ascii_alphanumeric() || "_@-+$/[(\"'".contains(first));
    let mut words = literal.split_whitespace();
    let is_assigned = words.next().is_some_and(|first| first.contains('='))
        || words.next().is_some_and(|second| second.trim_start_matches(['+', '?', '!']).starts_with('='));
    let has_word = literal.contains(|c: char| c.is_ascii_alphanumeric());
    is_simple && begins && has_word && !is_assigned && !literal.contains(':')
}

/// Returns a line without its references to variables; false if one of them calls a function or has a substitution.
fn without_references(bare: &str) -> (String, bool) {
    let (mut literal, mut is_simple) = (String::new(), true);
    let mut characters = bare.chars();
    while let Some(character) = characters.next() {
        let opened = match character {
            '$' => characters.next(),
            _ => {
                literal.push(character);
                continue;
            }
        };
        let mut open = usize::from(matches!(opened, Some('(' | '{')));
        while open > 0 {
            match characters.next() {
                Some('(' | '{') => open += 1,
                Some(')' | '}') => open -= 1,
                Some(inner) => is_simple &= inner.is_alphanumeric() || matches!(inner, '_' | '-' | '.'),
                None => return (literal, false),
            }
        }
    }
    (literal, is_simple)
}

#[cfg(test)]
mod tests {
    use crate::damage::tests::findings;
    use lockgate_policy::Accident;

    fn found(before: Option<&str>, after: &str) -> Vec<usize> {
        let findings = findings(Accident::MissingSeparators, "Makefile", before, after);
        findings.into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn commands_behind_spaces_are_found_in_new_lines_only() {
        let old = "build:\n\tcargo build\n";
        let lint = "lint: build\n    golangci-lint run\n";
        assert_eq!(found(None, lint), [2]);
        assert_eq!(found(Some(old), &format!("{old}\n{lint}")), [5]);
        assert_eq!(found(Some(old), &old.replace('\t', "    ")), [2]);
        assert_eq!(found(Some(lint), &format!("{lint}\n{lint}")), [0; 0]);
        assert_eq!(
            found(None, "a: b\n\n# c\n\tmkdir d\n  @$(CC) -c \\\n    -o $@\n  ./e.sh \"f\"\n"),
            [5, 7]
        );
        assert_eq!(found(None, &lint.replace("    ", "\t")), [0; 0]);
    }

    #[test]
    fn lines_that_make_accepts_are_none() {
        for accepted in [
            "  X = y\n  Y += z\n  Z ?= a b\n  export X\n  include b.mk\n  # c\n  b: c\n",
            "  $(call rule,x)\n  $(eval b)\n  $(X)\n  $(X) $(Y)\n  echo $(shell date)\n  a $(B:.c=.o)\n",
            "\techo a \\\n    b c\n\techo d\n",
            "# a \\\n    b c\n",
            "  VAR \\\n    = b\n  docker run -v a:b c\n",
            "ifdef NMAKE\n  cl b.c\nendif\n",
            "define b\n  echo c\nendef\noverride define c =\n  d e\nendef\n",
            "X := y\n  echo b\n",
            ".RECIPEPREFIX = $() $()\na:\n  echo b\n",
            "\techo b\n  echo c\n!IF d\n",
            "{% if b %}\n  {% endif %}\n  !INCLUDE b\n  .if b\n",
        ] {
            assert_eq!(found(None, &format!("all: a\n{accepted}")), [0; 0], "{accepted}");
        }
        // The control: a rule with other names has the same line.
        assert_eq!(found(None, "all: a\n  echo b\n"), [2]);
        assert_eq!(findings(Accident::MissingSeparators, "a.txt", None, "all: a\n  echo b\n"), []);
    }
}
