//! Promotes a version from one server to another.

use lyceum_core::{Problem, Result};
use lyceum_project::courses::LmsWish;
use lyceum_project::{Artifact, Backend, DatabaseWish, Desired, SchemaWish, State, Uses};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The desired state of the server of `to`: code and frontend of a version that the server of `from` described.
/// Secrets and data are never copied. Errors: `Invalid` if the version is malformed.
pub fn promoted(version: &Value, from: &State, to: &State) -> Result<Desired> {
    let schema: Option<SchemaWish> = parse_part(&version["declared"]["wish"])?;
    let database = match schema {
        Some(schema) => {
            Some(DatabaseWish { schema: schema.for_state(&to.database)?, accept_data_loss: false })
        }
        None => None,
    };
    let uses = parse_part::<Uses>(&version["uses"])?;
    Ok(Desired {
        slug: from.slug.clone(),
        metadata: from.metadata.clone().unwrap_or_default(),
        frontend: parse_part::<Option<Artifact>>(&version["frontend"])?,
        backend: parse_part::<Option<Backend>>(&version["backend"])?,
        force_backend: false,
        uses,
        secrets: None,
        database,
        lms: from.lms.as_ref().filter(|_| uses.lms).map(LmsWish::of_state),
    })
}

/// The names of secrets that the one server has and the other lacks.
pub fn lacking(from: &State, to: &State) -> Vec<String> {
    let known = &to.secrets.digests;
    from.secrets.digests.keys().filter(|name| !known.contains_key(*name)).cloned().collect()
}

fn parse_part<T: DeserializeOwned>(described: &Value) -> Result<T> {
    serde_json::from_value(described.clone()).map_err(|_| {
        let message =
            "has a form that this program does not know; update it to the server's release";
        Problem::invalid("version", message)
    })
}
