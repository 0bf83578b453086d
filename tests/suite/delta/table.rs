//! Edits of a file with ten old findings, and what each is answerable for.

use serde_json::{Value, json};

/// One edit.
pub struct Case {
    /// What it does.
    pub name: &'static str,
    /// The file before; empty for a new one.
    pub before: String,
    /// The arguments of the edit, but for the path.
    pub edit: Value,
    /// What becomes of it.
    pub ends: Expected,
}

/// What becomes of an edit: each finding by its line and code.
pub enum Expected {
    /// It is written; these are new and tolerated.
    Written(Vec<(u64, &'static str)>),
    /// It is refused for these, and for no others.
    Refused(Vec<(u64, &'static str)>),
}

/// A file with ten findings: on lines 2, 4, 6, 8, 10, 12, 13, 16, 18 and 20.
pub const OLD: &str = r#"def check(value, items, kind):
    if value == None:
        return 1
    if value == True:
        return 2
    if not value in items:
        return 3
    if not value is items:
        return 4
    if type(value) == type(items):
        return 5
    label = f"plain"
    double = lambda x: x * 2
    try:
        return double(label)
    except:
        pass
    if kind is "a":
        return 6
    l = 1
    return l
"#;

/// Those findings.
const TEN: [(u64, &str); 10] = [
    (2, "E711"),
    (4, "E712"),
    (6, "E713"),
    (8, "E714"),
    (10, "E721"),
    (12, "F541"),
    (13, "E731"),
    (16, "E722"),
    (18, "F632"),
    (20, "E741"),
];

/// All edits.
pub fn table() -> Vec<Case> {
    [adding_none(), moving(), rewriting(), adding(), trading(), elsewhere()].into_iter().flatten().collect()
}

fn replace(search: &str, replace: &str) -> Value {
    json!({"search": search, "replace": replace})
}

fn insert(at_line: usize, content: &str) -> Value {
    json!({"insert_lines": [{"at_line": at_line, "content": content}]})
}

fn content(text: &str) -> Value {
    json!({"content": text})
}

fn written(name: &'static str, edit: Value) -> Case {
    Case { name, before: OLD.to_owned(), edit, ends: Expected::Written(Vec::new()) }
}

fn refused(name: &'static str, edit: Value, new: &[(u64, &'static str)]) -> Case {
    Case { name, before: OLD.to_owned(), edit, ends: Expected::Refused(new.to_vec()) }
}

/// The lines of the old file from the first to the last.
fn lines(first: usize, last: usize) -> String {
    OLD.split_inclusive('\n').skip(first - 1).take(last + 1 - first).collect()
}

fn adding_none() -> Vec<Case> {
    let crlf = OLD.replace('\n', "\r\n");
    vec![
        written("another line is changed", replace("return 1\n", "return 10\n")),
        written("a comment above everything", insert(1, "# Checks.\n")),
        written("blank lines in the middle", insert(10, "\n\n")),
        written("a clean function below", insert(22, "\n\ndef more():\n    return 7\n")),
        written("a clean function above", insert(1, "def more():\n    return 7\n\n\n")),
        written("a clean line between two findings", insert(13, "    plain = 1\n    print(plain)\n")),
        written("one is fixed", replace("value == None", "value is None")),
        written(
            "three are fixed at once",
            content(
                &OLD.replace("not value in", "value not in")
                    .replace("== None", "is None")
                    .replace("except:", "except TypeError:"),
            ),
        ),
        written("the line of one is deleted", replace("    l = 1\n    return l\n", "    return 1\n")),
        written("all are deleted", content("x = 1\n")),
        written("the last newline goes", replace("    return l\n", "    return l")),
        written("one is excused by a comment", replace("value == None:", "value == None:  # noqa: E711")),
        Case {
            before: crlf,
            ..written("a line of a file with other line ends", replace("return 1\n", "return 10\n"))
        },
        Case {
            before: format!("\u{feff}{OLD}"),
            ..written("a line of a file with a mark", replace("return 1\n", "return 10\n"))
        },
    ]
}

fn moving() -> Vec<Case> {
    let swapped = [lines(1, 1), lines(6, 9), lines(2, 5), lines(10, 21)].concat();
    let last_first = [lines(1, 1), lines(18, 19), lines(2, 17), lines(20, 21)].concat();
    let method: String = OLD.split_inclusive('\n').map(|line| format!("    {line}")).collect();
    let upside: String =
        [lines(1, 1), lines(10, 11), lines(8, 9), lines(6, 7), lines(4, 5), lines(2, 3), lines(12, 21)]
            .concat();
    vec![
        written("two blocks change places", content(&swapped)),
        written("a block moves to the top", content(&last_first)),
        written("all blocks stand the other way round", content(&upside)),
        written("the function becomes a method", content(&format!("class Checks:\n{method}"))),
        written("a block is moved and a clean one added", content(&format!("{swapped}\n\nx = 1\n"))),
        refused(
            "a block is moved and one is added",
            content(&format!("{swapped}\n\ny = len == None\n")),
            &[(24, "E711")],
        ),
        refused(
            "a moved one leaves a copy behind",
            content(&[OLD, "\n\n", lines(20, 20).trim_start()].concat()),
            &[(24, "E741")],
        ),
    ]
}

fn rewriting() -> Vec<Case> {
    vec![
        written(
            "the line of one gets a comment",
            replace("value == None:", "value == None:  # nothing given"),
        ),
        written("a name on the line of one changes", replace("if value == None", "if kind == None")),
        written(
            "the line of one is split",
            replace("label = f\"plain\"", "label = (\n        f\"plain\"\n    )"),
        ),
        written(
            "the lines of two are written anew",
            replace(
                "    label = f\"plain\"\n    double = lambda x: x * 2\n",
                "    label = f\"simple\"\n    double = lambda y: y * 3\n",
            ),
        ),
        written(
            "the lines of two become one place",
            replace(&lines(2, 5), "    if value == True or kind == None:\n        return 2\n"),
        ),
        refused(
            "one of another kind on the line of one",
            replace("if value == None:", "if value == None or kind == True:"),
            &[(2, "E712")],
        ),
        refused(
            "one of the same kind on the line of one",
            replace("if value == None:", "if value == None or kind == None:"),
            &[(2, "E711")],
        ),
        refused(
            "one becomes one of another kind",
            replace("value == None", "value == False"),
            &[(2, "E712")],
        ),
    ]
}

fn adding() -> Vec<Case> {
    let new = format!("{OLD}\n\nz = len == None\n");
    let two = "    if l == None:\n        return not l in items\n";
    vec![
        refused("one more at the end", insert(22, "\n\nz = len == None\n"), &[(24, "E711")]),
        refused("one more at the start", insert(1, "z = len == None\n"), &[(1, "E711")]),
        refused("a second copy below the first", insert(4, &lines(2, 3)), &[(4, "E711")]),
        refused("a second copy above the first", insert(2, &lines(2, 3)), &[(2, "E711")]),
        refused("a second copy far from the first", insert(20, &lines(2, 3)), &[(20, "E711")]),
        refused("one more in the whole text", content(&new), &[(24, "E711")]),
        refused("two more", insert(21, two), &[(21, "E711"), (22, "E713")]),
        refused(
            "one more, and all the old ones written anew",
            content(&new.replace("items", "things")),
            &[(24, "E711")],
        ),
        refused("a name that nobody defines", replace("return 1\n", "return one\n"), &[(3, "F821")]),
    ]
}

fn trading() -> Vec<Case> {
    let fixed = OLD.replace("value == None", "value is None");
    vec![
        refused(
            "one is fixed and another kind added",
            content(&format!("{fixed}\n\nz = len == True\n")),
            &[(24, "E712")],
        ),
        refused(
            "one is fixed and the same kind added elsewhere",
            content(&format!("{fixed}\n\nz = len == None\n")),
            &[(24, "E711")],
        ),
        refused(
            "one is deleted and another kind stands there",
            replace("    l = 1\n    return l\n", "    return l\n"),
            &[(20, "F821")],
        ),
        Case {
            before: OLD.replace("None:", "None:  # noqa: E711"),
            ..refused("one is excused no more", replace("  # noqa: E711", ""), &[(2, "E711")])
        },
        Case {
            before: String::new(),
            ..refused(
                "a new file has no old ones",
                content("x = len == None\ny = len == True\n"),
                &[(1, "E711"), (2, "E712")],
            )
        },
    ]
}

fn elsewhere() -> Vec<Case> {
    let tolerated = |name, edit, new: &[(u64, &'static str)]| Case {
        ends: Expected::Written(new.to_vec()),
        ..written(name, edit)
    };
    let broken = OLD.replace("return 1\n", "return (1\n");
    vec![
        tolerated("an import that is not used yet", insert(1, "import os\n\n\n"), &[(1, "F401")]),
        tolerated("a variable that is not used yet", insert(2, "    given = value\n"), &[(2, "F841")]),
        tolerated(
            "a name that is not imported yet, beside an import",
            content(&format!("import os\n\n\n{}", OLD.replace("return 1\n", "return os.sep + sys.path\n"))),
            &[(6, "F821")],
        ),
        Case {
            before: broken.clone(),
            ..tolerated("a text that did not parse is fixed", replace("return (1\n", "return 1\n"), &TEN)
        },
        Case {
            before: broken,
            ..written("a text that does not parse gets a comment", insert(1, "# Checks.\n"))
        },
    ]
}
