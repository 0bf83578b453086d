//! The forms of an answer.

/// The forms in which an answer is sent; the limit applies to the sent forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forms {
    /// Sends the JSON and the text.
    Both,
    /// JSON only, for the command line, which prints it or renders its own text from it.
    Json,
    /// JSON with only what the next call needs, and one line of text.
    Compact,
    /// Text only, for clients that ignore the JSON.
    Text,
}
