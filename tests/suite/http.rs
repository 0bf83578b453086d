//! The server over HTTP, before raw bytes and before the SDKs of the protocol: who is let in, who reaches what, and what one
//! client can do to others.

mod bodies;
mod content;
mod grants;
mod heads;
mod load;
mod matrix;
mod page;
mod pairs;
pub mod raw;
mod replicas;
pub mod server_process;
mod setup;
mod shutdown;

use super::mcp::{check_with, node_modules, python};

#[test]
fn the_python_sdk_uses_every_tool_over_http_in_both_eras() {
    let Some(python) = python() else { return };
    for (script, checks) in [("sdk_client.py", 10), ("confirm_client.py", 14), ("sampling_client.py", 23)] {
        check_with(&python, script, &["http"], checks);
    }
}

#[test]
fn the_typescript_sdk_uses_every_tool_over_http_in_both_eras() {
    let Some(modules) = node_modules("client") else { return };
    check_with(&modules.join(".bin/node"), "sdk_client.mjs", &[modules.to_str().unwrap(), "http"], 10);
}

#[test]
fn the_conformance_suite_finds_no_error() {
    let Some(modules) = node_modules("conformance") else { return };
    check_with(&modules.join(".bin/node"), "conformance.mjs", &[modules.to_str().unwrap()], 20);
}
