//! Lesson plans: a student's copy of a course's tree, and the log of operations on it.
//!
//! A plan's tree is the course at the time of the copy, with all operations up to `synced` applied in order. `sync`
//! applies later operations. `recreate` copies the current course again and applies all operations.

mod operation;
mod shown;
mod tree;

use lyceum_core::time::Timestamp;
use lyceum_core::{Detail, Problem, ProblemKind, Result, limits};
use lyceum_roster::course_tree;
use lyceum_roster::fields;
use lyceum_roster::kinds::{CLASS, COURSE, RESOURCE, USER};
use lyceum_roster::record::{Object, Status};
use lyceum_store::Tx;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

pub use operation::{Operation, TYPES};
pub use shown::{Shown, structure, tree as visible};
pub use tree::{Item, Tree};

use crate::input::Input;
use crate::repository::lesson_plans as repository;

/// A stored plan.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its id.
    pub id: String,
    /// The course's sourcedId.
    pub course: String,
    /// The student's sourcedId.
    pub user: String,
    /// The class's sourcedId, if one was given.
    pub class: Option<String>,
    /// Its items.
    pub tree: Tree,
    /// The number of the last operation that was applied to the tree.
    pub synced: i64,
}

/// An operation in the log.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Logged {
    /// Its id.
    pub id: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its payload, as it was sent.
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

/// The result of applying operations.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Synced {
    /// Whether all were applied.
    pub success: bool,
    /// The result in one sentence.
    pub message: String,
    /// The number of operations, including failed ones.
    pub operation_count: usize,
    /// One result per operation, in order.
    pub operation_results: Vec<Applied>,
}

/// The result of an operation.
#[derive(Clone, Debug, Serialize)]
pub struct Applied {
    /// Whether it was applied.
    pub success: bool,
    /// Why it was not applied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<Why>,
}

/// A reason why an operation was not applied.
#[derive(Clone, Debug, Serialize)]
pub struct Why {
    /// The reason in one sentence.
    pub message: String,
}

/// Creates the plan of a student in a course, or returns the existing one; `true` if it is new. Reads `{courseId,
/// userId, classId?}`. Errors: `Invalid`, `NotFound`.
pub fn create(tx: &mut Tx<'_>, now: Timestamp, body: &Object) -> Result<(String, bool)> {
    let mut input = Input::of(body);
    let (course, user) = (input.text("courseId"), input.text("userId"));
    let class = input.opt_text("classId");
    input.done(())?;
    fields::in_use(tx, &COURSE, &course)?;
    fields::in_use(tx, &USER, &user)?;
    if let Some(class) = &class {
        let record = fields::in_use(tx, &CLASS, class)?;
        if fields::reference(&record, "course") != course {
            let message = format!("the class '{class}' does not teach the course '{course}'");
            return Err(Problem::invalid("classId", message));
        }
    }
    let tree = copy(tx, &course)?;
    let id = Uuid::now_v7().to_string();
    let plan = Plan { id, course, user, class, tree, synced: 0 };
    if repository::insert(tx, &plan, &now.to_string())? {
        return Ok((plan.id, true));
    }
    Ok((of(tx, &plan.course, &plan.user)?.id, false))
}

/// The plan of a student in a course. Errors: `NotFound`.
pub fn of(tx: &mut Tx<'_>, course: &str, user: &str) -> Result<Plan> {
    fields::in_use(tx, &COURSE, course)?;
    fields::in_use(tx, &USER, user)?;
    let plan = repository::of(tx, course, user)?;
    plan.ok_or_else(|| {
        let message = format!(
            "the user '{user}' has no lesson plan in the course '{course}'; create one with POST \
             /lessonPlans"
        );
        Problem::new(ProblemKind::NotFound, message)
    })
}

/// A plan. Errors: `NotFound`, also if its course was deleted.
pub fn get(tx: &mut Tx<'_>, id: &str) -> Result<Plan> {
    let plan = repository::get(tx, id)?.ok_or_else(|| {
        Problem::new(ProblemKind::NotFound, format!("there is no lesson plan '{id}'"))
    })?;
    fields::in_use(tx, &COURSE, &plan.course)?;
    Ok(plan)
}

/// Deletes all plans of a course with their logs. Errors: `NotFound`.
pub fn delete_all(tx: &mut Tx<'_>, course: &str) -> Result<u64> {
    fields::in_use(tx, &COURSE, course)?;
    repository::delete_all(tx, course)
}

/// The log of a plan. Errors: `NotFound`.
pub fn operations(tx: &mut Tx<'_>, id: &str) -> Result<Vec<Logged>> {
    get(tx, id)?;
    repository::operations(tx, id, 0)
}

