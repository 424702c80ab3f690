//! Webhooks: registration, filters, the delivery log.

use std::num::NonZeroU32;

use http::StatusCode;
use lyceum_access::Scope::{WebhooksRead, WebhooksWrite};
use lyceum_access::audit::AuditChange;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_http::answer::Answer;
use lyceum_http::auth::Grant;
use lyceum_http::render::Rendering;
use lyceum_http::route::{ParamPlace, delete, get, post, put};
use lyceum_store::Tx;
use lyceum_webhooks::filter::{self, Filter, FilterInput};
use lyceum_webhooks::limits::WEBHOOK_LOG_PAGE_MAX_RECORDS;
use lyceum_webhooks::log::{self, Delivery, DeliveryState};
use lyceum_webhooks::topics;
use lyceum_webhooks::webhook::{self, VisibleWebhooks, Webhook, WebhookInput, WebhookOwner};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::shape::{one_of, text};
use crate::{Area, Context, Route};

pub(super) fn areas() -> Vec<Area> {
    vec![
        Area {
            name: "webhooks",
            base: "/webhooks",
            rendering: Rendering::Caliper,
            description: "Webhooks: programs that receive changes as signed messages, and what was delivered.",
            routes: [list_routes(), webhook_routes(), delivery_routes()]
                .into_iter()
                .flatten()
                .collect(),
        },
        Area {
            name: "webhook-filters",
            base: "/webhook-filters",
            rendering: Rendering::Caliper,
            description: "Filters of webhooks: conditions that a change must meet to be delivered.",
            routes: filter_routes(),
        },
    ]
}

fn list_routes() -> Vec<Route> {
    vec![
        get("", WebhooksRead, list_webhooks)
            .within_reach()
            .named("getWebhooks")
            .description("Lists all webhooks, or those of a sensor. Callers who do not read everything see their own webhooks, here and elsewhere.")
            .param(ParamPlace::Query, "sensor", text(), "The sensor.")
            .answers::<WebhookList>(200, "The webhooks."),
        post("", WebhooksWrite, create_webhook)
            .within_reach()
            .named("postWebhook")
            .description("Creates a webhook. Only this answer contains the secret.")
            .reads::<WebhookInput>()
            .answers::<OneWebhook>(201, "The webhook was created."),
    ]
}

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

async fn list_webhooks(context: Context) -> Result<Answer> {
    let sensor = context.query_value("sensor").filter(|sensor| !sensor.is_empty());
    let visible = visible_webhooks(&context);
    let list = move |tx: &mut Tx<'_>| webhook::list(tx, &visible, sensor.as_deref());
    let webhooks = context.app.db.read(list).await?;
    Ok(Answer::of(&WebhookList { webhooks }))
}

async fn create_webhook(context: Context) -> Result<Answer> {
    let input: WebhookInput = context.body_as()?;
    context.app.webhooks.check(&input.target_url)?;
    let (now, keyring) = (context.app.clock.now(), context.app.gate.keyring());
    let grant = context.grant.as_ref().ok_or_else(|| Problem::internal("the route is public"))?;
    let owner = WebhookOwner { id: grant.client_id().to_owned(), name: grant.name().to_owned() };
    let details = json!({ "targetUrl": input.target_url });
    let create = move |tx: &mut Tx<'_>| {
        let created = webhook::create(tx, (keyring.master(), now), owner.clone(), input.clone())?;
        Ok((created.id.clone(), created))
    };
    let webhook = change(&context, ("webhook.create", details), create).await?;
    Ok(Answer::of(&OneWebhook { webhook }).status(StatusCode::CREATED))
}

