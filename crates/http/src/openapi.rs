//! Generates the OpenAPI 3.1 document from the tables of routes and the declarations of records.

use std::collections::BTreeSet;

use lyceum_access::allowed::Caller;
use lyceum_access::{LimitedCallers, RequestSubject, Role, Scope, Scopes, allowed};
use lyceum_core::schema::TypeSchema;
use lyceum_core::{ProblemKind as Kind, Reach};
use serde_json::{Map, Value, json};

use crate::context::parameters;
use crate::render::{self, Rendering};
use crate::route::{Access, Area, Param, ParamPlace, Route};
use crate::{Application, aliases, notice};

/// The end of the `operationId` of an operation under its short path.
pub const SHORT_SUFFIX: &str = "ByShortPath";

/// The document of all areas for a server with this address. `kinds` are the schemas of kinds of records, by the names with
/// which bodies refer to them.
pub fn document(
    areas: &[Area<impl Application>],
    kinds: impl Iterator<Item = (String, Value)>,
    base_url: &str,
) -> Value {
    let is_for_programs = |area: &&Area<_>| area.rendering != Rendering::Page;
    let areas: Vec<_> = areas.iter().filter(is_for_programs).collect();
    let mut shared = SharedParts { schemas: schemas(kinds), ..SharedParts::default() };
    let mut paths: Map<String, Value> = Map::new();
    for area in &areas {
        for route in &area.routes {
            // OpenAPI has no parameter that takes the rest of a path.
            let path = format!("{}{}", area.base, route.path).replace("{*", "{");
            let operation = shared.operation(area, route);
            let method = route.method.as_str().to_lowercase();
            if let Some(short) = aliases::short(&path) {
                let mut operation = operation.clone();
                operation["operationId"] = format!("{}{SHORT_SUFFIX}", route.name).into();
                paths.entry(short).or_insert_with(|| json!({}))[&method] = operation;
            }
            paths.entry(path).or_insert_with(|| json!({}))[&method] = operation;
        }
    }
    paths.sort_keys();
    shared.schemas.sort_keys();
    let tags: Vec<Value> = areas
        .iter()
        .map(|area| json!({ "name": area.name, "description": area.description }))
        .collect();
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Lyceum",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The education platform that a school network can run itself. The header \
                            X-Lyceum-Notice names what the server did otherwise than asked: parameters that it \
                            ignored, a limit that it lowered. Bodies of requests may be sent with \
                            `Content-Encoding: gzip`; their limits apply to what was compressed.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": base_url }],
        "tags": tags,
        "paths": paths,
        "components": {
            "schemas": shared.schemas,
            "parameters": shared.parameters,
            "headers": shared.headers,
            "responses": shared.responses,
            "securitySchemes": {
                "client": security(base_url),
                "game": game_token(),
                "key": api_key(),
                "session": session(),
                "signature": signature(),
            },
        },
    });
    open_objects(&mut document);
    document
}

/// Permits any members in objects whose members are not described. Without that, generators of clients permit none.
fn open_objects(schema: &mut Value) {
    match schema {
        Value::Object(rules) => {
            rules.values_mut().for_each(open_objects);
            let is_object = rules.get("type").is_some_and(|ty| match ty {
                Value::Array(types) => types.iter().any(|ty| ty == "object"),
                ty => ty == "object",
            });
            let described =
                ["properties", "additionalProperties", "$ref", "allOf", "anyOf", "oneOf"];
            if is_object && described.iter().all(|rule| !rules.contains_key(*rule)) {
                rules.insert("additionalProperties".into(), true.into());
            }
        }
        Value::Array(parts) => parts.iter_mut().for_each(open_objects),
        _ => {}
    }
}

fn schemas(kinds: impl Iterator<Item = (String, Value)>) -> Map<String, Value> {
    let own = [
        ("StatusInfo".to_owned(), render::imsx_schema()),
        ("CredentialsStatusInfo".to_owned(), render::credentials_schema()),
        ("CaseStatusInfo".to_owned(), render::case_schema()),
        ("CaliperError".to_owned(), render::caliper_schema()),
        ("GameError".to_owned(), render::game_schema()),
        ("QtiError".to_owned(), render::qti_schema()),
        ("Problem".to_owned(), render::problem_schema()),
        ("OAuthError".to_owned(), render::oauth_schema()),
        ("Warnings".to_owned(), notice::schema()),
    ];
    kinds.chain(own).collect()
}

fn security(base_url: &str) -> Value {
    let scopes: Map<String, Value> =
        Scope::all().map(|scope| (scope.name().to_owned(), scope.description().into())).collect();
    json!({
        "type": "oauth2",
        "flows": {
            "clientCredentials": {
                "tokenUrl": format!("{base_url}/oauth2/token"),
                "scopes": scopes,
            },
        },
    })
}

