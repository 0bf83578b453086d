//! Replaces the paths of staged files in a program's output with the project's own paths.
//!
//! Invariant: bytes that do not name a file of the run stay unchanged.

use std::path::Path;

/// The staged paths of one run, and the project's paths that they stand for.
#[derive(Debug, Default)]
pub(super) struct StagedPaths {
    /// The absolute path of the run's folder, without its name.
    parent: Vec<u8>,
    /// The name of the run's folder, which is unique.
    name: Vec<u8>,
    /// Paths below that folder, each with the absolute path that it stands for, longest first.
    mappings: Vec<(Vec<u8>, Vec<u8>)>,
}

impl StagedPaths {
    /// Records the absolute folder of a run, and the paths that its files stand for.
    pub(super) fn new<'p>(home: &Path, pairs: impl Iterator<Item = (&'p Path, &'p Path)>) -> StagedPaths {
        let bytes = |path: &Path| path.to_string_lossy().into_owned().into_bytes();
        // JSON escapes quotes and backslashes, so such paths are left out.
        let is_plain = |path: &[u8]| !path.iter().any(|byte| matches!(byte, b'"' | b'\\'));
        let pair = |(place, real): (&Path, &Path)| {
            let below = place.strip_prefix(home).ok()?;
            Some(([b"/".as_slice(), &bytes(below)].concat(), bytes(real))).filter(|(_, real)| is_plain(real))
        };
        let mut mappings: Vec<_> = pairs.filter_map(pair).collect();
        mappings.sort_by_key(|(place, _)| std::cmp::Reverse(place.len()));
        let parent = home.parent().map_or(Vec::new(), |above| [&bytes(above), b"/".as_slice()].concat());
        let name =
            home.file_name().map_or(Vec::new(), |name| name.to_string_lossy().into_owned().into_bytes());
        StagedPaths { parent, name, mappings }
    }

    /// Replaces the run's paths, absolute and relative ones, with the project's.
    pub(super) fn rewrite(&self, output: Vec<u8>) -> Vec<u8> {
        if self.name.is_empty()
            || self.mappings.is_empty()
            || memchr::memmem::find(&output, &self.name).is_none()
        {
            return output;
        }
        let mut rewritten: Vec<u8> = Vec::with_capacity(output.len());
        let mut rest = output.as_slice();
        while let Some(at) = memchr::memmem::find(rest, &self.name) {
            let (before, from) = rest.split_at(at);
            let behind = from.get(self.name.len()..).unwrap_or_default();
            rewritten.extend(before);
            match self
                .mappings
                .iter()
                .find_map(|(place, real)| Some((real, after_path(behind.strip_prefix(place.as_slice())?)?)))
            {
                Some((real, behind)) => {
                    let start = self.path_start(&rewritten);
                    rewritten.truncate(start);
                    rewritten.extend(real);
                    rest = behind;
                }
                None => {
                    rewritten.extend(&self.name);
                    rest = behind;
                }
            }
        }
        rewritten.extend(rest);
        rewritten
    }

    /// Returns the start of the path that ends with these bytes.
    fn path_start(&self, before: &[u8]) -> usize {
        // A relative path climbs to the root first: `../../tmp/`.
        if let Some(rest) = before.strip_suffix(self.parent.as_slice()).filter(|rest| !rest.ends_with(b".")) {
            return rest.len();
        }
        let parts = |byte: &u8| !(byte.is_ascii_whitespace() || b"\"'`()[]<>=,;:|\\\0".contains(byte));
        before.len() - before.iter().rev().take_while(|byte| parts(byte)).count()
    }
}

/// Returns the text after a path, if the path or one of its components ends here.
fn after_path(rest: &[u8]) -> Option<&[u8]> {
    match rest.first() {
        Some(byte) if byte.is_ascii_alphanumeric() || b"_-".contains(byte) => None,
        Some(_) | None => Some(rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_a_run_are_shown_as_those_of_the_project() {
        let pairs = [
            ("/tmp/lockgate-x1/draft/a.go", "/home/me/app/sub/a.go"),
            ("/tmp/lockgate-x1/overlays/0/b.go", "/home/me/app/b.go"),
            ("/tmp/lockgate-x1/project/app", "/home/me/app"),
        ];
        let pairs = pairs.iter().map(|(place, real)| (Path::new(*place), Path::new(*real)));
        let places = StagedPaths::new(Path::new("/tmp/lockgate-x1"), pairs);
        for (written, expected) in [
            ("vet: /tmp/lockgate-x1/draft/a.go:3:1: no", "vet: /home/me/app/sub/a.go:3:1: no"),
            ("../../../tmp/lockgate-x1/draft/a.go:3:1: no", "/home/me/app/sub/a.go:3:1: no"),
            ("(other at ../lockgate-x1/overlays/0/b.go:1)", "(other at /home/me/app/b.go:1)"),
            ("in /tmp/lockgate-x1/project/app", "in /home/me/app"),
            ("{\"file\":\"/tmp/lockgate-x1/project/app/x/é.py\"}", "{\"file\":\"/home/me/app/x/é.py\"}"),
            ("file:///tmp/lockgate-x1/project/app/x.py", "file:///home/me/app/x.py"),
            ("/tmp/lockgate-x1/project/apple/x.py", "/tmp/lockgate-x1/project/apple/x.py"),
            ("/tmp/lockgate-x1/overlay/overlay.json", "/tmp/lockgate-x1/overlay/overlay.json"),
            ("/tmp/lockgate-x2/draft/a.go \u{fffd}", "/tmp/lockgate-x2/draft/a.go \u{fffd}"),
            ("lockgate-x1", "lockgate-x1"),
            ("", ""),
        ] {
            assert_eq!(String::from_utf8(places.rewrite(written.into())).unwrap(), expected);
        }
        let written = b"/tmp/lockgate-x1/draft/a.go".to_vec();
        assert_eq!(StagedPaths::default().rewrite(written.clone()), written, "the control: nothing is known");
    }
}
