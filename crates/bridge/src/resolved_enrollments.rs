//! The active enrollments of users, each with the course, school and school year of its class.

use std::collections::HashMap;

use lyceum_core::time::Timestamp;
use lyceum_core::{Reach, Result};
use lyceum_roster::default_class::{SchoolYear, year_of};
use lyceum_roster::fields;
use lyceum_roster::kinds::{CLASS, COURSE, ENROLLMENT};
use lyceum_roster::membership::{self, EnrollmentDays};
use lyceum_roster::reach::keep_within;
use lyceum_roster::record::Object;
use lyceum_roster::repository::{self, RecordUse};
use lyceum_store::Tx;

/// An active enrollment with its course, school and terms.
pub(crate) struct ResolvedEnrollment {
    /// The enrollment's sourcedId.
    pub(crate) id: String,
    /// The user's sourcedId.
    pub(crate) user: String,
    /// The role, such as `student` or `teacher`.
    pub(crate) role: String,
    /// The course's sourcedId.
    pub(crate) course: String,
    /// The school's sourcedId.
    pub(crate) school: String,
    /// The terms of the class.
    pub(crate) terms: Vec<String>,
    /// The school year, if the class is a default class.
    pub(crate) year: Option<SchoolYear>,
    /// The enrollment record.
    pub(crate) fields: Object,
}

impl ResolvedEnrollment {
    /// Whether the user is a member of the class on the day: the enrollment has begun and has not ended.
    pub(crate) fn is_current(&self, today: &str) -> bool {
        EnrollmentDays::of(&self.fields).is_current(today)
    }
}

/// The active enrollments of the users that have not ended, in the order of their creation. Some may begin later. It
/// needs two statements.
pub(crate) fn of_users(
    tx: &mut Tx<'_>,
    now: Timestamp,
    users: &[&str],
) -> Result<Vec<ResolvedEnrollment>> {
    let stored = repository::referring_to(tx, &ENROLLMENT, "user", users)?;
    let records = stored.iter().map(fields::of).collect::<Result<Vec<_>>>()?;
    let classes = records.iter().map(|record| fields::reference(record, "class"));
    let classes = fields::of_all(tx, &CLASS, classes)?;
    let today = membership::day(now);
    let enrollments = records.into_iter().map(|record| resolve(record, &classes));
    Ok(enrollments
        .filter(|enrollment| !EnrollmentDays::of(&enrollment.fields).has_ended(&today))
        .collect())
}

/// The active enrollments of a user that have not ended and lie within the reach.
pub(crate) fn within(
    tx: &mut Tx<'_>,
    now: Timestamp,
    user: &str,
    reach: &Reach,
) -> Result<Vec<ResolvedEnrollment>> {
    let mut enrollments = of_users(tx, now, &[user])?;
    keep_within(tx, &ENROLLMENT, reach, RecordUse::See, &mut enrollments, |enrollment| {
        &enrollment.id
    })?;
    Ok(enrollments)
}

/// Keeps the enrollments whose course is active, because enrollments end with their course. It needs one statement.
pub(crate) fn with_active_course(
    tx: &mut Tx<'_>,
    mut enrollments: Vec<ResolvedEnrollment>,
) -> Result<Vec<ResolvedEnrollment>> {
    let courses = fields::of_all(
        tx,
        &COURSE,
        enrollments.iter().map(|enrollment| enrollment.course.as_str()),
    )?;
    enrollments.retain(|enrollment| courses.get(&enrollment.course).is_some_and(fields::is_in_use));
    Ok(enrollments)
}

fn resolve(record: Object, classes: &HashMap<String, Object>) -> ResolvedEnrollment {
    let none = Object::new();
    let class = classes.get(fields::reference(&record, "class")).unwrap_or(&none);
    let or_of_class = |name: &str| {
        let own = fields::reference(&record, name);
        if own.is_empty() { fields::reference(class, name) } else { own }.to_owned()
    };
    ResolvedEnrollment {
        id: fields::text(&record, "sourcedId").to_owned(),
        user: fields::reference(&record, "user").to_owned(),
        role: fields::text(&record, "role").to_owned(),
        course: fields::reference(class, "course").to_owned(),
        school: or_of_class("school"),
        terms: fields::references(class, "terms").map(str::to_owned).collect(),
        year: year_of(class),
        fields: record,
    }
}
