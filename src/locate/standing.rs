//! Whether an edit that adds lines was made before.

use super::block::Seeker;
use super::carry::Block;
use super::fold::fold;
use super::ladder::{self, Places, Search};
use super::rows::Ground;
use super::wrapping::{Reading, readings};
use super::{Located, Quote, Repeat};
use crate::text::Lines;

/// The line at which a replacement with more lines than the search stands around a place already, in the lines that are
/// looked at or reaching out of them; the place begins at this line of the text.
pub(super) fn around(block: &Block<'_>, text: Lines<'_>, line: usize) -> Option<usize> {
    let (n, m) = (block.search.len(), block.replace.len());
    let offsets = 0..=m.checked_sub(n + 1)? + 1;
    let keeps = |offset: &usize| {
        let own = block.replace.lines.iter().skip(*offset).take(n);
        own.map(|line| fold(line.trim())).eq(block.search.lines.iter().map(|line| fold(line.trim())))
    };
    let mut offsets = offsets.filter(keeps).peekable();
    offsets.peek()?;
    let ground = Ground::new(text, 1, text.count());
    let at = ground.index_of(line);
    offsets
        .filter_map(|offset| at.checked_sub(offset))
        .find(|start| start + m <= ground.len() && ladder::rung(&block.replace, &ground, *start).is_some())
        .map(|start| ground.number(start))
}

impl Seeker<'_> {
    /// Already applied as it is written: the replacement has more lines than the search, and stands in the text.
    pub(super) fn made(&mut self) -> Option<Located> {
        let block = Block::of(self.quote.search, self.quote.replace);
        if self.quote.repeat == Repeat::Wanted || block.replace.len() <= block.search.len() {
            return None;
        }
        match ladder::find(&block.replace, &self.ground, &mut self.steps) {
            Search::At(Places { at, .. }) if block.adds() => {
                let line = self.ground.number(*at.first()?);
                Some(Located::Standing { line })
            }
            Search::At(_) | Search::Nowhere | Search::TooMany(_) => None,
        }
    }

    /// Already applied: the replacement stands in the text, and it adds or changes a line.
    pub(super) fn standing(&mut self) -> Option<Located> {
        let Quote { search, replace, .. } = self.quote;
        let plain = Reading::plain(search, replace);
        std::iter::once(plain).chain(readings(search, replace)).find_map(|reading| {
            let block = Block::of(&reading.search, &reading.replace);
            let found = ladder::find(&block.replace, &self.ground, &mut self.steps);
            match found {
                Search::At(Places { at, .. }) if block.adds() => match at.as_slice() {
                    [one] => Some(Located::Standing { line: self.ground.number(*one) }),
                    _ => None,
                },
                Search::At(_) | Search::Nowhere | Search::TooMany(_) => None,
            }
        })
    }
}
