//! The severity of findings.

use super::words::words;

words! {
    /// The severity of a finding; the most severe is the least.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Severity {
        /// A definite fault in the text.
        Error = "error",
        /// A probable fault, or bad style.
        Warning = "warning",
        /// Information that needs no action.
        Info = "info",
    }
}
