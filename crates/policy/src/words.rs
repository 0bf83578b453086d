//! Enums whose values are words of a policy.

/// Declares enums whose values are words of a policy.
///
/// Each gets `WORDS` for its row in a table, `name`, `named`, and [`FromNode`](super::node::FromNode).
macro_rules! words {
    ($($(#[$about:meta])* $visibility:vis enum $type:ident {
        $($(#[$meaning:meta])* $variant:ident = $word:literal,)*
    })*) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $visibility enum $type { $($(#[$meaning])* $variant,)* }

        impl $type {
            pub(crate) const WORDS: &[&str] = &[$($word),*];

            /// Returns its word in a policy.
            pub const fn name(self) -> &'static str {
                match self { $($type::$variant => $word,)* }
            }

            pub(crate) fn named(word: &str) -> Option<$type> {
                [$($type::$variant),*].into_iter().find(|known| known.name() == word)
            }
        }

        impl $crate::node::FromNode for $type {
            fn from_node(
                node: &$crate::node::YamlNode,
                what: &str,
                _: &$crate::ValueShape,
            ) -> Result<$type, $crate::node::PolicyError> {
                node.word(what, $type::WORDS, $type::named)
            }
        }
    )*};
}

pub(super) use words;
