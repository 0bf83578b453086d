//! The distance between files.

/// The distance of a file from another: the same file, then the same folder, then by the number of
/// folders between them. Tests are further away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Distance(usize);

impl Distance {
    /// Returns the distance between two paths.
    pub(super) fn between(from: &str, to: &str) -> Distance {
        if from == to {
            return Distance(0);
        }
        let (from, to) = (folders(from), folders(to));
        let shared = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
        Distance(1 + from.len() + to.len() - 2 * shared)
    }

    /// Returns the distance from the nearest of several paths.
    pub(super) fn from_nearest<'p>(from: impl IntoIterator<Item = &'p str>, to: &str) -> Distance {
        let nearest = from.into_iter().map(|from| Distance::between(from, to)).min();
        nearest.unwrap_or(Distance(folders(to).len()))
    }
}

fn folders(path: &str) -> Vec<&str> {
    let mut names: Vec<&str> = path.split('/').collect();
    names.pop();
    names
}

/// Returns the path of the folder that a file is in.
pub(super) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// True if a file's path marks it as a test.
pub(super) fn is_test(path: &str) -> bool {
    path.split('/').any(|name| {
        let name = name.to_lowercase();
        matches!(name.as_str(), "test" | "tests" | "testing" | "__tests__" | "testdata")
            || name.starts_with("test_")
            || ["_test.", ".test.", ".spec.", "_spec."].iter().any(|suffix| name.contains(suffix))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_folder_is_nearer_than_any_other() {
        let far = |to| Distance::between("a/b/c.py", to);
        let order = ["a/b/c.py", "a/b/d.py", "a/e.py", "f.py", "g/h/i.py"].map(far);
        assert!(order.is_sorted_by(|one, next| one < next), "{order:?}");
        assert_eq!(far("a/b/x/y.py"), far("a/e.py"), "folders down count as folders up");
    }
}
