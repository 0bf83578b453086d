//! Collects the names that a text uses, as keys for the index.
//!
//! A key describes a use as far as it can be known without types: `name` for a bare name, `.name` for a
//! member of something, `of.name` for a member of a module or type of that name, `+name<from` for an
//! import from a module, `+*` for an import of everything, `=*` for an export of everything, `=name` for
//! a name that may stand for other types.
//!
//! Invariant: uses of a name that is bound inside a function are not collected there.

use std::collections::BTreeMap;
use std::ops::Range;

use super::bound::{Around, Scopes};
use super::imports::{Imports, is_script};
use super::use_context::{LONGEST, Sign, UseContext, receiver};
use lockgate_syntax::TagRole;

/// The key of an export of all names of another module.
pub(super) const EXPORT_ALL: &str = "=*";

/// Returns the key of a name that may stand for other types.
pub(super) fn any_type(name: &str) -> String {
    format!("={name}")
}

/// Languages in which types begin with a capital letter.
const TYPES_FIRST: [&str; 4] = ["python", "javascript", "typescript", "java"];

/// The uses of a text: for each key its lines in order, counted from 1.
pub(super) type Uses = BTreeMap<String, Vec<u32>>;

/// Collects the uses of a text.
pub(super) fn uses(use_context: &UseContext<'_>) -> Uses {
    let imports = Imports::new(use_context);
    let scopes = Scopes::new(use_context);
    let mut uses = Uses::new();
    let mut around = Around::default();
    for (role, span) in use_context.roles {
        around.advance(&scopes, span.start);
        let everything = match role {
            TagRole::Glob => Some("+*"),
            TagRole::ExportAll => Some(EXPORT_ALL),
            _ => None,
        };
        if let Some(key) = everything {
            uses.entry(key.to_owned()).or_default().push(use_context.line(span.start));
        }
        let Some(name) = use_context.name(span) else { continue };
        let keys = match use_context.resolve_role(*role, span) {
            TagRole::AnyType => vec![any_type(name)],
            _ if use_context.defines(span) => continue,
            TagRole::Name if use_context.declares_any_type(span) => vec![name.to_owned(), any_type(name)],
            TagRole::Name if around.binds(&scopes, name) => continue,
            TagRole::Name | TagRole::Type => vec![imports.resolved(name).to_owned()],
            TagRole::Key => vec![name.to_owned(), format!(".{name}")],
            TagRole::Member => use_context.member(&imports, span, name),
            TagRole::Path => path(use_context, &imports, span, name),
            TagRole::Import => vec![format!("+{name}<{}", imports.source(span.start))],
            TagRole::Reexport => {
                let module = imports.source(span.start).rsplit('.').next().unwrap_or_default();
                vec![format!("{module}.{name}")]
            }
            TagRole::Quoted => quoted(name),
            TagRole::Local | TagRole::Outer if around.is_free(&scopes, name) => vec![name.to_owned()],
            TagRole::Local
            | TagRole::Module
            | TagRole::Alias
            | TagRole::Outer
            | TagRole::Scope
            | TagRole::None
            | TagRole::From
            | TagRole::Glob
            | TagRole::ExportAll
            | TagRole::MacroBody
            | TagRole::Format
            | TagRole::Provided
            | TagRole::Exported => {
                continue;
            }
        };
        let line = use_context.line(span.start);
        for key in keys {
            let lines = uses.entry(key).or_default();
            if lines.last() != Some(&line) {
                lines.push(line);
            }
        }
    }
    uses
}

impl UseContext<'_> {
    /// Returns the name at a position, without quotes or sigils.
    fn name(&self, span: &Range<usize>) -> Option<&str> {
        let text = self.view.get(span.clone())?.trim_matches(['"', '\'', '*']);
        // In scripts, `#` belongs to the name of a private member.
        let text = if is_script(self.language) { text } else { text.trim_matches('#') };
        (!text.is_empty() && text.len() <= LONGEST).then_some(text)
    }

    /// Returns the keys of a member of something.
    fn member(&self, imports: &Imports<'_>, span: &Range<usize>, name: &str) -> Vec<String> {
        let member = format!(".{name}");
        let Some(of) = receiver(self.view, span.start).1 else { return vec![member] };
        if matches!(of, "self" | "cls" | "this") {
            let owner = self.owner(span.start).filter(|owner| self.has_member(owner, name));
            return vec![owner.map_or(member, |owner| format!("{owner}.{name}"))];
        }
        let modules = imports.modules(of);
        if !modules.is_empty() {
            return modules.iter().map(|module| format!("{module}.{name}")).collect();
        }
        let is_type =
            of.starts_with(char::is_uppercase) && (of.len() == 1 || of.contains(char::is_lowercase));
        match imports.original_name(of) {
            Some(original) if is_type => vec![format!("{original}.{name}")],
            Some(original) => vec![format!("{original}.{name}"), member],
            None if is_type && TYPES_FIRST.contains(&self.language) => vec![format!("{of}.{name}")],
            None => vec![member],
        }
    }

    /// Tokens in a macro have no role of their own, so the sign before them decides.
    fn resolve_role(&self, role: TagRole, span: &Range<usize>) -> TagRole {
        if role != TagRole::Name || self.language != "rust" {
            return role;
        }
        match receiver(self.view, span.start).0 {
            Sign::Dot => TagRole::Member,
            Sign::Colons => TagRole::Path,
            Sign::None => TagRole::Name,
        }
    }

    /// True for a name that the tokens of a macro declare as an alias or a trait.
    fn declares_any_type(&self, span: &Range<usize>) -> bool {
        let before = self.view.get(..span.start).unwrap_or_default().trim_end();
        self.language == "rust" && ["type", "trait", "as"].iter().any(|word| before.ends_with(word))
    }
}

/// Returns the names in a quoted text, such as a quoted annotation.
fn quoted(text: &str) -> Vec<String> {
    let names = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Returns the keys of the target of a `::` path.
fn path(use_context: &UseContext<'_>, imports: &Imports<'_>, span: &Range<usize>, name: &str) -> Vec<String> {
    match receiver(use_context.view, span.start).1 {
        // A full path needs no import.
        Some("crate" | "self" | "super") => vec![format!("+{name}<")],
        Some("Self") => {
            use_context.owner(span.start).map(|owner| format!("{owner}.{name}")).into_iter().collect()
        }
        Some(owner) => vec![format!("{}.{name}", imports.resolved(owner))],
        None => vec![format!(".{name}")],
    }
}
