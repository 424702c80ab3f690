//! Moves ids of new events into runs, while servers append more, and sums facts. Each server tries, and one at a time does
//! it.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use lyceum_core::Result;
use lyceum_events::facts;
use lyceum_events::repository::{
    SHORT_LIVED_TABLES, forget_unused_heads, gather, is_gathering_due,
};
use lyceum_store::{StatementsSee, run_blocking};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

use crate::App;
use crate::limits::{
    EVENT_GATHER_PAUSE_MS, EVENT_HEADS_CHECK_EVERY_S, EVENT_ROWS_FREED_COUNT,
    EVENT_ROWS_FREED_EVERY_S, FACT_SUM_EVERY_S,
};

const PAUSE: Duration = Duration::from_millis(EVENT_GATHER_PAUSE_MS);

/// Moves young ids into runs and sums facts until the server stops, and lets PostgreSQL reuse the space of the deleted rows.
pub async fn gather_periodically(app: App) {
    let deleted = watch::Sender::new(0);
    tokio::join!(
        move_periodically(&app, &deleted),
        free_periodically(&app, &deleted),
        sum_periodically(&app)
    );
}

/// Until when all facts are summed, as far as this server knows: those that were stored before it are.
pub struct SummedUntil(Mutex<Instant>);

impl Default for SummedUntil {
    fn default() -> Self {
        Self(Mutex::new(Instant::now()))
    }
}

impl SummedUntil {
    fn set(&self, at: Instant) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = at;
    }

    /// The time since then.
    pub fn age(&self) -> Duration {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }
}

async fn sum_periodically(app: &App) {
    loop {
        if let Err(problem) = sum_all(app).await {
            tracing::warn!(%problem, "facts of events were not summed; trying again");
        }
        sleep(Duration::from_secs(FACT_SUM_EVERY_S)).await;
    }
}

/// Sums the facts of all events that are stored now, unless another server does.
async fn sum_all(app: &App) -> Result<()> {
    let begun = Instant::now();
    let mut has_more = app.db.read(facts::count_unsummed).await? > 0;
    while has_more {
        let step_began = Instant::now();
        let sum = app.db.write_with_locks(StatementsSee::LatestCommits, facts::sum);
        let Some(is_rest) = sum.await? else { return Ok(()) };
        has_more = is_rest;
        if has_more {
            // On SQLite, other writes wait for this one.
            sleep(step_began.elapsed()).await;
        }
    }
    app.summed_until.set(begun);
    Ok(())
}

async fn move_periodically(app: &App, deleted: &watch::Sender<usize>) {
    let mut changes = app.db.changes();
    let mut checked = Instant::now();
    let check_every = Duration::from_secs(EVENT_HEADS_CHECK_EVERY_S);
    loop {
        let moved = gather_all(app, deleted).await;
        if let Err(problem) = &moved {
            tracing::warn!(%problem, "ids of events were not moved into runs; trying again");
        }
        if checked.elapsed() >= check_every {
            checked = Instant::now();
            if let Err(problem) = app.db.read(forget_unused_heads).await {
                tracing::warn!(%problem, "the list of runs of events cannot be read");
            }
        }
        let due = if matches!(moved, Ok(true)) { check_every } else { PAUSE };
        changes.wait(PAUSE, Some(due)).await;
    }
}

/// Moves all that is young now, unless another server does. Counts the rows that this deletes. Returns whether nothing is
/// left to move.
async fn gather_all(app: &App, deleted: &watch::Sender<usize>) -> Result<bool> {
    let mut has_more = app.db.read(is_gathering_due).await?;
    while has_more {
        let Some(outcome) = app.db.write_with_locks(StatementsSee::LatestCommits, gather).await?
        else {
            return Ok(false);
        };
        deleted.send_modify(|count| *count += outcome.moved);
        has_more = outcome.has_more;
    }
    Ok(true)
}

/// Runs beside the moves, because a long transaction elsewhere can make it slow and useless.
async fn free_periodically(app: &App, deleted: &watch::Sender<usize>) {
    let mut counts = deleted.subscribe();
    loop {
        let enough = counts.wait_for(|count| *count >= EVENT_ROWS_FREED_COUNT).await;
        let Ok(count) = enough.map(|count| *count) else { return };
        let next = Instant::now() + Duration::from_secs(EVENT_ROWS_FREED_EVERY_S);
        let db = app.db.clone();
        match run_blocking(move || db.free_rows(&SHORT_LIVED_TABLES)).await {
            Ok(()) => deleted.send_modify(|left| *left -= count),
            Err(problem) => {
                tracing::warn!(%problem, "the space of moved ids and summed facts was not freed; trying again");
            }
        }
        sleep_until(next).await;
    }
}
