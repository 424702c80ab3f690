//! Access: clients, people, API keys, scopes, tokens and signing keys; and the audit log.
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
//! | sessions in browsers and on the command line, limits on guessing by account and place | `session`, `device`, `guess`, `caller_place` |
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
mod caller_place;
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

use lyceum_store::{Migration, migration};

pub use allowed::{
    Access, AccessDenial, AccessReach, LimitedCallers, PlayerTrust, RequestSubject, Roles, allowed,
};
pub use api_key::{ApiKey, NewApiKey};
pub use caller_place::CallerPlace;
pub use client::{Client, ClientRefusal, ClientSecrets, NewClient};
pub use holder::TokenHolder;
pub use keyring::{Jwk, JwkSet, Keyring, Realm, master_of_database};
pub use master::{MasterKey, parse_key};
pub use owner::{OwnerGrant, SANDBOX_CLIENT, current_grants};
pub use person::{NewPerson, Person, Role};
pub use repository::address::{note_server_address, server_address};
pub use repository::members::{has_members, join, leave};
pub use scope::{Rights, Scope, Scopes, UnknownScope};
pub use signed_request::{SignatureRefusal, SignedRequest};
pub use student::{Student, StudentSession};
pub use token::{DEMO_CLIENT, Grant, IssuedToken, Player, TokenError};

/// The tables of this crate.
pub const MIGRATIONS: &[Migration] = &[migration!(2, "access")];
