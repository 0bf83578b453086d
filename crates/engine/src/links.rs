//! Finds links that a call would break: those of other Markdown pages to a file that it removes, or to a
//! heading that it removes. For an audit, it finds links to headings that are gone since the revision.
//!
//! Invariant: at most [`MAX_PAGES`] pages and [`MAX_BYTES`] are read; for pages that the call edits, the
//! drafts are read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::batch::Batch;
use super::plan::FileDraft;
use super::services::Services;
use lockgate_checks::{DeadLinks, LostTarget, PageLink, Watch, links, lost_anchors};
use lockgate_edit::Edit;
use lockgate_error::Error;
use lockgate_policy::{GateKind, Language, PatternRules, Profile, Rule, language_named};
use lockgate_store::{Clock, FileLocation, Hidden, MatchReach, SearchLimits, SearchPattern, SearchTarget};
use lockgate_text::{Buffer, Hints};

/// The most pages that are read for links.
const MAX_PAGES: usize = 500;
/// The most mentions of the files that are counted in the search for pages.
const MAX_MATCHES: usize = 20_000;
/// The number of file names in one search; a pattern may have 10,000 bytes.
const MENTIONS_AT_ONCE: usize = 20;
/// The most bytes of pages that are read.
const MAX_BYTES: u64 = 16 << 20;
/// The largest page that is parsed, in bytes: a Markdown parser takes up to forty times the size of a page.
const MAX_PAGE_BYTES: usize = 256 << 10;
/// The time limit of the search for pages.
const TIMEOUT: Duration = Duration::from_secs(2);
/// A glob for the Markdown pages of a root.
const PAGES: &str = "**/*.{md,markdown,mdown,mkd,mkdn}";
/// Stems of pages that a link to their folder shows.
const FOLDER_PAGES: [&str; 3] = ["readme", "index", "_index"];

/// A page of the project, with its links.
struct Page {
    root: PathBuf,
    path: String,
    display_path: String,
    links: Vec<PageLink>,
}

/// A page of an audit, with the anchors that it lost since the revision.
pub(super) struct AuditedPage<'a> {
    place: &'a FileLocation,
    text: &'a str,
    lost: Vec<LostTarget>,
}

impl<'a> AuditedPage<'a> {
    /// Compares a page with its text at the revision; without one, it lost nothing.
    pub(super) fn new(place: &'a FileLocation, before: Option<&str>, text: &'a str) -> AuditedPage<'a> {
        let before = before.filter(|before| before.len().max(text.len()) <= MAX_PAGE_BYTES);
        let lost = before.map_or_else(Vec::new, |before| lost_anchors(before, text));
        AuditedPage { place, text, lost }
    }
}

/// The language of Markdown pages.
pub(super) fn markdown() -> Option<&'static Language> {
    language_named("markdown")
}

/// True if a rule's gate checks the links of Markdown pages.
pub(super) fn checks_links(rule: &Rule) -> bool {
    matches!(rule.gate.kind, GateKind::Pattern(PatternRules::Markdown))
}

