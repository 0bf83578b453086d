//! Programs that know nothing of lockgate and save the same file, one system call at a time.

use super::THEIRS;
use rustix::fs::OFlags;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// How a program saves.
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
    /// It adds a line to the end, whatever stands there.
    Append,
}

/// A program that saves once.
pub struct Foreign<'a> {
    kind: Kind,
    folder: &'a Path,
    target: &'a str,
    step: usize,
    file: Option<File>,
    /// What it has saved, or is about to.
    pub text: String,
}

/// What became of one of its steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made {
    /// It was made.
    Step,
    /// It has to wait: somebody has a lease.
    Held,
    /// There was none left.
    Nothing,
}

impl<'a> Foreign<'a> {
    /// The steps of any of them.
    pub const STEPS: usize = 6;

    pub fn new(kind: Kind, folder: &'a Path, target: &'a str) -> Foreign<'a> {
        Foreign { kind, folder, target, step: 0, file: None, text: String::new() }
    }

    /// Makes its next step.
    pub fn advance(&mut self) -> Made {
        let outcome = match self.kind {
            Kind::InPlace => self.in_place(),
            Kind::Late => self.late(),
            Kind::Rename => self.rename(),
            Kind::Recreate => self.recreate(),
            Kind::Append => self.append(),
        };
        if outcome == Made::Step {
            self.step += 1;
        }
        outcome
    }

    fn at(&self) -> PathBuf {
        self.folder.join(self.target)
    }

    fn read(&mut self) -> Made {
        self.text = fs::read_to_string(self.at()).unwrap_or_default() + THEIRS;
        Made::Step
    }

    fn open(&mut self, options: &mut OpenOptions) -> Made {
        match options.custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(self.at()) {
            Ok(file) => self.file = Some(file),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Made::Held,
            // Somebody made it in the meantime: it is removed again.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let _ = fs::remove_file(self.at());
                return Made::Held;
            }
            Err(error) => panic!("{error}"),
        }
        Made::Step
    }

    fn part(&mut self, second: bool) -> Made {
        let (first, rest) = self.text.split_at(self.text.len() / 2);
        let part = if second { rest } else { first };
        self.file.as_ref().unwrap().write_all(part.as_bytes()).unwrap();
        Made::Step
    }

    fn close(&mut self) -> Made {
        self.file = None;
        Made::Step
    }

    fn in_place(&mut self) -> Made {
        match self.step {
            0 => self.read(),
            1 => self.open(OpenOptions::new().write(true).create(true).truncate(true)),
            2 => self.part(false),
            3 => self.part(true),
            4 => self.close(),
            _ => Made::Nothing,
        }
    }

    fn late(&mut self) -> Made {
        match self.step {
            0 => self.open(OpenOptions::new().read(true).write(true)),
            1 => {
                let mut text = vec![0; 4096];
                let length = self.file.as_ref().unwrap().read_at(&mut text, 0).unwrap();
                self.text = String::from_utf8(text[..length].to_vec()).unwrap() + THEIRS;
                Made::Step
            }
            2 => {
                self.file.as_ref().unwrap().write_all_at(self.text.as_bytes(), 0).unwrap();
                Made::Step
            }
            3 => self.close(),
            _ => Made::Nothing,
        }
    }

    fn append(&mut self) -> Made {
        match self.step {
            0 => self.open(OpenOptions::new().append(true).create(true)),
            1 => {
                self.file.as_ref().unwrap().write_all(THEIRS.as_bytes()).unwrap();
                Made::Step
            }
            2 => self.close(),
            _ => Made::Nothing,
        }
    }

    fn rename(&mut self) -> Made {
        let temporary = self.folder.join(format!("theirs-{}.tmp", self.target));
        match self.step {
            0 => self.read(),
            1 => {
                fs::write(&temporary, &self.text).unwrap();
                Made::Step
            }
            2 => {
                fs::rename(&temporary, self.at()).unwrap();
                Made::Step
            }
            _ => Made::Nothing,
        }
    }

    fn recreate(&mut self) -> Made {
        match self.step {
            0 => self.read(),
            1 => {
                let _ = fs::remove_file(self.at());
                Made::Step
            }
            2 => self.open(OpenOptions::new().write(true).create_new(true)),
            3 => self.part(false),
            4 => self.part(true),
            5 => self.close(),
            _ => Made::Nothing,
        }
    }
}
