//! Reads the nodes of a course structure as records.

use std::collections::HashMap;

use lyceum_core::{Detail, Message, Problem, ProblemKind, Result, message, messages};
use serde_json::{Value, json};
use uuid::Uuid;

use super::cut::{self, CutObject, ObjectSlot};
use super::{BodyPosition, Structure, inside, path, sorts};
use crate::limits;
use crate::record::{ModifiedTime, Object, Record};
use crate::syllabus::{LINKS, PARTS};
use crate::write::{SourcedIdPair, WriteRules};

/// The namespace of the ids of nodes, which are derived from the id of the parent and a number.
const NAMESPACE: Uuid = Uuid::from_u128(0x1f2c_7a4e_52c9_4f51_8a3d_90f7_66c4_0b9e);

/// The indexes of [`sorts`].
const RESOURCES: usize = 0;
const COURSES: usize = 1;
const COMPONENTS: usize = 2;
const LINKED: usize = 3;

/// A component that is not a record yet.
struct ComponentDraft {
    node: usize,
    /// The index of the node that contains it.
    of: usize,
    component: Object,
    /// Component resources, with the resource if it was sent as a whole record.
    links: Vec<(Object, Option<Object>)>,
}

/// The errors found so far, with their places.
struct StructureErrors<'a> {
    nodes: &'a [CutObject],
    found: Vec<Detail>,
}

impl StructureErrors<'_> {
    fn at(&mut self, position: BodyPosition, member: &str, message: impl Into<Message>) {
        let path = format!("{}.{member}", path(self.nodes, position));
        self.found.push(Detail { path, message: message.into() });
    }

    fn of_record(&mut self, position: BodyPosition, problem: &Problem) {
        self.found.extend(problem.details.iter().map(|detail| Detail {
            path: inside(self.nodes, position, &detail.path),
            message: detail.message.clone(),
        }));
    }

    /// Stops when there are more errors than a person would read.
    fn refuse_if(&mut self, enough: usize) -> Result<()> {
        if self.found.len() < enough {
            return Ok(());
        }
        self.found.truncate(limits::COURSE_MAX_REPORTED_FAULTS);
        Err(Problem::invalid_all(std::mem::take(&mut self.found)))
    }
}

pub(super) fn structure(body: &str, rules: &WriteRules) -> Result<Structure> {
    let nodes = cut::cut_objects(body)?;
    let top = |slot| nodes.iter().position(|node| node.slot == slot);
    let (Some(course_node), Some(root)) = (top(ObjectSlot::Course), top(ObjectSlot::Structure))
    else {
        let missing = if top(ObjectSlot::Course).is_none() { "course" } else { "courseStructure" };
        let form = "{\"course\": {…}, \"courseStructure\": {\"subComponents\": […]}}";
        return Err(Problem::invalid(missing, message!("is required; send {form}")));
    };
    let mut faults = StructureErrors { nodes: &nodes, found: Vec::new() };
    let mut course = object(&nodes, course_node)?;
    course.shift_remove(PARTS);
    let supplied = course.get("sourcedId").and_then(Value::as_str).map(str::to_owned);
    if supplied.is_none() && rules.allocate_missing_ids {
        course.insert("sourcedId".into(), Uuid::now_v7().to_string().into());
    }
    let id = text(&course, "sourcedId").to_owned();
    check_root(&object(&nodes, root)?, root, &id, &mut faults);
    let mut drafts = drafts(&nodes, root, &id, &mut faults)?;
    number_parts(&mut drafts);
    let sorts = records(&course, course_node, drafts, rules, &mut faults)?;
    faults.refuse_if(1)?;
    let supplied = supplied.unwrap_or_else(|| id.clone());
    let pair = SourcedIdPair { supplied_sourced_id: supplied, allocated_sourced_id: id };
    Ok(Structure { nodes, pair, sorts })
}

fn object(nodes: &[CutObject], node: usize) -> Result<Object> {
    serde_json::from_str(&nodes[node].text).map_err(|error| {
        let path = cut::path(nodes, node);
        Problem::new(ProblemKind::Malformed, message!("{path} cannot be read: {error}"))
    })
}

fn text<'a>(object: &'a Object, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn check_root(root: &Object, node: usize, course: &str, faults: &mut StructureErrors<'_>) {
    let position = BodyPosition { node, link: None, resource: false };
    if root.get("sourcedId").is_some_and(|id| id != course) {
        faults.at(
            position,
            "sourcedId",
            message!("must be '{course}', the sourcedId of the course"),
        );
    }
    if root.get(LINKS).is_some_and(|links| !links.is_null() && *links != json!([])) {
        faults.at(position, LINKS, "must be in a component; move them into one of subComponents");
    }
    if root.get(PARTS).is_none_or(|parts| !parts.is_array()) {
        faults.at(position, PARTS, "is required; send the array of the top-level components");
    }
}

/// The components of the structure, with ids and references that their places determine.
fn drafts(
    nodes: &[CutObject],
    root: usize,
    course: &str,
    faults: &mut StructureErrors<'_>,
) -> Result<Vec<ComponentDraft>> {
    let mut ids = HashMap::from([(root, course.to_owned())]);
    let mut drafts = Vec::new();
    let mut count = 0;
    for (node, CutObject { slot, .. }) in nodes.iter().enumerate() {
        let ObjectSlot::Part { of, number } = *slot else { continue };
        // Skip parts of other members, such as of a course that was sent as a whole syllabus.
        let Some(above) = ids.get(&of) else { continue };
        let position = BodyPosition { node, link: None, resource: false };
        let mut component = object(nodes, node)?;
        if component.shift_remove(PARTS).is_some_and(|parts| !parts.is_array() && !parts.is_null())
        {
            faults.at(position, PARTS, messages::MUST_BE_ARRAY);
        }
        let id = give_id(&mut component, above, "subComponent", number);
        refer(&mut component, "course", Some(course), position, faults);
        let parent = (of != root).then_some(above.as_str());
        refer(&mut component, "parent", parent, position, faults);
        let links = links(&mut component, &id, position, faults);
        ids.insert(node, id);
        count += 1 + links.len();
        if count > limits::COURSE_MAX_NODES {
            return Err(cut::too_many());
        }
        drafts.push(ComponentDraft { node, of, component, links });
        faults.refuse_if(limits::COURSE_MAX_REPORTED_FAULTS)?;
    }
    Ok(drafts)
}