/// Appends an operation to the log, which the next sync applies. Reads `{operation: {type, payload}, reason?}`;
/// returns the operation's id.
///
/// Errors: `Invalid`; `NotFound` for the plan; `Conflict` if the log is full.
pub fn ask(
    tx: &mut Tx<'_>,
    now: Timestamp,
    id: &str,
    body: &Object,
    by: Option<&str>,
) -> Result<String> {
    let mut input = Input::of(body);
    let reason = input.opt_text("reason");
    let asked = input.object("operation");
    let asked = input.done(asked)?.ok_or_else(|| Problem::internal("an operation is required"))?;
    let operation = Operation::read(asked).map_err(|problem| inside("operation", problem))?;
    if let Operation::AddCustomResource { resource, .. } = &operation
        && fields::in_use(tx, &RESOURCE, resource).is_err_and(|p| p.kind == ProblemKind::NotFound)
    {
        let message =
            format!("there is no resource with the sourcedId '{resource}'; create it first");
        return Err(Problem::invalid("operation.payload.resource_id", message));
    }
    let sequence_number = repository::next_operation(tx, id)?.ok_or_else(|| {
        Problem::new(ProblemKind::NotFound, format!("there is no lesson plan '{id}'"))
    })?;
    if sequence_number > limits::LESSON_PLAN_OPERATIONS_MAX_COUNT {
        let most = limits::LESSON_PLAN_OPERATIONS_MAX_COUNT;
        let message = format!("the limit for operations of a lesson plan is {most}");
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    let logged = Logged {
        id: Uuid::now_v7().to_string(),
        kind: fields::text(asked, "type").to_owned(),
        payload: asked.get("payload").cloned().unwrap_or_default(),
        reason,
        created_at: now.to_string(),
        sequence_number,
        created_by: by.map(str::to_owned),
    };
    repository::log(tx, id, &logged)?;
    Ok(logged.id)
}

fn inside(path: &str, mut problem: Problem) -> Problem {
    if problem.details.is_empty() {
        return problem;
    }
    let within =
        |Detail { path: inner, message }| Detail { path: format!("{path}.{inner}"), message };
    problem.details = problem.details.into_iter().map(within).collect();
    Problem::invalid_all(problem.details)
}

/// Applies the operations that were not applied yet. Errors: `NotFound`.
pub fn sync(tx: &mut Tx<'_>, id: &str) -> Result<Synced> {
    let mut plan = held(tx, id)?;
    let results = advance(tx, &mut plan)?;
    repository::update(tx, &plan)?;
    Ok(Synced::of(results, "applied"))
}

/// Copies the current course and applies all operations. Errors: `NotFound`.
pub fn recreate(tx: &mut Tx<'_>, id: &str) -> Result<Synced> {
    let mut plan = held(tx, id)?;
    let results = rebuilt(tx, &mut plan)?;
    repository::update(tx, &plan)?;
    Ok(Synced::of(results, "applied to the current course"))
}

/// Recreates all plans of a course. Returns the ids of those whose trees changed. Errors: `NotFound`.
pub fn sync_course(tx: &mut Tx<'_>, course: &str) -> Result<Vec<String>> {
    fields::in_use(tx, &COURSE, course)?;
    let fresh = copy(tx, course)?;
    let mut affected = Vec::new();
    for id in repository::of_course(tx, course)? {
        let mut plan = held(tx, &id)?;
        let former = std::mem::replace(&mut plan.tree, fresh.clone());
        plan.synced = 0;
        advance(tx, &mut plan)?;
        if plan.tree != former {
            affected.push(id);
        }
        repository::update(tx, &plan)?;
    }
    Ok(affected)
}

/// The plan, locked against other changes until this transaction ends.
fn held(tx: &mut Tx<'_>, id: &str) -> Result<Plan> {
    repository::hold(tx, id)?;
    get(tx, id)
}

fn rebuilt(tx: &mut Tx<'_>, plan: &mut Plan) -> Result<Vec<Applied>> {
    plan.tree = copy(tx, &plan.course)?;
    plan.synced = 0;
    advance(tx, plan)
}

fn copy(tx: &mut Tx<'_>, course: &str) -> Result<Tree> {
    Tree::of(&course_tree::read(tx, course, Status::Active)?)
}

/// Applies the operations after `synced`.
fn advance(tx: &mut Tx<'_>, plan: &mut Plan) -> Result<Vec<Applied>> {
    let mut results = Vec::new();
    for logged in repository::operations(tx, &plan.id, plan.synced)? {
        plan.synced = logged.sequence_number;
        let mut asked = Object::new();
        asked.insert("type".into(), logged.kind.into());
        asked.insert("payload".into(), logged.payload);
        let operation = Operation::read(&asked).map_err(Problem::internal)?;
        results.push(match plan.tree.apply(&operation) {
            Ok(()) => Applied { success: true, errors: Vec::new() },
            Err(message) => Applied { success: false, errors: vec![Why { message }] },
        });
    }
    Ok(results)
}

impl Synced {
    fn of(results: Vec<Applied>, how: &str) -> Self {
        let failed = results.iter().filter(|result| !result.success).count();
        let done = results.len() - failed;
        let message = match failed {
            0 => format!("{done} operations {how}"),
            _ => format!(
                "{done} operations {how}, {failed} failed; see operationResults for the reasons"
            ),
        };
        let operation_count = results.len();
        Self { success: failed == 0, message, operation_count, operation_results: results }
    }
}
