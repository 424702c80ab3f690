//! The applications in which students work: the apps that events name, and the registered clients.

use std::collections::{BTreeMap, HashMap};

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Reach, Result, message};
use lyceum_events::{Actor, ActorFilter, facts};
use lyceum_roster::kinds::USER;
use lyceum_roster::reach::keep_within;
use lyceum_roster::repository::RecordUse;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::analytics::owner_ids;
use crate::limits;
use crate::reach::actors_within;
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

/// All applications, sorted by name. Under a limited reach, those that events of people within it name.
pub fn all(
    tx: &mut Tx<'_>,
    mut registered: Vec<Application>,
    reach: &Reach,
) -> Result<Vec<Application>> {
    let named = match actors_within(reach) {
        ActorFilter::Everyone => repository::app_names(tx)?,
        ActorFilter::Only(seen) => {
            let actors = seen.all(tx)?;
            let names = facts::apps_of(tx, &actors)?;
            registered.retain(|application| names.contains(&application.name));
            names
        }
    };
    let mut by_name: BTreeMap<String, Vec<Application>> = BTreeMap::new();
    for application in registered {
        by_name.entry(application.name.clone()).or_default().push(application);
    }
    for name in named {
        by_name.entry(name.clone()).or_insert_with(|| {
            vec![Application { sourced_id: name.clone(), name, domain: Vec::new() }]
        });
    }
    Ok(by_name.into_values().flatten().collect())
}

/// The use of an application by people within the reach. Sessions are not included, because facts do not contain them.
/// Errors: `NotFound`.
pub fn metrics(
    tx: &mut Tx<'_>,
    now: Timestamp,
    id: &str,
    registered: Vec<Application>,
    reach: &Reach,
) -> Result<ApplicationMetrics> {
    let known =
        all(tx, registered, reach)?.into_iter().find(|application| application.sourced_id == id);
    let application = known.ok_or_else(|| {
        Problem::new(ProblemKind::NotFound, message!("Unknown Object: no application '{id}'"))
    })?;
    let lately = now.plus_seconds(-limits::APPLICATION_ACTIVE_DAYS * 86_400);
    let actors = facts::users_of_app(tx, &application.name, lately)?;
    let students = students(tx, &actors, reach)?;
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
/// rules of [`crate::analytics::activity`]. An actor that is not in the roster counts as one student without a limit of
/// the reach, and otherwise does not count.
fn students(
    tx: &mut Tx<'_>,
    actors: &[(Actor, bool)],
    reach: &Reach,
) -> Result<HashMap<String, bool>> {
    let mut students: HashMap<String, bool> = HashMap::new();
    for actors in actors.chunks(limits::APPLICATION_ACTORS_CHUNK_COUNT) {
        let names: Vec<(&str, &str)> =
            actors.iter().map(|(actor, _)| (actor.person.as_str(), actor.email.as_str())).collect();
        let owners = owner_ids(tx, &names)?;
        let owners = owners.into_iter().zip(actors);
        let mut chunk: Vec<(String, bool)> = owners
            .map(|(owner, (actor, lately))| {
                (owner.unwrap_or_else(|| actor.person.clone()), *lately)
            })
            .collect();
        keep_within(tx, &USER, reach, RecordUse::See, &mut chunk, |(id, _)| id)?;
        for (id, lately) in chunk {
            *students.entry(id).or_default() |= lately;
        }
    }
    Ok(students)
}
