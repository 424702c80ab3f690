//! OneRoster 1.1, read-only: routes and JSON Schemas from the declarations in [`lyceum_roster::v1p1`].

use lyceum_access::Scope;
use lyceum_core::PayloadDialect;
use lyceum_core::schema::TypeSchema;
use lyceum_http::context::parameters;
use lyceum_http::render::Rendering;
use lyceum_http::route::{Access, ParamPlace, get};
use lyceum_roster::collections::{self, Collection, ScopedCollection};
use lyceum_roster::kind::{RecordKind, Service};
use lyceum_roster::repository::PathScope;
use lyceum_roster::v1p1::{self, FieldSource, FormField, RecordForm, WordMap};
use serde_json::{Value, json};

use super::read::{self, ListNarrowing, PAGE_HEADERS};
use super::scopes::{self, RouteEffect};
use super::{operation, schema, singular};
use crate::{Area, Context, Route};

pub(super) fn area() -> Area {
    let mut routes = Vec::new();
    for (collection, form) in v1p1::collections() {
        routes.extend([list(collection, form), single(collection, form)]);
    }
    for (list, form) in v1p1::scoped() {
        routes.push(scoped(list, form, list.path));
    }
    for (list, form) in v1p1::scoped().filter(|(list, _)| list.path == LINE_ITEMS) {
        routes.push(scoped(list, form, LINE_ITEMS_OF_CLIENTS));
    }
    Area {
        name: "oneroster-v1p1",
        base: v1p1::BASE,
        rendering: Rendering::Imsx,
        description: "The records of OneRoster 1.2 in the form of OneRoster 1.1, read-only.",
        routes,
    }
}

const LINE_ITEMS: &str = "/classes/{classSourcedId}/lineItems";
/// The spelling in the standard's OpenAPI file, from which clients are generated.
const LINE_ITEMS_OF_CLIENTS: &str = "/classes/{classSourcedId}/lineitems";

/// `GET /orgs`
fn list(collection: Collection, form: &'static RecordForm) -> Route {
    list_route(format!("/{}", collection.path), RouteEffect::ReadCore, collection, form, None)
        .named(operation("getAll", collection.path) + "V1p1")
        .description(format!("Lists {} in the form of OneRoster 1.1.", collection.path))
}

/// `GET /classes/{classSourcedId}/students`
fn scoped(scoped: ScopedCollection, form: &'static RecordForm, path: &'static str) -> Route {
    let collection = collections::at(scoped.of).expect("scoped collections are declared");
    let name = operation("get", &path.replace(['{', '}'], ""));
    list_route(path.to_owned(), RouteEffect::ReadScoped, collection, form, Some(scoped))
        .named(name + "V1p1")
        .description(format!(
            "Lists {} of the record in the path in the form of OneRoster 1.1.",
            scoped.of
        ))
}

fn list_route(
    path: String,
    effect: RouteEffect,
    collection: Collection,
    form: &'static RecordForm,
    scoped: Option<ScopedCollection>,
) -> Route {
    let route = get(path, access(form.kind, effect), move |mut context: Context| {
        // Version 1.1 has no members for the platform.
        context.dialect = PayloadDialect::Standard;
        let scope = scoped.map(|scoped| {
            let ids = parameters(scoped.path);
            PathScope {
                scoped,
                ids: ids.map(|name| (name, context.param(name).to_owned())).collect(),
            }
        });
        let narrowing = ListNarrowing { scope, form: Some(form), ..ListNarrowing::default() };
        read::listing(context, collection, narrowing)
    })
    .within_reach()
    .answers_kind(200, "A page.", move || wrapped(form, form.kind.many, true))
    .with_headers(PAGE_HEADERS);
    schema::list_parameters(route)
}

