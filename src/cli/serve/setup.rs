//! The setup of an HTTP server: from flags for one user, or from a configuration for several clients.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::token;
use crate::cli::{paint, store_args};
use lockgate_checks::adopt_orphans;
use lockgate_engine::{EntityDatabase, Tenant, TrustOverride, Workspace};
use lockgate_error::{Code, Error};
use lockgate_mcp::http::{BearerToken, Grants, Principal, Setup};
use lockgate_mcp::rpc::ServerOptions;
use lockgate_mcp::selection::{Selection, WriteAccess};
use lockgate_mcp::toolset::Toolset;
use lockgate_policy::{Host, Readers, ServerLimits, Serving, Token, WebOrigin};

/// Name of the stored secret for the clients of a server without a configuration.
const TOKEN_NAME: &str = "http-token";
/// Mode bits that let other users write.
const OTHERS_WRITE: u32 = 0o022;

/// Returns the setup for one user: one token, which is created if none is given.
pub(super) fn for_one_user(
    listen: SocketAddr,
    grants: Grants,
    options: ServerOptions,
) -> Result<Setup, Error> {
    let hosts = hosts(listen)?;
    let token = match token::from_env(token::TOKEN)? {
        Some(token) => token,
        None => {
            let generate = || Ok(BearerToken::generate()?.reveal().to_owned());
            let (path, token) = grants.workspace.stored_secret(TOKEN_NAME, generate)?;
            let path = path.display().to_string();
            paint::print_error(&format!("the token for clients is in {}\n", paint::visible(&path)));
            BearerToken::parse(&token, &path)?
        }
    };
    // Local pages with the token may call, such as the MCP inspector.
    let origins = if listen.ip().is_loopback() { WebOrigin::own() } else { Vec::new() };
    let principal = Principal { name: None, hash: token.hash(), metrics: true, grants: Some(grants) };
    Ok(Setup {
        listen,
        hosts,
        origins,
        metrics: Readers::Token,
        limits: ServerLimits::default(),
        options,
        seal: token::from_env(token::SEAL)?,
        principals: vec![principal],
    })
}

/// Returns the host names of a server that is configured only by its address.
fn hosts(listen: SocketAddr) -> Result<Vec<Host>, Error> {
    let address = listen.ip();
    if address.is_loopback() {
        return Ok(Host::own());
    }
    let host_name = if address.is_ipv6() { format!("[{address}]") } else { address.to_string() };
    match Host::read(&host_name) {
        Some(host) if !address.is_unspecified() => {
            tracing::warn!("{address} is reachable from other machines, and the connection is not encrypted");
            Ok(vec![host])
        }
        Some(_) | None => {
            let message =
                format!("{address} is a wildcard address, so the host names of clients are unknown");
            let hint = "bind to one address, or set `allowed_hosts` in a configuration (--config)";
            Err(Error::new(Code::InvalidInput, message).field("--http").hint(hint))
        }
    }
}

/// Returns the setup for several clients from a configuration file.
pub(super) fn from_configuration(
    file: &Path,
    trust: TrustOverride,
    options: ServerOptions,
) -> Result<Setup, Error> {
    // This process starts only gate programs.
    adopt_orphans();
    let Serving { listen, hosts, origins, metrics, limits, store, tokens } = read(file)?;
    let database = database(store, &tokens)?;
    let mut workspaces = Workspaces { trust_override: trust, database, opened: HashMap::new() };
    let mut principals = Vec::new();
    for token in tokens {
        let grants = workspaces.grants(&token)?;
        let name = Some(Arc::from(token.name.as_str()));
        principals.push(Principal { name, hash: token.hash, metrics: token.metrics, grants });
    }
    if let Some(why) = workspaces.opened.values().find_map(|workspace| workspace.editable_reason(file)) {
        let message = format!("an edit could change what each token may do: {why}");
        return Err(Error::new(Code::InvalidInput, message)
            .field("--config")
            .hint("keep the configuration outside of every root"));
    }
    let seal = token::from_env(token::SEAL)?;
    Ok(Setup { listen, hosts, origins, metrics, limits, options, seal, principals })
}

/// Returns the database that all tokens of a server share.
fn database(store: Option<String>, tokens: &[Token]) -> Result<Arc<EntityDatabase>, Error> {
    match (store, store_args::url_from_env()) {
        (Some(url), _) if store_args::has_password(&url) => {
            let message = "`store` has a password, which must not be in a configuration";
            Err(Error::new(Code::InvalidInput, message)
                .field("store")
                .hint(format!("remove `store`, and set the URL in the variable {}", store_args::STORE)))
        }
        (Some(url), _) => absolute(store_args::open_url(&url, "store")?),
        (None, Some(url)) => absolute(store_args::open_url(&url, store_args::STORE)?),
        (None, None) => {
            let roots: Vec<PathBuf> = tokens.iter().flat_map(|token| token.roots.iter().cloned()).collect();
            Ok(Workspace::open_database(&roots))
        }
    }
}

