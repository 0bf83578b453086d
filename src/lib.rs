//! Applies the edits of coding agents to files and database entities.
//!
//! Every edit is **located** exactly or rejected with a hint, **checked** by the repository's own quality gates
//! before anything is written, and **published** atomically. `docs/architecture.md` lists the modules.
//!
//! The engine as a library: [`engine::Workspace`] takes a [`request::Request`] and returns an [`engine::Report`].

pub mod context;
pub mod edit;
pub mod engine;
pub mod error;
pub mod front;
pub mod gate;
pub mod grammar;
pub mod locate;
pub mod policy;
pub mod protocol;
pub mod request;
pub mod store;
pub mod text;
