//! Checks the structure of a Markdown page: it has a title, complete table rows, and relative links to
//! existing files.
//!
//! Links follow CommonMark, so text in code, in an HTML comment or after a backslash is no link. A link of
//! the form `[text][label]` is checked once, at the definition of its label.
//!
//! Invariant: the time is linear in the text, and every text is a valid page.

use std::borrow::Cow;
use std::collections::HashMap;

use percent_encoding::percent_decode_str;

use super::error::GateError;
use super::finding::Severity;
use super::markdown_page::{MOST, MarkdownPage};
use super::path::{file_name, folder};
use super::rule_match::{PatternInput, RuleMatch};
use super::syntax::child::{self, Reply, Task};
use super::wording::counted;
use lockgate_text::WordList;

/// The code of a link to a file that does not exist.
pub(super) const BROKEN_LINK: &str = "broken-link";

/// Returns the faults of a page.
///
/// Errors: the reason that the page could not be read.
pub(super) fn faults(page: &PatternInput<'_>) -> Result<Vec<RuleMatch>, GateError> {
    let PatternInput { path, text, files_exist, limit, .. } = *page;
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let front = Front::parse(text);
    let body = text.get(front.end..).unwrap_or_default();
    let page = match child::program_for(body.len()) {
        None => MarkdownPage::read(body),
        Some(program) => match child::ask(program, Task::Page, ("markdown", path), body, limit) {
            Ok(Reply::Page(page)) => page,
            other => return Err(child::failure("pulldown-cmark", other).into()),
        },
    };
    let is_front_alone = front.has_keys && body.trim().is_empty();
    let needs_title = !is_front_alone && !is_untitled_by_custom(path);
    let untitled = (needs_title && !front.has_title && !page.has_title).then(|| RuleMatch {
        offset: 0,
        code: Some("no-title"),
        severity: Severity::Error,
        message: "no level-1 heading, and no title in the front matter".to_owned(),
    });
    let ragged = page.ragged.into_iter().map(|row| RuleMatch {
        offset: front.end + row.offset,
        code: Some("table-cells"),
        severity: Severity::Warning,
        message: format!("the row has {} and the table {} columns", counted(row.cells, "cell"), row.columns),
    });
    let mut known = HashMap::new();
    let links = if is_form(path) { Vec::new() } else { page.links };
    let mut broken = Vec::new();
    if let Some(last) = links.get(MOST - 1) {
        broken.push(RuleMatch {
            offset: front.end + last.offset,
            code: Some("many-links"),
            severity: Severity::Warning,
            message: format!("only the first {MOST} links of a page are checked"),
        });
    }
    for link in links {
        let Some(target) = target(path, &link.destination) else { continue };
        let exists = match known.get(&target) {
            Some(exists) => *exists,
            // Each new target takes several file system lookups.
            None => match limit.reached() {
                Some(halt) => return Err(GateError::Halted(halt)),
                None => *known.entry(target.clone()).or_insert_with(|| is_there(path, &target, files_exist)),
            },
        };
        broken.extend((!exists).then(|| RuleMatch {
            offset: front.end + link.offset,
            code: Some(BROKEN_LINK),
            severity: Severity::Error,
            message: format!("the link leads to {target}, which does not exist"),
        }));
    }
    Ok(untitled.into_iter().chain(ragged).chain(broken).collect())
}

/// Folders whose pages are parts of other pages, or get their title from the site generator.
static PARTS: WordList = WordList::new(
    "
    changelog.d changelogs changes fragments newsfragments news releasenotes includes _includes partials
    _partials snippets _snippets templates
    ",
);

/// File names of pages that usually have no heading.
const BARE: [&str; 6] = ["license", "licence", "copying", "notice", "summary", "_sidebar"];

/// True for a page that usually has no title: one in a folder whose name begins with a dot (`.github`,
/// `.changeset`), a part of another page, a licence.
fn is_untitled_by_custom(path: &str) -> bool {
    let name = file_name(path);
    let mut folders = folder(path).split('/').filter(|folder| !folder.is_empty());
    let stem = name.split('.').next().unwrap_or_default().to_lowercase();
    name.starts_with(['_', '.'])
        || BARE.contains(&stem.split('-').next().unwrap_or_default())
        || is_form(path)
        || folders.any(|folder| folder.starts_with('.') || PARTS.has(&folder.to_lowercase()))
}

