//! The HTTP server: routes, access, errors and OpenAPI. No other crate serves HTTP to clients.
//!
//! Every served path is a [`route::Route`] in the table of its [`route::Area`]. The table decides access before the
//! body is read. Only [`render`] turns problems into status codes and bodies.
//!
//! | what | where |
//! |---|---|
//! | the API, one folder or file per area | `routes` |
//! | a route and its area, the router, other spellings of paths | `route`, `router`, `aliases` |
//! | the way of a request: access, body, handler, log line | `dispatch` |
//! | what a handler receives and returns; query parameters; notices for callers | `context`, `parameters`, `answer`, `notice` |
//! | tokens and sign-in | `auth` |
//! | creating accounts, the own account, the access of a class's students | `accounts`, `own_account`, `class_access` |
//! | the language and calendar of the person who reads a page | `language` |
//! | problems as status codes and bodies; as pages in a frame | `render`, `problem_page` |
//! | the OpenAPI document | `openapi` |
//! | starting, listening, connections, TLS, limits on connections and memory | `server`, `state`, `listen`, `connection`, `tls`, `admission`, `descriptors` |
//! | bodies, forms with files, compression, CORS, proxies, request ids, entity tags, page links | `body`, `multipart`, `compression`, `cors`, `proxy`, `request_id`, `etag`, `paging` |
//! | metrics, and the listener for them | `metrics` |
//! | spans of traces; sending them and the metrics to a collector | `trace`, `telemetry` |
//! | answers that never change; streams; what wakes them; what students do, for open pages; slow work on other threads | `fixed`, `sse`, `live`, `activity_watch`, `blocking` |
//! | many envelopes in one transaction; moving ids and facts of events into runs | `intake`, `gathering` |
//! | requests to addresses that callers supply | `guarded` |
//! | deployed projects; files of items and stimuli | `hosted`, `document_files` |
//! | where the learning of a sandbox's players is recorded | `learning` |
//! | background work: imports, backups, sending webhooks, erasures | `imports`, `backup`, `webhooks`, `erasure` |
//! | replicas of SQLite files; who owns the S3 bucket; projects taken from other nodes | `replication`; `owner_watch`; `takeovers` |
//! | whether the owner of a webhook receives a change | `webhook_reach` |
//! | reports that this server lives, and other servers of the database; the lease of its projects | `nodes`, `leases` |
//! | forwarding requests to the node with a project's files, and the signature on them | `forward`, `hop` |
//! | limits | `limits` |

pub mod accounts;
mod activity_watch;
mod admission;
mod aliases;
pub mod answer;
pub mod auth;
pub mod backup;
mod blocking;
mod body;
mod class_access;
mod compression;
mod connection;
pub mod context;
mod cors;
mod descriptors;
mod dispatch;
mod document_files;
pub mod erasure;
mod etag;
mod fixed;
mod forward;
mod gathering;
mod guarded;
mod hop;
mod hosted;
mod imports;
mod intake;
mod language;
mod learning;
mod leases;
pub mod limits;
mod listen;
mod live;
pub mod metrics;
mod multipart;
mod nodes;
mod notice;
pub mod openapi;
mod own_account;
mod owner_watch;
mod paging;
mod parameters;
mod problem_page;
mod proxy;
pub mod render;
mod replication;
pub mod request_id;
pub mod route;
mod router;
pub mod routes;
mod server;
mod sse;
pub mod state;
mod takeovers;
pub mod telemetry;
mod tls;
mod trace;
mod webhook_reach;
mod webhooks;

pub use learning::{Learning, RemoteLearning};
pub use server::{Server, stop_signal};

/// All columns with values that are sealed under the master key.
pub fn sealed_columns() -> Vec<lyceum_access::sealed::SealedColumn> {
    let others = [
        lyceum_credentials::keys::SEALED_KEYS,
        lyceum_hosting::secrets::SEALED_SECRETS,
        lyceum_webhooks::webhook::SEALED_SECRETS,
        lyceum_erasure::erased::SEALED_SUBJECTS,
        routes::oneroster::SEALED_PASSWORDS,
    ];
    [lyceum_access::sealed::SEALED_COLUMNS, &others].concat()
}

/// The migrations of all crates that the server uses, in order.
pub fn migrations() -> Vec<lyceum_store::Migration> {
    [
        lyceum_access::MIGRATIONS,
        lyceum_roster::MIGRATIONS,
        lyceum_events::MIGRATIONS,
        lyceum_bridge::MIGRATIONS,
        lyceum_assessment::MIGRATIONS,
        lyceum_adaptive::MIGRATIONS,
        lyceum_games::MIGRATIONS,
        lyceum_credentials::MIGRATIONS,
        lyceum_standards::MIGRATIONS,
        lyceum_hosting::MIGRATIONS,
        lyceum_webhooks::MIGRATIONS,
        lyceum_erasure::MIGRATIONS,
    ]
    .concat()
}
