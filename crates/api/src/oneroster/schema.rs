//! JSON Schemas of records, generated from the declarations.

use std::collections::BTreeSet;

use lyceum_core::limits;
use lyceum_core::schema::TypeSchema;
use lyceum_http::route::ParamPlace;
use lyceum_roster::collections::Collection;
use lyceum_roster::kind::{
    Field, FieldType, Presence, RecordKind, Vocabulary, VocabularyExtension,
};
use lyceum_roster::kinds::{self, ASSESSMENT_RESULT, RESULT};
use lyceum_roster::write::{CreationPath, SourcedIdPair};
use serde_json::{Map, Value, json};

use super::operation;
use crate::Route;

/// `{course: Course}`
pub(super) fn single(collection: Collection) -> TypeSchema {
    TypeSchema::named(format!("Single{}", one_of(collection)), single_object(collection))
}

fn single_object(collection: Collection) -> Value {
    let mut properties = Map::new();
    properties.insert(collection.kind.one.into(), record(collection.kind));
    if let Some(key) = collection.platform_one {
        properties.insert(key.into(), record(collection.kind));
    }
    json!({ "type": "object", "required": [collection.kind.one], "properties": properties })
}

/// `{courses: [Course]}` with the platform's paging keys.
pub fn collection(collection: Collection) -> TypeSchema {
    let page = json!({ "type": "array", "items": record(collection.kind) });
    let mut properties = Map::new();
    properties.insert(collection.kind.many.into(), page.clone());
    if let Some(key) = collection.platform_many {
        properties.insert(key.into(), page);
    }
    for name in ["totalCount", "pageCount", "pageNumber", "offset", "limit"] {
        properties.insert(name.into(), json!({ "type": "integer" }));
    }
    properties.insert("nextCursor".into(), json!({ "type": "string" }));
    properties.insert("warnings".into(), json!({ "$ref": "#/components/schemas/Warnings" }));
    if [&RESULT, &ASSESSMENT_RESULT].contains(&collection.kind) {
        let description = "The sourcedIds of those results on the page whose students are not enrolled in the class or course now.";
        let list =
            json!({ "type": "array", "items": { "type": "string" }, "description": description });
        properties.insert("ofFormerStudents".into(), list);
    }
    let required = [collection.kind.many];
    let page = json!({ "type": "object", "required": required, "properties": properties });
    TypeSchema::named(format!("{}Set", one_of(collection)), page)
}

/// The body of a create or replace.
pub(super) fn wrapped_input(collection: Collection) -> TypeSchema {
    let (one, kind) = (collection.kind.one, collection.kind);
    let schema = json!({ "type": "object", "required": [one], "properties": { one: input(kind) } });
    TypeSchema::named(format!("Single{}", input_name(kind)), schema)
}

/// The body of a request that creates a record inside another one.
pub(super) fn input_in(into: &CreationPath, collection: Collection) -> TypeSchema {
    let mut item = object(collection.kind, false);
    let mut name = format!("{}Without", input_name(collection.kind));
    if let Some(Value::Array(required)) = item.get_mut("required") {
        let from_path = |name: &Value| {
            into.fields.iter().flatten().any(|field| name == field)
                || into.also.iter().any(|(field, _)| name == field)
                || name == "sourcedId"
        };
        let left_out = required.extract_if(.., |name| from_path(name));
        name.extend(left_out.filter_map(|field| Some(operation("", field.as_str()?))));
    }
    let mut input = TypeSchema::named(name, item);
    let (one, many) = (collection.kind.one, collection.kind.many);
    input.schema = json!({
        "type": "object",
        "properties": { many: { "type": "array", "items": input.schema }, one: input.schema },
        "anyOf": [{ "required": [many] }, { "required": [one] }],
    });
    input
}

/// `{sourcedIdPairs: …, course: Course}`
pub(super) fn created(collection: Collection) -> TypeSchema {
    let mut schema = single_object(collection);
    let pair = TypeSchema::output::<SourcedIdPair>();
    schema["properties"]["sourcedIdPairs"] = pair.schema;
    schema["required"] = json!(["sourcedIdPairs"]);
    let mut created = TypeSchema::named(format!("Created{}", one_of(collection)), schema);
    created.definitions.extend(pair.definitions);
    created
}

/// `{user: User, demographics: Demographics}`
pub(super) fn user_with_demographics() -> TypeSchema {
    let properties =
        json!({ "user": record(&kinds::USER), "demographics": record(&kinds::DEMOGRAPHICS) });
    let schema = json!({ "type": "object", "required": ["user"], "properties": properties });
    TypeSchema::named("UserWithDemographics", schema)
}

/// `{syllabus: course}`, where the course contains its components and resources.
pub(super) fn syllabus() -> TypeSchema {
    course_tree(&["syllabus"], &json!({ "syllabus": named("CourseTree") }))
}

