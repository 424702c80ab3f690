//! Creates tests with one request: the resource, its place in the course, and the lesson.

use lyceum_core::json::number;
use lyceum_core::time::Timestamp;
use lyceum_core::{Detail, Dialect, Problem, ProblemKind, Result, limits};
use lyceum_roster::collections::at;
use lyceum_roster::fields;
use lyceum_roster::kind::Kind;
use lyceum_roster::kinds::{COMPONENT_RESOURCE, COURSE, COURSE_COMPONENT, RESOURCE};
use lyceum_roster::record::Object;
use lyceum_roster::repository;
use lyceum_roster::write::{self, Rules};
use lyceum_store::Tx;
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::LessonType;
use crate::input::Input;
use crate::render_config::is_address;

/// The outside tools for tests.
pub const TOOLS: [&str; 2] = ["edulastic", "mastery-track"];
/// The types of tests that are taken on this server.
pub const TEST_TYPES: [&str; 2] = ["qti", "assessment-bank"];

/// A request for a test.
#[derive(Clone, Debug)]
pub struct Wish {
    course: String,
    lesson_type: LessonType,
    lesson_title: Option<String>,
    unit_title: Option<String>,
    component: Option<String>,
    metadata: Object,
    xp: Option<f64>,
    grades: Option<Vec<String>>,
    course_on_fail: Option<String>,
    content: Content,
}

#[derive(Clone, Debug)]
enum Content {
    Qti(Link),
    Bank(Vec<Link>),
    External {
        tool: &'static str,
        launch_url: Option<String>,
        vendor_id: Option<String>,
        description: Option<String>,
    },
}

/// The address of a test.
#[derive(Clone, Debug)]
struct Link {
    url: String,
    title: Option<String>,
    metadata: Object,
}

/// The created records.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Made {
    /// The type of the lesson.
    pub lesson_type: LessonType,
    /// `qti` or `assessment-bank`, for a test that is taken on this server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_type: Option<&'static str>,
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
    pub tool_provider: Option<&'static str>,
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

impl Wish {
    /// Reads a test that is taken on this server: `{courseId, lessonType, testType, qti: {url, title?, metadata?} or
    /// assessmentBank: {resources: [the same]}, lessonTitle?, unitTitle?, courseComponentSourcedId?,
    /// resourceMetadata?, xp?, grades?, courseIdOnFail?}`.
    ///
    /// Errors: `Invalid`, with every error and its path.
    pub fn internal(body: &Object) -> Result<Self> {
        let mut input = Input::of(body);
        let names = LessonType::ALL.map(LessonType::name);
        let lesson_type = LessonType::named(input.word("lessonType", &names));
        let kind = input.word("testType", &TEST_TYPES);
        let other = if kind == "qti" { "assessmentBank" } else { "qti" };
        if !kind.is_empty() && !input.is_missing(other) {
            input.fault(other, format!("must be left out if testType is '{kind}'"));
        }
        let content = match kind {
            "qti" => input.object("qti").map(|object| {
                let mut inner = Input::of(object);
                let link = link(&mut inner);
                input.inside("qti", inner);
                Content::Qti(link)
            }),
            "assessment-bank" => input.object("assessmentBank").map(|object| {
                let mut inner = Input::of(object);
                let links = links(&mut inner);
                input.inside("assessmentBank", inner);
                Content::Bank(links)
            }),
            _ => None,
        };
        Self::read(input, lesson_type, content)
    }

    /// Reads a test that is taken with an outside tool: `{courseId, toolProvider, grades, xp, launchUrl?, vendorId?,
    /// description?, lessonTitle?, unitTitle?, courseComponentSourcedId?, resourceMetadata?, courseIdOnFail?}`. The
    /// XP of a placement test are optional.
    ///
    /// Errors: `Invalid`, with every error and its path.
    pub fn external(body: &Object, lesson_type: LessonType) -> Result<Self> {
        let mut input = Input::of(body);
        input.opt_word("lessonType", &[lesson_type.name()]);
        let launch_url = input.opt_text("launchUrl");
        if launch_url.as_deref().is_some_and(|url| !is_address(url)) {
            input.fault("launchUrl", ADDRESS);
        }
        if input.is_missing("grades") {
            input.fault("grades", "is required; send an array of grades");
        }
        if lesson_type == LessonType::TestOut && input.is_missing("xp") {
            input.fault("xp", "is required; send the XP that the test is worth");
        }
        let content = Content::External {
            tool: input.word("toolProvider", &TOOLS),
            launch_url,
            vendor_id: input.opt_text("vendorId"),
            description: input.opt_text("description"),
        };
        Self::read(input, Some(lesson_type), Some(content))
    }

