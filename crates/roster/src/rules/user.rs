//! Rules of users: roles at organizations.

use std::collections::HashMap;

use lyceum_core::{Message, message};
use serde_json::Value;

use super::name;
use crate::record::{ListLink, Object, Record, Status};

/// A link field that combines a role with its organization. "Students of a school" is then one lookup, which does not
/// find a parent at one school who teaches at another.
pub(crate) const ROLE_AT_ORG: &str = "user.roles@org";

/// The value of [`ROLE_AT_ORG`].
pub(crate) fn role_at_org(role: &str, org: &str) -> String {
    format!("{role}@{org}")
}

/// A link field with the organizations of a user who has roles at several. Counts of organizations leave these users
/// out, so that nobody is counted twice.
pub(crate) const SEVERAL_ORGS: &str = "user.severalOrgs";

/// The notice about an active user whose username an earlier user has, and the username. `first_by_username` has the
/// first active user with each username in lower case ([`crate::repository::first_users_with_usernames`]).
pub(crate) fn shared_username<'r>(
    user: &'r Record,
    first_by_username: &HashMap<String, String>,
) -> Option<(Message, &'r str)> {
    let (id, username) = (&user.sourced_id, user.column("username")?);
    let first = first_by_username.get(&username.to_ascii_lowercase())?;
    if first == id || user.status != Status::Active {
        return None;
    }
    let problem = message!(
        "the users '{first}' and '{id}' have the username '{username}'; only the older of their accounts signs in with it"
    );
    Some((problem, username))
}

/// The links of [`ROLE_AT_ORG`], [`SEVERAL_ORGS`] and the words of the user's names.
pub(crate) fn links(object: &Object) -> Vec<ListLink> {
    let roles = object.get("roles").and_then(Value::as_array).into_iter().flatten();
    let roles: Vec<(&str, &str)> = roles
        .filter_map(|entry| {
            let role = entry.get("role")?.as_str()?;
            Some((role, entry.get("org")?.get("sourcedId")?.as_str()?))
        })
        .collect();
    let at_orgs = roles
        .iter()
        .map(|(role, org)| ListLink { field: ROLE_AT_ORG.into(), value: role_at_org(role, org) });
    let has_several = roles.iter().any(|(_, org)| *org != roles[0].1);
    let several = roles.iter().filter(|_| has_several);
    let several =
        several.map(|(_, org)| ListLink { field: SEVERAL_ORGS.into(), value: (*org).to_owned() });
    at_orgs.chain(several).chain(name::of_user(object)).collect()
}
