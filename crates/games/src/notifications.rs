//! Notifications of players, such as achievements and levels reached.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_store::Tx;
use serde_json::Value;
use uuid::Uuid;

use crate::input::{Metadata, PageRequest};
use crate::repository::notifications as repository;

pub use crate::repository::notifications::Notification;

/// A new notification.
#[derive(Clone, Debug)]
pub struct NewNotification {
    /// See [`Notification::kind`].
    pub kind: &'static str,
    /// A short title.
    pub title: String,
    /// The message, one sentence.
    pub message: String,
    /// Data for programs, an object.
    pub metadata: Value,
}

/// Notifies a player.
pub fn notify(tx: &mut Tx<'_>, now: Timestamp, user: &str, news: NewNotification) -> Result<()> {
    let metadata = match news.metadata {
        Value::Object(metadata) => metadata,
        _ => Metadata::new(),
    };
    let notification = Notification {
        id: Uuid::now_v7().to_string(),
        kind: news.kind.to_owned(),
        title: news.title,
        message: news.message,
        metadata,
        created_at: now,
        read_at: None,
    };
    repository::insert(tx, user, &notification)
}

/// The notifications of a player, newest first: all, or those that the player has not read.
pub fn of_user(
    tx: &mut Tx<'_>,
    user: &str,
    unread: bool,
    page: PageRequest,
) -> Result<Vec<Notification>> {
    repository::of_user(tx, user, unread, page)
}

/// Marks a notification as read, unless it already is. Errors: `NotFound`.
pub fn mark_read(tx: &mut Tx<'_>, now: Timestamp, user: &str, id: &str) -> Result<Notification> {
    repository::mark_read(tx, now, user, Some(id))?;
    repository::find(tx, user, id)?.ok_or_else(|| {
        let message = message!("there is no notification '{id}' of this player");
        Problem::new(ProblemKind::NotFound, message)
    })
}

/// Marks all notifications as read; returns how many were unread.
pub fn mark_all_read(tx: &mut Tx<'_>, now: Timestamp, user: &str) -> Result<u64> {
    repository::mark_read(tx, now, user, None)
}
