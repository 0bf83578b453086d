//! The project's own paths in what a program wrote, in the place of those where its files lay for the run.
//!
//! Invariant: bytes that name no file of the run stay as they are.

use std::path::Path;

/// Where the files of one run lay, and which files of the project they stand for.
#[derive(Debug, Default)]
pub(super) struct StagedPaths {
    /// The absolute path of the folder of the run, without the name.
    above: Vec<u8>,
    /// Its name, which no other folder has.
    name: Vec<u8>,
    /// Paths below it, with the absolute paths that they stand for, the longest first.
    below: Vec<(Vec<u8>, Vec<u8>)>,
}

impl StagedPaths {
    /// Knows the folder of a run at this absolute path, and what the paths below it stand for.
    pub(super) fn new<'p>(home: &Path, pairs: impl Iterator<Item = (&'p Path, &'p Path)>) -> StagedPaths {
        let bytes = |path: &Path| path.to_string_lossy().into_owned().into_bytes();
        // Quotes and backslashes stand in JSON in another way than in a path.
        let is_plain = |path: &[u8]| !path.iter().any(|byte| matches!(byte, b'"' | b'\\'));
        let pair = |(place, real): (&Path, &Path)| {
            let below = place.strip_prefix(home).ok()?;
            Some(([b"/".as_slice(), &bytes(below)].concat(), bytes(real))).filter(|(_, real)| is_plain(real))
        };
        let mut below: Vec<_> = pairs.filter_map(pair).collect();
        below.sort_by_key(|(place, _)| std::cmp::Reverse(place.len()));
        let above = home.parent().map_or(Vec::new(), |above| [&bytes(above), b"/".as_slice()].concat());
        let name =
            home.file_name().map_or(Vec::new(), |name| name.to_string_lossy().into_owned().into_bytes());
        StagedPaths { above, name, below }
    }

    /// Puts the project's paths in the place of those of the run, absolute ones and relative ones.
    pub(super) fn unstaged(&self, output: Vec<u8>) -> Vec<u8> {
        if self.name.is_empty()
            || self.below.is_empty()
            || memchr::memmem::find(&output, &self.name).is_none()
        {
            return output;
        }
        let mut shown: Vec<u8> = Vec::with_capacity(output.len());
        let mut rest = output.as_slice();
        while let Some(at) = memchr::memmem::find(rest, &self.name) {
            let (before, from) = rest.split_at(at);
            let behind = from.get(self.name.len()..).unwrap_or_default();
            shown.extend(before);
            match self
                .below
                .iter()
                .find_map(|(place, real)| Some((real, ended(behind.strip_prefix(place.as_slice())?)?)))
            {
                Some((real, behind)) => {
                    let start = self.start(&shown);
                    shown.truncate(start);
                    shown.extend(real);
                    rest = behind;
                }
                None => {
                    shown.extend(&self.name);
                    rest = behind;
                }
            }
        }
        shown.extend(rest);
        shown
    }

    /// Where the path begins that ends with these bytes.
    fn start(&self, before: &[u8]) -> usize {
        // A relative path goes up to the top first: `../../tmp/`.
        if let Some(rest) = before.strip_suffix(self.above.as_slice()).filter(|rest| !rest.ends_with(b".")) {
            return rest.len();
        }
        let parts = |byte: &u8| !(byte.is_ascii_whitespace() || b"\"'`()[]<>=,;:|\\\0".contains(byte));
        before.len() - before.iter().rev().take_while(|byte| parts(byte)).count()
    }
}

/// What stands behind a path, where the path ends there or a part of it does.
fn ended(rest: &[u8]) -> Option<&[u8]> {
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
            ("/tmp/lockgate-x1/company/0/b.go", "/home/me/app/b.go"),
            ("/tmp/lockgate-x1/project/app", "/home/me/app"),
        ];
        let pairs = pairs.iter().map(|(place, real)| (Path::new(*place), Path::new(*real)));
        let places = StagedPaths::new(Path::new("/tmp/lockgate-x1"), pairs);
        for (written, shown) in [
            ("vet: /tmp/lockgate-x1/draft/a.go:3:1: no", "vet: /home/me/app/sub/a.go:3:1: no"),
            ("../../../tmp/lockgate-x1/draft/a.go:3:1: no", "/home/me/app/sub/a.go:3:1: no"),
            ("(other at ../lockgate-x1/company/0/b.go:1)", "(other at /home/me/app/b.go:1)"),
            ("in /tmp/lockgate-x1/project/app", "in /home/me/app"),
            ("{\"file\":\"/tmp/lockgate-x1/project/app/x/é.py\"}", "{\"file\":\"/home/me/app/x/é.py\"}"),
            ("file:///tmp/lockgate-x1/project/app/x.py", "file:///home/me/app/x.py"),
            ("/tmp/lockgate-x1/project/apple/x.py", "/tmp/lockgate-x1/project/apple/x.py"),
            ("/tmp/lockgate-x1/overlay/overlay.json", "/tmp/lockgate-x1/overlay/overlay.json"),
            ("/tmp/lockgate-x2/draft/a.go \u{fffd}", "/tmp/lockgate-x2/draft/a.go \u{fffd}"),
            ("lockgate-x1", "lockgate-x1"),
            ("", ""),
        ] {
            assert_eq!(String::from_utf8(places.unstaged(written.into())).unwrap(), shown);
        }
        let written = b"/tmp/lockgate-x1/draft/a.go".to_vec();
        assert_eq!(
            StagedPaths::default().unstaged(written.clone()),
            written,
            "the control: nothing is known"
        );
    }
}
