//! Returns install commands from the package URLs of a gate definition.
//!
//! Invariant: a printed command contains only plain words for a shell.

/// Returns the install commands and remarks, best first.
pub(in crate::cli) fn hints(purls: &[String]) -> Vec<String> {
    purls.iter().map(|purl| command(purl).unwrap_or_else(|| purl.clone())).collect()
}

/// Returns the command for a package URL: <https://github.com/package-url/purl-spec>.
fn command(purl: &str) -> Option<String> {
    let (kind, rest) = purl.strip_prefix("pkg:")?.split_once('/')?;
    let rest = rest.split(['?', '#']).next()?;
    let (name, version) = rest.split_once('@').map_or((rest, None), |(name, version)| (name, Some(version)));
    let name = name.replace("%40", "@");
    if !is_word(&name) || !version.is_none_or(is_word) {
        return None;
    }
    let pinned = |sign: &str| version.map_or(name.clone(), |version| format!("{name}{sign}{version}"));
    match kind {
        "pypi" => Some(format!("pip install {}", pinned("=="))),
        "npm" => Some(format!("npm install --save-dev {}", pinned("@"))),
        "cargo" => Some(format!("cargo install {}", pinned("@"))),
        "golang" => Some(format!("go install {name}@{}", version.unwrap_or("latest"))),
        "gem" => Some(format!("gem install {name}")),
        "brew" => Some(format!("brew install {name}")),
        "deb" => Some(format!("apt-get install {}", name.rsplit('/').next()?)),
        "generic" => Some(format!("the package {} of your system", name.rsplit('/').next()?)),
        _ => None,
    }
}

/// True if a shell reads the text as one plain word that is not an option.
fn is_word(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._/@+-".contains(c);
    !text.is_empty() && !text.starts_with('-') && text.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_policy::Catalogue;

    #[test]
    fn package_urls_become_commands() {
        for (purl, hint) in [
            ("pkg:pypi/ruff", "pip install ruff"),
            ("pkg:pypi/ruff@0.17.6", "pip install ruff==0.17.6"),
            ("pkg:npm/%40biomejs/biome@2.0.0", "npm install --save-dev @biomejs/biome@2.0.0"),
            ("pkg:cargo/rumdl", "cargo install rumdl"),
            (
                "pkg:golang/golang.org/x/tools/cmd/goimports",
                "go install golang.org/x/tools/cmd/goimports@latest",
            ),
            ("pkg:deb/debian/shellcheck?arch=amd64", "apt-get install shellcheck"),
            ("pkg:generic/go", "the package go of your system"),
            ("pkg:unheard/of", "pkg:unheard/of"),
            ("pkg:pypi/x;rm -rf", "pkg:pypi/x;rm -rf"),
            ("pkg:pypi/--index-url", "pkg:pypi/--index-url"),
            ("pkg:pypi/x@$(y)", "pkg:pypi/x@$(y)"),
            ("nothing", "nothing"),
        ] {
            assert_eq!(hints(&[purl.to_owned()]), [hint], "{purl}");
        }
    }

    #[test]
    fn every_program_of_the_catalogue_can_be_had() {
        for gate in Catalogue::embedded().gates() {
            assert_eq!(gate.install().is_empty(), !gate.runs_program(), "{}", gate.name);
            for purl in gate.install() {
                assert!(command(purl).is_some(), "{}: {purl}", gate.name);
            }
        }
    }
}
