//! The default class of a course: where those who enroll in the course itself learn.
//!
//! Class, term and school year are made where they are missing, with ids that follow from the
//! course, the school and the school year, so that two who enroll at once make them once.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::Tx;
use serde_json::{Value, json};

use crate::dialect::Dialect;
use crate::kind::Kind;
use crate::kinds::{ACADEMIC_SESSION, CLASS, COURSE};
use crate::record::{Object, Record, Stamp, members};
use crate::repository;

/// School years begin on the first day of this month.
const SCHOOL_YEAR_BEGINS_IN_MONTH: i8 = 8;

/// The sourcedId of the default class of a course, at the school or else the course's own
/// organization, in the school year of `now`. Makes what is missing.
///
/// Errors: `Invalid` for an unknown course, or one without an organization where no school is
/// named.
pub fn find_or_make(
    tx: &mut Tx<'_>,
    now: Timestamp,
    course: &str,
    school: Option<&str>,
) -> Result<String> {
    let Some(stored) = repository::find(tx, &COURSE, course)? else {
        return Err(Problem::invalid(
            "enrollment.course.sourcedId",
            format!("no course '{course}'"),
        ));
    };
    let fields = members(&stored.body, stored.extra.as_deref())?;
    let org = fields.get("org").and_then(|org| org.get("sourcedId")).and_then(Value::as_str);
    let Some(school) = school.or(org) else {
        return Err(Problem::invalid(
            "enrollment.school",
            format!("is required, because the course '{course}' has no org of its own"),
        ));
    };
    let year = SchoolYear::of(now);
    let class = format!("class-{course}-{school}-{}", year.ends);
    if repository::find(tx, &CLASS, &class)?.is_some() {
        return Ok(class);
    }
    let year_id = year.make(tx, now, school, "schoolYear", None)?;
    let term_id = year.make(tx, now, school, "term", Some(&year_id))?;
    make(
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
            "terms": [{ "sourcedId": term_id }],
        }),
    )?;
    Ok(class)
}

struct SchoolYear {
    begins: i16,
    ends: i16,
}

impl SchoolYear {
    fn of(now: Timestamp) -> Self {
        let today = now.date();
        let begins = today.year() - i16::from(today.month() < SCHOOL_YEAR_BEGINS_IN_MONTH);
        Self { begins, ends: begins + 1 }
    }

    /// The sourcedId of the school's session of that type in this year.
    fn make(
        &self,
        tx: &mut Tx<'_>,
        now: Timestamp,
        school: &str,
        session_type: &str,
        parent: Option<&str>,
    ) -> Result<String> {
        let id = format!("{session_type}-{school}-{}", self.ends);
        if repository::find(tx, &ACADEMIC_SESSION, &id)?.is_none() {
            make(
                tx,
                &ACADEMIC_SESSION,
                now,
                json!({
                    "sourcedId": id,
                    "title": format!("{}-{}", self.begins, self.ends),
                    "type": session_type,
                    "startDate": format!("{:04}-{SCHOOL_YEAR_BEGINS_IN_MONTH:02}-01", self.begins),
                    "endDate": format!("{:04}-07-31", self.ends),
                    "schoolYear": self.ends.to_string(),
                    "parent": parent.map(|id| json!({ "sourcedId": id })),
                    "org": { "sourcedId": school },
                }),
            )?;
        }
        Ok(id)
    }
}

fn make(tx: &mut Tx<'_>, kind: &'static Kind, now: Timestamp, fields: Value) -> Result<()> {
    let fields: Object = match fields {
        Value::Object(fields) => fields,
        _ => unreachable!("the caller writes an object"),
    };
    let record = Record::parse(kind, &fields, Dialect::Platform, Stamp::Now(now))?;
    repository::create(tx, &record)?;
    Ok(())
}
