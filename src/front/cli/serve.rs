//! `lockgate serve`: the tools for an MCP client, over standard input and output.

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use tracing_subscriber::EnvFilter;

use super::roots::Roots;
use super::signals;
use crate::error::{Code, Error};
use crate::front::mcp::{self, Structured};
use crate::front::toolset::{Access, Selection};

/// The variable that says what is logged, and what is logged without it.
const LOG: (&str, &str) = ("LOCKGATE_LOG", "warn");

/// How long a signal leaves to what nobody waits for any more, such as an edit that was cancelled.
const LAST_WORK: Duration = Duration::from_secs(1);

/// The arguments of `lockgate serve`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "LOCKGATE_LOG=debug says more on standard error; standard output belongs to the protocol."
)]
pub(super) struct Args {
    #[command(flatten)]
    roots: Roots,
    #[command(flatten)]
    choice: Choice,
    /// Whether answers have a structured part beside the text
    #[arg(long, value_name = "WHEN", default_value = Structured::default().name(), value_parser = structured())]
    structured: Structured,
}

/// Which tools are offered.
#[derive(Debug, clap::Args)]
pub(super) struct Choice {
    /// Toolsets to offer, separated by commas, or `all`
    #[arg(long, value_name = "LIST", default_value_t = Selection::default().to_string())]
    tools: String,
    /// Leaves out every tool that can write
    #[arg(long)]
    read_only: bool,
}

impl Choice {
    /// The toolsets that were named, and whether their tools may write.
    ///
    /// Errors: `INVALID_INPUT` for a toolset that is not known.
    pub(super) fn read(&self) -> Result<(Selection, Access), Error> {
        let selection = self.tools.parse()?;
        let access = if self.read_only { Access::ReadOnly } else { Access::Write };
        Ok((selection, access))
    }
}

/// Serves until the client hangs up, or a signal asks to end; edits that run are ended and answered.
pub(super) fn run(args: Args) -> Result<ExitCode, Error> {
    let (selection, access) = args.choice.read()?;
    let workspace = args.roots.open()?;
    log_to_stderr();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|trouble| Error::new(Code::Internal, format!("cannot start the runtime: {trouble}")))?;
    let stop = {
        let _entered = runtime.enter();
        signals::stop_asked()?
    };
    let served = runtime.block_on(mcp::serve(workspace, selection, access, args.structured, stop.clone()));
    if stop.is_cancelled() {
        // Where standard input is read by a thread of its own, that thread waits for a client that says nothing.
        runtime.shutdown_timeout(LAST_WORK);
    }
    served.map(|()| ExitCode::SUCCESS)
}

/// Standard output belongs to the protocol.
fn log_to_stderr() {
    let filter = EnvFilter::try_from_env(LOG.0).unwrap_or_else(|_| EnvFilter::new(LOG.1));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).with_ansi(false).init();
}

fn structured() -> impl clap::builder::TypedValueParser<Value = Structured> {
    PossibleValuesParser::new(Structured::ALL.map(Structured::name))
        .map(|name| Structured::ALL.into_iter().find(|choice| choice.name() == name).unwrap_or_default())
}
