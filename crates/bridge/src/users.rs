//! Users in the form that clients of the bridge read.

use lyceum_core::{Problem, Result};
use lyceum_roster::fields;
use lyceum_roster::kinds::ORG;
use lyceum_roster::record::Object;
use lyceum_roster::repository::RecordPage;
use lyceum_store::Tx;
use serde_json::{Value, json};

/// The fields that are always shown, whatever fields are selected, because clients require them.
pub const ALWAYS: &[&str] =
    &["email", "userIds", "agents", "userProfiles", "roles", "enabledUser", "primaryOrg"];

/// Converts a page of users to the form of the bridge: grades as plain numbers (`3`, not `03`), the name of the primary
/// organization, empty instead of missing lists, and profiles with their application. It needs one statement.
pub fn add_enrollments(tx: &mut Tx<'_>, mut listed: RecordPage) -> Result<RecordPage> {
    let users = format!("[{}]", listed.records);
    let mut users: Vec<Object> = serde_json::from_str(&users).map_err(Problem::internal)?;
    let orgs = users.iter().map(|user| fields::reference(user, "primaryOrg"));
    let orgs = fields::of_all(tx, &ORG, orgs)?;
    for user in &mut users {
        if let Some(primary) = user.get_mut("primaryOrg").and_then(Value::as_object_mut) {
            let org = orgs.get(fields::text(primary, "sourcedId"));
            let name = org.map(|org| fields::text(org, "name")).unwrap_or_default();
            primary.insert("name".into(), name.into());
        }
        user.entry("email").or_insert_with(|| "".into());
        for list in ["userIds", "agents", "userProfiles"] {
            user.entry(list).or_insert_with(|| json!([]));
        }
        for grade in list(user, "grades") {
            if let Some(text) = grade.as_str() {
                *grade = plain(text).into();
            }
        }
        for profile in list(user, "userProfiles").filter_map(Value::as_object_mut) {
            with_application(profile);
        }
    }
    let users: Vec<String> = users.into_iter().map(|user| Value::from(user).to_string()).collect();
    listed.records = users.join(",");
    Ok(listed)
}

fn list<'a>(object: &'a mut Object, name: &str) -> impl Iterator<Item = &'a mut Value> {
    object.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten()
}

/// Converts `03` to `3`; other grades stay as they are.
fn plain(grade: &str) -> String {
    grade.trim().parse::<i64>().map_or_else(|_| grade.to_owned(), |number| number.to_string())
}

/// Adds the fields of a profile's application that clients require. The profile only names the application's id.
fn with_application(profile: &mut Object) {
    let application = fields::text(profile, "applicationId").to_owned();
    let id = fields::text(profile, "profileId").to_owned();
    profile.insert("applicationId".into(), application.as_str().into());
    profile
        .entry("app")
        .or_insert_with(|| json!({ "sourcedId": application, "name": application, "domain": [] }));
    profile.entry("credentials").or_insert_with(|| json!([]));
    for (number, credential) in list(profile, "credentials").enumerate() {
        if let Some(credential) = credential.as_object_mut() {
            credential.entry("id").or_insert_with(|| format!("{id}#{number}").into());
        }
    }
}
