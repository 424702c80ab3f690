//! Creates tests with one request: the resource, its place in the course, and the lesson.

use lyceum_core::body::Line;
use lyceum_core::json::number;
use lyceum_core::time::Timestamp;
use lyceum_core::{Detail, Dialect, Problem, ProblemKind, Result, limits, messages};
use lyceum_roster::collections::at;
use lyceum_roster::fields;
use lyceum_roster::grade::Grade;
use lyceum_roster::kind::Kind;
use lyceum_roster::kinds::{COMPONENT_RESOURCE, COURSE, COURSE_COMPONENT, RESOURCE};
use lyceum_roster::record::Object;
use lyceum_roster::repository;
use lyceum_roster::write::{self, Rules};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::LessonType;
use crate::render_config::{ADDRESS, is_address};

/// A request for a test.
#[derive(Clone, Debug)]
pub struct NewTest {
    course: String,
    lesson_type: LessonType,
    lesson_title: Option<String>,
    unit_title: Option<String>,
    component: Option<String>,
    metadata: Object,
    xp: Option<f64>,
    grades: Option<Vec<String>>,
    course_on_fail: Option<String>,
    content: TestContent,
}

#[derive(Clone, Debug)]
enum TestContent {
    Qti(Link),
    Bank(Vec<Link>),
    External {
        tool: Tool,
        launch_url: Option<String>,
        vendor_id: Option<String>,
        description: Option<String>,
    },
}

/// Where a test is.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[schemars(rename = "TestLink")]
struct Link {
    /// The address of the test.
    #[schemars(with = "Line", extend("pattern" = r"^https?://[^\s]+$"))]
    url: String,
    /// The title of its resource.
    #[schemars(with = "Option<Line>")]
    title: Option<String>,
    /// The metadata of its resource.
    metadata: Option<Object>,
}

/// What was made.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "NewTestLesson")]
pub struct CreatedTest {
    /// The type of the lesson.
    pub lesson_type: LessonType,
    /// What it is made of, if it is taken here.
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
    /// What the outside tool calls the test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vendor_id: Option<String>,
    /// The grades that it tests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grades: Option<Vec<String>>,
    /// The course in which students who fail are enrolled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub course_id_on_fail: Option<String>,
}

/// What a request says of every test.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct CommonTestFields {
    /// The course's sourcedId.
    #[schemars(with = "Line")]
    course_id: String,
    /// The title of the lesson.
    #[schemars(with = "Option<Line>")]
    lesson_title: Option<String>,
    /// The title of the component that is made.
    #[schemars(with = "Option<Line>")]
    unit_title: Option<String>,
    /// The component in which the lesson stands, in place of a new one.
    #[schemars(with = "Option<Line>")]
    course_component_sourced_id: Option<String>,
    /// The metadata of the resource.
    resource_metadata: Option<Object>,
    /// The course in which a student is enrolled who does not pass.
    #[schemars(with = "Option<Line>")]
    course_id_on_fail: Option<String>,
}

/// A test that is taken here.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InternalTest {
    #[serde(flatten)]
    shared: CommonTestFields,
    /// What sort of lesson it is.
    lesson_type: LessonType,
    /// What it is made of.
    test_type: TestType,
    /// The test, of the type qti.
    qti: Option<Link>,
    /// The tests that take turns, of the type assessment-bank.
    assessment_bank: Option<LinkedBank>,
    /// The XP that it is worth.
    #[schemars(range(min = 0))]
    xp: Option<f64>,
    /// The grades that it tests.
    #[schemars(length(min = 1, max = limits::LIST_MAX_MEMBERS))]
    grades: Option<Vec<Grade>>,
}

/// What a test that is taken here is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum TestType {
    /// A stored test.
    Qti,
    /// Stored tests that take turns.
    AssessmentBank,
}

/// The tests that take turns.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[schemars(inline)]
struct LinkedBank {
    /// The tests.
    #[schemars(length(min = 1, max = limits::BANK_TESTS_MAX_COUNT))]
    resources: Vec<Link>,
}

/// A test that is taken at an outside tool. `X` is the type of its XP, which may be missing or not.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct ExternalTest<X> {
    #[serde(flatten)]
    shared: CommonTestFields,
    /// The sort of lesson, if it is named at all.
    lesson_type: Option<String>,
    /// The outside tool.
    tool_provider: Tool,
    /// Where the tool is.
    #[schemars(with = "Option<Line>", extend("pattern" = r"^https?://[^\s]+$"))]
    launch_url: Option<String>,
    /// What the tool calls the test.
    #[schemars(with = "Option<Line>")]
    vendor_id: Option<String>,
    /// What it is about.
    #[schemars(with = "Option<Line>")]
    description: Option<String>,
    /// The XP that it is worth.
    #[schemars(range(min = 0))]
    xp: X,
    /// The grades that it tests.
    #[schemars(length(min = 1, max = limits::LIST_MAX_MEMBERS))]
    grades: Vec<Grade>,
}

