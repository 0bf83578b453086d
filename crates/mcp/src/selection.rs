//! The tools that a server offers, as a selection of toolsets. The default is small, because every listed tool costs tokens
//! in every conversation.

use std::fmt;
use std::str::FromStr;

use super::tools::{Effect, TOOLS, Tool};
use super::toolset::Toolset;
use lockgate_error::{Code, Error};
use lockgate_text::nearest;

/// The toolsets that a server offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection(Vec<Toolset>);

/// Selects whether a server may write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WriteAccess {
    /// Offers every tool of the selection.
    #[default]
    Write,
    /// Omits the tools that can write.
    ReadOnly,
}

/// Tells if a database of entities is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntityStorage {
    /// A database or an organisation is configured.
    Configured,
    /// Neither is. Entities are then stored in the state folder, which few callers use.
    Unconfigured,
}

impl Default for Selection {
    fn default() -> Selection {
        Selection(vec![Toolset::Edit, Toolset::Text, Toolset::Look])
    }
}

impl fmt::Display for Selection {
    /// Writes the selection as a list that [`FromStr`] parses.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.0.iter().map(|toolset| toolset.name()).collect();
        f.write_str(&names.join(","))
    }
}

impl Selection {
    /// Adds a toolset to the selection.
    #[must_use]
    pub fn with(mut self, toolset: Toolset) -> Selection {
        if !self.contains(toolset) {
            self.0.push(toolset);
        }
        self
    }

    /// True if the selection contains this toolset.
    pub fn contains(&self, toolset: Toolset) -> bool {
        self.0.contains(&toolset)
    }

    /// Returns the tools of this selection that the access allows.
    pub fn tools(&self, access: WriteAccess) -> impl Iterator<Item = &'static Tool> {
        TOOLS.iter().filter(move |tool| {
            let allowed = access == WriteAccess::Write || tool.effect == Effect::Reads;
            allowed && tool.toolsets.iter().any(|toolset| self.contains(*toolset))
        })
    }
}

impl FromStr for Selection {
    type Err = Error;

    /// Parses a list such as `edit,legacy`; `all` means every toolset.
    fn from_str(list: &str) -> Result<Selection, Error> {
        let mut chosen = Vec::new();
        for name in list.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            match Toolset::ALL.into_iter().find(|toolset| toolset.name() == name) {
                Some(toolset) => chosen.push(toolset),
                None if name == "all" => chosen.extend(Toolset::ALL),
                None => return Err(unknown_toolset(name)),
            }
        }
        if chosen.is_empty() {
            return Err(Error::new(Code::InvalidInput, format!("no toolset is named in `{list}`"))
                .hint(known_toolsets()));
        }
        Ok(Selection(chosen))
    }
}

fn unknown_toolset(name: &str) -> Error {
    let names = Toolset::ALL.into_iter().map(Toolset::name).chain(["all"]);
    let similar = nearest(name, names);
    let question = similar.map(|similar| format!("; did you mean `{similar}`?")).unwrap_or_default();
    Error::new(Code::InvalidInput, format!("unknown toolset `{name}`{question}")).hint(known_toolsets())
}

fn known_toolsets() -> String {
    let names: Vec<&str> = Toolset::ALL.into_iter().map(Toolset::name).collect();
    format!("this version has {}, and `all` for every one of them", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_policy::Policy;

    fn names(list: &str, access: WriteAccess) -> Vec<&'static str> {
        let selection: Selection = list.parse().unwrap();
        selection.tools(access).map(|tool| tool.name).collect()
    }

    #[test]
    fn a_selection_offers_its_own_tools_only() {
        for (toolset, tools) in [
            ("edit", &["safe_edit_file", "edit_files", "undo_edit"][..]),
            (
                "look",
                &[
                    "search_content",
                    "read_content_lines",
                    "get_content",
                    "ai_get_code_context",
                    "list_content",
                ],
            ),
            ("text", &["edit_file"]),
            ("code", &["edit_code"]),
            ("ai", &["ai_edit_code"]),
            ("content", &["list_content", "patch_content", "replace_content", "delete_content"]),
            ("history", &["list_edits", "redo_edit"]),
            ("legacy", &["create_file"]),
        ] {
            assert_eq!(names(toolset, WriteAccess::Write), tools);
        }
        let all: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
        assert_eq!(names("all", WriteAccess::Write), all);
        assert_eq!(Selection::default().to_string(), "edit,text,look");
        assert_eq!(
            names(" legacy , look,look", WriteAccess::Write),
            [
                "search_content",
                "read_content_lines",
                "get_content",
                "ai_get_code_context",
                "list_content",
                "create_file"
            ]
        );
        for list in ["edit", "edit,legacy"] {
            assert_eq!(list.parse::<Selection>().unwrap().to_string(), list);
        }
    }

    #[test]
    fn a_policy_can_name_every_toolset_and_no_other() {
        let read = |name: &str| Policy::parse("quality.yaml", &format!("server: {{ tools: [{name}] }}"));
        for toolset in Toolset::ALL.map(Toolset::name).into_iter().chain(["all"]) {
            let toolsets = read(toolset).unwrap().toolsets.unwrap();
            assert!(toolsets.join(",").parse::<Selection>().is_ok(), "{toolset}");
        }
        assert!(
            read("edti").unwrap_err().message.contains(&format!("(known: {}, all", names_of(&Toolset::ALL)))
        );
    }

    fn names_of(toolsets: &[Toolset]) -> String {
        toolsets.iter().map(|toolset| toolset.name()).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn read_only_leaves_no_writer() {
        assert_eq!(
            names("all", WriteAccess::ReadOnly),
            [
                "search_content",
                "read_content_lines",
                "get_content",
                "ai_get_code_context",
                "list_content",
                "list_edits"
            ]
        );
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        for (list, message) in [
            ("edti", "did you mean `edit`?"),
            ("entities", "unknown toolset `entities`"),
            ("", "no toolset"),
            (",", "no toolset"),
        ] {
            let error = list.parse::<Selection>().unwrap_err();
            assert!(error.message.contains(message), "{list}: {}", error.message);
            assert!(
                error.next_step().contains("edit, look, text, code, ai, content, history, legacy"),
                "{}",
                error.next_step()
            );
        }
    }
}
