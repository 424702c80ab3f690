//! Who may do what: clients, people, API keys, scopes, tokens and signing keys; and the audit log.
//!
//! Everything runs on a [`lyceum_store::Tx`] and gets the time as an argument. A secret leaves this crate once, when it
//! is created; the store has only its SHA-256. Private keys and signing secrets are stored only encrypted under the
//! [`MasterKey`].
//!
//! | what | where |
//! |---|---|
//! | the access rule: caller, route and target | `allowed` |
//! | clients and their secrets, scopes | `client`, `secret`, `scope` |
//! | people: accounts, passwords, the first administrator | `person`, `password`, `first_administrator` |
//! | what is done with accounts, with the audit log | `account` |
//! | students: accounts of users of the roster | `student` |
//! | sign-in in class: open classes, pictures and words | `class_sign_in`, `class_secret` |
//! | sessions in browsers and on the command line, limits on guessing | `session`, `device`, `guess` |
//! | API keys, and who holds a session or key | `api_key`, `holder` |
//! | what the owner of a webhook has access to now | `owner` |
//! | sign-in with an OpenID provider, and the account that it opens | `oidc`, `identity` |
//! | access tokens, the keys that sign them, the master key | `token`, `keyring`, `master` |
//! | what is sealed under the master key, and its rotation | `sealed` |
//! | requests signed with OAuth 1.0a | `signed_request` |
//! | who changed what | `audit` |
//! | what the console shows of keys, clients, jobs and changes | `screens` |
//! | SQL | `repository` |
//! | limits | `limits` |

pub mod account;
pub mod allowed;
pub mod api_key;
pub mod audit;
pub mod class_secret;
pub mod class_sign_in;
pub mod client;
pub mod device;
pub mod first_administrator;
pub mod guess;
pub mod holder;
pub mod identity;
mod keyring;
pub mod limits;
mod master;
pub mod oidc;
mod owner;
pub mod password;
pub mod person;
mod repository;
mod scope;
pub mod screens;
pub mod sealed;
mod secret;
pub mod session;
pub mod signed_request;
pub mod student;
mod token;

use lyceum_store::Migration;

pub use allowed::{
    Access, AccessDenial, AccessReach, LimitedCallers, PlayerTrust, RequestSubject, Roles, allowed,
};
pub use api_key::{ApiKey, NewApiKey};
pub use client::{Client, ClientRefusal, ClientSecrets, NewClient};
pub use holder::TokenHolder;
pub use keyring::{Jwk, JwkSet, Keyring, Realm, master_of_database};
pub use master::{MasterKey, parse_key};
pub use owner::{SANDBOX_CLIENT, current_reaches};
pub use person::{NewPerson, Person, Role};
pub use repository::address::{note_server_address, server_address};
pub use repository::members::{has_members, join, leave};
pub use scope::{Rights, Scope, Scopes, UnknownScope};
pub use signed_request::{SignatureRefusal, SignedRequest};
pub use student::{Student, StudentSession};
pub use token::{DEMO_CLIENT, Grant, IssuedToken, Player, TokenError};

/// The tables of this crate.
pub const MIGRATIONS: &[Migration] = &[
    Migration { version: 2, name: "access", sql: include_str!("../migrations/V2__access.sql") },
    Migration { version: 25, name: "people", sql: include_str!("../migrations/V25__people.sql") },
    Migration { version: 34, name: "audit", sql: include_str!("../migrations/V34__audit.sql") },
    Migration {
        version: 35,
        name: "identities",
        sql: include_str!("../migrations/V35__identities.sql"),
    },
    Migration { version: 36, name: "uses", sql: include_str!("../migrations/V36__uses.sql") },
    Migration {
        version: 39,
        name: "guesses_by_time",
        sql: include_str!("../migrations/V39__guesses_by_time.sql"),
    },
    Migration {
        version: 71,
        name: "server_address",
        sql: include_str!("../migrations/V71__server_address.sql"),
    },
    Migration { version: 89, name: "reach", sql: include_str!("../migrations/V89__reach.sql") },
    Migration {
        version: 93,
        name: "signed_requests",
        sql: include_str!("../migrations/V93__signed_requests.sql"),
    },
    Migration {
        version: 95,
        name: "students",
        sql: include_str!("../migrations/V95__students.sql"),
    },
    Migration {
        version: 96,
        name: "class_sign_in",
        sql: include_str!("../migrations/V96__class_sign_in.sql"),
    },
    Migration {
        version: 105,
        name: "language",
        sql: include_str!("../migrations/V105__language.sql"),
    },
    Migration { version: 108, name: "staff", sql: include_str!("../migrations/V108__staff.sql") },
    Migration {
        version: 132,
        name: "derivation_key",
        sql: include_str!("../migrations/V132__derivation_key.sql"),
    },
];
