//! The replacements of `re.sub`.

use std::num::NonZeroUsize;
use std::ops::Range;

use super::budget::StepBudget;
use super::compiled::Pattern;
use super::error::Error;
use super::template::{ReplacementTemplate, TemplatePart};
use super::walk::{MatchDetail, MatchWalk};

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
    /// Errors: [`Error::OutOfSteps`] if the budget is used up.
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
        let mut walk = MatchWalk::new(self, text, detail, budget);
        let mut changes = Vec::new();
        while count.is_none_or(|count| changes.len() < count.get()) {
            let Some(found) = walk.next()? else { break };
            let span = offset + found.start..offset + found.end;
            changes.push(Replacement { span, text: self.expand(template, &mut walk, found, text)? });
        }
        Ok(changes)
    }

    fn expand(
        &self,
        template: &ReplacementTemplate,
        walk: &mut MatchWalk,
        found: Range<usize>,
        text: &str,
    ) -> Result<String, Error> {
        let mut new = String::new();
        if template.has_groups() && (1..=self.groups).any(|group| walk.group(group).is_some_and(is_reversed))
        {
            let message = "not supported: a group whose end comes before its start, where Python fails too";
            return Err(Error::Pattern(message.to_owned()));
        }
        for part in &template.parts {
            let piece = match part {
                TemplatePart::Text(piece) => piece,
                TemplatePart::Group(0) => text.get(found.clone()).unwrap_or_default(),
                TemplatePart::Group(group) => {
                    walk.group(*group).and_then(|(from, to)| text.get(from..to)).unwrap_or_default()
                }
            };
            walk.spend(piece.len() / 2)?;
            new.push_str(piece);
        }
        Ok(new)
    }
}

fn is_reversed((from, to): (usize, usize)) -> bool {
    from > to
}
