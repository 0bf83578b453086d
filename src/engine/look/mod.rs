//! Looking at what is there: nothing is locked, judged or written.

mod ahead;
mod clip;
mod context;
mod lines;
mod list;
mod page;
mod search;
mod texts;

use std::sync::Arc;

use super::Workspace;
use crate::error::Error;
use crate::gate::Watch;
use crate::request::Look;

pub use crate::context::{Context, Project, Reference, Symbol};
pub(super) use context::Indexed;
pub use lines::Reading;
pub use list::{Entries, Listed};
pub use search::{Match, Matches, Numbered};
pub(super) use texts::Texts;

/// What there is to see.
#[derive(Debug)]
pub enum Sight {
    /// Some lines of a text.
    Lines(Reading),
    /// A whole text.
    Whole(Reading),
    /// The lines of texts that a pattern matches.
    Matches(Matches),
    /// Which texts there are.
    Entries(Entries),
    /// What the code says.
    Context(Box<Context>),
}

impl Sight {
    /// About how many bytes there are to be shown; `None` where that is not told beforehand.
    pub fn size(&self) -> Option<usize> {
        /// What a match or an entry takes with what is around it.
        const LINE: usize = 512;
        match self {
            Sight::Lines(reading) | Sight::Whole(reading) => Some(reading.text.view().len()),
            Sight::Matches(matches) => Some(matches.found.len().saturating_mul(LINE)),
            Sight::Entries(entries) => Some(entries.entries.len().saturating_mul(LINE)),
            Sight::Context(_) => None,
        }
    }
}

impl Workspace {
    /// Shows what is asked.
    ///
    /// Errors: `FILE_NOT_FOUND`, `NOT_TEXT`, `TOO_LARGE`, `PROTECTED`, `RANGE_OUT_OF_BOUNDS` for a start past the last
    /// line, `BAD_PATTERN`, `STORE_UNAVAILABLE` for what lies in a database, and what admitting a path gives.
    pub async fn look(self: &Arc<Self>, look: Look, watch: Watch) -> Result<Sight, Error> {
        if let Look::Lines(crate::request::LineLook { target, .. }) | Look::Whole(target) = &look {
            self.prewarm(target);
        }
        let seen = move |workspace: &Workspace| match &look {
            Look::Lines(look) => workspace.lines(look).map(Sight::Lines),
            Look::Whole(target) => workspace.whole(target).map(Sight::Whole),
            Look::Search(look) => workspace.search(look, &watch).map(Sight::Matches),
            Look::List(look) => workspace.list(look, &watch).map(Sight::Entries),
            Look::Context(look) => workspace.context(look, &watch).map(Box::new).map(Sight::Context),
        };
        self.off_reactor(seen).await
    }
}