fn links(
    component: &mut Object,
    id: &str,
    position: BodyPosition,
    faults: &mut StructureErrors<'_>,
) -> Vec<(Object, Option<Object>)> {
    let links = match component.shift_remove(LINKS) {
        None | Some(Value::Null) => return Vec::new(),
        Some(Value::Array(links)) => links,
        Some(_) => {
            faults.at(position, LINKS, messages::MUST_BE_ARRAY);
            return Vec::new();
        }
    };
    let mut read = Vec::with_capacity(links.len());
    for (number, link) in links.into_iter().enumerate() {
        let Value::Object(mut link) = link else {
            faults.at(position, &format!("{LINKS}[{number}]"), messages::MUST_BE_OBJECT);
            continue;
        };
        let position = BodyPosition { link: Some(number), ..position };
        let link_id = give_id(&mut link, id, "componentResource", number);
        refer(&mut link, "courseComponent", Some(id), position, faults);
        let resource = match link.get_mut("resource") {
            Some(Value::Object(resource)) if !is_reference(resource) => {
                let mut resource = std::mem::take(resource);
                let id = give_id(&mut resource, &link_id, "resource", 0);
                link.insert("resource".into(), json!({ "sourcedId": id }));
                Some(resource)
            }
            _ => None,
        };
        read.push((link, resource));
    }
    number_in_order(read.iter_mut().map(|(link, _)| link).collect());
    read
}

fn is_reference(object: &Object) -> bool {
    object.keys().all(|name| matches!(name.as_str(), "sourcedId" | "type" | "href"))
}

/// The id of the object. A missing id is derived from the parent's id and the number.
fn give_id(object: &mut Object, around: &str, what: &str, number: usize) -> String {
    if object.get("sourcedId").is_none_or(Value::is_null) {
        let name = format!("{around}\0{what}\0{number}");
        let id = Uuid::new_v5(&NAMESPACE, name.as_bytes()).to_string();
        object.insert("sourcedId".into(), id.into());
    }
    text(object, "sourcedId").to_owned()
}

/// Sets a reference that is determined by the place. If the client sent one, it must be the same.
fn refer(
    object: &mut Object,
    name: &str,
    target: Option<&str>,
    position: BodyPosition,
    faults: &mut StructureErrors<'_>,
) {
    let sent = object.get(name).filter(|value| !value.is_null());
    let sent_id = sent.map(|value| value.get("sourcedId").and_then(Value::as_str));
    if sent_id.is_some_and(|id| id != target) {
        let message = match target {
            Some(target) => message!("must be '{target}', according to its place"),
            None => "must be null at the top level".into(),
        };
        faults.at(position, name, message);
    }
    let target = target.map_or(Value::Null, |id| json!({ "sourcedId": id }));
    object.insert(name.into(), target);
}

fn number_parts(drafts: &mut [ComponentDraft]) {
    let mut siblings: HashMap<usize, Vec<&mut Object>> = HashMap::new();
    for draft in drafts {
        siblings.entry(draft.of).or_default().push(&mut draft.component);
    }
    for siblings in siblings.into_values() {
        number_in_order(siblings);
    }
}

/// Adds `sortOrder` to siblings that were sent without any and would be listed in a different order than they were
/// sent.
fn number_in_order(siblings: Vec<&mut Object>) {
    let rank =
        |object: &Object| (text(object, "title").to_owned(), text(object, "sourcedId").to_owned());
    let are_numbered = siblings.iter().any(|o| o.get("sortOrder").is_some_and(|n| !n.is_null()));
    if are_numbered || siblings.is_sorted_by_key(|object| rank(object)) {
        return;
    }
    for (object, number) in siblings.into_iter().zip(1..) {
        object.insert("sortOrder".into(), Value::from(number));
    }
}

fn records(
    course: &Object,
    course_node: usize,
    drafts: Vec<ComponentDraft>,
    rules: &WriteRules,
    faults: &mut StructureErrors<'_>,
) -> Result<[super::KindRecords; 4]> {
    let mut sorts = sorts();
    let mut add = |sort: usize, object: &Object, position: BodyPosition| -> Result<()> {
        let kind = sorts[sort].kind;
        match Record::parse(kind, object, rules.dialect, ModifiedTime::Now(rules.now)) {
            Ok(record) => {
                if let Err(message) = sorts[sort].add(record, position) {
                    faults.at(position, "sourcedId", message);
                }
            }
            Err(problem) => faults.of_record(position, &problem),
        }
        faults.refuse_if(limits::COURSE_MAX_REPORTED_FAULTS)
    };
    add(COURSES, course, BodyPosition { node: course_node, link: None, resource: false })?;
    for ComponentDraft { node, component, links, .. } in drafts {
        add(COMPONENTS, &component, BodyPosition { node, link: None, resource: false })?;
        for (number, (link, resource)) in links.iter().enumerate() {
            let position = BodyPosition { node, link: Some(number), resource: false };
            add(LINKED, link, position)?;
            if let Some(resource) = resource {
                add(RESOURCES, resource, BodyPosition { resource: true, ..position })?;
            }
        }
    }
    Ok(sorts)
}
