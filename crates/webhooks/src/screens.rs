//! The data of the console's pages: all webhooks with the number of deliveries that wait or are dead, and one with its
//! log.

use std::collections::HashMap;

use lyceum_access::audit::AuditChange;
use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;
use serde_json::json;

use crate::filter::{self, Filter};
use crate::limits;
use crate::log::{self, Delivery, DeliveryState};
use crate::repository::deliveries as repository;
use crate::webhook::{self, VisibleWebhooks, Webhook};

/// A webhook with the numbers of its deliveries.
#[derive(Debug)]
pub struct ListedWebhook {
    /// The webhook.
    pub webhook: Webhook,
    /// The number of deliveries that wait.
    pub waiting_count: i64,
    /// The number of dead deliveries.
    pub dead_count: i64,
}

/// All webhooks.
pub fn list(tx: &mut Tx<'_>) -> Result<Vec<ListedWebhook>> {
    let counts: HashMap<(String, String), i64> = repository::open_counts(tx)?
        .into_iter()
        .map(|(webhook, state, count)| ((webhook, state), count))
        .collect();
    let count = |webhook: &Webhook, state: DeliveryState| {
        counts.get(&(webhook.id.clone(), state.name().to_owned())).copied().unwrap_or_default()
    };
    let listed =
        webhook::list(tx, &VisibleWebhooks::All, None)?.into_iter().map(|webhook| ListedWebhook {
            waiting_count: count(&webhook, DeliveryState::Waiting),
            dead_count: count(&webhook, DeliveryState::Dead),
            webhook,
        });
    Ok(listed.collect())
}

/// A webhook with its filters and its newest deliveries.
#[derive(Debug)]
pub struct WebhookDetails {
    /// The webhook.
    pub webhook: Webhook,
    /// Its filters.
    pub filters: Vec<Filter>,
    /// Its newest deliveries.
    pub deliveries: Vec<Delivery>,
}

/// A webhook. Errors: `NotFound`.
pub fn details(tx: &mut Tx<'_>, id: &str, state: Option<DeliveryState>) -> Result<WebhookDetails> {
    let most = limits::WEBHOOK_LOG_PAGE_MAX_RECORDS;
    Ok(WebhookDetails {
        webhook: webhook::find(tx, &VisibleWebhooks::All, id)?,
        filters: filter::of_webhook(tx, &VisibleWebhooks::All, id)?,
        deliveries: log::list(tx, (&VisibleWebhooks::All, id), state, None, most)?,
    })
}

/// A webhook and one of its deliveries with the body of the message. Errors: `NotFound`.
pub fn delivery(tx: &mut Tx<'_>, webhook: &str, id: i64) -> Result<(Webhook, Delivery, String)> {
    let webhook = webhook::find(tx, &VisibleWebhooks::All, webhook)?;
    let (delivery, body) = log::find(tx, &webhook.id, id)?;
    Ok((webhook, delivery, body))
}

/// Sends a delivery, or all dead ones, again, and records who did it. Errors: `NotFound`.
pub fn replay(
    tx: &mut Tx<'_>,
    (now, who): (Timestamp, &str),
    webhook: &str,
    delivery: Option<i64>,
) -> Result<()> {
    match delivery {
        Some(id) => drop(log::replay(tx, now, (&VisibleWebhooks::All, webhook), id)?),
        None => drop(log::replay_dead(tx, now, (&VisibleWebhooks::All, webhook))?),
    }
    let change = AuditChange { who, what: "webhook.replay", subject: webhook };
    change.note(tx, now, &json!({ "delivery": delivery }))
}