/// The body that creates a course with its components and resources. What a syllabus shows can be sent.
pub(super) fn course_structure_input() -> TypeSchema {
    let list = || json!({ "type": "array", "items": { "type": "object" } });
    let tree = json!({
        "type": "object",
        "properties": { "subComponents": list(), "componentResources": list() },
    });
    let properties = json!({ "course": input(&kinds::COURSE), "courseStructure": tree });
    json!({ "type": "object", "required": ["course"], "properties": properties }).into()
}

/// `{sourcedIdPairs: pair, courseStructure: course}`
pub(super) fn created_course_structure() -> TypeSchema {
    let pair = TypeSchema::output::<SourcedIdPair>();
    let properties =
        json!({ "sourcedIdPairs": pair.schema, "courseStructure": named("CourseTree") });
    let mut created = course_tree(&["sourcedIdPairs", "courseStructure"], &properties);
    created.definitions.extend(pair.definitions);
    created
}

/// An object whose properties contain a `CourseTree`.
fn course_tree(required: &[&str], properties: &Value) -> TypeSchema {
    let list = |items: Value| json!({ "type": "array", "items": items });
    // A node is a record with further members.
    let node = |kind: &RecordKind, more: Value| {
        let required: Vec<&String> =
            more.as_object().into_iter().flatten().map(|(name, _)| name).collect();
        json!({
            "allOf": [record(kind), { "type": "object", "required": required, "properties": more }],
        })
    };
    let mut link = object(&kinds::COMPONENT_RESOURCE, true);
    link["properties"]["resource"] = record(&kinds::RESOURCE);
    let components = || list(named("ComponentTree"));
    let component = node(
        &kinds::COURSE_COMPONENT,
        json!({ "componentResources": list(named("LinkTree")), "subComponents": components() }),
    );
    let course = node(&kinds::COURSE, json!({ "subComponents": components() }));
    let trees = [("CourseTree", course), ("ComponentTree", component), ("LinkTree", link)];
    TypeSchema {
        schema: json!({ "type": "object", "required": required, "properties": properties }),
        definitions: trees.into_iter().map(|(name, tree)| (name.to_owned(), tree)).collect(),
    }
}

/// The schemas that others refer to: each kind in answers, and in requests; and the 1.1 forms.
pub fn components() -> impl Iterator<Item = (String, Value)> {
    let kinds = kinds::ALL.iter().flat_map(|kind| {
        [(name(kind), object(kind, true)), (input_name(kind), object(kind, false))]
    });
    let types: BTreeSet<&str> = kinds::ALL.iter().flat_map(|k| referenced(k.fields)).collect();
    let references = types.into_iter().flat_map(|ty| {
        [true, false].map(|shown| (reference_name(ty, shown), reference_object(ty, shown)))
    });
    let metadata = ("Metadata".to_owned(), json!({ "type": "object" }));
    kinds.chain(references).chain([metadata]).chain(super::v1p1::components())
}

/// The types of records to which the fields refer.
fn referenced(fields: &'static [Field]) -> Vec<&'static str> {
    let of_field = |field: &'static Field| match field.ty {
        FieldType::Reference(ty) | FieldType::References(ty) => vec![ty],
        FieldType::Objects(fields) => referenced(fields),
        _ => Vec::new(),
    };
    fields.iter().flat_map(of_field).collect()
}

/// The name of a collection's records as schema names use it, such as `Term`.
fn one_of(collection: Collection) -> String {
    operation("", collection.platform_one.unwrap_or(collection.kind.one))
}

fn name(kind: &RecordKind) -> String {
    operation("", kind.one)
}

fn input_name(kind: &RecordKind) -> String {
    format!("{}Input", name(kind))
}

fn record(kind: &RecordKind) -> Value {
    named(&name(kind))
}

fn input(kind: &RecordKind) -> Value {
    named(&input_name(kind))
}

