//! The server and the credentials that a command uses: the running sandbox, a profile that `lyceum login`
//! wrote, or the variables `LYCEUM_URL` and `LYCEUM_API_KEY`.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use lyceum_core::config;
use lyceum_deploy::Credentials;
use lyceum_sandbox::registry::{self, RunningSandbox as Sandbox};
use serde::{Deserialize, Serialize};

use crate::failure::{Code, Failure, Result};

/// The default address of a sandbox.
const LOCAL_URL: &str = "http://127.0.0.1:4321";
/// The token sent to a sandbox, which accepts any.
pub(crate) const LOCAL_TOKEN: &str = "mock-dev-token";

/// The environment that a command works in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Env {
    /// The sandbox on this machine
    Local,
    /// For testing
    Staging,
    /// For real learners
    Production,
}

impl Env {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Staging => "staging",
            Self::Production => "production",
        }
    }
}

/// The server and the account to use.
#[derive(Args, Clone)]
pub(crate) struct AccountArgs {
    /// Environment of the server that you signed in to
    #[arg(long, value_name = "ENV", default_value = "staging", help_heading = "Server")]
    pub(crate) env: Env,
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}

/// The profile to use.
#[derive(Args, Clone)]
pub(crate) struct ProfileArgs {
    /// Profile to use, if you have several accounts; `lyceum profiles` lists them
    #[arg(
        long = "profile",
        value_name = "NAME",
        default_value = "default",
        env = "LYCEUM_PROFILE",
        help_heading = "Server"
    )]
    pub(crate) name: String,
}

/// A server and the credentials for it.
#[derive(Clone)]
pub(crate) struct Connection {
    /// The server's address, without a slash at the end.
    pub(crate) url: String,
    /// The environment that the server must have; otherwise it refuses requests.
    pub(crate) env: Env,
    pub(crate) credentials: Credentials,
}

impl AccountArgs {
    /// The server and its credentials. Errors: those of [`Env::connection`].
    pub(crate) fn connection(&self) -> Result<Connection> {
        self.env.connection(&self.profile.name, None)
    }
}

impl Env {
    /// The server of the environment, for the project with that slug: the running sandbox, or the server in
    /// `LYCEUM_STAGING_URL` or `LYCEUM_PRODUCTION_URL`, or the one in `LYCEUM_URL` with a key or a client,
    /// or the one of the profile that `lyceum login` wrote.
    ///
    /// Errors: the user is not signed in; several sandboxes run.
    pub(crate) fn connection(self, profile: &str, slug: Option<&str>) -> Result<Connection> {
        let variable = |name: &str| {
            let own = set(&format!("LYCEUM_{}_{name}", self.name().to_uppercase()));
            // A job that deploys to a server may also use a sandbox.
            own.or_else(|| set(&format!("LYCEUM_{name}")).filter(|_| self != Self::Local))
        };
        let of = |url: &str, credentials| {
            let url = url.trim_end_matches('/').to_owned();
            Connection { url, env: self, credentials }
        };
        if let Some(url) = variable("URL") {
            let variables = (variable("API_KEY"), variable("CLIENT_ID"), variable("CLIENT_SECRET"));
            return match variables {
                (Some(key), ..) => Ok(of(&url, Credentials::Key(key))),
                (None, Some(id), Some(secret)) => Ok(of(&url, Credentials::Client(id, secret))),
                _ if self == Self::Local => Ok(of(&url, Credentials::Key(LOCAL_TOKEN.into()))),
                _ => Err(Failure::new(
                    Code::NotAllowed,
                    format!("no credentials are set for {url}"),
                )
                .hint(
                    "set LYCEUM_API_KEY to a key created with `lyceum admin key create NAME` on \
                         the server, or LYCEUM_CLIENT_ID and LYCEUM_CLIENT_SECRET",
                )),
            };
        }
        if self == Self::Local {
            let (url, _) = sandbox(slug)?;
            return Ok(of(&url, Credentials::Key(LOCAL_TOKEN.into())));
        }
        let profiles = Profiles::read()?;
        match profiles.find(profile, self) {
            Some(entry) => Ok(of(&entry.url, Credentials::Key(entry.token.clone()))),
            None => {
                let named = match profile {
                    "default" => String::new(),
                    other => format!(" --profile {other}"),
                };
                let message = format!("you are not signed in to {}", self.name());
                let others = profiles.all.get(profile).into_iter().flat_map(BTreeMap::keys);
                let others = others.map(|env| format!("use --env {}, ", env.name()));
                let others: String = others.collect();
                Err(Failure::new(Code::NotAllowed, message).hint(format!(
                    "{others}run `lyceum login --env {}{named}`, or set LYCEUM_URL and \
                     LYCEUM_API_KEY",
                    self.name()
                )))
            }
        }
    }
}

