//! The frontends: MCP and the command line.
//!
//! A frontend converts its input into a [`Request`](crate::request::Request) and renders the result. It contains no
//! editing rules.
//!
//! Invariant: only this module uses rmcp, clap and the JSON of the wire.

pub mod answer;
pub mod arguments;
pub mod cli;
pub mod hook;
pub mod http;
pub mod mcp;
pub mod revert;
pub mod schema;
pub mod tools;
pub mod toolset;
