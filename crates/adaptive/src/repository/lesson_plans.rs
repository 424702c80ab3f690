//! Lesson plans and their logs.

use crate::lesson_plans::operation::TYPES;
use lyceum_core::{Problem, Reach, Result};
use lyceum_roster::kind::RecordKind;
use lyceum_roster::kinds::USER;
use lyceum_roster::repository::refers_within;
use lyceum_store::{Sql, Tx, columns, json_column};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::lesson_plans::tree::PlanTree;

/// A stored plan.
#[derive(Clone, Debug)]
pub struct StoredLessonPlan {
    /// Its id.
    pub id: String,
    /// The course's sourcedId.
    pub course: String,
    /// The student's sourcedId.
    pub user: String,
    /// The class's sourcedId, if one was given.
    pub class: Option<String>,
    /// Its items.
    pub tree: PlanTree,
    /// The number of the last operation that was applied to the tree.
    pub synced: i64,
}

/// An operation in the log of a lesson plan.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LessonPlanOperation {
    /// Its id.
    pub id: String,
    /// Its type.
    #[serde(rename = "type")]
    #[schemars(extend("enum" = TYPES))]
    pub kind: String,
    /// The operation as it was sent.
    #[schemars(with = "Map<String, Value>")]
    pub payload: Value,
    /// Why it was requested.
    pub reason: Option<String>,
    /// When it was requested.
    pub created_at: String,
    /// Its place in the log, from 1.
    pub sequence_number: i64,
    /// The client that requested it.
    pub created_by: Option<String>,
}

columns!(StoredLessonPlan {
    id: "id",
    course: "course_id",
    user: "user_id",
    class: "class_id",
    tree: "tree",
    synced: "synced",
});
json_column!(PlanTree);

const COLUMNS: &str = StoredLessonPlan::COLUMNS;
/// The reference to the student of a plan.
const STUDENT: (&RecordKind, &str) = (&USER, "lesson_plan.user_id");

/// Returns `false` if the student already has a plan in the course.
pub(crate) fn insert(tx: &mut Tx<'_>, plan: &StoredLessonPlan, now: &str) -> Result<bool> {
    let tree = serde_json::to_string(&plan.tree).map_err(Problem::internal)?;
    let sql = format!(
        "INSERT INTO lesson_plan ({COLUMNS}, operations, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, 0, $7) ON CONFLICT DO NOTHING"
    );
    let values = [
        (&plan.id).into(),
        (&plan.course).into(),
        (&plan.user).into(),
        plan.class.as_ref().into(),
        (&tree).into(),
        plan.synced.into(),
        now.into(),
    ];
    Ok(tx.execute(&sql, &values)? > 0)
}

/// The plan of a student within the reach.
pub(crate) fn get(tx: &mut Tx<'_>, id: &str, reach: &Reach) -> Result<Option<StoredLessonPlan>> {
    let mut sql = Sql::new(tx.dialect());
    sql.push(&format!("SELECT {COLUMNS} FROM lesson_plan WHERE id = ")).bind(id).push(" AND ");
    refers_within(&mut sql, STUDENT, reach)?;
    tx.row(&sql.text, &sql.values())
}

pub(crate) fn of(tx: &mut Tx<'_>, course: &str, user: &str) -> Result<Option<StoredLessonPlan>> {
    let sql = format!("SELECT {COLUMNS} FROM lesson_plan WHERE course_id = $1 AND user_id = $2");
    tx.row(&sql, &[course.into(), user.into()])
}

/// The ids of a course's plans whose students lie within the reach.
pub(crate) fn of_course(tx: &mut Tx<'_>, course: &str, reach: &Reach) -> Result<Vec<String>> {
    let mut sql = Sql::new(tx.dialect());
    sql.push("SELECT id FROM lesson_plan WHERE ");
    is_of_course(&mut sql, course, reach)?;
    sql.push(" ORDER BY id");
    tx.rows(&sql.text, &sql.values())
}

fn is_of_course(sql: &mut Sql, course: &str, reach: &Reach) -> Result<()> {
    sql.push("course_id = ").bind(course).push(" AND ");
    refers_within(sql, STUDENT, reach)
}

/// Locks a plan until the transaction ends, so that other changes of it wait.
pub(crate) fn lock(tx: &mut Tx<'_>, id: &str) -> Result<()> {
    tx.send("UPDATE lesson_plan SET synced = synced WHERE id = $1", &[id.into()])?;
    Ok(())
}

/// Writes a plan's tree.
pub(crate) fn update(tx: &mut Tx<'_>, plan: &StoredLessonPlan) -> Result<()> {
    let tree = serde_json::to_string(&plan.tree).map_err(Problem::internal)?;
    let sql = "UPDATE lesson_plan SET tree = $1, synced = $2 WHERE id = $3";
    tx.send(sql, &[(&tree).into(), plan.synced.into(), (&plan.id).into()])?;
    Ok(())
}

/// Deletes the plans of a course whose students lie within the reach, with their logs; returns their number.
pub(crate) fn delete_all(tx: &mut Tx<'_>, course: &str, reach: &Reach) -> Result<u64> {
    let mut logs = Sql::new(tx.dialect());
    logs.push(
        "DELETE FROM lesson_plan_operation WHERE plan_id IN (SELECT id FROM lesson_plan WHERE ",
    );
    is_of_course(&mut logs, course, reach)?;
    logs.push(")");
    tx.send(&logs.text, &logs.values())?;
    let mut plans = Sql::new(tx.dialect());
    plans.push("DELETE FROM lesson_plan WHERE ");
    is_of_course(&mut plans, course, reach)?;
    tx.execute(&plans.text, &plans.values())
}

/// The number of the plan's next operation; `None` if the plan does not exist.
pub(crate) fn next_operation(tx: &mut Tx<'_>, plan: &str) -> Result<Option<i64>> {
    let sql = "UPDATE lesson_plan SET operations = operations + 1 WHERE id = $1 \
               RETURNING operations";
    tx.row(sql, &[plan.into()])
}

/// Appends to a plan's log.
pub(crate) fn log(tx: &mut Tx<'_>, plan: &str, logged: &LessonPlanOperation) -> Result<()> {
    let operation = serde_json::json!([logged.kind, logged.payload]).to_string();
    tx.send(
        "INSERT INTO lesson_plan_operation \
         (plan_id, sequence, id, operation, reason, created_at, created_by) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
        &[
            plan.into(),
            logged.sequence_number.into(),
            (&logged.id).into(),
            (&operation).into(),
            logged.reason.as_ref().into(),
            (&logged.created_at).into(),
            logged.created_by.as_ref().into(),
        ],
    )?;
    Ok(())
}

/// The plan's operations after that number, in order.
pub(crate) fn operations(
    tx: &mut Tx<'_>,
    plan: &str,
    after: i64,
) -> Result<Vec<LessonPlanOperation>> {
    let sql = "SELECT id, operation, reason, created_at, sequence, created_by \
               FROM lesson_plan_operation WHERE plan_id = $1 AND sequence > $2 ORDER BY sequence";
    tx.all(sql, &[plan.into(), after.into()], |row| {
        let (id, operation, reason, created_at, sequence_number, created_by) = row.read()?;
        let (kind, payload) = serde_json::from_value(operation).map_err(Problem::internal)?;
        Ok(LessonPlanOperation {
            id,
            kind,
            payload,
            reason,
            created_at,
            sequence_number,
            created_by,
        })
    })
}
