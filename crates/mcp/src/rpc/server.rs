//! The MCP server: its identity, its tool list and its tool calls.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::handler::server::tool::{ToolCallContext, ToolRoute, ToolRouter};
use rmcp::model::{
    self, CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorData, Implementation,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig,
    ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ServerHandler, tool_handler};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::ask::{ReturnedInput, Seal};
use super::call::call;
use super::call_context::CallContext;
use super::metrics::CallMetrics;
use super::options::ServerOptions;
use crate::answer::{OfferedTools, ShownParts};
use crate::schema;
use crate::selection::{EntityStorage, Selection, WriteAccess};
use crate::tools::{
    Effect, INSTRUCTIONS, RepeatEffect, Tool, edit_file, entity, list_content, list_edits, listed_name,
    read_content_lines, safe_edit_file,
};
use crate::toolset::Toolset;
use lockgate_engine::Workspace;

/// Returns the instructions for the agent, limited to the offered tools.
pub(super) fn instructions(selection: &Selection, access: WriteAccess) -> String {
    let offered = |name: &str| selection.tools(access).any(|tool| tool.name == name);
    let texts = INSTRUCTIONS.iter().filter(|(name, _)| offered(name)).map(|(_, text)| *text);
    let writes = selection.tools(access).any(|tool| tool.effect == Effect::Changes);
    texts.chain(writes.then_some(EDIT_INSTRUCTIONS)).collect::<Vec<_>>().join(" ")
}

const EDIT_INSTRUCTIONS: &str = "Send the last `version` as expected_version; line_map shows how line numbers moved. Quality gates judge \
    an edit before it is written. isError: nothing was written, unless it says that this is not known; fix what it names.";

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

/// Returns the listing of a tool within a selection.
///
/// Entities are edited by the tools of `content`. If these are not offered, or no database is configured, the fields
/// that address entities are accepted but not listed, because each listed field costs tokens in every conversation.
pub(super) fn listing(tool: &'static Tool, selection: &Selection, storage: EntityStorage) -> model::Tool {
    let mut schema = (tool.schema)().clone();
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        let names_entities = storage == EntityStorage::Configured && selection.contains(Toolset::Content);
        properties.retain(|name, _| names_entities || !entity::FIELDS.contains(&name.as_str()));
        properties.retain(|name, _| name != UNLISTED_FIELD);
        properties.values_mut().for_each(open_objects);
        properties.values_mut().for_each(|field| drop_repeated(field, None));
    }
    let about = match schema.shift_remove("description") {
        Some(Value::String(about)) => about,
        _ => String::new(),
    };
    let hints = hints(tool);
    let listed = model::Tool::new(tool.name, about, schema).with_annotations(hints);
    if !MAIN_TOOLS.contains(&tool.name) {
        return listed;
    }
    let meta = model::JsonObject::from_iter([(ALWAYS_LOAD.to_owned(), Value::Bool(true))]);
    listed.with_meta(meta.into())
}

/// The tools that edit a file. Claude Code shows these to the model from the start; it loads others only after a search.
const MAIN_TOOLS: [&str; 2] = [edit_file::TOOL.name, safe_edit_file::TOOL.name];

/// The key by which Claude Code recognises a tool that it must not load late.
const ALWAYS_LOAD: &str = "anthropic/alwaysLoad";

/// Removes the description of each nested field that only repeats the one of the field around it.
fn drop_repeated(schema: &mut Value, around: Option<&str>) {
    let Value::Object(node) = schema else { return };
    let own = node.get("description").and_then(Value::as_str).map(str::to_owned);
    if own.is_some() && own.as_deref() == around {
        node.remove("description");
    }
    let around = own.as_deref().or(around);
    schema::nested(node).for_each(|inner| drop_repeated(inner, around));
}

/// Removes the statement that nested objects have no other properties, which costs tokens and is checked anyway.
fn open_objects(schema: &mut Value) {
    let Value::Object(node) = schema else { return };
    node.remove("additionalProperties");
    schema::nested(node).for_each(open_objects);
}

/// A field that is accepted and not listed: few callers need it, and each listed field costs tokens.
const UNLISTED_FIELD: &str = "show_diff";

/// Returns the hints of a tool, without those that have their default value or no meaning.
fn hints(tool: &Tool) -> ToolAnnotations {
    let hints = ToolAnnotations::with_title(tool.title).open_world(false);
    let repeatable = |hints: ToolAnnotations| match tool.repeat_effect {
        RepeatEffect::NoChange => hints.idempotent(true),
        RepeatEffect::Changes => hints,
    };
    match tool.effect {
        Effect::Reads => hints.read_only(true),
        Effect::Adds => repeatable(hints.destructive(false)),
        Effect::Changes => repeatable(hints),
    }
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
