//! A course: its tree in order, the standards that it covers, its classes.

use std::collections::{BTreeMap, HashMap};

use lyceum_core::time::Timestamp;
use lyceum_core::{Reach, Result};
use lyceum_roster::course_tree::{self, CourseTree};
use lyceum_roster::fields;
use lyceum_roster::record::{Object, Status, members};
use lyceum_roster::repository::RecordTexts;
use lyceum_roster::screens::classes::{self, ListedClass};
use lyceum_roster::screens::courses::{self, ListedCourse};
use lyceum_store::Tx;

use crate::alignment::{self, Statement};

/// A component of a course, or a lesson or material in it, in the order of the tree.
#[derive(Clone, Debug, Default)]
pub struct CourseNode {
    /// The position in the tree, such as `2.1`.
    pub place: String,
    /// The sourcedId.
    pub id: String,
    /// The title.
    pub title: String,
    /// The type of the lesson or material; empty for components.
    pub kind: String,
    /// The depth in the tree, from 0.
    pub depth: usize,
    /// Whether the node is a component.
    pub is_component: bool,
    /// The standards that the node covers.
    pub standards: Vec<CourseStandard>,
}

/// A standard of a framework.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CourseStandard {
    /// The identifier of the `CFItem`.
    pub item: String,
    /// The code, or the first words of a statement without a code.
    pub code: String,
    /// The statement.
    pub states: String,
}

/// A standard and the parts of the course that cover it.
#[derive(Clone, Debug)]
pub struct CoveredStandard {
    /// The standard.
    pub standard: CourseStandard,
    /// The places and titles of the parts that cover the standard. The place is empty for the course itself.
    pub by: Vec<(String, String)>,
}

/// Characters of a statement that stand for a code if there is none.
const CODE_CHARS: usize = 24;

/// The content of the page.
#[derive(Clone, Debug)]
pub struct CourseContent {
    /// The course.
    pub course: ListedCourse,
    /// Its components and what they hold, in order.
    pub nodes: Vec<CourseNode>,
    /// The number of nodes that are components.
    pub component_count: usize,
    /// The standards that the course, its components, their resources or links cover, by code.
    pub covered: Vec<CoveredStandard>,
    /// Its active classes, by school and title.
    pub classes: Vec<ListedClass>,
}

/// Reads the page. Errors: `NotFound`.
pub fn read(tx: &mut Tx<'_>, now: Timestamp, id: &str, reach: &Reach) -> Result<CourseContent> {
    let course = courses::one(tx, id, reach)?;
    let tree = course_tree::read(tx, id, Status::Active)?;
    let coverage = Coverage::of(tx, &tree)?;
    let nodes = nodes(&tree, &coverage)?;
    Ok(CourseContent {
        component_count: nodes.iter().filter(|node| node.is_component).count(),
        covered: covered(&nodes, &coverage.standards("course", id)),
        classes: classes::of_course(tx, now, id, reach)?,
        course,
        nodes,
    })
}

