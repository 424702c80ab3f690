//! Courses: the list of courses, and a page for each course with its tree and the standards that it covers.

pub(crate) mod view;

use lyceum_api::{Context, Route};
use lyceum_console::{Cell, List, ListFilter, ListQuery, Row, links, screens, t, words};
use lyceum_core::Result;
use lyceum_http::answer::Answer;
use lyceum_roster::screens::courses as list_screen;
use lyceum_standards::screens::course::{self as screen, CourseNode};
use lyceum_store::Tx;

use super::visitor::query;
use super::{Visitor, deadline, page, show_list_page, show_page};
use crate::console::courses::view::{COLUMNS, CoursePage, TREE};
use crate::limits;

pub(super) fn routes() -> Vec<Route> {
    vec![
        page("/courses", &screens::COURSES, all).within_reach(),
        page("/courses/{id}", &screens::COURSES, one).within_reach(),
    ]
}

async fn all(context: Context, visitor: Visitor) -> Result<Answer> {
    let query = query(&context);
    let (subject, reach) = (query.parameter("subject").to_owned(), context.reach());
    let read = move |tx: &mut Tx<'_>| list_screen::read(tx, &subject, &reach);
    let found = context.app.db.scan(deadline(), read).await?;
    let rows = found.courses.iter().map(row).collect();
    let list = List::new("Courses", COLUMNS, query, rows)
        .or_else("There are no courses yet. Import a roster, or create courses over the API.")
        .choice(ListFilter::of(
            "subject",
            "Subject",
            found.subjects.iter().map(|name| (name, name)),
        ));
    show_list_page("courses", visitor.frame(t!("Courses")), list)
}

fn row(course: &list_screen::ListedCourse) -> Row {
    let to = links::course(&course.id);
    vec![
        Cell::text(&course.title).to(&to),
        Cell::text(&course.code),
        Cell::text(course.subjects.join(", ")),
        Cell::of(course.grades.join(", "), words::grades(&course.grades)),
        Cell::text(&course.org),
        Cell::count(course.class_count).to(format!("{to}#classes")),
    ]
}

async fn one(context: Context, visitor: Visitor) -> Result<Answer> {
    let (id, query, reach) = (context.param("id").to_owned(), query(&context), context.reach());
    let now = context.app.clock.now();
    let read = move |tx: &mut Tx<'_>| screen::read(tx, now, &id, &reach);
    let found = context.app.db.scan(deadline(), read).await?;
    if query.export.is_some() {
        let frame = visitor.frame(&found.course.title);
        let list = List::new("Tree", TREE, query, found.nodes.iter().map(exported).collect());
        return show_list_page("course", frame, list);
    }
    show_page(&view(&visitor, &query, found))
}

fn view(visitor: &Visitor, query: &ListQuery, content: screen::CourseContent) -> CoursePage {
    let screen::CourseContent { course, nodes, component_count, covered, classes } = content;
    let classes = classes.into_iter();
    CoursePage {
        frame: visitor.frame(&course.title),
        counts: [component_count, nodes.len() - component_count, covered.len()],
        more: nodes.len().saturating_sub(limits::CONSOLE_TREE_MAX_ROWS),
        nodes: nodes.into_iter().take(limits::CONSOLE_TREE_MAX_ROWS).collect(),
        covered,
        classes: classes.map(|class| (class.title, links::class(&class.id))).collect(),
        exports: ["csv", "json"].map(|form| query.link(&[("export", form)])),
        about: about(course),
    }
}

fn about(course: list_screen::ListedCourse) -> Vec<String> {
    let grades = words::grades(&course.grades);
    let mut about = vec![course.code, course.subjects.join(", "), course.org, grades];
    about.retain(|part| !part.is_empty());
    about
}

fn exported(node: &CourseNode) -> Row {
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
