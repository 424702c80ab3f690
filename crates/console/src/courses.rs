//! Courses: the list of courses, and a page for each course with its tree and the standards that it covers.

use askama::Template;

use crate::{Column, Frame, List};

/// The columns of the list of courses.
pub const COLUMNS: &[Column] = &[
    Column::text("title", "Course"),
    Column::text("code", "Code"),
    Column::text("subjects", "Subjects"),
    Column::text("grades", "Grades"),
    Column::text("org", "Organization"),
    Column::number("classes", "Classes"),
];

/// The columns of a course's tree when it is exported.
pub const TREE: &[Column] = &[
    Column::text("place", "Place"),
    Column::text("title", "Title"),
    Column::text("kind", "Kind"),
    Column::text("sourcedId", "sourcedId"),
    Column::text("standards", "Standards"),
];

/// The page of all courses.
#[derive(Template)]
#[template(path = "courses.html")]
pub struct CoursesPage {
    /// The frame.
    pub frame: Frame,
    /// The courses.
    pub list: List,
}

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
    /// The code, or the first words of the statement if there is no code.
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

/// The page of one course.
#[derive(Template)]
#[template(path = "course.html")]
pub struct CoursePage {
    /// The frame.
    pub frame: Frame,
    /// Code, subjects, organization and grades.
    pub about: Vec<String>,
    /// The numbers of components, lessons and standards.
    pub counts: [usize; 3],
    /// The nodes of the tree.
    pub nodes: Vec<CourseNode>,
    /// The number of nodes that are not shown because there are too many.
    pub more: usize,
    /// The covered standards, in the order of their frameworks.
    pub covered: Vec<CoveredStandard>,
    /// The title and page of each class of the course.
    pub classes: Vec<(String, String)>,
    /// The addresses of the tree as a CSV and a JSON file.
    pub exports: [String; 2],
}

impl CoursePage {
    /// The number of HTML lists that end before a node, and whether a new one begins.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "templates hand over references")]
    fn turns(&self, at: &usize) -> (usize, bool) {
        let depth = self.nodes[*at].depth;
        match at.checked_sub(1).map(|before| self.nodes[before].depth) {
            None => (0, true),
            Some(before) => (before.saturating_sub(depth), depth > before),
        }
    }

    /// The number of HTML lists that are open after the last node.
    fn open(&self) -> usize {
        self.nodes.last().map_or(0, |last| last.depth + 1)
    }
}
