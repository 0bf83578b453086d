//! Traverses a tree of any depth without recursion.

use tree_sitter::{Node, Tree, TreeCursor};

/// The next step of a traversal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalkStep {
    /// Visit the children of the node.
    Enter,
    /// Skip the children of the node.
    Skip,
    /// End the traversal; no further node is visited.
    Stop,
}

/// Visits every node in pre-order, with its depth.
pub fn walk<'t>(tree: &'t Tree, mut visit: impl FnMut(Node<'t>, usize) -> WalkStep) {
    let (mut cursor, mut level) = (tree.walk(), 0);
    loop {
        match visit(cursor.node(), level) {
            WalkStep::Enter if cursor.goto_first_child() => level += 1,
            WalkStep::Enter | WalkStep::Skip => {
                if !climb(&mut cursor, &mut level) {
                    return;
                }
            }
            WalkStep::Stop => return,
        }
    }
}

/// Moves to the next unvisited node above; false at the end of the tree.
fn climb(cursor: &mut TreeCursor<'_>, level: &mut usize) -> bool {
    while !cursor.goto_next_sibling() {
        if !cursor.goto_parent() {
            return false;
        }
        *level -= 1;
    }
    true
}
