//! Links of other Markdown pages to what an edit takes away: a warning that names them, and nothing where nothing is lost.

use std::fs;
use std::path::Path;

use lockgate_checks::{anchors, links, lost_anchors};
use serde_json::{Value, json};

use super::files::write_all;
use super::wire::{Answer, Server};

/// A project with a guide and pages that link to it.
const PAGES: [(&str, &str); 6] = [
    (
        "docs/guide.md",
        "# Guide\n\n## First steps\n\ntext\n\n## Usage\n\ntext\n\n## Usage\n\n<a id=\"own\"></a>\n",
    ),
    ("README.md", "# Project\n\nSee [steps](docs/guide.md#first-steps) and [more](docs/guide.md#usage-1).\n"),
    (
        "docs/other.md",
        "# Other\n\n[steps][s] <a href=\"guide.md#own\">own</a>\n\n[s]: guide.md#first-steps\n",
    ),
    ("docs/plain.md", "# Plain\n\nfirst-steps of guide.md, and [the guide](guide.md)\n"),
    ("built/copy.md", "# Copy\n\n[steps](../docs/guide.md#first-steps)\n"),
    (".gitignore", "built/\n"),
];

struct Project {
    _root: tempfile::TempDir,
    server: Server,
}

impl Project {
    fn new(policy: Option<&str>, more: &[(&str, &str)]) -> Project {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join(".git")).unwrap();
        write_all(root.path(), PAGES.iter().chain(more));
        if let Some(policy) = policy {
            fs::write(root.path().join("quality.yaml"), policy).unwrap();
        }
        let server = Server::start(root.path(), &[]);
        Project { _root: root, server }
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Answer {
        self.server.call(tool, &arguments)
    }

    fn renames_heading(&mut self) -> Answer {
        let edit = json!({"path": "docs/guide.md", "search": "## First steps", "replace": "## Begin"});
        self.call("safe_edit_file", edit)
    }
}

/// The messages about dead links in an answer, of all its files.
fn warnings(answer: &Answer) -> Vec<String> {
    let files = answer.structured["files"].as_array().cloned();
    let files = files.unwrap_or_else(|| vec![answer.structured.clone()]);
    let findings = files.iter().flat_map(|file| file["findings"].as_array().cloned().unwrap_or_default());
    let dead =
        findings.filter(|finding| finding["code"].as_str().is_some_and(|code| code.starts_with("dead-")));
    dead.map(|finding| {
        format!("{} {}", finding["severity"].as_str().unwrap(), finding["message"].as_str().unwrap())
    })
    .collect()
}

#[test]
fn a_heading_that_is_renamed_warns_of_the_links_to_it() {
    let mut project = Project::new(None, &[]);
    let answer = project.renames_heading();
    assert_eq!(answer.status(), "written", "a warning does not refuse: {}", answer.text);
    let message =
        "warning 2 links lead to #first-steps, which the edit removes: README.md:3, docs/other.md:5";
    assert_eq!(warnings(&answer), [message]);
    // The controls: another heading that nobody links to, and a text below a heading.
    for (search, replace) in [("# Guide", "# The guide"), ("text\n\n## Usage", "words\n\n## Usage")] {
        let edit = json!({"path": "docs/guide.md", "search": search, "replace": replace, "search_count": 1});
        let answer = project.call("safe_edit_file", edit);
        assert_eq!((answer.status(), warnings(&answer)), ("written", Vec::new()), "{search}");
    }
}

#[test]
fn numbered_headings_and_anchors_of_html_are_known() {
    let mut project = Project::new(None, &[]);
    let edit = json!({"path": "docs/guide.md", "content": "# Guide\n\n## First steps\n\n## Usage\n\ntext\n"});
    let answer = project.call("safe_edit_file", edit);
    assert_eq!(
        warnings(&answer),
        [
            "warning 1 link leads to #own, which the edit removes: docs/other.md:3",
            "warning 1 link leads to #usage-1, which the edit removes: README.md:3",
        ],
        "{:#}",
        answer.structured
    );
}

#[test]
fn links_that_the_same_call_corrects_are_not_reported() {
    let rename = json!({"path": "docs/guide.md", "search": "## First steps", "replace": "## Begin"});
    let readme = json!({"path": "README.md", "search": "#first-steps", "replace": "#begin"});
    let other = json!({"path": "docs/other.md", "search": "#first-steps", "replace": "#begin"});
    let mut project = Project::new(None, &[]);
    let answer = project.call("edit_files", json!({"edits": [rename, readme, other]}));
    assert_eq!((answer.status(), warnings(&answer)), ("written", Vec::new()), "{}", answer.text);
    let mut project = Project::new(None, &[]);
    let answer = project.call("edit_files", json!({"edits": [rename, readme]}));
    assert_eq!(
        warnings(&answer),
        ["warning 1 link leads to #first-steps, which the edit removes: docs/other.md:5"],
        "the control"
    );
}

