//! The page of a course: its tree, however deep, and the standards that it covers.

use lyceum_console::courses::{CourseNode, CoursePage, CourseStandard, CoveredStandard};
use lyceum_console::html;

use crate::{count, frame};

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
        frame: frame("guide"),
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
    let tree = page.split("<div class=\"tree\">").nth(1).unwrap().split("</div>").next().unwrap();
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
        CourseStandard { item: "i-1".into(), code: "3.NF".into(), states: "Know \"⅓\"".into() };
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
