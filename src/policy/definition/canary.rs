//! A text by which a gate shows that it works.

use regex::Regex;

use super::super::keys;
use super::super::node::{Fault, Node, Value};

/// A text that no configuration lets pass: a gate that finds nothing in it does not work.
#[derive(Debug)]
pub struct Canary {
    /// What of the draft's beginning stands before the text, such as the name of the package.
    pub keep: Option<Regex>,
    /// The text.
    pub text: String,
}

impl Canary {
    /// The canary in the place of a draft.
    pub fn instead_of(&self, draft: &str) -> String {
        let kept = self.keep.as_ref().and_then(|keep| keep.find(draft)).filter(|kept| kept.start() == 0);
        kept.map_or_else(|| self.text.clone(), |kept| format!("{}\n{}", kept.as_str(), self.text))
    }
}

pub(super) fn canary(node: &Node, what: &str) -> Result<Canary, Fault> {
    match &node.value {
        Value::Text(text) => Ok(Canary { keep: None, text: text.clone() }),
        _ => {
            let fields = node.settings(what, &[keys::CANARY])?;
            let text = fields.require("text")?.text("`text`")?.to_owned();
            Ok(Canary { keep: fields.optional("keep", super::regex)?, text })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_stands_before_the_text() {
        let keep = regex::Regex::new(r"(?ms)\A.*?^package\s+\w+").ok();
        let canary = Canary { keep, text: "func f( {\n".to_owned() };
        assert_eq!(
            canary.instead_of("//go:build x\n\npackage a\n\nvar b = 1\n"),
            "//go:build x\n\npackage a\nfunc f( {\n"
        );
        assert_eq!(canary.instead_of("var b = 1\n"), "func f( {\n");
        assert_eq!(Canary { keep: None, text: "x".to_owned() }.instead_of("package a"), "x");
    }
}
