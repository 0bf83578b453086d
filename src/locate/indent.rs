//! Which one rule leads from the indentation of a quoted block to that of the file.

/// How wide a tab may be, in blanks.
const WIDTHS: [usize; 4] = [4, 2, 8, 3];
/// Changes of the unit of indentation, in blanks: from, to.
const UNITS: [(usize, usize); 4] = [(2, 4), (4, 2), (4, 8), (8, 4)];

/// What becomes of an indentation before the block is moved as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IndentChange {
    /// Nothing.
    Same,
    /// Each tab becomes so many blanks.
    Blanks(usize),
    /// So many blanks become a tab.
    Tabs(usize),
    /// One unit of blanks becomes another.
    Unit(usize, usize),
}

impl IndentChange {
    fn all() -> impl Iterator<Item = IndentChange> {
        std::iter::once(IndentChange::Same)
            .chain(WIDTHS.into_iter().map(IndentChange::Blanks))
            .chain(WIDTHS.into_iter().map(IndentChange::Tabs))
            .chain(UNITS.into_iter().map(|(from, to)| IndentChange::Unit(from, to)))
    }

    fn apply(self, indent: &str) -> Option<String> {
        match self {
            IndentChange::Same => Some(indent.to_owned()),
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

/// The number of blanks, where there is nothing else.
fn blanks(indent: &str) -> Option<usize> {
    indent.bytes().all(|byte| byte == b' ').then_some(indent.len())
}

/// How the block as a whole is moved.
#[derive(Debug, Clone, PartialEq, Eq)]
enum IndentShift {
    /// The file has this in front.
    Deeper(String),
    /// The quoted block has this in front.
    Flatter(String),
}

/// One rule for all lines of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Map {
    turn: IndentChange,
    shift: IndentShift,
}

impl Map {
    /// Returns true if it changes nothing.
    pub(super) fn is_same(&self) -> bool {
        *self == Map { turn: IndentChange::Same, shift: IndentShift::Deeper(String::new()) }
    }

    /// Returns true if it takes another unit of indentation.
    pub(super) fn changes_unit(&self) -> bool {
        matches!(self.turn, IndentChange::Unit(..))
    }

    /// Returns true if it makes other blanks of those that indent the block.
    pub(super) fn turns(&self) -> bool {
        self.turn != IndentChange::Same
    }

    /// Finds the first rule that explains all pairs of an indentation in the quoted block and in the file; of those
    /// that do, one that also tells what becomes of all `others` without a blank that the file does not use there.
    pub(super) fn explaining(pairs: &[(&str, &str)], others: &[&str]) -> Option<Map> {
        let mut maps = IndentChange::all().filter_map(|turn| Map::with(turn, pairs));
        if others.is_empty() {
            return maps.next();
        }
        let maps: Vec<Map> = maps.collect();
        let native = |map: &&Map| {
            others.iter().all(|other| map.apply(other).is_some_and(|indent| is_native(&indent, pairs)))
        };
        maps.iter().find(native).or(maps.first()).cloned()
    }

    fn with(turn: IndentChange, pairs: &[(&str, &str)]) -> Option<Map> {
        let (first, file) = pairs.first()?;
        let first = turn.apply(first)?;
        let shift = match (file.strip_suffix(first.as_str()), first.strip_suffix(file)) {
            (Some(more), _) => IndentShift::Deeper(more.to_owned()),
            (None, Some(more)) => IndentShift::Flatter(more.to_owned()),
            (None, None) => return None,
        };
        let map = Map { turn, shift };
        let explains = |(old, new): &(&str, &str)| map.apply(old).as_deref() == Some(*new);
        pairs.iter().all(explains).then_some(map)
    }

    /// Returns the indentation in the file for one of the quoted block; nothing where the rule does not reach.
    pub(super) fn apply(&self, indent: &str) -> Option<String> {
        let turned = self.turn.apply(indent)?;
        match &self.shift {
            IndentShift::Deeper(more) => Some(format!("{more}{turned}")),
            IndentShift::Flatter(more) => turned.strip_prefix(more.as_str()).map(str::to_owned),
        }
    }
}

/// Returns true if an indentation is made of what indents the file's lines here, as far as any of them is indented.
fn is_native(indent: &str, pairs: &[(&str, &str)]) -> bool {
    let used = |sign: char| pairs.iter().any(|(_, file)| file.contains(sign));
    !used(' ') && !used('\t') || indent.chars().all(used)
}

/// The white space at the beginning of a line.
pub(super) fn indent_of(line: &str) -> &str {
    line.split_at_checked(line.len() - line.trim_start().len()).map_or("", |(indent, _)| indent)
}

/// The white space at the end of a line.
pub(super) fn trail_of(line: &str) -> &str {
    line.split_at_checked(line.trim_end().len()).map_or("", |(_, trail)| trail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapped(pairs: &[(&str, &str)], indent: &str) -> Option<String> {
        Map::explaining(pairs, &[indent]).and_then(|map| map.apply(indent))
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
    fn another_unit_is_understood() {
        assert_eq!(
            mapped(&[("  ", "    "), ("    ", "        ")], "      ").as_deref(),
            Some("            ")
        );
        assert_eq!(mapped(&[("    ", "  "), ("        ", "    ")], "").as_deref(), Some(""));
    }

    #[test]
    fn no_rule_is_no_map() {
        assert_eq!(Map::explaining(&[("", "  "), ("", "    ")], &[]), None);
        assert_eq!(Map::explaining(&[(" ", "\t"), ("  ", "    ")], &[]), None);
    }

    #[test]
    fn a_rule_that_keeps_to_the_file_s_own_blanks_is_preferred() {
        assert_eq!(mapped(&[("", "\t")], "    ").as_deref(), Some("\t\t"));
    }
}
