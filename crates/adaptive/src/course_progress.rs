//! A student's results in a course, and results written by clients.

use std::collections::HashMap;

use lyceum_bridge::enroll;
use lyceum_core::body::OneLineText;
use lyceum_core::time::Timestamp;
use lyceum_core::{Detail, PayloadDialect, Problem, Reach, Result};
use lyceum_roster::collections::at;
use lyceum_roster::course_tree;
use lyceum_roster::fields;
use lyceum_roster::kinds::{
    ASSESSMENT_LINE_ITEM, ASSESSMENT_RESULT, COMPONENT_RESOURCE, COURSE, COURSE_COMPONENT,
};
use lyceum_roster::reach::keep_within;
use lyceum_roster::record::{Object, Status, members};
use lyceum_roster::render::RecordView;
use lyceum_roster::repository::{self, RecordUse};
use lyceum_roster::write::{self, WriteRules};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::lesson_list::render_record;
use crate::lesson_plans::LessonPlanItemSort;
use crate::test_out::TestOutStatus;
use crate::{gradebook, lesson, test_out};

/// A student's results in a course.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CourseProgress {
    /// The line items, in the order of the course.
    pub line_items: Vec<CourseProgressLineItem>,
    /// The state of testing out of the course.
    pub test_out: TestOutStatus,
}

/// A line item with the student's results.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CourseProgressLineItem {
    /// The lesson or component of the result.
    #[serde(rename = "type")]
    pub sort: LessonPlanItemSort,
    /// The line item's sourcedId.
    pub assessment_line_item_sourced_id: String,
    /// The component of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub course_component_sourced_id: Option<String>,
    /// The lesson of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub course_component_resource_sourced_id: Option<String>,
    /// Its title.
    pub title: String,
    /// The student's results: assessment results of OneRoster.
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub results: Vec<Value>,
}

/// A student's result in a lesson or a component.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ItemResponse {
    /// The student's sourcedId.
    #[schemars(with = "OneLineText")]
    student_id: String,
    /// The lesson's sourcedId, unless it is a result in a component.
    #[schemars(with = "Option<OneLineText>")]
    component_resource_id: Option<String>,
    /// The component's sourcedId.
    #[schemars(with = "Option<OneLineText>")]
    component_id: Option<String>,
    /// An assessment result of OneRoster without its references.
    result: Object,
}

impl ItemResponse {
    /// A result in a lesson.
    pub(crate) fn of_lesson(student: &str, lesson: &str, result: Object) -> Self {
        Self {
            student_id: student.to_owned(),
            component_resource_id: Some(lesson.to_owned()),
            component_id: None,
            result,
        }
    }
}

