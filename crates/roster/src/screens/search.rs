//! Search: users, classes and courses by the words of their names.

use std::collections::HashMap;

use lyceum_core::Result;
use lyceum_store::Tx;

use crate::fields;
use crate::kinds::{CLASS, COURSE, ORG, USER};
use crate::record::Object;
use crate::repository::{NameSearch, find_by_name};

/// A user, class or course that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundRecord {
    /// The sourcedId.
    pub id: String,
    /// The name or title; the sourcedId if it has none.
    pub name: String,
    /// The school or owner and the code, as far as it has them.
    pub about: Vec<String>,
}

/// The students, or the users who are no students, by family name.
pub fn users(
    tx: &mut Tx<'_>,
    search: NameSearch<'_>,
    is_student: bool,
) -> Result<Vec<FoundRecord>> {
    let order = "LOWER(t.family_name), LOWER(t.given_name)";
    let users = find_by_name(tx, &USER, search, order, Some(is_student))?;
    let org = |user: &Object| match fields::reference(user, "primaryOrg") {
        "" => user
            .get("roles")
            .and_then(|roles| roles.get(0)?.get("org"))
            .map(fields::id_in)
            .unwrap_or_default()
            .to_owned(),
        primary => primary.to_owned(),
    };
    let with_orgs = users.into_iter().map(|user| (org(&user), fields::full_name(&user), user));
    with_organizations(tx, search, with_orgs.collect(), "")
}

/// The classes, by title.
pub fn classes(tx: &mut Tx<'_>, search: NameSearch<'_>) -> Result<Vec<FoundRecord>> {
    let classes = find_by_name(tx, &CLASS, search, "LOWER(t.title)", None)?;
    titled(tx, search, classes, ("school", "classCode"))
}

/// The courses, by title.
pub fn courses(tx: &mut Tx<'_>, search: NameSearch<'_>) -> Result<Vec<FoundRecord>> {
    let courses = find_by_name(tx, &COURSE, search, "LOWER(t.title)", None)?;
    titled(tx, search, courses, ("org", "courseCode"))
}

fn titled(
    tx: &mut Tx<'_>,
    search: NameSearch<'_>,
    records: Vec<Object>,
    (org, code): (&str, &str),
) -> Result<Vec<FoundRecord>> {
    let with_orgs = records.into_iter().map(|record| {
        let org = fields::reference(&record, org).to_owned();
        (org, fields::text(&record, "title").to_owned(), record)
    });
    with_organizations(tx, search, with_orgs.collect(), code)
}

/// The records with the names of their organizations; each comes with its organization and its name.
fn with_organizations(
    tx: &mut Tx<'_>,
    search: NameSearch<'_>,
    records: Vec<(String, String, Object)>,
    code: &str,
) -> Result<Vec<FoundRecord>> {
    let ids = records.iter().map(|(org, ..)| org.as_str());
    let orgs: HashMap<String, Object> = fields::of_all_within(tx, &ORG, ids, search.reach)?;
    let found = records.into_iter().map(|(org, name, record)| {
        let id = fields::text(&record, "sourcedId").to_owned();
        let org = orgs.get(&org).map(|org| fields::text(org, "name")).unwrap_or_default();
        let about = [fields::text(&record, code), org];
        FoundRecord {
            name: if name.is_empty() { id.clone() } else { name },
            about: about.into_iter().filter(|part| !part.is_empty()).map(str::to_owned).collect(),
            id,
        }
    });
    Ok(found.collect())
}
