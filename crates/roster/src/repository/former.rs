//! Results of students who have left the class or course.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::{Sql, Tx, dialect};

use super::classes::is_member;
use crate::kind::RecordKind;
use crate::kinds::RESULT;

/// The results or assessment results whose students are not enrolled now in the class of the line item; if that names
/// only a course, in the course.
pub fn of_former_students(
    tx: &mut Tx<'_>,
    now: Timestamp,
    kind: &RecordKind,
    results: &[&str],
) -> Result<Vec<String>> {
    let (items, item, is_placed, place) = if *kind == RESULT {
        ("line_items", "line_item_id", "l.class_id IS NOT NULL", "l.class_id = e.class_id")
    } else {
        (
            "assessment_line_items",
            "assessment_line_item_id",
            "COALESCE(l.class_id, l.course_id) IS NOT NULL",
            "CASE WHEN l.class_id IS NULL THEN l.course_id = e.course_id \
             ELSE l.class_id = e.class_id END",
        )
    };
    let ids = serde_json::to_string(results).map_err(Problem::internal)?;
    let mut sql = Sql::new(tx.dialect());
    let placeholder = sql.placeholder(ids.as_str());
    sql.push(&format!(
        "SELECT t.sourced_id FROM {} t JOIN {items} l ON l.sourced_id = t.{item} \
         WHERE {} AND {is_placed} AND NOT EXISTS \
         (SELECT 1 FROM enrollments e WHERE e.user_id = t.student_id AND e.role = 'student' AND {place} AND ",
        kind.table,
        dialect::is_one_of(tx.dialect(), "t.sourced_id", &placeholder)
    ));
    is_member(&mut sql, "e", now);
    sql.push(") ORDER BY t.seq");
    tx.all(&sql.text, &sql.values(), |row| row.string(0))
}
