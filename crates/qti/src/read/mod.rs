//! From a tree to the model. What the schema refused is skipped here without a further word; what
//! no schema can see is found here: values of the wrong type, names of nothing, wrong shapes.

mod body;
mod declaration;
mod expression;
mod item;
mod references;
mod rules;
mod test;

pub(crate) use item::{item, stimulus};
pub(crate) use test::{section, test};

use crate::model::{Area, Parameter, QtiVersion, Rubric, Shape, Stylesheet};
use crate::schema;
use crate::validate::FoundFaults;
use crate::value::float;
use crate::xml::{Element, WriteMode, write};

pub(crate) struct DocumentReader<'f> {
    pub(crate) found: &'f mut FoundFaults,
    pub(crate) version: QtiVersion,
}

impl DocumentReader<'_> {
    fn wrong(&mut self, element: Element<'_>, what: impl Into<String>, remedy: impl Into<String>) {
        self.found.error(element, what, remedy);
    }
}

fn text(element: Element<'_>, name: &str) -> Option<Box<str>> {
    element.attribute(name).map(Into::into)
}

/// An identifier; empty if it is missing, which the schema has reported.
fn identifier(element: Element<'_>, name: &str) -> Box<str> {
    element.attribute(name).unwrap_or_default().trim().into()
}

fn words(element: Element<'_>, name: &str) -> Vec<Box<str>> {
    let value = element.attribute(name).unwrap_or_default();
    value.split_whitespace().map(Into::into).collect()
}

pub(crate) fn boolean(element: Element<'_>, name: &str) -> Option<bool> {
    match element.attribute(name)?.trim() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

fn count(element: Element<'_>, name: &str) -> Option<u32> {
    element.attribute(name)?.trim().parse().ok()
}

fn number(element: Element<'_>, name: &str) -> Option<f64> {
    float(element.attribute(name)?)
}

fn line(element: Element<'_>) -> u32 {
    element.document().line(element.start())
}

/// The name of an element of the schema, for traces.
fn name(element: Element<'_>) -> &'static str {
    element.id().map_or("unknown", |id| schema::rule(id, None).name)
}

fn integer_bound(element: Element<'_>, name: &str) -> Option<Parameter<i64>> {
    let value = element.attribute(name)?.trim();
    Some(match value.parse() {
        Ok(integer) => Parameter::Literal(integer),
        Err(_) => Parameter::Variable(variable_name(value)),
    })
}

fn number_bound(value: &str) -> Parameter<f64> {
    match float(value) {
        Some(number) => Parameter::Literal(number),
        None => Parameter::Variable(variable_name(value)),
    }
}

/// The name of a variable that stands in place of a value, in braces or without.
fn variable_name(value: &str) -> Box<str> {
    value.trim().trim_start_matches('{').trim_end_matches('}').into()
}

fn area(element: Element<'_>) -> Option<Area> {
    let shape = Shape::from_name(element.attribute("shape")?)?;
    let coordinates: Vec<f64> = element
        .attribute("coords")
        .unwrap_or_default()
        .split(',')
        .filter_map(|part| float(part.trim().trim_end_matches('%')))
        .collect();
    Some(Area { shape, coordinates })
}

fn stylesheets(parent: Element<'_>) -> Vec<Stylesheet> {
    parent
        .all("qti-stylesheet")
        .map(|sheet| Stylesheet {
            href: identifier(sheet, "href"),
            media_type: identifier(sheet, "type"),
        })
        .collect()
}

fn rubric(element: Element<'_>) -> Rubric {
    Rubric { views: words(element, "view"), usage: text(element, "use"), text: element.deep_text() }
}

/// The content of an element as XML. Feedback in it is left out, because it is read separately.
pub(crate) fn inner_xml(element: Element<'_>) -> String {
    let mut choose = |inner: Element<'_>| match inner.name() {
        "qti-feedback-inline" | "qti-feedback-block" => WriteMode::Nothing,
        _ => WriteMode::Whole,
    };
    let mut xml = String::new();
    for child in element.children() {
        match child {
            crate::xml::ChildNode::Text(text, _) => crate::xml::escape(text, false, &mut xml),
            crate::xml::ChildNode::Element(inner) => xml.push_str(&write(inner, &mut choose)),
        }
    }
    xml.trim().to_owned()
}
