//! An element says what JSON says of it: attributes change, members come and go.

use std::collections::HashSet;

use lyceum_core::problem::Detail;
use lyceum_core::{Problem, Result, message};

use super::splice::{Splices, fitting, has_same_content};
use super::{TestLevel, append, by_name, find, identifier, uses};
use crate::Faults;
use crate::json::member::{default_into, in_sequence, outcome_into};
use crate::json::write::{JsonObject, XmlWriter};
use crate::xml::{Document, Element};

/// Attributes that the JSON names, by level: name in XML, name in JSON.
fn attributes(level: TestLevel) -> &'static [(&'static str, &'static str)] {
    match level {
        TestLevel::Test => {
            &[("title", "title"), ("tool-name", "toolName"), ("tool-version", "toolVersion")]
        }
        TestLevel::Part => {
            &[("navigation-mode", "navigationMode"), ("submission-mode", "submissionMode")]
        }
        TestLevel::Section => &[
            ("title", "title"),
            ("visible", "visible"),
            ("required", "required"),
            ("fixed", "fixed"),
        ],
        TestLevel::Item => &[("href", "href")],
    }
}

const OUTCOME: [(&str, &str); 4] = [
    ("cardinality", "cardinality"),
    ("base-type", "baseType"),
    ("normal-maximum", "normalMaximum"),
    ("normal-minimum", "normalMinimum"),
];

struct Revision<'s, 'd> {
    splices: Splices<'s>,
    going: Vec<Element<'d>>,
    faults: Vec<Detail>,
}

/// The text with the right members at and below the path; new ones are the last of their like.
pub(super) fn revised(source: &str, path: &[&str], json: &JsonObject<'_>) -> Result<String> {
    let document = Document::parse(source).map_err(Faults::from)?;
    let element = find(document.root(), path)?;
    let mut revision =
        Revision { splices: Splices::of(document.source()), going: Vec::new(), faults: Vec::new() };
    let name = identifier(element);
    if json.text("identifier").is_some_and(|sent| sent != name) {
        let message = message!("must be '{name}', as in the path; an identifier cannot be changed");
        return Err(Problem::invalid("identifier", message));
    }
    let level = TestLevel::at(path);
    revision.element(level, element, json);
    if level == TestLevel::Test {
        revision.test(element, json);
    }
    if !revision.faults.is_empty() {
        return Err(Problem::invalid_all(revision.faults));
    }
    uses::unused(document.root(), &revision.going)?;
    Ok(revision.splices.applied())
}

