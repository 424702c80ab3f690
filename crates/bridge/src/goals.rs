//! Goals and metrics of enrollments. The defaults are in the course's metadata, and each member of an enrollment's
//! metadata overrides the course's.

use std::borrow::Cow;
use std::collections::HashSet;

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Reach, Result, message};
use lyceum_roster::fields;
use lyceum_roster::kinds::{CLASS, COURSE, ENROLLMENT};
use lyceum_roster::reach::{check_changes, keep_within};
use lyceum_roster::record::{Object, Record, StoredRecord};
use lyceum_roster::repository::{self, RecordUse};
use lyceum_store::Tx;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{limits, resolved_enrollments};

/// The largest value of goals and metrics. JSON parsers of all languages represent it exactly.
const MOST: f64 = 9e15;

/// The types of the members of goals and metrics.
#[derive(Clone, Copy)]
enum MemberType {
    Whole,
    Text,
    Flag,
}

const GOALS: &[(&str, MemberType)] = &[
    ("dailyXp", MemberType::Whole),
    ("dailyLessons", MemberType::Whole),
    ("dailyActiveMinutes", MemberType::Whole),
    ("dailyAccuracy", MemberType::Whole),
    ("dailyMasteredUnits", MemberType::Whole),
];

const METRICS: &[(&str, MemberType)] = &[
    ("totalXp", MemberType::Whole),
    ("totalLessons", MemberType::Whole),
    ("totalGrades", MemberType::Whole),
    ("courseType", MemberType::Text),
    ("isSupplemental", MemberType::Flag),
];

const PARTS: [(&str, &[(&str, MemberType)]); 2] = [("goals", GOALS), ("metrics", METRICS)];

impl MemberType {
    /// The value to show, or `None` if it has another type. Numbers are rounded to integers.
    fn checked_value(self, value: &Value) -> Option<Value> {
        match (self, value) {
            #[expect(clippy::cast_possible_truncation, reason = "it is in range")]
            (Self::Whole, Value::Number(number)) => number
                .as_f64()
                .map(f64::round)
                .filter(|number| (0.0..=MOST).contains(number))
                .map(|number| (number as i64).into()),
            (Self::Text, Value::String(_)) | (Self::Flag, Value::Bool(_)) => Some(value.clone()),
            _ => None,
        }
    }

    fn schema(self) -> Value {
        match self {
            Self::Whole => json!({ "type": ["number", "null"], "minimum": 0, "maximum": MOST }),
            Self::Text => json!({ "type": ["string", "null"] }),
            Self::Flag => json!({ "type": ["boolean", "null"] }),
        }
    }
}

/// Metadata of an enrollment. Only goals and metrics have a schema.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub struct EnrollmentMetadata(pub(crate) Object);

impl JsonSchema for EnrollmentMetadata {
    fn schema_name() -> Cow<'static, str> {
        "EnrollmentMetadata".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let parts = PARTS.map(|(part, known)| {
            let members = known.iter().map(|(name, holds)| ((*name).to_owned(), holds.schema()));
            let members: Object = members.collect();
            (part.to_owned(), json!({ "type": ["object", "null"], "properties": members }))
        });
        json_schema!({ "type": "object", "properties": Object::from_iter(parts) })
    }
}

/// The metadata of an enrollment to show: its own, with goals and metrics completed from the course.
pub(crate) fn merge_with_course(own: Object, course: &Object) -> Object {
    let mut shown = own;
    for (part, known) in PARTS {
        let mut members = Object::new();
        for (name, holds) in known {
            let goal_in = |metadata: &Object| holds.checked_value(metadata.get(part)?.get(*name)?);
            if let Some(value) = goal_in(&shown).or_else(|| goal_in(course)) {
                members.insert((*name).into(), value);
            }
        }
        shown.shift_remove(part);
        if !members.is_empty() {
            shown.insert(part.into(), members.into());
        }
    }
    shown
}

/// The daily XP goal of an enrollment, otherwise of its course; `None` if neither has one.
pub(crate) fn daily_xp(own: Object, course: &Object) -> Option<i64> {
    merge_with_course(own, course).get("goals")?.get("dailyXp")?.as_i64()
}

