//! Tests and stimuli as JSON, both ways.

use lyceum_core::Problem;
use lyceum_core::problem::Detail;
use serde_json::{Map, Value as Json};

use super::content::content;
use super::form::{
    CatalogForm, DefaultValue, StimulusForm, StylesheetForm, TestForm, TestOutcomeForm, with_xml,
};
use super::member::{outcome_into, part_form, part_into};
use super::write::{JsonObject, NAMESPACE, WrittenXml, XmlWriter};
use crate::value::to_json;
use crate::{DocumentContent, Faults, another, parsed, read_document};

/// A test as clients read it: a [`TestForm`] with the XML. The items of inner sections are listed with the outer
/// section.
/// Errors: the document is not a test.
pub fn test_json(xml: &str) -> Result<Map<String, Json>, Faults> {
    let (document, version) = parsed(xml)?;
    let test = match read_document(&document, version)?.content {
        DocumentContent::Test(test) => test,
        other => return Err(another("qti-assessment-test", &other)),
    };
    let outcome = |outcome: &crate::model::OutcomeDeclaration| {
        let own = &outcome.declaration;
        TestOutcomeForm {
            identifier: own.identifier.to_string(),
            cardinality: own.cardinality,
            base_type: own.base_type.unwrap_or(crate::value::BaseType::String),
            normal_maximum: outcome.normal_maximum,
            normal_minimum: outcome.normal_minimum,
            default_value: DefaultValue { value: to_json(&own.default) },
        }
    };
    let control = test.parts.first().and_then(|part| part.control);
    let form = TestForm {
        identifier: test.identifier.to_string(),
        title: test.title.to_string(),
        qti_version: test.version.name(),
        parts: test.parts.iter().map(part_form).collect(),
        outcomes: test.outcomes.iter().map(outcome).collect(),
        time_limit: test.time_limits.and_then(|limits| limits.max).map(seconds),
        max_attempts: control.and_then(|control| control.max_attempts),
        content: content(document.root()),
    };
    Ok(with_xml(&form, xml))
}

#[expect(clippy::cast_possible_truncation, reason = "seconds of a test are few")]
fn seconds(limit: f64) -> i64 {
    limit.ceil() as i64
}

/// A test as XML from the form that [`test_json`] answers. Sections and items come in the order of
/// their `sequence`, if they have one. Errors: members that are missing, each by its path.
pub fn test_xml(json: &Map<String, Json>) -> Result<WrittenXml, Problem> {
    let test = JsonObject::new(json);
    let (mut writer, mut faults) = (XmlWriter::default(), Vec::new());
    writer.open(
        "qti-assessment-test",
        &[
            ("xmlns", Some(NAMESPACE.to_owned())),
            ("identifier", Some(test.required("identifier", &mut faults))),
            ("title", Some(test.required("title", &mut faults))),
            ("tool-name", test.text("toolName")),
            ("tool-version", test.text("toolVersion")),
        ],
    );
    for outcome in test.objects("qti-outcome-declaration", &mut faults).unwrap_or_default() {
        outcome_into(&mut writer, &mut faults, &outcome);
    }
    if let Some(most) = test.text("timeLimit") {
        writer.empty("qti-time-limits", &[("max-time", Some(most))]);
    }
    let parts = test.objects("qti-test-part", &mut faults).unwrap_or_default();
    if parts.is_empty() {
        let message = "must have at least one test part; send an array of parts".into();
        faults.push(Detail { path: "qti-test-part".into(), message });
    }
    for part in parts {
        part_into(&mut writer, &mut faults, &part, test.text("maxAttempts"));
    }
    writer.close("qti-assessment-test");
    writer.finish(faults)
}

/// A stimulus as clients read it: a [`StimulusForm`] with the XML. Errors: the document is not a stimulus.
pub fn stimulus_json(xml: &str) -> Result<Map<String, Json>, Faults> {
    let (document, version) = parsed(xml)?;
    let stimulus = match read_document(&document, version)?.content {
        DocumentContent::Stimulus(stimulus) => stimulus,
        other => return Err(another("qti-assessment-stimulus", &other)),
    };
    let root = document.root();
    let catalogs =
        root.first("qti-catalog-info").into_iter().flat_map(|info| info.all("qti-catalog"));
    let entry = |catalog: crate::xml::Element<'_>| {
        let card = catalog.first("qti-card");
        let support = card.and_then(|card| card.attribute("support")).unwrap_or_default();
        let content = card.and_then(|card| card.first("qti-html-content"));
        CatalogForm {
            id: catalog.attribute("id").map(str::to_owned),
            support: support.to_owned(),
            content: content.map(crate::read::inner_xml).unwrap_or_default(),
        }
    };
    let form = StimulusForm {
        identifier: stimulus.identifier.to_string(),
        title: stimulus.title.to_string(),
        label: stimulus.label.as_deref().map(str::to_owned),
        language: stimulus.language.as_deref().map(str::to_owned),
        stylesheet: stimulus.stylesheets.first().map(|sheet| StylesheetForm {
            href: sheet.href.to_string(),
            media_type: sheet.media_type.to_string(),
        }),
        catalog_info: catalogs.map(entry).collect(),
        qti_version: stimulus.version.name(),
        content: content(root),
    };
    Ok(with_xml(&form, xml))
}

/// A stimulus as XML from `{identifier, title, content, label?, language?, stylesheet?,
/// catalogInfo?}`. `content` is HTML, which may be empty. Errors: members that are missing, each by
/// its path; HTML that QTI does not allow, with line and column.
pub fn stimulus_xml(json: &Map<String, Json>) -> Result<WrittenXml, Problem> {
    let stimulus = JsonObject::new(json);
    let (mut writer, mut faults) = (XmlWriter::default(), Vec::new());
    writer.open(
        "qti-assessment-stimulus",
        &[
            ("xmlns", Some(NAMESPACE.to_owned())),
            ("identifier", Some(stimulus.required("identifier", &mut faults))),
            ("title", Some(stimulus.required("title", &mut faults))),
            ("label", stimulus.text("label")),
            ("xml:lang", stimulus.text("language")),
            ("tool-name", stimulus.text("toolName")),
            ("tool-version", stimulus.text("toolVersion")),
        ],
    );
    if let Some(sheet) = stimulus.object("stylesheet") {
        let attributes = [("href", sheet.text("href")), ("type", sheet.text("type"))];
        writer.empty("qti-stylesheet", &attributes);
    }
    if stimulus.object.get("content").is_none_or(|content| content.is_null() || content == "") {
        let message = "is required; send the HTML of the stimulus".into();
        faults.push(Detail { path: stimulus.path("content"), message });
    }
    let content = stimulus.markup("content", &mut faults).unwrap_or_default();
    writer.open("qti-stimulus-body", &[]);
    writer.around("div", &[], &content);
    writer.close("qti-stimulus-body");
    let catalogs = stimulus.list("catalogInfo");
    if !catalogs.is_empty() {
        writer.open("qti-catalog-info", &[]);
        for catalog in catalogs {
            writer.open("qti-catalog", &[("id", Some(catalog.required("id", &mut faults)))]);
            writer.open("qti-card", &[("support", catalog.text("support"))]);
            let html = catalog.markup("content", &mut faults).unwrap_or_default();
            writer.around("qti-html-content", &[], &html);
            writer.close("qti-card");
            writer.close("qti-catalog");
        }
        writer.close("qti-catalog-info");
    }
    writer.close("qti-assessment-stimulus");
    writer.finish(faults)
}
