//! An XML element as JSON: `{_attributes: {…}, _text: "…", name: element or [element…]}`.

use serde_json::{Map, Value as Json};

use crate::xml::{ChildNode, Element};

pub(super) fn content(root: Element<'_>) -> Map<String, Json> {
    Map::from_iter([(root.name().to_owned(), element(root))])
}

fn element(from: Element<'_>) -> Json {
    let mut object = Map::new();
    let attributes = from.attributes().iter().filter(|a| !a.name.starts_with("xmlns"));
    let attributes: Map<String, Json> =
        attributes.map(|a| (a.name.to_string(), Json::from(&*a.value))).collect();
    if !attributes.is_empty() {
        object.insert("_attributes".into(), attributes.into());
    }
    let mut text = String::new();
    for child in from.children() {
        match child {
            ChildNode::Text(more, _) => text.push_str(more),
            ChildNode::Element(inner) => add(&mut object, inner.name(), element(inner)),
        }
    }
    if !text.trim().is_empty() {
        object.insert("_text".into(), text.trim().into());
    }
    object.into()
}

/// Adds a child element. Several children with one name become an array.
fn add(object: &mut Map<String, Json>, name: &str, value: Json) {
    match object.get_mut(name) {
        None => drop(object.insert(name.to_owned(), value)),
        Some(Json::Array(all)) => all.push(value),
        Some(one) => *one = Json::Array(vec![one.take(), value]),
    }
}
