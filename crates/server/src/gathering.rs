//! Moves ids and facts of new events into runs, while servers append more, and sums facts. Each server tries, and one at a
//! time does it. On SQLite, the transactions that append events write runs themselves.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use lyceum_core::Result;
use lyceum_events::facts;
use lyceum_events::repository::{YOUNG_TABLES, forget_unused_heads, gather, is_gathering_due};
use lyceum_hosting::nodes::report;
use lyceum_store::{SqlDialect, log};
use tokio::time::{Instant, sleep, sleep_until};

use crate::apart::apart;
use crate::limits::{
    EVENT_GATHER_PAUSE_MS, EVENT_HEADS_CHECK_EVERY_S, EVENT_ROWS_FREED_COUNT,
    EVENT_ROWS_FREED_EVERY_S, FACT_SUM_EVERY_S,
};
use crate::state::App;

const PAUSE: Duration = Duration::from_millis(EVENT_GATHER_PAUSE_MS);

/// Moves young ids and facts and sums facts until the server stops, and lets PostgreSQL reuse the space of the deleted
/// rows.
pub(crate) async fn gather_periodically(app: App) {
    let deleted = AtomicUsize::new(0);
    let move_all = async {
        if app.db.dialect() == SqlDialect::Postgres {
            tokio::join!(move_periodically(&app, &deleted), free_periodically(&app, &deleted));
        }
    };
    tokio::join!(move_all, sum_periodically(&app));
}

async fn sum_periodically(app: &App) {
    loop {
        if let Err(problem) = sum_all(app).await {
            tracing::warn!(%problem, "facts of events were not summed; trying again");
        }
        sleep(Duration::from_secs(FACT_SUM_EVERY_S)).await;
    }
}

/// Sums the facts of all events that are stored now, unless another server does, or an older one is live, which reads no
/// sums.
async fn sum_all(app: &App) -> Result<()> {
    let now = app.clock.now();
    let may_sum = app.db.read(move |tx| {
        Ok(facts::is_summing_due(tx)? && report::all_know(tx, now, facts::SUMS_SCHEMA_VERSION)?)
    });
    if !may_sum.await? {
        return Ok(());
    }
    let Some(end) = log::write_latest(&app.db, facts::sum_young).await? else { return Ok(()) };
    let mut began = Instant::now();
    while log::write_latest(&app.db, move |tx| facts::sum_runs(tx, end)).await? {
        // On SQLite, other writes wait for this one.
        sleep(began.elapsed()).await;
        began = Instant::now();
    }
    Ok(())
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