    fn read(
        mut input: Input<'_>,
        lesson_type: Option<LessonType>,
        content: Option<Content>,
    ) -> Result<Self> {
        let course = input.text("courseId");
        let lesson_title = input.opt_text("lessonTitle");
        let unit_title = input.opt_text("unitTitle");
        let component = input.opt_text("courseComponentSourcedId");
        let metadata = input.opt_object("resourceMetadata").cloned().unwrap_or_default();
        let (xp, grades) = (input.opt_number("xp"), input.opt_grades("grades"));
        let course_on_fail = input.opt_text("courseIdOnFail");
        let (lesson_type, content) =
            input.done((lesson_type, content)).and_then(|(lesson_type, content)| {
                let both = lesson_type.zip(content);
                both.ok_or_else(|| Problem::internal("a test without a type was accepted"))
            })?;
        Ok(Self {
            course,
            lesson_type,
            lesson_title,
            unit_title,
            component,
            metadata,
            xp,
            grades,
            course_on_fail,
            content,
        })
    }
}

const ADDRESS: &str = "must be an address that begins with http:// or https://";

fn link(input: &mut Input<'_>) -> Link {
    let url = input.text("url");
    if !url.is_empty() && !is_address(&url) {
        input.fault("url", ADDRESS);
    }
    let metadata = input.opt_object("metadata").cloned().unwrap_or_default();
    Link { url, title: input.opt_text("title"), metadata }
}

fn links(input: &mut Input<'_>) -> Vec<Link> {
    let mut links = Vec::new();
    let resources = input.list("resources", limits::BANK_TESTS_MAX_COUNT);
    for (at, resource) in resources.iter().enumerate() {
        let path = format!("resources[{at}]");
        match resource.as_object() {
            Some(object) => {
                let mut inner = Input::of(object);
                links.push(link(&mut inner));
                input.inside(&path, inner);
            }
            None => input.fault(path, "must be an object with the url of a test"),
        }
    }
    links
}

/// Creates the test in the component that the request names, or in a new one at the end of the course.
///
/// Errors: `NotFound` for the course; `Invalid` for a component of another course, an unknown `courseIdOnFail`, and a
/// placement test without subject or grades; `Conflict` for a second test-out lesson of the course.
pub fn create(tx: &mut Tx<'_>, now: Timestamp, wish: &Wish) -> Result<Made> {
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
        Content::Qti(_) => (Some("qti"), None, None, None),
        Content::Bank(_) => (Some("assessment-bank"), None, None, None),
        Content::External { tool, launch_url, vendor_id, .. } => {
            (None, Some(*tool), launch_url.clone(), vendor_id.clone())
        }
    };
    Ok(Made {
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

fn check(tx: &mut Tx<'_>, wish: &Wish, course: &Object) -> Result<()> {
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
fn metadata(wish: &Wish, course: &Object, grades: &[String]) -> Object {
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
    fn resource(&mut self, wish: &Wish, mut metadata: Object) -> Result<(String, Vec<String>)> {
        let title = wish.lesson_title.as_deref();
        match &wish.content {
            Content::Qti(link) => {
                metadata.extend(link.metadata.clone());
                let title = link.title.as_deref().or(title);
                Ok((self.test(link, title.unwrap_or_else(|| named(wish)), metadata)?, Vec::new()))
            }
            Content::Bank(links) => {
                let mut children = Vec::with_capacity(links.len());
                for (at, link) in links.iter().enumerate() {
                    let numbered = format!("{} {}", title.unwrap_or_else(|| named(wish)), at + 1);
                    let title = link.title.as_deref().unwrap_or(&numbered);
                    children.push(self.test(link, title, link.metadata.clone())?);
                }
                metadata.insert("type".into(), "assessment-bank".into());
                metadata.insert("resources".into(), json!(children));
                let title = title.unwrap_or_else(|| named(wish));
                let own = Uuid::now_v7().to_string();
                let bank = json!({ "title": title, "vendorResourceId": own, "metadata": metadata });
                Ok((self.make(&RESOURCE, bank)?, children))
            }
            Content::External { tool, launch_url, vendor_id, description } => {
                metadata.insert("type".into(), "interactive".into());
                metadata.insert("toolProvider".into(), (*tool).into());
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
    fn component(&mut self, wish: &Wish) -> Result<String> {
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
    fn lesson(&mut self, wish: &Wish, component: &str, resource: &str) -> Result<String> {
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

fn next_place(others: &[repository::Stored]) -> Result<i64> {
    let mut last = 0;
    for stored in others {
        let place = fields::of(stored)?.get("sortOrder").and_then(Value::as_i64);
        last = last.max(place.unwrap_or(0));
    }
    Ok(last.saturating_add(1))
}

fn named(wish: &Wish) -> &'static str {
    match wish.lesson_type {
        LessonType::Powerpath100 => "Practice",
        LessonType::Quiz => "Quiz",
        LessonType::TestOut => "Test out",
        LessonType::Placement => "Placement test",
        LessonType::UnitTest => "Unit test",
        LessonType::Reading => "Reading",
    }
}
