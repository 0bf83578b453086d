//! Which brackets of a text have no partner.

/// Pairs brackets as they come.
#[derive(Debug, Default)]
pub(super) struct Brackets {
    open: Vec<(char, usize)>,
    lone: Vec<usize>,
}

impl Brackets {
    /// Takes the next token; all but brackets are ignored.
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

    /// Gives the offsets of the brackets that found no partner, in the order of the text.
    pub(super) fn lone(mut self) -> Vec<usize> {
        self.lone.extend(self.open.into_iter().map(|(_, at)| at));
        self.lone.sort_unstable();
        self.lone
    }

    /// Closes the nearest bracket of that kind; those opened since have no partner.
    fn close(&mut self, close: char, at: usize) {
        match self.open.iter().rposition(|(wanted, _)| *wanted == close) {
            Some(partner) => {
                self.lone.extend(self.open.drain(partner..).skip(1).map(|(_, at)| at));
            }
            None => self.lone.push(at),
        }
    }
}

/// How many more brackets of each kind a text opens than it closes, read without regard to quotes.
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
