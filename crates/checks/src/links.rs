//! Links between Markdown pages: the anchors of a page, and the links of other pages to them.
//!
//! Anchors follow GitHub: the text of each heading in lower case, without punctuation, with hyphens for
//! spaces, and numbered if it repeats; also the values of `id` and `name` in HTML.
//!
//! Invariant: pure, linear in the text, and every text is a valid page.
#![deny(clippy::disallowed_methods)]

use std::borrow::Cow;
use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;
use pulldown_cmark::{Event, Tag, TagEnd};

use super::delta::{ComparedFinding, MarkedFinding};
use super::draft::Draft;
use super::finding::Severity;
use super::markdown::{BROKEN_LINK, body_start, is_there, page_of, target};
use super::markdown_page::parser;
use super::wording::listed;
use lockgate_policy::{Level, Rule};

/// The maximum number of links that a finding names.
const MAX_NAMED: usize = 5;
/// The maximum number of bytes of HTML that are read before and after the `=` of an attribute.
const MAX_HTML: usize = 1000;

/// The links of other pages that lose their target in a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLinks {
    /// The target that the call removes.
    pub lost: LostTarget,
    /// The links, each as the display path of its file and its line.
    pub links: Vec<(String, usize)>,
}

/// A link target that a call removes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum LostTarget {
    /// The whole file is removed.
    File,
    /// The name of a removed anchor, and its line in the text before.
    Anchor(String, usize),
    /// The path of another file that is gone, and the line of the link to it.
    Elsewhere(String, usize),
}

/// A link of a page to a file of the project, or to an anchor in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageLink {
    /// The line of the link, 1-based.
    pub line: usize,
    /// The path of the target, relative to the root.
    pub target: String,
    /// The anchor that it names, in lower case.
    pub anchor: Option<String>,
}

impl PageLink {
    /// True if the link leads to a file, also by the path under which a site publishes a page.
    pub fn leads_to(&self, path: &str) -> bool {
        self.target == path || page_of(&self.target).any(|page| page == path)
    }

    /// True if the link led to a removed file and now leads nowhere. `from` is the path of its page;
    /// `files_exist` returns true if a root-relative path exists.
    pub fn is_dead(&self, from: &str, removed: &str, files_exist: &(dyn Fn(&str) -> bool + Sync)) -> bool {
        self.leads_to(removed) && !is_there(from, &self.target, files_exist)
    }
}

/// Returns the anchors of a page that its later text lacks.
pub fn lost_anchors(before: &str, after: &str) -> Vec<LostTarget> {
    let after = anchors(after);
    let lost = anchors(before).into_iter().filter(|(anchor, _)| !after.contains_key(anchor));
    lost.map(|(anchor, line)| LostTarget::Anchor(anchor, line)).collect()
}

/// Returns the anchors of a page in lower case, each with its line.
pub fn anchors(text: &str) -> BTreeMap<String, usize> {
    let mut anchors = Anchors::default();
    let lines = LineStarts::new(text);
    let (mut heading, mut images): (Option<String>, usize) = (None, 0);
    let start = body_start(text);
    for (event, range) in parser(text.get(start..).unwrap_or_default()).into_offset_iter() {
        let line = || lines.line_at(start + range.start);
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                if let Some(heading) = heading.take() {
                    anchors.add_heading(&heading, line());
                }
            }
            // The alternative text of an image is not part of the heading.
            Event::Start(Tag::Image { .. }) => images += 1,
            Event::End(TagEnd::Image) => images = images.saturating_sub(1),
            Event::Text(text) | Event::Code(text) if images == 0 => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&text);
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some(heading) = &mut heading {
                    heading.push(' ');
                }
            }
            Event::Html(html) | Event::InlineHtml(html) => {
                for id in attributes(&html, &["id", "name"]) {
                    anchors.add(id.to_lowercase(), line());
                }
            }
            _ => {}
        }
    }
    anchors.all
}

