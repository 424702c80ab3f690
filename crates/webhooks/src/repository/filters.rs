//! Filters.

use lyceum_core::Result;
use lyceum_store::{Tx, columns};

use crate::filter::Filter;

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
