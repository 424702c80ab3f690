//! Creates tests with one request: the resource, its place in the course, and the lesson.

use lyceum_core::json::number;
use lyceum_core::messages::unknown_reference;
use lyceum_core::time::Timestamp;
use lyceum_core::{Detail, Message, PayloadDialect, Problem, ProblemKind, Reach, Result, message};
use lyceum_roster::collections::at;
use lyceum_roster::fields;
use lyceum_roster::kind::RecordKind;
use lyceum_roster::kinds::{COMPONENT_RESOURCE, COURSE, COURSE_COMPONENT, RESOURCE};
use lyceum_roster::record::{Object, StoredRecord};
use lyceum_roster::repository;
use lyceum_roster::write::{self, WriteRules};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

mod request;

pub use request::{ExternalTest, InternalTest, NewTest, TestType, Tool};
use request::{TestContent, TestLink};

use crate::LessonType;

/// The created lesson.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewTestLesson {
    /// The type of the lesson.
    pub lesson_type: LessonType,
    /// The source of its questions, if students take it on this server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_type: Option<TestType>,
    /// The component resource's sourcedId.
    pub lesson_id: String,
    /// The component's sourcedId.
    pub course_component_id: String,
    /// The resource's sourcedId.
    pub resource_id: String,
    /// The sourcedIds of the tests of a bank.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub child_resource_ids: Vec<String>,
    /// The address of the outside tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launch_url: Option<String>,
    /// The outside tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_provider: Option<Tool>,
    /// The outside tool's id of the test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vendor_id: Option<String>,
    /// The grades that it tests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grades: Option<Vec<String>>,
    /// The course in which students who fail are enrolled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub course_id_on_fail: Option<String>,
}

/// Creates the test in the component that the request names, or in a new one at the end of the course.
///
/// Errors: `NotFound` for the course; `Invalid` for a component of another course, an unknown `courseIdOnFail`, and a
/// placement test without subject or grades; `Conflict` for a second test-out lesson of the course.
pub fn create(tx: &mut Tx<'_>, now: Timestamp, new_test: &NewTest) -> Result<NewTestLesson> {
    let course = fields::in_use(tx, &COURSE, &new_test.course)?;
    check(tx, new_test, &course)?;
    let grades = new_test.grades.clone().unwrap_or_else(|| fields::texts(&course, "grades"));
    let metadata = metadata(new_test, &course, &grades);
    let mut maker = TestBuilder { tx, now };
    let (resource_id, child_resource_ids) = maker.resource(new_test, metadata)?;
    let course_component_id = match &new_test.component {
        Some(component) => component.clone(),
        None => maker.component(new_test)?,
    };
    let lesson_id = maker.lesson(new_test, &course_component_id, &resource_id)?;
    let (test_type, tool_provider, launch_url, vendor_id) = match &new_test.content {
        TestContent::Qti(_) => (Some(TestType::Qti), None, None, None),
        TestContent::Bank(_) => (Some(TestType::AssessmentBank), None, None, None),
        TestContent::External { tool, launch_url, vendor_id, .. } => {
            (None, Some(*tool), launch_url.clone(), vendor_id.clone())
        }
    };
    Ok(NewTestLesson {
        lesson_type: new_test.lesson_type,
        test_type,
        lesson_id,
        course_component_id,
        resource_id,
        child_resource_ids,
        launch_url,
        tool_provider,
        vendor_id,
        grades: (!grades.is_empty()).then_some(grades),
        course_id_on_fail: new_test.course_on_fail.clone(),
    })
}