/// An outside tool that tests are taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum Tool {
    /// Edulastic.
    Edulastic,
    /// Mastery Track.
    MasteryTrack,
}

impl Tool {
    fn name(self) -> &'static str {
        match self {
            Self::Edulastic => "edulastic",
            Self::MasteryTrack => "mastery-track",
        }
    }
}

impl NewTest {
    /// A test that is taken here. Errors: `Invalid`, with every fault and its path.
    pub fn internal(test: InternalTest) -> Result<Self> {
        let mut faults = Vec::new();
        let mut fault = |path: String, message: String| faults.push(Detail { path, message });
        let (kind, own, other, is_other) = match test.test_type {
            TestType::Qti => ("qti", "qti", "assessmentBank", test.assessment_bank.is_some()),
            TestType::AssessmentBank => {
                ("assessment-bank", "assessmentBank", "qti", test.qti.is_some())
            }
        };
        if is_other {
            fault(other.to_owned(), format!("must not be there where testType is '{kind}'"));
        }
        let content = match test.test_type {
            TestType::Qti => test.qti.map(TestContent::Qti),
            TestType::AssessmentBank => {
                test.assessment_bank.map(|bank| TestContent::Bank(bank.resources))
            }
        };
        match &content {
            None => fault(own.to_owned(), messages::required("an object")),
            Some(TestContent::Qti(link)) if !is_address(&link.url) => {
                fault("qti.url".to_owned(), ADDRESS.to_owned());
            }
            Some(TestContent::Bank(links)) => {
                let wrong = links.iter().enumerate().filter(|(_, link)| !is_address(&link.url));
                for (at, _) in wrong {
                    fault(format!("assessmentBank.resources[{at}].url"), ADDRESS.to_owned());
                }
            }
            Some(_) => {}
        }
        match content {
            Some(content) if faults.is_empty() => {
                Ok(Self::of(test.shared, test.lesson_type, content, test.xp, test.grades))
            }
            _ => Err(Problem::invalid_all(faults)),
        }
    }

    /// A test that is taken at an outside tool. Errors: `Invalid`, with every fault and its path.
    pub fn external<X: Into<Option<f64>>>(
        test: ExternalTest<X>,
        lesson_type: LessonType,
    ) -> Result<Self> {
        let mut faults = Vec::new();
        let mut fault = |path: &str, message: String| {
            faults.push(Detail { path: path.to_owned(), message });
        };
        if let Some(named) = test.lesson_type.filter(|named| named != lesson_type.name()) {
            fault("lessonType", messages::must_be_one_of(&[lesson_type.name()], &named));
        }
        if test.launch_url.as_deref().is_some_and(|url| !is_address(url)) {
            fault("launchUrl", ADDRESS.to_owned());
        }
        if !faults.is_empty() {
            return Err(Problem::invalid_all(faults));
        }
        let content = TestContent::External {
            tool: test.tool_provider,
            launch_url: test.launch_url,
            vendor_id: test.vendor_id,
            description: test.description,
        };
        Ok(Self::of(test.shared, lesson_type, content, test.xp.into(), Some(test.grades)))
    }

    fn of(
        shared: CommonTestFields,
        lesson_type: LessonType,
        content: TestContent,
        xp: Option<f64>,
        grades: Option<Vec<Grade>>,
    ) -> Self {
        let stored = |grades: Vec<Grade>| grades.into_iter().map(|grade| grade.stored).collect();
        Self {
            course: shared.course_id,
            lesson_type,
            lesson_title: shared.lesson_title,
            unit_title: shared.unit_title,
            component: shared.course_component_sourced_id,
            metadata: shared.resource_metadata.unwrap_or_default(),
            xp,
            grades: grades.map(stored),
            course_on_fail: shared.course_id_on_fail,
            content,
        }
    }
}

