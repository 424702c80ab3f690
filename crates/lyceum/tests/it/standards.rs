//! Our OpenAPI document against the official ones: what they describe, ours describes too.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::http::Http;
use crate::official::documents;
use crate::served::{Served, Store};

#[test]
fn our_document_describes_all_that_the_official_documents_describe() {
    let Some(documents) = documents("our OpenAPI document against the 3 official ones") else {
        return;
    };
    let served = Served::start(Store::Sqlite);
    let ours = Http::without_token(&served.base).send("get", "/openapi.json", None);
    assert_eq!(ours.status, 200, "{}", ours.body);
    let ours = ours.json();
    let mut differences = Vec::new();
    for (service, official) in &documents {
        Comparison { official, ours: &ours, found: &mut differences, sent: false }
            .paths(service.prefix);
    }
    assert!(
        differences.is_empty(),
        "{} differences:\n{}",
        differences.len(),
        differences.join("\n")
    );
}

/// The comparison sees what is taken away: a test that cannot fail would prove nothing.
#[test]
fn the_comparison_reports_missing_parts() {
    let Some(documents) = documents("the comparison of OpenAPI documents itself") else { return };
    let (_, official) = &documents[1];
    let count = |change: &dyn Fn(&mut Value)| {
        let mut ours = official.clone();
        change(&mut ours);
        let mut found = Vec::new();
        Comparison { official, ours: &ours, found: &mut found, sent: false }.paths("");
        found.len()
    };
    assert_eq!(count(&|_| ()), 0, "a document equals itself");
    let pointers = [
        "/paths/~1lineItems~1{sourcedId}/put",
        "/paths/~1lineItems/get/responses/200",
        "/components/schemas/ResultDType/properties/score",
        "/components/schemas/ResultDType/properties/score/type",
        "/components/schemas/ResultDType/required/4",
        "/components/schemas/ResultDType/properties/status/enum/1",
        "/paths/~1results/get/parameters/4",
        "/paths/~1results/get/security/0",
    ];
    for pointer in pointers {
        assert!(count(&|ours| remove(ours, pointer)) > 0, "nothing was seen without {pointer}");
    }
}

fn remove(document: &mut Value, pointer: &str) {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match document.pointer_mut(parent).unwrap() {
        Value::Array(members) => drop(members.remove(name.parse().unwrap())),
        Value::Object(members) => drop(members.shift_remove(name).unwrap()),
        other => panic!("{other}"),
    }
}

/// The entry of our document for a status: by itself, or with all of its class (`4XX`). Both classes of errors together
/// are what the official documents call `default`.
fn response_for<'o>(responses: &'o Value, status: &str) -> Option<&'o Value> {
    let of_class = || match status {
        "default" => responses.get("5XX").and(responses.get("4XX")),
        _ => responses.get(format!("{}XX", &status[..1])),
    };
    responses.get(status).or_else(of_class)
}

/// Fields that the official documents have in answers and no answer of this server shows, on purpose.
const NEVER_SHOWN: &[&str] = &["password"];

struct Comparison<'a> {
    official: &'a Value,
    ours: &'a Value,
    found: &'a mut Vec<String>,
    /// Whether the client sends the compared value: our schema may ask for less of it, never for more.
    sent: bool,
}

