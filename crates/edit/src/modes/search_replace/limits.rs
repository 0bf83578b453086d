//! The limits of a search.

use lockgate_error::{Code, Error};

/// The maximum number of matches that one edit replaces. Each takes some 150 bytes of memory until it is applied.
pub const MATCHES: usize = 200_000;

/// Rejects replacements that have more characters than the result may have bytes, before they are made.
pub fn check_size(replace: &str, matches: usize, limit: u64) -> Result<(), Error> {
    let each = replace.chars().count() as u64;
    if each.saturating_mul(matches as u64) <= limit {
        return Ok(());
    }
    let message =
        format!("the result is too large: {matches} replacements of {each} characters, limit {limit} bytes");
    Err(Error::new(Code::TooLarge, message).field("replace"))
}

pub fn too_many() -> Error {
    let message =
        format!("the search matches more than {MATCHES} times, which is more than one edit replaces");
    Error::new(Code::TooLarge, message)
        .field("search")
        .hint("give search_count, or narrow `lines` to look at fewer of them")
}
