//! Tests assigned to students. Their status is computed from the attempts at their lessons.

use lyceum_bridge::today::Moment;
use lyceum_core::body::{self, OneLineText};
use lyceum_core::limits::{PAGE_DEFAULT_RECORDS, PAGE_MAX_RECORDS};
use lyceum_core::time::Timestamp;
use lyceum_core::{Detail, Message, Problem, ProblemKind, Reach, Result, message, messages};
use lyceum_roster::fields;
use lyceum_roster::grade::{Grade, comparable};
use lyceum_roster::kinds::{COMPONENT_RESOURCE, USER};
use lyceum_roster::reach::check_changes;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::due::DueTime;
use crate::lesson::{self, Lesson};
use crate::limits;
use crate::placement::is_refusal;
use crate::repository::test_assignments as repository;
use crate::test_choice::{best_fit, no_test, tests_of};

pub use crate::repository::test_assignments::{
    AssignmentFilter, CreatedAssignment, STATUSES, TestAssignment,
};

/// The result of assigning many tests.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TestAssignmentsReport {
    /// Whether all were assigned.
    pub success: bool,
    /// The assigned tests.
    pub results: Vec<CreatedAssignment>,
    /// Errors of the rows that were not assigned.
    pub errors: Vec<TestAssignmentRowError>,
}

/// The error of a row that was not assigned.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TestAssignmentRowError {
    /// The number of the row, from 1.
    pub row: usize,
    /// The reason in words.
    pub message: Message,
}

/// A request to assign a test.
#[derive(Clone, Debug)]
pub struct NewTestAssignment {
    student: String,
    subject: String,
    grade: String,
    test_name: Option<String>,
    due: Option<DueTime>,
}

/// A test to assign, as it is sent.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestAssignmentInput {
    /// The student's sourcedId.
    #[schemars(with = "OneLineText")]
    student: String,
    /// The subject.
    #[schemars(with = "OneLineText")]
    subject: String,
    /// The grade.
    grade: Grade,
    /// The title of the test; by default any test.
    #[schemars(with = "Option<OneLineText>")]
    test_name: Option<String>,
    /// The time until which it must be completed; a day ends at midnight at the student's school.
    expires_at: Option<DueTime>,
}

impl From<TestAssignmentInput> for NewTestAssignment {
    fn from(new: TestAssignmentInput) -> Self {
        let TestAssignmentInput { student, subject, grade, test_name, expires_at } = new;
        Self { student, subject, grade: grade.stored, test_name, due: expires_at }
    }
}

/// A new name for a test assignment.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestAssignmentChange {
    /// Its name.
    #[schemars(with = "OneLineText")]
    pub test_name: String,
}

/// Many tests to assign.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct TestAssignmentsInput {
    /// The tests. Each one is checked on its own, so an error in one does not affect the others.
    #[schemars(length(min = 1, max = limits::TEST_ASSIGNMENTS_BULK_MAX_RECORDS))]
    pub items: Vec<Value>,
}

/// A table of tests to assign.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestAssignmentsTable {
    /// The address of a spreadsheet, which is not read.
    #[schemars(with = "Option<OneLineText>")]
    spreadsheet_url: Option<String>,
    /// The name of a sheet in the spreadsheet.
    #[schemars(with = "Option<OneLineText>")]
    sheet: Option<String>,
    /// The rows, after a header line with the columns student, subject, grade and, optionally, testName and expiresAt.
    csv: Option<String>,
}

/// Assigns a student a test of a subject and grade: of those whose title is the wished name, else of
/// all, the test-out lesson of a course that the student learns in, then another test-out lesson, a
/// placement test, a unit test.
///
/// Errors: `NotFound` if the student or the test does not exist; `Forbidden` under the reach of a teacher.
pub fn create(
    tx: &mut Tx<'_>,
    moment: &Moment,
    request: &NewTestAssignment,
    reach: &Reach,
) -> Result<CreatedAssignment> {
    lesson::student_to_change(tx, &request.student, reach)?;
    let tests = tests_of(tx, &request.subject, &request.grade)?;
    let test = best_fit(tx, moment.now, &tests, &request.student, request.test_name.as_deref())?;
    let test = test.ok_or_else(|| no_test(&request.subject, &request.grade))?;
    let expires = request.due.map(|due| due.expires(tx, moment, &request.student)).transpose()?;
    note(tx, moment.now, request, &test.id, expires)
}

/// Assigns a lesson that was already found.
pub(crate) fn assign_lesson(
    tx: &mut Tx<'_>,
    now: Timestamp,
    student: &str,
    subject: &str,
    lesson: &Lesson,
    expires: Option<Timestamp>,
) -> Result<CreatedAssignment> {
    let request = NewTestAssignment {
        student: student.to_owned(),
        subject: subject.to_owned(),
        grade: lesson.grade.clone().unwrap_or_default(),
        test_name: None,
        due: expires.map(DueTime::Instant),
    };
    note(tx, now, &request, &lesson.id, expires)
}

