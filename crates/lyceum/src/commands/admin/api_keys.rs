//! `lyceum admin key`

use clap::{Args, Subcommand};
use lyceum_access::{ApiKey, NewApiKey, Role, api_key};
use lyceum_core::time::{Clock, SystemClock};
use lyceum_roster::reach as roster_reach;
use serde_json::{Value, json};

use crate::commands::reach::{self, ChangedReach, NewReach};
use crate::failure::Result;
use crate::printer::{Printer, table};
use crate::settings::{self, DataArgs, Missing, flag, record_change, write};

#[derive(Subcommand)]
pub(crate) enum Key {
    /// Create an API key, for example for a CI job, and print it once
    Create(Create),
    /// List the keys
    List(List),
    /// Limit a key to organizations, or end the limit
    Limit(Limit),
    /// Revoke a key. Every server refuses it at once
    Revoke(Revoke),
}

#[derive(Args)]
pub(crate) struct Create {
    /// Display name of the key
    name: String,
    /// Role of the key
    #[arg(long, value_name = "administrator|guide|developer", default_value = "developer")]
    role: Role,
    /// The only project that the key may change [default: every project]
    #[arg(long, value_name = "SLUG")]
    project: Option<String>,
    /// The environment whose servers accept the key [default: the environment in the settings]
    #[arg(long, value_name = "staging|production")]
    env: Option<String>,
    #[command(flatten)]
    reach: NewReach,
    #[command(flatten)]
    data: DataArgs,
}

#[derive(Args)]
pub(crate) struct Limit {
    /// The key's name or id
    name: String,
    #[command(flatten)]
    reach: ChangedReach,
    #[command(flatten)]
    data: DataArgs,
}

#[derive(Args)]
pub(crate) struct List {
    #[command(flatten)]
    data: DataArgs,
}

#[derive(Args)]
pub(crate) struct Revoke {
    /// The key's name or id
    name: String,
    #[command(flatten)]
    data: DataArgs,
}

impl Key {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        match self {
            Self::Create(create) => create.run(printer),
            Self::List(list) => list.run(printer),
            Self::Limit(limit) => limit.run(printer),
            Self::Revoke(revoke) => revoke.run(printer),
        }
    }
}

impl Create {
    fn run(self, printer: &Printer) -> Result {
        let reach = self.reach.reach()?;
        let loaded = self.data.load(flag("--env", "server.env", self.env).as_slice())?;
        let db = settings::open(&loaded.config, Missing::Make)?;
        let new =
            NewApiKey { name: self.name, role: self.role, project: self.project, maker: None };
        let (now, environment) = (SystemClock.now(), loaded.config.server.env);
        let (key, text) = write(&db, move |tx| {
            let (key, text) = api_key::create(tx, now, environment, &new)?;
            record_change(tx, now, "key.create", &key.id)?;
            roster_reach::check(tx, &reach)?;
            Ok((api_key::limit(tx, &key.id, &reach)?, text))
        })?;
        printer.answer(
            || format!("{text}\n"),
            || {
                let mut shown = record(&key);
                shown["key"] = text.as_str().into();
                shown
            },
        );
        printer.done(&format!(
            "store the key of '{}' now: the server keeps only its hash. {} servers accept it",
            key.name,
            key.environment.name()
        ));
        Ok(())
    }
}

impl List {
    fn run(self, printer: &Printer) -> Result {
        let (_, db) = self.data.open(Missing::Refuse)?;
        let keys = db.read_blocking(api_key::list)?;
        printer.answer(
            || {
                let header =
                    ["id", "name", "env", "role", "project", "access", "last used", "state"];
                table(&header, &keys.iter().map(row).collect::<Vec<_>>())
            },
            || keys.iter().map(record).collect(),
        );
        Ok(())
    }
}

impl Limit {
    fn run(self, printer: &Printer) -> Result {
        let reach = self.reach.reach()?;
        let (_, db) = self.data.open(Missing::Refuse)?;
        let now = SystemClock.now();
        let key = write(&db, move |tx| {
            roster_reach::check(tx, &reach)?;
            let key = api_key::limit(tx, &self.name, &reach)?;
            record_change(tx, now, "key.limit", &key.id)?;
            Ok(key)
        })?;
        printer.done(&format!("the key '{}' has access to {}", key.name, key.reach));
        Ok(())
    }
}

impl Revoke {
    fn run(self, printer: &Printer) -> Result {
        let (_, db) = self.data.open(Missing::Refuse)?;
        let now = SystemClock.now();
        let key = write(&db, move |tx| {
            let key = api_key::revoke(tx, now, &self.name)?;
            record_change(tx, now, "key.revoke", &key.id)?;
            Ok(key)
        })?;
        printer.done(&format!("revoked the key '{}'; every server refuses it at once", key.name));
        Ok(())
    }
}

fn row(key: &ApiKey) -> Vec<String> {
    let state = match key.revoked {
        Some(at) => format!("revoked {at}"),
        None if key.is_stopped => "stopped: its creator may not change the project".to_owned(),
        None => "active".to_owned(),
    };
    vec![
        key.id.clone(),
        key.name.clone(),
        key.environment.name().to_owned(),
        key.role.to_string(),
        key.project.clone().unwrap_or_else(|| "every".to_owned()),
        reach::cell(&key.reach),
        key.used.map_or_else(|| "never".to_owned(), |at| at.to_string()),
        state,
    ]
}

fn record(key: &ApiKey) -> Value {
    let mut record = json!({
        "id": key.id,
        "name": key.name,
        "environment": key.environment.name(),
        "role": key.role.name(),
        "project": key.project,
        "created": key.created.to_string(),
        "lastUsed": key.used.map(|at| at.to_string()),
        "revoked": key.revoked.map(|at| at.to_string()),
        "stopped": key.is_stopped,
    });
    reach::add_members(&mut record, &key.reach);
    record
}