fn check(tx: &mut Tx<'_>, new_test: &NewTest, course: &Object) -> Result<()> {
    let mut faults = Vec::new();
    let mut fault = |path: &str, message: Message| {
        faults.push(Detail { path: path.into(), message });
    };
    if let Some(id) = &new_test.component {
        let course_of_component = match find_record(tx, &COURSE_COMPONENT, id)? {
            Some(component) => fields::reference(&component, "course").to_owned(),
            None => String::new(),
        };
        if course_of_component != new_test.course {
            let message = message!(
                "the course '{new_test.course}' has no component with the sourcedId '{id}'"
            );
            fault("courseComponentSourcedId", message);
        }
    }
    if let Some(id) = &new_test.course_on_fail
        && find_record(tx, &COURSE, id)?.is_none()
    {
        fault("courseIdOnFail", unknown_reference("course", id));
    }
    if new_test.lesson_type == LessonType::Placement {
        if new_test.grades.is_none() && fields::texts(course, "grades").is_empty() {
            fault("grades", "is required, because the course has none".into());
        }
        let named = new_test.metadata.get("subject").is_some_and(Value::is_string);
        if !named && fields::texts(course, "subjects").is_empty() {
            let message = "is required, because the course has no subject";
            fault("resourceMetadata.subject", message.into());
        }
    }
    if !faults.is_empty() {
        return Err(Problem::invalid_all(faults));
    }
    if new_test.lesson_type == LessonType::TestOut
        && let Some((_, lesson)) =
            repository::test_outs(tx, &[&new_test.course])?.into_iter().next()
    {
        let message = message!(
            "the course '{new_test.course}' already has the test-out lesson '{lesson}'; delete it first"
        );
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    Ok(())
}

fn find_record(tx: &mut Tx<'_>, kind: &RecordKind, id: &str) -> Result<Option<Object>> {
    match fields::in_use(tx, kind, id) {
        Ok(record) => Ok(Some(record)),
        Err(problem) if problem.kind == ProblemKind::NotFound => Ok(None),
        Err(problem) => Err(problem),
    }
}

/// The lesson's data in the resource's metadata.
fn metadata(new_test: &NewTest, course: &Object, grades: &[String]) -> Object {
    let mut metadata = new_test.metadata.clone();
    metadata.insert("lessonType".into(), new_test.lesson_type.name().into());
    if !metadata.contains_key("subject")
        && let Some(subject) = fields::texts(course, "subjects").into_iter().next()
    {
        metadata.insert("subject".into(), subject.into());
    }
    if !grades.is_empty() {
        metadata.insert("grades".into(), json!(grades));
    }
    if let Some(xp) = new_test.xp {
        metadata.insert("xp".into(), number(xp));
    }
    if let Some(course) = &new_test.course_on_fail {
        metadata.insert("courseIdOnFail".into(), course.as_str().into());
    }
    metadata
}

struct TestBuilder<'a, 'tx> {
    tx: &'a mut Tx<'tx>,
    now: Timestamp,
}

impl TestBuilder<'_, '_> {
    /// The resource of the lesson, and the resources that it uses in turn.
    fn resource(
        &mut self,
        new_test: &NewTest,
        mut metadata: Object,
    ) -> Result<(String, Vec<String>)> {
        let title = new_test.lesson_title.as_deref();
        match &new_test.content {
            TestContent::Qti(link) => {
                metadata.extend(link.metadata.clone().unwrap_or_default());
                let title = link.title.as_deref().or(title);
                Ok((
                    self.test(link, title.unwrap_or_else(|| test_kind_name(new_test)), metadata)?,
                    Vec::new(),
                ))
            }
            TestContent::Bank(links) => {
                let mut children = Vec::with_capacity(links.len());
                for (at, link) in links.iter().enumerate() {
                    let numbered =
                        format!("{} {}", title.unwrap_or_else(|| test_kind_name(new_test)), at + 1);
                    let title = link.title.as_deref().unwrap_or(&numbered);
                    children.push(self.test(
                        link,
                        title,
                        link.metadata.clone().unwrap_or_default(),
                    )?);
                }
                metadata.insert("type".into(), "assessment-bank".into());
                metadata.insert("resources".into(), json!(children));
                let title = title.unwrap_or_else(|| test_kind_name(new_test));
                let own = Uuid::now_v7().to_string();
                let bank = json!({ "title": title, "vendorResourceId": own, "metadata": metadata });
                Ok((self.create_record(&RESOURCE, bank)?, children))
            }
            TestContent::External { tool, launch_url, vendor_id, description } => {
                metadata.insert("type".into(), "interactive".into());
                metadata.insert("toolProvider".into(), tool.name().into());
                let texts = [("launchUrl", launch_url), ("description", description)];
                for (name, value) in texts {
                    if let Some(value) = value {
                        metadata.insert(name.into(), value.as_str().into());
                    }
                }
                let own = || Uuid::now_v7().to_string();
                let mut resource = json!({
                    "title": title.unwrap_or_else(|| test_kind_name(new_test)),
                    "vendorResourceId": vendor_id.clone().unwrap_or_else(own),
                    "metadata": metadata,
                });
                if let Some(vendor) = vendor_id {
                    resource["vendorId"] = vendor.as_str().into();
                }
                Ok((self.create_record(&RESOURCE, resource)?, Vec::new()))
            }
        }
    }

    /// A resource that is a QTI test.
    fn test(&mut self, link: &TestLink, title: &str, mut metadata: Object) -> Result<String> {
        metadata.insert("type".into(), "qti".into());
        metadata.insert("subType".into(), "qti-test".into());
        metadata.insert("url".into(), link.url.as_str().into());
        let path = link.url.split(['?', '#']).next().unwrap_or_default();
        let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let test = json!({ "title": title, "vendorResourceId": last, "metadata": metadata });
        self.create_record(&RESOURCE, test)
    }

    /// A new component at the end of the course's top level.
    fn component(&mut self, new_test: &NewTest) -> Result<String> {
        let others =
            repository::referring_to(self.tx, &COURSE_COMPONENT, "course", &[&new_test.course])?;
        let title = new_test.unit_title.as_deref().or(new_test.lesson_title.as_deref());
        let component = json!({
            "title": title.unwrap_or_else(|| test_kind_name(new_test)),
            "sortOrder": next_place(&others)?,
            "course": { "sourcedId": new_test.course },
        });
        self.create_record(&COURSE_COMPONENT, component)
    }

    /// A new lesson at the end of the component.
    fn lesson(&mut self, new_test: &NewTest, component: &str, resource: &str) -> Result<String> {
        let field = "courseComponent";
        let others = repository::referring_to(self.tx, &COMPONENT_RESOURCE, field, &[component])?;
        let lesson = json!({
            "title": new_test.lesson_title.as_deref().unwrap_or_else(|| test_kind_name(new_test)),
            "courseComponent": { "sourcedId": component },
            "resource": { "sourcedId": resource },
            "sortOrder": next_place(&others)?,
            "lessonType": new_test.lesson_type.name(),
        });
        self.create_record(&COMPONENT_RESOURCE, lesson)
    }

    fn create_record(&mut self, kind: &'static RecordKind, record: Value) -> Result<String> {
        let rules = WriteRules {
            dialect: PayloadDialect::Platform,
            now: self.now,
            allocate_missing_ids: true,
            reach: Reach::Everything,
        };
        let Value::Object(record) = record else {
            return Err(Problem::internal("a record is an object"));
        };
        let collection = at(kind.path).expect("every kind has a collection");
        let created = write::create(self.tx, collection, record, &rules)?;
        Ok(created.pair.allocated_sourced_id)
    }
}

fn next_place(others: &[StoredRecord]) -> Result<i64> {
    let mut last = 0;
    for stored in others {
        let place = fields::of(stored)?.get("sortOrder").and_then(Value::as_i64);
        last = last.max(place.unwrap_or(0));
    }
    Ok(last.saturating_add(1))
}

fn test_kind_name(new_test: &NewTest) -> &'static str {
    match new_test.lesson_type {
        LessonType::Powerpath100 => "Practice",
        LessonType::Quiz => "Quiz",
        LessonType::TestOut => "Test out",
        LessonType::Placement => "Placement test",
        LessonType::UnitTest => "Unit test",
        LessonType::Reading => "Reading",
    }
}
