//! Addresses of the console's pages.

use std::fmt::Display;

use lyceum_core::text::segment;

use crate::screens;

/// A student.
pub fn student(id: &str) -> String {
    format!("/console/students/{}", segment(id))
}

/// The page on which a student works through a lesson.
pub fn student_lesson(id: &str) -> String {
    format!("/learn/lessons/{}", segment(id))
}

/// The page for exporting and erasing a person.
pub fn person(id: &str) -> String {
    format!("/console/people/{}", segment(id))
}

/// The page of the erasure of the person who had this id.
pub fn erasure(id: &str) -> String {
    format!("{}/erasure", person(id))
}

/// The events of a student from one day to another, in one subject or, if `subject` is empty, in all subjects.
pub fn events_behind(id: &str, from: &str, to: &str, subject: &str) -> String {
    let subject = segment(subject);
    format!("{}/facts?from={from}&to={to}&subject={subject}", student(id))
}

/// A student's attempt at a lesson.
pub fn attempt(id: &str, lesson: &str, attempt: i64) -> String {
    let lesson = segment(lesson);
    format!("{}/attempt?lesson={lesson}&attempt={attempt}", student(id))
}

/// An event of a student, by its number.
pub fn student_event(id: &str, number: i64) -> String {
    format!("{}/event?number={number}", student(id))
}

/// The students of today: a group, a class and a reason to help. Empty texts admit all.
pub fn today(group: &str, class: &str, rule: &str) -> String {
    let mut chosen = vec![("group", group), ("class", class), ("rule", rule)];
    chosen.retain(|(_, value)| !value.is_empty());
    match chosen.as_slice() {
        [] => screens::TODAY.path.to_owned(),
        chosen => format!("{}?{}", screens::TODAY.path, pairs(chosen)),
    }
}

/// The students of a class; without one, all students.
pub fn students(class: &str) -> String {
    match class {
        "" => screens::STUDENTS.path.to_owned(),
        class => format!("{}?{}", screens::STUDENTS.path, pairs(&[("class", class)])),
    }
}

/// The students of a class who are enrolled now; without a class, all of them.
pub fn enrolled_students(class: &str) -> String {
    let of_class = [("class", class), ("enrolled", "yes")];
    let chosen = of_class.iter().filter(|(_, value)| !value.is_empty()).copied();
    format!("{}?{}", screens::STUDENTS.path, pairs(&chosen.collect::<Vec<_>>()))
}

/// The school hours of an organization.
pub fn school_hours(org: &str) -> String {
    format!("/console/system/hours/{}", segment(org))
}

/// A class.
pub fn class(id: &str) -> String {
    format!("/console/classes/{}", segment(id))
}

/// An account.
pub fn account(id: &str) -> String {
    format!("/console/accounts/{}", segment(id))
}

/// The access of a class's students.
pub fn class_access(id: &str) -> String {
    format!("{}/access", class(id))
}

/// A course.
pub fn course(id: &str) -> String {
    format!("/console/courses/{}", segment(id))
}

/// The preview of an item.
pub fn item(id: &str) -> String {
    format!("/console/items/{}/preview", segment(id))
}

/// The preview of an item with another seed.
pub fn item_variant(id: &str, seed: u64) -> String {
    format!("{}?seed={seed}", item(id))
}

/// A badge, by its random id.
pub fn badge(id: &str) -> String {
    format!("/console/badges/credentials/{}", segment(id))
}

/// The issued badges of an achievement.
pub fn badges_of(achievement: &str) -> String {
    format!("/console/badges?achievement={}", segment(achievement))
}

/// The form that issues the badge of an achievement.
pub fn issue_badge(achievement: &str) -> String {
    format!("/console/badges/issue?achievement={}", segment(achievement))
}

/// A learner record.
pub fn learner_record(id: &str) -> String {
    format!("/console/badges/records/{}", segment(id))
}

/// An event, by its id.
pub fn event(id: &str) -> String {
    format!("/console/events/one?{}", pairs(&[("id", id)]))
}

/// The events that a search finds, such as those of a person.
pub fn events_of(search: &str) -> String {
    format!("/console/events?{}", pairs(&[("filter", search)]))
}

/// The events that arrived from one instant to another. The numbers are those of the first and last event.
pub fn events_that_arrived((from, to): (&str, &str), (first, last): (i64, i64)) -> String {
    let (first, last) = (first.to_string(), last.to_string());
    let parameters = [("since", from), ("until", to), ("first", first.as_str()), ("last", &last)];
    format!("/console/events?{}", pairs(&parameters))
}

/// A rejected envelope.
pub fn rejected_envelope(id: i64) -> String {
    format!("/console/events/refused/{id}")
}

/// An import.
pub fn import(id: impl Display) -> String {
    format!("/console/imports/{id}")
}

/// The rows of an import's file that have the given outcome. If `outcome` is empty, all rows.
pub fn import_rows(id: i64, file: &str, outcome: &str) -> String {
    let outcome = if outcome.is_empty() { String::new() } else { format!("&came={outcome}") };
    format!("{}/rows?file={}{outcome}", import(id), segment(file))
}

/// A project.
pub fn project(slug: &str) -> String {
    format!("/console/projects/{slug}")
}

/// An API key.
pub fn api_key(id: &str) -> String {
    format!("/console/keys/api/{}", segment(id))
}

/// A client. Its id may contain any visible ASCII characters, so it is encoded.
pub fn client(id: &str) -> String {
    format!("/console/keys/clients/{}", segment(id))
}

/// A webhook.
pub fn webhook(id: &str) -> String {
    format!("/console/webhooks/{}", segment(id))
}

/// A job.
pub fn job(id: i64) -> String {
    format!("/console/system/jobs/{id}")
}

/// An entry of the audit log.
pub fn change(id: i64) -> String {
    format!("/console/system/audit/{id}")
}

fn pairs(pairs: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}
