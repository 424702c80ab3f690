//! Routes that only the tests need.

use std::time::Duration;

use http::StatusCode;
use lyceum_access::Scope;
use lyceum_api::Area;
use lyceum_core::limits::BODY_MAX_BYTES;
use lyceum_core::{PayloadDialect, Problem, ProblemKind, message};
use lyceum_http::answer::Answer;
use lyceum_http::render::Rendering;
use lyceum_http::route::{Access, get, post};
use lyceum_testserver::server::Setup;
use serde_json::json;

/// A server with the probe's routes.
pub(crate) fn setup() -> Setup {
    Setup { areas: || vec![area()], ..Setup::default() }
}

fn area() -> Area {
    Area {
        name: "probe",
        base: "/probe",
        rendering: Rendering::Imsx,
        description: "For tests.",
        routes: vec![
            get("/guarded", Scope::RosterRead, async |_| Ok(Answer::json("{}"))),
            post("/guarded", Scope::RosterWrite, async |_| Ok(Answer::json("{}"))),
            get("/open", Access::Public, async |context| {
                let dialect = match context.dialect {
                    PayloadDialect::Platform => "platform",
                    PayloadDialect::Standard => "standard",
                };
                Ok(Answer::of(&json!({"dialect": dialect})))
            }),
            get("/dialect", Scope::RosterRead, async |context| {
                let standard = context.dialect == PayloadDialect::Standard;
                Ok(Answer::of(&json!({"standard": standard})))
            }),
            get("/slow/{milliseconds}", Access::Public, async |context| {
                let milliseconds = context.param("milliseconds").parse().unwrap();
                tokio::time::sleep(Duration::from_millis(milliseconds)).await;
                Ok(Answer::json(r#"{"slow":true}"#))
            }),
            get("/text/{bytes}", Access::Public, async |context| {
                let bytes: usize = context.param("bytes").parse().unwrap();
                Ok(Answer::json(format!("\"{}\"", "lyceum ".repeat(bytes / 7))))
            }),
            get("/echo/{text}", Access::Public, async |context| {
                let query: Vec<_> = context.query().collect();
                let path = context.uri.path();
                Ok(Answer::of(&json!({
                    "text": context.param("text"), "query": query, "path": path,
                })))
            }),
            post("/echo", Access::Public, async |context| {
                let body = context.text()?.to_owned();
                Ok(Answer::of(&json!({"bytes": body.len()})).status(StatusCode::CREATED))
            })
            .reads_up_to(BODY_MAX_BYTES),
            get("/panic", Access::Public, async |_| panic!("the password is 1234")),
            get("/fault/{kind}", Access::Public, async |context| {
                Err(match context.param("kind") {
                    "internal" => Problem::internal("the password is 1234"),
                    "invalid" => Problem::invalid("course.org", "must be a reference"),
                    "missing" => Problem::not_found("course", "c1"),
                    other => Problem::new(ProblemKind::Malformed, message!("a {other} fault")),
                })
            }),
        ],
    }
}
