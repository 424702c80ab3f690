//! What a test is made of as JSON, both ways: parts, sections, references to items.

use lyceum_core::problem::Detail;
use lyceum_core::{Problem, ProblemKind, Result};
use serde_json::{Value as Json, json};

use super::write::{JsonObject, XmlWriter};
use crate::model::{ItemRef, Navigation, Section, SectionMember, Submission, Test, TestPart};

/// Nothing of that sort there.
pub(crate) fn unknown(what: &str, name: &str, inside: &str) -> Problem {
    let message = format!("there is no {what} '{name}' in {inside}");
    Problem::new(ProblemKind::NotFound, message)
}

/// A part (`[part]`) or a section at any depth of a part (`[part, section]`) as clients read it.
/// Errors: `NotFound` for an unknown name.
pub fn member_json(test: &Test, at: &[&str]) -> Result<Json> {
    let [name, inner @ ..] = at else { return Err(unknown("test part", "", "the test")) };
    let found = part(test, name)?;
    match inner {
        [] => Ok(part_json(found)),
        [name, ..] => section(found, name).map(|(section, at)| section_json(section, at)),
    }
}

/// The parts of a test (`[]`), the sections of a part (`[part]`) or the references of a section
/// (`[part, section]`) as clients read them. Errors: there is no part or section of that name.
pub fn members_json(test: &Test, at: &[&str]) -> Result<Vec<Json>> {
    Ok(match at {
        [] => test.parts.iter().map(part_json).collect(),
        [name] => sections_json(part(test, name)?),
        [name, inner, ..] => refs_json(section(part(test, name)?, inner)?.0),
    })
}

fn part<'t>(test: &'t Test, name: &str) -> Result<&'t TestPart> {
    let found = test.parts.iter().find(|part| &*part.identifier == name);
    found.ok_or_else(|| unknown("test part", name, &format!("the test '{}'", test.identifier)))
}

/// A section at any depth, and its place among its siblings, from 1.
fn section<'t>(part: &'t TestPart, name: &str) -> Result<(&'t Section, usize)> {
    fn find<'t>(members: &'t [SectionMember], name: &str) -> Option<(&'t Section, usize)> {
        let all = || inner(members).enumerate();
        let here = all().find(|(_, section)| &*section.identifier == name);
        here.map(|(at, section)| (section, at + 1))
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

pub(super) fn part_json(part: &TestPart) -> Json {
    json!({
        "identifier": part.identifier,
        "navigationMode": match part.navigation {
            Navigation::Linear => "linear",
            Navigation::Nonlinear => "nonlinear",
        },
        "submissionMode": match part.submission {
            Submission::Individual => "individual",
            Submission::Simultaneous => "simultaneous",
        },
        "qti-assessment-section": sections_json(part),
    })
}

fn sections_json(part: &TestPart) -> Vec<Json> {
    inner(&part.sections).enumerate().map(|(at, s)| section_json(s, at + 1)).collect()
}

fn section_json(section: &Section, sequence: usize) -> Json {
    json!({
        "identifier": section.identifier,
        "title": section.title,
        "visible": section.visible,
        "required": section.required,
        "fixed": section.fixed,
        "sequence": sequence,
        "qti-assessment-item-ref": refs_json(section),
    })
}

/// Those of inner sections among them.
fn refs_json(section: &Section) -> Vec<Json> {
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
    let one = |(at, item): (usize, &ItemRef)| json!({"identifier": item.identifier, "href": item.href, "sequence": at + 1});
    all.into_iter().enumerate().map(one).collect()
}

/// The objects in the order of their `sequence`, where they have one.
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
    let said = |name: &str, default: &str| part.text(name).or_else(|| Some(default.to_owned()));
    writer.open(
        "qti-test-part",
        &[
            ("identifier", Some(part.required("identifier", faults))),
            ("navigation-mode", said("navigationMode", "nonlinear")),
            ("submission-mode", said("submissionMode", "individual")),
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

/// The default value of an outcome; nothing where it has none.
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
