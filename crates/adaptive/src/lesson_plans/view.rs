//! Renders plans for clients. The text is written level by level without recursion, because nesting is not limited.

use std::collections::HashMap;

use lyceum_core::{Problem, Reach, Result};
use lyceum_roster::fields;
use lyceum_roster::kind::RecordKind;
use lyceum_roster::kinds::{COMPONENT_RESOURCE, COURSE, COURSE_COMPONENT, RESOURCE};
use lyceum_roster::record::Object;
use lyceum_roster::render::RecordView;
use lyceum_roster::repository;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde_json::{Map, Value};

use super::operation::LessonPlanItemSort;
use super::tree::{PlanItem, PlanTree};
use super::{StoredLessonPlan, copy, get};
use crate::gradebook;
use crate::repository::lesson_plans as plans;

/// A plan as JSON text.
pub type PlanJson = String;

/// The visible part of a lesson plan, for the API document.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "plans are written as text")]
pub struct LessonPlan {
    /// Its id.
    id: String,
    /// The course's sourcedId.
    course_id: String,
    /// The student's sourcedId.
    user_id: String,
    /// The class's sourcedId, if one was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    class_id: Option<String>,
    /// The course's record.
    course: Map<String, Value>,
    /// The components as records of OneRoster, each with skipped, componentResources and subComponents.
    sub_components: Vec<Map<String, Value>>,
}

/// The complete structure of a plan, for the API document.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "plans are written as text")]
pub struct LessonPlanStructure {
    /// Its id.
    id: String,
    /// The course's sourcedId.
    course_id: String,
    /// The course's title.
    course_title: String,
    /// Its components.
    structure: Vec<LessonPlanNode>,
}

/// A component or resource of a plan, for the API document.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "plans are written as text")]
struct LessonPlanNode {
    /// The sort of the item.
    #[serde(rename = "type")]
    sort: LessonPlanItemSort,
    /// Its title.
    title: String,
    /// Its place among its siblings.
    order: String,
    /// Whether it is hidden.
    skipped: bool,
    /// Its id in the plan.
    item_id: String,
    /// The component's sourcedId.
    #[serde(skip_serializing_if = "Option::is_none")]
    component_id: Option<String>,
    /// The component resource's sourcedId.
    #[serde(skip_serializing_if = "Option::is_none")]
    component_resource_id: Option<String>,
    /// The sourcedId of a resource that the course does not use.
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_id: Option<String>,
    /// Its resources.
    #[serde(skip_serializing_if = "Option::is_none")]
    component_resources: Option<Vec<LessonPlanNode>>,
    /// The components below it.
    #[serde(skip_serializing_if = "Option::is_none")]
    sub_components: Option<Vec<LessonPlanNode>>,
}

/// The plan as the student sees it: a [`LessonPlan`].
pub fn tree(tx: &mut Tx<'_>, plan: &StoredLessonPlan, view: &RecordView<'_>) -> Result<PlanJson> {
    let tree = as_graded(tx, &plan.tree, &plan.user)?;
    let items = visible_items(&tree);
    let course = records(tx, &COURSE, std::iter::once(plan.course.as_str()), view)?;
    let known = KnownRecords::of(tx, &items, view)?;
    let mut head = head(plan);
    head.insert("userId".into(), plan.user.as_str().into());
    if let Some(class) = &plan.class {
        head.insert("classId".into(), class.as_str().into());
    }
    head.insert("course".into(), course.get(&plan.course).cloned().unwrap_or_default().into());
    Ok(nested(head, "subComponents", &items, |item, _| known.record_of(item)))
}

