//! Searches for branches of preprocessor conditionals whose brackets fit together.
//!
//! Conditionals may depend on each other: the second branch of one opens a brace, and another one closes it. So a bracket
//! that is unmatched while the first branches are read is certain only if it is unmatched in every choice of branches that
//! reads it. The search reads the text once and keeps the possible stacks of open brackets, which are few in code.
//!
//! Invariant: a text with more stacks than [`MAX_STACKS`], and one that takes more than [`MAX_STEPS`], is not searched to
//! its end; then no bracket is certain.

use std::collections::HashMap;

use super::preprocessor::{BracketPiece, BranchStep, pieces, step};

/// The most stacks of open brackets that are possible at one place.
const MAX_STACKS: usize = 32;
/// The most steps of a search; a step adds a bracket to a stack, or reads a directive.
const MAX_STEPS: usize = 10_000_000;
/// The most different stacks of a search.
const MAX_NODES: usize = 1 << 20;
/// The most branches that are searched for by themselves.
const MAX_BRANCHES: usize = 32;

/// Removes the brackets that are matched in some choice of branches from the offsets of unmatched brackets.
pub(super) fn certain(text: &str, lone: Vec<usize>) -> Vec<usize> {
    if lone.is_empty() || !text.contains('#') {
        return lone;
    }
    match search(text, None) {
        Some(false) => return lone,
        None => return Vec::new(),
        Some(true) => {}
    }
    // Brackets outside of conditionals are in every choice, so they are matched in the one that was found.
    let in_branches = within_branches(text, &lone).into_iter().filter(|(_, branch)| branch.is_some());
    let searched = in_branches.take(MAX_BRANCHES).map(|(at, _)| at);
    searched.filter(|at| search(text, Some(*at)) == Some(false)).collect()
}

/// Returns the offsets with the start of the innermost branch that contains each.
fn within_branches(text: &str, offsets: &[usize]) -> Vec<(usize, Option<usize>)> {
    let (mut open, mut rest, mut found): (Vec<usize>, _, _) = (Vec::new(), offsets, Vec::new());
    let mut pass = |open: &[usize], at: usize| {
        let count = rest.partition_point(|offset| *offset < at);
        let (passed, next) = rest.split_at(count);
        found.extend(passed.iter().map(|offset| (*offset, open.last().copied())));
        rest = next;
    };
    pieces(text, &mut |piece| {
        let BracketPiece::Directive(directive, at) = piece else { return };
        pass(&open, at);
        match step(directive) {
            Some((BranchStep::If, _)) => open.push(at),
            Some((BranchStep::Elif | BranchStep::Else, _)) => {
                if let Some(branch) = open.last_mut() {
                    *branch = at;
                }
            }
            Some((BranchStep::Endif, _)) => {
                open.pop();
            }
            None => {}
        }
    });
    pass(&open, usize::MAX);
    found
}

/// True if the brackets match in some choice of branches, among those that read the text at `target`. `None` if the search
/// did not end within its limits.
fn search(text: &str, target: Option<usize>) -> Option<bool> {
    let mut search = BranchSearch::new(target);
    pieces(text, &mut |piece| search.see(piece));
    // No compiler reads a text in which a conditional has no end.
    (!search.is_over_limit).then(|| search.open.is_empty() && search.possible.contains(&EMPTY))
}

/// The number of the empty stack.
const EMPTY: u32 = 0;

/// A search over the choices of branches.
struct BranchSearch {
    /// The offset that the chosen branches must contain.
    target: Option<usize>,
    /// The possible stacks of open brackets, by their number.
    possible: Vec<u32>,
    /// The conditionals around the current offset.
    open: Vec<OpenConditional>,
    /// The number of each stack that a closing bracket and the number of the stack below it make.
    numbers: HashMap<(u32, u8), u32>,
    /// For each stack, the stack below its innermost bracket, and what closes that.
    stacks: Vec<(u32, u8)>,
    steps: usize,
    is_over_limit: bool,
}

struct OpenConditional {
    /// The possible stacks at its start.
    before: Vec<u32>,
    /// The possible stacks at the end of the branches so far.
    after: Vec<u32>,
    /// The start of the current branch; `None` for one that is never read.
    branch: Option<usize>,
    has_else: bool,
    /// Set once the target was in one of its branches, so that no other may be chosen.
    has_target: bool,
}

impl BranchSearch {
    fn new(target: Option<usize>) -> BranchSearch {
        BranchSearch {
            target,
            possible: vec![EMPTY],
            open: Vec::new(),
            numbers: HashMap::new(),
            stacks: vec![(EMPTY, 0)],
            steps: 0,
            is_over_limit: false,
        }
    }

    fn see(&mut self, piece: BracketPiece<'_>) {
        if self.is_over_limit {
            return;
        }
        match piece {
            BracketPiece::Bracket(token, _) => self.see_bracket(token),
            BracketPiece::Directive(directive, at) => {
                if let Some((step, is_false)) = step(directive) {
                    self.see_step(step, is_false, at);
                }
            }
        }
        let limits =
            [(self.steps, MAX_STEPS), (self.possible.len(), MAX_STACKS), (self.stacks.len(), MAX_NODES)];
        self.is_over_limit = limits.into_iter().any(|(count, most)| count > most);
    }

    fn see_bracket(&mut self, token: &str) {
        self.steps += self.possible.len();
        let possible = std::mem::take(&mut self.possible);
        self.possible = possible.into_iter().filter_map(|stack| self.next(stack, token)).collect();
    }

