//! Moves ids and facts of new events into runs, while servers append more. Each server tries, and one at a time does it.
//! SQLite needs none of this, because the transactions that append events do it themselves.

use std::time::Duration;

use lyceum_core::Result;
use lyceum_events::repository::{YOUNG_TABLES, forget_unused_heads, gather, is_gathering_due};
use lyceum_store::{SqlDialect, log};
use tokio::time::{Instant, sleep};

use crate::apart::apart;
use crate::limits::{EVENT_GATHER_PAUSE_MS, EVENT_HEADS_CHECK_EVERY_S, EVENT_ROWS_FREED_COUNT};
use crate::state::App;

/// Moves young ids and facts until the server stops.
pub(crate) async fn keep_gathered(app: App) {
    if app.db.dialect() == SqlDialect::Sqlite {
        return;
    }
    let (mut deleted, mut checked) = (0, Instant::now());
    loop {
        if let Err(problem) = gather_all(&app, &mut deleted).await {
            tracing::warn!(%problem, "ids of events were not moved into runs; trying again");
        }
        if checked.elapsed() >= Duration::from_secs(EVENT_HEADS_CHECK_EVERY_S) {
            checked = Instant::now();
            if let Err(problem) = app.db.read(forget_unused_heads).await {
                tracing::warn!(%problem, "the list of runs of events cannot be read");
            }
        }
        sleep(Duration::from_millis(EVENT_GATHER_PAUSE_MS)).await;
    }
}

/// Moves all that is young now. Counts the rows that this deletes, and lets PostgreSQL reuse their space from time to time.
async fn gather_all(app: &App, deleted: &mut usize) -> Result<()> {
    let mut has_more = app.db.read(is_gathering_due).await?;
    while has_more {
        let done = log::write_latest(&app.db, gather).await?;
        *deleted += done.moved;
        has_more = done.has_more;
        if *deleted >= EVENT_ROWS_FREED_COUNT {
            *deleted = 0;
            let db = app.db.clone();
            apart(move || db.free_rows(&YOUNG_TABLES)).await?;
        }
    }
    Ok(())
}
