//! Renders edits of the history as text.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::cli::paint::{ADDED, FAINT, LABEL, REMOVED, WARNING, labelled, paint, visible};
use crate::cli::show;
use lockgate_mcp::answer::{age, display_name};
use lockgate_protocol::{EditRecord, HistoryResponse, RecordedFile};

/// How much a list shows of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// One line, with the names of the files.
    Line,
    /// One line, and one for each file.
    Files,
    /// One line, and the diff of each file.
    Patch,
}

pub(super) fn list(HistoryResponse { edits, truncated }: &HistoryResponse, style: Style) -> String {
    let shown = |edit: &EditRecord| match style {
        Style::Line => headline(edit, &format!(": {}", files(edit))),
        Style::Files => {
            headline(edit, "") + &edit.files.iter().map(file_line).collect::<String>() + &omitted_files(edit)
        }
        Style::Patch => full(edit),
    };
    let mut text: String = edits.iter().map(shown).collect();
    if edits.is_empty() {
        text += &labelled(FAINT, "nothing", "no edits found");
    }
    if truncated.is_some() {
        text += &more("-n N shows more of them");
    }
    text
}

/// Renders the last line of a list that is not complete.
pub(super) fn more(next_step: &str) -> String {
    labelled(FAINT, "more", format!("there are more edits; {next_step}"))
}

/// Renders an edit with the diffs of its files.
pub(super) fn full(edit: &EditRecord) -> String {
    let mut text = headline(edit, "");
    if let Some(gates) = &edit.gates {
        text += &labelled(LABEL, "gates", visible(gates));
    }
    for file in &edit.files {
        text += &file_line(file);
        text += &match &file.diff {
            Some(diff) => show::diff(diff),
            // The line of the file says so.
            None if file.kept.is_some() => String::new(),
            None => labelled(WARNING, "", "its texts are not in the journal"),
        };
    }
    text + &omitted_files(edit)
}

fn headline(edit: &EditRecord, files: &str) -> String {
    let by = edit.author.as_ref().map(|author| format!(" by {}", visible(author))).unwrap_or_default();
    let of = edit.of.as_ref().map(|id| format!(", {} of {id}", edit.kind)).unwrap_or_default();
    let undone = if edit.undone { paint(WARNING, ", undone") } else { String::new() };
    let tool = visible(edit.tool.as_deref().unwrap_or_default());
    labelled(LABEL, &edit.edit_id, format!("{} {tool}{by}{of}{undone}{files}", when(&edit.at)))
}

/// Renders a time in UTC as local time, with its age.
fn when(at: &str) -> String {
    let Ok(moment) = at.parse::<Timestamp>() else { return at.to_owned() };
    let local = moment.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S");
    format!("{local} {}", paint(FAINT, format!("({})", age(moment.into()))))
}

/// Renders the files of an edit on one line: the name of one, or the number of several.
fn files(edit: &EditRecord) -> String {
    if let [file] = edit.files.as_slice() {
        return changed(file);
    }
    let count = edit.files.len() + edit.more_files.unwrap_or_default();
    let sum = |number: fn(&RecordedFile) -> usize| edit.files.iter().map(number).sum::<usize>();
    let (added, removed) = (sum(|file| file.added), sum(|file| file.removed));
    let more = edit.more_files.map(|_| " at least").unwrap_or_default();
    format!("{count} files{more} {}", counts(added, removed))
}

fn omitted_files(edit: &EditRecord) -> String {
    edit.more_files.map(|more| labelled(FAINT, "", format!("and {more} more files"))).unwrap_or_default()
}

fn file_line(file: &RecordedFile) -> String {
    labelled(LABEL, "", changed(file))
}

fn changed(file: &RecordedFile) -> String {
    let lost = file.kept.map(|_| ", its texts are not in the journal").unwrap_or_default();
    let counts =
        if file.is_counted() { format!(" {}", counts(file.added, file.removed)) } else { String::new() };
    format!("{}{}{counts}{lost}", file.change_word(), name(file))
}

/// Renders the path of a file, or the type, path and owner of an entity.
fn name(file: &RecordedFile) -> String {
    match &file.key.entity_type {
        None => visible(&file.path).into_owned(),
        Some(_) => visible(&display_name(&file.path, &file.key)).into_owned(),
    }
}