/// The standards that the records of a tree cover, by kind and sourcedId.
struct Coverage(HashMap<&'static str, HashMap<String, Vec<Statement>>>);

impl Coverage {
    fn of(tx: &mut Tx<'_>, tree: &CourseTree) -> Result<Self> {
        let links = || tree.components.iter().flat_map(|component| &component.links);
        let components = tree.components.iter().map(|component| &component.record);
        let mut covered = HashMap::new();
        for (kind, texts) in [
            ("course", vec![&tree.course]),
            ("courseComponent", components.collect()),
            ("componentResource", links().map(|link| &link.record).collect()),
            ("resource", tree.resources.iter().collect()),
        ] {
            let ids = texts.iter().map(|texts| id_of(texts)).collect::<Result<Vec<String>>>()?;
            let bodies = texts.iter().map(|(body, _)| body.as_str());
            let records: Vec<(&str, &str)> = ids.iter().map(String::as_str).zip(bodies).collect();
            covered.insert(kind, alignment::covered_by_all(tx, kind, &records)?);
        }
        Ok(Self(covered))
    }

    fn standards(&self, kind: &str, id: &str) -> Vec<CourseStandard> {
        let found = self.0.get(kind).and_then(|of_kind| of_kind.get(id));
        found.into_iter().flatten().map(standard).collect()
    }
}

fn standard(statement: &Statement) -> CourseStandard {
    let text = |name: &str| statement.body[name].as_str().unwrap_or_default().to_owned();
    let (code, full_statement) = (text("humanCodingScheme"), text("fullStatement"));
    let code = match code.is_empty() {
        true => full_statement.chars().take(CODE_CHARS).collect(),
        false => code,
    };
    CourseStandard { item: statement.item.clone(), code, states: full_statement }
}

fn id_of((body, extra): &RecordTexts) -> Result<String> {
    Ok(fields::text(&members(body, extra.as_deref())?, "sourcedId").to_owned())
}

/// The tree as a list, each node with its place among its siblings.
fn nodes(tree: &CourseTree, coverage: &Coverage) -> Result<Vec<CourseNode>> {
    let read = |(body, extra): &RecordTexts| members(body, extra.as_deref());
    let resources = tree.resources.iter().map(read).collect::<Result<Vec<Object>>>()?;
    let mut nodes = Vec::new();
    let mut counted: Vec<usize> = Vec::new();
    for component in &tree.components {
        let (record, depth) = (read(&component.record)?, component.depth);
        // The lessons and materials of a component come before its child components and share their numbering.
        let place = next_place(&mut counted, depth);
        nodes.push(CourseNode {
            standards: coverage.standards("courseComponent", fields::text(&record, "sourcedId")),
            is_component: true,
            ..node(&record, place, depth)
        });
        for link in &component.links {
            let (record, resource) = (read(&link.record)?, &resources[link.resource]);
            let own = coverage.standards("componentResource", fields::text(&record, "sourcedId"));
            let of_resource = coverage.standards("resource", fields::text(resource, "sourcedId"));
            let lesson = fields::opt_text(&record, "lessonType");
            let material = || fields::opt_text(&fields::metadata(resource), "type");
            let place = next_place(&mut counted, depth + 1);
            nodes.push(CourseNode {
                kind: lesson.or_else(material).unwrap_or_default(),
                standards: united(own, of_resource),
                ..node(&record, place, depth + 1)
            });
        }
    }
    Ok(nodes)
}

fn node(record: &Object, place: String, depth: usize) -> CourseNode {
    CourseNode {
        place,
        id: fields::text(record, "sourcedId").to_owned(),
        title: fields::text(record, "title").to_owned(),
        kind: String::new(),
        depth,
        is_component: false,
        standards: Vec::new(),
    }
}

fn united(mut standards: Vec<CourseStandard>, more: Vec<CourseStandard>) -> Vec<CourseStandard> {
    for standard in more {
        if !standards.contains(&standard) {
            standards.push(standard);
        }
    }
    standards
}

fn next_place(counted: &mut Vec<usize>, depth: usize) -> String {
    counted.resize(depth + 1, 0);
    counted[depth] += 1;
    counted.iter().map(ToString::to_string).collect::<Vec<_>>().join(".")
}

/// Each standard once, by its code, with what covers it.
fn covered(nodes: &[CourseNode], of_course: &[CourseStandard]) -> Vec<CoveredStandard> {
    let own = of_course.iter().map(|standard| (standard, String::new(), String::new()));
    let of_nodes = nodes.iter().flat_map(|node| {
        node.standards.iter().map(|one| (one, node.place.clone(), node.title.clone()))
    });
    let mut by_code: BTreeMap<(String, String), CoveredStandard> = BTreeMap::new();
    for (standard, place, title) in own.chain(of_nodes) {
        let key = (standard.code.clone(), standard.item.clone());
        let covered = by_code
            .entry(key)
            .or_insert_with(|| CoveredStandard { standard: standard.clone(), by: Vec::new() });
        covered.by.push((place, title));
    }
    by_code.into_values().collect()
}
