//! Key-value stores of projects, for members of the project and administrators.

use http::{HeaderValue, StatusCode, header};
use lyceum_access::Scope::{ProjectsRead, ProjectsWrite};
use lyceum_core::{Problem, ProblemKind, Result, body, limits, message};
use lyceum_hosting::deployments;
use lyceum_hosting::kv::{Kv, KvPage};
use lyceum_hosting::limits::KV_PAGE_MAX_KEYS;
use lyceum_http::Body;
use lyceum_http::answer::Answer;
use lyceum_http::route::ParamPlace::Query;
use lyceum_http::route::{get, post, put};
use lyceum_project::Binding;
use lyceum_store::run_blocking;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::members;
use crate::shape::{some_text, text, whole_number};
use crate::{Context, Route, hosted};

const BYTES: &[&str] = &["application/octet-stream"];

/// Keys to delete.
#[derive(Deserialize, JsonSchema)]
struct KeysToDelete {
    /// The keys.
    #[schemars(length(max = KV_PAGE_MAX_KEYS))]
    keys: Vec<String>,
}

pub(super) fn routes() -> Vec<Route> {
    let limit = json!({ "type": "integer", "minimum": 1, "maximum": KV_PAGE_MAX_KEYS });
    let key = |route: Route| route.param(Query, "key", some_text(), "The key.");
    vec![
        get("/{slug}/kv", ProjectsRead, members(list_keys))
            .named("listKv")
            .description("A page of the project's keys in byte order, without their values.")
            .param(Query, "prefix", text(), "Only keys that begin with this text.")
            .param(Query, "cursor", text(), "The cursor of the page before.")
            .param(Query, "limit", limit, "The most keys on the page, from 1 to 1000.")
            .answers::<KvPage>(200, "The page; the last one has no cursor."),
        key(get("/{slug}/kv/value", ProjectsRead, members(read_value)))
            .named("getKvValue")
            .description("The value of a key.")
            .answers_as(
                200,
                "The value.",
                Some((BYTES[0], json!({ "type": "string", "format": "binary" }))),
            ),
        key(put("/{slug}/kv/value", ProjectsWrite, members(write_value)))
            .named("putKvValue")
            .description("Stores the body as the value of a key.")
            .reads_as(BYTES)
            .reads_up_to(limits::KV_VALUE_MAX_BYTES)
            .param(Query, "metadata", text(), "JSON that lists show beside the key.")
            .param(Query, "ttl", whole_number(), "Seconds until the entry expires, at least 60.")
            .answers_empty(204, "The value is stored."),
        post("/{slug}/kv/delete", ProjectsWrite, members(delete_keys))
            .named("deleteKvKeys")
            .description("Deletes keys. Keys that do not exist are ignored.")
            .reads::<KeysToDelete>()
            .answers_empty(204, "The keys do not exist any more."),
    ]
}

/// The project's key-value store. Errors: `NotFound` if it has none.
async fn kv(context: &Context) -> Result<Kv> {
    let slug = context.param("slug").to_owned();
    let file = hosted::folder(&context.app, &slug).join(Binding::Kv.names().on_server);
    let sought = slug.clone();
    let served = context.app.db.read(move |tx| deployments::active(tx, &sought)).await?;
    if !served.is_some_and(|served| served.uses.kv) {
        let message = message!(
            "the project '{slug}' has no KV here; write `kv: true` below `integrations` in its \
             config and deploy"
        );
        return Err(Problem::new(ProblemKind::NotFound, message));
    }
    let engine = hosted::engine(&context.app)?;
    run_blocking(move || engine.kv(&file)).await
}

fn key(context: &Context) -> Result<String> {
    context.query_value("key").ok_or_else(|| Problem::invalid("key", "is required"))
}

async fn list_keys(context: Context) -> Result<Answer> {
    let (prefix, cursor) =
        (context.query_value("prefix").unwrap_or_default(), context.query_value("cursor"));
    let limit = context.parsed_query_value("limit", "must be from 1 to 1000")?;
    let kv = kv(&context).await?;
    Ok(Answer::of(&run_blocking(move || kv.list(&prefix, cursor.as_deref(), limit)).await?))
}

async fn read_value(context: Context) -> Result<Answer> {
    let (kv, key) = (kv(&context).await?, key(&context)?);
    let (value, key) = run_blocking(move || Ok((kv.get(&key)?, key))).await?;
    let value = value.ok_or_else(|| {
        Problem::new(ProblemKind::NotFound, message!("the KV has no key '{key}'"))
    })?;
    let length = value.len();
    Ok(Answer::typed(HeaderValue::from_static(BYTES[0]), Body::from(value))
        .header(header::CONTENT_LENGTH, length)
        .header(header::CONTENT_DISPOSITION, "attachment"))
}

async fn write_value(context: Context) -> Result<Answer> {
    let (kv, key) = (kv(&context).await?, key(&context)?);
    let metadata = context.query_value("metadata").map(|text| body::parse(text.as_bytes()));
    let metadata = metadata
        .transpose()
        .map_err(|_| Problem::invalid("metadata", "must be JSON, such as {\"by\": \"ada\"}"))?;
    let ttl = context.parsed_query_value("ttl", "must be a whole number of seconds")?;
    let value = context.body;
    run_blocking(move || kv.put(&key, &value, metadata.as_ref(), ttl)).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

async fn delete_keys(context: Context) -> Result<Answer> {
    let KeysToDelete { keys } = context.body_as()?;
    let kv = kv(&context).await?;
    run_blocking(move || kv.delete(&keys)).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}
