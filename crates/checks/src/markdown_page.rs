//! What a Markdown page has, for the rules about it.
//!
//! Invariant: the walk is linear in the text and cannot fail; every text is a valid page.

use std::collections::HashSet;

use pulldown_cmark::{Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd};
use serde::{Deserialize, Serialize};

/// The maximum number of links, and of table rows, that are checked in a page.
pub(super) const MOST: usize = 20_000;

/// A relative or absolute link, at an offset of the body.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct MarkdownLink {
    pub(super) offset: usize,
    pub(super) destination: String,
}

/// The parts of a page's body that the rules check.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct MarkdownPage {
    pub(super) has_title: bool,
    pub(super) links: Vec<MarkdownLink>,
    pub(super) ragged: Vec<TableRow>,
}

/// A table row with fewer cells than the table has columns.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TableRow {
    pub(super) offset: usize,
    pub(super) cells: usize,
    pub(super) columns: usize,
}

impl MarkdownPage {
    /// Reads the body of a page, up to [`MOST`] links and rows.
    pub(super) fn read(body: &str) -> MarkdownPage {
        let events = parser(body).into_offset_iter();
        let defined = events.reference_definitions().iter();
        let mut links: Vec<MarkdownLink> = defined
            .map(|(_, link)| MarkdownLink { offset: link.span.start, destination: link.dest.to_string() })
            .collect();
        // Definitions come in no particular order.
        links.sort_by_key(|link| link.offset);
        links.truncate(MOST);
        let most = links.len() + MOST;
        let mut title = Title::default();
        let (mut columns, mut ragged) = (0, Vec::new());
        for (event, range) in events {
            title.visit(&event);
            match &event {
                Event::Start(Tag::Table(alignments)) => columns = alignments.len(),
                Event::Start(Tag::TableRow) => {
                    let cells = cells(body.get(range.clone()).unwrap_or_default());
                    if cells < columns && ragged.len() < MOST {
                        ragged.push(TableRow { offset: range.start, cells, columns });
                    }
                }
                _ => {}
            }
            if let Event::Start(
                Tag::Link { link_type, dest_url, .. } | Tag::Image { link_type, dest_url, .. },
            ) = event
                && link_type == LinkType::Inline
                && links.len() < most
            {
                links.push(MarkdownLink { offset: range.start, destination: dest_url.into_string() });
            }
        }
        links.sort_by_key(|link| link.offset);
        links.truncate(MOST);
        MarkdownPage { has_title: title.is_found, links, ragged }
    }
}

/// Returns the parser of a page's body.
pub(super) fn parser(body: &str) -> Parser<'_> {
    Parser::new_ext(body, Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_TASKLISTS)
}

/// Returns the number of cells in a table row as it is written.
fn cells(row: &str) -> usize {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    let row = row.strip_suffix('|').filter(|row| !row.ends_with('\\')).unwrap_or(row);
    let mut escaped = false;
    let bars = row.bytes().filter(|byte| {
        let is_bar = *byte == b'|' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        is_bar
    });
    bars.count() + 1
}

/// Looks for a level-1 heading with content in the events of a page, in Markdown or in HTML.
#[derive(Default)]
struct Title {
    in_heading: bool,
    in_comment: bool,
    at_html_start: bool,
    is_found: bool,
}

impl Title {
    fn visit(&mut self, event: &Event) {
        match event {
            Event::Start(Tag::Heading { level: HeadingLevel::H1, .. }) => self.in_heading = true,
            Event::End(TagEnd::Heading(_)) => self.in_heading = false,
            Event::Start(Tag::HtmlBlock) => (self.at_html_start, self.in_comment) = (true, false),
            Event::Html(html) => {
                self.in_comment |= self.at_html_start && html.trim_start().starts_with("<!--");
                self.at_html_start = false;
                self.is_found |= !self.in_comment && is_html_heading(html);
            }
            Event::InlineHtml(html) => self.is_found |= is_html_heading(html),
            Event::Text(text) | Event::Code(text) => {
                self.is_found |= self.in_heading && !text.trim().is_empty()
            }
            Event::Start(Tag::Image { .. }) => self.is_found |= self.in_heading,
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

/// Returns the headings of a Markdown page, normalized for comparison.
pub(super) fn headings(text: &str) -> HashSet<String> {
    let (mut headings, mut heading) = (HashSet::new(), None::<String>);
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => headings.extend(heading.take().map(|text| normalize(&text))),
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&text);
                }
            }
            _ => {}
        }
    }
    headings
}

/// Normalizes a heading: lower case, single spaces, no colon at the end.
pub(super) fn normalize(heading: &str) -> String {
    let words: Vec<&str> = heading.trim_end_matches(':').split_whitespace().collect();
    words.join(" ").to_lowercase()
}
