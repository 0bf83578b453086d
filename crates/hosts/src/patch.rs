//! The format of `apply_patch`: files to add, delete and update, in one text.
//!
//! It is read as Codex reads it, which tolerates blanks around markers, a missing first `@@`, and a heredoc around the
//! patch.
//!
//! Invariant: reading fails on a text that Codex would not apply; nothing is guessed.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::{Component, Path, PathBuf};

use lockgate_error::{Code, Error};

const BEGIN: &str = "*** Begin Patch";
const ENVIRONMENT: &str = "*** Environment ID: ";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File: ";
const DELETE: &str = "*** Delete File: ";
const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";
const END_OF_FILE: &str = "*** End of File";

/// A patch: the changes of several files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// The id of the environment that Codex applies it in, if the patch names one.
    pub environment: Option<String>,
    /// The changes, in their order; at least one.
    pub files: Vec<FilePatch>,
}

/// The change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch {
    /// The path, as the patch has it.
    pub path: String,
    /// The change to the file.
    pub change: PatchChange,
}

/// What a patch does to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatchChange {
    /// Creates the file with this text, or overwrites it.
    Add(String),
    /// The patch deletes the file.
    Delete,
    /// Replaces lines of the file.
    Update {
        /// The new path, if the file is moved.
        move_to: Option<String>,
        /// The replaced lines, in the order of the file.
        chunks: Vec<Chunk>,
    },
}

impl PatchChange {
    /// Returns the new path, if the file is moved.
    pub fn move_to(&self) -> Option<&str> {
        match self {
            PatchChange::Update { move_to, .. } => move_to.as_deref(),
            PatchChange::Add(_) | PatchChange::Delete => None,
        }
    }
}

/// Consecutive lines of a file, before and after.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chunk {
    /// A line above the chunk that narrows its place, such as a function's first line.
    pub header: Option<String>,
    /// The lines, in the order of the patch.
    pub lines: Vec<ChunkLine>,
    /// Set when the chunk ends with the file.
    pub at_end: bool,
    /// Set for the first chunk of a joined section, which may be anywhere in the file; any other is below the one before.
    pub starts_section: bool,
}

/// A line of a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChunkLine {
    /// A line that stays as it is in the file.
    Context(String),
    /// A line that goes.
    Removed(String),
    /// A new line.
    Added(String),
}

impl ChunkLine {
    /// The text, without the mark and the line end.
    pub fn text(&self) -> &str {
        match self {
            ChunkLine::Context(text) | ChunkLine::Removed(text) | ChunkLine::Added(text) => text,
        }
    }
}

impl Chunk {
    /// The lines before: context and removed lines.
    pub fn old(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().filter_map(|line| match line {
            ChunkLine::Context(text) | ChunkLine::Removed(text) => Some(text.as_str()),
            ChunkLine::Added(_) => None,
        })
    }

    /// The lines after: context and added lines.
    pub fn new_lines(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().filter_map(|line| match line {
            ChunkLine::Context(text) | ChunkLine::Added(text) => Some(text.as_str()),
            ChunkLine::Removed(_) => None,
        })
    }
}

impl Chunk {
    /// Returns the chunk without a header that is line numbers, as in `@@ -12,7 +12,8 @@` of a unified diff. A chunk that
    /// quotes nothing keeps it: it would be added at the end of the file.
    #[must_use]
    pub(super) fn without_line_numbers(&self) -> Chunk {
        let mut chunk = self.clone();
        if self.old().next().is_some() {
            chunk.header.take_if(|header| has_line_numbers(header));
        }
        chunk
    }
}

/// True for a header that begins as `-12,7 +12,8 @@`.
fn has_line_numbers(header: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let is_range = |word: &str, sign: char| {
        let numbers = word.strip_prefix(sign);
        numbers.is_some_and(|numbers| numbers.splitn(2, ',').all(is_number))
    };
    let mut words = header.split(' ');
    words.next().is_some_and(|word| is_range(word, '-'))
        && words.next().is_some_and(|word| is_range(word, '+'))
        && words.next() == Some("@@")
}

impl Patch {
    /// Parses a patch; a heredoc around it is removed.
    ///
    /// Errors: the reason, with the number of the line.
    pub fn parse(text: &str) -> Result<Patch, String> {
        let lines: Vec<&str> = text.trim().lines().collect();
        let lines = within_markers(&lines).or_else(|error| within_heredoc(&lines).ok_or(error))?;
        let mut reader = Reader { lines, at: 0 };
        let environment = reader.peek().and_then(|line| line.trim().strip_prefix(ENVIRONMENT));
        reader.at += usize::from(environment.is_some());
        let mut files = Vec::new();
        while let Some(line) = reader.peek() {
            files.push(reader.file(line.trim())?);
        }
        let environment = environment.map(str::to_owned);
        if files.is_empty() {
            Err("the patch changes no file".to_owned())
        } else {
            Ok(Patch { environment, files })
        }
    }

