//! Webhooks: their state, and the delivery log, from which deliveries are replayed.

pub(crate) mod view;

use lyceum_api::{Context, Route};
use lyceum_console::language::{message, translated};
use lyceum_console::{Button, Cell, FactList, List, ListFilter, Row, links, screens, t};
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_http::answer::Answer;
use lyceum_store::Tx;
use lyceum_webhooks::filter::Filter;
use lyceum_webhooks::limits::WEBHOOK_LOG_PAGE_MAX_RECORDS;
use lyceum_webhooks::log::{Delivery, DeliveryState};
use lyceum_webhooks::screens::{self as screen, ListedWebhook};
use serde_json::Value;

use super::visitor::query;
use super::{
    Form, Visitor, action, at_most, deadline, on_to, page, show_list, show_list_page, show_page,
};
use crate::console::webhooks::view::{COLUMNS, DELIVERIES, DeliveryPage, WebhookPage};

pub(super) fn routes() -> Vec<Route> {
    let screen = &screens::WEBHOOKS;
    vec![
        page("/webhooks", screen, all),
        page("/webhooks/{id}", screen, one),
        action("/webhooks/{id}/replay", screen, replay_dead),
        page("/webhooks/{id}/deliveries/{delivery}", screen, one_delivery),
        action("/webhooks/{id}/deliveries/{delivery}/replay", screen, replay_one),
    ]
}

async fn all(context: Context, visitor: Visitor) -> Result<Answer> {
    let found = context.app.db.scan(deadline(), screen::list).await?;
    let rows = found.iter().map(row).collect();
    let list = List::new("Webhooks", COLUMNS, query(&context), rows).or_else(
        "There are no webhooks yet. A client creates one with `POST /webhooks`; the integrators' guide shows how.",
    );
    show_list_page("webhooks", visitor.frame(t!("Webhooks")), list)
}

fn row(ListedWebhook { webhook, waiting_count, dead_count }: &ListedWebhook) -> Row {
    let to = links::webhook(&webhook.id);
    let of_state = |state: DeliveryState| format!("{to}?state={}", state.name());
    vec![
        Cell::text(&webhook.name).to(&to),
        Cell::text(&webhook.target_url),
        receives(webhook.sensor.as_deref()),
        state(webhook.active),
        Cell::count(*waiting_count).to(of_state(DeliveryState::Waiting)),
        Cell::count(*dead_count).to(of_state(DeliveryState::Dead)),
    ]
}

fn receives(sensor: Option<&str>) -> Cell {
    Cell::text(
        sensor
            .map_or_else(|| t!("all changes"), |sensor| t!("events of {sensor}", sensor = sensor)),
    )
}

fn state(is_active: bool) -> Cell {
    match is_active {
        true => Cell::text(t!("active")).toned("good"),
        false => Cell::text(t!("not active")).toned("warn"),
    }
}

async fn one(context: Context, visitor: Visitor) -> Result<Answer> {
    let (id, query) = (context.param("id").to_owned(), query(&context));
    let only = DeliveryState::named(query.parameter("state"));
    let details = context.app.db.scan(deadline(), move |tx| screen::details(tx, &id, only)).await?;
    let webhook = &details.webhook;
    let facts = FactList::new(vec![
        ("Id", Cell::text(&webhook.id)),
        ("Target", Cell::text(&webhook.target_url)),
        ("Description", Cell::text(webhook.description.as_deref().unwrap_or("–"))),
        ("Receives", receives(webhook.sensor.as_deref())),
        ("State", state(webhook.active)),
        ("Created by", Cell::text(&webhook.owner)),
        ("Created", visitor.time(webhook.created)),
        ("Changed", visitor.time(webhook.updated)),
    ]);
    let frame = visitor.frame(&webhook.name);
    let path = links::webhook(&webhook.id);
    let deliveries = details.deliveries.iter();
    let rows = deliveries.map(|delivery| delivery_row(&visitor, &path, &frame.token, delivery));
    let states =
        DeliveryState::ALL.into_iter().map(|state| (state.name(), translated(state.name())));
    let list = List::new("Deliveries", DELIVERIES, query, rows.collect())
        .or_else("Nothing was delivered yet.")
        .choice(ListFilter::of("state", "State", states))
        .note(at_most(details.deliveries.len(), WEBHOOK_LOG_PAGE_MAX_RECORDS));
    let filters = details.filters.iter().map(sentence).collect();
    let view = WebhookPage { frame, path, facts, filters, list };
    show_list("deliveries", &view.list, &view)
}

