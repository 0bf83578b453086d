//! The content of files: their bytes, and a text view of them.
//!
//! A [`Buffer`] keeps the original bytes and shows them as text with `\n` as the only line end. A [`Change`] refers
//! to that text; a [`Plan`] holds the resulting byte splices. Only `\n` and `\r\n` end a line: a lone carriage
//! return, a form feed, U+0085 and U+2028 are ordinary characters. There are also diffs, a three-way rebase, maps from
//! old to new line numbers, and the outline of a text as plain data.
//!
//! Line numbers in the public interface start at 1; offsets are bytes of the view. Nothing here reads a file, parses a
//! language or decides where an edit belongs.
//!
//! Invariant: a file is never decoded and encoded again as a whole. Bytes outside a plan's splices never change, in
//! every encoding and with every mixture of line ends.
//!
//! ```
//! use lockgate_text::{Buffer, Change, Hints};
//!
//! let before = Buffer::read(b"one\r\ntwo\r\n".to_vec(), Hints::default())?;
//! let plan = before.plan(vec![Change { span: 4..7, text: "2\n3".to_owned() }])?;
//! assert_eq!(before.apply(&plan)?.bytes(), b"one\r\n2\r\n3\r\n");
//! # Ok::<(), lockgate_error::Error>(())
//! ```
#![deny(clippy::disallowed_methods)]

mod align;
mod buffer;
mod byte_map;
mod change;
mod common_ends;
mod control_chars;
pub mod diff;
mod enclosing;
mod encoding;
mod fold;
mod line_end;
mod line_end_style;
mod line_map;
mod lines;
mod nearest;
mod outline;
mod plan;
#[cfg(test)]
mod properties;
mod rebase;
mod region;
mod rewrite;
mod symbol_kind;
mod syntax;
mod version;
mod word_list;

pub use align::differing_lines;
pub use buffer::{Buffer, Hints};
pub use change::{Change, Splice};
pub use common_ends::{common_prefix, common_suffix};
pub use control_chars::{escape_name, is_control_or_bidi, is_ignorable};
pub use diff::{Diff, DiffCut};
pub use encoding::Encoding;
pub use fold::fold;
pub use line_end::{LineEnd, LineEnds};
pub use line_map::{LineMap, LineShift};
pub use lines::Lines;
pub use nearest::{correction, nearest, nearest_all};
pub use outline::{Outline, OutlineEntry, OutlineSymbol, SharedLine, SymbolRank};
pub use plan::{Plan, bytes_outside_unchanged};
pub use rebase::{RebaseConflict, Rebased};
pub use region::Region;
pub use symbol_kind::SymbolKind;
pub use syntax::{CodeTree, NoSyntax, OpaquePart, ParentNode, Syntax};
pub use version::Version;
pub use word_list::WordList;
