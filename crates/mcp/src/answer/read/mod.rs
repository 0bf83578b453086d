//! Renders the answers of read requests; one file for each kind.

mod context;
mod entries;
mod lines;
mod matches;
mod whole;

use super::options::ResponseOptions;
use super::{Answer, render_error};
use lockgate_engine::ReadResponse;
use lockgate_error::Error;

/// Renders the result of a read request.
pub fn read(result: &Result<ReadResponse, Error>, options: &ResponseOptions) -> Answer {
    match result {
        Ok(ReadResponse::Lines(reading)) => lines::lines(reading, reading.max_chars),
        Ok(ReadResponse::Context(found_context)) => context::context(found_context),
        Ok(ReadResponse::Whole(reading)) => whole::whole(reading, reading.max_chars),
        Ok(ReadResponse::Matches(found)) => matches::matches(found),
        Ok(ReadResponse::Entries(found)) => entries::entries(found),
        Err(error) => render_error(error, options),
    }
}
