//! The answers of looks: one file for each thing that there is to see.

mod context;
mod context_text;
mod lines;

use super::{Answer, Shape, refusal};
use crate::engine::Sight;
use crate::error::{Code, Error};

/// Renders what became of a look.
pub fn look(seen: &Result<Sight, Error>, shape: &Shape) -> Answer {
    match seen {
        Ok(Sight::Lines(reading)) => lines::lines(reading),
        Ok(Sight::Context(told)) => context::context(told),
        Ok(Sight::Whole(_) | Sight::Matches(_) | Sight::Entries(_)) => {
            refusal(&Error::new(Code::Internal, "not built"), shape)
        }
        Err(error) => refusal(error, shape),
    }
}
