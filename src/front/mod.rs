//! How lockgate is called: over MCP and from the command line.
//!
//! A front turns what was sent into a [`Request`](crate::request::Request) and renders what came of it. It holds no
//! rule of editing.
//!
//! Invariant: only this room knows rmcp, clap and the JSON of the wire.

pub mod answer;
pub mod arguments;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "http")]
pub mod http;
pub mod mcp;
pub mod past;
pub mod schema;
pub mod tools;
pub mod toolset;
