//! Parts, sections and references to items of a test as JSON, both ways.

use lyceum_core::problem::Detail;
use lyceum_core::{Problem, ProblemKind, Result, message};
use serde_json::{Value as Json, json};

use super::form::{self, ItemReference, TestSection};
use super::write::{JsonObject, XmlWriter};
use crate::model::{ItemRef, Section, SectionMember, Test, TestPart};

/// The problem of an unknown member.
pub(crate) fn unknown(kind: &str, name: &str, inside: &str) -> Problem {
    let message = message!("there is no {kind} '{name}' in {inside}");
    Problem::new(ProblemKind::NotFound, message)
}

/// A part (`[part]`), or a section at any depth of a part (`[part, section]`), as clients read it. Errors: `NotFound`.
pub fn member_json(test: &Test, at: &[&str]) -> Result<Json> {
    let [name, inner @ ..] = at else { return Err(unknown("test part", "", "the test")) };
    let found = part(test, name)?;
    Ok(match inner {
        [] => json!(part_form(found)),
        [name, ..] => {
            let (section, sequence) = section(found, name)?;
            json!(section_form(section, sequence))
        }
    })
}

/// The parts of a test (`[]`), the sections of a part (`[part]`), or the references of a section (`[part, section]`),
/// as clients read them. Errors: `NotFound`.
pub fn members_json(test: &Test, at: &[&str]) -> Result<Vec<Json>> {
    let list = match at {
        [] => json!(test.parts.iter().map(part_form).collect::<Vec<_>>()),
        [name] => json!(section_forms(part(test, name)?)),
        [name, inner, ..] => json!(references(section(part(test, name)?, inner)?.0)),
    };
    let Json::Array(members) = list else { unreachable!("lists are arrays") };
    Ok(members)
}

fn part<'t>(test: &'t Test, name: &str) -> Result<&'t TestPart> {
    let found = test.parts.iter().find(|part| &*part.identifier == name);
    found.ok_or_else(|| unknown("test part", name, &format!("the test '{}'", test.identifier)))
}

/// A section at any depth, and its place among its siblings, from 1.
fn section<'t>(part: &'t TestPart, name: &str) -> Result<(&'t Section, usize)> {
    fn find<'t>(members: &'t [SectionMember], name: &str) -> Option<(&'t Section, usize)> {
        let all = || inner(members).enumerate();
        let found = all().find(|(_, section)| &*section.identifier == name);
        found
            .map(|(at, section)| (section, at + 1))
            .or_else(|| all().find_map(|(_, section)| find(&section.members, name)))
    }
    let found = find(&part.sections, name);
    found.ok_or_else(|| unknown("section", name, &format!("the part '{}'", part.identifier)))
}

fn inner(members: &[SectionMember]) -> impl Iterator<Item = &Section> {
    members.iter().filter_map(|member| match member {
        SectionMember::Section(section) => Some(&**section),
        _ => None,
    })
}

pub(super) fn part_form(part: &TestPart) -> form::TestPart {
    form::TestPart {
        identifier: part.identifier.to_string(),
        navigation_mode: part.navigation,
        submission_mode: part.submission,
        sections: section_forms(part),
    }
}

fn section_forms(part: &TestPart) -> Vec<TestSection> {
    inner(&part.sections).enumerate().map(|(at, s)| section_form(s, at + 1)).collect()
}

fn section_form(section: &Section, sequence: usize) -> TestSection {
    TestSection {
        identifier: section.identifier.to_string(),
        title: section.title.to_string(),
        visible: section.visible,
        required: section.required,
        fixed: section.fixed,
        sequence,
        items: references(section),
    }
}

