//! The MCP server: its identity, and the routes of its tools.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::handler::server::tool::{ToolCallContext, ToolRoute, ToolRouter};
use rmcp::model::{
    self, CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorData, Implementation,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ServerHandler, tool_handler};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::ask::{ReturnedInput, Seal};
use super::call::call;
use super::call_context::CallContext;
use super::listing::{instructions, listing};
use super::metrics::CallMetrics;
use super::options::ServerOptions;
use crate::answer::{OfferedTools, ShownParts};
use crate::selection::{EntityStorage, Selection, WriteAccess};
use crate::tools::{Tool, list_content, list_edits, listed_name, read_content_lines, safe_edit_file};
use lockgate_engine::Workspace;

/// The server of one workspace; clones share it.
#[derive(Clone)]
pub(crate) struct Server {
    tool_router: Arc<ToolRouter<Server>>,
    instructions: Arc<str>,
    call_context: CallContext,
}

impl Server {
    /// Creates a server with the selected tools, whose edits end when `stop` is cancelled.
    pub(crate) fn new(
        workspace: Arc<Workspace>,
        selection: &Selection,
        access: WriteAccess,
        options: ServerOptions,
        stop: CancellationToken,
    ) -> Server {
        let storage = if workspace.has_configured_entities() {
            EntityStorage::Configured
        } else {
            EntityStorage::Unconfigured
        };
        let tool_router = selection
            .tools(access)
            .fold(ToolRouter::new(), |router, tool| router.with_route(route(tool, selection, storage)));
        let offered =
            |name: &'static str| selection.tools(access).any(|tool| tool.name == name).then_some(name);
        Server {
            tool_router: Arc::new(tool_router),
            instructions: instructions(selection, access).into(),
            call_context: CallContext {
                workspace,
                options,
                offered_tools: OfferedTools {
                    read: offered(read_content_lines::TOOL.name),
                    list: offered(list_content::TOOL.name),
                    create: offered(safe_edit_file::TOOL.name),
                    history: offered(list_edits::TOOL.name),
                },
                shown_parts: ShownParts::default(),
                stop,
                input_ended: CancellationToken::new(),
                seal: Seal::new(),
                caller: None,
                metrics: CallMetrics::default(),
                open_calls: TaskTracker::new(),
            },
        }
    }

    /// Sets the name of the caller and the metrics sink.
    pub(crate) fn with_caller(
        mut self,
        caller: Option<Arc<str>>,
        sink: Arc<dyn super::MetricsSink>,
    ) -> Server {
        self.call_context.caller = caller;
        self.call_context.metrics.sink = Some(sink);
        self
    }

    /// Sets the token that is cancelled when the client can answer no more questions.
    pub(super) fn with_input_end(mut self, input_ended: CancellationToken) -> Server {
        self.call_context.input_ended = input_ended;
        self
    }

    /// Sets a seal that is shared with other servers, so that each can verify the others' questions.
    pub(crate) fn with_seal(mut self, seal: [u8; 32]) -> Server {
        self.call_context.seal = Seal::shared(seal);
        self
    }

    /// Returns the server for another connection, which has seen no notes.
    pub(crate) fn for_connection(&self) -> Server {
        let mut server = self.clone();
        server.call_context.shown_parts = ShownParts::default();
        server
    }

    /// Waits until every call was answered.
    pub(crate) async fn wait_idle(&self) {
        self.call_context.open_calls.close();
        self.call_context.open_calls.wait().await;
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(
                Implementation::new("lockgate", env!("CARGO_PKG_VERSION")).with_title("lockgate"),
            )
            .with_instructions(self.instructions.to_string())
    }

    /// Lists the tools. rmcp adds the cache hints of a private list, because another token can have other tools.
    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tool_router.list_all()))
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        request.name = listed_name(&request.name).to_owned().into();
        if !self.tool_router.has_route(&request.name) {
            let names: Vec<String> =
                self.tool_router.list_all().iter().map(|tool| tool.name.to_string()).collect();
            let name: String = request.name.chars().take(80).collect();
            let message = format!("Unknown tool: {name} (this server offers: {})", names.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        }
        self.tool_router.call(ToolCallContext::new(self, request, context)).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // Later protocol versions have no `initialize`.
        let stateless = context.meta.protocol_version().is_some_and(|it| it >= ProtocolVersion::V_2026_07_28);
        // A known method arrives here when its parameters are invalid.
        match request.method.as_str() {
            "tools/call" => {
                Err(ErrorData::invalid_params("params must have a name, and arguments as an object", None))
            }
            "initialize" if stateless => Err(not_offered("initialize")),
            "initialize" | "tools/list" => Err(ErrorData::invalid_params("params have the wrong form", None)),
            method => {
                let method: String = method.chars().take(80).collect();
                Err(not_offered(method))
            }
        }
    }
}

fn not_offered(method: impl Into<Cow<'static, str>>) -> ErrorData {
    ErrorData::new(model::ErrorCode::METHOD_NOT_FOUND, method, None)
}

fn route(tool: &'static Tool, selection: &Selection, storage: EntityStorage) -> ToolRoute<Server> {
    ToolRoute::new_dyn(listing(tool, selection, storage), move |context: ToolCallContext<'_, Server>| {
        let ToolCallContext { service, request_context, arguments, input_responses, request_state, .. } =
            context;
        let returned = ReturnedInput { responses: input_responses, state: request_state };
        let call_context = service.call_context.clone();
        Box::pin(async move {
            let arguments = arguments.unwrap_or_default();
            Ok(call(tool, call_context, arguments, returned, request_context).await)
        })
    })
}
