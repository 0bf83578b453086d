//! The request of `lockgate edit`, from JSON or from flags.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use serde_json::{Map, Value};

use super::flags::EditFlags;
use crate::error::{Code, Error};
use crate::request::Mode;

/// The request, in one of the two ways to give it.
#[derive(Debug, clap::Args)]
pub(super) struct RequestSource {
    /// Reads the request from a file, or with `-` from standard input: the JSON of safe_edit_file, of edit_files, or with
    /// `entity_type` of replace_content or patch_content
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// What happens to the result and to findings; stands above the request's own mode
    #[arg(long, value_name = "MODE", value_parser = PossibleValuesParser::new(Mode::ALL.map(Mode::name)))]
    mode: Option<String>,
    #[command(flatten)]
    flags: EditFlags,
}

impl RequestSource {
    /// The request as the JSON that the MCP tool would get.
    ///
    /// Errors: `INVALID_INPUT` when a file cannot be read or holds no JSON object.
    pub(super) fn into_object(self) -> Result<Map<String, Value>, Error> {
        let mut object = match &self.file {
            Some(source) => parse_request(source, "--file")?,
            None => self.flags.into_object()?,
        };
        if let Some(mode) = self.mode {
            object.insert("mode".to_owned(), mode.into());
        }
        Ok(object)
    }
}

/// The text of a file, or of standard input for `-`.
///
/// Errors: `INVALID_INPUT` that names the flag.
pub(super) fn read_text(source: &Path, flag: &str) -> Result<String, Error> {
    let read = if source == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().lock().read_to_string(&mut text).map(|_| text)
    } else {
        std::fs::read_to_string(source)
    };
    read.map_err(|trouble| {
        Error::new(Code::InvalidInput, format!("cannot read {}: {trouble}", source.display())).field(flag)
    })
}

/// The request in a file, or on standard input for `-`.
///
/// Errors: `INVALID_INPUT` that names the flag, when it cannot be read or holds no JSON object.
pub(in crate::front::cli) fn parse_request(source: &Path, flag: &str) -> Result<Map<String, Value>, Error> {
    serde_json::from_str(&read_text(source, flag)?).map_err(|trouble| {
        Error::new(Code::InvalidInput, format!("the request is no JSON object: {trouble}")).field(flag)
    })
}
