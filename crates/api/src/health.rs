//! Liveness, readiness and counters of the server.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use http::HeaderValue;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_http::Body;
use lyceum_http::answer::Answer;
use lyceum_http::metrics::{self, FORMAT};
use lyceum_http::render::Rendering;
use lyceum_http::route::{Access, get};
use lyceum_store::{Db, WriteCheck};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::{Area, Context, limits};

/// The state of a server that works. Otherwise, the answer is an error.
#[derive(Serialize, JsonSchema)]
struct ServerStatus {
    /// Always "ok".
    #[schemars(extend("const" = "ok"))]
    status: &'static str,
    /// The server's time.
    timestamp: Timestamp,
}

pub(super) fn area() -> Area {
    Area {
        name: "health",
        base: "",
        rendering: Rendering::Problem,
        description: "Health checks and counters of the server.",
        routes: vec![
            get("/health", Access::Public, health)
                .named("getHealth")
                .description("Answers if the process is running.")
                .answers::<ServerStatus>(200, "The process is running."),
            get("/ready", Access::Public, ready)
                .named("getReady")
                .description("Checks whether the server is ready: it answers 503 while it stops or if its database accepts no writes.")
                .answers::<ServerStatus>(200, "The process is running."),
            get("/metrics", Access::Public, counters)
                .named("getMetrics")
                .description("Returns what this server counted since its start, in the OpenMetrics text format. The listener of the setting `metrics.address` has all metrics.")
                .answers_as(200, "The counters.", Some((FORMAT, json!({"type": "string"})))),
        ],
    }
}

async fn health(context: Context) -> Result<Answer> {
    Ok(ok(&context))
}

async fn ready(context: Context) -> Result<Answer> {
    if context.app.draining.load(Relaxed) {
        let mut problem =
            Problem::new(ProblemKind::Unavailable, "the server is stopping; use another server");
        problem.retry_after_s = Some(1);
        return Err(problem);
    }
    match context.app.readiness.is_ready(&context.app.db).await {
        true => Ok(ok(&context)),
        false => {
            let message = "the database does not take writes; the server's log says why";
            Err(Problem {
                retry_after_s: Some(1),
                ..Problem::new(ProblemKind::Unavailable, message)
            })
        }
    }
}

/// The latest check whether the store accepts writes. Concurrent callers share one check, because anybody may call.
#[derive(Default)]
pub struct Readiness(tokio::sync::Mutex<LastCheck>);

#[derive(Default)]
struct LastCheck {
    last: Option<(Instant, bool)>,
    /// The time since which writes only wait for other writes.
    waiting_since: Option<Instant>,
}

impl Readiness {
    async fn is_ready(&self, db: &Db) -> bool {
        let mut found = self.0.lock().await;
        if let Some((when, is_ready)) = found.last {
            let kept_ms = if is_ready { limits::READY_KEPT_MS } else { limits::READY_REFUSED_MS };
            if when.elapsed() < Duration::from_millis(kept_ms) {
                return is_ready;
            }
        }
        let checked = db.check_writes(Duration::from_millis(limits::READY_WAIT_MS)).await;
        let now = Instant::now();
        found.waiting_since = match &checked {
            Ok(WriteCheck::Waiting) => found.waiting_since.or(Some(now)),
            Ok(WriteCheck::Durable) | Err(_) => None,
        };
        // An import blocks writes on every server, so using another server would not help.
        let most = Duration::from_secs(limits::READY_WAITING_MAX_S);
        let is_ready =
            checked.is_ok() && found.waiting_since.is_none_or(|since| now - since < most);
        match checked {
            Err(problem) => {
                let cause = format!("{problem}: {:?}", problem.cause);
                tracing::warn!(cause, "not ready: the database does not accept writes");
            }
            Ok(_) if !is_ready => tracing::warn!("not ready: writes only wait for other writes"),
            Ok(_) => {}
        }
        found.last = Some((now, is_ready));
        is_ready
    }
}

fn ok(context: &Context) -> Answer {
    Answer::of(&ServerStatus { status: "ok", timestamp: context.app.clock.now() })
}

async fn counters(context: Context) -> Result<Answer> {
    let body = Body::from(metrics::counters_text(&context.app));
    Ok(Answer::typed(HeaderValue::from_static(FORMAT), body))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use lyceum_store::{SqlDialect, Tx};
    use tokio::sync::Mutex;

    use super::*;

    /// The result of checks, the first of which found waiting writes this many seconds ago.
    fn waiting_for(seconds: u64) -> Readiness {
        let since = Instant::now().checked_sub(Duration::from_secs(seconds));
        Readiness(Mutex::new(LastCheck { last: None, waiting_since: since }))
    }

    #[test]
    fn writes_that_wait_for_ten_minutes_make_a_server_not_ready() {
        lyceum_testkit::both_stores(&crate::migrations(), |target| {
            let db = Db::open(target, &crate::migrations()).unwrap();
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.unwrap();
            let is_ready = |found: &Readiness| {
                let start = Instant::now();
                let is_ready = runtime.block_on(found.is_ready(&db));
                let most = Duration::from_millis(limits::READY_WAIT_MS + 1000);
                assert!(start.elapsed() < most, "{:?}", start.elapsed());
                is_ready
            };
            let (just, too_long) = (waiting_for(540), waiting_for(600));
            let (is_held, held) = mpsc::channel();
            let (release, released) = mpsc::channel::<()>();
            thread::scope(|scope| {
                let release = release; // ends with this, however it ends
                scope.spawn(|| {
                    let write = move |tx: &mut Tx<'_>| {
                        if tx.dialect() == SqlDialect::Postgres {
                            let lock = "LOCK TABLE refinery_schema_history IN EXCLUSIVE MODE";
                            tx.execute(lock, &[])?;
                        }
                        is_held.send(()).unwrap();
                        let _ = released.recv();
                        Ok(())
                    };
                    db.write_blocking(write).unwrap();
                });
                held.recv().unwrap();
                assert!(is_ready(&just));
                assert!(!is_ready(&too_long));
                drop(release);
            });
            // A completed write starts the count again.
            runtime.block_on(async { too_long.0.lock().await.last = None });
            assert!(is_ready(&too_long));
            assert_eq!(runtime.block_on(too_long.0.lock()).waiting_since, None);
        });
    }
}
