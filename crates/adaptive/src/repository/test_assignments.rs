//! Test assignments. Their status is computed from the attempts at their lessons.

use lyceum_core::time::Timestamp;
use lyceum_core::{Reach, Result, limits};
use lyceum_roster::grade::comparable;
use lyceum_roster::kinds::USER;
use lyceum_roster::repository::refers_within;
use lyceum_store::{Param, Sql, Tx, columns};
use schemars::JsonSchema;
use serde::Serialize;

/// The assignments that a list shows.
#[derive(Clone, Debug)]
pub struct AssignmentFilter {
    /// Only those of this student.
    pub student: Option<String>,
    /// Only those with this status.
    pub status: Option<&'static str>,
    /// Only those of this subject, in lower case.
    pub subject: Option<String>,
    /// Only those of this grade, in comparable form.
    pub grade: Option<String>,
    /// The maximum number of assignments.
    pub limit: u64,
    /// The number of assignments to skip.
    pub offset: u64,
}

/// The assignment.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "NewTestAssignment")]
pub struct CreatedAssignment {
    /// The assignment's id.
    pub assignment_id: String,
    /// The lesson.
    pub lesson_id: String,
    /// Its resource.
    pub resource_id: String,
}

/// A test that is assigned to a student.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestAssignment {
    /// Its id.
    pub sourced_id: String,
    /// The student's sourcedId.
    pub student_sourced_id: String,
    /// The student's email address; empty if there is none.
    pub student_email: String,
    /// Always null, because clients assign tests and not users.
    pub assigned_by_user_sourced_id: Option<String>,
    /// The subject, as it was sent.
    pub subject: String,
    /// The grade.
    pub grade: String,
    /// The state of the assignment.
    #[schemars(extend("enum" = STATUSES))]
    pub assignment_status: String,
    /// The name that the assigning client gave it.
    pub test_name: Option<String>,
    /// When it was assigned.
    pub assigned_at: String,
    /// When it expires.
    pub expires_at: Option<Timestamp>,
    /// When the deciding attempt was completed.
    pub completed_at: Option<Timestamp>,
    /// The resource of the lesson.
    pub resource_sourced_id: String,
    /// The lesson.
    pub component_resource_sourced_id: String,
}

/// The statuses of an assigned test. A finished one no longer expires, and a deleted one is cancelled.
pub const STATUSES: [&str; 6] =
    ["assigned", "in_progress", "completed", "failed", "expired", "cancelled"];

/// The stored data of an assignment, besides its ids.
pub(crate) struct AssignmentRow<'a> {
    pub(crate) student: &'a str,
    pub(crate) subject: &'a str,
    pub(crate) grade: &'a str,
    pub(crate) test_name: Option<&'a str>,
    pub(crate) assigned_at: &'a str,
    pub(crate) expires: Option<Timestamp>,
}

pub(crate) fn insert(
    tx: &mut Tx<'_>,
    assignment: &CreatedAssignment,
    row: &AssignmentRow<'_>,
) -> Result<()> {
    let assigned_ms = row.assigned_at.parse::<Timestamp>().map_or(0, Timestamp::milliseconds);
    tx.send(
        "INSERT INTO test_assignment (id, student_id, subject, subject_value, grade, grade_value, \
         test_name, lesson_id, resource_id, assigned_at, assigned_ms, expires_ms) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
        &[
            (&assignment.assignment_id).into(),
            row.student.into(),
            row.subject.into(),
            (&row.subject.to_ascii_lowercase()).into(),
            row.grade.into(),
            (&comparable(row.grade)).into(),
            row.test_name.into(),
            (&assignment.lesson_id).into(),
            (&assignment.resource_id).into(),
            row.assigned_at.into(),
            assigned_ms.into(),
            row.expires.map(Timestamp::milliseconds).into(),
        ],
    )?;
    Ok(())
}

/// Each assignment with the last attempt at its lesson that was running after it was assigned. The first placeholder
/// is the current time.
const ASSIGNMENTS: &str = "FROM (SELECT a.seq, a.id, a.student_id, a.subject, a.subject_value, \
    a.grade, a.grade_value, a.test_name, a.lesson_id, a.resource_id, a.assigned_at, l.completed_ms, \
    CASE WHEN a.cancelled = 1 THEN 'cancelled' \
    WHEN l.completed_ms IS NOT NULL AND l.mastered = 1 THEN 'completed' \
    WHEN l.completed_ms IS NOT NULL THEN 'failed' WHEN a.expires_ms <= $1 THEN 'expired' \
    WHEN l.id IS NOT NULL THEN 'in_progress' ELSE 'assigned' END AS assignment_status, a.expires_ms \
    FROM test_assignment a LEFT JOIN lesson_attempt l ON l.id = (SELECT MAX(m.id) \
    FROM lesson_attempt m WHERE m.student = a.student_id AND m.lesson = a.lesson_id AND m.era = 0 \
    AND COALESCE(m.completed_ms, a.assigned_ms) >= a.assigned_ms)) AS t";

