//! The layers: defaults, file, variables, flags.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::de::{DeTable, DeValue, ValueDeserializer};
use toml::{Spanned, Table, Value};

use super::Config;
use crate::messages::io_reason;

/// The default file with its comments.
pub const DEFAULTS: &str = include_str!("../config.default.toml");
/// Settings whose values are never shown. A variable with `_FILE` behind its name gives the file of such a value.
const SECRET: [&str; 11] = [
    "store.database",
    "store.read_replica",
    "keys.master",
    "keys.master_other",
    "backup.key",
    "hosting.promote_key",
    "telemetry.headers",
    "admin.password",
    "oidc.client_secret",
    "s3.access_key",
    "s3.secret_key",
];
/// Variables of our own that are not settings: they steer tests, or are read by a command.
const NOT_SETTINGS: [&str; 14] = [
    "LYCEUM_BIN",
    "LYCEUM_BLESS",
    "LYCEUM_TEST_",
    "LYCEUM_STANDARDS",
    "LYCEUM_REQUIRE_STANDARDS",
    "LYCEUM_CLIENT_ID",
    "LYCEUM_CLIENT_SECRET",
    "LYCEUM_STAGING_",
    "LYCEUM_PRODUCTION_",
    "LYCEUM_URL",
    "LYCEUM_API_KEY",
    "LYCEUM_PROFILE",
    "LYCEUM_WORKERD",
    "LYCEUM_ESBUILD",
];

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingOrigin {
    /// The compiled-in defaults.
    Default,
    /// A line of the file of `--config`, counted from 1.
    File(PathBuf, usize),
    /// An environment variable.
    Variable(String),
    /// A flag of the command line, with its dashes.
    Flag(&'static str),
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path, line) => write!(f, "{}:{line}", path.display()),
            Self::Variable(name) => f.write_str(name),
            Self::Flag(name) => f.write_str(name),
        }
    }
}

/// A setting that cannot be used: which layer, what is wrong, and what was perhaps meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{origin}: {message}")]
pub struct SettingError {
    /// The layer at fault.
    pub origin: SettingOrigin,
    /// The error, with the setting's name.
    pub message: String,
    /// How to fix it, if known.
    pub hint: Option<String>,
}

/// A value that a flag of the command line gives to a setting.
#[derive(Clone, Debug)]
pub struct FlagValue {
    /// The flag with its dashes, such as `--listen`.
    pub flag: &'static str,
    /// The setting, such as `server.listen`.
    pub key: &'static str,
    /// Its text, read as a variable's is.
    pub value: String,
}

/// The settings in force, and where each came from.
#[derive(Clone)]
pub struct LoadedConfig {
    /// The settings.
    pub config: Config,
    values: Table,
    origins: BTreeMap<String, SettingOrigin>,
}

impl fmt::Debug for LoadedConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.effective()).finish()
    }
}

impl LoadedConfig {
    /// Where a setting such as `server.listen` came from.
    pub fn origin(&self, key: &str) -> &SettingOrigin {
        self.origins.get(key).unwrap_or(&SettingOrigin::Default)
    }

    /// Every setting: name, value as TOML (secrets redacted), origin; in the order of the names.
    pub fn effective(&self) -> Vec<(String, String, &SettingOrigin)> {
        keys(&self.values)
            .map(|(key, value)| {
                let redact = SECRET.contains(&key.as_str()) && value.as_str() != Some("");
                let text = if redact { "[redacted]".to_owned() } else { value.to_string() };
                let origin = self.origin(&key);
                (key, text, origin)
            })
            .collect()
    }

    /// Sets one value and checks it at once, so that a fault has the right origin.
    fn set(&mut self, origin: SettingOrigin, key: &str, value: Value) -> Result<(), SettingError> {
        let fail = |message: String| SettingError { origin: origin.clone(), message, hint: None };
        let (section, name) = key.split_once('.').expect("callers pass section.name");
        let Some(place) = self.values.get_mut(section).and_then(|section| section.get_mut(name))
        else {
            let hint = self.nearest(key).map(|nearest| match &origin {
                SettingOrigin::Variable(_) => format!("did you mean {}?", variable_of(&nearest)),
                _ => format!("did you mean '{nearest}'?"),
            });
            return Err(SettingError { hint, ..fail(format!("'{key}' is not a setting")) });
        };
        if !place.same_type(&value) {
            let found =
                if SECRET.contains(&key) { String::new() } else { format!(", not {value}") };
            return Err(fail(format!("'{key}' must be {}{found}", kind(place))));
        }
        *place = value;
        self.config = Config::deserialize(Value::Table(self.values.clone()))
            .map_err(|error| fail(format!("'{key}': {}", error.message())))?;
        self.origins.insert(key.to_owned(), origin);
        Ok(())
    }