/// The line items of a course's components and lessons with the student's results, or only those of one lesson.
/// Errors: `NotFound`.
pub fn of(
    tx: &mut Tx<'_>,
    now: Timestamp,
    (course, student): (&str, &str),
    lesson: Option<&str>,
    view: &RecordView<'_>,
    reach: &Reach,
) -> Result<CourseProgress> {
    lesson::student(tx, student, reach)?;
    lesson::in_use(tx, &COURSE, course, "course", reach)?;
    let tree = course_tree::read(tx, course, Status::Active)?;
    let mut nodes: Vec<(&'static str, String)> = Vec::new();
    for component in &tree.components {
        nodes.push(("component", id(&component.record)?));
        for link in &component.links {
            nodes.push(("componentResource", id(&link.record)?));
        }
    }
    nodes.retain(|(_, id)| lesson.is_none_or(|lesson| id == lesson));
    let mut items = Vec::new();
    for field in ["component", "componentResource"] {
        let own = nodes.iter().filter(|(of, _)| *of == field).map(|(_, id)| id.as_str());
        let own: Vec<&str> = own.collect();
        for stored in repository::referring_to(tx, &ASSESSMENT_LINE_ITEM, field, &own)? {
            let item = fields::of(&stored)?;
            let node = (field, fields::reference(&item, field).to_owned());
            items.push((node, item));
        }
    }
    keep_within(tx, &ASSESSMENT_LINE_ITEM, reach, RecordUse::See, &mut items, |(_, item)| {
        fields::text(item, "sourcedId")
    })?;
    let places: HashMap<&(&str, String), usize> = nodes.iter().zip(0..).collect();
    items.sort_by_key(|(node, _)| places.get(node).copied());
    let ids: Vec<&str> = items.iter().map(|(_, item)| fields::text(item, "sourcedId")).collect();
    let mut results: HashMap<String, Vec<Value>> = HashMap::new();
    let students = [student];
    let (of_student, of_items) = (("student", &students[..]), ("assessmentLineItem", &ids[..]));
    for stored in repository::referring_to_both(tx, &ASSESSMENT_RESULT, of_student, of_items)? {
        let item = fields::reference(&fields::of(&stored)?, "assessmentLineItem").to_owned();
        results.entry(item).or_default().push(render_record(&stored, view)?);
    }
    let line_items = items.iter().map(|((field, node), item)| {
        let id = fields::text(item, "sourcedId");
        let is_component = *field == "component";
        CourseProgressLineItem {
            sort: if is_component {
                LessonPlanItemSort::Component
            } else {
                LessonPlanItemSort::Resource
            },
            assessment_line_item_sourced_id: id.to_owned(),
            course_component_sourced_id: is_component.then(|| node.clone()),
            course_component_resource_sourced_id: (!is_component).then(|| node.clone()),
            title: fields::text(item, "title").to_owned(),
            results: results.get(id).cloned().unwrap_or_default(),
        }
    });
    let line_items = line_items.collect();
    let learns = enroll::learns(tx, now, student, course)?;
    Ok(CourseProgress { line_items, test_out: test_out::status(tx, student, course, learns)? })
}

fn id((body, extra): &(String, Option<String>)) -> Result<String> {
    Ok(fields::text(&members(body, extra.as_deref())?, "sourcedId").to_owned())
}

/// Writes a student's result in a lesson or a component, over the one that it has of the same
/// `metadata.attempt`. Answers its sourcedId.
///
/// Errors: `Invalid`, with every fault and its path; `NotFound`; `Forbidden` for the reach of a teacher.
pub fn update(
    tx: &mut Tx<'_>,
    now: Timestamp,
    response: ItemResponse,
    reach: &Reach,
) -> Result<String> {
    let ItemResponse {
        student_id: student,
        component_resource_id: lesson,
        component_id: component,
        result,
    } = response;
    if lesson.is_some() == component.is_some() {
        let message = "send either componentResourceId or componentId";
        return Err(Problem::invalid("componentResourceId", message));
    }
    lesson::student_to_change(tx, &student, reach)?;
    let (field, about) = match (lesson, component) {
        (Some(lesson), _) => ("componentResource", lesson),
        (None, component) => ("component", component.unwrap_or_default()),
    };
    let rules = WriteRules {
        dialect: PayloadDialect::Platform,
        now,
        allocate_missing_ids: false,
        reach: reach.clone(),
    };
    let item = line_item(tx, &rules, field, &about)?;
    let attempt = |record: &Object| fields::metadata(record).get("attempt").cloned();
    let wanted = attempt(&result);
    let (students, items) = ([student.as_str()], [item.as_str()]);
    let (of_student, of_item) =
        (("student", students.as_slice()), ("assessmentLineItem", items.as_slice()));
    let mut known = None;
    for stored in repository::referring_to_both(tx, &ASSESSMENT_RESULT, of_student, of_item)? {
        let record = fields::of(&stored)?;
        if attempt(&record) == wanted {
            known = Some(fields::text(&record, "sourcedId").to_owned());
        }
    }
    let id = known.unwrap_or_else(|| Uuid::now_v7().to_string());
    let mut record = result;
    record.insert("sourcedId".into(), id.as_str().into());
    record.insert("student".into(), json!({ "sourcedId": student }));
    record.insert("assessmentLineItem".into(), json!({ "sourcedId": item }));
    let results = at(ASSESSMENT_RESULT.path).expect("every kind has a collection");
    write::put(tx, results, &id, record, None, true, &rules).map_err(as_sent)?;
    Ok(id)
}

/// The line item of a lesson or a component. Creates it if it is missing.
fn line_item(tx: &mut Tx<'_>, rules: &WriteRules, field: &str, about: &str) -> Result<String> {
    let (kind, called) = match field {
        "component" => (&COURSE_COMPONENT, "component"),
        _ => (&COMPONENT_RESOURCE, "lesson"),
    };
    let record = lesson::in_use(tx, kind, about, called, &rules.reach)?;
    for stored in repository::referring_to(tx, &ASSESSMENT_LINE_ITEM, field, &[about])? {
        let item = fields::of(&stored)?;
        if fields::reference(&item, "parentAssessmentLineItem").is_empty() {
            return Ok(fields::text(&item, "sourcedId").to_owned());
        }
    }
    let component = match field {
        "component" => record.clone(),
        _ => fields::in_use(tx, &COURSE_COMPONENT, fields::reference(&record, "courseComponent"))?,
    };
    let id = gradebook::lesson_item(about);
    let Value::Object(item) = json!({
        "sourcedId": id,
        "title": fields::text(&record, "title"),
        field: { "sourcedId": about },
        "course": { "sourcedId": fields::reference(&component, "course") },
        "resultValueMin": 0,
        "resultValueMax": 100,
    }) else {
        return Err(Problem::internal("a record is an object"));
    };
    let items = at(ASSESSMENT_LINE_ITEM.path).expect("every kind has a collection");
    // The item is that of everybody who works on the lesson, and it follows from the lesson alone.
    let rules = WriteRules { reach: Reach::Everything, ..*rules };
    write::put(tx, items, &id, item, None, true, &rules)?;
    Ok(id)
}

/// Prefixes the paths of errors with the path in the request.
fn as_sent(problem: Problem) -> Problem {
    if problem.details.is_empty() {
        return problem;
    }
    let path = |path: &str| path.replacen("assessmentResult", "result", 1);
    let sent = problem.details.into_iter();
    let sent = sent.map(|Detail { path: at, message }| Detail { path: path(&at), message });
    Problem::invalid_all(sent.collect())
}
