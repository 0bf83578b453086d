//! Toolsets: the named groups of tools.

/// A named group of MCP tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toolset {
    /// Editing files in all modes.
    Edit,
    /// Reading, searching and outlining files.
    Look,
    /// Replacing an exactly quoted text.
    Text,
    /// Replacing a block of code that may be quoted inexactly.
    Code,
    /// Editing by an instruction in words.
    Ai,
    /// Files and entities, with the same tools.
    Content,
    /// The edit history and redo.
    History,
    /// Deprecated tools for older clients.
    Legacy,
}

impl Toolset {
    /// All toolsets in the order of the documentation.
    pub const ALL: [Toolset; 8] = [
        Toolset::Edit,
        Toolset::Look,
        Toolset::Text,
        Toolset::Code,
        Toolset::Ai,
        Toolset::Content,
        Toolset::History,
        Toolset::Legacy,
    ];

    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Toolset::Edit => "edit",
            Toolset::Look => "look",
            Toolset::Text => "text",
            Toolset::Code => "code",
            Toolset::Ai => "ai",
            Toolset::Content => "content",
            Toolset::History => "history",
            Toolset::Legacy => "legacy",
        }
    }
}
