//! The steps for the edit modes, checked by the built-in gates.

use serde_json::json;

use super::step::{DemoOutcome, DemoStep};
use lockgate_mcp::tools::safe_edit_file;

pub(super) fn search() -> DemoStep {
    DemoStep {
        title: "search and replace, Go",
        about: "Raise both timeouts with one pattern in Python's syntax.",
        tool: safe_edit_file::TOOL.name,
        arguments: json!({
            "path": "cmd/stockd/main.go",
            "search": r"(read|write)Timeout(\s+)= 5 \*",
            "replace": r"\1Timeout\g<2>= 30 *",
            "regex": true,
        }),
        outcome: DemoOutcome::Written,
        gate: None,
    }
}

pub(super) fn misquoted() -> DemoStep {
    DemoStep {
        title: "a misquoted block, Go",
        about: "Log requests for unknown items. The quoted text has line numbers and spaces; the file has tabs.",
        tool: safe_edit_file::TOOL.name,
        arguments: json!({
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
        outcome: DemoOutcome::Written,
        gate: None,
    }
}

pub(super) fn line_edits() -> DemoStep {
    DemoStep {
        title: "line edits, Python",
        about: "Reject an order for more than is in stock. `expect` is the line that the agent expects there.",
        tool: safe_edit_file::TOOL.name,
        arguments: json!({
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
        outcome: DemoOutcome::Written,
        gate: None,
    }
}

pub(super) fn insert_lines() -> DemoStep {
    DemoStep {
        title: "insert lines, Markdown",
        about: "Describe the new rule before the section that begins on line 11.",
        tool: safe_edit_file::TOOL.name,
        arguments: json!({
            "path": "README.md",
            "insert_lines": [{
                "at_line": 11,
                "expect": "## Model",
                "content": "## Shipping\n\nAn order for more than is in stock is refused with a `ValueError`.\n\n",
            }],
        }),
        outcome: DemoOutcome::Written,
        gate: None,
    }
}

pub(super) fn content() -> DemoStep {
    DemoStep {
        title: "content, Python",
        about: "Create a new file and its folder.",
        tool: safe_edit_file::TOOL.name,
        arguments: json!({
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
        outcome: DemoOutcome::Written,
        gate: None,
    }
}

pub(super) fn refused() -> DemoStep {
    DemoStep {
        title: "a rejected edit, Python",
        about: "A mistake of an agent: the second line should be indented below the `if`.",
        tool: safe_edit_file::TOOL.name,
        arguments: json!({
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
        outcome: DemoOutcome::Refused,
        gate: None,
    }
}

pub(super) fn verified() -> DemoStep {
    DemoStep {
        title: "a verification, Go",
        about: "Would this rename pass the gates? `verify_only` answers as `strict` would, and writes nothing.",
        tool: safe_edit_file::TOOL.name,
        arguments: json!({
            "path": "cmd/stockd/main.go",
            "search": r"(func |, )levels\b",
            "replace": r"\1answerLevels",
            "regex": true,
            "mode": "verify_only",
        }),
        outcome: DemoOutcome::Verified,
        gate: None,
    }
}
