//! The official OpenAPI documents of OneRoster 1.2. They are not part of the repository: tests read
//! them from `$LYCEUM_STANDARDS` or `../shared/standards` beside it, and say so where they are absent.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::served::{root, variable};

/// A service of the three.
pub(crate) struct Service {
    /// Its document's name.
    pub(crate) file: &'static str,
    /// Its addresses stand below this.
    pub(crate) prefix: &'static str,
}

/// Rostering, gradebook and resources.
pub(crate) const SERVICES: [Service; 3] = [
    Service {
        file: "onerosterv1p2rostersservice_openapi3_v1p0.json",
        prefix: "/ims/oneroster/rostering/v1p2",
    },
    Service {
        file: "onerosterv1p2gradebookservice_openapi3_v1p0.json",
        prefix: "/ims/oneroster/gradebook/v1p2",
    },
    Service {
        file: "onerosterv1p2resourcesservice_openapi3_v1p0.json",
        prefix: "/ims/oneroster/resources/v1p2",
    },
];

/// The folder of the documents. Absent: prints what is left out, or panics where they are required.
pub(crate) fn folder(left_out: &str) -> Option<PathBuf> {
    let standards = variable("LYCEUM_STANDARDS")
        .map_or_else(|| root().join("../shared/standards"), PathBuf::from);
    let folder = standards.join("oneroster");
    if folder.join(SERVICES[0].file).exists() {
        return Some(folder);
    }
    let required = variable("LYCEUM_REQUIRE_STANDARDS").is_some_and(|value| value == "1");
    assert!(!required, "no official documents in {}", folder.display());
    println!("left out, without the official documents: {left_out}");
    None
}

/// The documents, with the service of each.
pub(crate) fn documents(left_out: &str) -> Option<Vec<(&'static Service, Value)>> {
    let folder = folder(left_out)?;
    let read = |service: &'static Service| {
        let text = std::fs::read_to_string(folder.join(service.file)).unwrap();
        (service, serde_json::from_str(&text).unwrap())
    };
    Some(SERVICES.iter().map(read).collect())
}

/// Holds answers against the documents.
pub(crate) struct Answers {
    documents: Option<Vec<(&'static Service, Value)>>,
}

impl Answers {
    /// Without the documents nothing is held against them.
    pub(crate) fn new() -> Self {
        Self { documents: documents("the schemas of all answers") }
    }

    /// Panics when the document does not allow this body for the operation at the address. A PUT that
    /// updates answers 200, which the documents leave out: its body is held against nothing.
    pub(crate) fn hold(&self, method: &str, address: &str, status: u16, body: &str) {
        let Some(documents) = &self.documents else { return };
        let path = address.split('?').next().unwrap();
        let (service, document) = documents
            .iter()
            .find(|(service, _)| path.starts_with(service.prefix))
            .unwrap_or_else(|| panic!("no service at {path}"));
        let operation = operation(document, method, &path[service.prefix.len()..]);
        let responses = &operation["responses"];
        let status_key = status.to_string();
        if method == "put" && status == 200 {
            return;
        }
        let response = responses.get(&status_key).unwrap_or(&responses["default"]);
        let Some(schema) = response.pointer("/content/application~1json/schema") else {
            assert_eq!(body, "", "{method} {address} answered {status} with a body");
            return;
        };
        let schema = json!({ "allOf": [schema], "components": document["components"] });
        let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
        let body = serde_json::from_str(body).unwrap();
        let faults: Vec<_> = validator
            .iter_errors(&body)
            .map(|fault| format!("{}: {fault}", fault.instance_path()))
            .collect();
        assert!(faults.is_empty(), "{method} {address} {status}: {faults:#?}\n{body:#}");
    }
}

/// The operation at an address below the service's prefix.
fn operation<'a>(document: &'a Value, method: &str, path: &str) -> &'a Value {
    let paths = document["paths"].as_object().unwrap();
    let fits = |template: &str| {
        let (a, b): (Vec<_>, Vec<_>) = (template.split('/').collect(), path.split('/').collect());
        a.len() == b.len() && a.iter().zip(&b).all(|(t, p)| t.starts_with('{') || t == p)
    };
    let (_, found) = paths
        .iter()
        .find(|(template, methods)| fits(template) && methods.get(method).is_some())
        .unwrap_or_else(|| panic!("the documents have no {method} {path}"));
    &found[method]
}
