//! Lesson plans: a student's copy of a course's tree, and the log of operations on it.
//!
//! A plan's tree is the course at the time of the copy, with all operations up to `synced` applied in order. `sync`
//! applies later operations. `recreate` copies the current course again and applies all operations.

pub(crate) mod operation;
pub(crate) mod tree;
mod view;

use lyceum_core::body::{self, OneLineText};
use lyceum_core::messages::unknown_reference;
use lyceum_core::time::Timestamp;
use lyceum_core::{Message, Problem, ProblemKind, Reach, Result, message};
use lyceum_roster::course_tree;
use lyceum_roster::fields;
use lyceum_roster::kinds::{CLASS, COURSE, RESOURCE, USER};
use lyceum_roster::reach::check_changes;
use lyceum_roster::record::Status;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

pub use operation::{LessonPlanItemSort, LessonPlanOperationInput, Operation};
pub use tree::{PlanItem, PlanTree};
pub(crate) use view::items_of_student;
pub use view::{LessonPlan, LessonPlanStructure, PlanJson, structure, tree as visible};

use operation::spell_plainly;

use crate::limits;
use crate::repository::lesson_plans as repository;

pub use crate::repository::lesson_plans::{LessonPlanOperation, StoredLessonPlan};

/// The result of applying operations.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LessonPlanSync {
    /// Whether all were applied.
    pub success: bool,
    /// The result in one sentence.
    pub message: Message,
    /// The number of operations, including failed ones.
    pub operation_count: usize,
    /// The result of each operation, in order.
    pub operation_results: Vec<AppliedOperation>,
}

/// The result of an operation.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AppliedOperation {
    /// Whether it was applied.
    pub success: bool,
    /// Why it was not applied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<OperationFault>,
}

/// The reason why an operation was not applied.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OperationFault {
    /// The reason in one sentence.
    pub message: Message,
}

/// A lesson plan to create.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "requests name them so")]
pub struct LessonPlanInput {
    /// The course's sourcedId.
    #[schemars(with = "OneLineText")]
    course_id: String,
    /// The student's sourcedId.
    #[schemars(with = "OneLineText")]
    user_id: String,
    /// The sourcedId of a class of the course.
    #[schemars(with = "Option<OneLineText>")]
    class_id: Option<String>,
}

impl LessonPlanInput {
    /// The plan of a student in a course.
    pub(crate) fn of(course: &str, user: &str) -> Self {
        Self { course_id: course.to_owned(), user_id: user.to_owned(), class_id: None }
    }
}

/// An operation on a plan, with its reason.
#[derive(Deserialize, JsonSchema)]
pub struct LessonPlanOperationRequest {
    /// The operation.
    operation: LessonPlanOperationInput,
    /// The reason.
    #[schemars(with = "Option<OneLineText>")]
    reason: Option<String>,
}

/// Makes the plan of a student in a course, or answers the one there is; true, if it is new. Errors: `Invalid`,
/// `NotFound`; `Forbidden` for the reach of a teacher.
pub fn create(
    tx: &mut Tx<'_>,
    now: Timestamp,
    new: &LessonPlanInput,
    reach: &Reach,
) -> Result<(String, bool)> {
    let LessonPlanInput { course_id: course, user_id: user, class_id: class } = new.clone();
    fields::in_use_within(tx, &COURSE, &course, reach)?;
    fields::in_use_within(tx, &USER, &user, reach)?;
    check_changes(&USER, &user, reach)?;
    if let Some(class) = &class {
        let record = fields::in_use_within(tx, &CLASS, class, reach)?;
        if fields::reference(&record, "course") != course {
            let message = message!("the class '{class}' does not teach the course '{course}'");
            return Err(Problem::invalid("classId", message));
        }
    }
    let tree = copy(tx, &course)?;
    let id = Uuid::now_v7().to_string();
    let plan = StoredLessonPlan { id, course, user, class, tree, synced: 0 };
    if repository::insert(tx, &plan, &now.to_string())? {
        return Ok((plan.id, true));
    }
    Ok((of(tx, &plan.course, &plan.user, reach)?.id, false))
}

