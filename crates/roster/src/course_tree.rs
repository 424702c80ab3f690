//! A course with its components, their resources and their order, read from the store.

use std::collections::HashMap;

use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_store::Tx;
use serde::Deserialize;

use crate::fields;
use crate::kinds::COURSE;
use crate::limits;
use crate::record::Status;
use crate::repository::{self, RecordTexts};

/// A course as a tree. Its components are a list in reading order, each with its depth:
/// nesting has no bound, so nothing here recurses.
#[derive(Clone, Debug)]
pub struct CourseTree {
    /// The course.
    pub course: RecordTexts,
    /// Its components, each before its parts.
    pub components: Vec<PlacedComponent>,
    /// The resources that its components use, each once.
    pub resources: Vec<RecordTexts>,
}

/// A component in its place.
#[derive(Clone, Debug)]
pub struct PlacedComponent {
    /// 0 at the top of the course.
    pub depth: usize,
    /// The record.
    pub record: RecordTexts,
    /// Its resources, in order.
    pub links: Vec<PlacedResource>,
}

/// A component resource in its place.
#[derive(Clone, Debug)]
pub struct PlacedResource {
    /// The record.
    pub record: RecordTexts,
    /// The number of its resource in [`CourseTree::resources`].
    pub resource: usize,
}

/// The values of a stored component or component resource that decide its place.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CourseNodeRow {
    pub(crate) sourced_id: String,
    pub(crate) title: String,
    pub(crate) sort_order: Option<i64>,
    pub(crate) status: String,
    pub(crate) parent: Option<ReferenceId>,
    pub(crate) course_component: Option<ReferenceId>,
    pub(crate) resource: Option<ReferenceId>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReferenceId {
    pub(crate) sourced_id: String,
}

impl CourseNodeRow {
    fn read((body, _): &RecordTexts) -> Result<Self> {
        serde_json::from_str(body).map_err(Problem::internal)
    }

    /// Siblings stand by `sortOrder`, those without one last, then by title and sourcedId.
    fn rank(&self) -> (bool, Option<i64>, &str, &str) {
        (self.sort_order.is_none(), self.sort_order, &self.title, &self.sourced_id)
    }
}

/// Reads the tree of a course with four statements.
///
/// `Active` shows the components and component resources that are in use; what lies in a deleted
/// component is deleted with it. `ToBeDeleted` shows the deleted ones below those that they were in.
///
/// Errors: `NotFound`, for a deleted course too; `TooLarge` above [`limits::COURSE_MAX_NODES`].
pub fn read(tx: &mut Tx<'_>, course: &str, status: Status) -> Result<CourseTree> {
    let stored = fields::stored_in_use(tx, &COURSE, course)?;
    let components = placed(repository::components(tx, course)?)?;
    let links = placed(repository::component_resources(tx, course, status)?)?;
    if components.len() + links.len() > limits::COURSE_MAX_NODES {
        return Err(too_many(course));
    }
    let resources = repository::resources(tx, course, status)?;
    let mut links = links_by_component(links, &resources)?;
    let order = match status {
        Status::Active => walk(&components, |place| place.status == status.as_str()),
        Status::ToBeDeleted => {
            let all = walk(&components, |_| true);
            kept_rows(all, &components, |place| {
                place.status == status.as_str() || links.contains_key(&place.sourced_id)
            })
        }
    };
    let mut records: Vec<_> = components.into_iter().map(Some).collect();
    let components = order.into_iter().map(|(at, depth)| {
        let (place, record) = records[at].take().expect("a walk meets each component once");
        let links = links.remove(&place.sourced_id).unwrap_or_default();
        PlacedComponent { depth, record, links }
    });
    Ok(CourseTree {
        course: (stored.body, stored.extra),
        components: components.collect(),
        resources,
    })
}

fn too_many(course: &str) -> Problem {
    Problem::new(
        ProblemKind::TooLarge,
        message!(
            "the course '{course}' has more than {most} components and component resources; page \
             through /courses/components?filter=course.sourcedId='{course}' instead",
            most = limits::COURSE_MAX_NODES
        ),
    )
}

/// The records with their places, siblings in order.
fn placed(records: Vec<RecordTexts>) -> Result<Vec<(CourseNodeRow, RecordTexts)>> {
    let mut placed = records
        .into_iter()
        .map(|record| Ok((CourseNodeRow::read(&record)?, record)))
        .collect::<Result<Vec<_>>>()?;
    placed.sort_by(|(a, _), (b, _)| a.rank().cmp(&b.rank()));
    Ok(placed)
}

fn links_by_component(
    links: Vec<(CourseNodeRow, RecordTexts)>,
    resources: &[RecordTexts],
) -> Result<HashMap<String, Vec<PlacedResource>>> {
    let mut numbers = HashMap::with_capacity(resources.len());
    for (number, (body, _)) in resources.iter().enumerate() {
        let target: ReferenceId = serde_json::from_str(body).map_err(Problem::internal)?;
        numbers.insert(target.sourced_id, number);
    }
    let mut by_component: HashMap<String, Vec<PlacedResource>> = HashMap::new();
    for (place, record) in links {
        let (Some(component), Some(resource)) = (place.course_component, place.resource) else {
            return Err(Problem::internal("a stored component resource lacks its references"));
        };
        // A purge keeps what active records refer to; a deleted one may have lost its resource.
        if let Some(resource) = numbers.get(&resource.sourced_id) {
            let link = PlacedResource { record, resource: *resource };
            by_component.entry(component.sourced_id).or_default().push(link);
        }
    }
    Ok(by_component)
}

/// The numbers and depths of the components from the top down, leaving out those that `enters`
/// refuses and what is in them. A component whose parent belongs to another course is at the top.
fn walk(
    components: &[(CourseNodeRow, RecordTexts)],
    enters: impl Fn(&CourseNodeRow) -> bool,
) -> Vec<(usize, usize)> {
    let numbers: HashMap<&str, usize> =
        components.iter().enumerate().map(|(at, (p, _))| (p.sourced_id.as_str(), at)).collect();
    let mut parts: Vec<Vec<usize>> = vec![Vec::new(); components.len()];
    let mut waiting = Vec::new();
    for (at, (place, _)) in components.iter().enumerate().rev() {
        let parent = place.parent.as_ref().and_then(|p| numbers.get(p.sourced_id.as_str()));
        match parent {
            Some(parent) => parts[*parent].push(at),
            None => waiting.push((at, 0)),
        }
    }
    let mut order = Vec::with_capacity(components.len());
    while let Some((at, depth)) = waiting.pop() {
        if enters(&components[at].0) {
            order.push((at, depth));
            waiting.extend(parts[at].iter().map(|part| (*part, depth + 1)));
        }
    }
    order
}

/// The rows of the order that are needed, and those above them.
fn kept_rows(
    order: Vec<(usize, usize)>,
    components: &[(CourseNodeRow, RecordTexts)],
    wanted: impl Fn(&CourseNodeRow) -> bool,
) -> Vec<(usize, usize)> {
    let mut kept = Vec::new();
    // Backwards, a kept component at depth d is met before the one above it, the next at d - 1.
    let mut above = None;
    for (at, depth) in order.into_iter().rev() {
        if above == Some(depth) || wanted(&components[at].0) {
            above = depth.checked_sub(1);
            kept.push((at, depth));
        }
    }
    kept.reverse();
    kept
}
