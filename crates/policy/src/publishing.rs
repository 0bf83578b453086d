//! Settings for publishing a change, and for the texts that the journal stores.

use std::sync::Arc;

use super::glob::{self, Glob, OwnGlobs};
use super::node::{MapFields, PolicyError, YamlNode};
use super::origin::PolicyOrigin;
use super::words::words;
use lockgate_text::fold;

/// The most patterns of `never_journal` in one policy and its bases.
const MAX_PATTERNS: usize = 1000;

/// Files that contain secrets. No journal stores their text, whatever a policy says.
const SECRETS: [&str; 21] = [
    ".env*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    ".ssh/",
    ".aws/",
    ".kube/",
    "**/.docker/config.json",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".git-credentials",
];

/// Files that match a pattern of secrets but contain none: published templates.
const TEMPLATES: [&str; 3] = [".env.example", ".env.sample", ".env.template"];

words! {
    /// The data that is synced to disk before an edit counts as done; the strictest first.
    #[derive(Default, PartialOrd, Ord)]
    pub enum Durability {
        /// The file, its folder and the journal: an answered edit survives a power cut.
        #[default]
        Full = "full",
        /// The file alone: an answered edit survives the end of the process; after a power cut the file is whole, old or new.
        Process = "process",
    }

    /// The treatment of a hard-linked file; the strictest first.
    #[derive(Default, PartialOrd, Ord)]
    pub enum HardLinks {
        /// Reject an edit of such a file.
        #[default]
        Refuse = "refuse",
        /// Give the edited name a file of its own; the other names keep the old text.
        Split = "split",
        /// Write the file in place, under all of its names; a crash can leave it torn.
        InPlace = "in_place",
    }
}

/// The settings for publishing a change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Publishing {
    /// The data that is synced.
    pub durability: Durability,
    /// The treatment of hard-linked files.
    pub hard_links: HardLinks,
}

impl Publishing {
    /// Returns the settings that two policies both allow.
    #[must_use]
    pub fn stricter(self, other: Publishing) -> Publishing {
        Publishing {
            durability: self.durability.min(other.durability),
            hard_links: self.hard_links.min(other.hard_links),
        }
    }
}

/// Parses `durability` and `hard_links`; absent keys keep the value of `base`.
pub(super) fn publishing(policy: &MapFields<'_>, base: Publishing) -> Result<Publishing, PolicyError> {
    Ok(Publishing {
        durability: policy.read("durability", base.durability)?,
        hard_links: policy.read("hard_links", base.hard_links)?,
    })
}

/// The files whose text no journal stores.
#[derive(Debug, Clone)]
pub(super) struct Unjournalled {
    secrets: OwnGlobs,
    /// The patterns, each with the location of its policy.
    patterns: Vec<(Glob, Arc<PolicyOrigin>)>,
}

impl Unjournalled {
    /// Returns the secrets, which every policy includes.
    pub(super) fn secrets() -> Unjournalled {
        Unjournalled { secrets: OwnGlobs::new(&SECRETS), patterns: Vec::new() }
    }

    /// Adds the patterns of `never_journal`.
    pub(super) fn add(&mut self, node: &YamlNode, origin: &Arc<PolicyOrigin>) -> Result<(), PolicyError> {
        let items = node.list("`never_journal`")?;
        if items.len() + self.patterns.len() > MAX_PATTERNS {
            return Err(node.fault(format!("`never_journal` has more than {MAX_PATTERNS} patterns")));
        }
        for item in items {
            self.patterns.push((glob::glob(item, "`never_journal`")?, Arc::clone(origin)));
        }
        Ok(())
    }

    /// True if a pattern matches the file, whose path is relative to the root.
    pub(super) fn finds(&self, path: &str) -> bool {
        let matches = |(glob, origin): &(Glob, Arc<PolicyOrigin>)| {
            origin.relative_path(path).is_some_and(|below| glob.matches(below))
        };
        self.is_secret(path) || self.patterns.iter().any(matches)
    }

    fn is_secret(&self, path: &str) -> bool {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        if !TEMPLATES.contains(&fold(name).as_str()) {
            return self.secrets.any_matches(path);
        }
        // A template is a secret all the same where it lies in a folder of secrets.
        let in_folder = format!("{folder}/template");
        self.secrets.any_matches(in_folder.trim_start_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_secret_is_a_pattern() {
        assert_eq!(Unjournalled::secrets().secrets.count(), SECRETS.len() as u64);
    }
}
