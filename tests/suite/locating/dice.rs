//! Choices made by bytes, so that proptest and the fuzzer drive one generator; no bytes left are the simplest choices.

pub struct Random<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Random<'_> {
    pub fn new(bytes: &[u8]) -> Random<'_> {
        Random { bytes, at: 0 }
    }

    pub fn below(&mut self, sides: usize) -> usize {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(byte) % sides
    }

    pub fn one_in(&mut self, sides: usize) -> bool {
        self.below(sides) == sides - 1
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}