impl<'d> Revision<'_, 'd> {
    fn element(&mut self, level: TestLevel, element: Element<'d>, json: &JsonObject<'_>) {
        for (xml_name, json_name) in attributes(level) {
            self.attribute(element, xml_name, json.text(json_name));
        }
        let below = level.below();
        if level == TestLevel::Item {
            return;
        }
        let Some(wanted) = json.objects(below.element(), &mut self.faults) else { return };
        let places = by_name(&wanted);
        for (at, new) in wanted.iter().enumerate() {
            let name = new.text("identifier").unwrap_or_default();
            if places[&name] != at {
                let message = message!("'{name}' appears twice; write it once");
                self.faults.push(Detail { path: new.path("identifier"), message });
            }
        }
        let former = below.members(element);
        for old in &former {
            match places.get(identifier(*old)) {
                Some(at) => self.element(below, *old, &wanted[*at]),
                None => {
                    self.splices.remove(*old);
                    self.going.push(*old);
                }
            }
        }
        let known: HashSet<&str> = former.iter().map(|old| identifier(*old)).collect();
        let is_new =
            |new: &JsonObject<'_>| !known.contains(&*new.text("identifier").unwrap_or_default());
        let attempts = json.text("maxAttempts").filter(|_| level == TestLevel::Test);
        let new = in_sequence(wanted.into_iter().filter(is_new).collect());
        let pieces =
            new.iter().map(|new| below.piece(element, new, attempts.clone(), &mut self.faults));
        let pieces: Vec<String> = pieces.collect();
        append(&mut self.splices, below, element, &pieces);
    }

    /// A flag that is left out is false.
    fn attribute(&mut self, element: Element<'d>, name: &str, value: Option<String>) {
        let Some(value) = value else { return };
        // A record has no base type, although its JSON form has one.
        let is_default = value == "false" || name == "base-type";
        if is_default && element.attribute(name).is_none() {
            return;
        }
        self.splices.set(element, name, &value);
    }

    /// The members that only a whole test has: outcomes, time and attempts.
    fn test(&mut self, root: Element<'d>, json: &JsonObject<'_>) {
        if let Some(wanted) = json.objects("qti-outcome-declaration", &mut self.faults) {
            self.outcomes(root, &wanted);
        }
        let before = ["qti-context-declaration", "qti-outcome-declaration"];
        self.child(root, ("qti-time-limits", "max-time"), json.text("timeLimit"), &before);
        let stays = |part: &Element<'_>| !self.going.iter().any(|e| e.start() == part.start());
        let parts: Vec<_> = root.all(TestLevel::Part.element()).filter(stays).collect();
        let control = ("qti-item-session-control", "max-attempts");
        let first = parts.first().and_then(|part| part.first(control.0)?.attribute(control.1));
        // The JSON form has the value of the first part. If it is unchanged, the other parts keep their own.
        let attempts = json.text("maxAttempts").filter(|attempts| first != Some(&**attempts));
        let before = ["qti-pre-condition", "qti-branch-rule"];
        for part in parts {
            self.child(part, control, attempts.clone(), &before);
        }
    }

    fn outcomes(&mut self, root: Element<'d>, wanted: &[JsonObject<'_>]) {
        let former: Vec<_> = root.all("qti-outcome-declaration").collect();
        let places = by_name(wanted);
        for old in &former {
            let Some(new) = places.get(identifier(*old)).map(|at| &wanted[*at]) else {
                self.splices.remove(*old);
                continue;
            };
            for (xml, json) in OUTCOME {
                self.attribute(*old, xml, new.text(json));
            }
            self.default(*old, new);
        }
        let last = former.last().copied().or_else(|| root.all("qti-context-declaration").last());
        let known: HashSet<&str> = former.iter().map(|old| identifier(*old)).collect();
        let is_new =
            |new: &&JsonObject<'_>| !known.contains(&*new.text("identifier").unwrap_or_default());
        let mut pieces = Vec::new();
        for new in wanted.iter().filter(is_new) {
            let mut writer = XmlWriter::default();
            outcome_into(&mut writer, &mut self.faults, new);
            pieces.push(fitting(root, writer.xml));
        }
        match last {
            _ if pieces.is_empty() => {}
            Some(last) => self.splices.insert_after(last, &pieces),
            None => self.splices.insert_first(root, &pieces.concat()),
        }
    }

    fn default(&mut self, outcome: Element<'d>, json: &JsonObject<'_>) {
        let mut writer = XmlWriter::default();
        default_into(&mut writer, json);
        if writer.xml.is_empty() {
            return;
        }
        let new = fitting(outcome, writer.xml);
        let Some(old) = outcome.first("qti-default-value") else {
            return self.splices.insert_first(outcome, &new);
        };
        let values_in_json = json.object("defaultValue").map(|value| value.texts("value"));
        let values_in_json = values_in_json.unwrap_or_default();
        let values: Vec<_> = old.all("qti-value").map(Element::text).collect();
        let same = values.len() == values_in_json.len()
            && values.iter().zip(&values_in_json).all(|(old, new)| has_same_content(old, new));
        if !same {
            self.splices.replace(old.range(), new);
        }
    }

    /// Sets an attribute of a child; without that child makes it, behind those in `before`.
    fn child(
        &mut self,
        parent: Element<'d>,
        (name, attribute): (&'static str, &str),
        value: Option<String>,
        before: &[&str],
    ) {
        let Some(value) = value else { return };
        if let Some(child) = parent.first(name) {
            // JSON has whole seconds.
            let old = child.attribute(attribute).and_then(|old| old.parse::<f64>().ok());
            return match old.is_some_and(|old| value.parse() == Ok(old.ceil())) {
                true => {}
                false => self.splices.set(child, attribute, &value),
            };
        }
        let mut writer = XmlWriter::default();
        writer.empty(name, &[(attribute, Some(value))]);
        match parent.elements().filter(|e| before.contains(&e.name())).last() {
            Some(last) => self.splices.insert_after(last, &[fitting(parent, writer.xml)]),
            None => self.splices.insert_first(parent, &fitting(parent, writer.xml)),
        }
    }
}
