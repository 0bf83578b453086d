//! Reads the request of `lockgate edit` from JSON or from flags.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::flags::{EditFlags, read_text};
use lockgate_edit::request::Mode;
use lockgate_error::{Code, Error};
use lockgate_hosts::patch::Patch;

/// What a text that is no patch should be.
const PATCH_HINT: &str = "write the patch in the format of `apply_patch`, from `*** Begin Patch` to `*** End Patch`; \
                          `git apply` applies a unified diff";

/// The request, as JSON or as flags.
#[derive(Debug, clap::Args)]
pub(super) struct RequestSource {
    /// Reads the request from a file, or with `-` from standard input: the JSON of safe_edit_file, of edit_files, or with
    /// `entity_type` of replace_content or patch_content
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Applies a patch in the format of `apply_patch` from a file, or with `-` from standard input: all files or none
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    patch: Option<PathBuf>,
    /// Handling of the result and of findings; overrides the request's own mode
    #[arg(long, value_name = "MODE", value_parser = PossibleValuesParser::new(Mode::ALL.map(Mode::name)))]
    mode: Option<String>,
    #[command(flatten)]
    flags: EditFlags,
}

impl RequestSource {
    /// Returns the patch, if the request is one, and the mode.
    ///
    /// Errors: those of [`read_text`]; `INVALID_INPUT` for a text that is not a patch; those of joining its sections.
    pub(super) fn patch(&self) -> Result<Option<(Patch, Mode)>, Error> {
        let Some(source) = &self.patch else { return Ok(None) };
        let text = read_text(source, "--patch")?;
        let patch = Patch::parse(&text)
            .map_err(|reason| Error::new(Code::InvalidInput, reason).field("--patch").hint(PATCH_HINT))?;
        let patch = patch.with_joined_updates().map_err(|error| error.field("--patch"))?;
        let mode = self.mode.as_deref().and_then(Mode::from_name);
        Ok(Some((patch, mode.unwrap_or_default())))
    }

    /// Returns the request as the JSON of the MCP tool.
    ///
    /// Errors: those of [`read_text`]; `INVALID_INPUT` for a file that is not a JSON object, and for `--mode` with a request
    /// that has no mode.
    pub(super) fn into_object(self) -> Result<Map<String, Value>, Error> {
        let mut object = match &self.file {
            Some(source) => parse_request(source, "--file")?,
            None => self.flags.into_object()?,
        };
        if let Some(mode) = self.mode {
            if object.contains_key("entity_type") && !object.contains_key("edits") {
                let message = "--mode is not for a request with `entity_type`, which has no mode";
                return Err(Error::new(Code::InvalidInput, message)
                    .named_field("--mode")
                    .hint("leave --mode out"));
            }
            object.insert("mode".to_owned(), mode.into());
        }
        Ok(object)
    }
}

/// Parses the request in a file, or on standard input for `-`.
///
/// Errors: those of [`read_text`]; `INVALID_INPUT` with the name of the flag, when the source is not a JSON object, or has
/// a key twice in one object.
pub(in crate::cli) fn parse_request(source: &Path, flag: &str) -> Result<Map<String, Value>, Error> {
    let invalid =
        |reason: String| Error::new(Code::InvalidInput, format!("the request {reason}")).field(flag);
    match serde_json::from_str(&read_text(source, flag)?) {
        Ok(UniqueKeys(Value::Object(request))) => Ok(request),
        Ok(UniqueKeys(_)) => Err(invalid("is not a JSON object".to_owned())),
        Err(error) if error.is_data() => Err(invalid(format!("has a {error}"))),
        Err(error) => Err(invalid(format!("is not a JSON object: {error}"))),
    }
}

/// A JSON value in which no object has a key twice. Of two values, a person may have meant either.
struct UniqueKeys(Value);

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<UniqueKeys, D::Error> {
        deserializer.deserialize_any(UniqueKeysVisitor).map(UniqueKeys)
    }
}

struct UniqueKeysVisitor;

impl<'de> Visitor<'de> for UniqueKeysVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(UniqueKeys(item)) = items.next_element()? {
            array.push(item);
        }
        Ok(array.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format_args!("duplicate key `{key}`")));
            }
            let UniqueKeys(value) = entries.next_value()?;
            object.insert(key, value);
        }
        Ok(object.into())
    }
}
