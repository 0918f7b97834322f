//! Implements the MCP server: passes each request of a client to the tools, resources or prompts.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams,
    CompleteResult, CustomRequest, CustomResult, GetPromptRequestParams, GetPromptResponse, GetTaskParams,
    GetTaskResult, InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ServerConfig, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
    UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::config::{Config, ToolProfile};
use crate::failure::Failure;
use crate::host::Env;
use crate::host::clock;
use crate::mcp::protocol::delivery::Delivery;
use crate::mcp::protocol::dispatch::{Incoming, crashed, protocol_error, result, unheard};
use crate::mcp::protocol::polled_waits::{self, Begun};
use crate::mcp::protocol::refused_methods::refused;
use crate::mcp::protocol::revision::{self, check_modern, check_page, has_method, is_modern, takes_tasks};
use crate::mcp::protocol::server_state::Shared;
use crate::mcp::protocol::subscriptions::{self, Subscriptions};
use crate::mcp::protocol::{
    client, completion, describe, message_filter, progress_notices, prompts, resources, unknown_tool,
};
use crate::mcp::tools::{Format, Tool, find, listed, wait};
use crate::tasks;

/// How long a client may cache a list; tool hints depend on the configuration.
const LIST_KEPT_MS: u64 = 5 * 60 * 1000;

/// How long to wait for the client's list of directories.
const ROOTS_PATIENCE: Duration = Duration::from_secs(2);

#[derive(Clone)]
pub(crate) struct Server {
    env: Env,
    profile: ToolProfile,
    shared: Shared,
    /// Cancelled when the client is gone.
    pub(crate) gone: CancellationToken,
    /// The client's directories, once it has been asked.
    roots: Arc<Mutex<Option<Vec<PathBuf>>>>,
    pub(crate) subscriptions: Subscriptions,
}

impl Server {
    pub(crate) fn new(env: Env, profile: ToolProfile, gone: CancellationToken, shared: Shared) -> Self {
        let subscriptions = Subscriptions::new(shared.clone());
        Self { env, profile, shared, gone, roots: Arc::default(), subscriptions }
    }

    /// The directories that the client works in, if it has any.
    #[expect(deprecated, reason = "clients of the older revisions use it")]
    async fn client_roots(&self, context: &RequestContext<RoleServer>) -> Vec<PathBuf> {
        if let Some(known) = self.roots.lock().ok().and_then(|roots| roots.clone()) {
            return known;
        }
        let answers = context.client_capabilities().is_some_and(|able| able.roots.is_some());
        if !answers || is_modern(context) {
            return Vec::new();
        }
        let asked = tokio::time::timeout(ROOTS_PATIENCE, context.peer.list_roots()).await;
        // A client that does not answer is not asked again until it reports a change.
        let listed = asked.ok().and_then(Result::ok).map(|listed| listed.roots).unwrap_or_default();
        let roots: Vec<PathBuf> = listed.iter().filter_map(|root| client::file(&root.uri)).collect();
        if let Ok(mut known) = self.roots.lock() {
            *known = Some(roots.clone());
        }
        roots
    }