/// True for an issue or pull request template: its links are relative to the page that shows it.
fn is_form(path: &str) -> bool {
    let path = path.to_lowercase();
    let name = file_name(&path);
    let forms = ["issue_template", "pull_request_template", "merge_request_template"];
    forms.iter().any(|form| {
        name.starts_with(form)
            || path.split('/').any(|part| part == *form || part.strip_suffix('s') == Some(form))
    })
}

/// The block between `---` lines (YAML) or `+++` lines (TOML) that may open a page.
struct Front {
    has_title: bool,
    /// Set when it contains another key than `title`.
    has_keys: bool,
    end: usize,
}

impl Front {
    const NONE: Front = Front { has_title: false, has_keys: false, end: 0 };

    fn parse(text: &str) -> Front {
        let mut lines = text.split_inclusive('\n');
        let opening = lines.next().unwrap_or_default();
        let (separator, closings): (char, &[&str]) = match opening.trim_end() {
            "---" => (':', &["---", "..."]),
            "+++" => ('=', &["+++"]),
            _ => return Front::NONE,
        };
        let mut front = Front { has_title: false, has_keys: false, end: opening.len() };
        // Set after the key `title` of YAML, until its value begins on a later line.
        let (mut in_table, mut in_title) = (false, false);
        for line in lines {
            front.end += line.len();
            if closings.contains(&line.trim_end()) {
                return front;
            }
            in_table |= separator == '=' && line.starts_with('[');
            if let Some(value) = title_value(line, separator) {
                front.has_title |= !in_table && !is_empty(value);
                in_title = separator == ':' && is_blank(value);
            } else if !is_blank(line) {
                front.has_title |= in_title && line.starts_with([' ', '\t']) && !is_empty(line);
                in_title = false;
            }
            front.has_keys |= is_other_key(line, separator);
        }
        Front::NONE
    }
}

/// Returns what follows the key `title` on a line of front matter, if the key has no indentation.
fn title_value(line: &str, separator: char) -> Option<&str> {
    let (key, value) = line.split_once(separator)?;
    is_title(key).then_some(value)
}

fn is_title(key: &str) -> bool {
    matches!(key.trim_end(), "title" | "\"title\"" | "'title'")
}

/// True if a text has no value, not even an empty string.
fn is_blank(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || text.starts_with('#')
}

/// True if a text has no value, or an empty string.
fn is_empty(text: &str) -> bool {
    is_blank(text) || text.trim().trim_matches(['"', '\'']).trim().is_empty()
}

/// True if a line of front matter sets a key other than `title`.
fn is_other_key(line: &str, separator: char) -> bool {
    let Some((key, _)) = line.split_once(separator) else { return false };
    !key.trim_end().is_empty() && !key.starts_with([' ', '#', '[']) && !is_title(key)
}

/// Returns the offset of a page's body, after its front matter.
pub(super) fn body_start(text: &str) -> usize {
    Front::parse(text).end
}

/// Returns the root-relative path of a destination; `None` for one that is not checked: another site, an
/// anchor in the same page, a path from the root of a site, a path out of the root.
pub(super) fn target(path: &str, destination: &str) -> Option<String> {
    let destination = destination.trim();
    // A placeholder of a template has no value yet.
    // CommonMark takes the angle brackets of `<%= url %>` for its own.
    let is_placeholder = ["{{", "{%", "${", "<%"].iter().any(|tag| destination.contains(tag))
        || destination.starts_with('%') && destination.ends_with('%');
    if destination.starts_with('/') || has_scheme(destination) || is_placeholder {
        return None;
    }
    let target_path = destination.split(['#', '?']).next().filter(|target_path| !target_path.is_empty())?;
    let target_path = decoded(target_path);
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in target_path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// True if a URL begins with a scheme: a letter, then letters, digits, `+`, `-` or `.`, then a colon (RFC
/// 3986, 3.1).
fn has_scheme(url: &str) -> bool {
    url.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    })
}

/// Decodes the percent-encoding of a path; returns it unchanged if the result is not UTF-8 or contains a NUL.
fn decoded(path: &str) -> String {
    percent_decode_str(path)
        .decode_utf8()
        .ok()
        .filter(|plain| !plain.contains('\0'))
        .map_or_else(|| path.to_owned(), Cow::into_owned)
}