    fn set_text(
        &mut self,
        origin: SettingOrigin,
        key: &str,
        text: &str,
    ) -> Result<(), SettingError> {
        let value = match self.value(key) {
            Some(Value::Boolean(_)) => text.parse().map(Value::Boolean).ok(),
            Some(Value::Integer(_)) => text.parse().map(Value::Integer).ok(),
            Some(Value::Array(_)) => {
                let members = text.split(',').map(str::trim).filter(|member| !member.is_empty());
                Some(Value::Array(members.map(Value::from).collect()))
            }
            _ => None,
        };
        self.set(origin, key, value.unwrap_or_else(|| text.into()))
    }

    fn set_file(&mut self, path: &Path) -> Result<(), SettingError> {
        let origin = |line| SettingOrigin::File(path.to_owned(), line);
        let fail = |line, message| SettingError { origin: origin(line), message, hint: None };
        let text = std::fs::read_to_string(path).map_err(|error| {
            let message = format!("the settings file cannot be read: {}", io_reason(&error));
            let hint = "`lyceum config --default` prints a file to start from";
            SettingError { hint: Some(hint.into()), ..fail(1, message) }
        })?;
        let line = |span: std::ops::Range<usize>| {
            1 + text[..span.start.min(text.len())].matches('\n').count()
        };
        let table = DeTable::parse(&text).map_err(|error| {
            fail(error.span().map_or(1, line), error.message().trim().replace('\n', ", "))
        })?;
        for (section, entries) in table.get_ref() {
            let DeValue::Table(entries) = entries.get_ref() else {
                let message = format!("'{}' is outside of a section", section.get_ref());
                let hint = self
                    .nearest(section.get_ref())
                    .map(|nearest| format!("did you mean '{nearest}'?"));
                return Err(SettingError { hint, ..fail(line(section.span()), message) });
            };
            for (name, value) in entries {
                let at = line(name.span());
                let key = format!("{}.{}", section.get_ref(), name.get_ref());
                let value = owned(value)
                    .map_err(|error| fail(at, format!("'{key}': {}", error.message())))?;
                self.set(origin(at), &key, value)?;
            }
        }
        Ok(())
    }

    fn set_variable(&mut self, name: &str, text: &str) -> Result<(), SettingError> {
        let Some(rest) = name.strip_prefix("LYCEUM_") else { return Ok(()) };
        if NOT_SETTINGS.iter().any(|known| name.starts_with(known)) {
            return Ok(());
        }
        let origin = SettingOrigin::Variable(name.to_owned());
        let rest = rest.to_lowercase();
        let Some((section, key)) = rest.split_once("__") else {
            let hint = self
                .nearest(&rest)
                .map(|nearest| format!("did you mean {}?", variable_of(&nearest)));
            let message =
                "no setting has this name; names have the form LYCEUM_<SECTION>__<KEY>".to_owned();
            return Err(SettingError { origin, message, hint });
        };
        let key = format!("{section}.{key}");
        match key.strip_suffix("_file").filter(|secret| SECRET.contains(secret)) {
            Some(secret) => self.set_secret_file(origin, secret, Path::new(text)),
            None => self.set_text(origin, &key, text),
        }
    }

    /// Sets a secret to the first line of a file, as orchestrators hand secrets to containers.
    fn set_secret_file(
        &mut self,
        origin: SettingOrigin,
        key: &str,
        path: &Path,
    ) -> Result<(), SettingError> {
        let fail = |message: String, hint: &str| SettingError {
            origin: origin.clone(),
            message,
            hint: Some(hint.to_owned()),
        };
        if let SettingOrigin::Variable(other) = self.origin(key) {
            let message = format!("'{key}' is set by {other}, too");
            return Err(fail(message, "set only one of the two variables"));
        }
        let text = std::fs::read_to_string(path).map_err(|error| {
            let message = format!("'{}' cannot be read: {}", path.display(), io_reason(&error));
            fail(message, "name a file that contains only the secret")
        })?;
        let secret = text.lines().next().unwrap_or_default();
        if secret.is_empty() || text.lines().nth(1).is_some() {
            let message = format!("'{}' must contain one line: the secret", path.display());
            return Err(fail(message, "write only the secret into the file"));
        }
        self.set(origin, key, secret.into())
    }

    fn value(&self, key: &str) -> Option<&Value> {
        let (section, name) = key.split_once('.')?;
        self.values.get(section)?.get(name)
    }

    /// The setting whose name is most like this one: first by its last part alone.
    fn nearest(&self, key: &str) -> Option<String> {
        let last = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
        if let Some((same, _)) = keys(&self.values).find(|(known, _)| last(known) == last(key)) {
            return Some(same);
        }
        let likeness = |known: &str| {
            strsim::normalized_damerau_levenshtein(known, key)
                .max(strsim::normalized_damerau_levenshtein(&last(known), &last(key)))
        };
        keys(&self.values)
            .map(|(known, _)| (likeness(&known), known))
            .filter(|(likeness, _)| *likeness > 0.6)
            .max_by(|(a, _), (b, _)| a.total_cmp(b))
            .map(|(_, known)| known)
    }
}

