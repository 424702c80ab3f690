//! The SQL of projects, one file per topic.

pub(crate) mod audit;
pub(crate) mod backups;
pub(crate) mod class_apps;
pub(crate) mod databases;
pub(crate) mod deployments;
pub(crate) mod homes;
pub(crate) mod installations;
pub(crate) mod leases;
pub(crate) mod nodes;
pub(crate) mod projects;
pub(crate) mod secrets;

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::Value;
use serde::Serialize;
use serde::de::DeserializeOwned;

fn ms(at: Timestamp) -> Value<'static> {
    at.milliseconds().into()
}

fn json_of(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("all maps have string keys")
}

fn json_in<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(Problem::internal)
}
