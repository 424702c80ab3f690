//! Courses: all of them; one as a tree with what it covers.

use std::collections::{BTreeMap, HashMap};

use lyceum_bridge::classes::{self, Class};
use lyceum_console::courses::{COLUMNS, Course, Courses, Covered, Node, Standard, TREE};
use lyceum_console::{Cell, Choice, List, Row, screens};
use lyceum_core::text::segment;
use lyceum_core::{Result, limits};
use lyceum_roster::course_tree::{self, CourseTree};
use lyceum_roster::fields;
use lyceum_roster::kinds::{COURSE, ORG};
use lyceum_roster::record::{Object, Status, members};
use lyceum_roster::repository::{self, Texts};
use lyceum_standards::alignment::{self, Statement};
use lyceum_store::Tx;

use super::visitor::query;
use super::{Visitor, deadline, listed, page, shown};
use crate::answer::Answer;
use crate::context::Context;
use crate::route::Route;

/// Characters of a statement that stand for a code where there is none.
const CODE_CHARS: usize = 24;

pub(super) fn routes() -> Vec<Route> {
    vec![page("/courses", &screens::COURSES, all), page("/courses/{id}", &screens::COURSES, one)]
}

/// The page of a course.
pub(super) fn link(id: &str) -> String {
    format!("/console/courses/{}", segment(id))
}

async fn all(context: Context, visitor: Visitor) -> Result<Answer> {
    let (courses, orgs, counts) = context.app.db.scan(deadline(), read_all).await?;
    let query = query(&context);
    let subject = query.own("subject").to_owned();
    let of = |course: &Object| fields::texts(course, "subjects");
    let mut subjects: Vec<String> = courses.iter().flat_map(of).collect();
    subjects.sort();
    subjects.dedup();
    let wanted =
        courses.iter().filter(|course| subject.is_empty() || of(course).contains(&subject));
    let rows = wanted.map(|course| row(course, &orgs, &counts)).collect();
    let list = List::new("Courses", COLUMNS, query, rows)
        .or_else("There are no courses yet. Import a roster, or create courses over the API.")
        .choice(Choice::of("subject", "Subject", subjects.iter().map(|name| (name, name))));
    let view = Courses { frame: visitor.frame("Courses"), list };
    listed("courses", &view.list, &view)
}

/// Every active course by title, the organizations by their ids, the number of classes by course.
type All = (Vec<Object>, HashMap<String, Object>, HashMap<String, i64>);

fn read_all(tx: &mut Tx<'_>) -> Result<All> {
    let mut courses = Vec::new();
    repository::each(tx, &COURSE, |body, extra| {
        let course = members(body, extra)?;
        if fields::text(&course, "status") == "active" {
            courses.push(course);
        }
        Ok(())
    })?;
    courses.sort_by_cached_key(|course| fields::text(course, "title").to_lowercase());
    let orgs = courses.iter().map(|course| fields::reference(course, "org"));
    let orgs = fields::of_all(tx, &ORG, orgs)?;
    Ok((courses, orgs, repository::class_counts(tx)?))
}

fn row(course: &Object, orgs: &HashMap<String, Object>, counts: &HashMap<String, i64>) -> Row {
    let id = fields::text(course, "sourcedId");
    let org = orgs.get(fields::reference(course, "org"));
    let classes = counts.get(id).copied().unwrap_or_default();
    vec![
        Cell::text(fields::text(course, "title")).to(link(id)),
        Cell::text(fields::text(course, "courseCode")),
        Cell::text(fields::texts(course, "subjects").join(", ")),
        Cell::text(fields::texts(course, "grades").join(", ")),
        Cell::text(org.map(|org| fields::text(org, "name")).unwrap_or_default()),
        Cell::of(classes, classes.to_string()).to(format!("{}#classes", link(id))),
    ]
}

/// What the page of a course is made from.
struct Read {
    course: Object,
    org: String,
    nodes: Vec<Node>,
    of_course: Vec<Standard>,
    classes: Vec<Class>,
}

async fn one(context: Context, visitor: Visitor) -> Result<Answer> {
    let id = context.param("id").to_owned();
    let Read { course, org, mut nodes, of_course, classes } =
        context.app.db.scan(deadline(), move |tx| read_one(tx, &id)).await?;
    let query = query(&context);
    let title = fields::text(&course, "title").to_owned();
    if query.export.is_some() {
        let list = List::new("Tree", TREE, query, nodes.iter().map(as_row).collect());
        let view = Courses { frame: visitor.frame(title), list };
        return listed("course", &view.list, &view);
    }
    let components = nodes.iter().filter(|node| node.is_component).count();
    let covered = covered(&nodes, &of_course);
    let counts = [components, nodes.len() - components, covered.len()];
    let more = nodes.len().saturating_sub(limits::CONSOLE_TREE_MAX_ROWS);
    nodes.truncate(limits::CONSOLE_TREE_MAX_ROWS);
    let mut about = vec![
        fields::text(&course, "courseCode").to_owned(),
        fields::texts(&course, "subjects").join(", "),
        org,
    ];
    let grades = fields::texts(&course, "grades").join(", ");
    if !grades.is_empty() {
        about.push(format!("Grade {grades}"));
    }
    about.retain(|part| !part.is_empty());
    shown(&Course {
        frame: visitor.frame(title),
        about,
        counts,
        nodes,
        more,
        covered,
        classes: classes
            .into_iter()
            .map(|class| (class.title, super::classes::link(&class.id)))
            .collect(),
        exports: ["csv", "json"].map(|form| query.link(&[("export", form)])),
    })
}