    /// Joins the updates of each file, which then all refer to its text before the patch.
    ///
    /// Errors: `INVALID_INPUT` for a file with several sections of which one adds, deletes or moves it.
    pub fn with_joined_updates(self) -> Result<Patch, Error> {
        let Patch { environment, files: sections } = self;
        let mut files: Vec<FilePatch> = Vec::new();
        // The first section of each file.
        let mut first: HashMap<PathBuf, usize> = HashMap::new();
        for FilePatch { path, change } in sections {
            let at = *first.entry(names(&path).collect()).or_insert(files.len());
            match (files.get_mut(at).map(|known| &mut known.change), change) {
                (
                    Some(PatchChange::Update { move_to: None, chunks }),
                    PatchChange::Update { move_to: None, chunks: mut more },
                ) => {
                    more.first_mut().into_iter().for_each(|first| first.starts_section = true);
                    chunks.extend(more);
                }
                (_, change) => files.push(FilePatch { path, change }),
            }
        }
        let patch = Patch { environment, files };
        match patch.repeated_path() {
            None => Ok(patch),
            Some(path) => {
                let message =
                    format!("the patch has several sections for {path}, and not all of them are updates");
                let hint =
                    "give one section for each file: `*** Add File` also replaces the whole text of a file";
                Err(Error::new(Code::InvalidInput, message).hint(hint))
            }
        }
    }

    /// Returns a path that the patch names twice.
    fn repeated_path(&self) -> Option<&str> {
        let mut known: HashSet<PathBuf> = HashSet::new();
        self.paths().into_iter().find(|path| !known.insert(names(path).collect()))
    }

    /// Returns the paths that the patch names, in its order.
    pub fn paths(&self) -> Vec<&str> {
        let paths = self.files.iter().flat_map(|file| [Some(file.path.as_str()), file.change.move_to()]);
        paths.flatten().collect()
    }

    /// Parses the patch in a shell command that is nothing but `apply_patch` with a heredoc, after `cd` or not.
    /// Returns it with the folder that the command changes to; `None` for any other command.
    pub fn in_command(command: &str) -> Option<(Option<String>, Result<Patch, String>)> {
        let command = command.trim();
        let (folder, call) = match command.strip_prefix("cd ") {
            Some(rest) => {
                let (folder, call) = rest.split_once("&&")?;
                (Some(unquoted(folder.trim())?), call.trim_start())
            }
            None => (None, command),
        };
        let rest = call.strip_prefix("apply_patch").or_else(|| call.strip_prefix("applypatch"))?;
        let rest = rest.trim_start().strip_prefix("<<")?;
        let (word, body) = rest.split_once('\n')?;
        // After `<<-`, the shell removes the tabs at the start of the lines.
        let tabs: &[char] = if word.starts_with('-') { &['\t'] } else { &[] };
        let word = word.strip_prefix('-').unwrap_or(word).trim();
        let end = word.trim_matches(['\'', '"']);
        let is_plain = !end.is_empty() && end.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
        let lines: Vec<&str> = body.lines().map(|line| line.trim_start_matches(tabs)).collect();
        let stop = lines.iter().position(|line| *line == end).unwrap_or(lines.len());
        // Anything after the heredoc is another command, whose effect is not known.
        let is_alone = lines.iter().skip(stop + 1).all(|line| line.trim().is_empty());
        // Without quotes, the shell expands the text.
        let expands = word == end && lines.iter().take(stop).any(|line| line.contains(['$', '`', '\\']));
        if !is_plain || !is_alone || expands {
            return None;
        }
        Some((folder, Patch::parse(&lines.get(..stop)?.join("\n"))))
    }
}

/// Returns the paths that lines of a text name as the headers of a patch do, also if the text is no patch that can be read.
pub(super) fn header_paths(text: &str) -> Vec<String> {
    let headers = text.lines().filter_map(|line| {
        let line = line.trim();
        [ADD, DELETE, UPDATE, MOVE].iter().find_map(|mark| line.strip_prefix(mark))
    });
    headers.map(str::to_owned).collect()
}