/// Everything that a plan holds, hidden items too: a [`LessonPlanStructure`]. Errors: `NotFound`.
pub fn structure(
    tx: &mut Tx<'_>,
    id: &str,
    view: &RecordView<'_>,
    reach: &Reach,
) -> Result<PlanJson> {
    let plan = get(tx, id, reach)?;
    let tree = as_graded(tx, &plan.tree, &plan.user)?;
    let items: Vec<&PlanItem> = tree.0.iter().collect();
    let course = records(tx, &COURSE, std::iter::once(plan.course.as_str()), view)?;
    let title = course.get(&plan.course).map(|course| fields::text(course, "title").to_owned());
    let known = KnownRecords::of(tx, &items, view)?;
    let mut head = head(&plan);
    head.insert("courseTitle".into(), title.unwrap_or_default().into());
    Ok(nested(head, "structure", &items, |item, order| {
        let record = known.record(item)?;
        let mut node = Object::new();
        node.insert("type".into(), item.sort.name().into());
        node.insert("title".into(), fields::text(record, "title").into());
        node.insert("order".into(), order.to_string().into());
        node.insert("skipped".into(), item.skipped.into());
        node.insert("itemId".into(), item.id.as_str().into());
        let name = match (item.sort, item.is_custom) {
            (LessonPlanItemSort::Component, _) => "componentId",
            (LessonPlanItemSort::Resource, false) => "componentResourceId",
            (LessonPlanItemSort::Resource, true) => "resourceId",
        };
        node.insert(name.into(), item.id.as_str().into());
        Some(node)
    }))
}

fn head(plan: &StoredLessonPlan) -> Object {
    let mut head = Object::new();
    head.insert("id".into(), plan.id.as_str().into());
    head.insert("courseId".into(), plan.course.as_str().into());
    head
}

/// The items of a course that a student sees, in reading order: those of the student's lesson plan, otherwise those of
/// the course itself. Errors: `NotFound` for a deleted course.
pub(crate) fn items_of_student(
    tx: &mut Tx<'_>,
    course: &str,
    student: &str,
) -> Result<Vec<PlanItem>> {
    let tree = match plans::of(tx, course, student)? {
        Some(plan) => plan.tree,
        None => copy(tx, course)?,
    };
    let tree = as_graded(tx, &tree, student)?;
    Ok(visible_items(&tree).into_iter().cloned().collect())
}

/// The tree without the lessons from which the gradebook exempts the student.
fn as_graded(tx: &mut Tx<'_>, tree: &PlanTree, student: &str) -> Result<PlanTree> {
    let lessons =
        tree.0.iter().filter(|item| item.sort == LessonPlanItemSort::Resource && !item.is_custom);
    let lessons: Vec<&str> = lessons.map(|item| item.id.as_str()).collect();
    Ok(tree.skipping(&gradebook::exempt(tx, student, &lessons)?))
}

/// The items that are neither skipped nor below a skipped item.
fn visible_items(tree: &PlanTree) -> Vec<&PlanItem> {
    let mut hidden = None;
    let is_seen = |item: &&PlanItem| {
        if hidden.is_some_and(|depth| item.depth > depth) {
            return false;
        }
        hidden = item.skipped.then_some(item.depth);
        !item.skipped
    };
    tree.0.iter().filter(is_seen).collect()
}

/// The records of items, as clients read them.
struct KnownRecords {
    components: HashMap<String, Object>,
    links: HashMap<String, Object>,
    resources: HashMap<String, Object>,
}

impl KnownRecords {
    /// Loads the records with three statements.
    fn of(tx: &mut Tx<'_>, items: &[&PlanItem], view: &RecordView<'_>) -> Result<Self> {
        let ids = |sort: LessonPlanItemSort, is_custom: bool| {
            let matching = items.iter().filter(move |i| i.sort == sort && i.is_custom == is_custom);
            matching.map(|item| item.id.as_str())
        };
        let components =
            records(tx, &COURSE_COMPONENT, ids(LessonPlanItemSort::Component, false), view)?;
        let links =
            records(tx, &COMPONENT_RESOURCE, ids(LessonPlanItemSort::Resource, false), view)?;
        let used = links.values().map(|link| fields::reference(link, "resource"));
        let used = used.chain(ids(LessonPlanItemSort::Resource, true)).collect::<Vec<_>>();
        let resources = records(tx, &RESOURCE, used.into_iter(), view)?;
        Ok(Self { components, links, resources })
    }