/// Lays the layers over each other: defaults, file, variables, flags.
///
/// Of the variables only those with the prefix `LYCEUM_` are looked at; pass [`environment`].
pub fn load(
    file: Option<&Path>,
    variables: impl IntoIterator<Item = (String, String)>,
    flags: &[FlagValue],
) -> Result<LoadedConfig, SettingError> {
    let values: Table = toml::from_str(DEFAULTS).expect("the compiled-in defaults are TOML");
    let config = Config::deserialize(Value::Table(values.clone()))
        .expect("the compiled-in defaults hold every setting");
    let mut loaded = LoadedConfig { config, values, origins: BTreeMap::new() };
    if let Some(path) = file {
        loaded.set_file(path)?;
    }
    // In the order of their names, so that a secret's own variable comes before the one with `_FILE`.
    let variables: BTreeMap<String, String> = variables.into_iter().collect();
    for (name, value) in &variables {
        loaded.set_variable(name, value)?;
    }
    for FlagValue { flag, key, value } in flags {
        loaded.set_text(SettingOrigin::Flag(flag), key, value)?;
    }
    check_pairs(&loaded)?;
    Ok(loaded)
}

/// The variables of the process that may be settings. Errors: one that is not UTF-8.
pub fn environment() -> Result<Vec<(String, String)>, SettingError> {
    let variables =
        std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"LYCEUM_"));
    variables
        .map(|(name, value)| match (name.into_string(), value.into_string()) {
            (Ok(name), Ok(value)) => Ok((name, value)),
            (name, _) => Err(SettingError {
                origin: SettingOrigin::Variable(
                    name.unwrap_or_else(|raw| raw.to_string_lossy().into_owned()),
                ),
                message: "the name or the value is not UTF-8".to_owned(),
                hint: None,
            }),
        })
        .collect()
}

/// A variable that is not a setting of the server, such as a folder of the user; `None` if it is not set or not
/// UTF-8.
pub fn variable(name: &str) -> Option<String> {
    std::env::var_os(name)?.into_string().ok()
}

/// Whether the user asked for output without colour (<https://no-color.org>).
pub fn no_color() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// Settings that have a meaning only together, with the case in which neither is set.
const PAIRS: [(&str, &str, &str); 3] = [
    ("tls.certificate", "tls.key", "for plain HTTP"),
    ("admin.email", "admin.password", "to create the first administrator by a link"),
    ("oidc.issuer", "oidc.client_id", "to let people sign in by password"),
];

fn check_pairs(loaded: &LoadedConfig) -> Result<(), SettingError> {
    let is_set =
        |key: &str| loaded.value(key).and_then(Value::as_str).is_some_and(|v| !v.is_empty());
    for (one, other, without) in PAIRS {
        let (present, missing) = match (is_set(one), is_set(other)) {
            (true, false) => (one, other),
            (false, true) => (other, one),
            _ => continue,
        };
        return Err(SettingError {
            origin: loaded.origin(present).clone(),
            message: format!("'{present}' is set, but '{missing}' is not"),
            hint: Some(format!("set both, or neither {without}")),
        });
    }
    if is_set("store.read_replica") && !is_set("store.database") {
        return Err(SettingError {
            origin: loaded.origin("store.read_replica").clone(),
            message: "'store.read_replica' is set, but 'store.database' is not".to_owned(),
            hint: Some(
                "only PostgreSQL has read replicas; remove the setting for SQLite".to_owned(),
            ),
        });
    }
    if is_set("backup.to") && !is_set("backup.key") {
        return Err(SettingError {
            origin: loaded.origin("backup.to").clone(),
            message: "'backup.to' is set, but 'backup.key' is not".to_owned(),
            hint: Some("create a key with `openssl rand -hex 32`".to_owned()),
        });
    }
    Ok(())
}

fn keys(values: &Table) -> impl Iterator<Item = (String, &Value)> {
    values.iter().flat_map(|(section, entries)| {
        let entries = entries.as_table().expect("the defaults hold sections alone");
        entries.iter().map(move |(name, value)| (format!("{section}.{name}"), value))
    })
}

fn owned(value: &Spanned<DeValue<'_>>) -> Result<Value, toml::de::Error> {
    Value::deserialize(ValueDeserializer::from(value.clone()))
}

fn variable_of(key: &str) -> String {
    format!("LYCEUM_{}", key.replacen('.', "__", 1).to_uppercase())
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Boolean(_) => "true or false",
        Value::Integer(_) => "a whole number",
        Value::Array(_) => "a list",
        _ => "a text",
    }
}