/// True if two paths have the same names: `./a` is `a`.
pub(super) fn is_same_path(one: &str, other: &str) -> bool {
    names(one).eq(names(other))
}

fn names(path: &str) -> impl Iterator<Item = Component<'_>> {
    Path::new(path).components().filter(|name| *name != Component::CurDir)
}

/// Writes the patch in its format.
impl fmt::Display for Patch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{BEGIN}")?;
        if let Some(environment) = &self.environment {
            writeln!(f, "{ENVIRONMENT}{environment}")?;
        }
        for FilePatch { path, change } in &self.files {
            match change {
                PatchChange::Add(text) => {
                    writeln!(f, "{ADD}{path}")?;
                    text.lines().try_for_each(|line| writeln!(f, "+{line}"))?;
                }
                PatchChange::Delete => writeln!(f, "{DELETE}{path}")?,
                PatchChange::Update { move_to, chunks } => {
                    writeln!(f, "{UPDATE}{path}")?;
                    if let Some(to) = move_to {
                        writeln!(f, "{MOVE}{to}")?;
                    }
                    chunks.iter().try_for_each(|chunk| write!(f, "{chunk}"))?;
                }
            }
        }
        write!(f, "{END}")
    }
}

/// Writes the chunk as it stands in a patch.
impl fmt::Display for Chunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.header {
            Some(header) => writeln!(f, "@@ {header}")?,
            None => writeln!(f, "@@")?,
        }
        for line in &self.lines {
            match line {
                ChunkLine::Context(text) => writeln!(f, " {text}")?,
                ChunkLine::Removed(text) => writeln!(f, "-{text}")?,
                ChunkLine::Added(text) => writeln!(f, "+{text}")?,
            }
        }
        if self.at_end { writeln!(f, "{END_OF_FILE}") } else { Ok(()) }
    }
}

/// Returns the lines between the markers of a patch.
fn within_markers<'a, 't>(lines: &'a [&'t str]) -> Result<&'a [&'t str], String> {
    match lines {
        [first, inner @ .., last] if first.trim() == BEGIN && last.trim() == END => Ok(inner),
        [first, ..] if first.trim() == BEGIN => Err(format!("the last line of the patch is not `{END}`")),
        _ => Err(format!("the first line of the patch is not `{BEGIN}`")),
    }
}

/// Returns the lines of a patch in a heredoc that no shell has read.
fn within_heredoc<'a, 't>(lines: &'a [&'t str]) -> Option<&'a [&'t str]> {
    match lines {
        ["<<EOF" | "<<'EOF'" | "<<\"EOF\"", inner @ .., last] if last.ends_with("EOF") => {
            within_markers(inner).ok()
        }
        _ => None,
    }
}

/// Returns a word of a shell command without its quotes; `None` if it is more than one word.
fn unquoted(word: &str) -> Option<String> {
    let quoted = |mark: char| word.strip_prefix(mark)?.strip_suffix(mark);
    let inner = quoted('\'').or_else(|| quoted('"').filter(|inner| !inner.contains(['$', '`', '\\'])));
    match inner {
        Some(inner) if !inner.contains(['\'', '"']) => Some(inner.to_owned()),
        Some(_) => None,
        None => (!word.is_empty()
            && !word.contains(|c: char| c.is_whitespace() || "'\"$`\\;|&<>(){}*?~".contains(c)))
        .then(|| word.to_owned()),
    }
}

struct Reader<'a, 't> {
    lines: &'a [&'t str],
    at: usize,
}