fn session() -> Value {
    json!({
        "type": "apiKey",
        "in": "cookie",
        "name": "__Host-lyceum",
        "description": "A person's session in a browser; POST /api/auth/sign-in begins one. \
                        Over http the cookie is called lyceum.",
    })
}

fn signature() -> Value {
    json!({
        "type": "http",
        "scheme": "OAuth",
        "description": "A request that a client signs with OAuth 1.0a (RFC 5849), by HMAC-SHA1 or HMAC-SHA256, with \
                        its id and its signing secret. `lyceum client create --oauth1` creates such a client.",
    })
}

fn game_token() -> Value {
    json!({
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "A game token, which names a player and a game; \
                        POST /api/games/{gameId}/token returns one.",
    })
}

fn api_key() -> Value {
    json!({
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "lk_…",
        "description": "An API key of an administrator, a guide or a developer. Its role decides which of these \
                        routes it opens. `lyceum admin key create` and the console create keys.",
    })
}

/// Whether an API key of any role opens a route.
fn takes_keys(access: Access) -> bool {
    let takes = |role| {
        let caller = Caller::Key(role, None, &Reach::Everything);
        allowed(caller, access, RequestSubject::Route(LimitedCallers::Refused)).is_ok()
    };
    access != Access::Public && Role::ALL.into_iter().any(takes)
}

fn of_clients(scopes: Scopes) -> impl Iterator<Item = Value> {
    scopes.iter().map(|scope| json!({ "client": [scope.name()] }))
}

/// Moves parts that many operations share to the components, and refers to them.
#[derive(Default)]
struct SharedParts {
    schemas: Map<String, Value>,
    parameters: Map<String, Value>,
    headers: Map<String, Value>,
    responses: Map<String, Value>,
}

impl SharedParts {
    fn operation(
        &mut self,
        area: &Area<impl Application>,
        route: &Route<impl Application>,
    ) -> Value {
        let mut operation = json!({
            "operationId": route.name,
            "summary": route.description,
            "tags": [area.name],
            "responses": self.responses(area, route),
        });
        let parameters = self.parameters(route);
        if !parameters.is_empty() {
            operation["parameters"] = parameters.into();
        }
        if let Some(schema) = route.reads.schema.as_ref().filter(|_| !route.reads.media.is_empty())
        {
            let schema = self.schema(schema());
            // Generators of clients write wrong code for a body of several types.
            let (listed, others) = match route.reads.media {
                [first @ "application/json", others @ ..] => (std::slice::from_ref(first), others),
                all => (all, [].as_slice()),
            };
            let content: Map<String, Value> = listed
                .iter()
                .map(|media| ((*media).to_owned(), json!({ "schema": schema })))
                .collect();
            operation["requestBody"] = json!({ "required": true, "content": content });
            if !others.is_empty() {
                let description = format!("Also accepted as {}.", others.join(", "));
                operation["requestBody"]["description"] = description.into();
            }
        }
        let mut security: Vec<Value> = match route.access {
            Access::Public | Access::Page(_) => Vec::new(),
            Access::Student(_) => vec![json!({ "session": [] })],
            Access::SignedIn => vec![json!({ "client": [] }), json!({ "session": [] })],
            // One of the scopes is enough, so each is a separate alternative.
            Access::Any(scopes) => of_clients(scopes).collect(),
            Access::Both(scopes, also) => scopes
                .iter()
                .flat_map(|one| also.iter().map(move |other| [one.name(), other.name()]))
                .map(|both| json!({ "client": both }))
                .collect(),
            Access::Player(scopes) | Access::Visitor(scopes) => {
                std::iter::once(json!({ "game": [] })).chain(of_clients(scopes)).collect()
            }
            Access::Optional(scopes) => of_clients(scopes).chain([json!({})]).collect(),
        };
        if takes_keys(route.access) {
            security.push(json!({ "key": [] }));
        }
        if route.access.takes_signed_requests() {
            security.push(json!({ "signature": [] }));
        }
        operation["security"] = security.into();
        if route.deprecated {
            operation["deprecated"] = true.into();
        }
        operation
    }

    /// The schema of a type. Its definitions become components.
    fn schema(&mut self, of: TypeSchema) -> Value {
        for (name, definition) in of.definitions {
            let known = self.schemas.entry(name.clone()).or_insert_with(|| definition.clone());
            assert!(
                *known == definition,
                "two types are called {name}, or one that is read and answered in different forms: \
                 rename one\n{known:#}\n{definition:#}"
            );
        }
        of.schema
    }

    fn parameters(&mut self, route: &Route<impl Application>) -> Vec<Value> {
        let in_path = route.params.iter().filter(|param| param.place == ParamPlace::Path);
        let documented: BTreeSet<&str> = in_path.map(|param| param.name.as_ref()).collect();
        let mut all: Vec<Value> = parameters(&route.path)
            .filter(|name| !documented.contains(name))
            .map(|name| {
                let schema = json!({ "type": "string" });
                let parameter =
                    json!({ "name": name, "in": "path", "required": true, "schema": schema });
                shared(&mut self.parameters, "parameters", name, parameter)
            })
            .collect();
        for param in &route.params {
            all.push(shared(&mut self.parameters, "parameters", &param.name, parameter(param)));
        }
        all
    }

