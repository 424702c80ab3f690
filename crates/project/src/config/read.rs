//! Reads the values of a config file as its types, and reports every error at its place in the text.

use std::path::Path;

use lyceum_core::messages::MUST_BE_OBJECT;
use lyceum_core::text::nearest;
use lyceum_core::{Detail, Problem, Result, body};
use serde_json::{Map, Number, Value as Json};

use super::file::{ConfigFile, IntegrationsFile, LmsFile, Switch};
use super::{Config, Database, Integrations, Lms, ROUTES, config_schema};
use crate::literal::{Literal, Value, place};
use crate::{SCALARS, secrets};

/// Reads the config from the root value of a file's text. Errors: `Invalid` with every error and its place.
pub(super) fn read(file: &Path, root: &Literal, text: &str) -> Result<Config> {
    let mut json = json(root);
    let mut errors = match json {
        Json::Object(_) => unknown_services(&mut json),
        _ => vec![Detail { path: String::new(), message: MUST_BE_OBJECT.to_owned() }],
    };
    let members = if json.is_object() { body::of(json) } else { Ok(ConfigFile::default()) };
    let members = members.unwrap_or_else(|problem| {
        errors.extend(problem.details);
        ConfigFile::default()
    });
    let integrations = members.integrations.unwrap_or_default();
    let required_secrets = required_secrets(&integrations, &mut errors);
    if !errors.is_empty() {
        let placed = errors.into_iter().map(|error| placed(error, file, root, text));
        return Err(Problem::invalid_all(placed.collect()));
    }
    let span = |name: &'static str| {
        let member = root.member(name)?;
        matches!(member.value, Value::Text(_)).then(|| (name, member.span.clone()))
    };
    Ok(Config {
        file: file.to_owned(),
        text: text.to_owned(),
        name: members.name,
        description: members.description,
        emoji: members.emoji,
        platform: members.platform,
        build_path: members.build_path,
        integrations: integrations.into(),
        required_secrets,
        scalars: SCALARS.into_iter().filter_map(span).collect(),
        expressions: Vec::new(),
        inputs: Vec::new(),
    })
}

impl From<IntegrationsFile> for Integrations {
    fn from(file: IntegrationsFile) -> Self {
        let routes = match file.custom_routes {
            Some(routes) => {
                routes.options().map(|routes| routes.directory.unwrap_or_else(|| ROUTES.to_owned()))
            }
            None => Some(ROUTES.to_owned()),
        };
        let database = file.database.and_then(super::file::Switch::options).map(|database| {
            Database { directory: database.directory, strategy: database.strategy }
        });
        Self {
            routes,
            database,
            kv: file.kv.is_some_and(|kv| kv.options().is_some()),
            bucket: file.bucket.is_some_and(|bucket| bucket.options().is_some()),
            lms: file.lms.or(file.timeback).and_then(super::file::Switch::options).map(Lms::from),
        }
    }
}

impl From<LmsFile> for Lms {
    fn from(file: LmsFile) -> Self {
        let base = file.base.unwrap_or_default();
        let defaults = base.course.unwrap_or_default();
        let mut courses = file.courses;
        for course in &mut courses {
            course.title = course.title.take().or_else(|| defaults.title.clone());
            course.course_code = course.course_code.take().or_else(|| defaults.course_code.clone());
        }
        Self { organization: base.organization, courses }
    }
}

