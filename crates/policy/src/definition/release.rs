//! The version of a program, as far as it is compared.

use crate::node::{MAX_WORD, PolicyError, YamlNode, clipped};

/// The numbers of a version, `1.24.11` as 1, 24, 11; the text after them is not compared.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release(Vec<u32>);

impl Release {
    /// Parses the numbers at the beginning of a version; nothing where there are none.
    pub fn parse(text: &str) -> Option<Release> {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let numbers = text.get(..end)?.trim_end_matches('.').split('.').map(str::parse);
        let mut numbers = numbers.collect::<Result<Vec<u32>, _>>().ok()?;
        while numbers.last() == Some(&0) {
            numbers.pop();
        }
        Some(Release(numbers))
    }
}

pub(super) fn release(node: &YamlNode, what: &str) -> Result<Release, PolicyError> {
    let text = node.text(what)?;
    let whole = text.chars().all(|c| c.is_ascii_digit() || c == '.');
    Release::parse(text).filter(|_| whole).ok_or_else(|| {
        node.fault(format!("{what} must be a version such as `1.24`, not `{}`", clipped(text, MAX_WORD)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        let release = |text| Release::parse(text).unwrap();
        assert!(release("1.19.8") < release("1.24"));
        assert!(release("1.9") < release("1.10"));
        assert!(release("1.24rc1") >= release("1.24"));
        assert!(release("2") > release("1.99"));
        assert_eq!(release("1.24.0"), release("1.24"));
        for text in ["", "x", ".", "go1.24", "99999999999999"] {
            assert_eq!(Release::parse(text), None, "{text}");
        }
    }
}