/// The profile of commands without an option for it.
pub(crate) fn usual_profile() -> String {
    set("LYCEUM_PROFILE").unwrap_or_else(|| "default".to_owned())
}

/// The project's running sandbox, or the only one that runs, or the default address. Returns the address, and
/// the sandbox's registry entry if it has one.
///
/// Errors: several sandboxes run, and none is the project's.
pub(crate) fn sandbox(slug: Option<&str>) -> Result<(String, Option<Sandbox>)> {
    let mut running = registry::running();
    let own = running.iter().position(|entry| Some(entry.slug.as_str()) == slug);
    let chosen = own.or((running.len() == 1).then_some(0)).map(|place| running.swap_remove(place));
    match chosen {
        Some(entry) => Ok((format!("http://127.0.0.1:{}", entry.port), Some(entry))),
        None if running.is_empty() => Ok((LOCAL_URL.to_owned(), None)),
        None => {
            let all = running.iter().map(|entry| format!("{} ({})", entry.url, entry.slug));
            let all = all.collect::<Vec<_>>().join(", ");
            Err(Failure::new(Code::Usage, format!("several sandboxes are running: {all}"))
                .hint("choose one by setting LYCEUM_LOCAL_URL"))
        }
    }
}

/// The address in the variable `LYCEUM_URL`, which overrides the profile.
pub(crate) fn url_in_place() -> Option<String> {
    set("LYCEUM_URL").map(|url| url.trim_end_matches('/').to_owned())
}

/// The key in the variable `LYCEUM_API_KEY`.
pub(crate) fn api_key() -> Option<String> {
    set("LYCEUM_API_KEY")
}

fn set(name: &str) -> Option<String> {
    config::variable(name).filter(|value| !value.is_empty())
}

/// An account on a server.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct AccountEntry {
    pub(crate) url: String,
    pub(crate) email: String,
    pub(crate) token: String,
}

/// The accounts that the user signed in to, by profile and environment.
pub(crate) struct Profiles {
    /// Where the file is; `None` if HOME is not set.
    file: Option<PathBuf>,
    pub(crate) all: BTreeMap<String, BTreeMap<Env, AccountEntry>>,
}

impl Profiles {
    /// Reads the file. A missing file is the same as an empty one.
    pub(crate) fn read() -> Result<Self> {
        let Some(file) = file() else { return Ok(Self { file: None, all: BTreeMap::new() }) };
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => "{}".to_owned(),
            Err(error) => return Err(broken(&file, &error.to_string())),
        };
        let all = serde_json::from_str(&text).map_err(|error| broken(&file, &error.to_string()))?;
        Ok(Self { file: Some(file), all })
    }

    pub(crate) fn find(&self, profile: &str, env: Env) -> Option<&AccountEntry> {
        self.all.get(profile)?.get(&env)
    }

    pub(crate) fn set(&mut self, profile: &str, env: Env, entry: AccountEntry) {
        self.all.entry(profile.to_owned()).or_default().insert(env, entry);
    }

    pub(crate) fn remove(&mut self, profile: &str, env: Env) -> Option<AccountEntry> {
        let entries = self.all.get_mut(profile)?;
        let removed = entries.remove(&env);
        if entries.is_empty() {
            self.all.remove(profile);
        }
        removed
    }

    /// Writes the file. Only its owner can read it.
    pub(crate) fn write(&self) -> Result {
        let file = self.file.as_ref().ok_or_else(|| {
            Failure::failed("there is no folder for profiles: HOME is not set")
                .hint("set HOME or XDG_CONFIG_HOME, or use LYCEUM_URL and LYCEUM_API_KEY")
        })?;
        let folder = file.parent().expect("the file lies in a folder");
        let draft = file.with_extension("new");
        let text = serde_json::to_string_pretty(&self.all).expect("profiles have string keys");
        let written = fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .and_then(|()| match fs::remove_file(&draft) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
                _ => OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft),
            })
            .and_then(|mut draft| {
                draft.write_all(format!("{text}\n").as_bytes())?;
                draft.sync_all()
            })
            .and_then(|()| fs::rename(&draft, file));
        written.map_err(|error| {
            Failure::failed(format!("'{}' cannot be written: {error}", file.display()))
        })
    }
}

/// `lyceum/profiles.json` in `$XDG_CONFIG_HOME`, or in `~/.config`.
fn file() -> Option<PathBuf> {
    let home = || set("HOME").map(|home| Path::new(&home).join(".config"));
    let folder = set("XDG_CONFIG_HOME").map(PathBuf::from).or_else(home);
    folder.map(|folder| folder.join("lyceum/profiles.json"))
}

fn broken(file: &Path, why: &str) -> Failure {
    Failure::failed(format!("'{}' cannot be read: {why}", file.display()))
        .hint("correct it, or delete it and sign in again")
}
