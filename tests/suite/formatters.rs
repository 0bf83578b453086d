//! Real formatters as gates with `role: fix`: they change what an edit touched, and in a file that was not formatted before
//! nothing else.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::mcp::installed;
use super::store::not_run;
use super::wire::Server;

/// A formatter, and a part of a file that it would change in each of its lines.
struct Formatter {
    gate: &'static str,
    language: &'static str,
    file: &'static str,
    head: &'static str,
    /// `#` is the number of the part.
    part: &'static str,
    /// The line of a part that is edited, counted from 0, what the edit puts there, and what is to be there in the end.
    edit: (usize, &'static str, &'static str),
}

const FORMATTERS: [Formatter; 7] = [
    Formatter {
        gate: "black",
        language: "python",
        file: "a.py",
        head: "",
        part: "def f#( a,b ):\n    x = { 'a':1,'b':a }\n    return  x\n\n\n",
        edit: (1, "    x = { 'a':2,'b':b }\n", "    x = {\"a\": 2, \"b\": b}\n"),
    },
    Formatter {
        gate: "ruff-format",
        language: "python",
        file: "a.py",
        head: "",
        part: "def f#( a,b ):\n    x = { 'a':1,'b':a }\n    return  x\n\n\n",
        edit: (1, "    x = { 'a':2,'b':b }\n", "    x = {\"a\": 2, \"b\": b}\n"),
    },
    // Indented by two, where the formatter indents by four.
    Formatter {
        gate: "ruff-format",
        language: "python",
        file: "a.py",
        head: "",
        part: "def f#(a, b):\n  if a:\n    x = 1\n  y=2\n  return x\n",
        edit: (3, "  y=[2,\n  b]\n", "  y = [2, b]\n"),
    },
    Formatter {
        gate: "gofmt",
        language: "go",
        file: "a.go",
        head: "package a\n\n",
        part: "func f#( a,b int )int{\n  x:=a+b\n  return   x\n}\n",
        edit: (1, "  x:=a-b\n", "  x := a - b\n"),
    },
    Formatter {
        gate: "rustfmt",
        language: "rust",
        file: "a.rs",
        head: "",
        part: "fn f#( a:i32,b:i32 )->i32{\n    let x=a+b;\n    x\n}\n",
        edit: (1, "    let x=a-b;\n", "    let x = a - b;\n"),
    },
    Formatter {
        gate: "prettier",
        language: "javascript",
        file: "a.js",
        head: "",
        part: "function f#( a,b ){\n  const x={ a:1,'b':a }\n  return   x\n}\n",
        edit: (1, "  const x={ a:2,'b':b }\n", "  const x = { a: 2, b: b };\n"),
    },
    // What stood on one line becomes several.
    Formatter {
        gate: "prettier",
        language: "typescript",
        file: "a.ts",
        head: "",
        part: "function f#( a:number ){\n    return   [a]\n}\n",
        edit: (
            1,
            "    return [aaaaaaaaaaaaaaaaaaaaaaaaaaaa,bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb,ccccccccccccccccccccccc,d]\n",
            "  return [\n    aaaaaaaaaaaaaaaaaaaaaaaaaaaa,\n    bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb,\n    ccccccccccccccccccccccc,\n    d,\n  ];\n",
        ),
    },
];

impl Formatter {
    fn is_installed(&self) -> bool {
        match self.gate {
            "prettier" => installed("LOCKGATE_TEST_NODE", "node", "node_modules/.bin/prettier").is_some(),
            "rustfmt" => {
                let runs = std::process::Command::new("rustfmt").arg("--version").output();
                let is_here = runs.is_ok_and(|output| output.status.success());
                if !is_here {
                    not_run("rustfmt is not there");
                }
                is_here
            }
            "ruff-format" => installed("LOCKGATE_TEST_VENV", "venv", "bin/ruff").is_some(),
            gate => installed("LOCKGATE_TEST_VENV", "venv", &format!("bin/{gate}")).is_some(),
        }
    }

    fn server(&self, root: &Path, scope: &str) -> Server {
        let Formatter { gate, language, .. } = self;
        let policy = format!(
            "limits: {{ total: 120s }}\nquality_gates:\n  {language}:\n    - {{ tool: syntax }}\n    - {{ tool: {gate}, role: fix, timeout: 60s{scope} }}\n"
        );
        fs::write(root.join("quality.yaml"), policy).unwrap();
        Server::start(root, &["--trust"])
    }

    /// More than 200 lines that are not formatted.
    fn unformatted(&self) -> String {
        let parts = (0..70).map(|number| self.part.replace('#', &number.to_string()));
        std::iter::once(self.head.to_owned()).chain(parts).collect()
    }

    /// The line of the middle part that is edited, counted from 1.
    fn line(&self) -> usize {
        self.head.lines().count() + 35 * self.part.lines().count() + self.edit.0 + 1
    }