/// A reference to the schema with this name.
pub(super) fn named(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

fn object(kind: &RecordKind, shown: bool) -> Value {
    let mut properties = common();
    let mut required = vec!["sourcedId"];
    if shown {
        required.extend(["status", "dateLastModified"]);
    }
    for field in kind.fields.iter().filter(|f| !shown || !matches!(f.ty, FieldType::Secret)) {
        properties.insert(field.name.into(), described(field, shown));
        let always = match field.presence {
            Presence::Required => true,
            Presence::OrElse(_) | Presence::Derived => shown,
            Presence::Optional | Presence::Nullable => false,
        };
        if always {
            required.push(field.name);
        }
    }
    json!({
        "type": "object",
        "description": kind.doc,
        "required": required,
        "properties": properties,
    })
}

/// The properties of every record.
pub(super) fn common() -> Map<String, Value> {
    let id = json!({ "type": "string", "minLength": 1, "maxLength": limits::SOURCED_ID_MAX_CHARS });
    let status = json!({ "type": "string", "enum": ["active", "tobedeleted"] });
    Map::from_iter([
        ("sourcedId".to_owned(), id),
        ("status".to_owned(), status),
        ("dateLastModified".to_owned(), json!({ "type": "string", "format": "date-time" })),
        ("metadata".to_owned(), named("Metadata")),
    ])
}

pub(super) fn described(field: &Field, shown: bool) -> Value {
    let mut schema = value(field, shown);
    if field.presence == Presence::Nullable {
        schema = json!({ "anyOf": [schema, { "type": "null" }] });
    }
    if !field.doc.is_empty() {
        schema["description"] = field.doc.into();
    }
    if field.platform {
        schema["x-dialect"] = "platform".into();
    }
    schema
}

fn value(field: &Field, shown: bool) -> Value {
    let is_needed = field.presence == Presence::Required;
    let least = usize::from(is_needed);
    let list = |items: Value| {
        let mut list = json!({ "type": "array", "items": items });
        if least > 0 {
            list["minItems"] = least.into();
        }
        list
    };
    match field.ty {
        FieldType::Text if !shown && (field.is_title || is_needed) => {
            json!({ "type": "string", "pattern": r"\S" })
        }
        FieldType::Text | FieldType::Secret => json!({ "type": "string" }),
        FieldType::Uri => json!({ "type": "string", "format": "uri" }),
        FieldType::Flag => json!({ "type": "string", "enum": ["true", "false"] }),
        FieldType::Integer => json!({ "type": "integer" }),
        FieldType::Number => json!({ "type": "number" }),
        FieldType::Date => json!({ "type": "string", "format": "date" }),
        FieldType::Instant => json!({ "type": "string", "format": "date-time" }),
        FieldType::Word(words) => word(words),
        FieldType::Reference(kind) => reference(kind, shown),
        FieldType::References(kind) => list(reference(kind, shown)),
        FieldType::Texts | FieldType::Grades => list(json!({ "type": "string" })),
        FieldType::WordList(words) => list(word(words)),
        FieldType::Objects(fields) => list(nested(fields, shown)),
        FieldType::Json => json!({}),
    }
}

fn nested(fields: &[Field], shown: bool) -> Value {
    let required: Vec<&str> =
        fields.iter().filter(|f| f.presence == Presence::Required).map(|f| f.name).collect();
    let properties: Map<String, Value> = fields
        .iter()
        .filter(|field| !shown || !matches!(field.ty, FieldType::Secret))
        .map(|field| (field.name.to_owned(), described(field, shown)))
        .collect();
    json!({ "type": "object", "required": required, "properties": properties })
}

fn word(words: Vocabulary) -> Value {
    let all = [words.words, words.platform].concat();
    let listed = json!({ "type": "string", "enum": all });
    let pattern = match words.open {
        VocabularyExtension::Closed => return listed,
        VocabularyExtension::Extensions => r"^ext:[a-zA-Z0-9.\-_]+$".to_owned(),
        VocabularyExtension::Sources => format!("^/(?!{}$)[a-z0-9]+$", words.words.join("$)(?!")),
    };
    json!({ "anyOf": [listed, { "type": "string", "pattern": pattern }] })
}

pub(super) fn reference(ty: &str, shown: bool) -> Value {
    named(&reference_name(ty, shown))
}

fn reference_name(ty: &str, shown: bool) -> String {
    operation("", ty) + if shown { "Reference" } else { "ReferenceInput" }
}

fn reference_object(ty: &str, shown: bool) -> Value {
    let required: &[&str] = if shown { &["href", "sourcedId", "type"] } else { &["sourcedId"] };
    json!({
        "type": "object",
        "required": required,
        "properties": {
            "href": { "type": "string", "format": "uri" },
            "sourcedId": { "type": "string" },
            "type": { "type": "string", "enum": [ty] },
        },
    })
}

/// The parameters of every list: those of OneRoster 1.2, and the platform's own.
pub fn list_parameters(route: Route) -> Route {
    let offset = json!({ "type": "integer", "minimum": 0, "default": 0 });
    let text = || json!({ "type": "string" });
    let fields = json!({ "type": "array", "items": { "type": "string" } });
    route
        .page_limit(limits::PAGE_DEFAULT_RECORDS, limits::PAGE_MAX_RECORDS)
        .param(ParamPlace::Query, "offset", offset, "Records before the page.")
        .param(ParamPlace::Query, "sort", text(), "The field that orders the list.")
        .param(ParamPlace::Query, "orderBy", json!({ "type": "string", "enum": ["asc", "desc"] }), "The direction of the order.")
        .param(ParamPlace::Query, "filter", text(), "Clauses `field op 'value'` joined by AND and OR; op is one of = != > >= < <= ~.")
        .param(ParamPlace::Query, "fields", fields, "The fields to return, separated by commas.")
        .param(ParamPlace::Query, "search", text(), "The words to find. Each is inside a name, title or code of the record, or of a user inside the username, e-mail address or identifier; or a word of a name begins with it, without regard to accents.")
        .param(ParamPlace::Query, "cursor", text(), "The cursor from the previous page; an empty cursor starts a list. Deep pages are as fast as the first.")
}
