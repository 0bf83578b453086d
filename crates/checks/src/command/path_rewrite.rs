//! Replaces the paths of staged files in a program's output with the project's own paths.
//!
//! Invariant: bytes that do not name a file of the run stay unchanged.

use std::path::Path;

use crate::stage::Stage;

/// The staged paths of runs, and the project's paths that they stand for.
///
/// A program with a cache may print again what it found in an earlier run, with the paths of that run. So the
/// folders of all runs count, which differ only in the random end of their names.
#[derive(Debug, Default)]
pub(super) struct StagedPaths {
    /// The absolute path of the folders of runs, without their names.
    parent: Vec<u8>,
    /// The beginning of the name of each folder of a run.
    prefix: Vec<u8>,
    /// The length of the random end of such a name, in bytes.
    random: usize,
    /// Folders in the folder of a run, each with the absolute path that it stands for.
    mappings: Vec<(Vec<u8>, Vec<u8>)>,
}

impl StagedPaths {
    /// Records the absolute folder of a run, and the folders in it that stand for the root.
    pub(super) fn new(home: &Path, root: &Path) -> StagedPaths {
        let bytes = |path: &Path| path.to_string_lossy().into_owned().into_bytes();
        let real = bytes(root);
        // JSON escapes quotes and backslashes, so such paths are left out.
        if real.iter().any(|byte| matches!(byte, b'"' | b'\\')) {
            return StagedPaths::default();
        }
        let places =
            Stage::root_folders(root).into_iter().map(|place| [b"/".as_slice(), &bytes(&place)].concat());
        let parent = home.parent().map_or(Vec::new(), |above| [&bytes(above), b"/".as_slice()].concat());
        let name = home.file_name().map_or(Vec::new(), |name| bytes(Path::new(name)));
        let random = name.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let random = if random == name.len() { 0 } else { random };
        let prefix = name.get(..name.len() - random).unwrap_or_default().to_vec();
        StagedPaths { parent, prefix, random, mappings: places.map(|place| (place, real.clone())).collect() }
    }

    /// Replaces the paths of runs, absolute and relative ones, with the project's.
    pub(super) fn rewrite(&self, output: Vec<u8>) -> Vec<u8> {
        if self.prefix.is_empty()
            || self.mappings.is_empty()
            || memchr::memmem::find(&output, &self.prefix).is_none()
        {
            return output;
        }
        let mut rewritten: Vec<u8> = Vec::with_capacity(output.len());
        let mut rest = output.as_slice();
        while let Some(at) = memchr::memmem::find(rest, &self.prefix) {
            let (before, from) = rest.split_at(at);
            let behind = from.get(self.prefix.len()..).unwrap_or_default();
            rewritten.extend(before);
            match self.after_name(behind).and_then(|behind| self.real(behind)) {
                Some((real, behind)) => {
                    let start = self.path_start(&rewritten);
                    rewritten.truncate(start);
                    rewritten.extend(real);
                    rest = behind;
                }
                None => {
                    rewritten.extend(&self.prefix);
                    rest = behind;
                }
            }
        }
        rewritten.extend(rest);
        rewritten
    }

    /// Returns the text after the random end of a name.
    fn after_name<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let (end, behind) = text.split_at_checked(self.random)?;
        end.iter().all(u8::is_ascii_alphanumeric).then_some(behind)
    }

    /// Returns the path that a folder of a run stands for, and the text after it.
    fn real<'t>(&self, text: &'t [u8]) -> Option<(&[u8], &'t [u8])> {
        self.mappings.iter().find_map(|(place, real)| {
            Some((real.as_slice(), after_path(text.strip_prefix(place.as_slice())?)?))
        })
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
        let places = StagedPaths::new(Path::new("/tmp/lockgate-x1"), Path::new("/home/me/app"));
        for (written, expected) in [
            ("vet: /tmp/lockgate-x1/draft/sub/a.go:3:1: no", "vet: /home/me/app/sub/a.go:3:1: no"),
            ("../../../tmp/lockgate-x1/draft/sub/a.go:3:1: no", "/home/me/app/sub/a.go:3:1: no"),
            ("(other at ../lockgate-x1/overlays/b.go:1)", "(other at /home/me/app/b.go:1)"),
            ("in /tmp/lockgate-x1/project/app", "in /home/me/app"),
            ("{\"file\":\"/tmp/lockgate-x1/project/app/x/é.py\"}", "{\"file\":\"/home/me/app/x/é.py\"}"),
            ("file:///tmp/lockgate-x1/project/app/x.py", "file:///home/me/app/x.py"),
            ("/tmp/lockgate-x1/project/apple/x.py", "/tmp/lockgate-x1/project/apple/x.py"),
            ("/tmp/lockgate-x1/overlay/overlay.json", "/tmp/lockgate-x1/overlay/overlay.json"),
            (
                "of an earlier run: /tmp/lockgate-x2/draft/a.go \u{fffd}",
                "of an earlier run: /home/me/app/a.go \u{fffd}",
            ),
            ("/tmp/lockgate-x.2/draft/a.go", "/tmp/lockgate-x.2/draft/a.go"),
            ("/tmp/lockgate-x", "/tmp/lockgate-x"),
            ("lockgate-x1", "lockgate-x1"),
            ("", ""),
        ] {
            assert_eq!(String::from_utf8(places.rewrite(written.into())).unwrap(), expected);
        }
        let written = b"/tmp/lockgate-x1/draft/a.go".to_vec();
        assert_eq!(StagedPaths::default().rewrite(written.clone()), written, "the control: nothing is known");
        let one = StagedPaths::new(Path::new("/tmp/x1"), Path::new("/home/me/app"));
        assert_eq!(
            one.rewrite(b"/tmp/x1/draft/a.go /tmp/x2/draft/a.go".to_vec()),
            b"/home/me/app/a.go /tmp/x2/draft/a.go"
        );
    }
}
