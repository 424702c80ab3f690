//! What of a user decides where they learn.

use lyceum_roster::fields;
use lyceum_roster::grade::comparable;
use lyceum_roster::record::Object;
use serde_json::Value;

/// A user as enrolling sees them.
pub(crate) struct Student {
    /// The sourcedId.
    pub(crate) id: String,
    /// Whether one of their roles is that of a student.
    pub(crate) learns: bool,
    /// Their grades, as they compare.
    pub(crate) grades: Vec<String>,
    /// Their organizations: the primary one first, then those of their roles.
    pub(crate) orgs: Vec<String>,
    /// Where they learn unless someone says otherwise: the first of their organizations.
    pub(crate) school: String,
}

impl Student {
    /// Reads a user's record.
    pub(crate) fn of(user: &Object) -> Self {
        let roles: Vec<&Object> = user
            .get("roles")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_object)
            .collect();
        let mut orgs = vec![fields::reference(user, "primaryOrg").to_owned()];
        // Primary roles stand before secondary ones, else in their order.
        let (primary, secondary): (Vec<&Object>, Vec<&Object>) =
            roles.iter().partition(|role| fields::text(role, "roleType") == "primary");
        orgs.extend(
            primary.iter().chain(&secondary).map(|r| fields::reference(r, "org").to_owned()),
        );
        orgs.retain(|org| !org.is_empty());
        Self {
            id: fields::text(user, "sourcedId").to_owned(),
            learns: roles.iter().any(|role| fields::text(role, "role") == "student"),
            grades: fields::texts(user, "grades").iter().map(|grade| comparable(grade)).collect(),
            school: orgs.first().cloned().unwrap_or_default(),
            orgs,
        }
    }
}
