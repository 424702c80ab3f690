//! Webhooks: which programs receive changes, and what was delivered to them.

use askama::Template;
use lyceum_console::{Column, FactList, Frame, List};

/// The columns of the list of webhooks.
pub(crate) const COLUMNS: &[Column] = &[
    Column::text("name", "Name"),
    Column::text("target", "Target"),
    Column::text("receives", "Receives"),
    Column::text("state", "State"),
    Column::number("waiting", "Waiting"),
    Column::number("dead", "Dead"),
];

/// The columns of the delivery log.
pub(crate) const DELIVERIES: &[Column] = &[
    Column::number("number", "Number"),
    Column::text("created", "Created"),
    Column::text("type", "Type"),
    Column::text("object", "Object"),
    Column::text("state", "State"),
    Column::text("answer", "Last answer"),
    Column::buttons("Replay"),
];

/// The page of one delivery.
#[derive(Template)]
#[template(path = "console/webhooks/webhook_delivery.html")]
pub(crate) struct DeliveryPage {
    /// The frame.
    pub frame: Frame,
    /// The address and name of the webhook.
    pub webhook: (String, String),
    /// The address to which the replay is sent.
    pub replay: String,
    /// Facts about the delivery.
    pub facts: FactList,
    /// The body of the message.
    pub body: String,
}

/// The page of one webhook, with its delivery log.
#[derive(Template)]
#[template(path = "console/webhooks/webhook.html")]
pub(crate) struct WebhookPage {
    /// The frame.
    pub frame: Frame,
    /// The address of this page.
    pub path: String,
    /// Facts about the webhook.
    pub facts: FactList,
    /// Its filters, each as a sentence.
    pub filters: Vec<String>,
    /// Its deliveries.
    pub list: List,
}
