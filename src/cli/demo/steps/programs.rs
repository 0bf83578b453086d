//! The steps in which a program of the policy checks or fixes the draft.

use serde_json::json;

use super::step::{DemoOutcome, DemoStep};
use lockgate_mcp::tools::safe_edit_file;

pub(super) fn ruff() -> DemoStep {
    DemoStep {
        title: "ruff rejects an edit, Python",
        about: "A name is misspelt. The policy of pricing/ runs ruff, which reads the draft from standard input.",
        tool: safe_edit_file::TOOL.name,
        arguments: json!({
            "path": "pricing/total.py",
            "search": "return sum(prices, Decimal(0))",
            "replace": "return sum(price, Decimal(0))",
        }),
        outcome: DemoOutcome::Refused,
        gate: Some("ruff"),
    }
}

pub(super) fn gofmt() -> DemoStep {
    DemoStep {
        title: "gofmt fixes, Go",
        about: "The indentation is wrong; where the policy says `role: fix`, the draft is fixed before it is written.",
        tool: safe_edit_file::TOOL.name,
        arguments: json!({
            "path": "pricing/round.go",
            "line_edits": [{
                "start_line": 6,
                "end_line": 6,
                "new_content": "  if cents<0 {\n  return -Round( -cents )\n  }\n  return (cents+50)/100\n",
            }],
        }),
        outcome: DemoOutcome::Written,
        gate: Some("gofmt"),
    }
}

pub(super) fn pyright() -> DemoStep {
    DemoStep {
        title: "pyright rejects an edit, Python",
        about: "`get` without its default may give None: a type error, not a syntax error. pyright sees the draft in place of \
                the file, which is never touched.",
        tool: safe_edit_file::TOOL.name,
        arguments: json!({
            "path": "pricing/rates.py",
            "search": "RATES.get(kind, 19)",
            "replace": "RATES.get(kind)",
        }),
        outcome: DemoOutcome::Refused,
        gate: Some("pyright"),
    }
}
