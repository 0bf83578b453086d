//! lockgate is the place where a coding agent's edit becomes a change on disk.
//!
//! Every edit is **located** exactly or refused with a hint, **judged** by the repository's own quality gates before
//! anything is written, and **published** atomically. `docs/architecture.md` is the map of the rooms.
//!
//! Without the default features this is the engine as a library: [`engine::Workspace`] takes a [`request::Request`]
//! and gives an [`engine::Report`].

pub mod context;
pub mod edit;
pub mod engine;
pub mod error;
#[cfg(feature = "mcp")]
pub mod front;
pub mod gate;
mod grammar;
pub mod locate;
pub mod policy;
pub mod request;
pub mod store;
pub mod text;
