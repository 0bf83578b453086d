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

impl Forms {
    /// True if the JSON is sent.
    pub(crate) const fn has_json(self) -> bool {
        !matches!(self, Forms::Text)
    }

    /// Returns the part of the text that is sent, if any is.
    pub(crate) fn sent_text(self, text: &str) -> Option<&str> {
        match self {
            Forms::Both | Forms::Text => Some(text),
            Forms::Compact => Some(text.lines().next().unwrap_or_default()),
            Forms::Json => None,
        }
    }

    /// True for the forms that a model reads and no program does.
    pub(super) const fn are_for_models(self) -> bool {
        matches!(self, Forms::Text | Forms::Compact)
    }
}
