//! Walking a tree, however deep it is.

use tree_sitter::{Node, Tree, TreeCursor};

/// Where a walk goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalkStep {
    /// To the children of the node.
    Inside,
    /// To what follows the node.
    Past,
    /// Nowhere.
    End,
}

/// Shows every node, parents before their children, each with the number of nodes around it.
pub fn walk<'t>(tree: &'t Tree, mut see: impl FnMut(Node<'t>, usize) -> WalkStep) {
    let (mut cursor, mut level) = (tree.walk(), 0);
    loop {
        match see(cursor.node(), level) {
            WalkStep::Inside if cursor.goto_first_child() => level += 1,
            WalkStep::Inside | WalkStep::Past => {
                if !climb(&mut cursor, &mut level) {
                    return;
                }
            }
            WalkStep::End => return,
        }
    }
}

/// Goes on to the next node that was not seen; false at the end of the tree.
fn climb(cursor: &mut TreeCursor<'_>, level: &mut usize) -> bool {
    while !cursor.goto_next_sibling() {
        if !cursor.goto_parent() {
            return false;
        }
        *level -= 1;
    }
    true
}
