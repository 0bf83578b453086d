//! The store as its callers see it, on real files: who may pass, what is read, what is written, and what is left behind.

mod admission;
mod foreign;
mod matrix;
mod nearby_files;
mod protected;
pub mod rights;
mod roots;
mod swap;
mod writing;

use lockgate_error::{Code, Error};
use lockgate_policy::Publishing;
use lockgate_store::{Content, ExpectedContent, FileLocation, FileSnapshot, FileWrite, Files, PublishedFile};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

use super::files::write_all;

const LIMIT: u64 = 10 << 20;

/// Owner rw, user 12345 r, group r, mask r.
const ACL: [u8; 44] = [
    2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 2, 0, 4, 0, 57, 48, 0, 0, 4, 0, 4, 0, 255, 255, 255, 255, 16,
    0, 4, 0, 255, 255, 255, 255, 32, 0, 0, 0, 255, 255, 255, 255,
];

/// A root with files in it.
struct Fixture {
    dir: TempDir,
    files: Files,
}

impl Fixture {
    fn new(entries: &[(&str, &str)]) -> Fixture {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        fs::create_dir(&root).unwrap();
        write_all(&root, entries);
        let files = Files::open(&[root]).unwrap();
        Fixture { dir, files }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join("root").join(path)
    }

    fn outside(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap()
    }

    fn rejection(&self, path: &str) -> Error {
        self.files.admit(path).expect_err(path)
    }

    fn code(&self, path: &str) -> Code {
        self.rejection(path).code
    }

    fn read(&self, path: &str) -> Result<Option<FileSnapshot>, Error> {
        self.files.read(&self.files.admit(path)?, LIMIT)
    }

    fn write(&self, path: &str, text: &str) -> Result<PublishedFile, Error> {
        write(&self.files, path, text)
    }

    fn link(&self, target: impl AsRef<Path>, link: &str) {
        std::os::unix::fs::symlink(target, self.at(link)).unwrap();
    }

    /// Every path below the root, sorted.
    fn tree(&self) -> Vec<String> {
        let mut paths = Vec::new();
        collect(&self.at(""), &self.at(""), &mut paths);
        paths.sort();
        paths
    }
}

/// Says of a check that it could not be made here: in a list for `tests/run`, and as a failure where `CI` is true.
pub fn not_run(why: &str) {
    assert!(std::env::var("CI").as_deref() != Ok("true"), "NOT RUN: {why}");
    println!("NOT RUN: {why}");
    if let Some(list) = std::env::var_os("LOCKGATE_TEST_MISSING") {
        let mut list = fs::OpenOptions::new().append(true).create(true).open(list).unwrap();
        writeln!(list, "{why}").unwrap();
    }
}

fn write(files: &Files, path: &str, text: &str) -> Result<PublishedFile, Error> {
    let place = files.admit(path)?;
    let snapshot = files.read(&place, LIMIT)?;
    publish(
        files,
        &place,
        snapshot.as_ref().map(|snapshot| snapshot.expected(Content::new(snapshot.bytes()))),
        text.as_bytes(),
    )
}

fn publish(
    files: &Files,
    place: &FileLocation,
    before: Option<ExpectedContent<'_>>,
    bytes: &[u8],
) -> Result<PublishedFile, Error> {
    let write = FileWrite::new(place, before, Some(Content::new(bytes)));
    let published = files.publish(&[write], Publishing::default(), None)?;
    Ok(published.files.into_iter().next().unwrap())
}

fn remove(files: &Files, path: &str) -> Result<PublishedFile, Error> {
    let place = files.admit(path)?;
    let snapshot = files.read(&place, LIMIT)?.unwrap();
    let before = Some(snapshot.expected(Content::new(snapshot.bytes())));
    let write = FileWrite::new(&place, before, None);
    let published = files.publish(&[write], Publishing::default(), None)?;
    Ok(published.files.into_iter().next().unwrap())
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn collect(top: &Path, dir: &Path, paths: &mut Vec<String>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        paths.push(path.strip_prefix(top).unwrap().display().to_string());
        if path.is_dir() && !path.is_symlink() {
            collect(top, &path, paths);
        }
    }
}