    /// Returns the stack after a bracket; `None` if it closes another one than the innermost.
    fn next(&mut self, stack: u32, token: &str) -> Option<u32> {
        let close = match token {
            "(" => b')',
            "[" => b']',
            "{" => b'}',
            token => {
                let (below, close) = *self.stacks.get(stack as usize)?;
                return (token.as_bytes() == [close]).then_some(below);
            }
        };
        let next = u32::try_from(self.stacks.len()).ok()?;
        let number = *self.numbers.entry((stack, close)).or_insert(next);
        if number == next {
            self.stacks.push((stack, close));
        }
        Some(number)
    }

    fn see_step(&mut self, step: BranchStep, is_false: bool, at: usize) {
        self.steps += 1 + self.possible.len();
        let branch = (!is_false).then_some(at);
        match step {
            BranchStep::If => {
                let before = self.possible.clone();
                let (after, has_else, has_target) = (Vec::new(), false, false);
                self.open.push(OpenConditional { before, after, branch, has_else, has_target });
            }
            BranchStep::Elif | BranchStep::Else => {
                self.end_branch(at);
                let Some(innermost) = self.open.last_mut() else { return };
                innermost.branch = branch;
                innermost.has_else |= step == BranchStep::Else;
                self.possible.clone_from(&innermost.before);
            }
            BranchStep::Endif => {
                self.end_branch(at);
                self.end_conditional();
            }
        }
    }

    /// Adds the stacks at the end of the current branch to those of its conditional.
    fn end_branch(&mut self, end: usize) {
        let Some(innermost) = self.open.last_mut() else { return };
        let Some(start) = innermost.branch.take() else { return };
        let has_target = self.target.is_some_and(|target| (start..end).contains(&target));
        if has_target {
            innermost.after.clear();
        }
        if has_target || !innermost.has_target {
            innermost.after.append(&mut self.possible);
        }
        innermost.has_target |= has_target;
    }

    /// Continues after a conditional. Without an `#else`, none of its branches may be chosen, unless one has the target.
    fn end_conditional(&mut self) {
        let Some(mut closed) = self.open.pop() else { return };
        if !closed.has_else && !closed.has_target {
            closed.after.append(&mut closed.before);
        }
        closed.after.sort_unstable();
        closed.after.dedup();
        self.possible = closed.after;
    }
}

#[cfg(test)]
mod tests {
    use super::super::cases::judged;
    use super::*;

    /// Returns the unmatched brackets that block this text as a new file, as lines.
    fn refused(text: &str) -> Vec<usize> {
        let lone = |path: &str| -> Vec<usize> {
            let verdict = judged(path, None, text);
            verdict
                .blocking()
                .filter(|found| found.message.contains("unmatched"))
                .map(|found| found.line)
                .collect()
        };
        let found = lone("a.c");
        assert_eq!(found, lone("a.cpp"), "{text}");
        found
    }

    const GUARDS: &str = "#if defined(A)\n#elif defined(__cplusplus)\nextern \"C\" {\n#endif\nint f(void);\n\
                          #if !defined(A) && defined(__cplusplus)\n}\n#endif\n";
    const HEADS: &str =
        "#ifdef A\nint f(void) {\n#endif\n#ifndef A\nint f(int x) {\n#endif\n  return 1;\n}\n";
    const BODY: &str = "int f(int x) {\n#ifdef A\n  if (x)\n#else\n  while (x) {\n#endif\n    x++;\n\
                        #ifndef A\n  }\n#endif\n  return x;\n}\n";
    const NESTED: &str = "#if A\n# if B\nvoid f(int x) {\n# else\nvoid f(void) {\n# endif\n#else\n# if B\n\
                          void g(\n# else\nvoid g(int x) {\n# endif\n# if B\n) {\n# endif\n#endif\n}\n";

    #[test]
    fn branches_that_fit_together_have_no_unmatched_bracket() {
        for text in [GUARDS, HEADS, BODY, NESTED] {
            assert_eq!(refused(text), [0; 0], "{text}");
            // The control: brackets outside of the branches that fit none.
            assert!(!refused(&format!("{text}}}}}\n")).is_empty(), "{text}");
            assert!(!refused(&format!("{text}int a[2;\n")).is_empty(), "{text}");
        }
        assert!(!refused(&HEADS.replace("  return 1;\n}\n", "  return 1;\n")).is_empty());
    }

    #[test]
    fn a_branch_that_fits_no_other_has_its_bracket() {
        assert_eq!(refused("int a;\n#if A\n}\n#endif\n"), [3]);
        assert_eq!(refused("int f(void) {\n#ifdef A\n  g(;\n#endif\n}\n"), [3]);
        assert_eq!(refused(&format!("{GUARDS}#if B\n)\n#endif\n")), [10]);
    }

    #[test]
    fn a_text_with_too_many_choices_has_no_certain_bracket() {
        let opened = |count: usize| "#if A\n{\n#endif\n".repeat(count);
        let (few, many) = (opened(MAX_STACKS - 2), opened(MAX_STACKS + 2));
        assert_eq!([search(&few, None), search(&many, None)], [Some(true), None]);
        assert_eq!(certain(&few, vec![6]), [6]);
        assert_eq!(certain(&many, vec![6]), [0; 0]);
        let deep = "#if A\n".repeat(50_000) + &"{".repeat(50_000) + &"\n#endif".repeat(50_000);
        assert_eq!(search(&deep, None), Some(true));
        assert_eq!(search("#if A\n{\n", None), Some(false), "a conditional without an end");
    }
}
