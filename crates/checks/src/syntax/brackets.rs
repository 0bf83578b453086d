//! Finds the unmatched brackets of a text.

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
    lone: Vec<usize>,
}

impl Brackets {
    /// Adds the next token; ignores all tokens except brackets.
    pub(super) fn see(&mut self, token: &str, at: usize) {
        match token {
            "(" => self.open.push((')', at)),
            "[" => self.open.push((']', at)),
            "{" => self.open.push(('}', at)),
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

    /// Closes the nearest open bracket of that kind; brackets opened since then are unmatched.
    fn close(&mut self, close: char, at: usize) {
        match self.open.iter().rposition(|(closing, _)| *closing == close) {
            Some(partner) => {
                self.lone.extend(self.open.drain(partner..).skip(1).map(|(_, at)| at));
            }
            None => self.lone.push(at),
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