/// `GET /orgs/{sourcedId}`
fn single(collection: Collection, form: &'static RecordForm) -> Route {
    let path = format!("/{}/{{sourcedId}}", collection.path);
    get(path, access(form.kind, RouteEffect::ReadCore), move |mut context: Context| {
        context.dialect = PayloadDialect::Standard;
        read::answer_record(context, collection, Some(form))
    })
    .within_reach()
    .named(operation("get", singular(collection)) + "V1p1")
    .description(format!(
        "Reads one of {}, deleted ones included, in the form of OneRoster 1.1.",
        collection.path
    ))
    .param(
        ParamPlace::Query,
        "fields",
        json!({ "type": "array", "items": { "type": "string" } }),
        "The fields to show, separated by commas.",
    )
    .answers_kind(200, "The record.", move || wrapped(form, form.kind.one, false))
}

/// The scopes of version 1.1 for routes of this kind, and those that open the same records in version 1.2.
fn access(kind: &RecordKind, effect: RouteEffect) -> Access {
    let scopes = scopes::access(kind, effect).scopes().expect("records have scopes");
    let own = match (kind.one, kind.service) {
        ("demographics", _) => Scope::OrV1p1RosterDemographicsReadonly,
        (_, Service::Rostering) => Scope::OrV1p1RosterReadonly,
        (_, Service::Gradebook) => Scope::OrV1p1GradebookReadonly,
        (_, Service::Resources) => Scope::OrV1p1ResourceReadonly,
    };
    let scopes = scopes.with(own);
    Access::Any(match (own, effect) {
        (Scope::OrV1p1RosterReadonly, RouteEffect::ReadCore) => {
            scopes.with(Scope::OrV1p1RosterCoreReadonly)
        }
        _ => scopes,
    })
}

/// `{user: UserV1p1}` or `{users: [UserV1p1]}`
fn wrapped(form: &RecordForm, key: &str, is_list: bool) -> TypeSchema {
    let record = schema::named(&schema_name(form));
    let (value, name) = match is_list {
        true => (json!({ "type": "array", "items": record }), "Set"),
        false => (record, "Single"),
    };
    let object = json!({ "type": "object", "required": [key], "properties": { key: value } });
    TypeSchema::named(format!("{name}{}", schema_name(form)), object)
}

fn schema_name(form: &RecordForm) -> String {
    operation("", form.kind.one) + "V1p1"
}

/// The schemas of the 1.1 forms.
pub(super) fn components() -> impl Iterator<Item = (String, Value)> {
    let forms = collections::all().filter(|all| all.part == collections::CollectionPart::Whole);
    forms.filter_map(|all| v1p1::form(all.kind)).map(|form| (schema_name(form), object(form)))
}

fn object(form: &RecordForm) -> Value {
    let mut properties = schema::common();
    let mut required = vec!["sourcedId", "status", "dateLastModified"];
    for field in form.fields {
        properties.insert(field.name.into(), property(form, field));
        if field.is_required(form.kind) {
            required.push(field.name);
        }
    }
    json!({
        "type": "object",
        "description": form.kind.doc,
        "required": required,
        "properties": properties,
    })
}

fn property(form: &RecordForm, field: &FormField) -> Value {
    let stored = field.stored(form.kind).map(|stored| schema::described(stored, true));
    let one_of = |words: &WordMap| {
        let words: Vec<&str> = words.words.iter().map(|(word, _)| *word).collect();
        json!({ "type": "string", "enum": words })
    };
    match field.source {
        FieldSource::Same | FieldSource::TextOrEmpty | FieldSource::NumberOrZero => {
            stored.expect("the stored record has the field")
        }
        FieldSource::Word(words) => {
            let stored = stored.expect("the stored record has the field");
            let mut schema = match stored["type"] == "array" {
                true => json!({ "type": "array", "items": one_of(words) }),
                false => one_of(words),
            };
            schema["description"] = stored["description"].clone();
            schema
        }
        FieldSource::Role(words) => {
            let mut schema = one_of(words);
            schema["description"] = "The person's main role.".into();
            schema
        }
        FieldSource::OrgsOfRoles => json!({
            "type": "array",
            "items": schema::reference("org", true),
            "description": "The organizations in which the person has roles.",
        }),
    }
}
