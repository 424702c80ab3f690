//! Rules of users: roles at organizations.

use serde_json::Value;

use crate::record::{ListLink, Object};

/// A link field that combines a role with its organization. "Students of a school" is then one lookup, which does not
/// find a parent at one school who teaches at another.
pub(crate) const ROLE_AT_ORG: &str = "user.roles@org";

/// The value of [`ROLE_AT_ORG`].
pub(crate) fn role_at_org(role: &str, org: &str) -> String {
    format!("{role}@{org}")
}

/// The links of [`ROLE_AT_ORG`].
pub(crate) fn roles_at_orgs(object: &Object) -> Vec<ListLink> {
    let roles = object.get("roles").and_then(Value::as_array);
    roles
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let role = entry.get("role")?.as_str()?;
            let org = entry.get("org")?.get("sourcedId")?.as_str()?;
            Some(ListLink { field: ROLE_AT_ORG.into(), value: role_at_org(role, org) })
        })
        .collect()
}
