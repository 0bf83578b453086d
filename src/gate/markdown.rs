//! The structure of a Markdown page: it has a title, and its relative links lead to something that exists.
//!
//! A link is what CommonMark calls one, so nothing in code, in an HTML comment or behind a backslash counts. A link of
//! the form `[text][label]` is looked at where its label is defined, once.
//!
//! Invariant: the walk is linear in the text and cannot fail; every text is a page.

use std::collections::HashMap;

use pulldown_cmark::{Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd};

use super::finding::Severity;
use super::pattern::Fault;
use super::percent;

/// Finds what a page lacks; `path` is where it lies, `beside` tells whether another root-relative path exists.
pub(super) fn faults(path: &str, text: &str, beside: &(dyn Fn(&str) -> bool + Sync)) -> Vec<Fault> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let front = Front::of(text);
    let body = text.get(front.end..).unwrap_or_default();
    let page = Page::read(body);
    let untitled = (!front.has_title && !page.has_title).then(|| Fault {
        offset: 0,
        code: Some("no-title"),
        severity: Severity::Error,
        message: "no level-1 heading, and no title in the front matter".to_owned(),
    });
    let mut known = HashMap::new();
    let broken = page.links.into_iter().filter_map(|link| {
        let target = target(path, &link.destination)?;
        let exists = *known.entry(target.clone()).or_insert_with(|| is_there(path, &target, beside));
        (!exists).then(|| Fault {
            offset: front.end + link.offset,
            code: Some("broken-link"),
            severity: Severity::Error,
            message: format!("the link leads to {target}, which does not exist"),
        })
    });
    untitled.into_iter().chain(broken).collect()
}

/// The block between `---` lines (YAML) or `+++` lines (TOML) that may open a page.
struct Front {
    has_title: bool,
    end: usize,
}

impl Front {
    const NONE: Front = Front { has_title: false, end: 0 };

    fn of(text: &str) -> Front {
        let mut lines = text.split_inclusive('\n');
        let opening = lines.next().unwrap_or_default();
        let (separator, closings): (char, &[&str]) = match opening.trim_end() {
            "---" => (':', &["---", "..."]),
            "+++" => ('=', &["+++"]),
            _ => return Front::NONE,
        };
        let mut front = Front { has_title: false, end: opening.len() };
        let mut in_table = false;
        for line in lines {
            front.end += line.len();
            if closings.contains(&line.trim_end()) {
                return front;
            }
            in_table |= separator == '=' && line.starts_with('[');
            front.has_title |= !in_table && is_title(line, separator);
        }
        Front::NONE
    }
}

/// Whether a line of front matter gives a title: the key without indentation, and something after the separator.
fn is_title(line: &str, separator: char) -> bool {
    let Some((key, value)) = line.split_once(separator) else { return false };
    let value = value.trim();
    let is_empty = value.starts_with('#') || value.trim_matches(['"', '\'']).trim().is_empty();
    matches!(key.trim_end(), "title" | "\"title\"" | "'title'") && !is_empty
}

struct Link {
    offset: usize,
    destination: String,
}

/// What counts in the body of a page.
struct Page {
    has_title: bool,
    links: Vec<Link>,
}

impl Page {
    fn read(body: &str) -> Page {
        let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_TASKLISTS;
        let events = Parser::new_ext(body, options).into_offset_iter();
        let defined = events.reference_definitions().iter();
        let mut links: Vec<Link> = defined
            .map(|(_, link)| Link { offset: link.span.start, destination: link.dest.to_string() })
            .collect();
        let mut title = Title::default();
        for (event, range) in events {
            title.see(&event);
            if let Event::Start(
                Tag::Link { link_type, dest_url, .. } | Tag::Image { link_type, dest_url, .. },
            ) = event
                && link_type == LinkType::Inline
            {
                links.push(Link { offset: range.start, destination: dest_url.into_string() });
            }
        }
        links.sort_by_key(|link| link.offset);
        Page { has_title: title.seen, links }
    }
}

/// Watches the events of a page for a level-1 heading that says something, in Markdown or in HTML.
#[derive(Default)]
struct Title {
    in_heading: bool,
    in_comment: bool,
    at_html_start: bool,
    seen: bool,
}

impl Title {
    fn see(&mut self, event: &Event) {
        match event {
            Event::Start(Tag::Heading { level: HeadingLevel::H1, .. }) => self.in_heading = true,
            Event::End(TagEnd::Heading(_)) => self.in_heading = false,
            Event::Start(Tag::HtmlBlock) => (self.at_html_start, self.in_comment) = (true, false),
            Event::Html(html) => {
                self.in_comment |= self.at_html_start && html.trim_start().starts_with("<!--");
                self.at_html_start = false;
                self.seen |= !self.in_comment && is_html_heading(html);
            }
            Event::InlineHtml(html) => self.seen |= is_html_heading(html),
            Event::Text(text) | Event::Code(text) => self.seen |= self.in_heading && !text.trim().is_empty(),
            Event::Start(Tag::Image { .. }) => self.seen |= self.in_heading,
            _ => {}
        }
    }
}

fn is_html_heading(html: &str) -> bool {
    html.match_indices('<').any(|(at, _)| {
        let name = html.as_bytes().get(at + 1..at + 3);
        let next = html.as_bytes().get(at + 3);
        name.is_some_and(|name| name.eq_ignore_ascii_case(b"h1"))
            && next.is_some_and(|next| *next == b'>' || next.is_ascii_whitespace())
    })
}

/// The root-relative path that a destination names; `None` for what is not looked at: another site, a place in the
/// same page, a path from the root of a site, a path out of the root.
fn target(path: &str, destination: &str) -> Option<String> {
    let destination = destination.trim();
    if destination.starts_with('/') || has_scheme(destination) {
        return None;
    }
    let named = destination.split(['#', '?']).next().filter(|named| !named.is_empty())?;
    let named = decoded(named);
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in named.split('/') {
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

/// Whether a URL begins with a scheme: a letter, then letters, digits, `+`, `-` or `.`, then a colon (RFC 3986, 3.1).
fn has_scheme(url: &str) -> bool {
    url.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    })
}

/// A path with its `%20` and the like turned into characters; as it stands where that gives no text.
fn decoded(path: &str) -> String {
    String::from_utf8(percent::decoded(path))
        .ok()
        .filter(|plain| !plain.contains('\0'))
        .unwrap_or_else(|| path.to_owned())
}

/// Whether the target is there once the page is: the page itself and its folders are.
fn is_there(path: &str, target: &str, beside: &(dyn Fn(&str) -> bool + Sync)) -> bool {
    let is_folder = path.strip_prefix(target).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    is_folder || beside(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(path: &str, text: &str, beside: &[&str]) -> Vec<String> {
        let spoken = |fault: Fault| format!("{}@{}", fault.code.unwrap_or_default(), fault.offset);
        let mut faults = faults(path, text, &|path| beside.contains(&path));
        faults.sort_by_key(|fault| fault.offset);
        faults.into_iter().map(spoken).collect()
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
            "---\nsub:\n  title: T\n---\n",
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
    fn only_relative_links_of_the_page_are_looked_at() {
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
            let seen = codes("docs/a.md", &format!("# T\n\n{link}\n"), &[]);
            let expected = usize::from(link != "[a](x:)y");
            assert_eq!(seen.len(), expected, "{link}: {seen:?}");
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
            for fault in faults("docs/a.md", &text, &|_| false) {
                proptest::prop_assert!(text.is_char_boundary(fault.offset));
            }
        }
    }
}
