//! A stand-in for the journal's database in builds without one.
//!
//! Invariant: the type has no values, so its methods never run.

use super::{DatabaseError, EditFilter, JournalRow, UnsettledEdit};
use crate::store::inode::Inodes;
use crate::store::journal::{EditId, EditMeta, Entry, RetentionLimits};
use crate::store::publish::Content;
use std::path::Path;
use std::time::SystemTime;

/// A database that cannot be opened.
#[derive(Debug)]
pub(in crate::store) enum Database {}

impl Database {
    pub fn open(_: &Path) -> Result<(Database, Vec<String>), DatabaseError> {
        Err(DatabaseError::Unusable("lockgate was built without a journal".to_owned()))
    }

    pub fn set_aside_if_corrupt(&self, _: &Path, _: &str) -> Result<Option<String>, DatabaseError> {
        match *self {}
    }

    pub fn is_current(&self) -> bool {
        match *self {}
    }

    pub fn name(&self) -> u16 {
        match *self {}
    }

    pub fn id(&self, _: u64) -> EditId {
        match *self {}
    }

    pub fn sync(&self) -> Result<(), DatabaseError> {
        match *self {}
    }

    pub fn begin_staged(
        &self,
        _: &EditMeta,
        _: &[JournalRow<'_>],
        _: &[Inodes],
    ) -> Result<u64, DatabaseError> {
        match *self {}
    }

    pub fn record(&self, _: u64, _: &[Inodes]) -> Result<(), DatabaseError> {
        match *self {}
    }

    pub fn settle(&self, _: u64) -> Result<(), DatabaseError> {
        match *self {}
    }

    pub fn forget(&self, _: u64) -> Result<(), DatabaseError> {
        match *self {}
    }

    pub fn text(&self, _: &str) -> Result<Option<Vec<u8>>, DatabaseError> {
        match *self {}
    }

    pub fn keep(&self, _: Content<'_>) -> Result<(), DatabaseError> {
        match *self {}
    }

    pub fn entry(&self, _: u64) -> Result<Option<Entry>, DatabaseError> {
        match *self {}
    }

    pub fn entries(&self, _: Option<&str>, _: usize) -> Result<Vec<Entry>, DatabaseError> {
        match *self {}
    }

    pub fn newest(&self, _: EditFilter, _: &str) -> Result<Option<Entry>, DatabaseError> {
        match *self {}
    }

    pub fn last(&self, _: EditFilter) -> Result<Option<(SystemTime, Entry)>, DatabaseError> {
        match *self {}
    }

    pub fn unsettled_and_newest(&self, _: &str) -> Result<(bool, Option<Entry>), DatabaseError> {
        match *self {}
    }

    pub fn unsettled(&self) -> Result<Vec<UnsettledEdit>, DatabaseError> {
        match *self {}
    }

    pub fn is_unsettled(&self, _: u64) -> Result<bool, DatabaseError> {
        match *self {}
    }

    pub fn is_staged(&self, _: &str) -> Result<bool, DatabaseError> {
        match *self {}
    }

    pub fn folders(&self) -> Result<Vec<String>, DatabaseError> {
        match *self {}
    }

    pub fn may_be_untidy(&self, _: RetentionLimits) -> bool {
        false
    }

    pub fn is_untidy(&self, _: RetentionLimits) -> bool {
        match *self {}
    }

    pub fn tidy(&self, _: RetentionLimits) -> Result<(), DatabaseError> {
        match *self {}
    }
}
