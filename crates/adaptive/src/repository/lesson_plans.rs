//! Lesson plans and their logs.

use lyceum_core::{Problem, Result};
use lyceum_store::{Row, Tx};
use serde_json::Value;

use crate::lesson_plans::{Logged, Plan};

const COLUMNS: &str = "id, course_id, user_id, class_id, tree, synced";

fn read(row: &Row<'_>) -> Result<Plan> {
    let text = |column| row.text(column).map(str::to_owned);
    Ok(Plan {
        id: text(0)?,
        course: text(1)?,
        user: text(2)?,
        class: row.opt_text(3)?.map(str::to_owned),
        tree: serde_json::from_str(row.text(4)?).map_err(Problem::internal)?,
        synced: row.int(5)?,
    })
}

/// False where the student has a plan in the course.
pub(crate) fn insert(tx: &mut Tx<'_>, plan: &Plan, now: &str) -> Result<bool> {
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

pub(crate) fn get(tx: &mut Tx<'_>, id: &str) -> Result<Option<Plan>> {
    let sql = format!("SELECT {COLUMNS} FROM lesson_plan WHERE id = $1");
    tx.query_one(&sql, &[id.into()], read)
}

pub(crate) fn of(tx: &mut Tx<'_>, course: &str, user: &str) -> Result<Option<Plan>> {
    let sql = format!("SELECT {COLUMNS} FROM lesson_plan WHERE course_id = $1 AND user_id = $2");
    tx.query_one(&sql, &[course.into(), user.into()], read)
}

/// The ids of a course's plans.
pub(crate) fn of_course(tx: &mut Tx<'_>, course: &str) -> Result<Vec<String>> {
    let mut ids = Vec::new();
    let sql = "SELECT id FROM lesson_plan WHERE course_id = $1 ORDER BY id";
    tx.query(sql, &[course.into()], |row| {
        ids.push(row.text(0)?.to_owned());
        Ok(true)
    })?;
    Ok(ids)
}

/// Holds a plan until the transaction ends: others who would change it wait.
pub(crate) fn hold(tx: &mut Tx<'_>, id: &str) -> Result<()> {
    tx.send("UPDATE lesson_plan SET synced = synced WHERE id = $1", &[id.into()])?;
    Ok(())
}

/// Writes a plan's tree.
pub(crate) fn update(tx: &mut Tx<'_>, plan: &Plan) -> Result<()> {
    let tree = serde_json::to_string(&plan.tree).map_err(Problem::internal)?;
    let sql = "UPDATE lesson_plan SET tree = $1, synced = $2 WHERE id = $3";
    tx.send(sql, &[(&tree).into(), plan.synced.into(), (&plan.id).into()])?;
    Ok(())
}

/// Removes the plans of a course with their logs; answers how many.
pub(crate) fn delete_all(tx: &mut Tx<'_>, course: &str) -> Result<u64> {
    tx.send(
        "DELETE FROM lesson_plan_operation WHERE plan_id IN \
         (SELECT id FROM lesson_plan WHERE course_id = $1)",
        &[course.into()],
    )?;
    tx.execute("DELETE FROM lesson_plan WHERE course_id = $1", &[course.into()])
}

/// The number of the plan's next operation; none without such a plan.
pub(crate) fn next_operation(tx: &mut Tx<'_>, plan: &str) -> Result<Option<i64>> {
    let sql = "UPDATE lesson_plan SET operations = operations + 1 WHERE id = $1 \
               RETURNING operations";
    tx.query_one(sql, &[plan.into()], |row| row.int(0))
}

/// Appends to a plan's log.
pub(crate) fn log(tx: &mut Tx<'_>, plan: &str, logged: &Logged) -> Result<()> {
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

/// The plan's operations behind that number, in order.
pub(crate) fn operations(tx: &mut Tx<'_>, plan: &str, after: i64) -> Result<Vec<Logged>> {
    let sql = "SELECT id, operation, reason, created_at, sequence, created_by \
               FROM lesson_plan_operation WHERE plan_id = $1 AND sequence > $2 ORDER BY sequence";
    let mut operations = Vec::new();
    tx.query(sql, &[plan.into(), after.into()], |row| {
        let (kind, payload): (String, Value) =
            serde_json::from_str(row.text(1)?).map_err(Problem::internal)?;
        operations.push(Logged {
            id: row.text(0)?.to_owned(),
            kind,
            payload,
            reason: row.opt_text(2)?.map(str::to_owned),
            created_at: row.text(3)?.to_owned(),
            sequence_number: row.int(4)?,
            created_by: row.opt_text(5)?.map(str::to_owned),
        });
        Ok(true)
    })?;
    Ok(operations)
}
