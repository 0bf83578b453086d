//! Already applied: the replacement stands where the edit would put it.

use super::Located;
use super::carry::Block;
use super::ladder::{self, Places, Rung, Search};
use super::seeker::Seeker;
use super::wrapping::Reading;

/// The characters of a replacement, blanks aside, from which on its one place says something.
const LEAST: usize = 10;

impl Seeker<'_> {
    /// The same for the place that begins on a line of the file.
    pub(super) fn stands_at(&self, line: usize) -> Option<usize> {
        let block = Block::of(self.quote.search, self.quote.replace);
        self.stands_around(&block, self.ground().index_of(line), Rung::Space)
    }

    /// The line at which a replacement with more lines than the search stands around a place, as strictly as the search
    /// does, or with an indentation that one rule explains.
    pub(super) fn stands_around(&self, block: &Block<'_>, at: usize, rung: Rung) -> Option<usize> {
        let (search, replace) = (&block.search, &block.replace);
        let more = replace.len().checked_sub(search.len()).filter(|more| *more > 0)?;
        let keeps = |offset: &usize| {
            let own = replace.lines.iter().skip(*offset).take(search.len());
            own.map(|line| line.trim()).eq(search.lines.iter().map(|line| line.trim()))
        };
        let stands = |offset: usize| {
            let start =
                at.checked_sub(offset).filter(|start| start + replace.len() <= self.ground().len())?;
            let own = ladder::rung(replace, self.ground(), start)?;
            let strictly = own <= rung || own == Rung::Indent && ladder::moves(replace, self.ground(), start);
            strictly.then(|| self.ground().number(start))
        };
        (0..=more).filter(keeps).find_map(stands)
    }

    /// The one place of the replacement where the search has none, when the edit adds or changes a line; a replacement of
    /// a few characters may stand anywhere.
    pub(super) fn standing(&mut self) -> Option<Located> {
        let plain = Reading::plain(self.quote.search, self.quote.replace);
        let readings = self.readings();
        std::iter::once(&plain).chain(readings.iter()).find_map(|reading| {
            let block = Block::of(&reading.search, &reading.replace);
            let written = |line: &&str| line.chars().filter(|character| !character.is_whitespace()).count();
            if block.replace.lines.iter().map(written).sum::<usize>() < LEAST {
                return None;
            }
            match self.places(&block.replace) {
                Search::At(Places { at, .. }) if block.adds() => match at.as_slice() {
                    [one] => Some(Located::Standing { line: self.ground().number(*one) }),
                    [..] => None,
                },
                Search::At(_) | Search::Nowhere | Search::TooMany(_) => None,
            }
        })
    }
}