columns!(TestAssignment {
    sourced_id: "t.id",
    student_sourced_id: "t.student_id",
    student_email: "''",
    assigned_by_user_sourced_id: "NULL",
    subject: "t.subject",
    grade: "t.grade",
    assignment_status: "t.assignment_status",
    test_name: "t.test_name",
    assigned_at: "t.assigned_at",
    expires_at: "t.expires_ms",
    completed_at: "t.completed_ms",
    resource_sourced_id: "t.resource_id",
    component_resource_sourced_id: "t.lesson_id",
});

/// An assignment of a student within the reach that is not cancelled.
pub(crate) fn get(
    tx: &mut Tx<'_>,
    now: Timestamp,
    id: &str,
    reach: &Reach,
) -> Result<Option<TestAssignment>> {
    let mut sql = Sql::new(tx.dialect());
    sql.placeholder(now.milliseconds());
    let columns = TestAssignment::COLUMNS;
    sql.push(&format!("SELECT {columns} {ASSIGNMENTS} WHERE t.id = "))
        .bind(id)
        .push(" AND t.assignment_status <> 'cancelled' AND ");
    refers_within(&mut sql, (&USER, "t.student_id"), reach)?;
    tx.row(&sql.text, &sql.values())
}

/// A page of assignments of students within the reach, and the number of assignments on all pages. Cancelled assignments
/// are listed only on request.
pub(crate) fn list(
    tx: &mut Tx<'_>,
    now: Timestamp,
    filter: &AssignmentFilter,
    reach: &Reach,
) -> Result<(Vec<TestAssignment>, u64)> {
    let mut sql = Sql::new(tx.dialect());
    sql.placeholder(now.milliseconds());
    sql.push(match filter.status {
        Some(_) => " WHERE TRUE",
        None => " WHERE t.assignment_status <> 'cancelled'",
    });
    let wanted = [
        ("student_id", filter.student.as_deref()),
        ("assignment_status", filter.status),
        ("subject_value", filter.subject.as_deref()),
        ("grade_value", filter.grade.as_deref()),
    ];
    for (column, value) in wanted {
        if let Some(value) = value {
            sql.push(&format!(" AND t.{column} = ")).bind(value);
        }
    }
    if reach.is_limited() {
        sql.push(" AND ");
        refers_within(&mut sql, (&USER, "t.student_id"), reach)?;
    }
    let count = format!("SELECT COUNT(*) {ASSIGNMENTS}{}", sql.text);
    let total = tx.row(&count, &sql.values())?.unwrap_or(0);
    let number = |n: u64| Param::Int(i64::try_from(n).unwrap_or(i64::MAX));
    let columns = TestAssignment::COLUMNS;
    sql.text = format!("SELECT {columns} {ASSIGNMENTS}{} ORDER BY t.seq LIMIT ", sql.text);
    sql.bind(number(filter.limit.min(limits::PAGE_MAX_RECORDS)));
    sql.push(" OFFSET ").bind(number(filter.offset));
    Ok((tx.rows(&sql.text, &sql.values())?, total))
}

/// Whether a test is assigned to the student and neither cancelled nor expired.
pub(crate) fn is_open(
    tx: &mut Tx<'_>,
    now: Timestamp,
    student: &str,
    lesson: &str,
) -> Result<bool> {
    let sql = format!(
        "SELECT 1 {ASSIGNMENTS} WHERE t.student_id = $2 AND t.lesson_id = $3 \
         AND t.assignment_status NOT IN ('cancelled', 'expired') LIMIT 1"
    );
    let values = [now.milliseconds().into(), student.into(), lesson.into()];
    Ok(tx.query_one(&sql, &values, |_| Ok(()))?.is_some())
}

/// Returns `false` if it does not exist.
pub(crate) fn rename(tx: &mut Tx<'_>, id: &str, name: &str) -> Result<bool> {
    let sql = "UPDATE test_assignment SET test_name = $1 WHERE id = $2 AND cancelled = 0";
    Ok(tx.execute(sql, &[name.into(), id.into()])? > 0)
}

/// Returns `false` if it does not exist or is already cancelled.
pub(crate) fn cancel(tx: &mut Tx<'_>, id: &str) -> Result<bool> {
    let sql = "UPDATE test_assignment SET cancelled = 1 WHERE id = $1 AND cancelled = 0";
    Ok(tx.execute(sql, &[id.into()])? > 0)
}
