//! Notifications of players.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::{Tx, columns};
use schemars::JsonSchema;
use serde::Serialize;

use super::ms;
use crate::input::{Metadata, PageRequest, text_of};

/// A notification for a player.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Notification {
    /// A UUID.
    pub id: String,
    /// `achievement`, `level` or `welcome`.
    #[serde(rename = "type")]
    pub kind: String,
    /// A short title.
    pub title: String,
    /// The message, one sentence.
    pub message: String,
    /// Data for programs.
    pub metadata: Metadata,
    /// When it happened.
    pub created_at: Timestamp,
    /// When the player saw it.
    pub read_at: Option<Timestamp>,
}

columns!(Notification {
    id: "id",
    kind: "kind",
    title: "title",
    message: "message",
    metadata: "metadata",
    created_at: "created_ms",
    read_at: "read_ms",
});

const COLUMNS: &str = Notification::COLUMNS;

pub(crate) fn insert(tx: &mut Tx<'_>, user: &str, notification: &Notification) -> Result<()> {
    let metadata = text_of(&notification.metadata);
    tx.send(
        "INSERT INTO game_notifications (id, user_id, kind, title, message, metadata, created_ms) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
        &[
            (&notification.id).into(),
            user.into(),
            (&notification.kind).into(),
            (&notification.title).into(),
            (&notification.message).into(),
            (&metadata).into(),
            ms(notification.created_at),
        ],
    )
}

pub(crate) fn find(tx: &mut Tx<'_>, user: &str, id: &str) -> Result<Option<Notification>> {
    let sql = format!("SELECT {COLUMNS} FROM game_notifications WHERE id = $1 AND user_id = $2");
    tx.row(&sql, &[id.into(), user.into()])
}

pub(crate) fn of_user(
    tx: &mut Tx<'_>,
    user: &str,
    unread: bool,
    page: PageRequest,
) -> Result<Vec<Notification>> {
    let condition = if unread { "AND read_ms IS NULL" } else { "" };
    let sql = format!(
        "SELECT {COLUMNS} FROM game_notifications WHERE user_id = $1 {condition} \
         ORDER BY seq DESC LIMIT $2 OFFSET $3"
    );
    tx.rows(&sql, &[user.into(), page.limit.into(), page.offset.into()])
}

/// Marks one or all as read; returns how many were unread.
pub(crate) fn mark_read(
    tx: &mut Tx<'_>,
    now: Timestamp,
    user: &str,
    id: Option<&str>,
) -> Result<u64> {
    let condition = if id.is_some() { "id = $3" } else { "$3 = ''" };
    let sql = format!(
        "UPDATE game_notifications SET read_ms = $1 \
         WHERE user_id = $2 AND read_ms IS NULL AND {condition}"
    );
    tx.execute(&sql, &[ms(now), user.into(), id.unwrap_or_default().into()])
}