fn note(
    tx: &mut Tx<'_>,
    now: Timestamp,
    request: &NewTestAssignment,
    lesson: &str,
    expires: Option<Timestamp>,
) -> Result<CreatedAssignment> {
    let record = fields::in_use(tx, &COMPONENT_RESOURCE, lesson)?;
    let assignment = CreatedAssignment {
        assignment_id: Uuid::now_v7().to_string(),
        lesson_id: lesson.to_owned(),
        resource_id: fields::reference(&record, "resource").to_owned(),
    };
    let row = repository::AssignmentRow {
        student: &request.student,
        subject: &request.subject,
        grade: &request.grade,
        test_name: request.test_name.as_deref(),
        assigned_at: &now.to_string(),
        expires,
    };
    repository::insert(tx, &assignment, &row)?;
    Ok(assignment)
}

/// A page of assignments, and how many there are on all.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestAssignmentPage {
    /// The assignments, in the order in which they were assigned.
    pub test_assignments: Vec<TestAssignment>,
    /// The number of assignments on all pages.
    pub total_count: u64,
    /// The number of pages.
    pub page_count: u64,
    /// The number of this page, from 1.
    pub page_number: u64,
    /// The number of assignments before the page.
    pub offset: u64,
    /// The maximum number of assignments on the page.
    pub limit: u64,
}

/// The assignments that a query requests. All its values are texts.
#[derive(Debug, Deserialize, JsonSchema)]
struct AssignmentQuery {
    #[schemars(with = "Option<OneLineText>")]
    student: Option<String>,
    #[schemars(extend("enum" = STATUSES))]
    status: Option<String>,
    #[schemars(with = "Option<OneLineText>")]
    subject: Option<String>,
    #[schemars(with = "Option<OneLineText>")]
    grade: Option<String>,
    limit: Option<String>,
    offset: Option<String>,
}

impl AssignmentFilter {
    /// Reads the members of a query. Errors: `Invalid`, with every fault and its path.
    pub fn read(query: Value, needs_student: bool) -> Result<Self> {
        let parameters: AssignmentQuery = body::of(query)?;
        let mut faults = Vec::new();
        let mut fault = |path: &str, message: Message| {
            faults.push(Detail { path: path.into(), message });
        };
        let mut number = |name: &str, text: Option<String>, usual: u64, least: u64| {
            let Some(text) = text else { return usual };
            match text.parse::<u32>().map(u64::from) {
                Ok(number) if number >= least => number,
                _ => {
                    fault(name, message!("must be a whole number from {least}"));
                    usual
                }
            }
        };
        let limit = number("limit", parameters.limit, PAGE_DEFAULT_RECORDS, 1);
        let offset = number("offset", parameters.offset, 0, 0);
        if needs_student && parameters.student.is_none() {
            fault("student", messages::required("a string"));
        }
        if !faults.is_empty() {
            return Err(Problem::invalid_all(faults));
        }
        Ok(Self {
            student: parameters.student,
            status: STATUSES.into_iter().find(|known| parameters.status.as_deref() == Some(known)),
            subject: parameters.subject.map(|subject| subject.to_ascii_lowercase()),
            grade: parameters.grade.map(|grade| comparable(&grade)),
            limit: limit.min(PAGE_MAX_RECORDS),
            offset,
        })
    }
}

/// A page of assignments of students within the reach. Errors: `NotFound` for a student.
pub fn list(
    tx: &mut Tx<'_>,
    now: Timestamp,
    filter: &AssignmentFilter,
    reach: &Reach,
) -> Result<TestAssignmentPage> {
    if let Some(student) = &filter.student {
        lesson::student(tx, student, reach)?;
    }
    let (mut test_assignments, total_count) = repository::list(tx, now, filter, reach)?;
    with_addresses(tx, &mut test_assignments)?;
    Ok(TestAssignmentPage {
        test_assignments,
        total_count,
        page_count: total_count.div_ceil(filter.limit),
        page_number: filter.offset / filter.limit + 1,
        offset: filter.offset,
        limit: filter.limit,
    })
}

fn with_addresses(tx: &mut Tx<'_>, assignments: &mut [TestAssignment]) -> Result<()> {
    let students = assignments.iter().map(|assignment| assignment.student_sourced_id.as_str());
    let students = fields::of_all(tx, &USER, students)?;
    for assignment in assignments {
        if let Some(student) = students.get(&assignment.student_sourced_id) {
            assignment.student_email = fields::text(student, "email").to_owned();
        }
    }
    Ok(())
}

/// An assignment of a student within the reach. Errors: `NotFound`.
pub fn get(tx: &mut Tx<'_>, now: Timestamp, id: &str, reach: &Reach) -> Result<TestAssignment> {
    let mut found = repository::get(tx, now, id, reach)?.ok_or_else(|| missing(id))?;
    with_addresses(tx, std::slice::from_mut(&mut found))?;
    Ok(found)
}

