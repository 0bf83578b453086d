//! The steps for a batch and its undo.

use serde_json::json;

use super::step::{DemoOutcome, DemoStep};
use lockgate_mcp::tools::{edit_files, undo_edit};

pub(super) fn batch() -> DemoStep {
    DemoStep {
        title: "several files, all or none",
        about: "Rename a field in the code and in its documentation. Both drafts are checked before either is written.",
        tool: edit_files::TOOL.name,
        arguments: json!({
            "edits": [
                { "path": "stock/inventory.py", "search": "reorder_at", "replace": "minimum" },
                { "path": "README.md", "search": "`reorder_at`", "replace": "`minimum`" },
            ],
        }),
        outcome: DemoOutcome::Written,
        gate: None,
    }
}

pub(super) fn undo() -> DemoStep {
    DemoStep {
        title: "an edit is undone",
        about: "The old name was better. The last edit of README.md is undone in all files that it changed; earlier edits stay.",
        tool: undo_edit::TOOL.name,
        arguments: json!({ "path": "README.md" }),
        outcome: DemoOutcome::Written,
        gate: None,
    }
}
