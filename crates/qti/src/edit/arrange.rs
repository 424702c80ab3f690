//! Changes the order of members. The text between them stays.

use std::collections::HashMap;

use lyceum_core::{Problem, Result, message};

use super::splice::Splices;
use super::{TestLevel, find, identifier};
use crate::Faults;
use crate::json::member::in_sequence;
use crate::json::write::JsonObject;
use crate::xml::{Document, Element};

/// The text with the members at and below the path in the order of the JSON, which names all.
pub(super) fn arranged(source: &str, path: &[&str], json: &JsonObject<'_>) -> Result<String> {
    let document = Document::parse(source).map_err(Faults::from)?;
    let element = find(document.root(), path)?;
    let mut splices = Splices::of(document.source());
    splices
        .replace(element.range(), inside(document.source(), TestLevel::at(path), element, json)?);
    Ok(splices.applied())
}

fn inside(
    source: &str,
    level: TestLevel,
    element: Element<'_>,
    json: &JsonObject<'_>,
) -> Result<String> {
    let below = level.below();
    let mut splices = Splices::of(source);
    let wanted = json.object.get(below.element()).filter(|value| value.is_array());
    if level != TestLevel::Item && wanted.is_some() {
        let wanted = in_sequence(json.list(below.element()));
        let members = below.members(element);
        let named = by_identifier(&members);
        for (slot, new) in members.iter().zip(&wanted) {
            let name = new.text("identifier").unwrap_or_default();
            // The members were made to be those of the JSON.
            let Some(member) = named.get(&*name) else { continue };
            stays(*slot, *member)?;
            splices.replace(slot.range(), inside(source, below, *member, new)?);
        }
    }
    Ok(splices.within(element.range()))
}

/// The text with the references of a section in the order of `items`.
pub(super) fn ordered(source: &str, path: &[&str], json: &JsonObject<'_>) -> Result<String> {
    let document = Document::parse(source).map_err(Faults::from)?;
    let section = find(document.root(), path)?;
    let mut faults = Vec::new();
    let wanted = in_sequence(json.objects("items", &mut faults).unwrap_or_default());
    if !faults.is_empty() {
        return Err(Problem::invalid_all(faults));
    }
    let members = TestLevel::Item.members(section);
    let mut names: Vec<String> =
        wanted.iter().map(|new| new.text("identifier").unwrap_or_default()).collect();
    let order = names.clone();
    names.sort_unstable();
    let mut known: Vec<&str> = members.iter().map(|member| identifier(*member)).collect();
    let known_names = known.join(", ");
    known.sort_unstable();
    if names != known {
        let message = message!(
            "must contain each item of the section '{identifier}' once; send these items in their new \
             order: {known_names}",
            identifier = identifier(section)
        );
        return Err(Problem::invalid("items", message));
    }
    let mut splices = Splices::of(document.source());
    let elements = by_identifier(&members);
    for (slot, name) in members.iter().zip(&order) {
        let member = elements[&**name];
        stays(*slot, member)?;
        splices.replace(slot.range(), &document.source()[member.range()]);
    }
    Ok(splices.applied())
}

/// The text with the section at the path as the one of that number among its siblings, from 1.
pub(super) fn moved(source: &str, path: &[&str], sequence: u64) -> Result<String> {
    let document = Document::parse(source).map_err(Faults::from)?;
    let section = find(document.root(), path)?;
    let parent = section.parent().expect("a section stands in a part");
    let siblings: Vec<_> = parent.all(TestLevel::Section.element()).collect();
    let mut order = siblings.clone();
    let from = order.iter().position(|e| e.start() == section.start()).expect("its parent has it");
    let to = usize::try_from(sequence - 1).unwrap_or(usize::MAX).min(order.len() - 1);
    let one = order.remove(from);
    order.insert(to, one);
    let mut splices = Splices::of(document.source());
    for (slot, member) in siblings.iter().zip(order) {
        splices.replace(slot.range(), &document.source()[member.range()]);
    }
    Ok(splices.applied())
}

fn by_identifier<'d>(members: &[Element<'d>]) -> HashMap<&'d str, Element<'d>> {
    members.iter().map(|member| (identifier(*member), *member)).collect()
}

/// Checks that a member may move to a place. Errors: the place is in another section.
fn stays(slot: Element<'_>, member: Element<'_>) -> Result<()> {
    let home = |e: Element<'_>| e.parent().map(Element::start);
    if home(slot) == home(member) {
        return Ok(());
    }
    let inner = member.parent().map(identifier).unwrap_or_default();
    let message = message!(
        "the item '{identifier}' must stay in its section '{inner}'; keep the items of an inner section \
         together",
        identifier = identifier(member)
    );
    Err(Problem::invalid("sequence", message))
}
