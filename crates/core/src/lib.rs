//! Types and functions that every other crate uses. This crate contains no HTTP and no SQL.
//!
//! | what | where |
//! |---|---|
//! | problems: a kind, a message, errors with paths | `problem` |
//! | templates of messages and their values | `message` |
//! | the wording of the most common messages | `messages` |
//! | instants and clocks; random bytes, seeded random numbers | `time`, `random` |
//! | limits that several crates share | `limits` |
//! | settings and their layers; every default in `config.default.toml` | `config` |
//! | the grammar of filters | `filter` |
//! | the two payload dialects | `dialect` |
//! | reading JSON bodies as types, with every error; schemas of types | `body`, `schema` |
//! | JSON without repeated keys; percent-encoding, hex, similar words | `json`, `text` |
//! | replacing the strings that name a person | `redaction` |
//! | the path that a mistyped path was meant to be | `near_path` |
//! | the languages of the pages | `language` |
//! | which web pages have access to a server that needs no token | `origins` |
//! | the part of the roster that a caller has access to | `reach` |
//! | spans of requests to other programs, for traces | `trace` |

// The macro `message!` writes paths that begin with the name of this crate.
extern crate self as lyceum_core;

pub mod body;
pub mod config;
mod dialect;
pub mod filter;
pub mod json;
pub mod language;
pub mod limits;
pub mod message;
pub mod messages;
mod near_path;
pub mod origins;
pub mod problem;
pub mod random;
mod reach;
pub mod redaction;
pub mod schema;
pub mod text;
pub mod time;
pub mod trace;

pub use dialect::PayloadDialect;
pub use lyceum_message_macro::message;
pub use message::Message;
pub use near_path::near_path;
pub use problem::{Detail, Problem, ProblemKind, Result};
pub use reach::Reach;
pub use trace::TRACE_TARGET;
