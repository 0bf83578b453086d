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
        "command": List(&Text, 1), Refused => "its program and arguments, without a shell";
        "bin": List(&Text, 1), Described("the program's name") => "where to look for the program";
        "language_ids": ByName("^[a-z0-9_-]+$", &Text), Is("{}")
            => "its identifier for each language, by the name used here";
        "options": Text, Is("{}") => "JSON for its start, as `initializationOptions`";
        "settings": Text, Is("{}") => "JSON with the sections that it may request";
        "env": ByName("^[A-Za-z0-9_]+$", &Text), Is("{}") => "additional environment variables";
        "memory": Size(MEMORY), Is("4GiB") => "the most memory for it and its child processes";
        "diagnostics": Words(&words(&OFFERS)), Described("what it offers")
            => "`pull`: lockgate requests diagnostics; `push`: the server publishes them; `versioned`: the same, always with the version of the text";
        "sources": List(&Text, 0), Described("all") => "the `source` of the diagnostics that count";
        "code": Text, Is("{code}") => "how to format its codes, so that they equal those of the command";
        "message": Words(&words(&MESSAGES)), Is("whole")
            => "how much of its messages to keep: those of the command may be shorter";
        "ready": Regex, Described("nothing")
            => "its progress, message or status once it has loaded the project; lockgate sends no request before";
        "ill": Regex, Described("nothing")
            => "its message when it cannot read its configuration; the gate is then broken, as it is with the command";
        "new_files": Words(&words(&NEW_FILES)), Is("alone")
            => "which files that are not on disk yet it can check: `alone`, if it is the only one of a call; `unimported`, those that no other file imports; `existing_folders`, also those in folders on disk; `all`; or `none`";
    }
    /// The keys of a definition of the kind `server` that has no fallback command.
    BESIDE {
        "cwd": List(&Text, 0), Is("[]")
            => "`server`: it is started for the nearest folder above the file that has one of these files, else for the root";
        "config": List(&Text, 0), Is("[]")
            => "`server`: names of files whose text changes its result; `name#text` counts if the file contains that text";
        "scope": Words(&words(&SCOPES)), Is("project") => "`server`: what its result depends on";
        "probe": List(&Text, 0), Is("[]") => "`server`: the arguments that print its version";
        "install": List(&Text, 0), Is("[]") => "`server`: where to get it, as package URLs";
    }
}