/// The plan of a student in a course. Errors: `NotFound`.
pub fn of(tx: &mut Tx<'_>, course: &str, user: &str, reach: &Reach) -> Result<StoredLessonPlan> {
    fields::in_use_within(tx, &COURSE, course, reach)?;
    fields::in_use_within(tx, &USER, user, reach)?;
    let plan = repository::of(tx, course, user)?;
    plan.ok_or_else(|| {
        let message = message!(
            "the user '{user}' has no lesson plan in the course '{course}'; create one with POST \
             /lessonPlans"
        );
        Problem::new(ProblemKind::NotFound, message)
    })
}

/// The plan of a student within the reach. Errors: `NotFound`, also if its course was deleted.
pub fn get(tx: &mut Tx<'_>, id: &str, reach: &Reach) -> Result<StoredLessonPlan> {
    let plan = repository::get(tx, id, reach)?.ok_or_else(|| missing(id))?;
    fields::in_use(tx, &COURSE, &plan.course)?;
    Ok(plan)
}

fn missing(id: &str) -> Problem {
    Problem::new(ProblemKind::NotFound, message!("there is no lesson plan '{id}'"))
}

/// Deletes the plans of a course with their logs, as far as their students lie within the reach. Errors: `NotFound`;
/// `Forbidden` for the reach of a teacher.
pub fn delete_all(tx: &mut Tx<'_>, course: &str, reach: &Reach) -> Result<u64> {
    fields::in_use_within(tx, &COURSE, course, reach)?;
    check_changes(&COURSE, course, reach)?;
    repository::delete_all(tx, course, reach)
}

/// The log of a plan. Errors: `NotFound`.
pub fn operations(tx: &mut Tx<'_>, id: &str, reach: &Reach) -> Result<Vec<LessonPlanOperation>> {
    get(tx, id, reach)?;
    repository::operations(tx, id, 0)
}

