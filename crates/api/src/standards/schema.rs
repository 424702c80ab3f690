//! JSON Schemas of academic standards, generated from the declarations of their classes. They describe answers in the
//! platform's format. The standard's documents describe the other format.
use lyceum_core::limits::{PAGE_DEFAULT_RECORDS, PAGE_MAX_RECORDS};
use lyceum_http::route::ParamPlace;
use lyceum_standards::class::{self, Class, DEFINITIONS, Field, Type};
use lyceum_standards::limits;
use serde_json::{Map, Value, json};

use crate::Route;

const CLASSES: [&Class; 11] = [
    &class::DOCUMENT,
    &class::ITEM,
    &class::ASSOCIATION,
    &class::CONCEPT,
    &class::SUBJECT,
    &class::LICENSE,
    &class::ITEM_TYPE,
    &class::GROUPING,
    &class::RUBRIC,
    &class::LINK,
    &class::NODE,
];

/// The schemas of each class in answers, and in requests with `Input` appended to the name.
pub fn components() -> impl Iterator<Item = (String, Value)> {
    CLASSES.iter().flat_map(|class| {
        let names = [class.name.to_owned(), format!("{}Input", class.name)];
        let [answered, sent] = names;
        [(answered, object(class, "sourcedId")), (sent, object(class, "identifier"))]
    })
}

fn reference(class: &Class, id: &str) -> Value {
    let input = if id == "identifier" { "Input" } else { "" };
    json!({ "$ref": format!("#/components/schemas/{}{input}", class.name) })
}

fn object(class: &Class, id: &str) -> Value {
    let name = |field: &Field| if field.name == "identifier" { id } else { field.name };
    let mut properties: Map<String, Value> =
        class.fields.iter().map(|field| (name(field).to_owned(), value(field.ty, id))).collect();
    if let Some(owner) = class.owner {
        properties.insert(owner.to_owned(), reference(&class::LINK, id));
    }
    // A write of a single record may leave out these members, and the server fills them in.
    let filled_in = ["identifier", "uri", "lastChangeDateTime"];
    let is_input = id == "identifier" && class.owner.is_some();
    let needed = class.fields.iter().filter(|field| field.required);
    let needed = needed.filter(|field| !is_input || !filled_in.contains(&field.name)).map(name);
    json!({ "type": "object", "required": needed.collect::<Vec<_>>(), "properties": properties })
}

fn value(ty: Type, id: &str) -> Value {
    let text = || json!({ "type": "string" });
    match ty {
        Type::Text => text(),
        Type::Uri => json!({ "type": "string", "format": "uri" }),
        Type::Uuid => json!({ "type": "string", "format": "uuid" }),
        Type::Instant => json!({ "type": "string", "format": "date-time" }),
        Type::Date => json!({ "type": "string", "format": "date" }),
        Type::Integer => json!({ "type": "integer", "format": "int32" }),
        Type::Number => json!({ "type": "number" }),
        Type::Texts => json!({ "type": "array", "items": text() }),
        Type::Word(words, false) => json!({ "type": "string", "enum": words }),
        Type::Word(words, true) => json!({ "anyOf": [
            { "type": "string", "enum": words },
            { "type": "string", "pattern": "^ext:[A-Za-z0-9._-]+$" },
        ] }),
        Type::Extensions => json!({ "type": "object" }),
        Type::ExtensionList => json!({ "type": "array", "items": { "type": "object" } }),
        Type::Object(class) => inner(class, id),
        Type::Objects(class) => json!({ "type": "array", "items": inner(class, id) }),
    }
}

/// A class inside another class, as a reference if it has a separate schema.
fn inner(class: &'static Class, id: &str) -> Value {
    match CLASSES.iter().any(|known| std::ptr::eq(*known, class)) {
        true => reference(class, id),
        false => object(class, id),
    }
}

/// A record under its name.
pub(super) fn single(class: &Class) -> Value {
    let name = class.name;
    json!({ "type": "object", "required": [name], "properties": { name: reference(class, "sourcedId") } })
}