fn webhook_routes() -> Vec<Route> {
    vec![
        get("/{id}", WebhooksRead, read_webhook)
            .within_reach()
            .named("getWebhook")
            .description("Reads a webhook.")
            .answers::<OneWebhook>(200, "The webhook."),
        put("/{id}", WebhooksWrite, replace_webhook)
            .within_reach()
            .named("putWebhook")
            .description("Replaces the values of a webhook.")
            .reads::<WebhookInput>()
            .answers::<OneWebhook>(200, "The webhook was changed."),
        delete("/{id}", WebhooksWrite, delete_webhook)
            .within_reach()
            .named("deleteWebhook")
            .description("Deletes a webhook with its filters and deliveries.")
            .answers::<Done>(200, "The webhook was deleted."),
        put("/{id}/activate", WebhooksWrite, |context| set_active(context, true))
            .within_reach()
            .named("activateWebhook")
            .description("Activates a webhook: it receives all changes that begin after the answer.")
            .reads_as(&[])
            .answers::<OneWebhook>(200, "The webhook is active."),
        put("/{id}/deactivate", WebhooksWrite, |context| set_active(context, false))
            .within_reach()
            .named("deactivateWebhook")
            .description("Deactivates a webhook. Its waiting deliveries are sent when it is activated again.")
            .reads_as(&[])
            .answers::<OneWebhook>(200, "The webhook is not active."),
    ]
}

/// The result of an action.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Done {
    message: String,
}

async fn read_webhook(context: Context) -> Result<Answer> {
    let (id, visible) = (id(&context), visible_webhooks(&context));
    let webhook = context.app.db.read(move |tx| webhook::find(tx, &visible, &id)).await?;
    Ok(Answer::of(&OneWebhook { webhook }))
}

async fn replace_webhook(context: Context) -> Result<Answer> {
    let input: WebhookInput = context.body_as()?;
    context.app.webhooks.check(&input.target_url)?;
    let (id, visible, now) = (id(&context), visible_webhooks(&context), context.app.clock.now());
    let keyring = context.app.gate.keyring();
    let details = json!({ "targetUrl": input.target_url });
    let replace = move |tx: &mut Tx<'_>| {
        let replaced =
            webhook::replace(tx, (keyring.master(), now), (&visible, &id), input.clone())?;
        Ok((id.clone(), replaced))
    };
    let webhook = change(&context, ("webhook.update", details), replace).await?;
    Ok(Answer::of(&OneWebhook { webhook }))
}

async fn delete_webhook(context: Context) -> Result<Answer> {
    let (id, visible) = (id(&context), visible_webhooks(&context));
    let message = format!("the webhook '{id}' was deleted");
    let delete = move |tx: &mut Tx<'_>| Ok((id.clone(), webhook::delete(tx, &visible, &id)?));
    change(&context, ("webhook.delete", Value::Null), delete).await?;
    Ok(Answer::of(&Done { message }))
}

async fn set_active(context: Context, is_active: bool) -> Result<Answer> {
    let (id, visible, now) = (id(&context), visible_webhooks(&context), context.app.clock.now());
    let set = move |tx: &mut Tx<'_>| {
        Ok((id.clone(), webhook::set_active(tx, now, (&visible, &id), is_active)?))
    };
    let details = json!({ "active": is_active });
    let webhook = change(&context, ("webhook.activate", details), set).await?;
    Ok(Answer::of(&OneWebhook { webhook }))
}

/// Deliveries on a page, unless the request names another number.
const DELIVERIES_DEFAULT_COUNT: i64 = 100;

