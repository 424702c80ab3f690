//! The default class of a course: where those who enroll in the course itself learn.
//!
//! Class, term and school year are made if they are missing, with ids that follow from the
//! course, the school and the school year, so that two who enroll at once make them once.
//!
//! A school year starts on 1 August. An enrollment always has the course of its class: if a class changes its course
//! or school, its active enrollments are written again.

use lyceum_core::messages::unknown_reference;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_store::Tx;
use serde_json::{Value, json};

use crate::kind::RecordKind;
use crate::kinds::{ACADEMIC_SESSION, CLASS, COURSE};
use crate::record::{Object, Record, members};
use crate::repository;

/// The path of errors of the school where users enroll.
pub const SCHOOL: &str = "enrollment.school.sourcedId";
const SCHOOL_OF_CLASS: &str = "class.school.sourcedId";

/// School years begin on the first day of this month.
const SCHOOL_YEAR_BEGINS_IN_MONTH: i8 = 8;

/// The sourcedId of the default class of a course, at the school or else the course's own
/// organization, in the school year of `now`. Creates the class and its sessions if they are missing or deleted.
///
/// Errors: `Invalid` for an unknown course, or one without an organization where no school is
/// named; `Conflict` when another class has the id.
pub fn find_or_make(
    tx: &mut Tx<'_>,
    now: Timestamp,
    course: &str,
    school: Option<&str>,
) -> Result<String> {
    let Some(stored) = repository::find(tx, &COURSE, course)? else {
        return Err(Problem::invalid(
            "enrollment.course.sourcedId",
            unknown_reference("course", course),
        ));
    };
    let fields = members(&stored.body, stored.extra.as_deref())?;
    let Some(school) = school.or(reference(&fields, "org")) else {
        return Err(Problem::invalid(
            SCHOOL,
            message!(
                "is required because the course '{course}' has no org; send a reference to a school"
            ),
        ));
    };
    let year = SchoolYear::of(now);
    let class = class_id(course, school, year);
    if let Some(found) = in_use(tx, &CLASS, &class)? {
        if reference(&found, "course") == Some(course) {
            return Ok(class);
        }
        return Err(Problem::new(
            ProblemKind::Conflict,
            message!(
                "the default class of the course '{course}' would have the sourcedId '{class}', \
                 which a class of another course has; give that class another sourcedId"
            ),
        ));
    }
    let year_id = session(tx, now, year, school, "schoolYear", None)?;
    let term_id = session(tx, now, year, school, "term", Some(&year_id))?;
    create_record(
        tx,
        &CLASS,
        now,
        json!({
            "sourcedId": class,
            "title": fields.get("title"),
            "classCode": fields.get("courseCode"),
            "classType": "scheduled",
            "grades": fields.get("grades"),
            "subjects": fields.get("subjects"),
            "subjectCodes": fields.get("subjectCodes"),
            "course": { "sourcedId": course },
            "school": { "sourcedId": school },
            // Clients of the platform read it under this name.
            "org": { "sourcedId": school },
            "terms": [{ "sourcedId": term_id }],
        }),
    )
    .map_err(|problem| {
        match problem.details.iter().find(|one| one.path == SCHOOL_OF_CLASS) {
            Some(refused) => Problem::invalid(SCHOOL, refused.message.clone()),
            None => problem,
        }
    })?;
    Ok(class)
}

/// The school year of a class, if it is the default class of its course at its school.
pub fn year_of(class: &Object) -> Option<SchoolYear> {
    let id = class.get("sourcedId")?.as_str()?;
    year_in(id, reference(class, "course")?, reference(class, "school")?)
}

/// The school year in the sourcedId of a class, if that is the one of a default class.
pub(crate) fn year_in(class: &str, course: &str, school: &str) -> Option<SchoolYear> {
    let year = SchoolYear { ends: class.rsplit_once('-')?.1.parse().ok()? };
    (class_id(course, school, year) == class).then_some(year)
}

fn class_id(course: &str, school: &str, year: SchoolYear) -> String {
    format!("class-{course}-{school}-{}", year.ends)
}

fn reference<'a>(record: &'a Object, name: &str) -> Option<&'a str> {
    record.get(name)?.get("sourcedId").and_then(Value::as_str)
}

/// A school year, from the first of August to the last of July, named by the year in which it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SchoolYear {
    ends: i16,
}

impl SchoolYear {
    /// The school year of an instant, by its date in UTC.
    pub fn of(now: Timestamp) -> Self {
        let today = now.date();
        Self { ends: today.year() + i16::from(today.month() >= SCHOOL_YEAR_BEGINS_IN_MONTH) }
    }

    /// Its first day, such as `2025-08-01`.
    pub fn first_day(self) -> String {
        format!("{:04}-{SCHOOL_YEAR_BEGINS_IN_MONTH:02}-01", self.ends - 1)
    }

    /// Its last day, such as `2026-07-31`.
    pub fn last_day(self) -> String {
        format!("{:04}-07-31", self.ends)
    }
}

/// The sourcedId of the school's session of that type in the year.
fn session(
    tx: &mut Tx<'_>,
    now: Timestamp,
    year: SchoolYear,
    school: &str,
    session_type: &str,
    parent: Option<&str>,
) -> Result<String> {
    let id = format!("{session_type}-{school}-{}", year.ends);
    if in_use(tx, &ACADEMIC_SESSION, &id)?.is_none() {
        create_record(
            tx,
            &ACADEMIC_SESSION,
            now,
            json!({
                "sourcedId": id,
                "title": format!("{}-{}", year.ends - 1, year.ends),
                "type": session_type,
                "startDate": year.first_day(),
                "endDate": year.last_day(),
                "schoolYear": year.ends.to_string(),
                "parent": parent.map(|id| json!({ "sourcedId": id })),
                "org": { "sourcedId": school },
            }),
        )?;
    }
    Ok(id)
}

/// The record, unless it is missing or deleted.
fn in_use(tx: &mut Tx<'_>, kind: &RecordKind, id: &str) -> Result<Option<Object>> {
    let Some(stored) = repository::find(tx, kind, id)? else { return Ok(None) };
    let fields = members(&stored.body, stored.extra.as_deref())?;
    let is_active = fields.get("status").is_some_and(|status| status == "active");
    Ok(is_active.then_some(fields))
}

fn create_record(
    tx: &mut Tx<'_>,
    kind: &'static RecordKind,
    now: Timestamp,
    fields: Value,
) -> Result<()> {
    let fields: Object = match fields {
        Value::Object(fields) => fields,
        _ => unreachable!("the caller writes an object"),
    };
    let record = Record::from_server(kind, &fields, now)?;
    repository::upsert(tx, &record, None)?;
    Ok(())
}