/// Checks that the database does not depend on the folder in which the server is started.
fn absolute(database: Arc<EntityDatabase>) -> Result<Arc<EntityDatabase>, Error> {
    if database.file().is_some_and(Path::is_relative) {
        let message = "the path of `sqlite:` must be absolute for a server with a configuration";
        return Err(Error::new(Code::InvalidInput, message).field("store"));
    }
    Ok(database)
}

/// The open workspaces of a server: one for each list of roots and organisation, shared by their tokens.
struct Workspaces {
    trust_override: TrustOverride,
    database: Arc<EntityDatabase>,
    opened: HashMap<(Vec<PathBuf>, Tenant), Arc<Workspace>>,
}

impl Workspaces {
    /// Returns the grants of a token.
    fn grants(&mut self, token: &Token) -> Result<Option<Grants>, Error> {
        if token.roots.is_empty() && token.organization.is_none() {
            return Ok(None);
        }
        let workspace = self.workspace(token)?;
        let usual = match &token.organization {
            Some(_) => Selection::default().with(Toolset::Content),
            None => Selection::default(),
        };
        let selection: Selection = match &token.toolsets {
            Some(toolsets) => toolsets.join(",").parse()?,
            None => policy_selection(&workspace, usual),
        };
        let access = if token.read_only { WriteAccess::ReadOnly } else { WriteAccess::Write };
        Ok(Some(Grants { workspace, selection, access }))
    }

    fn workspace(&mut self, token: &Token) -> Result<Arc<Workspace>, Error> {
        let real = |root: &PathBuf| root.canonicalize().unwrap_or_else(|_| root.clone());
        let roots: Vec<PathBuf> = token.roots.iter().map(real).collect();
        let tenant = token.organization.clone().map_or(Tenant::Global, Tenant::Organization);
        let key = (roots, tenant);
        if let Some(workspace) = self.opened.get(&key) {
            return Ok(Arc::clone(workspace));
        }
        let (roots, tenant) = &key;
        let opening = if roots.is_empty() { Workspace::without_roots() } else { Workspace::at(roots) };
        let opening =
            opening.with_trust_override(self.trust_override).with_database(Arc::clone(&self.database));
        let workspace = opening.with_tenant(tenant.clone()).open()?;
        workspace.keep_servers();
        self.opened.insert(key, Arc::clone(&workspace));
        Ok(workspace)
    }
}

/// Reads a configuration that no other user can have written.
fn read(file: &Path) -> Result<Serving, Error> {
    let shown = file.display().to_string();
    let cannot = |error| {
        Error::new(Code::InvalidInput, format!("cannot read {}: {error}", paint::visible(&shown)))
            .field("--config")
    };
    let found = fs::metadata(file).map_err(cannot)?;
    if let Some(why) = untrusted_reason(&found) {
        let message = format!("{} {why}", paint::visible(&shown));
        return Err(Error::new(Code::PermissionDenied, message)
            .field("--config")
            .hint("make it writable only by you or root"));
    }
    Serving::parse(&shown, &fs::read_to_string(file).map_err(cannot)?)
}

/// Returns the reason why another user may have written a file.
fn untrusted_reason(found: &Metadata) -> Option<String> {
    let (owner, own) = (found.uid(), rustix::process::geteuid().as_raw());
    if !found.is_file() {
        Some("is not a file".to_owned())
    } else if owner != own && owner != 0 {
        Some(format!("belongs to another user (uid {owner})"))
    } else if found.mode() & OTHERS_WRITE != 0 {
        Some(format!("may be written by others (mode {:04o})", found.mode() & 0o7777))
    } else {
        None
    }
}

/// Returns the toolsets of the policy at the top of the first root, or else the default.
///
/// An invalid policy does not stop the server: each edit is rejected until a person corrects it.
pub(super) fn policy_selection(workspace: &Workspace, usual: Selection) -> Selection {
    let named = workspace
        .policy_at_top()
        .and_then(|policy| policy.toolsets.as_ref().map(|toolsets| toolsets.join(",").parse()).transpose());
    match named {
        Ok(selection) => selection.unwrap_or(usual),
        Err(error) => {
            tracing::warn!("the default toolsets are offered: {}", error.message);
            usual
        }
    }
}
