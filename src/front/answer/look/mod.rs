//! The answers of looks: one file for each thing that there is to see.

mod context;
mod context_text;
mod entries;
mod lines;
mod matches;
mod whole;

use super::{Answer, Shape, refusal};
use crate::engine::Sight;
use crate::error::Error;

/// Renders what became of a look.
pub fn look(seen: &Result<Sight, Error>, shape: &Shape) -> Answer {
    match seen {
        Ok(Sight::Lines(reading)) => lines::lines(reading),
        Ok(Sight::Context(told)) => context::context(told),
        Ok(Sight::Whole(reading)) => whole::whole(reading),
        Ok(Sight::Matches(found)) => matches::matches(found),
        Ok(Sight::Entries(found)) => entries::entries(found),
        Err(error) => refusal(error, shape),
    }
}