fn read_one(tx: &mut Tx<'_>, id: &str) -> Result<Read> {
    let course = fields::in_use(tx, &COURSE, id)?;
    let tree = course_tree::read(tx, id, Status::Active)?;
    let orgs = fields::of_all(tx, &ORG, std::iter::once(fields::reference(&course, "org")))?;
    let org = orgs.values().next().map(|org| fields::text(org, "name").to_owned());
    let covered = Coverage::of(tx, &tree)?;
    Ok(Read {
        nodes: nodes(&tree, &covered)?,
        of_course: covered.standards("course", id),
        course,
        org: org.unwrap_or_default(),
        classes: classes::of_course(tx, id)?,
    })
}

/// What the records of a tree cover, by kind and sourcedId.
struct Coverage(HashMap<&'static str, HashMap<String, Vec<Statement>>>);

impl Coverage {
    fn of(tx: &mut Tx<'_>, tree: &CourseTree) -> Result<Self> {
        let links = || tree.components.iter().flat_map(|component| &component.links);
        let mut covered = HashMap::new();
        for (kind, texts) in [
            ("course", vec![&tree.course]),
            (
                "courseComponent",
                tree.components.iter().map(|component| &component.record).collect(),
            ),
            ("componentResource", links().map(|link| &link.record).collect()),
            ("resource", tree.resources.iter().collect()),
        ] {
            let ids = texts.iter().map(|texts| id_of(texts)).collect::<Result<Vec<String>>>()?;
            let records: Vec<(&str, &str)> = ids
                .iter()
                .zip(&texts)
                .map(|(id, (body, _))| (id.as_str(), body.as_str()))
                .collect();
            covered.insert(kind, alignment::covered_by_all(tx, kind, &records)?);
        }
        Ok(Self(covered))
    }

    fn standards(&self, kind: &str, id: &str) -> Vec<Standard> {
        let found = self.0.get(kind).and_then(|of_kind| of_kind.get(id));
        found.into_iter().flatten().map(standard).collect()
    }
}

fn standard(statement: &Statement) -> Standard {
    let text = |name: &str| statement.body[name].as_str().unwrap_or_default().to_owned();
    let (code, states) = (text("humanCodingScheme"), text("fullStatement"));
    let code = match code.is_empty() {
        true => states.chars().take(CODE_CHARS).collect(),
        false => code,
    };
    Standard { item: statement.item.clone(), code, states }
}

fn id_of((body, extra): &Texts) -> Result<String> {
    Ok(fields::text(&members(body, extra.as_deref())?, "sourcedId").to_owned())
}

/// The tree as a list, each node with its place among its siblings.
fn nodes(tree: &CourseTree, covered: &Coverage) -> Result<Vec<Node>> {
    let read = |(body, extra): &Texts| members(body, extra.as_deref());
    let resources = tree.resources.iter().map(read).collect::<Result<Vec<Object>>>()?;
    let mut nodes = Vec::new();
    let mut counted: Vec<usize> = Vec::new();
    for component in &tree.components {
        let record = read(&component.record)?;
        let id = fields::text(&record, "sourcedId");
        // What a component holds comes before its parts, and counts with them.
        counted.resize(component.depth + 1, 0);
        counted[component.depth] += 1;
        nodes.push(Node {
            place: place(&counted),
            id: id.to_owned(),
            title: fields::text(&record, "title").to_owned(),
            kind: String::new(),
            depth: component.depth,
            is_component: true,
            standards: covered.standards("courseComponent", id),
        });
        for link in &component.links {
            let record = read(&link.record)?;
            let (id, resource) = (fields::text(&record, "sourcedId"), &resources[link.resource]);
            let mut standards = covered.standards("componentResource", id);
            for more in covered.standards("resource", fields::text(resource, "sourcedId")) {
                if !standards.contains(&more) {
                    standards.push(more);
                }
            }
            counted.resize(component.depth + 2, 0);
            counted[component.depth + 1] += 1;
            let lesson = fields::opt_text(&record, "lessonType");
            let of_resource = fields::metadata(resource);
            let kind =
                lesson.or_else(|| fields::opt_text(&of_resource, "type")).unwrap_or_default();
            nodes.push(Node {
                place: place(&counted),
                id: id.to_owned(),
                title: fields::text(&record, "title").to_owned(),
                kind,
                depth: component.depth + 1,
                is_component: false,
                standards,
            });
        }
    }
    Ok(nodes)
}

fn place(counted: &[usize]) -> String {
    counted.iter().map(ToString::to_string).collect::<Vec<_>>().join(".")
}

/// Each standard once, by its code, with what covers it.
fn covered(nodes: &[Node], of_course: &[Standard]) -> Vec<Covered> {
    let mut by_item: BTreeMap<(String, String), Covered> = BTreeMap::new();
    let own = of_course.iter().map(|standard| (standard, String::new(), String::new()));
    let of_nodes = nodes.iter().flat_map(|node| {
        node.standards.iter().map(|one| (one, node.place.clone(), node.title.clone()))
    });
    for (standard, place, title) in own.chain(of_nodes) {
        let key = (standard.code.clone(), standard.item.clone());
        let covered = by_item
            .entry(key)
            .or_insert_with(|| Covered { standard: standard.clone(), by: Vec::new() });
        covered.by.push((place, title));
    }
    by_item.into_values().collect()
}

fn as_row(node: &Node) -> Row {
    let kind = if node.is_component { "component" } else { node.kind.as_str() };
    let codes: Vec<&str> = node.standards.iter().map(|standard| standard.code.as_str()).collect();
    vec![
        Cell::text(&node.place),
        Cell::text(&node.title),
        Cell::text(kind),
        Cell::text(&node.id),
        Cell::text(codes.join(", ")),
    ]
}
