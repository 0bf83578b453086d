//! Finds the names of symbols.

use std::ops::Range;

use crate::Node;

/// The maximum length of a name in bytes; a longer one is prose.
const LONGEST: usize = 256;
/// The maximum number of declarators around a name.
const MAX_DECLARATORS: usize = 64;

/// The source of a symbol's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameRule {
    /// The text of a field.
    Field(&'static str),
    /// A path of the language in a field, with `.` for `::` and without its generic arguments.
    Scoped(&'static str),
    /// The same, for a node with a body: without one it is a use.
    WithBody(&'static str),
    /// The first identifier in a field: the name of a type before its parameters.
    Identifier(&'static str),
    /// The text of a field, if another field is a function or class.
    Value {
        /// The field of the name.
        name: &'static str,
        /// The field that must be a function or class.
        function: &'static str,
    },
    /// The type of the receiver and the name.
    Receiver,
    /// The name inside its declarators.
    Declarator,
    /// The first child of a kind.
    Child(&'static str),
    /// The key that is the first child.
    Key,
    /// The attribute `id` of the tag.
    Id,
}

/// A name, with its range.
#[derive(Debug)]
pub(super) struct NamedNode {
    /// The name, on one line.
    pub(super) name: String,
    /// The range of the name.
    pub(super) at: Range<usize>,
}

impl NameRule {
    /// Returns the name of a node; `None` if it has none.
    pub(super) fn find(self, node: Node<'_>, view: &str) -> Option<NamedNode> {
        let at = self.node(node, view)?;
        let name = match self {
            NameRule::Field(_)
            | NameRule::Identifier(_)
            | NameRule::Value { .. }
            | NameRule::Child(_)
            | NameRule::Key
            | NameRule::Id => plain(at, view)?,
            NameRule::Scoped(_) | NameRule::WithBody(_) => scoped(text(at, view)?),
            NameRule::Declarator => scoped(declared_text(at, view)?),
            NameRule::Receiver => receiver_name(node, view)?,
        };
        named(&name, at)
    }

    /// Returns the node that contains the name.
    fn node<'t>(self, node: Node<'t>, view: &str) -> Option<Node<'t>> {
        let field = |name: &str| node.child_by_field_name(name);
        match self {
            NameRule::Field(name) | NameRule::Scoped(name) => field(name),
            NameRule::WithBody(name) => field("body").and_then(|_| field(name)),
            NameRule::Identifier(name) => identifier(field(name)?),
            NameRule::Value { name, function } => {
                field(function).filter(is_function).and_then(|_| field(name))
            }
            NameRule::Receiver => field("name"),
            NameRule::Declarator => declared(field("declarator")?),
            NameRule::Child(kind) => children(node).find(|child| child.kind() == kind),
            NameRule::Key => children(node).find(Node::is_named),
            NameRule::Id => id(node, view),
        }
    }
}

pub(super) fn named(name: &str, at: Node<'_>) -> Option<NamedNode> {
    Some(NamedNode { name: on_one_line(name)?, at: at.byte_range() })
}

/// Returns the rank of a heading, from 1, and its words.
pub(super) fn heading(node: Node<'_>, view: &str) -> Option<(usize, NamedNode)> {
    let rank = |kind: &str| match kind {
        "atx_h1_marker" | "setext_h1_underline" => Some(1),
        "atx_h2_marker" | "setext_h2_underline" => Some(2),
        "atx_h3_marker" => Some(3),
        "atx_h4_marker" => Some(4),
        "atx_h5_marker" => Some(5),
        "atx_h6_marker" => Some(6),
        _ => None,
    };
    let content = node.child_by_field_name("heading_content")?;
    let words = text(content, view)?;
    let rank = children(node).find_map(|child| rank(child.kind()))?;
    Some((rank, named(words.trim().trim_end_matches('#'), content)?))
}

fn on_one_line(name: &str) -> Option<String> {
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    (!name.is_empty() && name.len() <= LONGEST).then_some(name)
}

/// Returns the text of a node that is short enough to be, or to contain, a name.
pub(super) fn text<'v>(node: Node<'_>, view: &'v str) -> Option<&'v str> {
    view.get(node.byte_range()).filter(|text| text.len() <= 4 * LONGEST)
}

/// Returns the text without its quotes.
pub(super) fn plain(node: Node<'_>, view: &str) -> Option<String> {
    let text = text(node, view)?.trim();
    let inner = ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    Some(inner.unwrap_or(text).to_owned())
}

/// Returns a path with `.` for `::`, without references, arguments in angle brackets and blanks around its parts.
pub(super) fn scoped(text: &str) -> String {
    let text = text.trim_start_matches(['&', '*', ' ', ':']);
    let text = ["mut ", "dyn "].iter().fold(text, |text, word| text.strip_prefix(word).unwrap_or(text));
    // The name of an operator may contain angle brackets.
    if text.contains("operator") {
        return dotted(text);
    }
    let (mut depth, mut path) = (0_usize, String::new());
    for character in text.chars() {
        match character {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => path.push(character),
            _ => {}
        }
    }
    dotted(&path)
}

/// Returns a path with `.` for `::` and the blanks around it.
fn dotted(path: &str) -> String {
    path.split("::").map(str::trim).collect::<Vec<_>>().join(".")
}

fn is_function(node: &Node<'_>) -> bool {
    matches!(node.kind(), "arrow_function" | "function_expression" | "generator_function" | "class")
}

fn receiver_name(node: Node<'_>, view: &str) -> Option<String> {
    let receiver = node.child_by_field_name("receiver")?;
    let parameter = children(receiver).find(Node::is_named)?;
    let whole = text(parameter.child_by_field_name("type")?, view)?;
    let bare = whole.trim_start_matches(['*', '(', ' ']);
    let bare = bare.split(['[', ')', ' ']).next().unwrap_or(bare);
    Some(format!("{bare}.{}", text(node.child_by_field_name("name")?, view)?))
}

/// Returns the first identifier at the beginning of a node.
fn identifier(node: Node<'_>) -> Option<Node<'_>> {
    let mut node = node;
    for _ in 0..MAX_DECLARATORS {
        if node.kind() == "identifier" {
            return Some(node);
        }
        node = children(node).find(Node::is_named)?;
    }
    None
}

/// Returns the innermost of nested declarators.
pub(super) fn declared(declarator: Node<'_>) -> Option<Node<'_>> {
    let inner = |node: &Node<'_>| node.kind().ends_with("_declarator");
    let mut node = declarator;
    for _ in 0..MAX_DECLARATORS {
        let next = node.child_by_field_name("declarator").filter(|_| node.kind() != "operator_cast");
        // Some declarators have no field for the inner one.
        let next = next.or_else(|| inner(&node).then(|| children(node).filter(Node::is_named).last())?);
        match next {
            Some(next) => node = next,
            None => return Some(node),
        }
    }
    None
}

/// Returns the text of a declared name: that of a conversion, such as `operator bool`, without its parameters.
pub(super) fn declared_text<'v>(node: Node<'_>, view: &'v str) -> Option<&'v str> {
    let mut last = node;
    for _ in 0..MAX_DECLARATORS {
        let Some(name) = last.child_by_field_name("name") else { break };
        last = name;
    }
    let parameters = last.child_by_field_name("declarator").filter(|_| last.kind() == "operator_cast");
    let end = parameters.map_or(node.end_byte(), |parameters| parameters.start_byte());
    text(node, view)?.get(..end.saturating_sub(node.start_byte()))
}

fn id<'t>(node: Node<'t>, view: &str) -> Option<Node<'t>> {
    let tag = children(node).next().filter(|tag| matches!(tag.kind(), "start_tag" | "self_closing_tag"))?;
    let is_id = |attribute: &Node<'_>| {
        let name = children(*attribute).next().and_then(|name| text(name, view));
        attribute.kind() == "attribute" && name.is_some_and(|name| name.eq_ignore_ascii_case("id"))
    };
    children(children(tag).find(is_id)?).last()
}

/// Iterates over the children of a node in one linear pass.
pub(super) fn children(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let mut cursor = node.walk();
    let mut more = cursor.goto_first_child();
    std::iter::from_fn(move || {
        let child = more.then(|| cursor.node());
        more = more && cursor.goto_next_sibling();
        child
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_named_without_its_arguments() {
        let cases = [
            ("Vec<Option<T>>", "Vec"),
            ("a::B<T>", "a.B"),
            ("A<T>::f", "A.f"),
            ("&mut A", "A"),
            ("&dyn B", "B"),
            ("::a::b", "a.b"),
            ("A::operator<", "A.operator<"),
            ("Foo::\nbar", "Foo.bar"),
            ("Foo :: baz", "Foo.baz"),
            ("A <T>\n  :: B :: f", "A.B.f"),
            ("A :: operator new", "A.operator new"),
            ("unsigned long", "unsigned long"),
        ];
        for (text, name) in cases {
            assert_eq!(scoped(text), name);
        }
    }
}
