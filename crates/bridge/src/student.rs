//! The fields of a user that decide where the user is enrolled.

use lyceum_roster::fields;
use lyceum_roster::grade::comparable;
use lyceum_roster::record::Object;
use serde_json::Value;

/// A user with the fields that enrolling needs.
pub(crate) struct EnrollingStudent {
    /// The sourcedId.
    pub(crate) id: String,
    /// Whether one of the user's roles is `student`.
    pub(crate) learns: bool,
    /// The grades in the form in which they are compared.
    pub(crate) grades: Vec<String>,
    /// The organizations: the primary one first, then those of the roles.
    pub(crate) orgs: Vec<String>,
    /// The default school, which is the first organization.
    pub(crate) school: String,
}

impl EnrollingStudent {
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
        // Primary roles come before secondary ones; otherwise the order stays.
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
