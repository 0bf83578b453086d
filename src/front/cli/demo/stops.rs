//! The stops of the tour: what is asked at each, and what has to come of it.

use serde_json::{Value, json};

/// What has to come of a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The new text is on disk.
    Written,
    /// A gate refused it, and the file's bytes are the same.
    Refused,
    /// It was only shown, and the file's bytes are the same.
    Verified,
}

impl Outcome {
    /// The status of the answer on the wire.
    pub(super) const fn status(self) -> &'static str {
        match self {
            Outcome::Written => "written",
            Outcome::Refused => "refused",
            Outcome::Verified => "verified",
        }
    }
}

/// One call of `safe_edit_file`.
#[derive(Debug)]
pub(super) struct Stop {
    /// What the stop shows.
    pub title: &'static str,
    /// What the agent has in mind.
    pub about: &'static str,
    /// The call's arguments.
    pub arguments: Value,
    /// What has to come of it.
    pub outcome: Outcome,
}

impl Stop {
    /// The file that the call edits.
    pub(super) fn path(&self) -> &str {
        self.arguments.get("path").and_then(Value::as_str).unwrap_or_default()
    }
}

/// The tour: the four modes of editing, a refusal, and a look ahead.
pub(super) fn stops() -> [Stop; 6] {
    [search(), line_edits(), insert_lines(), content(), refused(), verified()]
}

fn search() -> Stop {
    Stop {
        title: "search and replace, Go",
        about: "Raise both time-outs, whatever their names, with one pattern in Python's syntax.",
        arguments: json!({
            "path": "cmd/stockd/main.go",
            "search": r"(read|write)Timeout(\s+)= 5 \*",
            "replace": r"\1Timeout\g<2>= 30 *",
            "regex": true,
        }),
        outcome: Outcome::Written,
    }
}

fn line_edits() -> Stop {
    Stop {
        title: "line edits, Python",
        about: "Refuse to ship more than there is. `expect` says what the agent believes stands on that line.",
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
        outcome: Outcome::Written,
    }
}

fn insert_lines() -> Stop {
    Stop {
        title: "insert lines, Markdown",
        about: "Write the new rule down before the section that begins on line 11.",
        arguments: json!({
            "path": "README.md",
            "insert_lines": [{
                "at_line": 11,
                "expect": "## Model",
                "content": "## Shipping\n\nAn order for more than is in stock is refused with a `ValueError`.\n\n",
            }],
        }),
        outcome: Outcome::Written,
    }
}

fn content() -> Stop {
    Stop {
        title: "content, Python",
        about: "Make a file that is not there yet, with its folder.",
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
        outcome: Outcome::Written,
    }
}

fn refused() -> Stop {
    Stop {
        title: "a gate refuses, Python",
        about: "An agent's slip: the second line should be indented below the `if`.",
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
        outcome: Outcome::Refused,
    }
}

fn verified() -> Stop {
    Stop {
        title: "a look ahead, Go",
        about: "Would this rename pass the gates? `verify_only` answers as `strict` would, and writes nothing.",
        arguments: json!({
            "path": "cmd/stockd/main.go",
            "search": r"(func |, )levels\b",
            "replace": r"\1answerLevels",
            "regex": true,
            "mode": "verify_only",
        }),
        outcome: Outcome::Verified,
    }
}
