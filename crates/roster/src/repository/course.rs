//! The records of a course's tree, each sort with one statement, however deep the tree is.

use std::fmt::Write as _;

use lyceum_core::{Problem, Result};
use lyceum_store::{Tx, Value, dialect, log};

use crate::limits;
use crate::record::{Status, StoredRecord};

/// A record as stored: its canonical JSON and its platform members.
pub type RecordTexts = (String, Option<String>);

/// The components of a course, deleted ones included, in no order.
pub fn components(tx: &mut Tx<'_>, course: &str) -> Result<Vec<RecordTexts>> {
    read(
        tx,
        "SELECT t.body, t.extra FROM course_components t WHERE t.course_id = $1 LIMIT $2",
        course,
        None,
    )
}

/// The component resources in the components of a course, in no order.
pub fn component_resources(
    tx: &mut Tx<'_>,
    course: &str,
    status: Status,
) -> Result<Vec<RecordTexts>> {
    read(
        tx,
        "SELECT t.body, t.extra FROM course_components c \
         JOIN component_resources t ON t.course_component_id = c.sourced_id \
         WHERE c.course_id = $1 AND t.status = $2 LIMIT $3",
        course,
        Some(status),
    )
}

/// The resources to which [`component_resources`] refer, each once.
pub fn resources(tx: &mut Tx<'_>, course: &str, status: Status) -> Result<Vec<RecordTexts>> {
    read(
        tx,
        "SELECT r.body, r.extra FROM resources r WHERE r.sourced_id IN (\
         SELECT t.resource_id FROM course_components c \
         JOIN component_resources t ON t.course_component_id = c.sourced_id \
         WHERE c.course_id = $1 AND t.status = $2) LIMIT $3",
        course,
        Some(status),
    )
}

/// Reads one row more than a course may have, so that the caller sees that it has too many.
fn read(
    tx: &mut Tx<'_>,
    sql: &str,
    course: &str,
    status: Option<Status>,
) -> Result<Vec<RecordTexts>> {
    let most = i64::try_from(limits::COURSE_MAX_NODES + 1).expect("the limit is small");
    let mut parameters: Vec<Value<'_>> = vec![course.into()];
    parameters.extend(status.map(|status| Value::from(status.as_str())));
    parameters.push(most.into());
    let mut rows = Vec::new();
    tx.query(sql, &parameters, |row| {
        rows.push((row.text(0)?.to_owned(), row.opt_text(1)?.map(str::to_owned)));
        Ok(true)
    })?;
    Ok(rows)
}

/// The lessons with which students of the courses test out: `(course, component resource)`. What
/// sort a lesson is stands in it or in the metadata of it or of its resource.
pub fn test_outs(tx: &mut Tx<'_>, courses: &[&str]) -> Result<Vec<(String, String)>> {
    let sort = |texts: &str, path: &[&str]| dialect::json_text(tx.dialect(), texts, path);
    let sorts = [
        sort("t.body", &["lessonType"])?,
        sort("t.body", &["metadata", "lessonType"])?,
        sort("r.body", &["metadata", "lessonType"])?,
    ];
    // Looking for the word first spares reading most of the texts as JSON.
    let sql = format!(
        "SELECT c.course_id, t.sourced_id FROM course_components c \
         JOIN component_resources t ON t.course_component_id = c.sourced_id \
         JOIN resources r ON r.sourced_id = t.resource_id \
         JOIN courses k ON k.sourced_id = c.course_id AND k.status = 'active' \
         WHERE {} AND c.status = 'active' AND t.status = 'active' \
         AND (t.body LIKE '%\"test-out\"%' OR r.body LIKE '%\"test-out\"%') \
         AND 'test-out' IN ({}) ORDER BY t.seq",
        dialect::is_one_of(tx.dialect(), "c.course_id", "$1"),
        sorts.join(", ")
    );
    let list = serde_json::to_string(courses).map_err(Problem::internal)?;
    let mut found = Vec::new();
    tx.query(&sql, &[list.as_str().into()], |row| {
        found.push((row.text(0)?.to_owned(), row.text(1)?.to_owned()));
        Ok(true)
    })?;
    Ok(found)
}

/// A component resource in use, with its course, which is in use too, and its resource.
#[derive(Clone, Debug)]
pub struct PlacedLesson {
    /// The course's sourcedId.
    pub course: String,
    /// The component resource.
    pub lesson: StoredRecord,
    /// Its resource.
    pub resource: StoredRecord,
}

/// The relation between a lesson and a student.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LessonState {
    /// A text that is another one whenever the lesson's component resource, resource, component or course
    /// has changed.
    pub records: String,
    /// The texts of the student's active enrollments as a student in classes of the course.
    pub enrollments: Vec<String>,
}

