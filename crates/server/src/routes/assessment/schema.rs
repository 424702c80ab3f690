//! JSON Schemas of assessment content.

use lyceum_assessment::Kind;
use lyceum_core::schema::TypeSchema;
use serde_json::{Value, json};

use crate::route::{AnswerHeader, ParamPlace, Route};

/// Headers of an answer that shows a document.
pub(super) const TAGGED: &[AnswerHeader] = &[AnswerHeader {
    name: "ETag",
    ty: "string",
    description: "The version, for If-Match and If-None-Match.",
}];
/// Headers of an answer that shows a new document.
pub(super) const CREATED: &[AnswerHeader] = &[
    AnswerHeader {
        name: "ETag",
        ty: "string",
        description: "The version, for If-Match and If-None-Match.",
    },
    AnswerHeader { name: "Location", ty: "string", description: "Where the document is." },
];

fn text() -> Value {
    json!({ "type": "string" })
}

fn flag() -> Value {
    json!({ "type": "boolean" })
}

fn whole() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

fn list(items: &Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn object(required: &[&str], properties: &Value) -> Value {
    json!({ "type": "object", "required": required, "properties": properties })
}

/// The parameters of a page.
pub(super) fn page_parameters(route: Route) -> Route {
    let whole = || json!({ "type": "integer", "minimum": 1 });
    route.param(ParamPlace::Query, "page", whole(), "The page, from 1.").param(
        ParamPlace::Query,
        "limit",
        whole(),
        "Documents on a page, 3000 at most.",
    )
}

/// The parameters of a list.
pub(super) fn list_parameters(route: Route) -> Route {
    let one_of = |words: &[&str]| json!({ "type": "string", "enum": words });
    let sorts = ["createdAt", "updatedAt", "identifier", "title", "type"];
    page_parameters(route)
        .param(ParamPlace::Query, "sort", one_of(&sorts), "The field that orders the list.")
        .param(ParamPlace::Query, "order", one_of(&["asc", "desc"]), "Its direction.")
        .param(
            ParamPlace::Query,
            "query",
            text(),
            "A text to look for in identifiers, titles and bodies.",
        )
        .param(
            ParamPlace::Query,
            "filter",
            text(),
            "Clauses such as `type='choice' AND metadata.difficulty!='hard'`, with parentheses.",
        )
}

/// A page of documents of the kind.
pub(super) fn page(kind: Kind) -> TypeSchema {
    let order = json!({ "type": "string", "enum": ["asc", "desc"] });
    let page = object(
        &["items", "total", "page", "pages", "limit", "sort", "order"],
        &json!({
            "items": list(&document(kind)), "total": whole(), "page": whole(), "pages": whole(),
            "limit": whole(), "sort": text(), "order": order,
        }),
    );
    TypeSchema::named(format!("{}Page", component(kind)), page)
}

/// A document of the kind, as it is read.
pub(super) fn document(kind: Kind) -> Value {
    json!({ "$ref": format!("#/components/schemas/{}", component(kind)) })
}

fn component(kind: Kind) -> &'static str {
    match kind {
        Kind::Item => "AssessmentItem",
        Kind::Test => "AssessmentTest",
        Kind::Stimulus => "Stimulus",
    }
}

pub(super) fn error() -> Value {
    json!({ "$ref": "#/components/schemas/QtiError" })
}

/// What the documents refer to.
pub(crate) fn components() -> impl Iterator<Item = (String, Value)> {
    Kind::ALL.into_iter().map(|kind| (component(kind).to_owned(), read(kind)))
}

