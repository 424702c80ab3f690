//! Finds the rules of a test that refer to its parts, sections and items.

use std::collections::HashSet;

use lyceum_core::{Problem, ProblemKind, Result, message};

use super::identifier;
use crate::xml::Element;

/// Whether it is a part, a section, an item, or a section that lies elsewhere.
pub(super) fn is_member(element: Element<'_>) -> bool {
    matches!(
        element.name(),
        "qti-test-part"
            | "qti-assessment-section"
            | "qti-assessment-section-ref"
            | "qti-assessment-item-ref"
    )
}

/// Checks that no remaining element refers to the removed elements, which are in the order of the source. Errors:
/// `Conflict` that names the referring element.
pub(super) fn unused(root: Element<'_>, going: &[Element<'_>]) -> Result<()> {
    let names: HashSet<&str> = going
        .iter()
        .flat_map(|element| element.descendants())
        .filter(|element| is_member(*element))
        .map(identifier)
        .collect();
    let goes = |at: usize| {
        let next = going.partition_point(|element| element.range().end <= at);
        going.get(next).is_some_and(|element| element.range().contains(&at))
    };
    for element in root.descendants().filter(|e| !goes(e.range().start)) {
        let Some(name) = referred(element).filter(|name| names.contains(name)) else { continue };
        let mut holder = element;
        while let Some(above) = holder.parent().filter(|_| !is_member(holder)) {
            holder = above;
        }
        let holder = match is_member(holder) {
            true => format!("'{}'", identifier(holder)),
            false => "the test".to_owned(),
        };
        let message = message!(
            "'{name}' is in use: a {element} of {holder} refers to it; change that reference first",
            element = element.name()
        );
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    Ok(())
}

/// The part, section or item that a rule speaks of.
fn referred(element: Element<'_>) -> Option<&str> {
    match element.name() {
        "qti-branch-rule" => element.attribute("target"),
        "qti-variable" => Some(element.attribute("identifier")?.split_once('.')?.0),
        _ => element.attribute("section-identifier"),
    }
}