impl<'t> Reader<'_, 't> {
    fn peek(&self) -> Option<&'t str> {
        self.lines.get(self.at).copied()
    }

    fn fail<T>(&self, reason: &str) -> Result<T, String> {
        // The first line is the marker.
        Err(format!("line {} of the patch: {reason}", self.at + 2))
    }

    /// Reads the section of a file, whose first line is `header`.
    fn file(&mut self, header: &str) -> Result<FilePatch, String> {
        let (path, change) = if let Some(path) = header.strip_prefix(ADD) {
            self.at += 1;
            (path, PatchChange::Add(self.added_text()))
        } else if let Some(path) = header.strip_prefix(DELETE) {
            self.at += 1;
            (path, PatchChange::Delete)
        } else if let Some(path) = header.strip_prefix(UPDATE) {
            self.at += 1;
            (path, self.update(path)?)
        } else {
            return self.fail("expected `*** Add File: `, `*** Delete File: ` or `*** Update File: `");
        };
        Ok(FilePatch { path: path.to_owned(), change })
    }

    /// Reads the lines of a new file.
    fn added_text(&mut self) -> String {
        let mut text = String::new();
        while let Some(line) = self.peek().and_then(|line| line.strip_prefix('+')) {
            text = text + line + "\n";
            self.at += 1;
        }
        text
    }

    /// Reads the new path and the chunks of an update of the file at this path.
    fn update(&mut self, path: &str) -> Result<PatchChange, String> {
        let move_to = self.peek().and_then(|line| line.strip_prefix(MOVE)).map(str::to_owned);
        self.at += usize::from(move_to.is_some());
        let mut chunks = Vec::new();
        while let Some(line) = self.peek() {
            if line.trim().is_empty() {
                self.at += 1;
            } else if line.starts_with("***") {
                break;
            } else {
                chunks.push(self.chunk(chunks.len())?);
            }
        }
        if chunks.is_empty() {
            return self
                .fail("the update has no lines; one unchanged line after a blank is enough to move a file");
        }
        let move_to = move_to.filter(|to| !is_same_path(to, path));
        Ok(PatchChange::Update { move_to, chunks })
    }

    /// Reads a chunk; the first of a file needs no `@@`.
    fn chunk(&mut self, index: usize) -> Result<Chunk, String> {
        let mut chunk = Chunk::default();
        match self.peek() {
            Some(line) if line.trim_end() == "@@" => self.at += 1,
            Some(line) if line.starts_with("@@ ") => {
                chunk.header = line.strip_prefix("@@ ").map(str::to_owned);
                self.at += 1;
            }
            _ if index == 0 => {}
            _ => return self.fail("expected `@@`"),
        }
        let start = self.at;
        while let Some(line) = self.peek() {
            let mut characters = line.chars();
            match (line, characters.next()) {
                (END_OF_FILE, _) if self.at > start => {
                    chunk.at_end = true;
                    self.at += 1;
                    break;
                }
                (_, None) => chunk.lines.push(ChunkLine::Context(String::new())),
                (_, Some(' ')) => chunk.lines.push(ChunkLine::Context(characters.as_str().to_owned())),
                (_, Some('+')) => chunk.lines.push(ChunkLine::Added(characters.as_str().to_owned())),
                (_, Some('-')) => chunk.lines.push(ChunkLine::Removed(characters.as_str().to_owned())),
                _ if self.at > start => break,
                _ => return self.fail("expected a line that begins with a blank, `+` or `-`"),
            }
            self.at += 1;
        }
        if self.at == start { self.fail("the chunk has no lines") } else { Ok(chunk) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "*** Begin Patch\n*** Add File: new/a.txt\n+one\n+\n*** Update File: b.py\n*** Move to: c.py\n@@ def f():\n     x\n-    y\n+    z\n@@\n last\n+end\n*** End of File\n*** Delete File: d\n*** End Patch";

    #[test]
    fn a_move_to_the_same_path_is_no_move() {
        for (to, expected) in [("a", None), ("./a", None), ("b", Some("b"))] {
            let text = format!("*** Begin Patch\n*** Update File: a\n*** Move to: {to}\n x\n*** End Patch");
            assert_eq!(Patch::parse(&text).unwrap().files[0].change.move_to(), expected);
        }
    }

    #[test]
    fn a_patch_is_read_and_written_again() {
        let patch = Patch::parse(TEXT).unwrap();
        assert_eq!(patch.files.len(), 3);
        assert_eq!(patch.files[0].change, PatchChange::Add("one\n\n".to_owned()));
        let PatchChange::Update { move_to, chunks } = &patch.files[1].change else { panic!("{patch:?}") };
        assert_eq!((move_to.as_deref(), chunks.len(), chunks[1].at_end), (Some("c.py"), 2, true));
        assert_eq!(chunks[0].old().collect::<Vec<_>>(), ["    x", "    y"]);
        assert_eq!(chunks[0].new_lines().collect::<Vec<_>>(), ["    x", "    z"]);
        assert_eq!(patch.to_string(), TEXT);
        assert_eq!(Patch::parse(&format!("<<'EOF'\n{TEXT}\nEOF\n")).unwrap(), patch);
        assert_eq!(Patch::parse(&format!("\n  {TEXT}  \n\n")).unwrap(), patch);
    }

    #[test]
    fn the_environment_of_a_patch_is_kept() {
        let text = TEXT.replacen(BEGIN, "*** Begin Patch\n*** Environment ID: local", 1);
        let patch = Patch::parse(&text).unwrap();
        assert_eq!(patch, Patch { environment: Some("local".to_owned()), ..Patch::parse(TEXT).unwrap() });
        assert_eq!(patch.to_string(), text);
    }

    #[test]
    fn the_headers_of_a_text_that_is_no_patch_are_found() {
        let text = TEXT.replace("@@ def f():", "what").replace("*** Update", "  *** Update");
        assert!(Patch::parse(&text).is_err());
        assert_eq!(header_paths(&text), ["new/a.txt", "b.py", "c.py", "d"]);
    }

    #[test]
    fn the_updates_of_a_file_are_joined() {
        let parse = |sections: &str| {
            let text = format!("*** Begin Patch\n{sections}*** End Patch");
            Patch::parse(&text).unwrap().with_joined_updates().map_err(|error| error.message)
        };
        let update = |path: &str, line: &str| format!("*** Update File: {path}\n@@\n-{line}\n+new\n");
        let joined = parse(&[update("a", "1"), update("b", "2"), update("./a", "3")].concat()).unwrap();
        assert_eq!(joined.paths(), ["a", "b"]);
        let PatchChange::Update { chunks, .. } = &joined.files[0].change else { panic!("{joined}") };
        assert_eq!(chunks.iter().flat_map(Chunk::old).collect::<Vec<_>>(), ["1", "3"]);
        let moved = update("a", "1").replace("@@", "*** Move to: b\n@@");
        let (add, delete) = ("*** Add File: a\n+x\n".to_owned(), "*** Delete File: a\n".to_owned());
        for (sections, path) in [
            ([&delete, &add], "a"),
            ([&add, &update("a", "1")], "a"),
            ([&update("a", "1"), &delete], "a"),
            ([&update("a", "1"), &moved], "a"),
            ([&moved, &update("b", "1")], "b"),
            ([&moved, &update("./b", "1")], "./b"),
        ] {
            let error = parse(&sections.map(String::as_str).concat()).unwrap_err();
            let message =
                format!("the patch has several sections for {path}, and not all of them are updates");
            assert_eq!(error, message);
        }
    }

    #[test]
    fn what_is_no_patch_is_refused_with_its_line() {
        for (text, expected) in [
            ("", "first line"),
            ("*** Begin Patch", "last line"),
            ("*** Begin Patch\n*** Delete File: a", "last line"),
            ("*** Begin Patch\n*** End Patch", "no file"),
            (
                "*** Begin Patch\n*** Update File: a\n*** End Patch",
                "line 3 of the patch: the update has no lines",
            ),
            ("*** Begin Patch\n*** Update File: a\n@@\n*** End Patch", "the chunk has no lines"),
            ("*** Begin Patch\n*** Update File: a\n@@\nx\n*** End Patch", "line 4"),
            ("*** Begin Patch\nwhat\n*** End Patch", "line 2"),
            ("*** Begin Patch\n*** Update File: a\n x\nwhat\n*** End Patch", "expected `@@`"),
        ] {
            let error = Patch::parse(text).unwrap_err();
            assert!(error.contains(expected), "{text:?}: {error}");
        }
    }

    #[test]
    fn a_command_is_read_only_if_it_is_nothing_else() {
        let heredoc = |before: &str, word: &str, after: &str| {
            format!("{before}apply_patch <<{word}\n{TEXT}\n{}\n{after}", word.trim_matches(['\'', '"']))
        };
        for (command, folder) in [
            (heredoc("", "'EOF'", ""), None),
            (heredoc("cd sub && ", "\"PATCH\"", "\n"), Some("sub")),
            (heredoc("cd 'a b' && ", "EOF", ""), Some("a b")),
            (heredoc("", "'PATCH-1'", ""), None),
            (heredoc("", "'EOF'", "").replace("<<", "<<-").replace('\n', "\n\t"), None),
        ] {
            let (found, patch) = Patch::in_command(&command).unwrap();
            assert_eq!((found.as_deref(), patch), (folder, Patch::parse(TEXT)), "{command}");
        }
        for command in [
            "ls".to_owned(),
            "apply_patch".to_owned(),
            heredoc("echo x; ", "'EOF'", ""),
            heredoc("", "'EOF'", "rm -rf x"),
            heredoc("cd $HOME && ", "'EOF'", ""),
            heredoc("", "EOF", "").replace("+one", "+$one"),
            heredoc("", "'EOF'", "rm -rf x").replace("<<", "<<-").replace("\nEOF", "\n\tEOF"),
            "apply_patch <<'$(x)'\n*** Begin Patch".to_owned(),
        ] {
            assert!(Patch::in_command(&command).is_none(), "{command}");
        }
    }
}
