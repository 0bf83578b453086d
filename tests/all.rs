//! Every test that needs more than one module, in one binary, so that it is linked once.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test may take for granted what it has set up, and speaks to who runs it"
)]

mod suite {
    mod architecture;
    mod bad_input;
    mod cache;
    mod call_drafts;
    mod cargo_isolated;
    #[expect(dead_code, reason = "only the program of the cases runs them")]
    mod cases;
    mod checking;
    mod cli;
    mod damage;
    mod dead_links;
    mod delta;
    mod depth;
    mod docs;
    mod drafts;
    mod edits;
    mod files;
    mod formatters;
    mod fuzz;
    mod gates;
    mod gates_cli;
    mod git_folders;
    mod hard_links;
    mod history;
    mod hooks;
    mod hostile_names;
    mod http;
    mod init;
    mod journal;
    mod limits;
    mod locating;
    mod mcp;
    mod memory;
    mod misbehaving_gates;
    mod moved;
    mod parallel;
    mod policy;
    mod project_settings;
    mod random;
    mod regex_parity;
    mod removed_definitions;
    mod rows;
    mod runnable;
    mod searching;
    mod servers;
    mod spans;
    mod speed;
    mod spellings;
    mod store;
    mod subfolder;
    mod tool_runs;
    mod trials;
    mod trust;
    mod types;
    mod untrusted;
    mod upgrade;
    mod wire;
}
