//! What sorts of entities there are, and whose each is.

/// Whose an entity is, by its sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Owner {
    /// That of its app: its key is `app_id` and `path`.
    App,
    /// An organisation's, or nobody's: its key is `path` and perhaps `organization_id`.
    Organization,
    /// Nobody's: its key is `path`.
    Global,
}

/// The most bytes of an id.
const LONGEST_ID: usize = 128;

/// Whether a text can be the id of an app or of an organisation.
pub fn is_id(text: &str) -> bool {
    (1..=LONGEST_ID).contains(&text.len()) && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_short_and_can_be_shown() {
        for id in ["1", "acme", "a b/c", "\u{e9}", &"x".repeat(128)] {
            assert!(is_id(id), "{id}");
        }
        for text in ["", "a\n", "\0", "\u{1b}[m", "\u{85}", &"x".repeat(129), &"\u{e9}".repeat(65)] {
            assert!(!is_id(text), "{text:?}");
        }
    }
}
