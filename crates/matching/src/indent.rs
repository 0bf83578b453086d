//! Rules that map the indentation of a quoted block to that of the file.

/// The possible widths of a tab, in blanks.
const WIDTHS: [usize; 4] = [4, 2, 8, 3];
/// Conversions of the indentation unit, in blanks: from, to.
const UNITS: [(usize, usize); 4] = [(2, 4), (4, 2), (4, 8), (8, 4)];

/// The conversion of an indentation before the whole block is shifted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IndentChange {
    Same,
    /// Each other blank, such as a no-break space, becomes a plain one; tabs stay.
    Plain,
    /// Each tab becomes this many blanks.
    Blanks(usize),
    /// This many blanks become a tab.
    Tabs(usize),
    /// One unit of blanks becomes another.
    Unit(usize, usize),
}

impl IndentChange {
    fn all() -> impl Iterator<Item = IndentChange> {
        [IndentChange::Same, IndentChange::Plain]
            .into_iter()
            .chain(WIDTHS.into_iter().map(IndentChange::Blanks))
            .chain(WIDTHS.into_iter().map(IndentChange::Tabs))
            .chain(UNITS.into_iter().map(|(from, to)| IndentChange::Unit(from, to)))
    }

    fn apply(self, indent: &str) -> Option<String> {
        match self {
            IndentChange::Same => Some(indent.to_owned()),
            IndentChange::Plain => {
                Some(indent.replace(|blank: char| blank.is_whitespace() && blank != '\t', " "))
            }
            IndentChange::Blanks(width) => Some(indent.replace('\t', &" ".repeat(width))),
            IndentChange::Tabs(width) => {
                let blanks = blanks(indent)?;
                Some("\t".repeat(blanks / width) + &" ".repeat(blanks % width))
            }
            IndentChange::Unit(from, to) => {
                let blanks = blanks(indent)?;
                (blanks % from == 0).then(|| " ".repeat(blanks / from * to))
            }
        }
    }
}

/// Returns the number of blanks, or `None` if there are other characters.
fn blanks(indent: &str) -> Option<usize> {
    indent.bytes().all(|byte| byte == b' ').then_some(indent.len())
}

/// The shift of the whole block.
#[derive(Debug, Clone, PartialEq, Eq)]
enum IndentShift {
    /// The file has this additional prefix.
    Deeper(String),
    /// The quoted block has this additional prefix.
    Flatter(String),
}

/// One rule for all lines of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IndentMap {
    change: IndentChange,
    shift: IndentShift,
}

impl IndentMap {
    /// Returns true if it changes nothing.
    pub(super) fn is_same(&self) -> bool {
        *self == IndentMap { change: IndentChange::Same, shift: IndentShift::Deeper(String::new()) }
    }

    /// Returns true if it converts the unit of indentation.
    pub(super) fn changes_unit(&self) -> bool {
        matches!(self.change, IndentChange::Unit(..))
    }

    /// Returns true if it converts the characters of the indentation.
    pub(super) fn converts_chars(&self) -> bool {
        self.change != IndentChange::Same
    }

    /// Finds the first rule that explains all pairs of an indentation in the quoted block and in the file. Where the
    /// indentation differs, a rule that also maps all `indents`, using only the file's own kind of blanks, is preferred.
    pub(super) fn explaining(pairs: &[(&str, &str)], indents: &[&str]) -> Option<IndentMap> {
        let mut maps = IndentChange::all().filter_map(|change| IndentMap::with(change, pairs));
        let first = maps.next()?;
        if indents.is_empty() || first.is_same() {
            return Some(first);
        }
        let maps: Vec<IndentMap> = std::iter::once(first).chain(maps).collect();
        let native = |map: &&IndentMap| {
            indents.iter().all(|other| map.apply(other).is_some_and(|indent| is_native(&indent, pairs)))
        };
        maps.iter().find(native).or(maps.first()).cloned()
    }

