//! How a gate of the kind `server` is served: a language server that stays, and what stands in for it.

use super::super::keys;
use super::super::node::{Fault, Fields, Node};
use super::command::{Command, candidates, command, plain};
use super::template::Template;

/// A language server, spoken to by the Language Server Protocol on its standard input and output.
#[derive(Debug)]
pub struct Server {
    /// The program's name, as messages give it.
    pub program: String,
    /// The words after the program.
    pub words: Vec<String>,
    /// Where the program may lie, as [`Command::bin`] has it.
    pub bin: Vec<Template>,
    /// The program that judges where the server does not; its findings have the same name.
    pub fallback: Option<Command>,
}

pub(super) fn server(fields: &Fields) -> Result<Server, Fault> {
    let node = fields.require("server")?;
    let own = node.settings("`server`", &[keys::LSP])?;
    let argv = own.require("command")?;
    let words = Node::texts(argv, "`command`")?;
    let Some((program, words)) = words.split_first() else {
        return Err(argv.fault("`command` is empty: its first word is the program"));
    };
    let fallback = fields.get("command").map(|_| command(fields)).transpose()?;
    Ok(Server {
        program: program.clone(),
        words: words.to_vec(),
        bin: own.optional("bin", candidates)?.unwrap_or_else(|| vec![plain(program)]),
        fallback,
    })
}
