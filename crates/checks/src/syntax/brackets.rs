//! Finds the unmatched brackets of a text.

use std::collections::BTreeMap;

/// The brackets of a text that are not closed properly.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct BracketReport {
    /// The offsets of unmatched brackets.
    pub(super) lone: Vec<usize>,
    /// The offsets of brackets that are not closed where their indentation ends.
    pub(super) unclosed: Vec<usize>,
}

/// Pairs brackets by their kind, in text order.
#[derive(Debug, Default)]
pub(super) struct Brackets {
    open: Vec<(char, usize)>,
    /// The open brackets of each kind, so that no partner is searched for where there is none.
    counts: BTreeMap<char, usize>,
    lone: Vec<usize>,
}

impl Brackets {
    /// Adds the next token; ignores all tokens except brackets.
    pub(super) fn see(&mut self, token: &str, at: usize) {
        match token {
            "(" => self.open(')', at),
            "[" => self.open(']', at),
            "{" => self.open('}', at),
            ")" => self.close(')', at),
            "]" => self.close(']', at),
            "}" => self.close('}', at),
            _ => {}
        }
    }

    /// Returns the offsets of the unmatched brackets, in text order.
    pub(super) fn lone(mut self) -> Vec<usize> {
        self.lone.extend(self.open.into_iter().map(|(_, at)| at));
        self.lone.sort_unstable();
        self.lone
    }

    fn open(&mut self, close: char, at: usize) {
        self.open.push((close, at));
        *self.counts.entry(close).or_default() += 1;
    }

    /// Closes the nearest open bracket of that kind; brackets opened since then are unmatched.
    fn close(&mut self, close: char, at: usize) {
        if self.counts.get(&close).is_none_or(|count| *count == 0) {
            self.lone.push(at);
            return;
        }
        while let Some((closing, opened)) = self.open.pop() {
            *self.counts.entry(closing).or_default() -= 1;
            if closing == close {
                return;
            }
            self.lone.push(opened);
        }
    }
}

/// Returns the number of opening minus closing brackets of each kind, including those in quotes.
pub(super) fn balance(text: &str) -> [isize; 3] {
    let mut balance = [0; 3];
    for byte in text.bytes() {
        match byte {
            b'(' => balance[0] += 1,
            b')' => balance[0] -= 1,
            b'[' => balance[1] += 1,
            b']' => balance[1] -= 1,
            b'{' => balance[2] += 1,
            b'}' => balance[2] -= 1,
            _ => {}
        }
    }
    balance
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lone(text: &str) -> Vec<usize> {
        let mut brackets = Brackets::default();
        for (at, character) in text.char_indices() {
            brackets.see(character.encode_utf8(&mut [0; 4]), at);
        }
        brackets.lone()
    }

    #[test]
    fn finds_the_brackets_without_a_partner() {
        let none: [usize; 0] = [];
        assert_eq!(lone("a(b[c]{d})"), none);
        assert_eq!(
            [lone("({)"), lone("{(}"), lone("]"), lone("((")],
            [vec![1], vec![1], vec![0], vec![0, 1]]
        );
        assert_eq!(lone("{ { }"), [0]);
    }

    #[test]
    fn balances_without_reading() {
        assert_eq!(balance("f(x[0], {\"}"), [1, 0, 0]);
        assert_eq!(balance("}{{ ))["), [-2, 1, 1]);
    }
}