impl Services {
    /// Returns, for each draft, the links that the call would break; empty if no gate checks links.
    pub(super) fn dead_links(
        &self,
        batch: &Batch,
        drafts: &[FileDraft<'_>],
        watch: &Watch,
    ) -> Result<Vec<Vec<DeadLinks>>, Error> {
        let lost: Vec<Vec<LostTarget>> = drafts.iter().map(|draft| removed_targets(batch, draft)).collect();
        let files = drafts.iter().zip(&lost).filter(|(_, lost)| !lost.is_empty());
        let files: Vec<&FileLocation> = files.filter_map(|(draft, _)| draft.target.place.file()).collect();
        if files.is_empty() {
            return Ok(drafts.iter().map(|_| Vec::new()).collect());
        }
        let mut pages = drafts.iter().filter_map(|draft| self.drafted_page(draft)).collect::<Vec<Page>>();
        pages.extend(self.pages_on_disk(&files, drafts, watch)?);
        let dead = |(draft, lost): (&FileDraft<'_>, Vec<LostTarget>)| {
            let Some(place) = draft.target.place.file() else { return Ok(Vec::new()) };
            let root = self.store.files.root_path(place)?;
            let failure = OnceLock::new();
            let dead = dead_links(lost, &pages, root, place, &self.overlays(draft.target, drafts, &failure));
            failure.get().cloned().map_or(Ok(dead), Err)
        };
        drafts.iter().zip(lost).map(dead).collect()
    }

    /// Returns, for each page of an audit, the links that lead to the anchors that it lost.
    pub(super) fn links_to_lost_anchors(
        &self,
        changed: &[AuditedPage<'_>],
        watch: &Watch,
    ) -> Result<Vec<Vec<DeadLinks>>, Error> {
        let with_loss = || changed.iter().filter(|page| !page.lost.is_empty());
        // A page need not mention its own name, so the search may not find it.
        let mut pages: Vec<Page> = with_loss().filter_map(|page| self.page(page.place, page.text)).collect();
        let own = pages.len();
        let files: Vec<&FileLocation> = with_loss().map(|page| page.place).collect();
        let on_disk = if files.is_empty() { Vec::new() } else { self.pages_on_disk(&files, &[], watch)? };
        for page in on_disk {
            let mut known = pages.iter().take(own);
            if !known.any(|known| known.root == page.root && known.path == page.path) {
                pages.push(page);
            }
        }
        let dead = |page: &AuditedPage<'_>| -> Result<Vec<DeadLinks>, Error> {
            let root = self.store.files.root_path(page.place)?;
            let files_exist = |path: &str| self.store.files.exists(page.place, path);
            Ok(dead_links(page.lost.clone(), &pages, root, page.place, &files_exist))
        };
        changed.iter().map(dead).collect()
    }

    /// Returns the pages on disk with links to files that are gone, by their paths below the root of these files, each with
    /// those links.
    pub(super) fn links_to_removed_files(
        &self,
        removed: &[FileLocation],
        watch: &Watch,
    ) -> Result<BTreeMap<String, Vec<DeadLinks>>, Error> {
        let mut dead: BTreeMap<String, Vec<DeadLinks>> = BTreeMap::new();
        let Some(first) = removed.first() else { return Ok(dead) };
        let files_exist = |path: &str| self.store.files.exists(first, path);
        for page in self.pages_on_disk(&removed.iter().collect::<Vec<_>>(), &[], watch)? {
            for link in &page.links {
                let gone = removed.iter().find(|gone| link.is_dead(&page.path, gone.in_root(), &files_exist));
                if let Some(gone) = gone {
                    let lost = LostTarget::Elsewhere(gone.shown().to_owned(), link.line);
                    let links = vec![(page.display_path.clone(), link.line)];
                    dead.entry(page.path.clone()).or_default().push(DeadLinks { lost, links });
                }
            }
        }
        Ok(dead)
    }

    /// Returns a text as a page.
    fn page(&self, place: &FileLocation, text: &str) -> Option<Page> {
        let root = self.store.files.root_path(place).ok()?.to_owned();
        let links = links(place.in_root(), text);
        Some(Page { root, path: place.in_root().to_owned(), display_path: place.shown().to_owned(), links })
    }

    /// Returns the draft of a call as a page.
    fn drafted_page(&self, draft: &FileDraft<'_>) -> Option<Page> {
        let place = draft.target.place.file()?;
        let text = draft.drafted.buffer.view();
        let is_page = text.len() <= MAX_PAGE_BYTES && draft.target.language(text) == markdown();
        if draft.request.edit == Edit::Remove || !is_page {
            return None;
        }
        self.page(place, text)
    }

    /// Returns the pages on disk that mention one of the files, except those that the call edits.
    fn pages_on_disk(
        &self,
        files: &[&FileLocation],
        drafts: &[FileDraft<'_>],
        watch: &Watch,
    ) -> Result<Vec<Page>, Error> {
        let mut pages = Vec::new();
        let mut remaining = MAX_BYTES;
        let waiting = || watch.cancelled();
        let clock = Clock::new(Instant::now() + TIMEOUT, &waiting);
        let mut mentions: BTreeMap<&Path, Vec<String>> = BTreeMap::new();
        for place in files {
            let root = self.store.files.root_path(place)?;
            mentions.entry(root).or_default().push(mention(place.in_root()));
        }
        for (root, mentions) in mentions {
            let glob = root.join(PAGES);
            let within = glob.to_str().and_then(|glob| self.store.files.search_target(Some(glob)).ok());
            let Some(SearchTarget::Roots(below)) = within else { continue };
            let mut hits = BTreeMap::new();
            for mentions in mentions.chunks(MENTIONS_AT_ONCE) {
                // Pages are not found for a name that is too long for a pattern. A dead link is only a
                // warning.
                let Ok(pattern) = SearchPattern::new(&mentions.join("|"), MatchReach::Line) else { continue };
                let bounds =
                    SearchLimits { most: MAX_MATCHES, largest: MAX_PAGE_BYTES as u64, clock: &clock };
                let found = self.store.files.search(&below, &pattern, Hidden::Included, bounds);
                hits.extend(found.files.into_iter().map(|(place, _)| (place.in_root().to_owned(), place)));
            }
            for place in hits.into_values().take(MAX_PAGES.saturating_sub(pages.len())) {
                if self.is_draft(drafts, root, place.in_root()) {
                    continue;
                }
                let Ok(Some(mut snapshot)) = self.store.files.read(&place, remaining) else {
                    continue;
                };
                let bytes = snapshot.take_bytes();
                remaining = remaining.saturating_sub(bytes.len() as u64);
                let text = Buffer::read(bytes, Hints::default());
                pages.extend(text.ok().and_then(|text| self.page(&place, text.view())));
            }
        }
        Ok(pages)
    }

    /// True if the call edits this file.
    fn is_draft(&self, drafts: &[FileDraft<'_>], root: &Path, path: &str) -> bool {
        let mut places = drafts.iter().filter_map(|draft| draft.target.place.file());
        places.any(|place| {
            place.in_root() == path && self.store.files.root_path(place).is_ok_and(|own| own == root)
        })
    }
}

/// Returns those targets which the file at a place lost and to which links of the pages of its root lead, with these links in
/// order.
fn dead_links(
    lost: Vec<LostTarget>,
    pages: &[Page],
    root: &Path,
    place: &FileLocation,
    files_exist: &(dyn Fn(&str) -> bool + Sync),
) -> Vec<DeadLinks> {
    let is_dead = |lost: &LostTarget, page: &Page, link: &PageLink| match lost {
        LostTarget::File => link.is_dead(&page.path, place.in_root(), files_exist),
        LostTarget::Elsewhere(..) => false,
        LostTarget::Anchor(anchor, _) => {
            link.anchor.as_deref() == Some(anchor) && link.leads_to(place.in_root())
        }
    };
    let mut dead = Vec::new();
    for lost in lost {
        let mut links: Vec<(String, usize)> = Vec::new();
        for page in pages.iter().filter(|page| page.root == root) {
            let found = page.links.iter().filter(|link| is_dead(&lost, page, link));
            links.extend(found.map(|link| (page.display_path.clone(), link.line)));
        }
        if !links.is_empty() {
            links.sort();
            dead.push(DeadLinks { lost, links });
        }
    }
    dead
}

/// Returns the targets that a draft removes from its file, if a gate of the policy checks links.
fn removed_targets(batch: &Batch, draft: &FileDraft<'_>) -> Vec<LostTarget> {
    let (Some(place), Some(_)) = (draft.target.place.file(), &draft.current.snapshot) else {
        return Vec::new();
    };
    let removes = draft.request.edit == Edit::Remove;
    let (before, after) = (draft.current.buffer.view(), draft.drafted.buffer.view());
    let is_page =
        before.len().max(after.len()) <= MAX_PAGE_BYTES && draft.target.language(after) == markdown();
    if !removes && !is_page {
        return Vec::new();
    }
    let profile = if batch.is_batch { Profile::Batch } else { Profile::Edit };
    let effective_rules = draft.target.rules.effective_rules(place.in_root(), markdown(), profile);
    if !effective_rules.rules.iter().any(|rule| rule.enabled && checks_links(rule)) {
        return Vec::new();
    }
    if removes { vec![LostTarget::File] } else { lost_anchors(before, after) }
}

/// Returns a pattern for the name of a file in links: with or without its extension, and percent-encoded. A
/// page that its folder shows is also found by the folder's name.
fn mention(path: &str) -> String {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or(name);
    let plain = |name: &str| {
        let is_plain = |c: char| c.is_ascii_alphanumeric();
        let words = name.split(|c: char| !is_plain(c)).filter(|word| !word.is_empty());
        let words = words.collect::<Vec<_>>().join(".{1,40}");
        let start = if name.starts_with(is_plain) { r"\b" } else { "" };
        let end = if name.ends_with(is_plain) { r"\b" } else { "" };
        if words.is_empty() { words } else { format!("{start}{words}{end}") }
    };
    let folder = folders.rsplit('/').next().filter(|folder| !folder.is_empty());
    let folder = folder.filter(|_| FOLDER_PAGES.contains(&stem.to_lowercase().as_str()));
    let all: Vec<String> =
        std::iter::once(stem).chain(folder).map(plain).filter(|name| !name.is_empty()).collect();
    // A name without such characters occurs literally, or encoded as a whole.
    if all.is_empty() { format!("%|{}", regex::escape(stem)) } else { all.join("|") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_mentioned_however_its_name_is_written() {
        let finds = |path: &str, line: &str| regex::Regex::new(&mention(path)).unwrap().is_match(line);
        for (path, line) in [
            ("docs/a.md", "[x](a.md)"),
            ("docs/a.md", "[x](a.html#y)"),
            ("docs/two words.md", "[x](<two words.md>)"),
            ("docs/two words.md", "[x](two%20words.md)"),
            ("docs/é b.md", "[x](%C3%A9%20b.md)"),
            ("docs/README.md", "[x](docs/)"),
            ("日本.md", "[x](%E6%97%A5%E6%9C%AC.md)"),
            ("日本.md", "[x](日本.md)"),
            (".hidden.md", "[x](.hidden.md)"),
        ] {
            assert!(finds(path, line), "{path}: {line}");
        }
        for (path, line) in [("docs/guide.md", "[x](other.md)"), ("a.md", "pages of data")] {
            assert!(!finds(path, line), "{path}: {line}: the control");
        }
    }
}