impl Comparison<'_> {
    fn differs(&mut self, place: &str, what: impl std::fmt::Display) {
        self.found.push(format!("{place}: {what}"));
    }

    /// Every operation of the official document stands in ours below the prefix.
    fn paths(&mut self, prefix: &str) {
        for (path, methods) in self.official["paths"].as_object().unwrap() {
            let wanted = without_names(&format!("{prefix}{path}"));
            let ours = self.ours["paths"].as_object().unwrap();
            let ours = ours.iter().find(|(path, _)| without_names(path) == wanted);
            for (method, operation) in methods.as_object().unwrap() {
                let place = format!("{} {prefix}{path}", method.to_uppercase());
                match ours.and_then(|(_, methods)| methods.get(method)) {
                    Some(ours) => self.operation(&place, operation, ours),
                    None => self.differs(&place, "missing"),
                }
            }
        }
    }

    fn operation(&mut self, place: &str, official: &Value, ours: &Value) {
        self.parameters(place, official, ours);
        let scopes = |operation: &Value| -> BTreeSet<String> {
            let requirements = operation["security"].as_array().into_iter().flatten();
            let schemes = requirements.flat_map(|r| r.as_object().unwrap().values());
            schemes.flat_map(|s| s.as_array().unwrap()).map(text).collect()
        };
        let open = scopes(ours);
        for scope in scopes(official) {
            if !open.contains(&scope) {
                self.differs(place, format!("is not opened by the scope {scope}"));
            }
        }
        if let Some(schema) = schema(&official["requestBody"]) {
            let ours = schema_of(self.ours, &ours["requestBody"]);
            self.sent = true;
            self.schema(&format!("{place} body"), schema, &ours, &mut Vec::new());
            self.sent = false;
        }
        for (status, response) in official["responses"].as_object().unwrap() {
            let place = format!("{place} {status}");
            let Some(found) = response_for(&ours["responses"], status) else {
                self.differs(&place, "missing");
                continue;
            };
            let found = resolve(self.ours, found);
            for header in response["headers"].as_object().into_iter().flat_map(|h| h.keys()) {
                if found["headers"].get(header).is_none() {
                    self.differs(&place, format!("without the header {header}"));
                }
            }
            if let Some(schema) = schema(response) {
                let found = schema_of(self.ours, found);
                self.schema(&place, schema, &found, &mut Vec::new());
            }
        }
    }

    fn parameters(&mut self, place: &str, official: &Value, ours: &Value) {
        let listed = |operation: &Value, document: &Value| -> Vec<Value> {
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            parameters.map(|parameter| resolve(document, parameter).clone()).collect()
        };
        let found = listed(ours, self.ours);
        for wanted in listed(official, self.official).iter().filter(|p| p["in"] == "query") {
            let name = text(&wanted["name"]);
            let Some(found) =
                found.iter().find(|p| p["in"] == "query" && p["name"] == wanted["name"])
            else {
                self.differs(place, format!("without the parameter {name}"));
                continue;
            };
            let place = format!("{place} ?{name}");
            self.schema(&place, &wanted["schema"], &found["schema"], &mut Vec::new());
            if wanted["schema"].get("default") != found["schema"].get("default") {
                self.differs(&place, format!("another default: {}", found["schema"]));
            }
        }
    }

    /// Names, types, what is required and the words of an enumeration; ours may say more.
    fn schema(&mut self, place: &str, official: &Value, ours: &Value, above: &mut Vec<Value>) {
        let wanted = Shape::of(self.official, official);
        if above.contains(official) {
            return;
        }
        let found = Shape::of(self.ours, ours);
        let required = match self.sent {
            false => ("required field", &wanted.required, &found.required),
            true => ("right to leave out the field", &found.required, &wanted.required),
        };
        for (what, wanted, found) in
            [("type", &wanted.types, &found.types), ("word", &wanted.words, &found.words), required]
        {
            let missing: Vec<_> = wanted.difference(found).cloned().collect();
            if !missing.is_empty() {
                self.differs(place, format!("without the {what} {}", missing.join(", ")));
            }
        }
        above.push(official.clone());
        for (name, schema) in &wanted.properties {
            match found.properties.iter().find(|(other, _)| other == name) {
                Some((_, ours)) => self.schema(&format!("{place} .{name}"), schema, ours, above),
                None if !self.sent && NEVER_SHOWN.contains(&name.as_str()) => {}
                None => self.differs(place, format!("without the field {name}")),
            }
        }
        if let Some(items) = &wanted.items {
            match &found.items {
                Some(ours) => self.schema(&format!("{place} []"), items, ours, above),
                None => self.differs(place, "says nothing of its members"),
            }
        }
        above.pop();
    }
}

/// A schema with its references followed and its alternatives laid together.
#[derive(Default)]
struct Shape {
    types: BTreeSet<String>,
    words: BTreeSet<String>,
    required: BTreeSet<String>,
    properties: Vec<(String, Value)>,
    items: Option<Value>,
}

impl Shape {
    fn of(document: &Value, schema: &Value) -> Self {
        let mut shape = Self::default();
        shape.add(document, schema);
        shape
    }

    fn add(&mut self, document: &Value, schema: &Value) {
        let schema = resolve(document, schema);
        match &schema["type"] {
            Value::Array(types) => self.types.extend(types.iter().map(text)),
            Value::String(one) => drop(self.types.insert(one.clone())),
            _ => {}
        }
        let texts =
            |name: &str| schema[name].as_array().into_iter().flatten().filter_map(Value::as_str);
        self.words.extend(texts("enum").chain(schema["const"].as_str()).map(str::to_owned));
        self.required.extend(texts("required").map(str::to_owned));
        let properties = schema["properties"].as_object().into_iter().flatten();
        self.properties.extend(properties.map(|(name, schema)| (name.clone(), schema.clone())));
        if let Some(items) = schema.get("items") {
            self.items = Some(items.clone());
        }
        let parts = |name: &str| schema[name].as_array().into_iter().flatten();
        parts("allOf").for_each(|part| self.add(document, part));
        let required = self.required.clone();
        parts("anyOf").chain(parts("oneOf")).for_each(|part| self.add(document, part));
        // What one alternative requires, another may leave out.
        self.required = required;
    }
}

fn resolve<'a>(document: &'a Value, mut value: &'a Value) -> &'a Value {
    while let Some(reference) = value["$ref"].as_str() {
        let pointer = reference.strip_prefix('#').unwrap();
        value = document.pointer(pointer).unwrap_or_else(|| panic!("nothing at {reference}"));
    }
    value
}

fn schema(body: &Value) -> Option<&Value> {
    body.pointer("/content/application~1json/schema")
}

fn schema_of(document: &Value, body: &Value) -> Value {
    schema(resolve(document, body)).cloned().unwrap_or_else(|| json!({}))
}

/// A path with the names of its parameters left out.
fn without_names(path: &str) -> String {
    let parts = path.split('/').map(|part| if part.starts_with('{') { "{}" } else { part });
    parts.collect::<Vec<_>>().join("/")
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}