    fn responses(
        &mut self,
        area: &Area<impl Application>,
        route: &Route<impl Application>,
    ) -> Map<String, Value> {
        let mut responses = Map::new();
        for answer in &route.answers {
            let mut response = json!({ "description": answer.description });
            if let Some((media, schema)) = &answer.body {
                response["content"] = json!({ *media: { "schema": self.schema(schema()) } });
            }
            for header in answer.headers {
                let schema = json!({ "type": header.ty });
                let described = json!({ "description": header.description, "schema": schema });
                response["headers"][header.name] =
                    shared(&mut self.headers, "headers", header.name, described);
            }
            responses.insert(answer.status.as_str().to_owned(), response);
        }
        let (media, schema) = match area.rendering {
            Rendering::Caliper => ("application/json", "CaliperError"),
            Rendering::Game => ("application/json", "GameError"),
            Rendering::Credentials => ("application/json", "CredentialsStatusInfo"),
            Rendering::Imsx => ("application/json", "StatusInfo"),
            Rendering::Case(_) => ("application/json", "CaseStatusInfo"),
            Rendering::OAuth => ("application/json", "OAuthError"),
            Rendering::Problem | Rendering::Page => ("application/problem+json", "Problem"),
            Rendering::Qti => ("application/json", "QtiError"),
        };
        let mut refusal = |status: &str, description: &str| {
            let body = json!({ "$ref": format!("#/components/schemas/{schema}") });
            let response =
                json!({ "description": description, "content": { media: { "schema": body } } });
            let name = format!("{schema}{status}");
            let refusal = shared(&mut self.responses, "responses", &name, response);
            responses.insert(status.to_owned(), refusal);
        };
        for (range, kinds) in [("4XX", REFUSALS), ("5XX", FAILURES)] {
            let description = kinds.iter().map(|(kind, description)| {
                format!("{}: {description}", render::status(*kind).as_u16())
            });
            refusal(range, &description.collect::<Vec<_>>().join(" "));
        }
        responses
    }
}

/// A reference to the value with this name, or the value itself if another value already has the name.
fn shared(known: &mut Map<String, Value>, sort: &str, name: &str, value: Value) -> Value {
    match known.get(name) {
        Some(other) if *other != value => value,
        _ => {
            known.insert(name.to_owned(), value);
            json!({ "$ref": format!("#/components/{sort}/{name}") })
        }
    }
}

fn parameter(param: &Param) -> Value {
    let (place, required) = match param.place {
        ParamPlace::Path => ("path", true),
        ParamPlace::Query => ("query", false),
        ParamPlace::Header => ("header", false),
    };
    let mut parameter = json!({
        "name": param.name,
        "in": place,
        "required": required,
        "description": param.description,
        "schema": param.schema,
    });
    if param.schema["type"] == "array" {
        parameter["style"] = "form".into();
        parameter["explode"] = param.repeats.into();
    }
    parameter
}

/// Why a request may be refused.
const REFUSALS: &[(Kind, &str)] = &[
    (Kind::Malformed, "The request is malformed."),
    (Kind::Unauthorized, "The token is missing, or this server does not accept it."),
    (Kind::Forbidden, "The token does not give access to this."),
    (Kind::NotFound, "There is no such record."),
    (Kind::Conflict, "The id is taken, or the state of the record does not allow the change."),
    (Kind::PreconditionFailed, "The record has changed since it was read."),
    (Kind::TooLarge, "The body is too large."),
    (Kind::UnsupportedMediaType, "The route does not accept this media type."),
    (Kind::Invalid, "The data breaks a rule; the details say where."),
    (
        Kind::TooManyRequests,
        "The client sends too many requests; Retry-After says when to try again.",
    ),
];

/// Why the server may be unable to answer.
const FAILURES: &[(Kind, &str)] = &[
    (Kind::Internal, "An error in the server; its log has the cause under the request id."),
    (Kind::Unavailable, "The server is too busy; Retry-After says when to try again."),
];

/// The localised OpenAPI document of one service (OneRoster 1.2 REST binding, 2.5): the paths of
/// one area, under the server's real address.
pub fn discovery(
    area: &Area<impl Application>,
    kinds: impl Iterator<Item = (String, Value)>,
    base_url: &str,
) -> Value {
    let mut document = document(std::slice::from_ref(area), kinds, base_url);
    document["servers"] = json!([{ "url": format!("{base_url}{}", area.base) }]);
    if let Some(Value::Object(paths)) = document.get_mut("paths") {
        let all = std::mem::take(paths).into_iter();
        let below =
            |(path, item): (String, Value)| Some((path.strip_prefix(area.base)?.to_owned(), item));
        *paths = all.filter_map(below).collect();
    }
    document
}