/// Takes out the integrations that Lyceum does not know and that list no secrets. Returns an error for each.
fn unknown_services(config: &mut Json) -> Vec<Detail> {
    let Some(integrations) = config.get_mut("integrations").and_then(Json::as_object_mut) else {
        return Vec::new();
    };
    let schema = config_schema();
    let known = schema["definitions"]["Integrations"]["properties"].as_object();
    let known: Vec<&str> = known.into_iter().flat_map(|it| it.keys().map(String::as_str)).collect();
    let mut errors = Vec::new();
    integrations.retain(|name, value| {
        let is_known = known.contains(&name.as_str()) || value.get("secrets").is_some();
        if !is_known {
            let remedy = match nearest(name, known.iter().copied()) {
                Some(near) => format!("did you mean '{near}'?"),
                None => format!(
                    "known integrations: {}; for another service, list only its secrets, as \
                     {{ secrets: [\"API_KEY\"] }}",
                    known.join(", ")
                ),
            };
            let message = format!("is unknown; {remedy}");
            errors.push(Detail { path: format!("integrations.{name}"), message });
        }
        is_known
    });
    errors
}

/// The names in `secrets` of every integration that is on, with an error for each that cannot be a secret's name.
fn required_secrets(of: &IntegrationsFile, errors: &mut Vec<Detail>) -> Vec<String> {
    let named = [
        ("customRoutes", options(of.custom_routes.as_ref()).map(|it| &it.secrets)),
        ("database", options(of.database.as_ref()).map(|it| &it.secrets)),
        ("kv", options(of.kv.as_ref()).map(|it| &it.secrets)),
        ("bucket", options(of.bucket.as_ref()).map(|it| &it.secrets)),
        ("lms", options(of.lms.as_ref()).map(|it| &it.secrets)),
        ("timeback", options(of.timeback.as_ref()).map(|it| &it.secrets)),
    ];
    let services = of.services.iter().map(|(name, needs)| (name.as_str(), Some(&needs.secrets)));
    let mut required = Vec::new();
    for (integration, names) in named.into_iter().chain(services) {
        for (number, name) in names.into_iter().flatten().enumerate() {
            if !secrets::is_name(name) {
                let path = format!("integrations.{integration}.secrets[{number}]");
                let message = "must be the name of a secret, such as 'API_KEY'".to_owned();
                errors.push(Detail { path, message });
            }
            required.push(name.clone());
        }
    }
    required
}

fn options<T>(integration: Option<&Switch<T>>) -> Option<&T> {
    match integration? {
        Switch::With(options) => Some(options),
        Switch::On(_) => None,
    }
}

/// The value as JSON, without its places.
fn json(at: &Literal) -> Json {
    match &at.value {
        Value::Null | Value::Expression => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Number(number) => Number::from_f64(*number).map_or(Json::Null, Json::Number),
        Value::Text(text) => Json::String(text.clone()),
        Value::List(items) => items.iter().map(json).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| (name.clone(), json(value)))
            .collect::<Map<_, _>>()
            .into(),
    }
}

/// The error with the file, line and column of its value, or of the nearest value around it.
fn placed(error: Detail, file: &Path, root: &Literal, text: &str) -> Detail {
    let (line, column) = place(text, nearest_to(&error.path, root).span.start);
    let path = if error.path.is_empty() { "the config" } else { &error.path };
    let file = file.display();
    Detail {
        path: format!("'{file}', line {line}, column {column}, {path}"),
        message: error.message,
    }
}

fn nearest_to<'l>(path: &str, root: &'l Literal) -> &'l Literal {
    let (mut at, mut rest) = (root, path);
    while let Some((inside, after)) = step(rest, at) {
        (at, rest) = (inside, after.trim_start_matches('.'));
    }
    at
}

/// The member or item that a path leads to first, and the path from there.
fn step<'l, 'p>(path: &'p str, at: &'l Literal) -> Option<(&'l Literal, &'p str)> {
    match &at.value {
        // The name of a service may contain a dot, so whole names are compared.
        Value::Object(members) => members.iter().rev().find_map(|(name, value)| {
            let after = path.strip_prefix(name.as_str()).filter(|_| !name.is_empty())?;
            (after.is_empty() || after.starts_with(['.', '['])).then_some((value, after))
        }),
        Value::List(items) => {
            let (number, after) = path.strip_prefix('[')?.split_once(']')?;
            Some((items.get(number.parse::<usize>().ok()?)?, after))
        }
        _ => None,
    }
}
