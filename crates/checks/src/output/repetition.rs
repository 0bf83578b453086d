//! Detects a formatter's output that contains the text of the draft more than once.
//!
//! Both texts are compared as words and signs, because a formatter changes the white space of each copy. A text
//! that repeats itself before formatting may do so afterwards, as often.
//!
//! Invariant: the time is linear in both texts.

use std::collections::HashMap;

/// The signs that formatters add, remove or exchange; they are not compared.
const LOOSE_SIGNS: [char; 5] = ['"', '\'', '`', ',', ';'];

/// True if a formatted text consists of more copies than the draft, or of the whole draft and a changed copy.
///
/// A text without words is not compared: formatters lengthen lines of signs.
pub(super) fn has_added_copy(text: &str, view: &str) -> bool {
    if !view.contains(char::is_alphanumeric) {
        return false;
    }
    let (made, given) = (tokens(text), tokens(view));
    // With a copy, a text is almost twice as long; a formatter may have removed some words.
    if made.len().saturating_mul(2) < given.len().saturating_mul(3) {
        return false;
    }
    let rest = made.strip_prefix(given.as_slice()).or_else(|| made.strip_suffix(given.as_slice()));
    repetitions(&made) > repetitions(&given) || rest.is_some_and(|rest| is_copy(rest, &given))
}

/// True if a text begins like the draft and has three quarters of its words and signs.
fn is_copy(text: &[&str], given: &[&str]) -> bool {
    let mut unmatched: HashMap<&str, usize> = HashMap::new();
    for token in given {
        *unmatched.entry(token).or_default() += 1;
    }
    let mut common = 0_usize;
    for token in text {
        if let Some(count) = unmatched.get_mut(token).filter(|count| **count > 0) {
            *count -= 1;
            common += 1;
        }
    }
    text.first() == given.first() && common.saturating_mul(4) >= given.len().saturating_mul(3)
}

/// Returns the number of equal parts that follow each other and make up the whole; 1 if there are none.
fn repetitions(tokens: &[&str]) -> usize {
    // For each position, the length of the longest proper prefix that also ends there (Knuth, Morris, Pratt).
    let mut borders = vec![0_usize; tokens.len()];
    let mut length = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(1) {
        while length > 0 && tokens.get(length) != Some(token) {
            length = borders.get(length - 1).copied().unwrap_or_default();
        }
        if tokens.get(length) == Some(token) {
            length += 1;
        }
        if let Some(border) = borders.get_mut(at) {
            *border = length;
        }
    }
    let period = tokens.len() - length;
    if period > 0 && tokens.len().is_multiple_of(period) { tokens.len() / period } else { 1 }
}

/// Returns the words and the other characters of a text, without white space and loose signs.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first.is_alphanumeric() {
            rest.find(|character: char| !character.is_alphanumeric()).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (token, behind) = rest.split_at(length);
        if !first.is_whitespace() && !LOOSE_SIGNS.contains(&first) {
            tokens.push(token);
        }
        rest = behind;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_parts_are_counted() {
        for (text, count) in
            [("", 1), ("a", 1), ("a a", 2), ("a b a", 1), ("a b a b", 2), ("f(1); f(1)\nf(1)", 3), ("aa", 1)]
        {
            assert_eq!(repetitions(&tokens(text)), count, "{text:?}");
        }
    }
}