fn delivery_routes() -> Vec<Route> {
    let states: Vec<&str> = DeliveryState::ALL.into_iter().map(DeliveryState::name).collect();
    vec![
        get("/{id}/deliveries", WebhooksRead, list_deliveries)
            .within_reach()
            .named("getWebhookDeliveries")
            .description("Lists the deliveries of a webhook, the newest first.")
            .param(ParamPlace::Query, "state", one_of(&states), "Only deliveries in this state.")
            .param(
                ParamPlace::Query,
                "before",
                json!({ "type": "integer", "minimum": 1 }),
                "Only deliveries with smaller ids, for the next page.",
            )
            .page_limit(DELIVERIES_DEFAULT_COUNT, WEBHOOK_LOG_PAGE_MAX_RECORDS)
            .answers::<DeliveryList>(200, "The deliveries."),
        post("/{id}/deliveries/replay", WebhooksWrite, replay_dead)
            .within_reach()
            .named("replayDeadWebhookDeliveries")
            .description("Sends all dead deliveries of a webhook again, with the same message ids.")
            .reads_as(&[])
            .answers::<ReplayedDeliveries>(200, "The deliveries wait to be sent."),
        post("/{id}/deliveries/{delivery}/replay", WebhooksWrite, replay)
            .within_reach()
            .named("replayWebhookDelivery")
            .description("Sends a delivery again, with the same message id.")
            .reads_as(&[])
            .answers::<OneDelivery>(200, "The delivery waits to be sent."),
    ]
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct DeliveryList {
    deliveries: Vec<Delivery>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct ReplayedDeliveries {
    /// The number of deliveries.
    replayed: u64,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct OneDelivery {
    delivery: Delivery,
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
    let limit = context.parsed_query_value::<NonZeroU32>("limit", rule)?;
    let limit = limit.map_or(DELIVERIES_DEFAULT_COUNT, |limit| limit.get().into());
    let limit = i64::min(limit, WEBHOOK_LOG_PAGE_MAX_RECORDS);
    let (id, visible) = (id(&context), visible_webhooks(&context));
    let list = move |tx: &mut Tx<'_>| log::list(tx, (&visible, &id), state, before, limit);
    Ok(Answer::of(&DeliveryList { deliveries: context.app.db.read(list).await? }))
}

async fn replay_dead(context: Context) -> Result<Answer> {
    let (id, visible, now) = (id(&context), visible_webhooks(&context), context.app.clock.now());
    let replay =
        move |tx: &mut Tx<'_>| Ok((id.clone(), log::replay_dead(tx, now, (&visible, &id))?));
    let replayed = change(&context, ("webhook.replay", Value::Null), replay).await?;
    Ok(Answer::of(&ReplayedDeliveries { replayed }))
}

async fn replay(context: Context) -> Result<Answer> {
    let (id, visible, now) = (id(&context), visible_webhooks(&context), context.app.clock.now());
    let number = context.param("delivery");
    let number = number.parse().map_err(|_| {
        let message = message!("there is no delivery '{number}'; deliveries have numbers");
        Problem::new(ProblemKind::NotFound, message)
    })?;
    let replay =
        move |tx: &mut Tx<'_>| Ok((id.clone(), log::replay(tx, now, (&visible, &id), number)?));
    let details = json!({ "delivery": number });
    let delivery = change(&context, ("webhook.replay", details), replay).await?;
    Ok(Answer::of(&OneDelivery { delivery }))
}

fn filter_routes() -> Vec<Route> {
    vec![
        get("", WebhooksRead, list_filters)
            .within_reach()
            .named("getWebhookFilters")
            .description("Lists all filters.")
            .answers::<FilterList>(200, "The filters."),
        post("", WebhooksWrite, create_filter)
            .within_reach()
            .named("postWebhookFilter")
            .description("Creates a filter. A change must meet all active filters of a webhook.")
            .reads::<FilterInput>()
            .answers::<OneFilter>(201, "The filter was created."),
        get("/{id}", WebhooksRead, read_filter)
            .within_reach()
            .named("getWebhookFilter")
            .description("Reads a filter.")
            .answers::<OneFilter>(200, "The filter."),
        put("/{id}", WebhooksWrite, replace_filter)
            .within_reach()
            .named("putWebhookFilter")
            .description("Replaces the values of a filter.")
            .reads::<FilterInput>()
            .answers::<OneFilter>(200, "The filter was changed."),
        delete("/{id}", WebhooksWrite, delete_filter)
            .within_reach()
            .named("deleteWebhookFilter")
            .description("Deletes a filter.")
            .answers::<Done>(200, "The filter was deleted."),
        get("/webhook/{id}", WebhooksRead, filters_of_webhook)
            .within_reach()
            .named("getFiltersOfWebhook")
            .description("Lists the filters of a webhook.")
            .answers::<FilterList>(200, "The filters."),
    ]
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

async fn list_filters(context: Context) -> Result<Answer> {
    let visible = visible_webhooks(&context);
    let filters = context.app.db.read(move |tx| filter::list(tx, &visible)).await?;
    Ok(Answer::of(&FilterList { filters }))
}

async fn create_filter(context: Context) -> Result<Answer> {
    let (input, now) = (context.body_as::<FilterInput>()?, context.app.clock.now());
    let visible = visible_webhooks(&context);
    let create = move |tx: &mut Tx<'_>| {
        let created = filter::create(tx, now, &visible, input.clone())?;
        Ok((created.id.clone(), created))
    };
    let filter = change(&context, ("webhook_filter.create", Value::Null), create).await?;
    Ok(Answer::of(&OneFilter { filter }).status(StatusCode::CREATED))
}

async fn read_filter(context: Context) -> Result<Answer> {
    let (id, visible) = (id(&context), visible_webhooks(&context));
    let filter = context.app.db.read(move |tx| filter::find(tx, &visible, &id)).await?;
    Ok(Answer::of(&OneFilter { filter }))
}

async fn replace_filter(context: Context) -> Result<Answer> {
    let (input, now) = (context.body_as::<FilterInput>()?, context.app.clock.now());
    let (id, visible) = (id(&context), visible_webhooks(&context));
    let replace = move |tx: &mut Tx<'_>| {
        Ok((id.clone(), filter::replace(tx, now, (&visible, &id), input.clone())?))
    };
    let filter = change(&context, ("webhook_filter.update", Value::Null), replace).await?;
    Ok(Answer::of(&OneFilter { filter }))
}

async fn delete_filter(context: Context) -> Result<Answer> {
    let (id, visible) = (id(&context), visible_webhooks(&context));
    let message = format!("the webhook filter '{id}' was deleted");
    let delete = move |tx: &mut Tx<'_>| Ok((id.clone(), filter::delete(tx, &visible, &id)?));
    change(&context, ("webhook_filter.delete", Value::Null), delete).await?;
    Ok(Answer::of(&Done { message }))
}

async fn filters_of_webhook(context: Context) -> Result<Answer> {
    let (id, visible) = (id(&context), visible_webhooks(&context));
    let filters = context.app.db.read(move |tx| filter::of_webhook(tx, &visible, &id)).await?;
    Ok(Answer::of(&FilterList { filters }))
}

fn id(context: &Context) -> String {
    context.param("id").to_owned()
}

/// Callers who read less than everything see only their own webhooks. Otherwise they could lead a webhook of an owner who
/// reads more to a target of their own.
fn visible_webhooks(context: &Context) -> VisibleWebhooks {
    let reads_all =
        |grant: &Grant| !context.reach().is_limited() && topics::are_all_read_with(grant.rights());
    match &context.grant {
        Some(grant) if !reads_all(grant) => VisibleWebhooks::Of(grant.client_id().to_owned()),
        _ => VisibleWebhooks::All,
    }
}

/// Makes a change, with an entry in the audit log. `work` returns the id of what it changed, and its result.
async fn change<T: Send + 'static>(
    context: &Context,
    (what, details): (&'static str, Value),
    mut work: impl FnMut(&mut Tx<'_>) -> Result<(String, T)> + Send + 'static,
) -> Result<T> {
    let grant = context.grant.as_ref().ok_or_else(|| Problem::internal("the route is public"))?;
    let (who, now) = (grant.name().to_owned(), context.app.clock.now());
    let write = move |tx: &mut Tx<'_>| {
        let (subject, result) = work(tx)?;
        AuditChange { who: &who, what, subject: &subject }.note(tx, now, &details)?;
        Ok(result)
    };
    context.app.db.write(write).await
}
