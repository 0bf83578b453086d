//! `lockgate serve`: serves the tools to MCP clients over standard input and output or HTTP.

mod setup;
mod token;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::value_parser;
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::{CancellationToken, DropGuard};
use tracing_subscriber::EnvFilter;

use super::async_work::{runtime, workers};
use super::paint;
use super::roots::TrustArgs;
use super::store_args::CommandWorkspace;
use lockgate_engine::{StateSocket, Workspace};
use lockgate_error::Error;
use lockgate_hosts::socket;
use lockgate_mcp::http::{self, Grants, Setup};
use lockgate_mcp::rpc::{self, ServerOptions, Structured};
use lockgate_mcp::selection::{Selection, WriteAccess};

/// The environment variable of the log filter.
const LOG: &str = "LOCKGATE_LOG";
/// The default filter, without what rmcp says of the errors of a client.
const DEFAULT_LOG: &str = "warn,rmcp=error";

/// Time after a signal for work that no client waits for, such as a cancelled edit.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// The arguments of `lockgate serve`.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "LOCKGATE_LOG=debug logs more to standard error; standard output carries the protocol.\n\
                  LOCKGATE_TOKEN is the token of HTTP clients; without it, one is created and stored.\n\
                  LOCKGATE_STORE is the default of --store, for a URL with a password.\n\
                  LOCKGATE_SEAL is the secret that servers behind one balancer share: docs/serving.md."
)]
pub(super) struct ServeArgs {
    #[command(subcommand)]
    command: Option<ServeCommand>,
    #[command(flatten)]
    workspace: CommandWorkspace,
    #[command(flatten)]
    choice: ToolsetChoice,
    #[command(flatten)]
    trust: TrustArgs,
    /// Controls the structured part of answers, in addition to the text
    #[arg(long, value_name = "WHEN", default_value = Structured::default().name(), value_parser = structured())]
    structured: Structured,
    /// Timeout in seconds for code from the client's model
    #[arg(long, value_name = "S", default_value_t = ServerOptions::DEFAULT_MODEL_TIMEOUT, value_parser = value_parser!(u64).range(1..=3600))]
    model_timeout: u64,
    /// Address and port to serve over HTTP, instead of standard input and output, such as 127.0.0.1:8137
    #[arg(long, value_name = "ADDR", value_parser = parse_address)]
    http: Option<SocketAddr>,
    /// Configuration of a server for several clients over HTTP, with the permissions of each: docs/serving.md
    #[arg(long, value_name = "FILE", conflicts_with_all = ["http", "roots", "tools", "read_only", "store", "organization"])]
    config: Option<PathBuf>,
}

/// A command that runs instead of the server.
#[derive(Debug, clap::Subcommand)]
enum ServeCommand {
    /// Creates a token for a client of a server with a configuration
    Token(token::TokenArgs),
}

/// The selection of tools.
#[derive(Debug, clap::Args)]
pub(super) struct ToolsetChoice {
    /// Toolsets to offer, separated by commas, or `all` [default: those of the policy, else `edit,text,look`]
    #[arg(long, value_name = "LIST")]
    tools: Option<String>,
    /// Leaves out every tool that can write
    #[arg(long)]
    read_only: bool,
}

impl ToolsetChoice {
    /// Returns the toolsets of `--tools`, if given.
    ///
    /// Errors: `INVALID_INPUT` for an unknown toolset.
    pub(super) fn selection(&self) -> Result<Option<Selection>, Error> {
        self.tools.as_deref().map(str::parse).transpose()
    }

    /// Returns the write access of the tools.
    pub(super) fn access(&self) -> WriteAccess {
        if self.read_only { WriteAccess::ReadOnly } else { WriteAccess::Write }
    }
}

/// Serves until the client disconnects or a signal arrives. Running edits finish and are answered; after a signal,
/// they are cancelled if they take longer than two seconds.
pub(super) fn run(args: ServeArgs) -> Result<ExitCode, Error> {
    if let Some(ServeCommand::Token(args)) = &args.command {
        return token::run(args);
    }
    let (named, access) = (args.choice.selection()?, args.choice.access());
    let options =
        ServerOptions { structured: args.structured, model_timeout: Duration::from_secs(args.model_timeout) };
    let trust_override = args.trust.trust_override();
    if let Some(file) = &args.config {
        log_to_stderr();
        return over_http(setup::from_configuration(file, trust_override, options)?, None);
    }
    let workspace = args.workspace.open(trust_override)?;
    workspace.keep_servers();
    log_to_stderr();
    let selection =
        named.unwrap_or_else(|| setup::policy_selection(&workspace, args.workspace.default_selection()));
    let hooks = HookServer::open(&workspace);
    if let Some(listen) = args.http {
        let grants = Grants { workspace, selection, access };
        return over_http(setup::for_one_user(listen, grants, options)?, hooks);
    }
    // One thread serves one client: each wake-up of a second one would cost more than the work that it takes over.
    let (runtime, stop) = runtime(Builder::new_current_thread(), 0)?;
    let _hooks = hooks.map(|hooks| hooks.start(&runtime, &stop));
    let served = runtime.block_on(rpc::serve(workspace, selection, access, options, stop.clone()));
    if stop.is_cancelled() {
        // A thread that reads standard input may still wait for a silent client.
        runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
    }
    served.map(|()| ExitCode::SUCCESS)
}

fn over_http(setup: Setup, hooks: Option<HookServer>) -> Result<ExitCode, Error> {
    let (runtime, stop) = runtime(Builder::new_multi_thread(), workers())?;
    let _hooks = hooks.map(|hooks| hooks.start(&runtime, &stop));
    let listening = |address| paint::print_error(&format!("listening on http://{address}/mcp\n"));
    let served = runtime.block_on(http::serve(setup, stop, listening));
    runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
    served.map(|()| ExitCode::SUCCESS)
}

/// Answers the hooks of this user for the root of a workspace.
struct HookServer {
    workspace: Arc<Workspace>,
    socket: StateSocket,
}

impl HookServer {
    /// Makes the socket, so that hooks find it; `None` if they have to judge alone.
    fn open(workspace: &Arc<Workspace>) -> Option<HookServer> {
        match workspace.listen_for_hooks() {
            Ok(socket) => Some(HookServer { workspace: Arc::clone(workspace), socket }),
            Err(reason) => {
                tracing::debug!("hooks judge alone: {reason}");
                None
            }
        }
    }

    /// Starts to answer; hooks are answered until the guard is dropped, or until `stop`.
    fn start(self, runtime: &Runtime, stop: &CancellationToken) -> DropGuard {
        let own = stop.child_token();
        let serving = socket::serve(self.workspace, self.socket, own.clone());
        runtime.spawn(async move {
            if let Err(error) = serving.await {
                tracing::warn!("hooks judge alone: {error}");
            }
        });
        own.drop_guard()
    }
}

/// Initializes logging to standard error; standard output belongs to the protocol.
fn log_to_stderr() {
    let filter = EnvFilter::try_from_env(LOG).unwrap_or_else(|_| EnvFilter::new(DEFAULT_LOG));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).with_ansi(false).init();
}

fn parse_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "give an IP address and a port, as in `127.0.0.1:8137`".to_owned())
}

fn structured() -> impl clap::builder::TypedValueParser<Value = Structured> {
    PossibleValuesParser::new(Structured::ALL.map(Structured::name))
        .map(|name| Structured::ALL.into_iter().find(|choice| choice.name() == name).unwrap_or_default())
}
