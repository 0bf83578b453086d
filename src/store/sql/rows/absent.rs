//! A stand-in for the entity database in builds without one.

use super::super::EditFilter;
use super::{Added, EntityStoreError, Migrated, RowFound, RowKey, RowRead, Span};
use crate::error::{Code, Error};
use crate::request::Entity;
use crate::store::journal::{EditId, EditMeta, Entry, RetentionLimits};
use crate::store::rows::{RowWrite, Tenant};
use crate::store::search::NeedlePiece;
use crate::store::state::StateFolder;
use std::ops::ControlFlow;
use std::path::Path;

const WHY: &str = "lockgate was built without stored content";

/// A database whose operations all fail.
#[derive(Debug)]
pub struct EntityDatabase {}

impl EntityDatabase {
    /// Always fails.
    ///
    /// Errors: `INVALID_INPUT`.
    pub fn from_url(_: &str) -> Result<EntityDatabase, Error> {
        Err(Error::new(Code::InvalidInput, WHY).field("store"))
    }

    /// Returns a database whose operations all fail.
    pub fn in_state_folder(_: &StateFolder) -> EntityDatabase {
        EntityDatabase {}
    }

    /// Returns `None`, because there is no database file.
    pub fn file(&self) -> Option<&Path> {
        None
    }

    /// Does nothing: there are no database calls to report.
    pub fn set_listener(&self, _: super::StoreListener) {}

    /// Always fails.
    ///
    /// Errors: `STORE_UNAVAILABLE`.
    pub fn migrate(&self) -> Result<Migrated, Error> {
        Err(closed().into_error())
    }

    /// Always fails.
    ///
    /// Errors: `STORE_UNAVAILABLE`.
    pub fn apps(&self) -> Result<Vec<(String, Option<String>)>, Error> {
        Err(closed().into_error())
    }

    /// Always fails.
    ///
    /// Errors: `STORE_UNAVAILABLE`.
    pub fn add_app(&self, _: &str, _: Option<&str>) -> Result<Added, Error> {
        Err(closed().into_error())
    }

    /// Always fails: stored content is not compiled in.
    ///
    /// Errors: `STORE_UNAVAILABLE`.
    pub fn each_row(&self, _: &mut dyn FnMut(Entity, Vec<u8>) -> ControlFlow<()>) -> Result<(), Error> {
        Err(closed().into_error())
    }

    pub(in crate::store) fn number(&self) -> u64 {
        0
    }

    pub(in crate::store) fn may_have_content(&self) -> bool {
        false
    }

    pub(in crate::store) fn row(
        &self,
        _: &Tenant,
        _: RowKey<'_>,
        _: u64,
    ) -> Result<Option<RowRead>, EntityStoreError> {
        Err(closed())
    }

    pub(in crate::store) fn row_and_last(
        &self,
        _: &Tenant,
        _: RowKey<'_>,
        _: u64,
    ) -> Result<(Option<RowRead>, Option<Entry>), EntityStoreError> {
        Err(closed())
    }

    pub(in crate::store) fn has_row(&self, _: &Tenant, _: RowKey<'_>) -> Result<bool, EntityStoreError> {
        Err(closed())
    }

    pub(in crate::store) fn owner_of_app(
        &self,
        _: &Tenant,
        _: &str,
    ) -> Result<Option<String>, EntityStoreError> {
        Err(closed())
    }

    pub(in crate::store) fn owner_of_path(
        &self,
        _: &Tenant,
        _: &str,
        _: &str,
    ) -> Result<Option<String>, EntityStoreError> {
        Err(closed())
    }

    pub(in crate::store) fn publish(
        &self,
        _: &Tenant,
        _: &[RowWrite<'_>],
        _: &EditMeta,
    ) -> Result<Option<EditId>, EntityStoreError> {
        Err(closed())
    }

    pub(in crate::store) fn entry(&self, _: &Tenant, _: EditId) -> Result<Option<Entry>, EntityStoreError> {
        Err(closed())
    }

    pub(in crate::store) fn entries(
        &self,
        _: &Tenant,
        _: Option<RowKey<'_>>,
        _: usize,
    ) -> Result<Vec<Entry>, EntityStoreError> {
        Err(closed())
    }

    pub(in crate::store) fn newest(
        &self,
        _: &Tenant,
        _: RowKey<'_>,
        _: EditFilter,
    ) -> Result<Option<Entry>, EntityStoreError> {
        Err(closed())
    }

    pub(in crate::store) fn text(
        &self,
        _: &Tenant,
        _: RowKey<'_>,
        _: &str,
    ) -> Result<Option<Vec<u8>>, EntityStoreError> {
        Err(closed())
    }

    pub(in crate::store) fn find(
        &self,
        _: &Tenant,
        _: Span<'_>,
        _: &[NeedlePiece],
        _: Option<(&str, &str)>,
        _: usize,
    ) -> Result<Vec<RowFound>, EntityStoreError> {
        Err(closed())
    }

    pub(in crate::store) fn texts(
        &self,
        _: &Tenant,
        _: Span<'_>,
        _: &[RowFound],
    ) -> Result<Vec<Option<Vec<u8>>>, EntityStoreError> {
        Err(closed())
    }

    pub(in crate::store) fn tidy(&self, _: &Tenant, _: RetentionLimits) -> Result<(), EntityStoreError> {
        Err(closed())
    }
}

fn closed() -> EntityStoreError {
    EntityStoreError::Unusable(WHY.to_owned())
}
