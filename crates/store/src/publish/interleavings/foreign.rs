//! Programs that know nothing of lockgate and save the same file, one system call at a time.

use super::THEIRS;
use rustix::fs::OFlags;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The way in which a program saves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It truncates the file and writes it anew, in two parts.
    InPlace,
    /// It has the file open all the time, and appends late.
    Late,
    /// It writes another file and renames it over this one.
    Rename,
    /// It removes the file and makes it again.
    Recreate,
    /// It adds a line to the end, whatever the file contains.
    Append,
}

/// A program that saves once.
pub struct Foreign<'a> {
    kind: Kind,
    folder: &'a Path,
    target: &'a str,
    step: usize,
    file: Option<File>,
    /// The text that it has saved, or is about to.
    pub text: String,
}

/// The result of one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepResult {
    /// The step was made.
    Done,
    /// The step has to wait, because another process has a lease.
    Blocked,
    /// There is no step left.
    Finished,
}

impl<'a> Foreign<'a> {
    /// The most steps of any kind.
    pub const STEPS: usize = 6;

    pub fn new(kind: Kind, folder: &'a Path, target: &'a str) -> Foreign<'a> {
        Foreign { kind, folder, target, step: 0, file: None, text: String::new() }
    }

    /// Makes its next step.
    pub fn advance(&mut self) -> StepResult {
        let outcome = match self.kind {
            Kind::InPlace => self.in_place(),
            Kind::Late => self.late(),
            Kind::Rename => self.rename(),
            Kind::Recreate => self.recreate(),
            Kind::Append => self.append(),
        };
        if outcome == StepResult::Done {
            self.step += 1;
        }
        outcome
    }

    fn at(&self) -> PathBuf {
        self.folder.join(self.target)
    }

    fn read(&mut self) -> StepResult {
        self.text = fs::read_to_string(self.at()).unwrap_or_default() + THEIRS;
        StepResult::Done
    }

    fn open(&mut self, options: &mut OpenOptions) -> StepResult {
        match options.custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(self.at()) {
            Ok(file) => self.file = Some(file),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return StepResult::Blocked,
            // Another program made the file in the meantime. Remove it.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let _ = fs::remove_file(self.at());
                return StepResult::Blocked;
            }
            Err(error) => panic!("{error}"),
        }
        StepResult::Done
    }

    fn part(&mut self, second: bool) -> StepResult {
        let (first, rest) = self.text.split_at(self.text.len() / 2);
        let part = if second { rest } else { first };
        self.file.as_ref().unwrap().write_all(part.as_bytes()).unwrap();
        StepResult::Done
    }

    fn close(&mut self) -> StepResult {
        self.file = None;
        StepResult::Done
    }

    fn in_place(&mut self) -> StepResult {
        match self.step {
            0 => self.read(),
            1 => self.open(OpenOptions::new().write(true).create(true).truncate(true)),
            2 => self.part(false),
            3 => self.part(true),
            4 => self.close(),
            _ => StepResult::Finished,
        }
    }

    fn late(&mut self) -> StepResult {
        match self.step {
            0 => self.open(OpenOptions::new().read(true).write(true)),
            1 => {
                let mut text = vec![0; 4096];
                let length = self.file.as_ref().unwrap().read_at(&mut text, 0).unwrap();
                self.text = String::from_utf8(text[..length].to_vec()).unwrap() + THEIRS;
                StepResult::Done
            }
            2 => {
                self.file.as_ref().unwrap().write_all_at(self.text.as_bytes(), 0).unwrap();
                StepResult::Done
            }
            3 => self.close(),
            _ => StepResult::Finished,
        }
    }

    fn append(&mut self) -> StepResult {
        match self.step {
            0 => self.open(OpenOptions::new().append(true).create(true)),
            1 => {
                self.file.as_ref().unwrap().write_all(THEIRS.as_bytes()).unwrap();
                StepResult::Done
            }
            2 => self.close(),
            _ => StepResult::Finished,
        }
    }

    fn rename(&mut self) -> StepResult {
        let temporary = self.folder.join(format!("theirs-{}.tmp", self.target));
        match self.step {
            0 => self.read(),
            1 => {
                fs::write(&temporary, &self.text).unwrap();
                StepResult::Done
            }
            2 => {
                fs::rename(&temporary, self.at()).unwrap();
                StepResult::Done
            }
            _ => StepResult::Finished,
        }
    }

    fn recreate(&mut self) -> StepResult {
        match self.step {
            0 => self.read(),
            1 => {
                let _ = fs::remove_file(self.at());
                StepResult::Done
            }
            2 => self.open(OpenOptions::new().write(true).create_new(true)),
            3 => self.part(false),
            4 => self.part(true),
            5 => self.close(),
            _ => StepResult::Finished,
        }
    }
}