    fn with(change: IndentChange, pairs: &[(&str, &str)]) -> Option<IndentMap> {
        let (first, file) = pairs.first()?;
        let first = change.apply(first)?;
        let shift = match (file.strip_suffix(first.as_str()), first.strip_suffix(file)) {
            (Some(more), _) => IndentShift::Deeper(more.to_owned()),
            (None, Some(more)) => IndentShift::Flatter(more.to_owned()),
            (None, None) => return None,
        };
        let map = IndentMap { change, shift };
        let explains = |(old, new): &(&str, &str)| map.apply(old).as_deref() == Some(*new);
        pairs.iter().all(explains).then_some(map)
    }

    /// Maps an indentation of the quoted block to the file's; `None` if the rule does not apply.
    pub(super) fn apply(&self, indent: &str) -> Option<String> {
        let converted = self.change.apply(indent)?;
        match &self.shift {
            IndentShift::Deeper(more) => Some(format!("{more}{converted}")),
            IndentShift::Flatter(more) => converted.strip_prefix(more.as_str()).map(str::to_owned),
        }
    }
}

/// Returns true if an indentation uses the same blanks as the file's lines here, if any of these is indented.
fn is_native(indent: &str, pairs: &[(&str, &str)]) -> bool {
    let used = |sign: char| pairs.iter().any(|(_, file)| file.contains(sign));
    !used(' ') && !used('\t') || indent.chars().all(used)
}

/// Returns the white space at the beginning of a line.
pub(super) fn indent_of(line: &str) -> &str {
    line.split_at_checked(line.len() - line.trim_start().len()).map_or("", |(indent, _)| indent)
}

/// Returns the white space at the end of a line.
pub(super) fn trail_of(line: &str) -> &str {
    line.split_at_checked(line.trim_end().len()).map_or("", |(_, trail)| trail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapped(pairs: &[(&str, &str)], indent: &str) -> Option<String> {
        IndentMap::explaining(pairs, &[indent]).and_then(|map| map.apply(indent))
    }

    #[test]
    fn a_block_is_moved_as_a_whole() {
        assert_eq!(mapped(&[("", "    "), ("    ", "        ")], "  ").as_deref(), Some("      "));
        assert_eq!(
            mapped(&[("    ", ""), ("        ", "    ")], "            ").as_deref(),
            Some("        ")
        );
        assert_eq!(mapped(&[("   ", " ")], ""), None, "flatter than that is not known");
    }

    #[test]
    fn tabs_become_blanks_and_back() {
        assert_eq!(
            mapped(&[("\t", "    "), ("\t\t", "        ")], "\t\t\t").as_deref(),
            Some("            ")
        );
        assert_eq!(mapped(&[("  ", "\t"), ("    ", "\t\t")], "      ").as_deref(), Some("\t\t\t"));
        assert_eq!(mapped(&[("", "\t"), ("    ", "\t\t")], "        ").as_deref(), Some("\t\t\t"));
    }

    #[test]
    fn no_break_spaces_become_blanks() {
        let pairs = [("\u{a0}\u{a0}", "    "), ("\u{a0}\u{2007}\u{a0}\u{a0}", "      ")];
        assert_eq!(mapped(&pairs, "\u{a0}\u{a0} \u{a0}").as_deref(), Some("      "));
        assert_eq!(mapped(&[("\u{a0}", "\t")], ""), None);
        assert_eq!(mapped(&[("\u{a0}", "\u{a0}")], "\u{a0}").as_deref(), Some("\u{a0}"));
    }

    #[test]
    fn another_unit_is_understood() {
        assert_eq!(
            mapped(&[("  ", "    "), ("    ", "        ")], "      ").as_deref(),
            Some("            ")
        );
        assert_eq!(mapped(&[("    ", "  "), ("        ", "    ")], "").as_deref(), Some(""));
    }

    #[test]
    fn no_rule_is_no_map() {
        assert_eq!(IndentMap::explaining(&[("", "  "), ("", "    ")], &[]), None);
        assert_eq!(IndentMap::explaining(&[(" ", "\t"), ("  ", "    ")], &[]), None);
    }

    #[test]
    fn a_rule_that_keeps_to_the_file_s_own_blanks_is_preferred() {
        assert_eq!(mapped(&[("", "\t")], "    ").as_deref(), Some("\t\t"));
        // The control: nothing is to be mapped where the quoted indentation is that of the file.
        assert_eq!(mapped(&[("", ""), (" ", " ")], "\t").as_deref(), Some("\t"));
    }
}
