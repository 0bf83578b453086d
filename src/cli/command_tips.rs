//! Adds tips to usage errors for arguments that another place would accept.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue};

/// A mistake: the context of the usage error that names it, the argument in it, and the tip.
const TIPS: [(ContextKind, &str, &str); 2] = [
    (
        ContextKind::InvalidSubcommand,
        "doctor",
        "`lockgate hook --doctor` tests the hooks, and `lockgate gates doctor` the gates",
    ),
    (ContextKind::InvalidArg, "-C", "`-C` comes before the command, as in `lockgate -C DIR log`"),
];

/// Returns a usage error with the tip for its mistake, in place of clap's own; any other error as it is.
pub(super) fn with_tip(mut error: clap::Error) -> clap::Error {
    let is_it = |kind: ContextKind, argument: &str| matches!(error.get(kind), Some(ContextValue::String(found)) if found == argument);
    if let Some((.., tip)) = TIPS.into_iter().find(|(kind, argument, _)| is_it(*kind, argument)) {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
    error
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::Cli;

    /// The message for these arguments, after the name of the program.
    fn message(arguments: &[&str]) -> String {
        let error = Cli::try_parse_from([&["lockgate"], arguments].concat()).unwrap_err();
        with_tip(error).to_string()
    }

    #[test]
    fn a_command_that_is_one_of_others_is_named_with_them() {
        let message = message(&["doctor"]);
        assert!(message.contains("unrecognized subcommand 'doctor'"), "{message}");
        assert!(message.contains("tip: `lockgate hook --doctor` tests the hooks"), "{message}");
        assert!(message.contains("`lockgate gates doctor` the gates"), "{message}");
    }

    #[test]
    fn the_option_for_the_folder_comes_before_the_command() {
        for arguments in [&["log", "-C", "d"][..], &["log", "-Cd"], &["gates", "list", "-C", "d"]] {
            let message = message(arguments);
            assert!(message.contains("tip: `-C` comes before the command"), "{arguments:?}: {message}");
            assert!(!message.contains("-- -C"), "{arguments:?}: {message}");
        }
        let other = message(&["log", "-X"]);
        assert!(!other.contains("comes before"), "the control: {other}");
    }
}
