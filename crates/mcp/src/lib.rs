//! The MCP server of lockgate: its tools, over standard input and output and over HTTP.
//!
//! A tool converts its arguments into a [`Request`](lockgate_edit::request::Request), has the engine carry it out, and
//! renders the report. It contains no editing rules.
//!
//! Invariant: only this crate uses rmcp and the JSON of the wire.

pub mod answer;
pub mod arguments;
pub mod http;
pub mod revert;
pub mod rpc;
pub mod schema;
pub mod tools;
pub mod toolset;