/// Writes an operation into the log; the next sync applies it. Reads an [`LessonPlanOperationRequest`], of which the payload is kept
/// as it was sent, and answers the operation's id.
///
/// Errors: `Invalid`; `NotFound` for the plan; `Conflict` if the log is full; `Forbidden` for the reach of a teacher.
pub fn request_operation(
    tx: &mut Tx<'_>,
    now: Timestamp,
    id: &str,
    sent: &Value,
    by: Option<&str>,
    reach: &Reach,
) -> Result<String> {
    let mut request = sent.clone();
    if let Some(operation) = request.get_mut("operation") {
        spell_plainly(operation);
    }
    let LessonPlanOperationRequest { operation, reason } = body::of(request)?;
    let sent_operation = &sent["operation"];
    if let Operation::AddCustomResource { resource, .. } = &Operation::from(operation)
        && fields::in_use(tx, &RESOURCE, resource).is_err_and(|p| p.kind == ProblemKind::NotFound)
    {
        let message = unknown_reference("resource", resource);
        return Err(Problem::invalid("operation.payload.resource_id", message));
    }
    if reach.is_limited() {
        let plan = get(tx, id, reach)?;
        check_changes(&USER, &plan.user, reach)?;
    }
    let sequence_number = repository::next_operation(tx, id)?.ok_or_else(|| missing(id))?;
    if sequence_number > limits::LESSON_PLAN_OPERATIONS_MAX_COUNT {
        let most = limits::LESSON_PLAN_OPERATIONS_MAX_COUNT;
        let message = message!("the limit for operations of a lesson plan is {most}");
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    let logged = LessonPlanOperation {
        id: Uuid::now_v7().to_string(),
        kind: sent_operation["type"].as_str().unwrap_or_default().to_owned(),
        payload: sent_operation["payload"].clone(),
        reason,
        created_at: now.to_string(),
        sequence_number,
        created_by: by.map(str::to_owned),
    };
    repository::log(tx, id, &logged)?;
    Ok(logged.id)
}

/// Applies the operations that the tree does not show yet. Errors: `NotFound`; `Forbidden` for the reach of a teacher.
pub fn sync(tx: &mut Tx<'_>, id: &str, reach: &Reach) -> Result<LessonPlanSync> {
    let mut plan = find_by_id(tx, id, reach)?;
    let results = advance(tx, &mut plan)?;
    repository::update(tx, &plan)?;
    Ok(LessonPlanSync::of(results, "applied"))
}

/// Copies the current course and applies all operations. Errors: as [`sync`].
pub fn recreate(tx: &mut Tx<'_>, id: &str, reach: &Reach) -> Result<LessonPlanSync> {
    let mut plan = find_by_id(tx, id, reach)?;
    let results = rebuilt(tx, &mut plan)?;
    repository::update(tx, &plan)?;
    Ok(LessonPlanSync::of(results, "applied to the current course"))
}

/// Recreates the plans of a course whose students lie within the reach. Returns the ids of those whose trees changed.
/// Errors: `NotFound`; `Forbidden` for the reach of a teacher.
pub fn sync_course(tx: &mut Tx<'_>, course: &str, reach: &Reach) -> Result<Vec<String>> {
    fields::in_use_within(tx, &COURSE, course, reach)?;
    check_changes(&COURSE, course, reach)?;
    let fresh = copy(tx, course)?;
    let mut affected = Vec::new();
    for id in repository::of_course(tx, course, reach)? {
        let mut plan = find_by_id(tx, &id, reach)?;
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

/// The plan to change, locked against other changes until this transaction ends.
fn find_by_id(tx: &mut Tx<'_>, id: &str, reach: &Reach) -> Result<StoredLessonPlan> {
    repository::lock(tx, id)?;
    let plan = get(tx, id, reach)?;
    check_changes(&USER, &plan.user, reach)?;
    Ok(plan)
}

fn rebuilt(tx: &mut Tx<'_>, plan: &mut StoredLessonPlan) -> Result<Vec<AppliedOperation>> {
    plan.tree = copy(tx, &plan.course)?;
    plan.synced = 0;
    advance(tx, plan)
}

/// The items of a course, in reading order. Errors: `NotFound`.
pub(crate) fn items_of_course(tx: &mut Tx<'_>, course: &str) -> Result<Vec<PlanItem>> {
    Ok(copy(tx, course)?.0)
}

fn copy(tx: &mut Tx<'_>, course: &str) -> Result<PlanTree> {
    PlanTree::of(&course_tree::read(tx, course, Status::Active)?)
}

/// Applies the operations after `synced`.
fn advance(tx: &mut Tx<'_>, plan: &mut StoredLessonPlan) -> Result<Vec<AppliedOperation>> {
    let mut results = Vec::new();
    for logged in repository::operations(tx, &plan.id, plan.synced)? {
        plan.synced = logged.sequence_number;
        let mut operation_json = json!({ "type": logged.kind, "payload": logged.payload });
        spell_plainly(&mut operation_json);
        let operation: LessonPlanOperationInput =
            body::of(operation_json).map_err(Problem::internal)?;
        let operation = Operation::from(operation);
        results.push(match plan.tree.apply(&operation) {
            Ok(()) => AppliedOperation { success: true, errors: Vec::new() },
            Err(message) => {
                AppliedOperation { success: false, errors: vec![OperationFault { message }] }
            }
        });
    }
    Ok(results)
}

impl LessonPlanSync {
    fn of(results: Vec<AppliedOperation>, how: &str) -> Self {
        let failed = results.iter().filter(|result| !result.success).count();
        let applied = results.len() - failed;
        let message = match failed {
            0 => message!("{applied} operations {how}"),
            _ => message!(
                "{applied} operations {how}, {failed} failed; see operationResults for the reasons"
            ),
        };
        let operation_count = results.len();
        Self { success: failed == 0, message, operation_count, operation_results: results }
    }
}