    /// Runs `work` on a thread of its own, so that no call delays another, and reports progress to the client.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(Incoming) -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let roots = self.client_roots(context).await;
        let name = context.client_info().map(|client| client.name).unwrap_or_default();
        let token = context.meta.get_progress_token();
        let (notices, mut told) = mpsc::unbounded_channel();
        let delivery = Delivery::of(&context.extensions)
            .unwrap_or_else(|| Delivery::new(&self.shared.read, self.gone.child_token()));
        // Ends the wait, if there is one, when nobody wants its answer.
        let lost = delivery.unwanted().clone();
        let unwanted = lost.child_token();
        let _unwanted = unwanted.clone().drop_guard();
        let wanted = {
            let (delivery, unwanted) = (delivery.clone(), unwanted.clone());
            move |now| !unwanted.is_cancelled() && delivery.is_wanted(now)
        };
        let place = self.shared.place();
        let usual = client::safe_wait(&name, token.is_some());
        // If all slots are taken, a wait answers at once and the client tries again.
        let usual = if place.is_some() { usual } else { Duration::ZERO };
        let mut sitting = self.shared.patience.begin(name, usual);
        let incoming = Incoming {
            env: self.env.clone(),
            roots,
            meta: context.meta.0.0.clone(),
            safe_wait: sitting.limit(),
            place,
            observe: progress_notices::observer(notices, wanted),
            unwanted,
            delivery: delivery.clone(),
            read: self.shared.read.clone(),
            spare: self.shared.spare.clone(),
        };
        let mut work = tokio::task::spawn_blocking(move || work(incoming));
        loop {
            tokio::select! {
                biased;
                Some(notice) = told.recv() => {
                    sitting.waits();
                    if let Some(token) = &token {
                        // A client that does not read must not delay the work.
                        let _ = context.peer.notify_progress(notice.with_token(token.clone())).await;
                    }
                }
                done = &mut work => {
                    sitting.answered(delivery.alone_since());
                    self.shared.answered();
                    return done.map_err(|_| crashed());
                }
                () = context.ct.cancelled() => break,
                // A call that does not wait ends in a moment, and its answer may still be read.
                () = lost.cancelled(), if sitting.is_waiting() => break,
            }
        }
        sitting.given_up(clock::monotonic());
        Err(unheard())
    }

    async fn call(
        &self,
        tool: &'static Tool,
        given: Map<String, Value>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResponse {
        let format = Format::asked_for(&given);
        if tool.waits && takes_tasks(&context) {
            let begun =
                self.run(&context, |incoming| polled_waits::begin(&mut incoming.open(tool)?, given)).await;
            return match begun.and_then(|begun| begun) {
                Ok(Begun::Parked(task)) => CallToolResponse::Task(task),
                Ok(Begun::Answered(reply)) => result(tool, format, Ok(reply)).into(),
                Err(failure) => result(tool, format, Err(failure)).into(),
            };
        }
        let answered = self.run(&context, |incoming| incoming.answer(tool, given)).await;
        answered.unwrap_or_else(|failure| result(tool, format, Err(failure))).into()
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        // A configuration that cannot be read is told by every call.
        describe::server(&Config::load(&self.env).unwrap_or_default())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        revision::offered().into()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let mut agreed = self.negotiate_initialize(&request)?;
        if let Some(instead) = revision::instead_of(&request.protocol_version) {
            agreed.protocol_version = instead;
        }
        context.peer.set_peer_info(request);
        Ok(agreed)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        check_page(request)?;
        let (env, profile) = (self.env.clone(), self.profile);
        let described = tokio::task::spawn_blocking(move || {
            // Every call reports a configuration that cannot be read.
            let config = Config::load(&env).unwrap_or_default();
            listed(profile).map(|tool| describe::tool(tool, &config)).collect()
        });
        let tools = described.await.map_err(|_| protocol_error(crashed()))?;
        Ok(ListToolsResult::with_all_items(tools)
            .with_ttl_ms(LIST_KEPT_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let given = request.arguments.unwrap_or_default();
        match find(&request.name) {
            Some(tool) if listed(self.profile).any(|one| one.name == tool.name) => {
                Ok(self.call(tool, given, context).await)
            }
            Some(_) | None => {
                Err(ErrorData::invalid_params(unknown_tool::message(&request.name, self.profile), None))
            }
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        check_page(request)?;
        Ok(resources::list())
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        check_page(request)?;
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = move |incoming| resources::read(incoming, &request.uri);
        let read = self.run(&context, read).await.map_err(protocol_error)??;
        Ok(read.into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.follow(request.uri, context).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.unfollow(&request.uri)
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(subscriptions::acceptable(requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.attend(context).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        check_page(request)?;
        Ok(ListPromptsResult::with_all_items(prompts::list()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let config = Config::load(&self.env).unwrap_or_default();
        let given = request.arguments.unwrap_or_default();
        Ok(prompts::get(&request.name, &given, &config)?.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        match completion::Gap::of(request)? {
            completion::Gap::Known(values) => Ok(completion::offered(values)),
            _ if !tasks::has_registry(&self.env) => Ok(completion::offered(Vec::new())),
            gap => self.run(&context, move |incoming| gap.fill(incoming)).await.map_err(protocol_error)?,
        }
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        check_modern(&context, "tasks/get")?;
        let looked = self
            .run(&context, move |incoming| {
                let mut call = incoming.open(&wait::TOOL)?;
                polled_waits::look(&mut call, &request.task_id, |tool, format, replied| {
                    let result = serde_json::to_value(result(tool, format, replied));
                    if let Ok(Value::Object(result)) = result { result } else { Map::new() }
                })
            })
            .await;
        match looked.and_then(|looked| looked) {
            Ok(Some(task)) => Ok(GetTaskResult::new(task)),
            Ok(None) => Err(no_such_task()),
            Err(failure) => Err(protocol_error(failure)),
        }
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        check_modern(&context, "tasks/update")?;
        // Waits never ask for input, so it is enough to check that the wait exists.
        self.known(request.task_id, context).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        check_modern(&context, "tasks/cancel")?;
        let cancelled = self
            .run(&context, move |incoming| {
                let mut call = incoming.open(&wait::TOOL)?;
                polled_waits::give_up(&mut call, &request.task_id)
            })
            .await;
        match cancelled.and_then(|cancelled| cancelled) {
            Ok(true) => Ok(()),
            Ok(false) => Err(no_such_task()),
            Err(failure) => Err(protocol_error(failure)),
        }
    }

    /// Handles requests that the library does not know.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method.as_str();
        if has_method(method, is_modern(&context)) {
            return Err(message_filter::bad_parameters(method));
        }
        Err(refused(method))
    }

    async fn on_roots_list_changed(&self, _: NotificationContext<RoleServer>) {
        if let Ok(mut known) = self.roots.lock() {
            *known = None;
        }
    }
}

impl Server {
    async fn known(&self, id: String, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        let found = self
            .run(&context, move |incoming| {
                let call = incoming.open(&wait::TOOL)?;
                tasks::stored_wait(&call.context, &id)
                    .map_err(|error| crate::mcp::protocol::tool_call::failure(&error))
            })
            .await;
        match found.and_then(|found| found) {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(no_such_task()),
            Err(failure) => Err(protocol_error(failure)),
        }
    }
}

fn no_such_task() -> ErrorData {
    ErrorData::invalid_params("no such task, or it has expired", None)
}