/// Returns the links of a page at this path to files of the project.
pub fn links(path: &str, text: &str) -> Vec<PageLink> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let start = body_start(text);
    let body = text.get(start..).unwrap_or_default();
    let events = parser(body).into_offset_iter();
    for (_, definition) in events.reference_definitions().iter() {
        found.push((start + definition.span.start, definition.dest.to_string()));
    }
    for (event, range) in events {
        match event {
            Event::Start(Tag::Link { link_type, dest_url, .. } | Tag::Image { link_type, dest_url, .. })
                if link_type == pulldown_cmark::LinkType::Inline =>
            {
                found.push((start + range.start, dest_url.into_string()));
            }
            Event::Html(html) | Event::InlineHtml(html) => {
                let targets = attributes(&html, &["href", "src"]);
                found.extend(targets.map(|target| (start + range.start, target.to_owned())));
            }
            _ => {}
        }
    }
    found.sort();
    let lines = LineStarts::new(text);
    let link = |(offset, destination): (usize, String)| {
        let (page, anchor) = destination.split_once('#').unwrap_or((&destination, ""));
        let target = if page.trim().is_empty() && !anchor.is_empty() {
            path.to_owned()
        } else {
            target(path, &destination)?
        };
        let anchor = percent_decode_str(anchor).decode_utf8().unwrap_or(Cow::Borrowed(anchor));
        let anchor = Some(anchor.trim().to_lowercase()).filter(|anchor| !anchor.is_empty());
        Some(PageLink { line: lines.line_at(offset), target, anchor })
    };
    found.into_iter().filter_map(link).collect()
}

/// Returns the findings about dead links, all of them new. They are warnings, unless the policy sets `level:
/// block` for the gate.
pub(super) fn findings(dead: &[DeadLinks], draft: &Draft<'_>, rule: &Rule) -> Vec<ComparedFinding> {
    let blocks = rule.explicit.level && rule.level == Level::Block;
    let severity = if blocks { Severity::Error } else { Severity::Warning };
    let last = draft.after.lines().count().max(1);
    let finding = |DeadLinks { lost, links }: &DeadLinks| {
        let count = links.len();
        let lead = if count == 1 { "1 link leads".to_owned() } else { format!("{count} links lead") };
        let places = links.iter().map(|(path, line)| format!("{path}:{line}"));
        let places = listed(places, MAX_NAMED, count);
        let (line, code, message) = match lost {
            LostTarget::File => {
                (1, "dead-link", format!("{lead} to this file, which the call removes: {places}"))
            }
            LostTarget::Anchor(anchor, line) => {
                let message = format!("{lead} to #{anchor}, which the edit removes: {places}");
                ((*line).min(last), "dead-anchor", message)
            }
            LostTarget::Elsewhere(path, line) => {
                (*line, "dead-link", format!("the link leads to {path}, which no longer exists"))
            }
        };
        let finding = ComparedFinding::new(draft.after.lines(), (line, 1), message);
        ComparedFinding { code: Some(code.to_owned()), severity, ..finding }
    };
    dead.iter().map(finding).collect()
}

/// True if a dead link is also one of the new broken links of its page.
pub(super) fn is_reported(dead: &ComparedFinding, found: &[MarkedFinding]) -> bool {
    let is_link = |mark: &MarkedFinding| mark.finding.code.as_deref() == Some(BROKEN_LINK);
    found.iter().any(|mark| mark.fresh && mark.finding.line == dead.line && is_link(mark))
}

/// Collects the anchors of a page.
#[derive(Default)]
struct Anchors {
    all: BTreeMap<String, usize>,
    /// The number of repetitions of each anchor of a heading.
    counts: BTreeMap<String, usize>,
}

impl Anchors {
    fn add(&mut self, anchor: String, line: usize) {
        if !anchor.is_empty() {
            self.all.entry(anchor).or_insert(line);
        }
    }