    fn record(&self, item: &PlanItem) -> Option<&Object> {
        match (item.sort, item.is_custom) {
            (LessonPlanItemSort::Component, _) => self.components.get(&item.id),
            (LessonPlanItemSort::Resource, false) => self.links.get(&item.id),
            (LessonPlanItemSort::Resource, true) => self.resources.get(&item.id),
        }
    }

    fn record_of(&self, item: &PlanItem) -> Option<Object> {
        let mut shown = self.record(item)?.clone();
        if item.sort == LessonPlanItemSort::Resource {
            let resource = match item.is_custom {
                true => &item.id,
                false => fields::reference(&shown, "resource"),
            };
            let resource = self.resources.get(resource)?.clone();
            shown.insert("resource".into(), resource.into());
        }
        shown.insert("skipped".into(), item.skipped.into());
        Some(shown)
    }
}

fn records<'a>(
    tx: &mut Tx<'_>,
    kind: &RecordKind,
    ids: impl Iterator<Item = &'a str>,
    view: &RecordView<'_>,
) -> Result<HashMap<String, Object>> {
    let ids: Vec<&str> = ids.collect();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let stored = repository::present(tx, kind, &ids)?;
    let shown = stored.into_iter().map(|(id, stored)| {
        let mut text = String::new();
        view.render(&stored.body, stored.extra.as_deref(), &mut text)?;
        Ok((id, serde_json::from_str(&text).map_err(Problem::internal)?))
    });
    shown.collect()
}

/// Writes the items below the head. Items whose records no longer exist are left out, with everything below them.
fn nested(
    head: Object,
    name: &str,
    items: &[&PlanItem],
    shown: impl Fn(&PlanItem, usize) -> Option<Object>,
) -> PlanJson {
    let mut out = String::new();
    open(head, name, &mut out);
    // For each open list: the number of its items, and whether it is a list of resources.
    let mut lists = vec![(0, LessonPlanItemSort::Component)];
    let mut depth_without_record = None;
    for item in items {
        if depth_without_record.is_some_and(|depth| item.depth > depth) {
            continue;
        }
        // A component first opens the list of its resources. The list of its subcomponents follows.
        while lists.len() > item.depth + 1 {
            close(&mut lists, &mut out);
        }
        if item.sort == LessonPlanItemSort::Component
            && let Some((count, sort @ LessonPlanItemSort::Resource)) = lists.last_mut()
        {
            out.push_str("],\"subComponents\":[");
            (*count, *sort) = (0, LessonPlanItemSort::Component);
        }
        let order = lists.last().map_or(0, |(count, _)| *count) + 1;
        let Some(node) = shown(item, order) else {
            depth_without_record = Some(item.depth);
            continue;
        };
        depth_without_record = None;
        if let Some((count, _)) = lists.last_mut() {
            if *count > 0 {
                out.push(',');
            }
            *count += 1;
        }
        match item.sort {
            LessonPlanItemSort::Resource => out.push_str(&Value::Object(node).to_string()),
            LessonPlanItemSort::Component => {
                open(node, "componentResources", &mut out);
                lists.push((0, LessonPlanItemSort::Resource));
            }
        }
    }
    while lists.len() > 1 {
        close(&mut lists, &mut out);
    }
    out.push_str("]}");
    out
}

/// Closes the component of the innermost list.
fn close(lists: &mut Vec<(usize, LessonPlanItemSort)>, out: &mut String) {
    match lists.pop() {
        Some((_, LessonPlanItemSort::Resource)) => out.push_str("],\"subComponents\":[]}"),
        _ => out.push_str("]}"),
    }
}

/// Appends the object up to the open list with that name.
fn open(mut node: Object, name: &str, out: &mut String) {
    for list in ["componentResources", "subComponents"] {
        node.shift_remove(list);
    }
    let text = Value::Object(node).to_string();
    out.push_str(&text[..text.len() - 1]);
    out.push_str(",\"");
    out.push_str(name);
    out.push_str("\":[");
}
