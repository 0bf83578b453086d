//! Already applied: the replacement stands where the edit would put it.

use super::fold::fold;
use super::levels::{self, LevelSearch, MatchSites, Strictness};
use super::matcher::Matcher;
use super::rebase::Block;
use super::rows::FoldedLines;
use super::wrapping::AlternativeEdit;
use super::{Field, Located, OnRepeat};

/// The characters of a replacement, blanks aside, from which on its one place says something.
const LEAST: usize = 10;
/// Blank lines that may lie between the lines of a replacement that stands there.
const BLANKS: usize = 64;

/// The line at which a replacement with more lines than the search stands around a place already, as strictly as the
/// search does, or with an indentation that one rule explains. The place begins at this line; the replacement may reach
/// out of the field.
pub(super) fn around(block: &Block<'_>, field: Field<'_>, line: usize, rung: Strictness) -> Option<usize> {
    let (search, replace) = (&block.search, &block.replace);
    let more = replace.len().checked_sub(search.len()).filter(|more| *more > 0)?;
    let keeps = |offset: &usize| {
        let own = replace.lines.iter().skip(*offset).take(search.len());
        own.map(|line| fold(line.trim())).eq(search.lines.iter().map(|line| fold(line.trim())))
    };
    let mut offsets = (0..=more).filter(keeps).peekable();
    offsets.peek()?;
    let reach = 2 * replace.len() + BLANKS;
    let (first, last) = (line.saturating_sub(reach).max(1), line + reach);
    let ground = FoldedLines::new(field.text, first, last, field.quotes);
    let at = ground.index_of(line);
    let stands = |offset: usize| {
        let start = at.checked_sub(offset).filter(|start| start + replace.len() <= ground.len())?;
        let own = levels::rung(replace, &ground, start)?;
        let strictly = own <= rung || own == Strictness::Indent && levels::moves(replace, &ground, start);
        strictly.then(|| ground.number(start))
    };
    offsets.find_map(stands)
}

impl Matcher<'_> {
    /// Already applied as it is written: the replacement has more lines than the search, and stands in the text.
    pub(super) fn made(&mut self) -> Option<Located> {
        let block = Block::new(self.quote.search, self.quote.replace);
        if self.quote.repeat == OnRepeat::Wanted || block.replace.len() <= block.search.len() {
            return None;
        }
        self.stands(&block).and_then(|lines| Some(Located::Standing { line: *lines.first()? }))
    }

    /// The one place of the replacement, in any reading, where the search has none.
    pub(super) fn standing(&mut self) -> Option<Located> {
        let plain = AlternativeEdit::plain(self.quote.search, self.quote.replace);
        let readings = self.readings();
        std::iter::once(&plain).chain(readings.iter()).find_map(|reading| {
            let lines = self.stands(&Block::new(&reading.search, &reading.replace))?;
            <[usize; 1]>::try_from(lines).ok().map(|[line]| Located::Standing { line })
        })
    }

    /// The lines at which a replacement stands that adds or changes a line; one of a few characters may stand anywhere.
    fn stands(&mut self, block: &Block<'_>) -> Option<Vec<usize>> {
        let written = |line: &&str| line.chars().filter(|character| !character.is_whitespace()).count();
        if block.replace.lines.iter().map(written).sum::<usize>() < LEAST || !block.adds() {
            return None;
        }
        match self.places(&block.replace) {
            LevelSearch::At(MatchSites { at, .. }) => {
                Some(at.into_iter().map(|at| self.ground().number(at)).collect())
            }
            LevelSearch::Nowhere | LevelSearch::TooMany(_) => None,
        }
    }
}
