//! What the journal costs, beside the same edit that is not remembered.
//!
//!     cargo bench --bench journal                          after 5,000 edits
//!     LOCKGATE_EDITS=100000 cargo bench --bench journal    after 100,000
//!
//! In memory where there is /dev/shm, so that it is not the disk that is measured. Each figure is a median.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark stops at the first error, and prints"
)]

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lockgate_policy::{Durability, Publishing};
use lockgate_store::{
    Content, EditFilter, EditMeta, EntryKind, FileLocation, FileWrite, Files, Journal, JournalRecord,
    RetentionLimits, StateFolder,
};
use lockgate_text::{Buffer, Hints, Version};

/// The sizes of the files that are edited.
const SIZES: [(&str, usize); 3] = [("1 KB", 1_000), ("40 KB", 40_000), ("4 MB", 4_000_000)];
const BOUNDS: RetentionLimits =
    RetentionLimits { size: 256 << 20, age: Duration::from_secs(30 * 24 * 60 * 60) };

/// A root and its journal.
struct Fixture {
    files: Files,
    journal: Journal,
}

impl Fixture {
    fn new(dir: &Path) -> Fixture {
        let root = dir.join("root");
        fs::create_dir_all(&root).unwrap();
        let files = Files::open(&[root]).unwrap();
        let journal = Journal::open(&StateFolder::for_user(&files.root_paths()), &files);
        Fixture { files, journal }
    }

    fn file_place(&self, path: &str) -> FileLocation {
        self.files.admit(path).unwrap()
    }

    /// Publishes a text, remembered or not; the difference is what the journal costs.
    fn publish(&self, place: &FileLocation, bytes: &[u8], remembered: bool) {
        let read = self.files.read(place, 1 << 30).unwrap();
        let before = read.as_ref().map(|read| read.expected(Content::new(read.bytes())));
        let journal_record = JournalRecord { added: 1, removed: 1, keep: true };
        let write =
            FileWrite { record: journal_record, ..FileWrite::new(place, before, Some(Content::new(bytes))) };
        let how = Publishing { durability: Durability::Process, ..Publishing::default() };
        let request = Version::hash(b"request");
        let (tool, author) = ("edit_file".to_owned(), "bench".to_owned());
        let meta = EditMeta { tool, author, request, kind: EntryKind::Edit, gates: "passed".to_owned() };
        let record = remembered.then_some((&self.journal, &meta));
        let _ = black_box(self.files.publish(&[write], how, record).unwrap());
    }
}

fn text(size: usize, number: usize) -> Vec<u8> {
    let line =
        |line: usize| format!("let value_{line:07} = compute({line}, scale, {});\n", line * 7919 % 1009);
    let mut text: Vec<u8> = (0..).map(line).flat_map(String::into_bytes).take(size).collect();
    let at = number * 37 % (size - 20);
    text.splice(at..at + 10, format!("{number:012}").into_bytes());
    text
}

/// The median of so many rounds.
fn median(rounds: usize, mut work: impl FnMut(usize)) -> Duration {
    let round = |number| {
        let start = Instant::now();
        work(number);
        start.elapsed()
    };
    let mut each: Vec<Duration> = (0..rounds).map(round).collect();
    each.sort();
    each.get(rounds / 2).copied().unwrap_or_default()
}

fn publishing(fixture: &Fixture) {
    for (name, size) in SIZES {
        let rounds = if size > 1_000_000 { 60 } else { 1000 };
        let texts: Vec<Vec<u8>> = (0..=rounds).map(|number| text(size, number)).collect();
        let cost = |path: String, remembered| {
            let place = fixture.file_place(&path);
            fixture.publish(&place, texts.last().unwrap(), remembered);
            median(rounds, |number| fixture.publish(&place, texts.get(number).unwrap(), remembered))
        };
        let (without, with) = (cost(format!("without-{size}"), false), cost(format!("with-{size}"), true));
        println!("{name:>6}: an edit {without:9.1?} forgotten, {with:9.1?} remembered");
        let stamps = median(100, |number| {
            black_box(Content::new(texts.get(number % rounds).unwrap()));
        });
        let read = fixture.file_place("read");
        let buffers: Vec<Arc<Buffer>> = (0..20)
            .map(|number| texts.get(number % rounds).unwrap().clone())
            .map(|text| Arc::new(Buffer::read(text, Hints::default()).unwrap()))
            .collect();
        let keeps = median(20, |number| {
            fixture.journal.keep(&read, Arc::clone(buffers.get(number % 20).unwrap()), BOUNDS);
        });
        println!("{name:>6}: a read is stamped in {stamps:9.1?}, handed over in {keeps:9.1?}");
    }
}

fn journal_size(fixture: &Fixture, dir: &Path) {
    let edits: usize = std::env::var("LOCKGATE_EDITS").ok().and_then(|it| it.parse().ok()).unwrap_or(5_000);
    let large = fixture.file_place("large");
    (0..33).for_each(|number| fixture.publish(&large, &text(4_000_000, number), true));
    let texts: Vec<Vec<u8>> = (0..1000).map(|number| text(40_000, number)).collect();
    let (start, mut most, mut slowest) = (Instant::now(), 0, Duration::ZERO);
    for number in 0..edits {
        let place = fixture.file_place(&format!("file-{}", number % 200));
        let edit = Instant::now();
        fixture.publish(&place, texts.get(number * 31 % 1000).unwrap(), true);
        fixture.journal.tidy(&place, BOUNDS).unwrap();
        slowest = slowest.max(edit.elapsed());
        most = most.max(if number % 100 == 0 { size_of(&dir.join("state")) } else { 0 });
    }
    println!(
        "{edits} edits of 200 files in {:.1?}, the slowest in {slowest:.1?}; at most {most} bytes",
        start.elapsed()
    );
    let place = fixture.file_place("file-7");
    let latest = median(1000, |_| {
        drop(black_box(fixture.journal.newest(EditFilter::Settled, Some(&place)).unwrap().unwrap()))
    });
    let stale = median(1000, |_| assert!(!fixture.journal.has_interrupted_edit(&place).unwrap()));
    println!("latest {latest:.1?}, stale {stale:.1?}");
    for (name, place) in [("40 KB", &place), ("4 MB", &large)] {
        let undo = median(100, |_| {
            let entry = fixture.journal.newest(EditFilter::ToUndo, Some(place)).unwrap().unwrap();
            let before = entry.changes.first().unwrap().before.unwrap();
            black_box(fixture.journal.text(place, &before.hex()).unwrap().unwrap());
        });
        println!("{name:>6}: undo looked up and its text restored in {undo:.1?}");
    }
}

fn size_of(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => size_of(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    entries.map(size).sum()
}

/// The folder of the state is named by the environment, so this starts itself again in one that is its own.
fn main() {
    let configured = std::env::var_os("LOCKGATE_BENCH").map(std::path::PathBuf::from);
    if let Some(dir) = configured {
        let fixture = Fixture::new(&dir);
        publishing(&fixture);
        journal_size(&fixture, &dir);
        return;
    }
    let memory = Path::new("/dev/shm");
    let dir = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    again.env("LOCKGATE_BENCH", dir.path()).env("XDG_STATE_HOME", dir.path().join("state"));
    assert!(again.status().unwrap().success());
}