/// Renames an assignment. Errors: `NotFound`; `Forbidden` for the reach of a teacher.
pub fn update(
    tx: &mut Tx<'_>,
    now: Timestamp,
    id: &str,
    name: &str,
    reach: &Reach,
) -> Result<TestAssignment> {
    check_change(tx, now, id, reach)?;
    if !repository::rename(tx, id, name)? {
        return Err(missing(id));
    }
    get(tx, now, id, reach)
}

/// Cancels an assignment. Attempts at its lesson stay. Errors: `NotFound`; `Forbidden` for the reach of a teacher.
pub fn delete(tx: &mut Tx<'_>, now: Timestamp, id: &str, reach: &Reach) -> Result<()> {
    check_change(tx, now, id, reach)?;
    if repository::cancel(tx, id)? { Ok(()) } else { Err(missing(id)) }
}

fn check_change(tx: &mut Tx<'_>, now: Timestamp, id: &str, reach: &Reach) -> Result<()> {
    if reach.is_limited() {
        let assignment = get(tx, now, id, reach)?;
        check_changes(&USER, &assignment.student_sourced_id, reach)?;
    }
    Ok(())
}

fn missing(id: &str) -> Problem {
    Problem::new(ProblemKind::NotFound, message!("there is no test assignment '{id}'"))
}

/// Assigns many, each by itself. Errors: `Forbidden` for the reach of a teacher.
pub fn bulk(
    tx: &mut Tx<'_>,
    moment: &Moment,
    items: &[Value],
    reach: &Reach,
) -> Result<TestAssignmentsReport> {
    let mut bulk = TestAssignmentsReport { success: true, results: Vec::new(), errors: Vec::new() };
    for (at, item) in items.iter().enumerate() {
        let result = match item {
            Value::Object(_) => body::of::<TestAssignmentInput>(item.clone())
                .and_then(|new| create(tx, moment, &NewTestAssignment::from(new), reach)),
            _ => Err(Problem::invalid(format!("items[{at}]"), messages::MUST_BE_OBJECT)),
        };
        match result {
            Ok(assignment) => bulk.results.push(assignment),
            Err(problem) if is_refusal(problem.kind) => {
                bulk.errors
                    .push(TestAssignmentRowError { row: at + 1, message: all_errors(&problem) });
            }
            Err(problem) => return Err(problem),
        }
    }
    bulk.success = bulk.errors.is_empty();
    Ok(bulk)
}

/// All errors of a row in one text.
fn all_errors(problem: &Problem) -> Message {
    match problem.details.is_empty() {
        true => problem.message.clone(),
        false => Message::joined(problem.details.iter().map(Detail::text)),
    }
}

/// Assigns the rows of a table. No request makes the server open an address, so that a spreadsheet elsewhere is told as
/// one row that cannot be read.
///
/// Errors: `Invalid`.
pub fn import(
    tx: &mut Tx<'_>,
    moment: &Moment,
    table: &TestAssignmentsTable,
    reach: &Reach,
) -> Result<TestAssignmentsReport> {
    let Some(csv) = &table.csv else {
        let named = [("spreadsheetUrl", &table.spreadsheet_url), ("sheet", &table.sheet)];
        let missing = named.iter().filter(|(_, text)| text.is_none());
        let missing: Vec<Detail> = missing
            .map(|(name, _)| Detail {
                path: (*name).to_owned(),
                message: messages::required("a string"),
            })
            .collect();
        if !missing.is_empty() {
            return Err(Problem::invalid_all(missing));
        }
        let message = "this server opens no addresses that a request names; send the sheet's rows as \
                       'csv', or as 'items' to /test-assignments/bulk";
        let errors = vec![TestAssignmentRowError { row: 0, message: message.into() }];
        return Ok(TestAssignmentsReport { success: false, results: Vec::new(), errors });
    };
    let TestAssignmentsInput { items } = body::of(json!({ "items": rows(csv)? }))?;
    bulk(tx, moment, &items, reach)
}

/// The lines of a CSV text as objects, with the names from the first line.
fn rows(csv: &str) -> Result<Vec<Value>> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(csv.as_bytes());
    let broken =
        |fault: csv::Error| Problem::invalid("csv", message!("must be a CSV table: {fault}"));
    let names = reader.headers().map_err(broken)?.clone();
    let mut rows = Vec::new();
    for line in reader.records() {
        let line = line.map_err(broken)?;
        let cells = names.iter().zip(line.iter()).filter(|(_, cell)| !cell.trim().is_empty());
        let cells = cells.map(|(name, cell)| (name.trim().to_owned(), cell.trim().into()));
        rows.push(Value::Object(cells.collect()));
    }
    Ok(rows)
}
