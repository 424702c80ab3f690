//! Search: users, classes and courses by the words of their names.

use std::collections::{BTreeSet, HashMap};

use lyceum_core::{Reach, Result};
use lyceum_store::Tx;

use crate::fields;
use crate::kinds::{CLASS, COURSE, ORG, USER};
use crate::record::Object;
use crate::repository::{NameSearch, named};

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

/// What to search for, and in which part of the roster.
#[derive(Clone, Copy, Debug)]
pub struct SearchInput<'s> {
    /// The words of [`lyceum_core::text::name_words`].
    pub words: &'s BTreeSet<String>,
    /// The part of the roster that the caller sees.
    pub reach: &'s Reach,
    /// The most records to find.
    pub most: i64,
}

/// The students, or the users who are no students, by family name.
pub fn users(
    tx: &mut Tx<'_>,
    input: SearchInput<'_>,
    is_student: bool,
) -> Result<Vec<FoundRecord>> {
    let order = "LOWER(t.family_name), LOWER(t.given_name)";
    let users = named(tx, &USER, input.named(Some(is_student), order))?;
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
    found(tx, input, with_orgs.collect(), "")
}

/// The classes, by title.
pub fn classes(tx: &mut Tx<'_>, input: SearchInput<'_>) -> Result<Vec<FoundRecord>> {
    let classes = named(tx, &CLASS, input.named(None, "LOWER(t.title)"))?;
    titled(tx, input, classes, ("school", "classCode"))
}

/// The courses, by title.
pub fn courses(tx: &mut Tx<'_>, input: SearchInput<'_>) -> Result<Vec<FoundRecord>> {
    let courses = named(tx, &COURSE, input.named(None, "LOWER(t.title)"))?;
    titled(tx, input, courses, ("org", "courseCode"))
}

impl<'s> SearchInput<'s> {
    fn named(self, is_student: Option<bool>, order: &'static str) -> NameSearch<'s> {
        NameSearch { words: self.words, is_student, reach: self.reach, order, most: self.most }
    }
}

fn titled(
    tx: &mut Tx<'_>,
    input: SearchInput<'_>,
    records: Vec<Object>,
    (org, code): (&str, &str),
) -> Result<Vec<FoundRecord>> {
    let with_orgs = records.into_iter().map(|record| {
        let org = fields::reference(&record, org).to_owned();
        (org, fields::text(&record, "title").to_owned(), record)
    });
    found(tx, input, with_orgs.collect(), code)
}

/// The records with the names of their organizations; each comes with its organization and its name.
fn found(
    tx: &mut Tx<'_>,
    input: SearchInput<'_>,
    records: Vec<(String, String, Object)>,
    code: &str,
) -> Result<Vec<FoundRecord>> {
    let ids = records.iter().map(|(org, ..)| org.as_str());
    let orgs: HashMap<String, Object> = fields::of_all_within(tx, &ORG, ids, input.reach)?;
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
