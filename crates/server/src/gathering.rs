//! Moves ids and facts of new events into runs, while servers append more. Each server tries, and one at a time does it.
//! SQLite needs none of this, because the transactions that append events do it themselves.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use lyceum_core::Result;
use lyceum_events::repository::{YOUNG_TABLES, forget_unused_heads, gather, is_gathering_due};
use lyceum_store::{SqlDialect, log};
use tokio::time::{Instant, sleep, sleep_until};

use crate::apart::apart;
use crate::limits::{
    EVENT_GATHER_PAUSE_MS, EVENT_HEADS_CHECK_EVERY_S, EVENT_ROWS_FREED_COUNT,
    EVENT_ROWS_FREED_EVERY_S,
};
use crate::state::App;

const PAUSE: Duration = Duration::from_millis(EVENT_GATHER_PAUSE_MS);

/// Moves young ids and facts until the server stops, and lets PostgreSQL reuse the space of the deleted rows.
pub(crate) async fn gather_periodically(app: App) {
    if app.db.dialect() == SqlDialect::Sqlite {
        return;
    }
    let deleted = AtomicUsize::new(0);
    tokio::join!(move_periodically(&app, &deleted), free_periodically(&app, &deleted));
}

async fn move_periodically(app: &App, deleted: &AtomicUsize) {
    let mut checked = Instant::now();
    loop {
        if let Err(problem) = gather_all(app, deleted).await {
            tracing::warn!(%problem, "ids of events were not moved into runs; trying again");
        }
        if checked.elapsed() >= Duration::from_secs(EVENT_HEADS_CHECK_EVERY_S) {
            checked = Instant::now();
            if let Err(problem) = app.db.read(forget_unused_heads).await {
                tracing::warn!(%problem, "the list of runs of events cannot be read");
            }
        }
        sleep(PAUSE).await;
    }
}

/// Moves all that is young now, unless another server does. Counts the rows that this deletes.
async fn gather_all(app: &App, deleted: &AtomicUsize) -> Result<()> {
    let mut has_more = app.db.read(is_gathering_due).await?;
    while has_more {
        let outcome = log::write_latest(&app.db, gather).await?;
        deleted.fetch_add(outcome.moved, Ordering::Relaxed);
        has_more = outcome.has_more;
    }
    Ok(())
}

/// Runs beside the moves, because a long transaction elsewhere can make it slow and useless.
async fn free_periodically(app: &App, deleted: &AtomicUsize) {
    loop {
        sleep(PAUSE).await;
        let count = deleted.load(Ordering::Relaxed);
        if count < EVENT_ROWS_FREED_COUNT {
            continue;
        }
        let next = Instant::now() + Duration::from_secs(EVENT_ROWS_FREED_EVERY_S);
        let db = app.db.clone();
        match apart(move || db.free_rows(&YOUNG_TABLES)).await {
            Ok(()) => drop(deleted.fetch_sub(count, Ordering::Relaxed)),
            Err(problem) => {
                tracing::warn!(%problem, "the space of moved ids and facts was not freed; trying again");
            }
        }
        sleep_until(next).await;
    }
}
