//! The server's answers to the requests of the protocol, in both of its versions; rmcp knows which one a client speaks.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode, GetPromptRequestParams,
    GetPromptResponse, Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::backpressure::Load;
use super::call::Asked;
use super::strict::Unreadable;
use super::worker::{Closed, Worker, WorkerState};
use super::{Profile, answer, call, catalogue, progress, prompts, resources};

const INSTRUCTIONS: &str = "\
git-proof records why a change was made, as a hash chain that cannot be edited, and closes it to one Merkle root.

For a proof-grade task call, in this order:
1. audit_session_start(intent): keep the session_id.
2. thought_record(session_id, type, content) while you work: a plan, what you learn (analysis), each decision with what \
you rejected and why.
3. audit_verify_chain(session_id)
4. thought_record(type=reflection): what happened, what remains uncertain. It must be the last record.
5. merkle_finalize(session_id)
6. merkle_root(session_id): report root and record_count.
7. audit_session_end(session_id)

Any other task: thought_record(task_id, type, content), and a reflection at its end.

Corrections are new records. Never record credentials. An error names its next call in hint.";

pub(super) struct Server {
    worker: Worker,
    load: Arc<Load>,
    profile: Profile,
}

impl Server {
    pub(super) fn new(worker: Worker, load: Arc<Load>, profile: Profile) -> Self {
        Self { worker, load, profile }
    }

    /// Has something done when its turn comes.
    async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut WorkerState) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let _working = self.load.work();
        let _turn = self.load.turn().await;
        self.worker.ask(work).await.map_err(closed)
    }
}

fn closed(_: Closed) -> ErrorData {
    ErrorData::internal_error("a bug ended the server's work; what was acknowledged is safe", None)
}

/// The session of Codex that calls, as its hooks and the environment of its shell have it: a subagent's own id follows a
/// slash.
fn thread_of_codex(context: &RequestContext<RoleServer>) -> Option<String> {
    let text = |key: &str| context.meta.get(key).and_then(serde_json::Value::as_str).map(str::to_owned);
    let (thread, session) = (text("threadId")?, text("sessionId")?);
    Some(if thread == session { session } else { format!("{session}/{thread}") })
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        let this = Implementation::new("git-proof", env!("CARGO_PKG_VERSION"))
            .with_title("git-proof: the reasoning behind a change")
            .with_description(env!("CARGO_PKG_DESCRIPTION"));
        ServerConfig::new(capabilities).with_server_info(this).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(catalogue::tools(self.profile)))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = catalogue::find(self.profile, &request.name) else {
            return Err(ErrorData::invalid_params(format!("there is no tool {:?}", request.name), None));
        };
        let _working = self.load.work();
        let _turn = self.load.turn().await;
        let given = match context.extensions.get::<Unreadable>() {
            Some(unreadable) => Err(unreadable.clone()),
            None => Ok(request.arguments.unwrap_or_default()),
        };
        let client = context.client_info();
        let thread = thread_of_codex(&context);
        let (reporter, reports) = progress::asked_for(&context).unzip();
        let cancellation = context.ct.clone();
        let answered = self.worker.ask(move |state| {
            let cancelled = cancellation.is_cancelled();
            let (tool, prepare) = (tool.name, tool.prepare);
            let asked = Asked { tool, prepare, given, client, thread, reporter, cancelled };
            answer::envelope(tool, call::call(state, asked))
        });
        if let Some(reports) = reports {
            reports.pass_on(&context).await;
        }
        answered.await.map(CallToolResponse::from).map_err(closed)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.ask(resources::list).await.map(ListResourcesResult::with_all_items)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = self.ask(move |state| resources::read(state, &request.uri)).await;
        read?.map(ReadResourceResponse::from)
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&request.name, request.arguments.as_ref()).map(GetPromptResponse::from)
    }

    /// Answers a request that rmcp could not read. If the method is one of ours, its parameters were wrong.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        const METHODS: [&str; 3] = ["tools/call", "resources/read", "prompts/get"];
        if METHODS.contains(&request.method.as_str()) {
            let message = format!("the parameters of {} are not what the protocol says", request.method);
            return Err(ErrorData::invalid_params(message, None));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None))
    }
}