/// The references of a section and of its inner sections.
fn references(section: &Section) -> Vec<ItemReference> {
    fn collect<'s>(section: &'s Section, all: &mut Vec<&'s ItemRef>) {
        for member in &section.members {
            match member {
                SectionMember::Item(item) => all.push(item),
                SectionMember::Section(inner) => collect(inner, all),
                SectionMember::SectionRef(_) => {}
            }
        }
    }
    let mut all = Vec::new();
    collect(section, &mut all);
    let reference = |(at, item): (usize, &ItemRef)| ItemReference {
        identifier: item.identifier.to_string(),
        href: item.href.to_string(),
        sequence: at + 1,
    };
    all.into_iter().enumerate().map(reference).collect()
}

/// The objects in the order of their `sequence`, if they have one.
pub(crate) fn in_sequence(mut members: Vec<JsonObject<'_>>) -> Vec<JsonObject<'_>> {
    members.sort_by_key(|member| member.object.get("sequence").and_then(Json::as_i64));
    members
}

pub(crate) fn part_into(
    writer: &mut XmlWriter,
    faults: &mut Vec<Detail>,
    part: &JsonObject<'_>,
    attempts: Option<String>,
) {
    let text_or = |name: &str, default: &str| part.text(name).or_else(|| Some(default.to_owned()));
    writer.open(
        "qti-test-part",
        &[
            ("identifier", Some(part.required("identifier", faults))),
            ("navigation-mode", text_or("navigationMode", "nonlinear")),
            ("submission-mode", text_or("submissionMode", "individual")),
        ],
    );
    if let Some(attempts) = attempts {
        writer.empty("qti-item-session-control", &[("max-attempts", Some(attempts))]);
    }
    let sections = part.objects("qti-assessment-section", faults).unwrap_or_default();
    for section in in_sequence(sections) {
        section_into(writer, faults, &section);
    }
    writer.close("qti-test-part");
}

pub(crate) fn section_into(
    writer: &mut XmlWriter,
    faults: &mut Vec<Detail>,
    section: &JsonObject<'_>,
) {
    let visible = section.text("visible").unwrap_or_else(|| "true".into());
    writer.open(
        "qti-assessment-section",
        &[
            ("identifier", Some(section.required("identifier", faults))),
            ("title", Some(section.required("title", faults))),
            ("visible", Some(visible)),
            ("required", section.text("required")),
            ("fixed", section.text("fixed")),
        ],
    );
    let items = section.objects("qti-assessment-item-ref", faults).unwrap_or_default();
    for item in in_sequence(items) {
        item_ref_into(writer, faults, &item);
    }
    writer.close("qti-assessment-section");
}

pub(crate) fn item_ref_into(
    writer: &mut XmlWriter,
    faults: &mut Vec<Detail>,
    item: &JsonObject<'_>,
) {
    writer.empty(
        "qti-assessment-item-ref",
        &[
            ("identifier", Some(item.required("identifier", faults))),
            ("href", Some(item.required("href", faults))),
        ],
    );
}

pub(crate) fn outcome_into(
    writer: &mut XmlWriter,
    faults: &mut Vec<Detail>,
    outcome: &JsonObject<'_>,
) {
    let cardinality = outcome.text("cardinality").unwrap_or_else(|| "single".into());
    writer.open(
        "qti-outcome-declaration",
        &[
            ("identifier", Some(outcome.required("identifier", faults))),
            ("cardinality", Some(cardinality)),
            ("base-type", outcome.text("baseType")),
            ("normal-maximum", outcome.text("normalMaximum")),
            ("normal-minimum", outcome.text("normalMinimum")),
        ],
    );
    default_into(writer, outcome);
    writer.close("qti-outcome-declaration");
}

/// The default value of an outcome; nothing if it has none.
pub(crate) fn default_into(writer: &mut XmlWriter, outcome: &JsonObject<'_>) {
    let default = outcome.object("defaultValue").map(|d| d.texts("value")).unwrap_or_default();
    if default.is_empty() {
        return;
    }
    writer.open("qti-default-value", &[]);
    for value in &default {
        writer.text("qti-value", value);
    }
    writer.close("qti-default-value");
}
