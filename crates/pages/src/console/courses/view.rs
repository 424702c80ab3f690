//! Courses: the list of courses, and a page for each course with its tree and the standards that it covers.

use askama::Template;
use lyceum_console::{Column, Frame};
use lyceum_standards::screens::course::{CourseNode, CoveredStandard};

/// The columns of the list of courses.
pub(crate) const COLUMNS: &[Column] = &[
    Column::text("title", "Course"),
    Column::text("code", "Code"),
    Column::text("subjects", "Subjects"),
    Column::text("grades", "Grades"),
    Column::text("org", "Organization"),
    Column::number("classes", "Classes"),
];

/// The columns of a course's tree when it is exported.
pub(crate) const TREE: &[Column] = &[
    Column::text("place", "Place"),
    Column::text("title", "Title"),
    Column::text("kind", "Kind"),
    Column::text("sourcedId", "sourcedId"),
    Column::text("standards", "Standards"),
];

/// The page of one course.
#[derive(Template)]
#[template(path = "console/courses/course.html")]
pub(crate) struct CoursePage {
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

#[cfg(test)]
mod tests {
    use lyceum_console::{Frame, html, screens};
    use lyceum_standards::screens::course::{CourseNode, CourseStandard, CoveredStandard};

    use super::CoursePage;

    fn frame() -> Frame {
        Frame {
            name: "Robin Example".into(),
            email: "robin@example.org".into(),
            role: "guide",
            environment: "local",
            screens: Vec::new(),
            screen: &screens::COURSES,
            title: "Rivers".into(),
            token: "form-token".into(),
            zone: "Europe/London".into(),
        }
    }

    fn count(text: &str, part: &str) -> usize {
        text.matches(part).count()
    }

    fn node(place: &str, depth: usize) -> CourseNode {
        CourseNode {
            place: place.into(),
            id: format!("id-{place}"),
            title: format!("Node {place}"),
            depth,
            is_component: true,
            ..CourseNode::default()
        }
    }

    fn page(nodes: Vec<CourseNode>, covered: Vec<CoveredStandard>) -> String {
        let course = CoursePage {
            frame: frame(),
            about: vec!["MATH-3".into()],
            counts: [nodes.len(), 0, covered.len()],
            nodes,
            more: 0,
            covered,
            classes: Vec::new(),
            exports: ["/csv", "/json"].map(str::to_owned),
        };
        html(&course).unwrap()
    }

    /// The places of a tree with the number of lists that are open around each.
    fn depths(page: &str) -> Vec<(String, usize)> {
        let tree =
            page.split("<div class=\"tree\">").nth(1).unwrap().split("</div>").next().unwrap();
        assert_eq!(count(tree, "<ol>"), count(tree, "</ol>"));
        assert_eq!(count(tree, "<li "), count(tree, "</li>"));
        let before_places = tree.match_indices("<li id=\"place-");
        before_places
            .map(|(at, start)| {
                let (before, rest) = (&tree[..at], &tree[at + start.len()..]);
                let place = rest.split('"').next().unwrap().to_owned();
                (place, count(before, "<ol>") - count(before, "</ol>") - 1)
            })
            .collect()
    }

    #[test]
    fn a_course_without_content_says_how_to_add_it() {
        let shown = page(Vec::new(), Vec::new());
        assert!(shown.contains("The course has no components yet."));
        assert!(shown.contains("This course is not aligned to a standard."));
        assert!(shown.contains("This course has no classes yet."));
        assert_eq!(count(&shown, "class=\"tree\""), 0);
    }

    #[test]
    fn lists_nest_as_the_tree_does() {
        let depths_in = [0, 1, 2, 3, 1, 0, 1, 0];
        let nodes: Vec<CourseNode> =
            (0..).zip(depths_in).map(|(at, depth)| node(&format!("n{at}"), depth)).collect();
        let shown = depths(&page(nodes, Vec::new()));
        let expected: Vec<(String, usize)> =
            (0..).zip(depths_in).map(|(at, depth)| (format!("n{at}"), depth)).collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn all_elements_of_a_deep_tree_are_closed() {
        let nodes = (0..500).map(|depth| node(&format!("d{depth}"), depth)).collect();
        let shown = depths(&page(nodes, Vec::new()));
        assert_eq!(shown.last().unwrap().1, 499);
    }

    #[test]
    fn a_standard_links_to_its_course_parts_and_each_part_to_its_standards() {
        let standard =
            CourseStandard {
                item: "i-1".into(), code: "3.NF".into(), states: "Know \"⅓\"".into()
            };
        let covering = CourseNode { standards: vec![standard.clone()], ..node("1", 0) };
        let by = vec![(String::new(), String::new()), ("1".into(), "Node 1".into())];
        let shown = page(vec![covering], vec![CoveredStandard { standard, by }]);
        assert!(
            shown.contains("href=\"#standard-i-1\" title=\"Know &#34;⅓&#34;\">3.NF</a>"),
            "{shown}"
        );
        assert!(shown.contains("<dt id=\"standard-i-1\">3.NF</dt>"));
        assert!(shown.contains("the course itself, <a href=\"#place-1\">1 Node 1</a>"), "{shown}");
        assert!(shown.contains("<strong>1</strong> component</a>"), "a single one has no plural");
    }
}
