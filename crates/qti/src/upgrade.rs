//! QTI 2.1 and 2.2 become QTI 3.0: other names, other namespace, a few elements between.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use crate::model::ResponseTemplate;
use crate::schema;
use crate::validate::FoundFaults;
use crate::xml::{Attribute, Document, Element, ElementNamespace, OlderVersion, QTI2_HTML};

/// Names of elements that do not follow the rule: camel case, less `qti-`.
const ELEMENTS: [(&str, &str); 3] = [
    ("durationLT", "qti-duration-lt"),
    ("durationGTE", "qti-duration-gte"),
    // What may be shown or hidden on demand has no element of its own any more.
    ("infoControl", "div"),
];

/// Elements that have a body of their own in QTI 3.
const BODIES: [&str; 5] = [
    "qti-feedback-block",
    "qti-modal-feedback",
    "qti-rubric-block",
    "qti-template-block",
    "qti-test-feedback",
];

static NAMES: LazyLock<HashMap<String, &'static str>> = LazyLock::new(|| {
    let own = |name: &&'static str| !name.starts_with("qti-");
    let mut names: HashMap<String, &'static str> = schema::names()
        .filter_map(|name| Some((camel(name.strip_prefix("qti-")?), name)))
        .collect();
    // HTML keeps its names, also where QTI has an element of that name.
    names.extend(schema::names().filter(own).map(|name| (name.to_owned(), name)));
    names.extend(ELEMENTS.map(|(old, new)| (old.to_owned(), new)));
    names
});

static ATTRIBUTES: LazyLock<HashMap<String, &'static str>> =
    LazyLock::new(|| schema::attribute_names().map(|name| (camel(name), name)).collect());

/// `response-identifier` as it was written before: `responseIdentifier`.
fn camel(name: &str) -> String {
    let mut words = name.split('-');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut name, word| {
        let mut letters = word.chars();
        name.extend(letters.next().map(|c| c.to_ascii_uppercase()));
        name.push_str(letters.as_str());
        name
    })
}

/// Attributes that some elements of QTI 2 have and none of QTI 3 needs to show and score the same.
const DISPENSABLE: [&str; 3] = ["fixed", "style", "title"];

/// Turns every element of QTI 2 into one of QTI 3, in place; places stay those of the source. What an
/// item can do without is left out and noted among the losses. What else has no successor keeps its
/// name, so that validation tells it.
pub(crate) fn upgrade(document: &mut Document<'_>, minor: OlderVersion) {
    let mut bodies = Vec::new();
    let mut losses = FoundFaults::default();
    let mut removed = Vec::new();
    let mut has_html = false;
    for index in 0..document.len() {
        let Some(element) = document.element(index) else { continue };
        if element.name() == "apipAccessibility" && element.parent().is_some() {
            losses.warning(
                element,
                "QTI 3 has no apipAccessibility; it is removed",
                "write a qti-catalog-info, or remove it",
            );
            removed.push(index);
        }
        if !matches!(element.space(), ElementNamespace::Qti2(_)) {
            continue;
        }
        if !has_html && element.attributes().iter().any(|attribute| attribute.value == QTI2_HTML) {
            has_html = true;
            losses.warning(
                element,
                "the namespace of HTML in QTI 2.2 becomes that of QTI 3",
                "write the elements of HTML without a prefix",
            );
        }
        let old = element.name();
        let name = NAMES.get(old).copied();
        let attributes = attributes(element, name.unwrap_or_default(), minor, &mut losses);
        let name = name.map_or_else(|| Cow::Owned(old.to_owned()), Cow::Borrowed);
        if BODIES.contains(&&*name) {
            bodies.push(index);
        }
        document.rename(index, name);
        document.set_attributes(index, attributes);
    }
    for index in bodies {
        document.wrap(index, "qti-content-body", &["qti-stylesheet"]);
    }
    for index in removed {
        document.remove(index);
    }
    document.lose(losses.0);
}

/// Whether an element of QTI 3 has an attribute.
fn has(name: &str, attribute: &str) -> bool {
    let rule = schema::id(name).map(|id| schema::rule(id, None));
    rule.is_none_or(|rule| rule.attributes.iter().any(|own| own.name == attribute))
}

fn attributes<'x>(
    element: Element<'_>,
    name: &str,
    minor: OlderVersion,
    losses: &mut FoundFaults,
) -> Vec<Attribute<'x>> {
    let mut attributes: Vec<Attribute<'x>> = Vec::with_capacity(element.attributes().len() + 1);
    for old in element.attributes() {
        let mut new = ATTRIBUTES
            .get(&*old.name)
            .map_or_else(|| Cow::Owned(old.name.clone().into_owned()), |name| Cow::Borrowed(*name));
        let value = match &*old.name {
            "xsi:schemaLocation" => continue,
            dispensable if DISPENSABLE.contains(&dispensable) && !has(name, dispensable) => {
                losses.warned(
                    element,
                    old,
                    format!("QTI 3 has no '{dispensable}' for '{name}'; it is removed"),
                    "remove it, or move the style to a stylesheet",
                );
                continue;
            }
            // Elements lose their prefix.
            declared if declared.starts_with("xmlns") && is_old(&old.value) => {
                new = Cow::Borrowed("xmlns");
                "http://www.imsglobal.org/xsd/imsqtiasi_v3p0".to_owned()
            }
            "template" if name == "qti-response-processing" => address(&old.value),
            _ => old.value.clone().into_owned(),
        };
        if !attributes.iter().any(|attribute| attribute.name == new) {
            attributes.push(Attribute { name: new, value: Cow::Owned(value), start: old.start });
        }
    }
    let added = match (name, minor) {
        ("qti-assessment-item", _) => Some(("time-dependent", "false")),
        ("qti-rubric-block", _) => Some(("use", "instructions")),
        // The default of 2.1 was that the case of letters counts.
        ("qti-map-entry", OlderVersion::One) => Some(("case-sensitive", "true")),
        _ => None,
    };
    if let Some((name, value)) = added
        && !attributes.iter().any(|attribute| attribute.name == name)
    {
        let (name, value, start) = (Cow::Borrowed(name), Cow::Borrowed(value), element.start());
        attributes.push(Attribute { name, value, start });
    }
    attributes
}

fn is_old(address: &str) -> bool {
    matches!(ElementNamespace::of(address), ElementNamespace::Qti2(_))
}

/// The address of a template of QTI 3 for one of QTI 2.
fn address(old: &str) -> String {
    let template = ResponseTemplate::of(old);
    match ResponseTemplate::ALL.iter().find(|(_, own)| Some(*own) == template) {
        Some((name, _)) => {
            format!("https://purl.imsglobal.org/spec/qti/v3p0/rptemplates/{name}.xml")
        }
        None => old.to_owned(),
    }
}
