//! The anchor's server: each handler is one prepared statement and a string.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path as UrlPath, RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use percent_encoding::percent_decode_str;
use rusqlite::{CachedStatement, Connection, Params};

use super::database::open;
use crate::data::user_json;

struct Anchor {
    database: PathBuf,
    page: Bytes,
}

/// Serves the database on `listen` until the process is killed.
pub(crate) fn serve(listen: &str, database: &Path, workers: usize) -> Result<()> {
    let anchor = Arc::new(Anchor {
        database: database.to_owned(),
        page: Bytes::from(collection("users", (0..100).map(user_json))),
    });
    let router = Router::new()
        .route("/hello", get(|| async { json(r#"{"message":"Hello, World!"}"#) }))
        .route("/page_mem", get(page_from_memory))
        .route("/users/{id}", get(user))
        .route("/users", get(users))
        .route("/enrollments", get(enrollments))
        .with_state(anchor);
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_all()
        .build()?
        .block_on(async {
            let listener = tokio::net::TcpListener::bind(listen).await?;
            axum::serve(listener, router).await?;
            Ok(())
        })
}

/// A page of 100 users that is never read from the database.
async fn page_from_memory(State(anchor): State<Arc<Anchor>>) -> Response {
    json(anchor.page.clone())
}

/// A user by `sourcedId`.
async fn user(State(anchor): State<Arc<Anchor>>, UrlPath(id): UrlPath<String>) -> Response {
    let found = anchor.read("select body from users where id = ?", |statement| {
        statement.query_row([id], |row| row.get::<_, String>(0))
    });
    match found {
        Ok(body) => json(format!(r#"{{"user":{body}}}"#)),
        Err(_) => StatusCode::NOT_FOUND.into_response(),
    }
}

/// A page of users after the row number `after`.
async fn users(State(anchor): State<Arc<Anchor>>, RawQuery(query): RawQuery) -> Response {
    let number = |name, default| {
        parameter(query.as_deref(), name).and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let page: [i64; 2] = [number("after", 0), number("limit", 100)];
    anchor.list("users", "select body from users where seq > ? order by seq limit ?", page)
}

/// The enrollments of one user: `filter=user.sourcedId='…'` and nothing else.
async fn enrollments(State(anchor): State<Arc<Anchor>>, RawQuery(query): RawQuery) -> Response {
    let filter = parameter(query.as_deref(), "filter").unwrap_or_default();
    let user = filter.trim_start_matches("user.sourcedId=").trim_matches('\'');
    anchor.list(
        "enrollments",
        "select body from enrollments where user_id = ? order by seq limit 100",
        [user],
    )
}

thread_local! {
    static CONNECTION: RefCell<Option<Connection>> = const { RefCell::new(None) };
}

impl Anchor {
    /// Runs one statement on this thread's own connection.
    fn read<T>(
        &self,
        sql: &str,
        work: impl FnOnce(&mut CachedStatement<'_>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        CONNECTION.with_borrow_mut(|connection| {
            let connection = match connection {
                Some(connection) => connection,
                None => connection.insert(open(&self.database, "FULL")?),
            };
            Ok(work(&mut connection.prepare_cached(sql)?)?)
        })
    }

    /// Answers every row of a statement as a collection.
    fn list(&self, name: &str, sql: &str, parameters: impl Params) -> Response {
        let text = self.read(sql, |statement| {
            let mut out = String::with_capacity(64 * 1024);
            out.extend([r#"{""#, name, r#"":["#]);
            let mut rows = statement.query(parameters)?;
            let mut separator = "";
            while let Some(row) = rows.next()? {
                out.push_str(separator);
                out.push_str(row.get_ref(0)?.as_str()?);
                separator = ",";
            }
            out.push_str("]}");
            Ok(out)
        });
        match text {
            Ok(text) => json(text),
            Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        }
    }
}

/// A JSON collection of ready texts.
fn collection(name: &str, bodies: impl Iterator<Item = String>) -> String {
    format!(r#"{{"{name}":[{}]}}"#, bodies.collect::<Vec<_>>().join(","))
}

/// A query parameter, percent-decoded.
fn parameter(query: Option<&str>, name: &str) -> Option<String> {
    let value = query?.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))?;
    Some(percent_decode_str(value).decode_utf8_lossy().into_owned())
}

fn json(body: impl Into<Body>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], body.into()).into_response()
}
