//! Courses: all of them; one as a tree with what it covers.

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

/// The columns of a course's tree as a file.
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
pub struct Courses {
    /// The frame.
    pub frame: Frame,
    /// The courses.
    pub list: List,
}

/// A component of a course or something that one holds, in the order of the tree.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// Its place: `2.1`.
    pub place: String,
    /// What it is called.
    pub title: String,
    /// The type of the lesson or material; empty for components.
    pub kind: String,
    /// How deep it lies, from 0.
    pub depth: usize,
    /// Whether it is a component.
    pub is_component: bool,
    /// The codes of the standards that it covers.
    pub standards: Vec<Standard>,
}

/// A standard of a framework.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standard {
    /// Its identifier.
    pub item: String,
    /// Its code, or the first words of what it states.
    pub code: String,
    /// What it states.
    pub states: String,
}

/// A standard, and what covers it.
pub struct Covered {
    /// The standard.
    pub standard: Standard,
    /// Places and titles of what covers it; the course itself has no place.
    pub by: Vec<(String, String)>,
}

/// The page of one course.
#[derive(Template)]
#[template(path = "course.html")]
pub struct Course {
    /// The frame.
    pub frame: Frame,
    /// Code, subjects, grades, organization.
    pub about: Vec<String>,
    /// How many components, lessons and standards there are.
    pub counts: [usize; 3],
    /// The tree.
    pub nodes: Vec<Node>,
    /// Nodes that are too many to be shown.
    pub more: usize,
    /// The standards, in the order of their frameworks.
    pub covered: Vec<Covered>,
    /// The classes of the course: title, page.
    pub classes: Vec<(String, String)>,
    /// The tree as a file, by its form.
    pub exports: [String; 2],
}

impl Course {
    /// How many lists end before a node, and whether one begins.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "templates hand over references")]
    fn turns(&self, at: &usize) -> (usize, bool) {
        let depth = self.nodes[*at].depth;
        match at.checked_sub(1).map(|before| self.nodes[before].depth) {
            None => (0, true),
            Some(before) => (before.saturating_sub(depth), depth > before),
        }
    }

    /// How many lists are open behind the last node.
    fn open(&self) -> usize {
        self.nodes.last().map_or(0, |last| last.depth + 1)
    }
}