fn read(kind: Kind) -> Value {
    let mut required = vec![
        "identifier",
        "title",
        "qtiVersion",
        "content",
        "version",
        "createdAt",
        "updatedAt",
        "rawXml",
        "qtiXml",
    ];
    let mut properties = json!({
        "identifier": text(),
        "title": text(),
        "qtiVersion": { "type": "string", "enum": ["2.1", "2.2", "3.0"] },
        "content": { "type": "object" },
        "metadata": { "type": "object" },
        "version": { "type": "integer", "minimum": 1 },
        "createdAt": { "type": "string", "format": "date-time" },
        "updatedAt": { "type": "string", "format": "date-time" },
        "rawXml": text(),
        "qtiXml": text(),
    });
    let more = match kind {
        Kind::Item => {
            required.extend([
                "type",
                "timeDependent",
                "adaptive",
                "responseDeclarations",
                "outcomeDeclarations",
            ]);
            of_item()
        }
        Kind::Test => {
            required.push("qti-test-part");
            json!({ "qti-test-part": list(&part()), "timeLimit": whole(), "maxAttempts": whole() })
        }
        Kind::Stimulus => {
            required.push("catalogInfo");
            let catalog = json!({ "id": { "type": ["string", "null"] }, "support": text(), "content": text() });
            json!({
                "label": { "type": ["string", "null"] },
                "language": { "type": ["string", "null"] },
                "catalogInfo": list(&object(&["id", "support", "content"], &catalog)),
            })
        }
    };
    let own = properties.as_object_mut().expect("an object was made");
    own.extend(more.as_object().expect("an object was made").clone());
    object(&required, &properties)
}

fn of_item() -> Value {
    let correct = object(&["value"], &json!({ "value": list(&text()) }));
    let base_type = json!({ "type": ["string", "null"] });
    let outcome = json!({ "identifier": text(), "cardinality": text(), "baseType": base_type });
    let mut response = outcome.clone();
    response["correctResponse"] = correct;
    let feedback = json!({
        "outcomeIdentifier": text(), "identifier": text(), "content": text(), "title": text(),
        "showHide": { "type": "string", "enum": ["show", "hide"] },
    });
    let feedback = object(&["outcomeIdentifier", "identifier", "showHide", "content"], &feedback);
    json!({
        "type": text(),
        "interactionTypes": list(&text()),
        "timeDependent": flag(),
        "adaptive": flag(),
        "responseDeclarations": list(&object(&["identifier", "cardinality", "correctResponse"], &response)),
        "outcomeDeclarations": list(&object(&["identifier", "cardinality"], &outcome)),
        "responseProcessing": { "type": "object" },
        "modalFeedback": list(&feedback),
        "feedbackInline": list(&feedback),
        "feedbackBlock": list(&feedback),
        "rubrics": list(&json!({ "type": "object" })),
        "stimulus": { "type": "object" },
    })
}

fn part() -> Value {
    let item = json!({ "identifier": text(), "href": text(), "sequence": whole() });
    let section = json!({
        "identifier": text(), "title": text(), "visible": flag(), "required": flag(),
        "fixed": flag(), "sequence": whole(),
        "qti-assessment-item-ref": list(&object(&["identifier", "href"], &item)),
    });
    let sections = list(&object(&["identifier", "title", "visible", "sequence"], &section));
    object(
        &["identifier", "navigationMode", "submissionMode", "qti-assessment-section"],
        &json!({
            "identifier": text(),
            "navigationMode": { "type": "string", "enum": ["linear", "nonlinear"] },
            "submissionMode": { "type": "string", "enum": ["individual", "simultaneous"] },
            "qti-assessment-section": sections,
        }),
    )
}

/// What a request to store a document may say.
pub(super) fn input(kind: Kind) -> TypeSchema {
    let metadata = json!({ "type": ["object", "null"] });
    let xml = object(
        &["xml"],
        &json!({ "format": { "const": "xml" }, "xml": text(), "metadata": metadata }),
    );
    let around = json!({ "identifier": text(), "title": text(), "metadata": metadata });
    let mut json_form = object(&["identifier", "title"], &around);
    let own = match kind {
        Kind::Item => json!({
            "type": text(),
            "preInteraction": text(),
            "interaction": object(
                &["responseIdentifier", "questionStructure"],
                &json!({ "type": text(), "responseIdentifier": text(), "questionStructure": { "type": "object" } }),
            ),
        }),
        Kind::Test => json!({ "qti-test-part": list(&part()) }),
        Kind::Stimulus => json!({ "content": text(), "label": text(), "language": text() }),
    };
    let properties = json_form["properties"].as_object_mut().expect("an object was made");
    properties.extend(own.as_object().expect("an object was made").clone());
    let input = json!({ "anyOf": [xml, json_form] });
    TypeSchema::named(format!("{}Input", component(kind)), input)
}
