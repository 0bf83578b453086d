//! The MCP server of lockgate: its tools, over standard input and output and over HTTP.
//!
//! A tool converts its arguments into a [`Request`](lockgate_edit::request::Request) to edit or a
//! [`ReadRequest`](lockgate_engine::ReadRequest), has the engine carry it out, and renders the result. It contains no
//! editing rules.
//!
//! Invariant: only this crate uses rmcp.
//!
//! ```
//! use lockgate_mcp::rpc::listed;
//! use lockgate_mcp::selection::{EntityStorage, Selection, WriteAccess};
//!
//! let list = listed(&Selection::default(), WriteAccess::ReadOnly, EntityStorage::Unconfigured);
//! let names: Vec<&str> = list["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
//! assert!(names.contains(&"get_content") && !names.contains(&"safe_edit_file"));
//! ```

pub mod answer;
mod arguments;
pub mod http;
mod random;
pub mod rpc;
mod schema;
pub mod selection;
pub mod tools;
pub mod toolset;
mod wait;
mod write;
