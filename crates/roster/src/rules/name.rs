//! The words of the names by which people look for users, classes and courses.

use std::collections::BTreeSet;

use lyceum_core::text::name_words;
use serde_json::Value;

use crate::record::{ListLink, Object};

const OF_USERS: [&str; 6] = [
    "givenName",
    "familyName",
    "middleName",
    "preferredFirstName",
    "preferredMiddleName",
    "preferredLastName",
];

/// The link field with the words of the names of a kind.
pub(crate) fn link_field(one: &str) -> String {
    format!("{one}.nameWords")
}

/// The links of a user's names.
pub(crate) fn of_user(user: &Object) -> Vec<ListLink> {
    links("user", user, &OF_USERS)
}

/// The links of a class's title and code.
pub(crate) fn of_class(class: &Object) -> Vec<ListLink> {
    links("class", class, &["title", "classCode"])
}

/// The links of a course's title and code.
pub(crate) fn of_course(course: &Object) -> Vec<ListLink> {
    links("course", course, &["title", "courseCode"])
}

fn links(one: &str, record: &Object, fields: &[&str]) -> Vec<ListLink> {
    let texts = fields.iter().filter_map(|name| record.get(*name).and_then(Value::as_str));
    let words: BTreeSet<String> = texts.flat_map(name_words).collect();
    words.into_iter().map(|value| ListLink { field: link_field(one), value }).collect()
}
