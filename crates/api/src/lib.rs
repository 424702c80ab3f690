//! The API: one folder or file for each resource, with its routes, handlers, bodies and texts; and what the resources share.
//!
//! | what | where |
//! |---|---|
//! | rosters, results and resources; following changes; imports of files | `oneroster`, `changes`, `imports` |
//! | courses, enrolling, subject tracks, reports | `bridge` |
//! | questions, tests and stimuli; standards | `assessment`, `standards` |
//! | lessons, XP and mastery; the game platform | `adaptive`, `games` |
//! | events; badges and learner records | `events`, `credentials`, `clr` |
//! | deployed projects; their buckets, databases, logs; serving them | `projects`, `hosted` |
//! | tokens, signing in, accounts, the own account, the access of a class's students | `tokens`, `auth`, `accounts`, `own_account`, `class_access`, `new_account` |
//! | exporting and erasing one person | `people` |
//! | webhooks; servers; whether the server is ready | `webhooks`, `nodes`, `health` |
//! | the API document | `openapi`, `examples`, `shape` |
//! | what all requests share; work beside them | `state`, `work` |
//! | files of items; where a sandbox records learning | `document_files`, `learning` |
//! | limits | `limits` |

pub mod accounts;
pub mod adaptive;
pub mod assessment;
pub mod auth;
pub mod bridge;
pub mod changes;
pub mod class_access;
pub mod clr;
pub mod credentials;
pub mod document_files;
pub mod events;
pub mod examples;
pub mod games;
pub mod health;
pub mod hosted;
pub mod imports;
mod learning;
pub mod limits;
pub mod new_account;
pub mod nodes;
pub mod oneroster;
pub mod openapi;
pub mod own_account;
pub mod people;
pub mod projects;
pub mod shape;
pub mod standards;
mod state;
pub mod tokens;
pub mod webhooks;
pub mod work;

pub use learning::{Learning, RemoteLearning};
pub use new_account::NewAccount;
pub use state::{App, State};

/// A request for a handler.
pub type Context = lyceum_http::context::Context<State>;
/// A route with its handler.
pub type Route = lyceum_http::route::Route<State>;
/// Routes that share a base path and an error format.
pub type Area = lyceum_http::route::Area<State>;

/// All columns with values that are sealed under the master key.
pub fn sealed_columns() -> Vec<lyceum_access::sealed::SealedColumn> {
    let others = [
        lyceum_credentials::keys::SEALED_KEYS,
        lyceum_hosting::secrets::SEALED_SECRETS,
        lyceum_webhooks::webhook::SEALED_SECRETS,
        lyceum_erasure::erased::SEALED_SUBJECTS,
        oneroster::SEALED_PASSWORDS,
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

/// The areas of the API, and therefore all its routes.
pub fn areas() -> Vec<Area> {
    let mut areas = vec![health::area(), tokens::area(), auth::area()];
    areas.extend(oneroster::areas());
    areas.push(changes::area());
    areas.extend(imports::areas());
    areas.extend(events::areas());
    areas.push(adaptive::area());
    areas.push(bridge::area());
    areas.push(games::area());
    areas.extend(projects::areas());
    areas.push(people::area());
    areas.push(nodes::area());
    areas.extend(assessment::areas());
    areas.extend(credentials::areas());
    areas.push(clr::area());
    areas.extend(standards::areas());
    areas.extend(webhooks::areas());
    areas.push(openapi::of_oneroster());
    areas
}
