//! SQL values, and the rows that a database returns.

use super::EntityStoreError;
use super::error::unexpected;
use lockgate_text::Version;

/// A value of a statement or of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SqlValue {
    /// As a value of a statement, it belongs to a column of bytes.
    Null,
    Number(i64),
    Text(String),
    Bytes(Vec<u8>),
}

/// A row that a statement found or changed.
#[derive(Debug)]
pub(super) struct Row(pub Vec<SqlValue>);

impl Row {
    /// Returns a column.
    pub fn get<'r, T: FromColumn<'r>>(&'r self, column: usize) -> Result<T, EntityStoreError> {
        self.0.get(column).and_then(T::from_column).ok_or_else(unexpected)
    }

    /// Returns the bytes of a content: those of the column `raw`, else of the column `text`; `None` if both are null.
    pub fn content(&self, text: usize, raw: usize) -> Result<Option<Vec<u8>>, EntityStoreError> {
        let (text, raw): (Option<&str>, Option<&[u8]>) = (self.get(text)?, self.get(raw)?);
        Ok(raw.or(text.map(str::as_bytes)).map(<[u8]>::to_vec))
    }
}

/// A type of a column; `None` for a value of another type.
pub(super) trait FromColumn<'r>: Sized {
    fn from_column(value: &'r SqlValue) -> Option<Self>;
}

impl FromColumn<'_> for i64 {
    fn from_column(value: &SqlValue) -> Option<i64> {
        if let SqlValue::Number(number) = value { Some(*number) } else { None }
    }
}

impl FromColumn<'_> for bool {
    fn from_column(value: &SqlValue) -> Option<bool> {
        i64::from_column(value).map(|number| number != 0)
    }
}

impl<'r> FromColumn<'r> for &'r str {
    fn from_column(value: &'r SqlValue) -> Option<&'r str> {
        if let SqlValue::Text(text) = value { Some(text) } else { None }
    }
}

impl FromColumn<'_> for String {
    fn from_column(value: &SqlValue) -> Option<String> {
        <&str>::from_column(value).map(str::to_owned)
    }
}

impl<'r> FromColumn<'r> for &'r [u8] {
    fn from_column(value: &'r SqlValue) -> Option<&'r [u8]> {
        if let SqlValue::Bytes(bytes) = value { Some(bytes) } else { None }
    }
}

impl FromColumn<'_> for Version {
    fn from_column(value: &SqlValue) -> Option<Version> {
        <&[u8]>::from_column(value)?.try_into().ok().map(Version::from_bytes)
    }
}

impl<'r, T: FromColumn<'r>> FromColumn<'r> for Option<T> {
    fn from_column(value: &'r SqlValue) -> Option<Option<T>> {
        if *value == SqlValue::Null { Some(None) } else { T::from_column(value).map(Some) }
    }
}

impl From<i64> for SqlValue {
    fn from(number: i64) -> SqlValue {
        SqlValue::Number(number)
    }
}

impl From<&str> for SqlValue {
    fn from(text: &str) -> SqlValue {
        SqlValue::Text(text.to_owned())
    }
}

impl From<&[u8]> for SqlValue {
    fn from(bytes: &[u8]) -> SqlValue {
        SqlValue::Bytes(bytes.to_vec())
    }
}

impl From<Version> for SqlValue {
    fn from(version: Version) -> SqlValue {
        SqlValue::from(version.bytes().as_slice())
    }
}

impl<T: Into<SqlValue>> From<Option<T>> for SqlValue {
    fn from(value: Option<T>) -> SqlValue {
        value.map_or(SqlValue::Null, T::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_one_type_and_may_be_null() {
        let row = Row(vec![SqlValue::Null, SqlValue::from(1), SqlValue::from("a"), SqlValue::Bytes(vec![2])]);
        assert_eq!((row.get(1), row.get(1), row.get(1)), (Ok(1), Ok(true), Ok(Some(1))));
        assert_eq!((row.get(2), row.get(2), row.get(0)), (Ok("a"), Ok("a".to_owned()), Ok(None::<&str>)));
        assert_eq!(row.get(3), Ok([2].as_slice()));
        assert_eq!(
            (row.get::<i64>(0), row.get::<i64>(2), row.get::<i64>(9)),
            (Err(unexpected()), Err(unexpected()), Err(unexpected()))
        );
        assert_eq!((row.get::<Version>(3), row.get(0)), (Err(unexpected()), Ok(None::<Version>)));
    }

    #[test]
    fn a_content_is_its_bytes_or_its_text() {
        let row = Row(vec![SqlValue::Null, SqlValue::from("a"), SqlValue::Bytes(vec![2])]);
        let content = |text, raw| row.content(text, raw).unwrap();
        assert_eq!((content(1, 0), content(0, 0)), (Some(b"a".to_vec()), None));
        assert_eq!((content(1, 2), content(0, 2)), (Some(vec![2]), Some(vec![2])));
    }
}