fn counts(added: usize, removed: usize) -> String {
    format!("{} {}", paint(ADDED, format!("+{added}")), paint(REMOVED, format!("-{removed}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_protocol::EntityKey;

    fn plain(styled: &str) -> String {
        anstream::adapter::strip_str(styled).to_string()
    }

    #[test]
    fn an_entity_is_named_by_its_type_and_owner() {
        let named = |app: Option<&str>, organization: Option<&str>| {
            let key = EntityKey {
                entity_type: Some("workflow".into()),
                app_id: app.map(str::to_owned),
                organization_id: organization.map(str::to_owned),
            };
            plain(&changed(&RecordedFile { path: "a.py".into(), key, added: 1, ..RecordedFile::default() }))
        };
        assert_eq!(named(None, None), "created workflow a.py +1 -0");
        assert_eq!(named(None, Some("acme")), "created workflow a.py of organisation acme +1 -0");
        assert_eq!(named(Some("c\u{1b}rm"), None), "created workflow a.py of app \"c\\u{1b}rm\" +1 -0");
    }

    #[test]
    fn a_change_whose_lines_are_unknown_has_no_numbers() {
        let version = || Some("0123456789ab".to_owned());
        let shown = |kept, added| {
            let (version, previous_version) = (version(), version());
            let file = RecordedFile {
                path: "a.py".into(),
                version,
                previous_version,
                kept,
                added,
                ..RecordedFile::default()
            };
            plain(&changed(&file))
        };
        assert_eq!(shown(Some(false), 0), "a.py, its texts are not in the journal");
        assert_eq!(shown(Some(false), 2), "a.py +2 -0, its texts are not in the journal");
        assert_eq!(shown(None, 0), "a.py +0 -0");
    }

    #[test]
    fn edits_are_listed_with_their_files() {
        let file = |path: &str, previous: Option<&str>, (added, removed), kept| RecordedFile {
            path: path.into(),
            version: Some("0123456789ab".into()),
            previous_version: previous.map(str::to_owned),
            added,
            removed,
            kept,
            ..RecordedFile::default()
        };
        let first = EditRecord {
            edit_id: "7f3a-43".into(),
            at: "2026-01-02T03:04:05Z".into(),
            tool: Some("undo_edit".into()),
            author: Some("x 1".into()),
            kind: "undo".into(),
            of: Some("7f3a-42".into()),
            files: vec![file("a\u{1b}.py", Some("ba9876543210"), (1, 2), None)],
            ..EditRecord::default()
        };
        let second = EditRecord {
            edit_id: "7f3a-42".into(),
            at: "2026-01-02T03:04:04Z".into(),
            tool: Some("edit_files".into()),
            kind: "edit".into(),
            undone: true,
            files: vec![file("b.py", None, (3, 0), Some(false))],
            ..EditRecord::default()
        };
        let listed = HistoryResponse { edits: vec![first, second], truncated: Some(true) };
        let days = "0123456789 -:";
        let lines = |style| {
            // Local times differ from machine to machine, and ages from day to day.
            let text = plain(&list(&listed, style));
            let line = |line: &str| match line.split_once(" ago) ") {
                Some((front, rest)) => {
                    let (id, time) = front.split_at(10);
                    assert!(
                        time.contains(" (")
                            && time.split_once(" (").unwrap().0.trim_matches(|c| days.contains(c)).is_empty(),
                        "{front}"
                    );
                    format!("{id}{rest}\n")
                }
                None => format!("{line}\n"),
            };
            text.lines().map(line).collect::<String>()
        };
        assert_eq!(
            lines(Style::Files),
            "7f3a-43   undo_edit by x 1, undo of 7f3a-42\n          a\u{241b}.py +1 -2\n\
             7f3a-42   edit_files, undone\n          created b.py +3 -0, its texts are not in the journal\n\
             more      there are more edits; -n N shows more of them\n"
        );
        assert_eq!(
            lines(Style::Line),
            "7f3a-43   undo_edit by x 1, undo of 7f3a-42: a\u{241b}.py +1 -2\n\
             7f3a-42   edit_files, undone: created b.py +3 -0, its texts are not in the journal\n\
             more      there are more edits; -n N shows more of them\n"
        );
        assert_eq!(plain(&list(&HistoryResponse::default(), Style::Line)), "nothing   no edits found\n");
    }
}
