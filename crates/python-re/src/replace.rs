//! The replacements of `re.sub`.

use std::num::NonZeroUsize;
use std::ops::Range;

use super::budget::StepBudget;
use super::compiled::Pattern;
use super::error::Error;
use super::template::{ReplacementTemplate, TemplatePart};
use super::walk::{MATCH, MatchDetail, MatchWalk};

/// A match, and the text that takes its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// The replaced bytes of the text; empty for an empty match.
    pub span: Range<usize>,
    /// The text that takes its place, with all groups filled in.
    pub text: String,
}

impl Pattern {
    /// Returns the replacements that `re.sub` makes to `text[window]`, at most `count` of them, with spans of the whole
    /// text.
    ///
    /// Only the window is searched, as if its lines were passed alone to `re.sub`: anchors match at its ends, and
    /// look-around cannot see beyond it. A window outside the text gives none.
    ///
    /// Errors: [`Error::OutOfSteps`] if the budget is used up, and [`Error::TooLarge`] if the replacements have more
    /// characters than it allows. One at the end of the window counts alone, because a caller may leave it out.
    pub fn replace(
        &self,
        text: &str,
        window: Range<usize>,
        template: &ReplacementTemplate,
        count: Option<NonZeroUsize>,
        budget: &mut StepBudget,
    ) -> Result<Vec<Replacement>, Error> {
        let offset = window.start;
        let Some(text) = text.get(window) else { return Ok(Vec::new()) };
        let detail = if template.has_groups() { MatchDetail::Groups } else { MatchDetail::Span };
        let max_chars = budget.max_chars();
        let mut chars_left = max_chars;
        let mut walk = MatchWalk::new(self, text, detail, budget);
        let mut changes = Vec::new();
        while count.is_none_or(|count| changes.len() < count.get()) {
            let Some(found) = walk.next()? else { break };
            let span = offset + found.start..offset + found.end;
            let mut alone = max_chars;
            let left = if found.start == text.len() { &mut alone } else { &mut chars_left };
            let new = self.expand(template, &mut walk, found, text, left)?;
            changes.push(Replacement { span, text: new.ok_or(Error::TooLarge(max_chars))? });
        }
        Ok(changes)
    }

    /// Returns the text for a match, and takes its characters from those that are left; `None` if they do not suffice.
    fn expand(
        &self,
        template: &ReplacementTemplate,
        walk: &mut MatchWalk,
        found: Range<usize>,
        text: &str,
        chars_left: &mut u64,
    ) -> Result<Option<String>, Error> {
        let mut new = String::new();
        if template.has_groups() && (1..=self.groups).any(|group| walk.group(group).is_some_and(is_reversed))
        {
            let message = "not supported: a group whose end comes before its start, where Python fails too";
            return Err(Error::Pattern(message.to_owned()));
        }
        // The cost of a match includes that of a few parts.
        walk.spend(template.parts.len().saturating_sub(MATCH))?;
        for part in &template.parts {
            let piece = match part {
                TemplatePart::Text(piece) => piece,
                TemplatePart::Group(0) => text.get(found.clone()).unwrap_or_default(),
                TemplatePart::Group(group) => {
                    walk.group(*group).and_then(|(from, to)| text.get(from..to)).unwrap_or_default()
                }
            };
            walk.spend(piece.len() / 2)?;
            let Some(left) = chars_left.checked_sub(piece.chars().count() as u64) else { return Ok(None) };
            *chars_left = left;
            new.push_str(piece);
        }
        Ok(Some(new))
    }
}

fn is_reversed((from, to): (usize, usize)) -> bool {
    from > to
}