/// True if a target exists once the page does: the page itself and its folders then exist.
pub(super) fn is_there(path: &str, target: &str, files_exist: &(dyn Fn(&str) -> bool + Sync)) -> bool {
    let is_folder = path.strip_prefix(target).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    is_folder || files_exist(target) || page_of(target).any(|page| files_exist(&page))
}

/// Returns the source pages that a site may publish under a path: `a`, `a.html` and `a/` can come from
/// `a.md`.
pub(super) fn page_of(target: &str) -> impl Iterator<Item = String> {
    let stem = target.strip_suffix(".html").or_else(|| target.strip_suffix(".htm")).unwrap_or(target);
    let has_extension = file_name(stem).contains('.');
    let endings: &[&str] = if has_extension {
        &[]
    } else {
        &[".md", ".mdx", ".markdown", ".rst", "/index.md", "/README.md", "/_index.md"]
    };
    endings.iter().map(move |ending| format!("{stem}{ending}"))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    use super::*;
    use crate::Watch;
    use lockgate_sandbox::Halt;

    fn faults(path: &str, text: &str, files_exist: &(dyn Fn(&str) -> bool + Sync)) -> Vec<RuleMatch> {
        let limit = Watch::idle();
        let limit = limit.until(Instant::now() + Duration::from_secs(60));
        super::faults(&PatternInput { path, language: "markdown", text, files_exist, limit }).unwrap()
    }

    fn codes(path: &str, text: &str, existing: &[&str]) -> Vec<String> {
        let describe =
            |rule_match: RuleMatch| format!("{}@{}", rule_match.code.unwrap_or_default(), rule_match.offset);
        let mut matches = faults(path, text, &|path| existing.contains(&path));
        matches.sort_by_key(|rule_match| rule_match.offset);
        matches.into_iter().map(describe).collect()
    }

    #[test]
    fn a_title_is_a_heading_that_says_something_or_front_matter() {
        for text in [
            "# T\n",
            "T\n=\n",
            "text\n\n# T\n",
            "# `code`\n",
            "# ![logo](//x)\n",
            "<h1 align=\"center\">T</h1>\n",
            "a <H1>T</H1>\n",
            "---\ntitle: T\n---\n",
            "---\r\n\"title\": T\r\n...\r\n",
            "+++\ntitle = 'T'\n[extra]\n+++\n",
            "---\na: b\ntitle: 'T'\n---\n## x\n",
            "---\ntitle:\n  T\n---\ntext\n",
            "---\ntitle: # a comment\n\n  # b: c\n  'T'\na: b\n---\ntext\n",
            "---\ntitle: >\n  T\n---\ntext\n",
            "",
            "\n \n",
        ] {
            assert_eq!(codes("a.md", text, &[]), Vec::<String>::new(), "{text:?}");
        }
        for text in [
            "## T\n",
            "#\n",
            "#T\n",
            "\\# T\n",
            "    # T\n",
            "```\n# T\n```\n",
            "<!-- # T -->\n",
            "<!--\n<h1>T</h1>\n-->\n",
            "`<h1>`\n",
            "---\ntitle:\n---\n",
            "---\ntitle: \"\"\n---\n",
            "---\ntitle:\n  \"\"\n---\ntext\n",
            "---\ntitle:\na:\n  T\n---\ntext\n",
            "+++\ntitle =\n  T\n+++\ntext\n",
            "---\nsub:\n  title: T\n---\ntext\n",
            "+++\n[extra]\ntitle = 'T'\n+++\n",
            "---\ntitle: T\n",
            "text\n\n---\ntitle: T\n\n---\n",
            "<h10>\n",
            "<h1",
        ] {
            assert_eq!(codes("a.md", text, &[]), ["no-title@0"], "{text:?}");
        }
    }

    #[test]
    fn pages_that_by_custom_have_no_title_need_none() {
        for path in [
            ".github/CONTRIBUTING.md",
            ".github/ISSUE_TEMPLATE/bug_report.md",
            "docs/PULL_REQUEST_TEMPLATE.md",
            ".changeset/wild-cats-run.md",
            "changelog.d/123.fix.md",
            "newsfragments/12.md",
            "docs/_includes/note.md",
            "docs/_note.md",
            "LICENSE-MIT.md",
        ] {
            assert_eq!(codes(path, "## Text\n", &[]), Vec::<String>::new(), "{path}");
        }
        for path in ["a.md", "docs/a.md", "github/a.md", "docs/license/a.md"] {
            assert_eq!(codes(path, "## Text\n", &[]), ["no-title@0"], "{path}: the control");
        }
        assert_eq!(codes("a.md", "---\nname: a\n---\n", &[]), Vec::<String>::new(), "front matter only");
        assert_eq!(codes("a.md", "---\nname: a\n---\n\ntext\n", &[]), ["no-title@0"]);
    }

    #[test]
    fn the_links_of_a_form_are_those_of_where_it_is_shown() {
        let text = "See [how](CONTRIBUTING.md)\n";
        assert_eq!(codes(".github/pull_request_template.md", text, &[]), Vec::<String>::new());
        assert_eq!(codes(".github/ISSUE_TEMPLATE/a.md", text, &[]), Vec::<String>::new());
        assert_eq!(codes(".github/SUPPORT.md", text, &[]), ["broken-link@4"], "the control");
    }

    #[test]
    fn a_row_with_too_few_cells_warns() {
        let table = |row: &str| format!("# T\n\n| a | b | c |\n|---|---|---|\n{row}\n");
        for (row, found) in [
            ("| 1 | 2 | 3 |", false),
            ("1 | 2 | 3", false),
            ("| 1 | 2 | |", false),
            ("| 1 | 2 | 3 | 4 |", false),
            ("| 1 | `a \\| b` | 3 |", false),
            ("| 1 | 2 |", true),
            ("| 1 |", true),
            ("| 1 | 2 \\| 3 |", true),
        ] {
            let expected = if found { vec!["table-cells@33".to_owned()] } else { Vec::new() };
            assert_eq!(codes("a.md", &table(row), &[]), expected, "{row}");
        }
        let quoted = "# T\n\n> | a | b |\n> |---|---|\n> | 1 | 2 |\n";
        assert_eq!(codes("a.md", quoted, &[]), Vec::<String>::new());
        let severity = faults("a.md", &table("| 1 |"), &|_| false)[0].severity;
        assert_eq!(severity, Severity::Warning);
    }

    #[test]
    fn a_link_that_a_site_or_a_template_completes_is_good() {
        for link in [
            "[a](b)",
            "[a](b.html)",
            "[a](b.html#c)",
            "[a]({{ b }}/c.md)",
            "[a](<%= url %>)",
            "[a]({{< ref \"c\" >}})",
            "[a](${b}/c.md)",
        ] {
            assert_eq!(
                codes("docs/a.md", &format!("# T\n\n{link}\n"), &["docs/b.md"]),
                Vec::<String>::new(),
                "{link}"
            );
        }
        assert_eq!(codes("docs/a.md", "# T\n\n[a](b)\n", &["docs/c.md"]).len(), 1, "the control");
        assert_eq!(codes("docs/a.md", "# T\n\n[a](b.png)\n", &["docs/b.md"]).len(), 1, "the control");
    }

    #[test]
    fn only_relative_links_of_the_page_are_checked() {
        for link in [
            "[a](#b)",
            "[a](?q)",
            "[a]()",
            "[a](<>)",
            "[a](https://x/y)",
            "[a](mailto:x@y)",
            "[a](//x/y)",
            "[a](/x)",
            "<x@y.z>",
            "[a](C:\\x)",
            "[a](\\#x)",
            "[a](../../x)",
            "[a](..)",
            "`[a](x)`",
            "``` [a](x) ```",
            "\\[a](x)",
            "<!-- [a](x) -->",
            "[a][b]",
            "[a](x y)",
            "[a](./)",
            "[a](a.md#x)",
            "[^1]\n\n[^1]: x",
            "[//]: # (x)",
            "[x]: <> (y)",
            "[ ] x",
            "<a href=\"x\">",
        ] {
            assert_eq!(codes("docs/a.md", &format!("# T\n\n{link}\n"), &[]), Vec::<String>::new(), "{link}");
        }
    }

    #[test]
    fn a_relative_link_that_leads_nowhere_is_found_in_every_form() {
        for link in [
            "[a](x)",
            "![a](x.png \"t\")",
            "[a](<x y>)",
            "[a](x%20y)",
            "[a](x#b)",
            "[a](x?q=1)",
            "[a](../x)",
            "[a](./x/../y)",
            "[b]: x",
            "[a](x(1))",
            "[![i](//x)](y)",
            "[a](x:)y",
            "> [a](x)",
            "* [a](x)",
            "| [a](x) |\n|---|",
            "[^1]\n\n[^1]: [a](x)",
            "[a\nb](x)",
        ] {
            let found = codes("docs/a.md", &format!("# T\n\n{link}\n"), &[]);
            let expected = usize::from(link != "[a](x:)y");
            assert_eq!(found.len(), expected, "{link}: {found:?}");
        }
    }

    #[test]
    fn a_target_is_looked_up_from_the_root() {
        for (destination, expected) in [
            ("b.md", Some("docs/b.md")),
            ("./b.md#c?d", Some("docs/b.md")),
            ("../b%20c.md?raw=1#d", Some("b c.md")),
            ("img/", Some("docs/img")),
            ("%C3%A9.md", Some("docs/é.md")),
            ("%zz%4", Some("docs/%zz%4")),
            ("%ff", Some("docs/%ff")),
            ("a%00b", Some("docs/a%00b")),
            ("a%23b", Some("docs/a#b")),
            ("..", None),
            ("../..", None),
            ("x:y", None),
            ("1:y", Some("docs/1:y")),
            ("", None),
        ] {
            assert_eq!(target("docs/a.md", destination).as_deref(), expected, "{destination}");
        }
    }

    #[test]
    fn offsets_count_the_front_matter_and_the_page_and_its_folders_are_there() {
        let text = "---\ntitle: é\n---\n\n[x](x) [self](a.md) [folder](../docs) [other](../doc)\n";
        assert_eq!(codes("docs/a.md", text, &[]), ["broken-link@19", "broken-link@57"]);
        assert_eq!(codes("docs/a.md", text, &["docs/x", "doc"]), Vec::<String>::new());
    }

    #[test]
    fn links_are_not_looked_up_when_the_time_is_up() {
        let text: String = (0..1000).map(|n| format!("[a](b{n}.md)\n")).collect();
        let (watch, looks) = (Watch::idle(), AtomicUsize::new(0));
        let run_for = |time: u64| {
            let files_exist = |_: &str| {
                looks.fetch_add(1, Ordering::Relaxed);
                // The limit is reached at the tenth look, however long that takes.
                time > 1 || looks.load(Ordering::Relaxed) < 10 || {
                    std::thread::sleep(Duration::from_millis(60));
                    true
                }
            };
            let limit = watch.until(Instant::now() + Duration::from_millis(50 * time));
            let text = format!("# T\n\n{text}");
            let page = PatternInput {
                path: "a.md",
                language: "markdown",
                text: &text,
                files_exist: &files_exist,
                limit,
            };
            (super::faults(&page), looks.swap(0, Ordering::Relaxed))
        };
        let (matches, looks) = run_for(1);
        assert_eq!(matches, Err(GateError::Halted(Halt::TimedOut)));
        assert!(looks <= 10, "{looks}");
        // The control: with time left, all are looked up.
        assert_eq!(run_for(10_000), (Ok(Vec::new()), 1000));
    }

    #[test]
    fn hostile_pages_end_quickly() {
        let long = 100_000;
        for piece in [
            "[", "![", "](", "*a ", "`", "<", "<!--", "> ", "- ", "[a](", "[a]: ", "|", "\\", "&", "**",
            "a_", "#\n", "[^a]: ", "<a ", "\t",
        ] {
            let text = piece.repeat(long / piece.len());
            let start = std::time::Instant::now();
            let _ = faults("a.md", &text, &|_| false);
            assert!(start.elapsed().as_secs() < 10, "{piece:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_page(text in r"([-#>*_`\[\]()<>!&\\:=+|~ \n\ré]|title|<!--|-->|%20|a\.md){0,80}") {
            for rule_match in faults("docs/a.md", &text, &|_| false) {
                proptest::prop_assert!(text.is_char_boundary(rule_match.offset));
            }
        }
    }
}
