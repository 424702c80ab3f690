//! Reads the values of a config file as its types, and reports every error at its place in the text.

use std::ops::Range;
use std::path::Path;

use lyceum_core::messages::MUST_BE_OBJECT;
use lyceum_core::text::nearest;
use lyceum_core::{Detail, Problem, Result, body, message};
use serde_json::Value as Json;

use super::file::{ConfigFile, IntegrationsFile, LmsFile, Switch};
use super::{Config, Database, Integrations, Lms, ROUTES, config_schema};
use crate::{Binding, SCALARS, Uses, places, secrets};

/// Reads the config from a file's value, which the text has at `root`. Errors: `Invalid` with every error and its place.
pub(super) fn read(
    file: &Path,
    text: String,
    mut json: Json,
    root: &Range<usize>,
) -> Result<Config> {
    let mut errors = match json {
        Json::Object(_) => unknown_services(&mut json),
        _ => vec![Detail { path: String::new(), message: MUST_BE_OBJECT.into() }],
    };
    let members = if json.is_object() { body::of(json) } else { Ok(ConfigFile::default()) };
    let members = members.unwrap_or_else(|problem| {
        errors.extend(problem.details);
        ConfigFile::default()
    });
    let integrations = members.integrations.unwrap_or_default();
    let required_secrets = required_secrets(&integrations, &mut errors);
    if !errors.is_empty() {
        let placed = errors.into_iter().map(|error| placed(error, file, root, &text));
        return Err(Problem::invalid_all(placed.collect()));
    }
    let config = Config {
        file: file.to_owned(),
        text,
        name: members.name,
        description: members.description,
        emoji: members.emoji,
        platform: members.platform,
        build_path: members.build_path,
        integrations: integrations.into(),
        required_secrets,
        scalars: Vec::new(),
        expressions: Vec::new(),
        inputs: Vec::new(),
    };
    Ok(with_places(config, root))
}

/// The config with the places of its display fields. A literal counts if the field has its value: a function that gets
/// the object may have changed it.
fn with_places(mut config: Config, root: &Range<usize>) -> Config {
    for field in SCALARS {
        let Some(value) = config.field(field) else { continue };
        let literal = places::member(&config.text, root, field);
        match literal
            .filter(|at| places::text_of(&config.text[at.clone()]).as_deref() == Some(value))
        {
            Some(at) => config.scalars.push((field, at)),
            None => {
                let at = places::nearest(&config.text, root.clone(), field).start;
                config.expressions.push((field, places::line_and_column(&config.text, at)));
            }
        }
    }
    config
}

impl From<IntegrationsFile> for Integrations {
    fn from(file: IntegrationsFile) -> Self {
        let uses = Uses::with_bindings(|binding| file.secrets(binding).is_some());
        let routes = match file.custom_routes {
            Some(routes) => {
                routes.options().map(|routes| routes.directory.unwrap_or_else(|| ROUTES.to_owned()))
            }
            None => Some(ROUTES.to_owned()),
        };
        let database = file.database.and_then(Switch::options).map(|database| Database {
            directory: database.directory,
            strategy: database.strategy,
        });
        let lms = file.lms.or(file.timeback).and_then(Switch::options).map(Lms::from);
        Self { routes, uses: Uses { lms: lms.is_some(), ..uses }, database, lms }
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
                Some(near) => message!("did you mean '{near}'?"),
                None => message!(
                    "known integrations: {known}; for another service, list only its secrets, as \
                     {{ secrets: [\"API_KEY\"] }}",
                    known = known.join(", ")
                ),
            };
            let message = message!("is unknown; {remedy}");
            errors.push(Detail { path: format!("integrations.{name}"), message });
        }
        is_known
    });
    errors
}

/// The names in `secrets` of every integration that is on, with an error for each that cannot be a secret's name.
fn required_secrets(of: &IntegrationsFile, errors: &mut Vec<Detail>) -> Vec<String> {
    let (routes, lms, timeback) = (&of.custom_routes, &of.lms, &of.timeback);
    let routes = routes.as_ref().and_then(|on| on.secrets(|options| &options.secrets));
    let lms = lms.as_ref().and_then(|on| on.secrets(|options| &options.secrets));
    let timeback = timeback.as_ref().and_then(|on| on.secrets(|options| &options.secrets));
    let stores = Binding::ALL.map(|binding| (binding.names().key, of.secrets(binding)));
    let services = of.services.iter().map(|(name, it)| (name.as_str(), Some(&it.secrets[..])));
    let named = [("customRoutes", routes), ("lms", lms), ("timeback", timeback)];
    let mut required = Vec::new();
    for (integration, names) in named.into_iter().chain(stores).chain(services) {
        for (number, name) in names.into_iter().flatten().enumerate() {
            if !secrets::is_name(name) {
                let path = format!("integrations.{integration}.secrets[{number}]");
                let message = "must be the name of a secret, such as 'API_KEY'".into();
                errors.push(Detail { path, message });
            }
            required.push(name.clone());
        }
    }
    required
}

/// The error with the file, line and column of its value, or of the nearest value around it.
fn placed(error: Detail, file: &Path, root: &Range<usize>, text: &str) -> Detail {
    let at = places::nearest(text, root.clone(), &error.path).start;
    let (line, column) = places::line_and_column(text, at);
    let path = if error.path.is_empty() { "the config" } else { &error.path };
    let file = file.display();
    Detail {
        path: format!("'{file}', line {line}, column {column}, {path}"),
        message: error.message,
    }
}