/// Sets the daily XP goal of users in a course; without one, that of the course applies again. Only enrollments that the
/// reach may change are changed; a teacher's are those in the own classes. Errors: `Invalid` for a user without such an
/// enrollment as a student.
pub fn set_daily_xp(
    tx: &mut Tx<'_>,
    now: Timestamp,
    (course, reach): (&str, &Reach),
    users: &[&str],
    daily_xp: Option<u32>,
) -> Result<()> {
    let does = match reach {
        Reach::ClassesOf(_) => RecordUse::See,
        Reach::Everything | Reach::Organizations(_) => RecordUse::Change,
    };
    let mut enrollments = resolved_enrollments::of_users(tx, now, users)?;
    keep_within(tx, &ENROLLMENT, reach, does, &mut enrollments, |enrollment| &enrollment.id)?;
    let mut changed = Vec::new();
    let mut enrolled = HashSet::new();
    for enrollment in enrollments {
        if enrollment.course != course || enrollment.role != "student" {
            continue;
        }
        let mut record = enrollment.fields;
        let mut metadata = fields::metadata(&record);
        let mut goals =
            metadata.get("goals").and_then(Value::as_object).cloned().unwrap_or_default();
        match daily_xp {
            Some(xp) => goals.insert("dailyXp".into(), xp.into()),
            None => goals.shift_remove("dailyXp"),
        };
        metadata.insert("goals".into(), goals.into());
        record.insert("metadata".into(), metadata.into());
        changed.push(Record::from_server(&ENROLLMENT, &record, now)?);
        enrolled.insert(enrollment.user);
    }
    if let Some(missing) = users.iter().find(|user| !enrolled.contains(**user)) {
        let message = message!(
            "the student '{missing}' is not enrolled in the course '{course}'; enroll the student first"
        );
        return Err(Problem::invalid("student", message));
    }
    repository::put_all(tx, &ENROLLMENT, &changed).map(drop)
}

/// Removes the goals of the enrollments of a course within the reach, so that the course's goals apply again. Returns the
/// number of enrollments that had goals.
///
/// Errors: `NotFound`; `Conflict` if the course has too many enrollments to reset them in one request; `Forbidden` for
/// the reach of a teacher.
pub fn reset(tx: &mut Tx<'_>, now: Timestamp, course: &str, reach: &Reach) -> Result<usize> {
    fields::in_use_within(tx, &COURSE, course, reach)?;
    check_changes(&COURSE, course, reach)?;
    let classes = repository::referring_to(tx, &CLASS, "course", &[course])?;
    let classes = classes.iter().map(fields::of).collect::<Result<Vec<_>>>()?;
    let classes: Vec<&str> = classes.iter().map(|class| fields::text(class, "sourcedId")).collect();
    let mut enrollments = repository::referring_to(tx, &ENROLLMENT, "class", &classes)?;
    enrollments.extend(in_lost_classes(tx, course)?);
    let mut enrollments = enrollments.iter().map(fields::of).collect::<Result<Vec<_>>>()?;
    keep_within(tx, &ENROLLMENT, reach, RecordUse::Change, &mut enrollments, |one| {
        fields::text(one, "sourcedId")
    })?;
    if enrollments.len() > limits::RESET_MAX_RECORDS {
        return Err(Problem::new(
            ProblemKind::Conflict,
            message!(
                "the course '{course}' has more than {most} enrollments; PATCH them one by one",
                most = limits::RESET_MAX_RECORDS
            ),
        ));
    }
    let mut reset = Vec::new();
    for mut fields in enrollments {
        let metadata = fields.get_mut("metadata").and_then(Value::as_object_mut);
        if metadata.is_some_and(|metadata| metadata.shift_remove("goals").is_some()) {
            reset.push(Record::from_server(&ENROLLMENT, &fields, now)?);
        }
    }
    repository::put_all(tx, &ENROLLMENT, &reset)?;
    Ok(reset.len())
}

/// Enrollments in deleted classes of the course. Deleting a class does not end its enrollments.
fn in_lost_classes(tx: &mut Tx<'_>, course: &str) -> Result<Vec<StoredRecord>> {
    let stored = repository::referring_to(tx, &ENROLLMENT, "course", &[course])?;
    let records = stored.iter().map(fields::of).collect::<Result<Vec<_>>>()?;
    let class_of = |record| fields::reference(record, "class");
    let mut inactive_classes = fields::of_all(tx, &CLASS, records.iter().map(class_of))?;
    inactive_classes.retain(|_, class| {
        fields::text(class, "status") != "active" && fields::reference(class, "course") == course
    });
    let both = stored.into_iter().zip(&records);
    Ok(both
        .filter(|(_, it)| inactive_classes.contains_key(class_of(it)))
        .map(|(stored, _)| stored)
        .collect())
}
