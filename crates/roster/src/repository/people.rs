//! People selected by role and organization, as clients of the platform request them.

use lyceum_store::{Sql, dialect};
use serde_json::Value;

/// A selection of users in addition to the filter.
#[derive(Clone, Debug, Default)]
pub struct UserSelection {
    /// The roles that they may have; they have one of these, and no other.
    pub roles: Vec<String>,
    /// The organizations at which they have a role; none given, any.
    pub orgs: Vec<String>,
}

/// Appends the condition that a user of table `t` is one of them.
pub(super) fn condition(sql: &mut Sql, people: &UserSelection) {
    sql.push("EXISTS (SELECT 1 FROM roster_link p WHERE p.field = 'user.roles.role' AND p.owner = t.seq AND ");
    among(sql, &people.roles);
    sql.push(") AND NOT EXISTS (SELECT 1 FROM roster_link p WHERE p.field = 'user.roles.role' AND p.owner = t.seq AND NOT ");
    among(sql, &people.roles);
    sql.push(")");
    if !people.orgs.is_empty() {
        sql.push(" AND t.seq IN (SELECT p.owner FROM roster_link p WHERE p.field = 'user.roles.org' AND ");
        among(sql, &people.orgs);
        sql.push(")");
    }
}

/// Whether a link's value is among these.
fn among(sql: &mut Sql, values: &[String]) {
    let list = Value::from(values).to_string();
    let placeholder = sql.placeholder(list.as_str());
    sql.push(&dialect::is_one_of(sql.dialect, "p.value", &placeholder));
}
