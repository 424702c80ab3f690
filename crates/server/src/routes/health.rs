//! Whether the server lives, whether it takes requests, and how it does.

use std::sync::atomic::Ordering::Relaxed;

use axum::body::Body;
use axum::http::HeaderValue;
use lyceum_core::{Problem, ProblemKind, Result};
use serde_json::json;

use crate::answer::Answer;
use crate::context::Context;
use crate::render::Rendering;
use crate::route::{Access, Area, get};

const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

pub(super) fn area() -> Area {
    let state = json!({
        "type": "object",
        "required": ["status", "timestamp"],
        "properties": {
            "status": {"type": "string", "const": "ok"},
            "timestamp": {"type": "string", "format": "date-time"},
        },
    });
    Area {
        name: "health",
        base: "",
        rendering: Rendering::Problem,
        says: "Whether the server lives, whether it takes requests, and how it does.",
        routes: vec![
            get("/health", Access::Public, health)
                .named("getHealth")
                .says("Whether the process lives.")
                .answers(200, "It does.", state.clone()),
            get("/ready", Access::Public, ready)
                .named("getReady")
                .says("Whether the server takes requests: 503 while it stops or has no database.")
                .answers(200, "It does.", state),
            get("/metrics", Access::Public, metrics)
                .named("getMetrics")
                .says("Counters in the text format of OpenMetrics, which Prometheus reads.")
                .answers_as(200, "The counters.", Some((METRICS, json!({"type": "string"})))),
        ],
    }
}

async fn health(context: Context) -> Result<Answer> {
    Ok(ok(&context))
}

async fn ready(context: Context) -> Result<Answer> {
    if context.app.draining.load(Relaxed) {
        let mut problem =
            Problem::new(ProblemKind::Unavailable, "the server is stopping; ask another one");
        problem.retry_after_s = Some(1);
        return Err(problem);
    }
    context.app.db.ping().await.map_err(|problem| {
        Problem::new(ProblemKind::Unavailable, "the database does not answer").because(problem)
    })?;
    Ok(ok(&context))
}

fn ok(context: &Context) -> Answer {
    Answer::json(format!(r#"{{"status":"ok","timestamp":"{}"}}"#, context.app.clock.now()))
}

async fn metrics(context: Context) -> Result<Answer> {
    let body = Body::from(context.app.metrics.text());
    Ok(Answer::typed(HeaderValue::from_static(METRICS), body))
}