/// Creates the test in the component that the request names, or in a new one at the end of the course.
///
/// Errors: `NotFound` for the course; `Invalid` for a component of another course, an unknown `courseIdOnFail`, and a
/// placement test without subject or grades; `Conflict` for a second test-out lesson of the course.
pub fn create(tx: &mut Tx<'_>, now: Timestamp, wish: &NewTest) -> Result<CreatedTest> {
    let course = fields::in_use(tx, &COURSE, &wish.course)?;
    check(tx, wish, &course)?;
    let grades = wish.grades.clone().unwrap_or_else(|| fields::texts(&course, "grades"));
    let metadata = metadata(wish, &course, &grades);
    let mut maker = Maker { tx, now };
    let (resource_id, child_resource_ids) = maker.resource(wish, metadata)?;
    let course_component_id = match &wish.component {
        Some(component) => component.clone(),
        None => maker.component(wish)?,
    };
    let lesson_id = maker.lesson(wish, &course_component_id, &resource_id)?;
    let (test_type, tool_provider, launch_url, vendor_id) = match &wish.content {
        TestContent::Qti(_) => (Some(TestType::Qti), None, None, None),
        TestContent::Bank(_) => (Some(TestType::AssessmentBank), None, None, None),
        TestContent::External { tool, launch_url, vendor_id, .. } => {
            (None, Some(*tool), launch_url.clone(), vendor_id.clone())
        }
    };
    Ok(CreatedTest {
        lesson_type: wish.lesson_type,
        test_type,
        lesson_id,
        course_component_id,
        resource_id,
        child_resource_ids,
        launch_url,
        tool_provider,
        vendor_id,
        grades: (!grades.is_empty()).then_some(grades),
        course_id_on_fail: wish.course_on_fail.clone(),
    })
}

