//! A search as anybody would write it: every file is read, every line is matched.

use serde_json::Value;

/// What is searched for.
#[derive(Debug, Clone)]
pub struct SearchQuery {
    /// The pattern.
    pub pattern: String,
    /// Lines around each match.
    pub context: usize,
    /// The most matches that are shown.
    pub most: usize,
}

/// A match with the lines around it.
#[derive(Debug, PartialEq, Eq)]
pub struct FileHits {
    path: String,
    line: u64,
    text: String,
    before: Vec<String>,
    after: Vec<String>,
}

impl SearchQuery {
    /// The first matches in files of these names and bytes, and how many there are.
    pub fn search(&self, tree: &[(String, Vec<u8>)]) -> (Vec<FileHits>, usize) {
        let pattern = regex::Regex::new(&self.pattern).unwrap();
        let mut found = Vec::new();
        for (path, bytes) in tree {
            let text = String::from_utf8(bytes.clone()).unwrap();
            let lines: Vec<&str> =
                text.split_inclusive('\n').map(|line| line.strip_suffix('\n').unwrap_or(line)).collect();
            let has_line_end = text.split_inclusive('\n').map(|line| line.ends_with('\n'));
            let lines: Vec<&str> = lines
                .into_iter()
                .zip(has_line_end)
                .map(
                    |(line, has_line_end)| {
                        if has_line_end { line.strip_suffix('\r').unwrap_or(line) } else { line }
                    },
                )
                .collect();
            let row = |at: usize| format!("{}: {}", at + 1, lines[at]);
            for (at, line) in lines.iter().enumerate().filter(|(_, line)| pattern.is_match(line)) {
                found.push(FileHits {
                    path: path.clone(),
                    line: at as u64 + 1,
                    text: (*line).to_owned(),
                    before: (at.saturating_sub(self.context)..at).map(row).collect(),
                    after: (at + 1..lines.len().min(at + 1 + self.context)).map(row).collect(),
                });
            }
        }
        let total = found.len();
        found.truncate(self.most);
        (found, total)
    }
}

impl FileHits {
    /// The match that an answer tells.
    pub fn from_json(response: &Value) -> FileHits {
        let rows = |key: &str| {
            response[key].as_array().unwrap().iter().map(|row| row.as_str().unwrap().to_owned()).collect()
        };
        FileHits {
            path: response["path"].as_str().unwrap().to_owned(),
            line: response["line_number"].as_u64().unwrap(),
            text: response["match"].as_str().unwrap().to_owned(),
            before: rows("context_before"),
            after: rows("context_after"),
        }
    }
}
