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

use std::process::Command;

use super::mcp::{installed, succeeds, tool};

#[test]
fn the_python_sdk_uses_every_tool_over_http_in_both_eras() {
    let Some(python) = installed("LOCKGATE_TEST_VENV", "venv", "bin/python") else { return };
    let binary = env!("CARGO_BIN_EXE_lockgate");
    for (script, checks) in [("sdk_client.py", 10), ("confirm_client.py", 14), ("sampling_client.py", 23)] {
        let output = succeeds(Command::new(&python).arg(tool(script)).args([binary, "http"]));
        assert_eq!(
            output.lines().filter(|line| line.starts_with("ok ")).count(),
            checks,
            "{script}: {output}"
        );
    }
}

#[test]
fn the_typescript_sdk_uses_every_tool_over_http_in_both_eras() {
    let sdk = "node_modules/@modelcontextprotocol/client";
    let Some(sdk) = installed("LOCKGATE_TEST_NODE", "node", sdk) else { return };
    let modules = sdk.parent().unwrap().parent().unwrap();
    let mut node = Command::new(modules.join(".bin/node"));
    let binary = env!("CARGO_BIN_EXE_lockgate");
    let output = succeeds(node.arg(tool("sdk_client.mjs")).arg(binary).arg(modules).arg("http"));
    assert_eq!(output.lines().filter(|line| line.starts_with("ok ")).count(), 10, "{output}");
}

#[test]
fn the_conformance_suite_finds_no_error() {
    let suite = "node_modules/@modelcontextprotocol/conformance";
    let Some(suite) = installed("LOCKGATE_TEST_NODE", "node", suite) else { return };
    let modules = suite.parent().unwrap().parent().unwrap();
    let mut node = Command::new(modules.join(".bin/node"));
    let output = succeeds(node.arg(tool("conformance.mjs")).arg(env!("CARGO_BIN_EXE_lockgate")).arg(modules));
    assert_eq!(output.lines().filter(|line| line.starts_with("ok ")).count(), 20, "{output}");
}
