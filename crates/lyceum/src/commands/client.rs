//! `lyceum client`

use std::collections::BTreeSet;

use clap::{Args, Subcommand};
use lyceum_access::{
    Client as Record, ClientSecrets, MasterKey, NewClient, Scope, Scopes, client, signed_request,
};
use lyceum_core::PayloadDialect;
use lyceum_core::config::LoadedConfig;
use lyceum_core::time::{Clock, SystemClock};
use lyceum_http::limits;
use lyceum_roster::reach as roster_reach;
use lyceum_store::{Db, Tx};
use serde_json::{Value, json};

use super::reach::{self, ChangedReach, NewReach};
use crate::failure::Result;
use crate::printer::{Printer, table};
use crate::settings::{DataArgs, Missing, keyring, record_change, write_or_try};

#[derive(Subcommand)]
pub(crate) enum Client {
    /// Register a client and print its secret once
    Create(Create),
    /// List the clients
    List(List),
    /// Limit a client to organizations, or end the limit
    Limit(Limit),
    /// Give a client a new secret, and a new signing secret if it has one
    Rotate(Rotate),
    /// Revoke a client. Servers refuse it and its tokens
    Revoke(Revoke),
}

#[derive(Args)]
pub(crate) struct Create {
    /// Display name of the client
    name: String,
    /// Id of the client [default: random]
    #[arg(long)]
    id: Option<String>,
    /// Secret of the client, at least 16 characters [default: random, 256 bits]
    #[arg(long)]
    secret: Option<String>,
    /// A scope that the client may request; can be given several times [default: all but lyceum/passwords.read, lyceum/people.manage and lyceum/server.read]
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<Scope>,
    /// Form of responses: `platform` has extra fields, `standard` follows the standards' schemas exactly
    #[arg(long, default_value = "platform", value_name = "platform|standard")]
    dialect: PayloadDialect,
    /// Web origin that may use the client's tokens, such as <https://app.example.org>
    #[arg(long = "origin", value_name = "ORIGIN")]
    origins: Vec<String>,
    /// Maximum requests per second, instead of the server's setting; 0 means no limit
    #[arg(long, value_name = "N")]
    requests_per_second: Option<u32>,
    /// Also create a signing secret, with which the client signs requests to OneRoster 1.1 by OAuth 1.0a
    #[arg(long)]
    oauth1: bool,
    #[command(flatten)]
    reach: NewReach,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    data: DataArgs,
}

#[derive(Args)]
pub(crate) struct List {
    #[command(flatten)]
    data: DataArgs,
}

#[derive(Args)]
pub(crate) struct Limit {
    /// Id of the client
    id: String,
    #[command(flatten)]
    reach: ChangedReach,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    data: DataArgs,
}

#[derive(Args)]
pub(crate) struct Rotate {
    /// Id of the client
    id: String,
    /// The new secret, at least 16 characters [default: random, 256 bits]
    #[arg(long)]
    secret: Option<String>,
    /// Hours that the former secret stays valid; with 0 it stops working at once
    #[arg(long, value_name = "HOURS", default_value_t = 24, value_parser = clap::value_parser!(i64).range(0..=8760))]
    keep_old: i64,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    data: DataArgs,
}

#[derive(Args)]
pub(crate) struct Revoke {
    /// Id of the client
    id: String,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    data: DataArgs,
}

impl Client {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        match self {
            Self::Create(create) => create.run(printer),
            Self::List(list) => list.run(printer),
            Self::Limit(limit) => limit.run(printer),
            Self::Rotate(rotate) => rotate.run(printer),
            Self::Revoke(revoke) => revoke.run(printer),
        }
    }
}

impl Create {
    fn run(self, printer: &Printer) -> Result {
        let new = NewClient {
            name: self.name,
            id: self.id,
            secret: self.secret,
            dialect: self.dialect,
            scopes: self.scopes.into_iter().collect(),
            origins: self.origins,
            requests_per_second: self.requests_per_second,
        };
        let (dry_run, reach) = (self.dry_run, self.reach.reach()?);
        let (loaded, db) =
            self.data.open_loaded(if dry_run { Missing::Refuse } else { Missing::Make })?;
        let now = SystemClock.now();
        let master = sealing_key(&db, &loaded, self.oauth1 && !dry_run)?;
        let (client, secrets) = write_or_try(&db, dry_run, move |tx| {
            let master = self.oauth1.then_some(&master);
            let (client, secrets) = client::create_with_signing(tx, now, &new, master)?;
            record_change(tx, now, "client.create", &client.id)?;
            roster_reach::check(tx, &reach)?;
            Ok((client::limit(tx, &client.id, &reach)?, secrets))
        })?;
        if dry_run {
            print_unchanged(printer, "create", &client, self.oauth1);
            return Ok(());
        }
        print_secrets(printer, &client, &secrets);
        Ok(())
    }
}

impl List {
    fn run(self, printer: &Printer) -> Result {
        let (_, db) = self.data.open(Missing::Refuse)?;
        let read = |tx: &mut Tx<'_>| Ok((client::list(tx)?, signed_request::signing_clients(tx)?));
        let (clients, signing) = db.read_blocking(read)?;
        printer.answer(
            || {
                let rows: Vec<_> = clients.iter().map(|client| row(client, &signing)).collect();
                let columns =
                    ["id", "name", "dialect", "scopes", "access", "oauth1", "created", "state"];
                table(&columns, &rows)
            },
            || clients.iter().map(|client| record(client, signing.contains(&client.id))).collect(),
        );
        Ok(())
    }
}