#[test]
fn a_file_that_is_deleted_warns_of_the_links_to_it() {
    let more = [("docs/logo.png", "no picture"), ("docs/shown.md", "# Shown\n\n![logo](logo.png)\n")];
    let mut project = Project::new(None, &more);
    let answer = project.call("delete_content", json!({"path": "docs/logo.png"}));
    assert_eq!(
        (answer.status(), warnings(&answer)),
        (
            "written",
            vec!["warning 1 link leads to this file, which the call removes: docs/shown.md:3".to_owned()]
        ),
        "{}",
        answer.text
    );
    let answer = project.call("delete_content", json!({"path": "docs/guide.md"}));
    let links = "README.md:3, README.md:3, docs/other.md:3, docs/other.md:5, docs/plain.md:3";
    let message = format!("warning 5 links lead to this file, which the call removes: {links}");
    assert_eq!(warnings(&answer), [message]);
    let answer = project.call("delete_content", json!({"path": "docs/plain.md"}));
    assert_eq!(
        (answer.status(), warnings(&answer)),
        ("written", Vec::new()),
        "the control: nothing leads there"
    );
    assert!(answer.structured["gates"].as_array().is_none_or(Vec::is_empty), "no gate is asked for nothing");
}

#[test]
fn the_policy_sets_the_level_of_dead_links() {
    let gate =
        |more: &str| format!("quality_gates: {{ markdown: [{{ tool: markdown-structure{more} }}] }}\n");
    for (more, status, message) in [
        (", level: block", "rejected", Some("error")),
        (", level: warn", "written", Some("warning")),
        (", enabled: false", "written", None),
        ("", "written", Some("warning")),
    ] {
        let mut project = Project::new(Some(&gate(more)), &[]);
        let answer = project.renames_heading();
        let is_written = answer.structured["written"].as_bool().unwrap_or_default();
        assert_eq!(is_written, status == "written", "{more}: {}", answer.text);
        let severities: Vec<String> =
            warnings(&answer).iter().map(|warning| warning.split(' ').next().unwrap().to_owned()).collect();
        assert_eq!(severities, message.into_iter().collect::<Vec<_>>(), "{more}: {}", answer.text);
    }
}

#[test]
fn five_links_are_named_and_the_others_counted() {
    let pages: Vec<(String, String)> = (0..9)
        .map(|number| (format!("p{number}.md"), "# P\n\n[x](docs/guide.md#own)\n".to_owned()))
        .collect();
    let more: Vec<(&str, &str)> = pages.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let mut project = Project::new(None, &more);
    let edit = json!({"path": "docs/guide.md", "search": "<a id=\"own\"></a>", "replace": "end"});
    let answer = project.call("safe_edit_file", edit);
    assert_eq!(
        warnings(&answer),
        [
            "warning 10 links lead to #own, which the edit removes: docs/other.md:3, p0.md:3, p1.md:3, p2.md:3, p3.md:3 and 5 more"
        ]
    );
}

/// Calls back with each Markdown page below a folder: its path in there, and its text.
fn each_page(folder: &Path, with: &mut impl FnMut(&str, &str)) {
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md")
                && let Ok(text) = fs::read_to_string(&path)
            {
                with(path.strip_prefix(folder).unwrap().to_str().unwrap(), &text);
            }
        }
    }
}

#[test]
fn real_pages_lose_no_anchor_by_edits_that_leave_their_headings() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut pages, mut with_control, mut found) = (0, 0, 0);
    for folder in [project.join("docs"), project.join("target/releases")] {
        each_page(&folder, &mut |path, text| {
            pages += 1;
            assert_eq!(lost_anchors(text, text), [], "{path}");
            let longer =
                format!("{}\n\nAnother paragraph, with [a link](x.md) and `code`.\n", text.trim_end());
            // A page may end within a block of code or of HTML, which then goes on.
            assert_eq!(lost_anchors(text, &longer), [], "{path}");
            let spaced = text.replace("\n\n## ", "\n\n\n## ");
            assert_eq!(lost_anchors(text, &spaced), [], "{path}");
            // The control.
            if let Some(name) = text.lines().find_map(|line| line.strip_prefix("## ")) {
                let renamed = text.replacen(&format!("\n## {name}"), "\n## Completely different", 1);
                with_control += 1;
                found += usize::from(!lost_anchors(text, &renamed).is_empty());
            }
        });
    }
    assert!(pages > 20, "{pages}");
    // Some of these lines are in code or comments.
    assert!(with_control > 10 && found * 10 > with_control * 7, "{found} of {with_control}");
}

#[test]
fn the_links_of_the_documentation_lead_to_anchors_that_are_known() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let mut looked_at = 0;
    each_page(&docs, &mut |path, text| {
        for link in links(path, text) {
            let (Some(anchor), Ok(target)) = (&link.anchor, fs::read_to_string(docs.join(&link.target)))
            else {
                continue;
            };
            looked_at += 1;
            assert!(anchors(&target).contains_key(anchor), "{path}:{}: {}#{anchor}", link.line, link.target);
        }
    });
    assert!(looked_at > 10, "{looked_at}");
}
