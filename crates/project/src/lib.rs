//! The project of an app developer: what its config file says, what a server has of it, and the plan
//! that leads from one to the other.
//!
//! Invariants: nothing is executed here; every value knows its place in the file, so that a tool can name
//! it, or write another one there and leave the rest as it is.

mod config;
pub mod courses;
mod database;
pub mod literal;
mod plan;
mod rewrite;
pub mod schema;
pub mod secrets;
mod state;

pub use config::{
    Config, ConfigModule, Course, Database, FILES, HELPER, Integrations, Lms, Organization, ROUTES,
    Reading, Strategy, file_at, folder_of, slug_of,
};
pub use database::{DatabaseChange, DatabaseState, DatabaseWish, SchemaWish, change};
pub use plan::{Action, Change, FieldChange, Plan, SecretChanges, Step, plan};
pub use rewrite::{ByHand, Rewritten};
pub use state::{Artifact, Backend, Desired, Metadata, Module, SCALARS, Secrets, State, Uses};