/// A filter such as `type eq "ActivityEvent"`.
fn sentence(filter: &Filter) -> String {
    let operator = serde_json::to_value(filter.filter_operator).unwrap_or_default();
    let operator = operator.as_str().unwrap_or_default();
    let value = Value::from(filter.filter_value.as_str());
    let rule = format!("{} {operator} {value}", filter.filter_key);
    if filter.active { rule } else { t!("{filter} (not active)", filter = rule) }
}

fn last_answer(delivery: &Delivery) -> Cell {
    Cell::text(match (&delivery.error, delivery.status) {
        (Some(error), _) => message(error),
        (None, Some(status)) => message(&message!("the target answered {status}")),
        (None, None) => "–".to_owned(),
    })
}

async fn one_delivery(context: Context, visitor: Visitor) -> Result<Answer> {
    let (id, number) = (context.param("id").to_owned(), delivery_number(&context)?);
    let (webhook, delivery, body) =
        context.app.db.read(move |tx| screen::delivery(tx, &id, number)).await?;
    let path = links::webhook(&webhook.id);
    let facts = FactList::new(vec![
        ("Message id", Cell::text(&delivery.message_id)),
        ("Type", Cell::text(&delivery.topic)),
        ("Object", Cell::text(&delivery.object)),
        ("State", Cell::text(translated(delivery.state.name()))),
        ("Attempts", Cell::count(delivery.attempts)),
        ("Last answer", last_answer(&delivery)),
        ("Created", visitor.time(delivery.created_at)),
        ("Due", visitor.time(delivery.due_at)),
        ("Ended", visitor.time_if_any(delivery.ended_at)),
    ]);
    let indented = serde_json::from_str::<Value>(&body)
        .and_then(|value| serde_json::to_string_pretty(&value))
        .map_err(Problem::internal)?;
    show_page(&DeliveryPage {
        frame: visitor.frame(t!("Delivery {n}", n = number)),
        replay: format!("{path}/deliveries/{number}/replay"),
        webhook: (path, webhook.name),
        facts,
        body: indented,
    })
}

fn delivery_row(visitor: &Visitor, path: &str, token: &str, delivery: &Delivery) -> Row {
    let tone = match delivery.state {
        DeliveryState::Delivered => "good",
        DeliveryState::Waiting => "warn",
        DeliveryState::Dead => "bad",
    };
    let to = format!("{path}/deliveries/{}", delivery.id);
    let button = Button {
        path: format!("{to}/replay"),
        fields: vec![("token", token.to_owned())],
        description: t!("Replay"),
        tone: "",
    };
    vec![
        Cell::count(delivery.id).to(to),
        visitor.time(delivery.created_at),
        Cell::text(&delivery.topic),
        Cell::text(&delivery.object),
        Cell::text(translated(delivery.state.name())).toned(tone),
        last_answer(delivery),
        Cell::button(button),
    ]
}

async fn replay_dead(context: Context, visitor: Visitor, _: Form) -> Result<Answer> {
    replay(&context, &visitor, None).await
}

async fn replay_one(context: Context, visitor: Visitor, _: Form) -> Result<Answer> {
    let number = delivery_number(&context)?;
    replay(&context, &visitor, Some(number)).await
}

/// The number in the address. Errors: `NotFound`.
fn delivery_number(context: &Context) -> Result<i64> {
    let text = context.param("delivery");
    text.parse().map_err(|_| {
        let message = message!("there is no delivery '{text}'; deliveries have numbers");
        Problem::new(ProblemKind::NotFound, message)
    })
}

async fn replay(context: &Context, visitor: &Visitor, delivery: Option<i64>) -> Result<Answer> {
    let (id, who) = (context.param("id").to_owned(), visitor.person.email.clone());
    let (now, to) = (context.app.clock.now(), links::webhook(&id));
    let replay = move |tx: &mut Tx<'_>| screen::replay(tx, (now, &who), &id, delivery);
    context.app.db.write(replay).await?;
    Ok(on_to(&to))
}
