//! The state of hooks that is reached without opening a workspace: what the processes of a user know of each other.
//!
//! Invariant: nothing here reads a policy or a file of the project.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use super::workspace::Workspace;
use lockgate_store::{StateFolder, StateSocket, ToolCallRecords};

/// The user's state folder, for the hooks of a root.
pub struct HookState {
    state: StateFolder,
    root: PathBuf,
}

impl HookState {
    /// The state for the root of this real path.
    pub fn for_root(root: &Path) -> HookState {
        let roots = [root.to_owned()];
        HookState { state: StateFolder::for_user(&roots), root: root.to_owned() }
    }

    /// Returns the records of tool calls of hosts that are not finished.
    pub fn tool_calls(&self) -> ToolCallRecords {
        ToolCallRecords::new(&self.state)
    }

    /// Connects to a server of the user that has this root; `None` if there is none, or if another user could have
    /// made its socket.
    pub fn connect(&self) -> Option<UnixStream> {
        self.state.connect(&self.root)
    }
}

impl Workspace {
    /// Listens for the hooks of the user on the root of this workspace: [`HookState::connect`] finds the socket.
    ///
    /// Errors: the reason why there is none, such as several roots.
    pub fn listen_for_hooks(&self) -> Result<StateSocket, String> {
        match self.services.store.files.root_paths().as_slice() {
            [root] => self.services.state.listen(root),
            roots => Err(format!("a socket for hooks needs one root, not {}", roots.len())),
        }
    }
}
