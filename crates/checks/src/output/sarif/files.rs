//! Resolves the file names in a run's locations.

use serde_json::Value;

use super::super::uri;
use super::super::value::truncate;
use crate::output::value::list;

/// The longest chain of base URIs.
const MAX_BASES: usize = 8;

/// The artifacts and base URIs of a run.
pub(super) struct ArtifactTable<'v> {
    /// The list of the run's artifacts (3.14.15).
    artifacts: &'v [Value],
    /// The base URIs of the run, by name (3.14.14).
    bases: Option<&'v Value>,
}

impl<'v> ArtifactTable<'v> {
    pub(super) fn from_run(run: &'v Value) -> ArtifactTable<'v> {
        let artifacts = list(run, "artifacts").unwrap_or_default();
        ArtifactTable { artifacts, bases: run.get("originalUriBaseIds") }
    }

    /// Returns the path of an artifact's location (3.4), absolute or relative to the tool's working
    /// directory.
    pub(super) fn name(&self, location: &'v Value) -> Option<String> {
        let listed = || {
            let index = usize::try_from(location.get("index")?.as_u64()?).ok()?;
            self.artifacts.get(index)?.get("location")
        };
        let location = if location.get("uri").is_some() { location } else { listed()? };
        let uri = truncate(location.get("uri")?.as_str()?);
        let resolved = self.resolve(uri, location).unwrap_or_else(|| uri.to_owned());
        Some(uri::path(&resolved).unwrap_or_else(|| uri::decode(&resolved)))
    }

    /// Prepends the bases (3.4.4) to a relative URI. An unknown base adds nothing, and an endless chain of
    /// bases gives `None`.
    fn resolve(&self, uri: &str, location: &'v Value) -> Option<String> {
        let base = |location: &'v Value| self.bases?.get(location.get("uriBaseId")?.as_str()?);
        let mut resolved = uri.to_owned();
        let mut next = base(location);
        for _ in 0..MAX_BASES {
            let is_absolute = resolved.starts_with('/') || uri::path(&resolved).is_some();
            let Some(location) = next.filter(|_| !is_absolute) else { return Some(resolved) };
            if let Some(before) = location.get("uri").and_then(Value::as_str).map(truncate) {
                let slash = if before.ends_with('/') { "" } else { "/" };
                resolved = format!("{before}{slash}{resolved}");
            }
            next = base(location);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn locations_are_named_by_uri_base_and_index() {
        let run = json!({
            "artifacts": [{ "location": { "uri": "src/listed.py", "uriBaseId": "ROOT" } }, {}],
            "originalUriBaseIds": {
                "ROOT": { "uri": "file:///home/me/p%20q/" },
                "SRC": { "uri": "src", "uriBaseId": "ROOT" },
                "ROUND": { "uri": "r/", "uriBaseId": "ROUND" },
                "UNKNOWN": { "description": { "text": "where the sources are" } },
                "RELATIVE": { "uri": "sub/" }
            }
        });
        let files = ArtifactTable::from_run(&run);
        for (location, expected) in [
            (json!({ "uri": "file:///x/a.py" }), Some("/x/a.py")),
            (json!({ "uri": "a%20b.py" }), Some("a b.py")),
            (json!({ "uri": "a.py", "uriBaseId": "ROOT" }), Some("/home/me/p q/a.py")),
            (json!({ "uri": "a.py", "uriBaseId": "SRC" }), Some("/home/me/p q/src/a.py")),
            (json!({ "uri": "a.py", "uriBaseId": "UNKNOWN" }), Some("a.py")),
            (json!({ "uri": "a.py", "uriBaseId": "NONE" }), Some("a.py")),
            (json!({ "uri": "a.py", "uriBaseId": "ROUND" }), Some("a.py")),
            (json!({ "uri": "a.py", "uriBaseId": "RELATIVE" }), Some("sub/a.py")),
            (json!({ "uri": "/x/a.py", "uriBaseId": "ROOT" }), Some("/x/a.py")),
            (json!({ "index": 0 }), Some("/home/me/p q/src/listed.py")),
            (json!({ "index": 1 }), None),
            (json!({ "index": 9 }), None),
            (json!({ "uri": 5 }), None),
            (json!(null), None),
        ] {
            assert_eq!(files.name(&location).as_deref(), expected, "{location}");
        }
    }
}