/// A record in a request.
pub(super) fn input(class: &Class) -> Value {
    reference(class, "identifier")
}

fn many(class: &Class, id: &str) -> Value {
    json!({ "type": "array", "items": reference(class, id) })
}

/// Records under the name of their list. Lists of frameworks and standards may contain only selected members.
pub(super) fn list(class: &Class) -> Value {
    let items = match class.owner {
        Some(_) => json!({ "type": "array", "items": { "type": "object" } }),
        None => many(class, "sourcedId"),
    };
    json!({ "type": "object", "required": [class.list], "properties": { class.list: items } })
}

pub(super) fn item_associations() -> Value {
    json!({
        "type": "object",
        "required": ["CFItem", "CFAssociations"],
        "properties": {
            "CFItem": reference(&class::ITEM, "sourcedId"),
            "CFAssociations": many(&class::ASSOCIATION, "sourcedId"),
        },
    })
}

fn package_of(id: &str) -> Value {
    let lists: Map<String, Value> =
        DEFINITIONS.iter().map(|class| (class.list.to_owned(), many(class, id))).collect();
    let mut package = json!({
        "type": "object",
        "required": ["CFDocument"],
        "properties": {
            "CFDocument": reference(&class::DOCUMENT, id),
            "CFItems": many(&class::ITEM, id),
            "CFAssociations": many(&class::ASSOCIATION, id),
            "CFDefinitions": { "type": "object", "properties": lists },
            "CFRubrics": many(&class::RUBRIC, id),
            "extensions": { "type": "object" },
        },
    });
    if id == "sourcedId" {
        package["properties"][id] = value(Type::Uuid, id);
    }
    package
}

pub(super) fn package() -> Value {
    let package = package_of("sourcedId");
    json!({ "type": "object", "required": ["CFPackage"], "properties": { "CFPackage": package } })
}

pub(super) fn package_input() -> Value {
    package_of("identifier")
}

pub(super) fn groups() -> Value {
    let grouped = json!({
        "type": "object",
        "additionalProperties": { "type": "array", "items": reference(&class::ITEM, "sourcedId") },
    });
    json!({
        "type": "object",
        "required": ["CFPackageWithGroups"],
        "properties": { "CFPackageWithGroups": {
            "type": "object",
            "required": ["sourcedId", "CFDocument", "structuredContent"],
            "properties": {
                "sourcedId": value(Type::Uuid, ""),
                "CFDocument": reference(&class::DOCUMENT, "sourcedId"),
                "structuredContent": grouped,
            },
        } },
    })
}

/// The parameters of a list.
pub(super) fn list_parameters(route: Route, class: &'static Class) -> Route {
    let text = || json!({ "type": "string" });
    let route = route
        .page_limit(PAGE_DEFAULT_RECORDS, PAGE_MAX_RECORDS)
        .param(
            ParamPlace::Query,
            "offset",
            json!({ "type": "integer", "minimum": 0 }),
            "Records before the page.",
        )
        .param(ParamPlace::Query, "sort", text(), "The member that orders the list.")
        .param(
            ParamPlace::Query,
            "orderBy",
            json!({ "type": "string", "enum": ["asc", "desc"] }),
            "Its direction.",
        )
        .param(
            ParamPlace::Query,
            "filter",
            text(),
            "Clauses such as `title~'math' AND subject='Math'`.",
        )
        .param(
            ParamPlace::Query,
            "fields",
            json!({ "type": "array", "items": text() }),
            "The members to show, commas between them.",
        );
    if class.name != "CFItem" {
        return route;
    }
    let most = limits::CASE_SEARCH_MAX_ENTRIES;
    route
        .param(
            ParamPlace::Query,
            "search",
            text(),
            format!(
                "Beginnings of words, {most} at most, of codes, statements, labels and keywords."
            ),
        )
        .param(ParamPlace::Query, "framework", text(), "The identifier of a framework.")
        .param(
            ParamPlace::Query,
            "grade",
            text(),
            "An education level; whole numbers compare by value.",
        )
}