    fn add_heading(&mut self, text: &str, line: usize) {
        if let Some((title, id)) = explicit_id(text) {
            self.add(id.to_lowercase(), line);
            self.add(slug(title), line);
        }
        let slug = slug(text);
        if slug.is_empty() {
            return;
        }
        let mut anchor = slug.clone();
        while self.counts.contains_key(&anchor) {
            let count = self.counts.entry(slug.clone()).or_default();
            *count += 1;
            anchor = format!("{slug}-{count}");
        }
        self.counts.insert(anchor.clone(), 0);
        self.add(anchor, line);
    }
}

/// Returns the text and the explicit anchor of a heading such as `Heading {#anchor}`.
fn explicit_id(text: &str) -> Option<(&str, &str)> {
    let (title, attributes) = text.trim_end().strip_suffix('}')?.rsplit_once("{#")?;
    let id = attributes.split_whitespace().next().filter(|id| !id.is_empty())?;
    Some((title.trim_end(), id))
}

/// Returns the anchor that GitHub gives to a heading.
fn slug(text: &str) -> String {
    let slug_char = |character: char| match character {
        ' ' => Some('-'),
        '-' | '_' => Some(character),
        _ => character.is_alphanumeric().then_some(character),
    };
    text.trim().to_lowercase().chars().filter_map(slug_char).collect()
}

/// Returns the values of these attributes in HTML, except one that is too long for an anchor or a path.
fn attributes<'h>(html: &'h str, names: &'h [&str]) -> impl Iterator<Item = &'h str> {
    html.match_indices('=').filter_map(move |(at, _)| {
        let before = html.get(html.floor_char_boundary(at.saturating_sub(MAX_HTML))..at)?.trim_end();
        let name_at = before.rfind(|c: char| c.is_whitespace() || "\"'<>/=".contains(c))?;
        let name = before.get(name_at..)?.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
        if !names.iter().any(|known| known.eq_ignore_ascii_case(name)) || !is_in_tag(before) {
            return None;
        }
        let rest = html.get(at + 1..)?;
        let value = rest.get(..rest.floor_char_boundary(MAX_HTML))?.trim_start();
        match value.chars().next()? {
            quotation @ ('"' | '\'') => value.get(1..)?.split_once(quotation).map(|(value, _)| value),
            _ => value.split(|c: char| c.is_whitespace() || c == '>').next(),
        }
    })
}

/// True if a piece of HTML ends inside a tag.
fn is_in_tag(before: &str) -> bool {
    before.rfind('<').is_some_and(|open| before.rfind('>').is_none_or(|close| close < open))
}

/// The offsets at which the lines of a text begin.
struct LineStarts(Vec<usize>);

