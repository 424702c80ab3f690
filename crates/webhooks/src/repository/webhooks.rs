//! Webhooks.

use std::collections::HashMap;

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::{Tx, columns, dialect};
use schemars::JsonSchema;
use serde::Serialize;

/// A webhook.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Webhook {
    /// A UUID.
    pub id: String,
    /// The name for people.
    pub name: String,
    /// The description for people.
    pub description: Option<String>,
    /// The address that receives the messages.
    pub target_url: String,
    /// The secret as it was sent, in the answer to its creation or change. Otherwise `********`.
    pub secret: String,
    /// Whether the webhook receives messages.
    pub active: bool,
    /// The sensor whose Caliper events it receives; null for all changes.
    pub sensor: Option<String>,
    /// The client, person or API key that created the webhook. It receives only what its owner has access to.
    pub owner: String,
    /// The id of the owner, which does not change with the name.
    #[serde(skip)]
    pub owner_id: String,
    /// When it was created.
    #[serde(rename = "created_at")]
    pub created: Timestamp,
    /// When it was changed last.
    #[serde(rename = "updated_at")]
    pub updated: Timestamp,
    /// Always null: a deleted webhook is gone.
    #[serde(rename = "deleted_at")]
    pub deleted: Option<Timestamp>,
}

columns!(Webhook {
    id: "id",
    name: "name",
    description: "description",
    target_url: "target_url",
    secret: "'********'",
    active: "active",
    sensor: "sensor",
    owner: "owner",
    owner_id: "owner_id",
    created: "created_ms",
    updated: "updated_ms",
    deleted: "NULL",
});

const COLUMNS: &str = Webhook::COLUMNS;

pub(crate) fn count(tx: &mut Tx<'_>) -> Result<i64> {
    Ok(tx.row("SELECT COUNT(*) FROM webhooks", &[])?.unwrap_or_default())
}

pub(crate) fn insert(tx: &mut Tx<'_>, webhook: &Webhook, sealed: &[u8]) -> Result<()> {
    let sql = "INSERT INTO webhooks (id, name, description, target_url, secret, sensor, active, \
               owner, owner_id, created_ms, updated_ms) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    let values = [
        (&webhook.id).into(),
        (&webhook.name).into(),
        webhook.description.as_deref().into(),
        (&webhook.target_url).into(),
        sealed.into(),
        webhook.sensor.as_deref().into(),
        i64::from(webhook.active).into(),
        (&webhook.owner).into(),
        (&webhook.owner_id).into(),
        webhook.created.milliseconds().into(),
        webhook.updated.milliseconds().into(),
    ];
    tx.send(sql, &values)
}

/// Writes the values of a webhook, and its sealed secret if there is a new one.
pub(crate) fn update(tx: &mut Tx<'_>, webhook: &Webhook, sealed: Option<&[u8]>) -> Result<()> {
    let sql = "UPDATE webhooks SET name = $1, description = $2, target_url = $3, sensor = $4, \
               active = $5, updated_ms = $6 WHERE id = $7";
    let values = [
        (&webhook.name).into(),
        webhook.description.as_deref().into(),
        (&webhook.target_url).into(),
        webhook.sensor.as_deref().into(),
        i64::from(webhook.active).into(),
        webhook.updated.milliseconds().into(),
        (&webhook.id).into(),
    ];
    tx.send(sql, &values)?;
    if let Some(sealed) = sealed {
        let sql = "UPDATE webhooks SET secret = $1 WHERE id = $2";
        tx.send(sql, &[sealed.into(), (&webhook.id).into()])?;
    }
    Ok(())
}

pub(crate) fn list(
    tx: &mut Tx<'_>,
    owner_id: Option<&str>,
    sensor: Option<&str>,
) -> Result<Vec<Webhook>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM webhooks WHERE ($1 = '' OR owner_id = $1) \
         AND ($2 = '' OR sensor = $2) ORDER BY created_ms, id"
    );
    tx.rows(&sql, &[owner_id.unwrap_or_default().into(), sensor.unwrap_or_default().into()])
}

pub(crate) fn find(tx: &mut Tx<'_>, id: &str) -> Result<Option<Webhook>> {
    tx.row(&format!("SELECT {COLUMNS} FROM webhooks WHERE id = $1"), &[id.into()])
}

/// Activates or deactivates a webhook. `false`: it does not exist.
pub(crate) fn set_active(
    tx: &mut Tx<'_>,
    now: Timestamp,
    id: &str,
    is_active: bool,
) -> Result<bool> {
    let sql = "UPDATE webhooks SET active = $1, updated_ms = $2 WHERE id = $3";
    let values = [i64::from(is_active).into(), now.milliseconds().into(), id.into()];
    Ok(tx.execute(sql, &values)? == 1)
}

/// Deletes a webhook with its filters and deliveries.
pub(crate) fn delete(tx: &mut Tx<'_>, id: &str) -> Result<()> {
    tx.send("DELETE FROM webhook_filters WHERE webhook = $1", &[id.into()])?;
    tx.send("DELETE FROM webhook_deliveries WHERE webhook = $1", &[id.into()])?;
    tx.send("DELETE FROM webhooks WHERE id = $1", &[id.into()])
}

pub(crate) fn any_active(tx: &mut Tx<'_>) -> Result<bool> {
    let sql = "SELECT 1 FROM webhooks WHERE active = 1 LIMIT 1";
    Ok(tx.query_one(sql, &[], |_| Ok(()))?.is_some())
}

/// The id, the owner and the sensor of each active webhook.
pub(crate) fn active(tx: &mut Tx<'_>) -> Result<Vec<(String, String, Option<String>)>> {
    let sql = "SELECT id, owner_id, sensor FROM webhooks WHERE active = 1 ORDER BY created_ms, id";
    tx.rows(sql, &[])
}

/// The owners of webhooks, by the id of the webhook.
pub(crate) fn owners(tx: &mut Tx<'_>, ids: &[&str]) -> Result<HashMap<String, String>> {
    let list = serde_json::to_string(ids).map_err(Problem::internal)?;
    let is_one = dialect::is_one_of(tx.dialect(), "id", "$1");
    let sql = format!("SELECT id, owner_id FROM webhooks WHERE {is_one}");
    let rows: Vec<(String, String)> = tx.rows(&sql, &[list.as_str().into()])?;
    Ok(rows.into_iter().collect())
}

/// The address and the sealed secret of an active webhook.
pub(crate) fn target(tx: &mut Tx<'_>, id: &str) -> Result<Option<(String, Vec<u8>)>> {
    tx.row("SELECT target_url, secret FROM webhooks WHERE id = $1 AND active = 1", &[id.into()])
}
