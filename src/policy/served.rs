//! The keys of definitions of the kind `server`: a part of the table of keys.
//!
//! Invariant: as that of [`keys`](super::keys).

use super::definition::{MESSAGES, NEW_FILES, OFFERS, SCOPES};
use super::keys::tables;
use super::value_shape::Absent::{Described, Is, Refused};
use super::value_shape::ValueShape::{ByName, List, Map, Regex, Size, Text, Words};
use super::value_shape::{Range, Setting, words};

/// The memory limit of a language server.
pub(super) const MEMORY: Range = Range { min: 16 << 20, max: 1 << 40, description: "from 16MiB to 1024GiB" };

tables! {
    SERVER_KIND { "kind": Words(&["server"]), Refused => "how the gate works"; }
    /// Definitions of the kind `server`: beside these, those of the kind `command` for its fall-back.
    SERVED {
        "server": Map(&[LSP]), Refused => "`server`: the language server";
    }
    /// The language server of a definition.
    LSP {
        "command": List(&Text, 1), Refused => "its program and words, without a shell";
        "bin": List(&Text, 1), Described("the program's name") => "where the program may lie";
        "language_ids": ByName("^[a-z0-9_-]+$", &Text), Is("{}")
            => "what it calls a language, by the name that it has here";
        "options": Text, Is("{}") => "JSON that it is started with, as `initializationOptions`";
        "settings": Text, Is("{}") => "JSON of which it is given the sections that it asks for";
        "env": ByName("^[A-Za-z0-9_]+$", &Text), Is("{}") => "what is added to its environment";
        "memory": Size(MEMORY), Is("4GiB") => "how much memory it may take with all that it starts";
        "diagnostics": Words(&words(&OFFERS)), Described("what it offers")
            => "`pull`: it is asked for what it finds; `push`: it tells by itself; `versioned`: the same, always with the version of the text";
        "sources": List(&Text, 0), Described("all") => "the `source` of the diagnostics that count";
        "code": Text, Is("{code}") => "how its codes are written, so that they are those of the command";
        "message": Words(&words(&MESSAGES)), Is("whole")
            => "how much of its messages is taken: those of the command may be shorter";
        "ready": Regex, Described("nothing")
            => "what it says when it has loaded the project, by progress, message or status; nothing is asked before";
        "ill": Regex, Described("nothing")
            => "what it says when it cannot read its configuration, of which the command would be broken: then it is, too";
        "new_files": Words(&words(&NEW_FILES)), Is("alone")
            => "which files it sees that are not on disk yet: `alone`, where it is the only one of a call; `unimported`, those that no other file imports; `existing_folders`, also those in folders that are on disk; `all`; or `none`";
    }
    /// The keys of a definition of the kind `server` that has no fallback command.
    BESIDE {
        "cwd": List(&Text, 0), Is("[]")
            => "`server`: it is started for the nearest folder above the file that has one of these files, else for the root";
        "config": List(&Text, 0), Is("[]")
            => "`server`: names of files whose text changes its answer; `name#text` counts where the file holds that text";
        "scope": Words(&words(&SCOPES)), Is("project") => "`server`: what its answer depends on";
        "probe": List(&Text, 0), Is("[]") => "`server`: the words that print its version";
        "install": List(&Text, 0), Is("[]") => "`server`: where it can be had, as package URLs";
    }
}
