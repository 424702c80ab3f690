//! Webhooks: creating, reading, changing and deleting.

use lyceum_access::MasterKey;
use lyceum_access::sealed::SealedColumn;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use crate::repository::webhooks as repository;
use crate::{limits, registry};

pub use crate::repository::webhooks::Webhook;

/// The text that stands for a stored secret in answers. Sent back in an update, it keeps the secret.
pub const HIDDEN_SECRET: &str = "********";

/// A webhook to create, or the new values of one.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookInput {
    /// The name for people.
    #[schemars(length(min = 1, max = limits::WEBHOOK_TEXT_MAX_CHARS))]
    pub name: String,
    /// The address that receives the messages: `https`, unless the settings allow its host.
    #[schemars(length(min = 1, max = limits::WEBHOOK_URL_MAX_CHARS))]
    pub target_url: String,
    /// The secret that signs the messages. If it is `whsec_` and base64, the signing key is the decoded part;
    /// otherwise it is the text itself. In an update, `********` keeps the stored secret.
    #[schemars(length(min = 1, max = limits::WEBHOOK_SECRET_MAX_CHARS))]
    pub secret: String,
    /// Whether the webhook receives messages.
    pub active: bool,
    /// If it is present, the webhook receives only Caliper events of this sensor.
    #[schemars(length(max = limits::WEBHOOK_TEXT_MAX_CHARS))]
    pub sensor: Option<String>,
    /// The description for people.
    #[schemars(length(max = limits::WEBHOOK_TEXT_MAX_CHARS))]
    pub description: Option<String>,
}

/// The caller that creates a webhook.
#[derive(Clone, Debug)]
pub struct WebhookOwner {
    /// The id of the client, person or API key.
    pub id: String,
    /// The name for people.
    pub name: String,
}

/// Creates a webhook. Errors: `Conflict` if the server has reached its limit of webhooks.
pub fn create(
    tx: &mut Tx<'_>,
    (master, now): (&MasterKey, Timestamp),
    owner: WebhookOwner,
    input: WebhookInput,
) -> Result<Webhook> {
    let most = limits::WEBHOOKS_MAX_COUNT;
    if repository::count(tx)? >= most {
        let message = message!("the limit for webhooks is {most}; delete one first");
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    if input.secret == HIDDEN_SECRET {
        return Err(Problem::invalid(
            "secret",
            "must be a secret that only you and the target know",
        ));
    }
    let webhook = Webhook {
        id: Uuid::now_v7().to_string(),
        name: input.name,
        description: input.description,
        target_url: input.target_url,
        secret: input.secret,
        active: input.active,
        sensor: some_text(input.sensor),
        owner: owner.name,
        owner_id: owner.id,
        created: now,
        updated: now,
        deleted: None,
    };
    let sealed = master.seal(&label(&webhook.id), webhook.secret.as_bytes());
    repository::insert(tx, &webhook, &sealed)?;
    registry::changed(tx)?;
    Ok(webhook)
}

fn some_text(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

/// The webhooks that a caller sees.
#[derive(Clone, Debug)]
pub enum VisibleWebhooks {
    /// All of them.
    All,
    /// The webhooks of the owner with this id.
    Of(String),
}

impl VisibleWebhooks {
    pub(crate) fn owner_id(&self) -> Option<&str> {
        match self {
            Self::All => None,
            Self::Of(id) => Some(id),
        }
    }
}

/// The webhooks that the caller sees, or only those of a sensor, in the order of creation.
pub fn list(
    tx: &mut Tx<'_>,
    visible: &VisibleWebhooks,
    sensor: Option<&str>,
) -> Result<Vec<Webhook>> {
    repository::list(tx, visible.owner_id(), sensor)
}

/// A webhook. Errors: `NotFound`, also if the caller does not see it.
pub fn find(tx: &mut Tx<'_>, visible: &VisibleWebhooks, id: &str) -> Result<Webhook> {
    let is_visible = |webhook: &Webhook| match visible {
        VisibleWebhooks::All => true,
        VisibleWebhooks::Of(owner) => webhook.owner_id == *owner,
    };
    repository::find(tx, id)?.filter(is_visible).ok_or_else(|| unknown(id))
}

fn unknown(id: &str) -> Problem {
    Problem::new(ProblemKind::NotFound, message!("there is no webhook with the id '{id}'"))
}

/// Replaces the values of a webhook. Errors: `NotFound`.
pub fn replace(
    tx: &mut Tx<'_>,
    (master, now): (&MasterKey, Timestamp),
    (visible, id): (&VisibleWebhooks, &str),
    input: WebhookInput,
) -> Result<Webhook> {
    let known = find(tx, visible, id)?;
    let webhook = Webhook {
        name: input.name,
        description: input.description,
        target_url: input.target_url,
        secret: input.secret,
        active: input.active,
        sensor: some_text(input.sensor),
        updated: now,
        ..known
    };
    let keeps_secret = webhook.secret == HIDDEN_SECRET;
    let sealed = (!keeps_secret).then(|| master.seal(&label(id), webhook.secret.as_bytes()));
    repository::update(tx, &webhook, sealed.as_deref())?;
    registry::changed(tx)?;
    Ok(webhook)
}

/// Activates or deactivates a webhook. Deliveries that wait stay and are sent once it is active again.
///
/// Errors: `NotFound`.
pub fn set_active(
    tx: &mut Tx<'_>,
    now: Timestamp,
    (visible, id): (&VisibleWebhooks, &str),
    is_active: bool,
) -> Result<Webhook> {
    find(tx, visible, id)?;
    repository::set_active(tx, now, id, is_active)?;
    registry::changed(tx)?;
    find(tx, visible, id)
}

/// Deletes a webhook with its filters and deliveries. Errors: `NotFound`.
pub fn delete(tx: &mut Tx<'_>, visible: &VisibleWebhooks, id: &str) -> Result<()> {
    find(tx, visible, id)?;
    repository::delete(tx, id)?;
    registry::changed(tx)
}

/// The secret of a webhook. Errors: it was sealed with another master key.
pub(crate) fn open_secret(master: &MasterKey, id: &str, sealed: &[u8]) -> Result<String> {
    let opened = master.open(&label(id), sealed).and_then(|bytes| String::from_utf8(bytes).ok());
    opened.ok_or_else(|| {
        Problem::internal(format!(
            "the secret of the webhook {id} was sealed with another master key; restore that key"
        ))
    })
}

/// The sealed secrets of webhooks.
pub const SEALED_SECRETS: SealedColumn =
    SealedColumn { table: "webhooks", column: "secret", key: &["id"], label: |key| label(&key[0]) };

fn label(id: &str) -> String {
    format!("secret of the webhook {id}")
}
