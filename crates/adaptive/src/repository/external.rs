//! Tests with outside tools, one row per attempt.

use lyceum_core::Result;
use lyceum_store::{Tx, columns};

/// A student's test with an outside tool.
#[derive(Clone, Debug)]
pub struct StoredExternalTest {
    /// Its id.
    pub id: String,
    /// The student's sourcedId.
    pub student: String,
    /// The lesson's sourcedId.
    pub lesson: String,
    /// The number of the student's attempt, from 1.
    pub attempt: u32,
    /// The parameters of the request.
    pub terms: ExternalTestTerms,
    /// When it was assigned.
    pub assigned_at: String,
    /// Whether its result was counted.
    pub finalized: bool,
}

/// The parameters of an assignment.
#[derive(Clone, Debug, Default)]
pub struct ExternalTestTerms {
    /// The application in which the student signs in.
    pub application: Option<String>,
    /// The tool's id of the test.
    pub test_id: Option<String>,
    /// Whether failing a placement test does not enroll the student in a course.
    pub skip_enrollment: bool,
}

columns!(StoredExternalTest {
    id: "id",
    student: "student_id",
    lesson: "lesson_id",
    attempt: "attempt",
    terms: "application, test_id, skip_enrollment",
    assigned_at: "assigned_at",
    finalized: "finalized",
});
columns!(ExternalTestTerms {
    application: "application",
    test_id: "test_id",
    skip_enrollment: "skip_enrollment",
});

/// A student's last assignment in a lesson.
pub(crate) fn last(
    tx: &mut Tx<'_>,
    student: &str,
    lesson: &str,
) -> Result<Option<StoredExternalTest>> {
    let sql = format!(
        "SELECT {} FROM external_assignment WHERE student_id = $1 AND lesson_id = $2 \
         ORDER BY attempt DESC LIMIT 1",
        StoredExternalTest::COLUMNS
    );
    tx.row(&sql, &[student.into(), lesson.into()])
}

pub(crate) fn insert(tx: &mut Tx<'_>, assignment: &StoredExternalTest) -> Result<()> {
    let StoredExternalTest { id, student, lesson, attempt, terms, assigned_at, finalized } =
        assignment;
    tx.send(
        "INSERT INTO external_assignment (student_id, lesson_id, attempt, id, application, test_id, \
         skip_enrollment, assigned_at, finalized) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        &[
            student.into(),
            lesson.into(),
            i64::from(*attempt).into(),
            id.into(),
            terms.application.as_ref().into(),
            terms.test_id.as_ref().into(),
            i64::from(terms.skip_enrollment).into(),
            assigned_at.into(),
            i64::from(*finalized).into(),
        ],
    )?;
    Ok(())
}

/// Records that the assignment's result was counted.
pub(crate) fn finalize(tx: &mut Tx<'_>, assignment: &StoredExternalTest) -> Result<()> {
    let sql = "UPDATE external_assignment SET finalized = 1 \
               WHERE student_id = $1 AND lesson_id = $2 AND attempt = $3";
    let StoredExternalTest { student, lesson, attempt, .. } = assignment;
    tx.send(sql, &[student.into(), lesson.into(), i64::from(*attempt).into()])?;
    Ok(())
}

/// Deletes a student's assignments of a lesson.
pub(crate) fn delete(tx: &mut Tx<'_>, student: &str, lesson: &str) -> Result<()> {
    let sql = "DELETE FROM external_assignment WHERE student_id = $1 AND lesson_id = $2";
    tx.send(sql, &[student.into(), lesson.into()])?;
    Ok(())
}