    /// The text with other lines in the place of that one.
    fn with(&self, text: &str, lines: &str) -> String {
        let replaced = |(number, line): (usize, &str)| {
            if number + 1 == self.line() { lines.to_owned() } else { line.to_owned() }
        };
        text.split_inclusive('\n').enumerate().map(replaced).collect()
    }

    /// Edits the line, and gives the text in the end and the notes of the answer.
    fn edited(&self, scope: &str, before: &str, line: usize, new: &str) -> (String, String) {
        let root = tempfile::tempdir().unwrap();
        let mut server = self.server(root.path(), scope);
        let file = root.path().join(self.file);
        fs::write(&file, before).unwrap();
        let edit = json!([{"start_line": line, "end_line": line, "new_content": new}]);
        let answer = server.call("safe_edit_file", &json!({"path": self.file, "line_edits": edit}));
        let is_done = matches!(answer.status(), "written" | "unchanged");
        assert!(is_done, "{}: {}", self.gate, answer.structured);
        (fs::read_to_string(&file).unwrap(), answer.structured["notes"].to_string())
    }
}

/// The lines of one text that are not in the other, in order.
fn differing(one: &str, other: &str) -> usize {
    let diff = similar::TextDiff::from_lines(one, other);
    diff.iter_all_changes().filter(|change| change.tag() != similar::ChangeTag::Equal).count()
}

#[test]
fn one_edited_line_of_an_unformatted_file_is_all_that_is_formatted() {
    for formatter in FORMATTERS.iter().filter(|formatter| formatter.is_installed()) {
        let Formatter { gate, edit: (_, new, formatted), .. } = formatter;
        let before = formatter.unformatted();
        assert!(before.lines().count() > 200, "{gate}");
        let (text, notes) = formatter.edited("", &before, formatter.line(), new);
        assert_eq!(text, formatter.with(&before, formatted), "{gate}: {notes}");
        assert!(notes.contains("outside of the edit unchanged"), "{gate}: {notes}");
        // Without the restriction, the same edit changes most lines of the file.
        let (text, _) = formatter.edited(", scope: file", &before, formatter.line(), new);
        assert!(differing(&before, &text) > 100, "{gate}: {}", differing(&before, &text));
    }
}

#[test]
fn a_file_that_was_formatted_before_is_formatted_whole() {
    for formatter in FORMATTERS.iter().filter(|formatter| formatter.is_installed()) {
        let Formatter { gate, edit: (_, new, _), .. } = formatter;
        // Formatted by the formatter itself, as another line is edited.
        let (before, _) = formatter.edited(", scope: file", &formatter.unformatted(), formatter.line(), new);
        let last = before.lines().count();
        let line = (1..=last).rev().find(|line| {
            let text = before.lines().nth(line - 1).unwrap_or_default().trim();
            text.starts_with("def") || text.starts_with("func") || text.starts_with("fn")
        });
        let line = line.unwrap();
        let old = before.lines().nth(line - 1).unwrap();
        // The blank lines above the function are outside of the edit.
        let unspaced = format!("{}\n", old.replace(", ", ",").replace("(", "(  "));
        let part = formatter.edited("", &before, line, &unspaced);
        let whole = formatter.edited(", scope: file", &before, line, &unspaced);
        assert_eq!(part.0, whole.0, "{gate}");
        assert_eq!(part.0, before, "{gate}: it is formatted as it was");
    }
}

/// gofmt lines up the fields of a struct: in a formatted file that goes beyond the edited line.
#[test]
fn changes_that_an_edit_causes_next_to_it_are_formatted() {
    let formatter = FORMATTERS.iter().find(|formatter| formatter.gate == "gofmt").unwrap();
    if !formatter.is_installed() {
        return;
    }
    let fields = "type T struct {\n\ta int\n\tb int\n}\n";
    let lined_up = "type T struct {\n\ta    int\n\tlong int\n}\n";
    for rest in ["", "\nfunc f( )  {}\n"] {
        let before = format!("package a\n\n{fields}{rest}");
        let (text, notes) = formatter.edited("", &before, 5, "\tlong int\n");
        assert_eq!(text, format!("package a\n\n{lined_up}{rest}"), "{notes}");
    }
}

/// An import that new lines need is put above a file that was not formatted before.
#[test]
fn an_import_that_the_edit_needs_is_taken_and_the_rest_left() {
    let Ok(_) = std::process::Command::new("goimports").arg("-h").output() else {
        not_run("goimports is not there");
        return;
    };
    let formatter =
        Formatter { gate: "goimports", language: "go", file: "a.go", head: "", part: "", edit: (0, "", "") };
    let before =
        "package a\n\nimport \"fmt\"\n\nfunc f(  )  {\n\tfmt.Println(  1)\n}\n\nfunc g(  )  {\n\tf(  )\n}\n";
    let (text, notes) = formatter.edited("", before, 10, "\tf(  );  os.Exit(1)\n");
    let expected = before
        .replace("import \"fmt\"\n", "import (\n\t\"fmt\"\n\t\"os\"\n)\n")
        .replace("\tf(  )\n", "\tf()\n\tos.Exit(1)\n");
    assert_eq!(text, expected, "{notes}");
}
