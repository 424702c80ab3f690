//! Which server a command is for, and who asks: the profiles that `lyceum login` writes, or the variables
//! `LYCEUM_URL` and `LYCEUM_API_KEY` in their place.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use lyceum_core::config;
use lyceum_sandbox::registry;
use serde::{Deserialize, Serialize};

use crate::failure::{Code, Failure, Result};
use crate::remote::Remote;

/// Where a sandbox is that nobody listed.
const LOCAL_URL: &str = "http://localhost:4321";
/// The bearer for a sandbox: any will do.
const LOCAL_TOKEN: &str = "lyceum-cli";

/// Which of the worlds a command is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Env {
    /// The sandbox that runs on this machine
    Local,
    /// For trying things out
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

/// Which server, and who asks.
#[derive(Args, Clone)]
pub(crate) struct AccountArgs {
    /// Which server: the one that was signed in to for this environment
    #[arg(long, value_name = "ENV", default_value = "staging", help_heading = "Server")]
    pub(crate) env: Env,
    /// Which of several accounts; `lyceum profiles` lists them
    #[arg(
        long,
        value_name = "NAME",
        default_value = "default",
        env = "LYCEUM_PROFILE",
        help_heading = "Server"
    )]
    pub(crate) profile: String,
}

/// A server, and what to call it with.
#[derive(Clone)]
pub(crate) struct Connection {
    /// Its address, without a slash at the end.
    pub(crate) url: String,
    /// What it must be, or it refuses.
    pub(crate) env: Env,
    /// The bearer; none: nobody is signed in.
    pub(crate) token: Option<String>,
}

impl AccountArgs {
    /// The server and the bearer. Errors: nobody is signed in for this environment.
    pub(crate) fn connection(&self) -> Result<Connection> {
        let env = self.env;
        if let Some(url) = url_in_place() {
            let token = set("LYCEUM_API_KEY");
            if token.is_none() && env != Env::Local {
                let message = "LYCEUM_URL is set and LYCEUM_API_KEY is not";
                return Err(Failure::new(Code::NotAllowed, message)
                    .hint("`lyceum admin key create NAME` makes a key on the server"));
            }
            return Ok(Connection { url, env, token: token.or_else(|| local_token(env)) });
        }
        if env == Env::Local {
            let listed = registry::running().into_iter().next();
            let url = listed.map_or_else(|| LOCAL_URL.to_owned(), |sandbox| origin(&sandbox.url));
            return Ok(Connection { url, env, token: local_token(env) });
        }
        let profiles = Profiles::read()?;
        let entry = profiles.find(&self.profile, env).ok_or_else(|| {
            let profile = match self.profile.as_str() {
                "default" => String::new(),
                other => format!(" --profile {other}"),
            };
            let message = format!("you are not signed in to {}", env.name());
            Failure::new(Code::NotAllowed, message).hint(format!(
                "run `lyceum login --env {}{profile}`, or set LYCEUM_URL and LYCEUM_API_KEY",
                env.name()
            ))
        })?;
        Ok(Connection { url: entry.url.clone(), env, token: Some(entry.token.clone()) })
    }

    /// The server, ready to be called.
    pub(crate) fn connect(&self) -> Result<Remote> {
        Ok(Remote::of(&self.connection()?))
    }
}

/// The address that the variable `LYCEUM_URL` gives in place of a profile.
pub(crate) fn url_in_place() -> Option<String> {
    set("LYCEUM_URL").map(|url| url.trim_end_matches('/').to_owned())
}

fn set(name: &str) -> Option<String> {
    config::variable(name).filter(|value| !value.is_empty())
}

fn local_token(env: Env) -> Option<String> {
    (env == Env::Local).then(|| LOCAL_TOKEN.to_owned())
}

/// The address without the path of the platform's API.
fn origin(url: &str) -> String {
    url.trim_end_matches('/').trim_end_matches("/api").to_owned()
}

/// An account on a server.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) url: String,
    pub(crate) email: String,
    pub(crate) token: String,
}

/// The accounts that somebody signed in to, by profile and environment.
pub(crate) struct Profiles {
    /// None: there is no place for one.
    file: Option<PathBuf>,
    pub(crate) all: BTreeMap<String, BTreeMap<Env, Entry>>,
}

impl Profiles {
    /// Reads the file; one that is not there holds nothing.
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

    pub(crate) fn find(&self, profile: &str, env: Env) -> Option<&Entry> {
        self.all.get(profile)?.get(&env)
    }

    pub(crate) fn set(&mut self, profile: &str, env: Env, entry: Entry) {
        self.all.entry(profile.to_owned()).or_default().insert(env, entry);
    }

    pub(crate) fn remove(&mut self, profile: &str, env: Env) -> Option<Entry> {
        let entries = self.all.get_mut(profile)?;
        let removed = entries.remove(&env);
        if entries.is_empty() {
            self.all.remove(profile);
        }
        removed
    }

    /// Writes the file, which nobody but its owner can read.
    pub(crate) fn write(&self) -> Result {
        let file = self.file.as_ref().ok_or_else(|| {
            Failure::failed("there is no place for profiles: HOME is not set")
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

/// `lyceum/profiles.json` below `$XDG_CONFIG_HOME`, else `~/.config`.
fn file() -> Option<PathBuf> {
    let home = || set("HOME").map(|home| Path::new(&home).join(".config"));
    let folder = set("XDG_CONFIG_HOME").map(PathBuf::from).or_else(home);
    folder.map(|folder| folder.join("lyceum/profiles.json"))
}

fn broken(file: &Path, why: &str) -> Failure {
    Failure::failed(format!("'{}' cannot be read: {why}", file.display()))
        .hint("mend it, or delete it and sign in again")
}