/// Makes other writes to the user's record wait, and other callers of this for the same user, until the transaction ends.
/// Those who waited run again, because the row is written: a row that was only locked would leave them with what they saw
/// before. SQLite has one writer, which nobody overtakes.
pub fn lock_user(tx: &mut Tx<'_>, user: &str) -> Result<()> {
    if log::is_only_writer(tx) {
        return Ok(());
    }
    tx.execute("UPDATE users SET seq = seq WHERE sourced_id = $1", &[user.into()]).map(drop)
}

/// How a lesson and a student stand to each other: one statement, as each question and each answer asks
/// it. None unless the student and the lesson's records are in use.
pub fn lesson_state(tx: &mut Tx<'_>, student: &str, lesson: &str) -> Result<Option<LessonState>> {
    let sql = "SELECT t.version, t.date_last_modified, r.version, r.date_last_modified, \
               c.version, c.date_last_modified, k.version, k.date_last_modified, e.body \
               FROM component_resources t JOIN resources r ON r.sourced_id = t.resource_id \
               JOIN course_components c ON c.sourced_id = t.course_component_id \
               JOIN courses k ON k.sourced_id = c.course_id JOIN users u ON u.sourced_id = $1 \
               LEFT JOIN enrollments e ON e.user_id = u.sourced_id AND e.role = 'student' \
               AND e.status = 'active' AND EXISTS (SELECT 1 FROM classes l \
               WHERE l.sourced_id = e.class_id AND l.course_id = k.sourced_id) \
               WHERE t.sourced_id = $2 AND t.status = 'active' AND r.status = 'active' \
               AND c.status = 'active' AND k.status = 'active' AND u.status = 'active'";
    let mut found: Option<LessonState> = None;
    tx.query(sql, &[student.into(), lesson.into()], |row| {
        if found.is_none() {
            let mut records = String::with_capacity(128);
            for at in [0, 2, 4, 6] {
                let _ = write!(records, "{}@{} ", row.int(at)?, row.text(at + 1)?);
            }
            found = Some(LessonState { records, enrollments: Vec::new() });
        }
        if let Some(state) = &mut found {
            state.enrollments.extend(row.opt_string(8)?);
        }
        Ok(true)
    })?;
    Ok(found)
}

/// The component resources of the courses, in the order of their creation.
pub fn placed_in(tx: &mut Tx<'_>, courses: &[&str]) -> Result<Vec<PlacedLesson>> {
    let courses = serde_json::to_string(courses).map_err(Problem::internal)?;
    let condition = dialect::is_one_of(tx.dialect(), "c.course_id", "$1");
    placed(tx, &condition, &[courses.as_str().into()])
}

/// The words that [`placed_with_word`] finds: sorts of lessons that are looked for in all courses.
const SOUGHT: [&str; 3] = ["test-out", "placement", "unit-test"];

/// Lessons that have one of the words of [`SOUGHT`] as a text somewhere in their record or resource, in the order of
/// their making. Reads these alone: indexes know who holds one (`…_sought`).
pub fn placed_with_word(tx: &mut Tx<'_>, word: &str) -> Result<Vec<PlacedLesson>> {
    assert!(SOUGHT.contains(&word), "an index knows who holds '{word}'");
    // As the indexes say it: a parameter would hide from the store that they have all of these.
    let holds = format!("body LIKE '%\"{word}\"%'");
    let holders = format!(
        "SELECT seq FROM component_resources WHERE {holds} UNION \
         SELECT o.seq FROM resources h CROSS JOIN component_resources o \
         WHERE o.resource_id = h.sourced_id AND h.{holds}"
    );
    let condition = dialect::is_among(tx.dialect(), "t.seq", &holders);
    placed(tx, &condition, &[])
}

fn placed(tx: &mut Tx<'_>, condition: &str, values: &[Value<'_>]) -> Result<Vec<PlacedLesson>> {
    let columns = |table: &str| {
        ["seq", "version", "body", "extra"].map(|column| format!("{table}.{column}")).join(", ")
    };
    let sql = format!(
        "SELECT {}, {}, c.course_id FROM course_components c \
         JOIN component_resources t ON t.course_component_id = c.sourced_id \
         JOIN resources r ON r.sourced_id = t.resource_id \
         JOIN courses k ON k.sourced_id = c.course_id AND k.status = 'active' \
         WHERE {condition} AND c.status = 'active' AND t.status = 'active' \
         AND r.status = 'active' ORDER BY t.seq",
        columns("t"),
        columns("r"),
    );
    let mut found = Vec::new();
    tx.query(&sql, values, |row| {
        let stored = |from: usize| {
            Ok::<_, Problem>(StoredRecord {
                seq: row.int(from)?,
                version: row.int(from + 1)?,
                body: row.text(from + 2)?.to_owned(),
                extra: row.opt_text(from + 3)?.map(str::to_owned),
            })
        };
        let course = row.text(8)?.to_owned();
        found.push(PlacedLesson { course, lesson: stored(0)?, resource: stored(4)? });
        Ok(true)
    })?;
    Ok(found)
}
