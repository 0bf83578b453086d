//! Removes the fence of a code block.

use super::alternative::{AlternativeEdit, joined, lines};

/// Removes the fence from the search, and from the replacement if that is fenced too.
pub(super) fn remove(search: &str, replace: &str) -> Option<AlternativeEdit> {
    let is_fenced_diff = is_diff(search);
    let search = inside(search)?;
    let replace = match inside(replace) {
        Some(replace) => replace,
        None if has_fence(replace) => return None,
        None => replace.to_owned(),
    };
    Some(AlternativeEdit { is_fenced_diff, ..AlternativeEdit::new(search, replace) })
}

/// Returns true if the fence names the language of its text as `diff` or `patch`.
fn is_diff(text: &str) -> bool {
    let language = text.trim_start().trim_start_matches(['`', '~']).lines().next();
    language.is_some_and(|language| ["diff", "patch"].contains(&language.trim()))
}

/// Returns true if a text begins with a fence: the rest may be more than one block.
fn has_fence(text: &str) -> bool {
    ["```", "~~~"].iter().any(|fence| text.trim_start().starts_with(fence))
}

fn inside(text: &str) -> Option<String> {
    let all: Vec<&str> = lines(text).collect();
    let first = all.iter().position(|line| !line.trim().is_empty())?;
    let last = all.iter().rposition(|line| !line.trim().is_empty()).filter(|last| *last > first)?;
    let (open, close) = (all.get(first)?.trim(), all.get(last)?.trim());
    let sign = open.chars().next().filter(|sign| ['`', '~'].contains(sign))?;
    let fence = open.get(..open.len() - open.trim_start_matches(sign).len())?;
    let word = open.trim_start_matches(sign).trim();
    let is_word = |word: &str| !word.contains([' ', '\t', '`']);
    let closes = close.len() >= fence.len() && close.chars().all(|character| character == sign);
    if fence.len() < 3 || !is_word(word) || !closes {
        return None;
    }
    let within = all.get(first + 1..last)?;
    let is_fence = |line: &&str| line.trim_start().starts_with(fence);
    if within.iter().any(is_fence) {
        return None;
    }
    // The line before the closing fence was terminated.
    Some(joined(within.iter().copied(), "\n"))
}

#[cfg(test)]
mod tests {
    fn off(search: &str, replace: &str) -> Option<(String, String)> {
        super::remove(search, replace).map(|alternative| (alternative.search, alternative.replace))
    }

    #[test]
    fn a_fence_is_taken_off_both_sides() {
        assert_eq!(off("```py\na\n```", "```py\nb\n```\n"), Some(("a\n".into(), "b\n".into())));
        assert_eq!(off("\n~~~~\na\n~~~~\n", "b\n"), Some(("a\n".into(), "b\n".into())));
    }

    #[test]
    fn what_is_no_whole_fence_stays() {
        for search in [
            "```\na\n",
            "a\n```",
            "``\na\n``",
            "```two words\na\n```",
            "```\na\n~~~",
            "```",
            "```\na\n```\nb\n```\nc\n```",
        ] {
            assert_eq!(off(search, "b"), None, "{search}");
        }
    }
}