impl LineStarts {
    fn new(text: &str) -> LineStarts {
        LineStarts(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1).collect())
    }

    /// Returns the line of an offset, 1-based.
    fn line_at(&self, offset: usize) -> usize {
        self.0.partition_point(|start| *start <= offset) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        anchors(text).into_keys().collect()
    }

    #[test]
    fn anchors_are_those_of_github() {
        for (text, anchor) in [
            ("# A Title\n", "a-title"),
            ("A Title\n=======\n", "a-title"),
            ("## What's new, in 2.0?\n", "whats-new-in-20"),
            ("## `code_name` & more\n", "code_name--more"),
            ("## *Not* [all](b.md) of **it**\n", "not-all-of-it"),
            ("## Übergröße Ñandú\n", "übergröße-ñandú"),
            ("## 日本語 見出し\n", "日本語-見出し"),
            ("## :tada: Party\n", "tada-party"),
            ("## 🎉 Party\n", "-party"),
            ("## ![logo](//x) Party\n", "party"),
            ("> ## Quoted\n", "quoted"),
            ("---\ntitle: x\n---\n\n## After\n", "after"),
            ("<a id=\"Own\"></a>\n", "own"),
            ("text <a name='own'>x</a>\n", "own"),
            ("<h2 class=x id=own>T</h2>\n", "own"),
        ] {
            assert_eq!(names(text), [anchor], "{text}");
        }
        for text in ["```\n# code\n```\n", "<!-- # no -->\n", "`<a id=\"no\">`\n", "#no\n", "a id=\"no\"\n"] {
            assert_eq!(names(text), [""; 0], "{text}");
        }
        assert_eq!(names("## Long name {#short}\n"), ["long-name", "long-name-short", "short"]);
    }

    #[test]
    fn anchors_that_come_again_are_numbered() {
        assert_eq!(names("# A\n\n# A\n\n# A\n"), ["a", "a-1", "a-2"]);
        assert_eq!(names("# A\n\n# A-1\n\n# A\n"), ["a", "a-1", "a-2"]);
        assert_eq!(anchors("# A\n\n## B\n\n# A\n")["a-1"], 5);
        let lost = lost_anchors("# A\n\n# A\n", "# A\n");
        assert_eq!(lost, [LostTarget::Anchor("a-1".to_owned(), 3)]);
    }

    #[test]
    fn links_are_found_in_every_form() {
        let found = |text: &str| links("docs/a.md", text);
        for (text, target, anchor) in [
            ("[x](b.md#C-d)", "docs/b.md", Some("c-d")),
            ("[x](../b.md)", "b.md", None),
            ("[x](#here)", "docs/a.md", Some("here")),
            ("[x][y]\n\n[y]: b.md#c", "docs/b.md", Some("c")),
            ("![x](img/a%20b.png)", "docs/img/a b.png", None),
            ("<a href=\"b.md#c\">x</a>", "docs/b.md", Some("c")),
            ("<p>\n<img width=1 src='b.png'>\n</p>", "docs/b.png", None),
            ("[x](b.md#%C3%BC)", "docs/b.md", Some("ü")),
        ] {
            let all = found(text);
            assert_eq!(all.len(), 1, "{text}: {all:?}");
            assert_eq!((all[0].target.as_str(), all[0].anchor.as_deref()), (target, anchor), "{text}");
        }
        for text in
            ["[x](https://a/b.md)", "`[x](b.md)`", "[x](/b.md)", "[x](../../b.md)", "<!-- [x](b.md) -->"]
        {
            assert_eq!(found(text), [], "{text}");
        }
        let lines: Vec<usize> =
            found("---\nt: x\n---\n\n[a](b.md)\n[c](d.md)\n").iter().map(|link| link.line).collect();
        assert_eq!(lines, [5, 6]);
    }

    #[test]
    fn a_link_leads_to_the_page_that_a_site_makes_of_a_file() {
        let leads = |target: &str, path: &str| {
            PageLink { line: 1, target: target.to_owned(), anchor: None }.leads_to(path)
        };
        for target in ["docs/b.md", "docs/b", "docs/b.html"] {
            assert!(leads(target, "docs/b.md"), "{target}");
            assert!(!leads(target, "docs/c.md"), "{target}: the control");
        }
        assert!(leads("docs", "docs/README.md"));
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test may look at the clock")]
    fn hostile_pages_end_quickly() {
        for piece in ["[", "](#", "<a id=", "<", "=", "# a\n", "# \n", "[a]: #\n", "{#", "<a =\"", "a="] {
            let text = piece.repeat(60_000 / piece.len());
            let start = std::time::Instant::now();
            let _ = (anchors(&text), links("a.md", &text));
            assert!(start.elapsed().as_secs() < 10, "{piece:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_page(text in r"([-#>*_`\[\]()<>!&\\:=+|~{} \n\ré]|id=|<a |<!--|%20|a\.md){0,80}") {
            let count = text.lines().count().max(1);
            for line in anchors(&text).into_values().chain(links("a.md", &text).iter().map(|link| link.line)) {
                proptest::prop_assert!((1..=count).contains(&line));
            }
            proptest::prop_assert_eq!(lost_anchors(&text, &text), []);
        }
    }
}
