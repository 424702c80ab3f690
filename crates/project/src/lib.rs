//! The project of an app developer: its config file, what a server has of it, and the plan from one to the other.
//!
//! Nothing is executed here; `deploy` evaluates config files that are modules. Errors name the place in the file, and a
//! tool can replace a literal and leave the rest unchanged.
//!
//! | what | where |
//! |---|---|
//! | the config file with its JSON Schema and reference; the places of values in its text | `config`, `places` |
//! | writing stored values into the config file | `rewrite` |
//! | the stores that a backend can have | `bindings` |
//! | the state of a project on a server, and the desired state | `state` |
//! | the plan of a deploy | `plan` |
//! | the schema of a project's database and its changes | `schema`, `database` |
//! | secrets in `.env` | `secrets` |
//! | courses that a project teaches | `courses` |
//! | limits | `limits` |

mod bindings;
mod config;
pub mod courses;
mod database;
pub mod limits;
mod places;
mod plan;
mod rewrite;
pub mod schema;
pub mod secrets;
mod state;

pub use bindings::{Binding, BindingNames, Uses};
pub use config::{
    Config, Course, Database, FILES, HELPER, Integrations, Lms, Organization, ROUTES, Strategy,
    config_reference, config_schema, file_at, folder_of, slug_of,
};
pub use database::{DatabaseChange, DatabaseState, DatabaseWish, SchemaWish, change};
pub use plan::{Action, FieldChange, Plan, Replacement, SecretChanges, Step, plan};
pub use rewrite::{ByHand, Rewritten};
pub use state::{Artifact, Backend, Desired, Metadata, Module, SCALARS, Secrets, State};
