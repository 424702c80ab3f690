//! HTTP: connections, the way of a request, access, limits, errors and OpenAPI. It is the only crate that uses
//! axum, and does not know what the routes do.
//!
//! Every served path is a [`route::Route`] in the table of its [`route::Area`]. The table decides access before the
//! body is read. Only [`render`] turns problems into status codes and bodies.
//!
//! | what | where |
//! |---|---|
//! | the way of a request: access, body, handler, log line | `dispatch` |
//! | what this crate keeps for itself, and what it asks from the application | `application` |
//! | a route and its area, finding a route, other spellings of paths, the project of an address | `route`, `router`, `aliases`, `project_address` |
//! | what a handler receives and returns; query parameters; notices for callers | `context`, `parameters`, `answer`, `notice` |
//! | tokens and sign-in | `auth` |
//! | the language of pages; the request of a page that failed | `language`, `problem_request` |
//! | problems as status codes and bodies; the headers of pages | `render` |
//! | the OpenAPI document | `openapi` |
//! | listening, connections, TLS, limits on connections and memory | `listen`, `connection`, `tls`, `admission`, `descriptors` |
//! | bodies, forms with files, compression, CORS, proxies, request ids, entity tags, page links | `body`, `multipart`, `compression`, `cors`, `proxy`, `request_id`, `etag`, `paging` |
//! | answers that never change; streams | `fixed`, `sse` |
//! | requests to addresses that callers supply | `guarded` |
//! | counters; spans of traces | `metrics`, `trace` |
//! | limits | `limits` |

pub mod admission;
mod aliases;
pub mod answer;
mod application;
pub mod auth;
mod body;
pub mod compression;
mod connection;
pub mod context;
pub mod cors;
pub mod descriptors;
pub mod dispatch;
pub mod etag;
pub mod fixed;
pub mod guarded;
pub mod language;
pub mod limits;
pub mod listen;
pub mod metrics;
pub mod multipart;
pub mod notice;
pub mod openapi;
pub mod paging;
mod parameters;
mod problem_request;
mod project_address;
pub mod proxy;
pub mod render;
pub mod request_id;
pub mod route;
mod router;
pub mod sse;
pub mod tls;
pub mod trace;

pub use application::{Application, FrameProblem, Http, PageProblems};
pub use axum::body::Body;
pub use connection::Peer;
pub use problem_request::ProblemRequest;
pub use project_address::ProjectAddress;
pub use router::{RouteLabels, canonical_path};

/// A request with its body.
pub type Request = http::Request<Body>;
/// A response with its body.
pub type Response = http::Response<Body>;
