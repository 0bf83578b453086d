//! The edit modes: turns each kind of edit into a [`Plan`](lockgate_text::Plan) for one text.
//!
//! An [`Edit`] is the whole content, lines to replace, lines to insert, or a search with its replacement; [`plan`] makes
//! the byte splices of any of them. [`request`] has what a caller may ask for, and turns optional fields into one typed
//! request. It uses no gate, no store and no server.
//!
//! Nothing here reads or writes a file, judges a result or keeps a history.
//!
//! Invariant: planning is pure and depends only on the request and the buffer. The enum [`Edit`] makes the modes
//! exclusive.
//!
//! ```
//! use lockgate_edit::{Edit, EditLimits, LineEdit, LineEditNames, PlanContext, plan};
//! use lockgate_text::{Buffer, Hints, NoSyntax};
//!
//! let before = Buffer::read(b"a = 1\nb = 2\n".to_vec(), Hints::default())?;
//! let new_content = "b = 3\n".to_owned();
//! let names = LineEditNames::Lists;
//! let edit = Edit::Lines(vec![LineEdit { start_line: 2, end_line: 2, new_content, expect: None, names }]);
//! let limits = EditLimits { bytes: 1 << 20, steps: 1_000_000 };
//! let language = Some("python");
//! let context = PlanContext { noun: "file", path: "a.py", language, syntax: &NoSyntax, limits };
//! let planned = plan(&edit, &before, context)?;
//! assert_eq!(before.apply(&planned.plan)?.view(), "a = 1\nb = 3\n");
//! # Ok::<(), lockgate_error::Error>(())
//! ```
#![deny(clippy::disallowed_methods)]

mod expect;
mod modes;
mod operations;
mod pattern_error;
mod planned;
pub mod request;

pub use lockgate_matching::OnDuplicate;
pub use modes::{Edit, EditPart, MissingExpect, plan};
pub use operations::{Insertion, LineEdit, LineEditNames, LineWindow, Needle, Occurrences, Search};
pub use planned::{EditLimits, PlanContext, PlannedEdit, SearchMatches};
