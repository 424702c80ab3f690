//! Webhooks: registration, filters, the delivery log.

use axum::http::StatusCode;
use lyceum_access::Scope::{WebhooksRead, WebhooksWrite};
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_store::Tx;
use lyceum_webhooks::filter::{self, Filter, FilterInput};
use lyceum_webhooks::limits::WEBHOOK_LOG_PAGE_MAX_RECORDS;
use lyceum_webhooks::log::{self, Delivery, DeliveryState};
use lyceum_webhooks::webhook::{self, Webhook, WebhookInput};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::answer::Answer;
use crate::context::Context;
use crate::render::Rendering;
use crate::route::{Area, ParamPlace, Route, delete, get, post, put};

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct WebhookList {
    webhooks: Vec<Webhook>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct OneWebhook {
    webhook: Webhook,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct FilterList {
    filters: Vec<Filter>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct OneFilter {
    filter: Filter,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct DeliveryList {
    deliveries: Vec<Delivery>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct OneDelivery {
    delivery: Delivery,
}

/// What was done.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Done {
    message: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct ReplayedDeliveries {
    /// The number of deliveries.
    replayed: u64,
}

pub(super) fn areas() -> Vec<Area> {
    vec![
        Area {
            name: "webhooks",
            base: "/webhooks",
            rendering: Rendering::Caliper,
            description: "Webhooks: programs that receive changes as signed messages, and what was delivered.",
            routes: webhooks().into_iter().chain(deliveries()).collect(),
        },
        Area {
            name: "webhook-filters",
            base: "/webhook-filters",
            rendering: Rendering::Caliper,
            description: "Filters of webhooks: conditions that a change must meet to be delivered.",
            routes: filters(),
        },
    ]
}

fn webhooks() -> Vec<Route> {
    let text = || json!({ "type": "string" });
    vec![
        get("", WebhooksRead, list_webhooks)
            .named("getWebhooks")
            .description("Lists all webhooks, or those of a sensor.")
            .param(ParamPlace::Query, "sensor", text(), "The sensor.")
            .answers::<WebhookList>(200, "The webhooks."),
        post("", WebhooksWrite, create_webhook)
            .named("postWebhook")
            .description("Creates a webhook. Only this answer contains the secret.")
            .reads::<WebhookInput>()
            .answers::<OneWebhook>(201, "The webhook was created."),
        get("/{id}", WebhooksRead, read_webhook)
            .named("getWebhook")
            .description("Reads a webhook.")
            .answers::<OneWebhook>(200, "The webhook."),
        put("/{id}", WebhooksWrite, replace_webhook)
            .named("putWebhook")
            .description("Replaces the values of a webhook.")
            .reads::<WebhookInput>()
            .answers::<OneWebhook>(200, "The webhook was changed."),
        delete("/{id}", WebhooksWrite, delete_webhook)
            .named("deleteWebhook")
            .description("Deletes a webhook with its filters and deliveries.")
            .answers::<Done>(200, "The webhook was deleted."),
        put("/{id}/activate", WebhooksWrite, |context| set_active(context, true))
            .named("activateWebhook")
            .description("Activates a webhook: it receives all changes that begin after the answer.")
            .reads_as(&[])
            .answers::<OneWebhook>(200, "The webhook is active."),
        put("/{id}/deactivate", WebhooksWrite, |context| set_active(context, false))
            .named("deactivateWebhook")
            .description("Deactivates a webhook. Its waiting deliveries are sent when it is activated again.")
            .reads_as(&[])
            .answers::<OneWebhook>(200, "The webhook is not active."),
    ]
}

fn deliveries() -> Vec<Route> {
    let states: Vec<&str> = DeliveryState::ALL.into_iter().map(DeliveryState::name).collect();
    let number = || json!({ "type": "integer", "minimum": 1 });
    vec![
        get("/{id}/deliveries", WebhooksRead, list_deliveries)
            .named("getWebhookDeliveries")
            .description("Lists the deliveries of a webhook, the newest first.")
            .param(
                ParamPlace::Query,
                "state",
                json!({ "type": "string", "enum": states }),
                "Only deliveries in this state.",
            )
            .param(
                ParamPlace::Query,
                "before",
                number(),
                "Only deliveries with smaller ids, for the next page.",
            )
            .param(
                ParamPlace::Query,
                "limit",
                number(),
                "The most deliveries; 100 if it is missing, and at most 500.",
            )
            .answers::<DeliveryList>(200, "The deliveries."),
        post("/{id}/deliveries/replay", WebhooksWrite, replay_dead)
            .named("replayDeadWebhookDeliveries")
            .description("Sends all dead deliveries of a webhook again, with the same message ids.")
            .reads_as(&[])
            .answers::<ReplayedDeliveries>(200, "The deliveries wait to be sent."),
        post("/{id}/deliveries/{delivery}/replay", WebhooksWrite, replay)
            .named("replayWebhookDelivery")
            .description("Sends a delivery again, with the same message id.")
            .reads_as(&[])
            .answers::<OneDelivery>(200, "The delivery waits to be sent."),
    ]
}

fn filters() -> Vec<Route> {
    vec![
        get("", WebhooksRead, |context| list_filters(context, false))
            .named("getWebhookFilters")
            .description("Lists all filters.")
            .answers::<FilterList>(200, "The filters."),
        post("", WebhooksWrite, create_filter)
            .named("postWebhookFilter")
            .description("Creates a filter. A change must meet all active filters of a webhook.")
            .reads::<FilterInput>()
            .answers::<OneFilter>(201, "The filter was created."),
        get("/{id}", WebhooksRead, read_filter)
            .named("getWebhookFilter")
            .description("Reads a filter.")
            .answers::<OneFilter>(200, "The filter."),
        put("/{id}", WebhooksWrite, replace_filter)
            .named("putWebhookFilter")
            .description("Replaces the values of a filter.")
            .reads::<FilterInput>()
            .answers::<OneFilter>(200, "The filter was changed."),
        delete("/{id}", WebhooksWrite, delete_filter)
            .named("deleteWebhookFilter")
            .description("Deletes a filter.")
            .answers::<Done>(200, "The filter was deleted."),
        get("/webhook/{id}", WebhooksRead, |context| list_filters(context, true))
            .named("getFiltersOfWebhook")
            .description("Lists the filters of a webhook.")
            .answers::<FilterList>(200, "The filters."),
    ]
}

fn id(context: &Context) -> String {
    context.param("id").to_owned()
}

async fn list_webhooks(context: Context) -> Result<Answer> {
    let sensor = context.query_value("sensor").filter(|sensor| !sensor.is_empty());
    let webhooks = context.app.db.read(move |tx| webhook::list(tx, sensor.as_deref())).await?;
    Ok(Answer::of(&WebhookList { webhooks }))
}

async fn create_webhook(context: Context) -> Result<Answer> {
    let input: WebhookInput = context.body_as()?;
    context.app.webhooks.check(&input.target_url)?;
    let (now, keyring) = (context.app.clock.now(), context.app.gate.keyring());
    let owner = context.grant.as_ref().map_or("", |grant| grant.name()).to_owned();
    let create =
        move |tx: &mut Tx<'_>| webhook::create(tx, (keyring.master(), now, &owner), input.clone());
    let webhook = context.app.db.write(create).await?;
    Ok(Answer::of(&OneWebhook { webhook }).status(StatusCode::CREATED))
}

async fn read_webhook(context: Context) -> Result<Answer> {
    let id = id(&context);
    let webhook = context.app.db.read(move |tx| webhook::find(tx, &id)).await?;
    Ok(Answer::of(&OneWebhook { webhook }))
}

async fn replace_webhook(context: Context) -> Result<Answer> {
    let input: WebhookInput = context.body_as()?;
    context.app.webhooks.check(&input.target_url)?;
    let (id, now) = (id(&context), context.app.clock.now());
    let keyring = context.app.gate.keyring();
    let replace =
        move |tx: &mut Tx<'_>| webhook::replace(tx, (keyring.master(), now), &id, input.clone());
    let webhook = context.app.db.write(replace).await?;
    Ok(Answer::of(&OneWebhook { webhook }))
}

async fn delete_webhook(context: Context) -> Result<Answer> {
    let id = id(&context);
    let message = format!("the webhook '{id}' was deleted");
    context.app.db.write(move |tx| webhook::delete(tx, &id)).await?;
    Ok(Answer::of(&Done { message }))
}

async fn set_active(context: Context, is_active: bool) -> Result<Answer> {
    let (id, now) = (id(&context), context.app.clock.now());
    let set = move |tx: &mut Tx<'_>| webhook::set_active(tx, now, &id, is_active);
    let webhook = context.app.db.write(set).await?;
    Ok(Answer::of(&OneWebhook { webhook }))
}

async fn list_deliveries(context: Context) -> Result<Answer> {
    let state =
        match context.query_value("state") {
            None => None,
            Some(name) => Some(DeliveryState::named(&name).ok_or_else(|| {
                Problem::invalid("state", "must be one of waiting, delivered, dead")
            })?),
        };
    let rule = "must be a whole number above 0";
    let before = context.parsed_query_value("before", rule)?;
    let limit = context.parsed_query_value("limit", rule)?.unwrap_or(100);
    let limit = i64::min(limit, WEBHOOK_LOG_PAGE_MAX_RECORDS);
    let id = id(&context);
    let list = move |tx: &mut Tx<'_>| log::list(tx, &id, state, before, limit);
    Ok(Answer::of(&DeliveryList { deliveries: context.app.db.read(list).await? }))
}

async fn replay_dead(context: Context) -> Result<Answer> {
    let (id, now) = (id(&context), context.app.clock.now());
    let replayed = context.app.db.write(move |tx| log::replay_dead(tx, now, &id)).await?;
    Ok(Answer::of(&ReplayedDeliveries { replayed }))
}

async fn replay(context: Context) -> Result<Answer> {
    let (id, now) = (id(&context), context.app.clock.now());
    let number = context.param("delivery");
    let number = number.parse().map_err(|_| {
        let message = format!("there is no delivery '{number}'; deliveries have numbers");
        Problem::new(ProblemKind::NotFound, message)
    })?;
    let delivery = context.app.db.write(move |tx| log::replay(tx, now, &id, number)).await?;
    Ok(Answer::of(&OneDelivery { delivery }))
}

async fn list_filters(context: Context, is_of_webhook: bool) -> Result<Answer> {
    let webhook = is_of_webhook.then(|| id(&context));
    let filters = context.app.db.read(move |tx| filter::list(tx, webhook.as_deref())).await?;
    Ok(Answer::of(&FilterList { filters }))
}

async fn create_filter(context: Context) -> Result<Answer> {
    let (input, now) = (context.body_as::<FilterInput>()?, context.app.clock.now());
    let create = move |tx: &mut Tx<'_>| filter::create(tx, now, input.clone());
    let filter = context.app.db.write(create).await?;
    Ok(Answer::of(&OneFilter { filter }).status(StatusCode::CREATED))
}

async fn read_filter(context: Context) -> Result<Answer> {
    let id = id(&context);
    let filter = context.app.db.read(move |tx| filter::find(tx, &id)).await?;
    Ok(Answer::of(&OneFilter { filter }))
}

async fn replace_filter(context: Context) -> Result<Answer> {
    let (input, now) = (context.body_as::<FilterInput>()?, context.app.clock.now());
    let id = id(&context);
    let replace = move |tx: &mut Tx<'_>| filter::replace(tx, now, &id, input.clone());
    Ok(Answer::of(&OneFilter { filter: context.app.db.write(replace).await? }))
}

async fn delete_filter(context: Context) -> Result<Answer> {
    let id = id(&context);
    let message = format!("the webhook filter '{id}' was deleted");
    context.app.db.write(move |tx| filter::delete(tx, &id)).await?;
    Ok(Answer::of(&Done { message }))
}