impl Limit {
    fn run(self, printer: &Printer) -> Result {
        let reach = self.reach.reach()?;
        let (_, db) = self.data.open(Missing::Refuse)?;
        let now = SystemClock.now();
        let (client, signs) = write_or_try(&db, self.dry_run, move |tx| {
            record_change(tx, now, "client.limit", &self.id)?;
            roster_reach::check(tx, &reach)?;
            let signs = signed_request::is_signing(tx, &self.id)?;
            Ok((client::limit(tx, &self.id, &reach)?, signs))
        })?;
        if self.dry_run {
            print_unchanged(printer, "limit", &client, signs);
            return Ok(());
        }
        printer.done(&format!(
            "the client '{}' has access to {}; every server applies it within {} s",
            client.id,
            client.reach,
            limits::REVOCATION_MAX_S
        ));
        Ok(())
    }
}

impl Rotate {
    fn run(self, printer: &Printer) -> Result {
        let (loaded, db) = self.data.open_loaded(Missing::Refuse)?;
        let (now, overlap_s) = (SystemClock.now(), self.keep_old * 3600);
        let signs = db.read_blocking(|tx| signed_request::is_signing(tx, &self.id))?;
        let master = sealing_key(&db, &loaded, signs && !self.dry_run)?;
        let (client, secrets) = write_or_try(&db, self.dry_run, move |tx| {
            record_change(tx, now, "client.rotate", &self.id)?;
            let secret = self.secret.as_deref();
            client::rotate_with_signing(tx, now, &self.id, secret, overlap_s, &master)
        })?;
        if self.dry_run {
            print_unchanged(printer, "rotate the secret of", &client, signs);
            return Ok(());
        }
        print_secrets(printer, &client, &secrets);
        match self.keep_old {
            0 => printer.done("the former secret is no longer valid"),
            hours => printer.done(&format!("the former secret stays valid for {hours} h")),
        }
        Ok(())
    }
}

impl Revoke {
    fn run(self, printer: &Printer) -> Result {
        let (_, db) = self.data.open(Missing::Refuse)?;
        let now = SystemClock.now();
        let (client, signs) = write_or_try(&db, self.dry_run, move |tx| {
            record_change(tx, now, "client.revoke", &self.id)?;
            let signs = signed_request::is_signing(tx, &self.id)?;
            Ok((client::revoke(tx, now, &self.id)?, signs))
        })?;
        if self.dry_run {
            print_unchanged(printer, "revoke", &client, signs);
            return Ok(());
        }
        printer.done(&format!(
            "revoked the client '{}'; every server refuses it within {} s",
            client.id,
            limits::REVOCATION_MAX_S
        ));
        Ok(())
    }
}

/// The master key that the server's signing keys are sealed with. If nothing is sealed, any key does.
fn sealing_key(db: &Db, loaded: &LoadedConfig, seals: bool) -> Result<MasterKey> {
    match seals {
        true => Ok(keyring(db, loaded, SystemClock.now())?.master().clone()),
        false => Ok(MasterKey::random()),
    }
}

/// Prints the change that a dry run would make to the client. Its secrets are not printed, because they are not stored.
fn print_unchanged(printer: &Printer, change: &str, client: &Record, signs: bool) {
    printer.answer(|| format!("{change} the client '{}'\n", client.name), || record(client, signs));
}

fn print_secrets(printer: &Printer, client: &Record, secrets: &ClientSecrets) {
    let ClientSecrets { secret, signing } = secrets;
    printer.answer(
        || match signing {
            None => format!("id      {}\nsecret  {secret}\n", client.id),
            Some(signing) => format!(
                "id              {}\nsecret          {secret}\nsigning secret  {signing}\n",
                client.id
            ),
        },
        || {
            let mut record = record(client, signing.is_some());
            record["secret"] = secret.as_str().into();
            if let Some(signing) = signing {
                record["signingSecret"] = signing.as_str().into();
            }
            record
        },
    );
    printer.done(match signing {
        None => "store the secret now: the server keeps only its hash",
        Some(_) => "store the secrets now: the server does not show them again",
    });
}

fn row(client: &Record, signing: &BTreeSet<String>) -> Vec<String> {
    let scopes = match client.scopes {
        Scopes::EVERYTHING => "all".to_owned(),
        scopes => scopes.to_string(),
    };
    let state = match client.revoked {
        Some(at) => format!("revoked {at}"),
        None => "active".to_owned(),
    };
    let created = client.created.to_string();
    let dialect = client.dialect.name().to_owned();
    let signs = if signing.contains(&client.id) { "yes" } else { "no" }.to_owned();
    let reach = reach::cell(&client.reach);
    vec![client.id.clone(), client.name.clone(), dialect, scopes, reach, signs, created, state]
}

fn record(client: &Record, signs: bool) -> Value {
    let mut record = json!({
        "id": client.id,
        "name": client.name,
        "dialect": client.dialect.name(),
        "scopes": client.scopes.iter().map(Scope::name).collect::<Vec<_>>(),
        "origins": client.origins,
        "requestsPerSecond": client.requests_per_second,
        "oauth1": signs,
        "created": client.created.to_string(),
        "revoked": client.revoked.map(|at| at.to_string()),
    });
    reach::add_members(&mut record, &client.reach);
    record
}
