//! Filters.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::{Tx, columns};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A filter.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "WebhookFilter")]
pub struct Filter {
    /// A UUID.
    pub id: String,
    /// The webhook.
    pub webhook_id: String,
    /// The path of the value.
    pub filter_key: String,
    /// The value to compare with.
    pub filter_value: String,
    /// The type as which values are compared.
    pub filter_type: FilterType,
    /// How the values are compared.
    pub filter_operator: FilterOperator,
    /// Whether the filter counts.
    pub active: bool,
    /// When it was created.
    #[serde(rename = "created_at")]
    pub created: Timestamp,
    /// When it was changed last.
    #[serde(rename = "updated_at")]
    pub updated: Timestamp,
    /// Always null: a deleted filter is gone.
    #[serde(rename = "deleted_at")]
    pub deleted: Option<Timestamp>,
}

/// The type as which values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FilterType {
    /// Texts, by their bytes.
    String,
    /// Numbers.
    Number,
    /// `true` and `false`.
    Boolean,
}

/// How a value is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FilterOperator {
    /// Equal.
    Eq,
    /// Not equal.
    Neq,
    /// Greater.
    Gt,
    /// Greater or equal.
    Gte,
    /// Less.
    Lt,
    /// Less or equal.
    Lte,
    /// Contains the text.
    Contains,
    /// Does not contain the text.
    NotContains,
    /// Is one of the values, which commas separate, or which are a JSON array.
    In,
    /// Differs from all of the values.
    NotIn,
    /// Starts with the text.
    StartsWith,
    /// Ends with the text.
    EndsWith,
    /// A part of the text matches the regular expression.
    Regexp,
}

columns!(Filter {
    id: "f.id",
    webhook_id: "f.webhook",
    filter_key: "f.filter_key",
    filter_value: "f.filter_value",
    filter_type: "f.filter_type",
    filter_operator: "f.filter_operator",
    active: "f.active",
    created: "f.created_ms",
    updated: "f.updated_ms",
    deleted: "NULL",
});

const COLUMNS: &str = Filter::COLUMNS;

pub(crate) fn count(tx: &mut Tx<'_>, webhook: &str) -> Result<i64> {
    let sql = "SELECT COUNT(*) FROM webhook_filters WHERE webhook = $1";
    Ok(tx.row(sql, &[webhook.into()])?.unwrap_or_default())
}

pub(crate) fn insert(tx: &mut Tx<'_>, filter: &Filter) -> Result<()> {
    let sql = "INSERT INTO webhook_filters (id, webhook, filter_key, filter_value, filter_type, \
               filter_operator, active, created_ms, updated_ms) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let values = [
        (&filter.id).into(),
        (&filter.webhook_id).into(),
        (&filter.filter_key).into(),
        (&filter.filter_value).into(),
        filter.filter_type.name().into(),
        filter.filter_operator.name().into(),
        i64::from(filter.active).into(),
        filter.created.milliseconds().into(),
        filter.updated.milliseconds().into(),
    ];
    tx.send(sql, &values)
}

pub(crate) fn list(tx: &mut Tx<'_>, owner_id: Option<&str>) -> Result<Vec<Filter>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM webhook_filters f JOIN webhooks w ON w.id = f.webhook \
         WHERE $1 = '' OR w.owner_id = $1 ORDER BY f.created_ms, f.id"
    );
    tx.rows(&sql, &[owner_id.unwrap_or_default().into()])
}

pub(crate) fn of_webhook(tx: &mut Tx<'_>, webhook: &str) -> Result<Vec<Filter>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM webhook_filters f WHERE f.webhook = $1 ORDER BY f.created_ms, f.id"
    );
    tx.rows(&sql, &[webhook.into()])
}

pub(crate) fn find(tx: &mut Tx<'_>, id: &str) -> Result<Option<Filter>> {
    let sql = format!("SELECT {COLUMNS} FROM webhook_filters f WHERE f.id = $1");
    tx.row(&sql, &[id.into()])
}

pub(crate) fn delete(tx: &mut Tx<'_>, id: &str) -> Result<()> {
    tx.send("DELETE FROM webhook_filters WHERE id = $1", &[id.into()])
}

/// The active filters of active webhooks.
pub(crate) fn active(tx: &mut Tx<'_>) -> Result<Vec<Filter>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM webhook_filters f JOIN webhooks w ON w.id = f.webhook \
         WHERE f.active = 1 AND w.active = 1"
    );
    tx.rows(&sql, &[])
}
