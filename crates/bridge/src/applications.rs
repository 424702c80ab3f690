//! The applications in which students work: the apps that events name, and the registered clients.

use std::collections::{BTreeMap, HashMap};

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_events::{Actor, facts};
use lyceum_roster::kinds::USER;
use lyceum_roster::repository as roster;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::limits;
use crate::repository;

/// An application. A registered client has its client id; one that only events name has its name
/// as id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Application {
    /// Its id.
    pub sourced_id: String,
    /// Its name for people, which its events use too.
    pub name: String,
    /// The hosts of its web pages, as far as they are registered.
    pub domain: Vec<String>,
}

/// The usage of an application.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApplicationMetrics {
    /// The application's id.
    pub application_sourced_id: String,
    /// The number of students who used it.
    pub total_users: usize,
    /// The number of students who used it lately.
    pub active_users: usize,
    /// `activeDays`: the number of days that count as lately; `message` if its events contain no usage.
    #[schemars(with = "serde_json::Map<String, Value>")]
    pub metadata: Value,
}

/// All applications, sorted by name.
pub fn all(tx: &mut Tx<'_>, registered: Vec<Application>) -> Result<Vec<Application>> {
    let mut by_name: BTreeMap<String, Vec<Application>> = BTreeMap::new();
    for application in registered {
        by_name.entry(application.name.clone()).or_default().push(application);
    }
    for name in repository::app_names(tx)? {
        by_name.entry(name.clone()).or_insert_with(|| {
            vec![Application { sourced_id: name.clone(), name, domain: Vec::new() }]
        });
    }
    Ok(by_name.into_values().flatten().collect())
}

/// The use of an application. Sessions are not included, because facts do not contain them. Errors: `NotFound`.
pub fn metrics(
    tx: &mut Tx<'_>,
    now: Timestamp,
    id: &str,
    registered: Vec<Application>,
) -> Result<ApplicationMetrics> {
    let known = all(tx, registered)?.into_iter().find(|application| application.sourced_id == id);
    let application = known.ok_or_else(|| {
        Problem::new(ProblemKind::NotFound, format!("Unknown Object: no application '{id}'"))
    })?;
    let lately = now.plus_seconds(-limits::APPLICATION_ACTIVE_DAYS * 86_400);
    let actors = facts::users_of_app(tx, &application.name, lately)?;
    let students = students(tx, &actors)?;
    let total_users = students.len();
    let active_users = students.values().filter(|lately| **lately).count();
    let mut metadata = json!({ "activeDays": limits::APPLICATION_ACTIVE_DAYS });
    if total_users == 0 {
        let message = format!("no event names the app '{}' yet", application.name);
        metadata["message"] = message.into();
    }
    Ok(ApplicationMetrics {
        application_sourced_id: application.sourced_id,
        total_users,
        active_users,
        metadata,
    })
}

/// The students behind the actors, and whether any actor of each was active recently. Actors belong to students by the
/// rules of [`crate::analytics::activity`]. An actor that is not in the roster counts as one student.
fn students(tx: &mut Tx<'_>, actors: &[(Actor, bool)]) -> Result<HashMap<String, bool>> {
    let mut students: HashMap<String, bool> = HashMap::new();
    for actors in actors.chunks(limits::APPLICATION_ACTORS_CHUNK_COUNT) {
        let persons: Vec<&str> = actors.iter().map(|(actor, _)| actor.person.as_str()).collect();
        let known = roster::present(tx, &USER, &persons)?;
        let unknown = actors.iter().filter(|(actor, _)| !known.contains_key(&actor.person));
        let emails: Vec<&str> = unknown
            .map(|(actor, _)| actor.email.as_str())
            .filter(|email| !email.is_empty())
            .collect();
        let by_email = roster::users_with_emails(tx, &emails)?;
        for (actor, lately) in actors {
            let by_email = || by_email.get(&actor.email).unwrap_or(&actor.person);
            let id = if known.contains_key(&actor.person) { &actor.person } else { by_email() };
            *students.entry(id.clone()).or_default() |= lately;
        }
    }
    Ok(students)
}
