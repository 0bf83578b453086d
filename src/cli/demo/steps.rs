//! The steps of the demo, each with its call and expected outcome.

use serde_json::{Value, json};

use lockgate_mcp::tools::{edit_files, safe_edit_file, undo_edit};

/// The expected outcome of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DemoOutcome {
    /// The new text is on disk.
    Written,
    /// A gate blocks the edit, and the file is unchanged.
    Refused,
    /// The edit is only verified, and the file is unchanged.
    Verified,
}

impl DemoOutcome {
    /// Returns the status of the answer on the wire.
    pub const fn status(self) -> &'static str {
        match self {
            DemoOutcome::Written => "written",
            DemoOutcome::Refused => "refused",
            DemoOutcome::Verified => "verified",
        }
    }
}

/// One tool call of the demo.
#[derive(Debug)]
pub struct DemoStep {
    pub title: &'static str,
    /// The intention of the agent.
    pub about: &'static str,
    pub tool: &'static str,
    pub arguments: Value,
    /// Expected outcome of the call.
    pub outcome: DemoOutcome,
    /// The gate of this step, if it runs a program that may not be installed.
    pub gate: Option<&'static str>,
}

impl DemoStep {
    /// Creates a step whose call of `safe_edit_file` writes a file.
    fn new(title: &'static str, about: &'static str, arguments: Value) -> DemoStep {
        let tool = safe_edit_file::TOOL.name;
        DemoStep { title, about, tool, arguments, outcome: DemoOutcome::Written, gate: None }
    }

    /// Returns the file of the call; empty if it has none.
    pub fn path(&self) -> &str {
        self.arguments.get("path").and_then(Value::as_str).unwrap_or_default()
    }
}

/// Returns the steps: the edit modes, an inexact search text, a blocked edit, a verification, three gates that run
/// programs, and a batch with its undo.
pub(super) fn steps() -> [DemoStep; 12] {
    [
        DemoStep::new(
            "search and replace, Go",
            "Raise both timeouts with one pattern in Python's syntax.",
            json!({
                "path": "cmd/stockd/main.go",
                "search": r"(read|write)Timeout(\s+)= 5 \*",
                "replace": r"\1Timeout\g<2>= 30 *",
                "regex": true,
            }),
        ),
        DemoStep::new(
            "a misquoted block, Go",
            "Log requests for unknown items. The quoted text has line numbers and spaces; the file has tabs.",
            json!({
                "path": "cmd/stockd/main.go",
                "search": concat!(
                    "22:     if !known {\n",
                    "23:         http.NotFound(w, r)\n",
                    "24:         return\n",
                ),
                "replace": concat!(
                    "    if !known {\n",
                    "        log.Printf(\"no %s here\", sku)\n",
                    "        http.NotFound(w, r)\n",
                    "        return\n",
                ),
            }),
        ),
        DemoStep::new(
            "line edits, Python",
            "Reject an order for more than is in stock. `expect` is the line that the agent expects there.",
            json!({
                "path": "stock/inventory.py",
                "line_edits": [{
                    "start_line": 31,
                    "end_line": 31,
                    "expect": "        item.quantity -= quantity",
                    "new_content": concat!(
                        "        if quantity > item.quantity:\n",
                        "            raise ValueError(f\"only {item.quantity} of {sku} in stock\")\n",
                        "        item.quantity -= quantity\n",
                    ),
                }],
            }),
        ),
        DemoStep::new(
            "insert lines, Markdown",
            "Describe the new rule before the section that begins on line 11.",
            json!({
                "path": "README.md",
                "insert_lines": [{
                    "at_line": 11,
                    "expect": "## Model",
                    "content": "## Shipping\n\nAn order for more than is in stock is refused with a `ValueError`.\n\n",
                }],
            }),
        ),
        DemoStep::new(
            "content, Python",
            "Create a new file and its folder.",
            json!({
                "path": "tests/test_inventory.py",
                "content": concat!(
                    "import pytest\n\n",
                    "from stock import Inventory\n\n\n",
                    "def test_no_more_is_shipped_than_there_is():\n",
                    "    inventory = Inventory()\n",
                    "    inventory.receive(\"bolt-m4\", 3)\n",
                    "    with pytest.raises(ValueError):\n",
                    "        inventory.ship(\"bolt-m4\", 4)\n",
                ),
            }),
        ),
        DemoStep {
            outcome: DemoOutcome::Refused,
            ..DemoStep::new(
                "a rejected edit, Python",
                "A mistake of an agent: the second line should be indented below the `if`.",
                json!({
                    "path": "stock/inventory.py",
                    "line_edits": [{
                        "start_line": 26,
                        "end_line": 26,
                        "new_content": concat!(
                            "        if quantity < 1:\n",
                            "        raise ValueError(\"nothing to receive\")\n",
                            "        item.quantity += quantity\n",
                        ),
                    }],
                }),
            )
        },
        DemoStep {
            outcome: DemoOutcome::Verified,
            ..DemoStep::new(
                "a verification, Go",
                "Would this rename pass the gates? `verify_only` answers as `strict` would, and writes nothing.",
                json!({
                    "path": "cmd/stockd/main.go",
                    "search": r"(func |, )levels\b",
                    "replace": r"\1answerLevels",
                    "regex": true,
                    "mode": "verify_only",
                }),
            )
        },
        DemoStep {
            outcome: DemoOutcome::Refused,
            gate: Some("ruff"),
            ..DemoStep::new(
                "ruff rejects an edit, Python",
                "A name is misspelt. The policy of pricing/ runs ruff, which reads the draft from standard input.",
                json!({
                    "path": "pricing/total.py",
                    "search": "return sum(prices, Decimal(0))",
                    "replace": "return sum(price, Decimal(0))",
                }),
            )
        },
        DemoStep {
            gate: Some("gofmt"),
            ..DemoStep::new(
                "gofmt fixes, Go",
                "The indentation is wrong; where the policy says `role: fix`, the draft is fixed before it is written.",
                json!({
                    "path": "pricing/round.go",
                    "line_edits": [{
                        "start_line": 6,
                        "end_line": 6,
                        "new_content": "  if cents<0 {\n  return -Round( -cents )\n  }\n  return (cents+50)/100\n",
                    }],
                }),
            )
        },
        DemoStep {
            outcome: DemoOutcome::Refused,
            gate: Some("pyright"),
            ..DemoStep::new(
                "pyright rejects an edit, Python",
                "`get` without its default may give None: a type error, not a syntax error. pyright sees the draft in place of \
                the file, which is never touched.",
                json!({
                    "path": "pricing/rates.py",
                    "search": "RATES.get(kind, 19)",
                    "replace": "RATES.get(kind)",
                }),
            )
        },
        DemoStep {
            tool: edit_files::TOOL.name,
            ..DemoStep::new(
                "several files, all or none",
                "Rename a field in the code and in its documentation. Both drafts are checked before either is written.",
                json!({
                    "edits": [
                        { "path": "stock/inventory.py", "search": "reorder_at", "replace": "minimum" },
                        { "path": "README.md", "search": "`reorder_at`", "replace": "`minimum`" },
                    ],
                }),
            )
        },
        DemoStep {
            tool: undo_edit::TOOL.name,
            ..DemoStep::new(
                "an edit is undone",
                "The old name was better. The last edit of README.md is undone in all files that it changed; earlier edits stay.",
                json!({ "path": "README.md" }),
            )
        },
    ]
}