fn check(tx: &mut Tx<'_>, wish: &NewTest, course: &Object) -> Result<()> {
    let mut faults = Vec::new();
    let mut fault = |path: &str, message: String| {
        faults.push(Detail { path: path.into(), message });
    };
    if let Some(id) = &wish.component {
        let of = match found(tx, &COURSE_COMPONENT, id)? {
            Some(component) => fields::reference(&component, "course").to_owned(),
            None => String::new(),
        };
        if of != wish.course {
            let message =
                format!("the course '{}' has no component with the sourcedId '{id}'", wish.course);
            fault("courseComponentSourcedId", message);
        }
    }
    if let Some(id) = &wish.course_on_fail
        && found(tx, &COURSE, id)?.is_none()
    {
        fault(
            "courseIdOnFail",
            format!("there is no course with the sourcedId '{id}'; create it first"),
        );
    }
    if wish.lesson_type == LessonType::Placement {
        if wish.grades.is_none() && fields::texts(course, "grades").is_empty() {
            fault("grades", "is required, because the course has none".into());
        }
        let named = wish.metadata.get("subject").is_some_and(Value::is_string);
        if !named && fields::texts(course, "subjects").is_empty() {
            let message = "is required, because the course has no subject";
            fault("resourceMetadata.subject", message.into());
        }
    }
    if !faults.is_empty() {
        return Err(Problem::invalid_all(faults));
    }
    if wish.lesson_type == LessonType::TestOut
        && let Some((_, lesson)) = repository::test_outs(tx, &[&wish.course])?.into_iter().next()
    {
        let message = format!(
            "the course '{}' already has the test-out lesson '{lesson}'; delete it first",
            wish.course
        );
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    Ok(())
}

fn found(tx: &mut Tx<'_>, kind: &Kind, id: &str) -> Result<Option<Object>> {
    match fields::in_use(tx, kind, id) {
        Ok(record) => Ok(Some(record)),
        Err(problem) if problem.kind == ProblemKind::NotFound => Ok(None),
        Err(problem) => Err(problem),
    }
}

/// The lesson's data in the resource's metadata.
fn metadata(wish: &NewTest, course: &Object, grades: &[String]) -> Object {
    let mut metadata = wish.metadata.clone();
    metadata.insert("lessonType".into(), wish.lesson_type.name().into());
    if !metadata.contains_key("subject")
        && let Some(subject) = fields::texts(course, "subjects").into_iter().next()
    {
        metadata.insert("subject".into(), subject.into());
    }
    if !grades.is_empty() {
        metadata.insert("grades".into(), json!(grades));
    }
    if let Some(xp) = wish.xp {
        metadata.insert("xp".into(), number(xp));
    }
    if let Some(course) = &wish.course_on_fail {
        metadata.insert("courseIdOnFail".into(), course.as_str().into());
    }
    metadata
}

struct Maker<'a, 'tx> {
    tx: &'a mut Tx<'tx>,
    now: Timestamp,
}

impl Maker<'_, '_> {
    /// The resource of the lesson, and the resources that it uses in turn.
    fn resource(&mut self, wish: &NewTest, mut metadata: Object) -> Result<(String, Vec<String>)> {
        let title = wish.lesson_title.as_deref();
        match &wish.content {
            TestContent::Qti(link) => {
                metadata.extend(link.metadata.clone().unwrap_or_default());
                let title = link.title.as_deref().or(title);
                Ok((self.test(link, title.unwrap_or_else(|| named(wish)), metadata)?, Vec::new()))
            }
            TestContent::Bank(links) => {
                let mut children = Vec::with_capacity(links.len());
                for (at, link) in links.iter().enumerate() {
                    let numbered = format!("{} {}", title.unwrap_or_else(|| named(wish)), at + 1);
                    let title = link.title.as_deref().unwrap_or(&numbered);
                    children.push(self.test(
                        link,
                        title,
                        link.metadata.clone().unwrap_or_default(),
                    )?);
                }
                metadata.insert("type".into(), "assessment-bank".into());
                metadata.insert("resources".into(), json!(children));
                let title = title.unwrap_or_else(|| named(wish));
                let own = Uuid::now_v7().to_string();
                let bank = json!({ "title": title, "vendorResourceId": own, "metadata": metadata });
                Ok((self.make(&RESOURCE, bank)?, children))
            }
            TestContent::External { tool, launch_url, vendor_id, description } => {
                metadata.insert("type".into(), "interactive".into());
                metadata.insert("toolProvider".into(), tool.name().into());
                let said = [("launchUrl", launch_url), ("description", description)];
                for (name, value) in said {
                    if let Some(value) = value {
                        metadata.insert(name.into(), value.as_str().into());
                    }
                }
                let own = || Uuid::now_v7().to_string();
                let mut resource = json!({
                    "title": title.unwrap_or_else(|| named(wish)),
                    "vendorResourceId": vendor_id.clone().unwrap_or_else(own),
                    "metadata": metadata,
                });
                if let Some(vendor) = vendor_id {
                    resource["vendorId"] = vendor.as_str().into();
                }
                Ok((self.make(&RESOURCE, resource)?, Vec::new()))
            }
        }
    }

    /// A resource that is a QTI test.
    fn test(&mut self, link: &Link, title: &str, mut metadata: Object) -> Result<String> {
        metadata.insert("type".into(), "qti".into());
        metadata.insert("subType".into(), "qti-test".into());
        metadata.insert("url".into(), link.url.as_str().into());
        let path = link.url.split(['?', '#']).next().unwrap_or_default();
        let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let test = json!({ "title": title, "vendorResourceId": last, "metadata": metadata });
        self.make(&RESOURCE, test)
    }

    /// A new component at the end of the course's top level.
    fn component(&mut self, wish: &NewTest) -> Result<String> {
        let others =
            repository::referring_to(self.tx, &COURSE_COMPONENT, "course", &[&wish.course])?;
        let title = wish.unit_title.as_deref().or(wish.lesson_title.as_deref());
        let component = json!({
            "title": title.unwrap_or_else(|| named(wish)),
            "sortOrder": next_place(&others)?,
            "course": { "sourcedId": wish.course },
        });
        self.make(&COURSE_COMPONENT, component)
    }

    /// A new lesson at the end of the component.
    fn lesson(&mut self, wish: &NewTest, component: &str, resource: &str) -> Result<String> {
        let field = "courseComponent";
        let others = repository::referring_to(self.tx, &COMPONENT_RESOURCE, field, &[component])?;
        let lesson = json!({
            "title": wish.lesson_title.as_deref().unwrap_or_else(|| named(wish)),
            "courseComponent": { "sourcedId": component },
            "resource": { "sourcedId": resource },
            "sortOrder": next_place(&others)?,
            "lessonType": wish.lesson_type.name(),
        });
        self.make(&COMPONENT_RESOURCE, lesson)
    }

    fn make(&mut self, kind: &'static Kind, record: Value) -> Result<String> {
        let rules = Rules { dialect: Dialect::Platform, now: self.now, allocate_missing_ids: true };
        let Value::Object(record) = record else {
            return Err(Problem::internal("a record is an object"));
        };
        let collection = at(kind.path).expect("every kind has a collection");
        let created = write::create(self.tx, collection, record, &rules)?;
        Ok(created.pair.allocated_sourced_id)
    }
}

fn next_place(others: &[repository::StoredRecord]) -> Result<i64> {
    let mut last = 0;
    for stored in others {
        let place = fields::of(stored)?.get("sortOrder").and_then(Value::as_i64);
        last = last.max(place.unwrap_or(0));
    }
    Ok(last.saturating_add(1))
}

fn named(wish: &NewTest) -> &'static str {
    match wish.lesson_type {
        LessonType::Powerpath100 => "Practice",
        LessonType::Quiz => "Quiz",
        LessonType::TestOut => "Test out",
        LessonType::Placement => "Placement test",
        LessonType::UnitTest => "Unit test",
        LessonType::Reading => "Reading",
    }
}
