//! `lyceum client`

use clap::{Args, Subcommand};
use lyceum_access::{Client as Record, NewClient, Scope, Scopes, client};
use lyceum_core::PayloadDialect;
use lyceum_core::time::{Clock, SystemClock};
use lyceum_roster::reach as roster_reach;
use lyceum_server::limits;
use serde_json::{Value, json};

use super::reach::{self, ChangedReach, NewReach};
use crate::failure::Result;
use crate::printer::{Printer, table};
use crate::settings::{DataArgs, Missing, noted, write_or_try};

#[derive(Subcommand)]
pub(crate) enum Client {
    /// Register a client and print its secret once
    Create(Create),
    /// List the clients
    List(List),
    /// Limit a client to organizations, or end the limit
    Limit(Limit),
    /// Give a client a new secret
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
    /// A scope that the client may request; can be given several times [default: all but lyceum/passwords.read]
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
        let (_, db) = self.data.open(if dry_run { Missing::Refuse } else { Missing::Make })?;
        let now = SystemClock.now();
        let (client, secret) = write_or_try(&db, dry_run, move |tx| {
            let (client, secret) = client::create(tx, now, &new)?;
            noted(tx, now, "client.create", &client.id)?;
            roster_reach::check(tx, &reach)?;
            Ok((client::limit(tx, &client.id, &reach)?, secret))
        })?;
        if dry_run {
            print_unchanged(printer, "create", &client);
            return Ok(());
        }
        print_secret(printer, &client, &secret);
        Ok(())
    }
}

impl List {
    fn run(self, printer: &Printer) -> Result {
        let (_, db) = self.data.open(Missing::Refuse)?;
        let clients = db.read_blocking(client::list)?;
        printer.answer(
            || {
                let rows: Vec<_> = clients.iter().map(row).collect();
                table(&["id", "name", "dialect", "scopes", "access", "created", "state"], &rows)
            },
            || clients.iter().map(record).collect(),
        );
        Ok(())
    }
}

impl Limit {
    fn run(self, printer: &Printer) -> Result {
        let reach = self.reach.reach()?;
        let (_, db) = self.data.open(Missing::Refuse)?;
        let now = SystemClock.now();
        let client = write_or_try(&db, self.dry_run, move |tx| {
            noted(tx, now, "client.limit", &self.id)?;
            roster_reach::check(tx, &reach)?;
            client::limit(tx, &self.id, &reach)
        })?;
        if self.dry_run {
            print_unchanged(printer, "limit", &client);
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
        let (_, db) = self.data.open(Missing::Refuse)?;
        let (now, overlap_s) = (SystemClock.now(), self.keep_old * 3600);
        let (client, secret) = write_or_try(&db, self.dry_run, move |tx| {
            noted(tx, now, "client.rotate", &self.id)?;
            client::rotate(tx, now, &self.id, self.secret.as_deref(), overlap_s)
        })?;
        if self.dry_run {
            print_unchanged(printer, "rotate the secret of", &client);
            return Ok(());
        }
        print_secret(printer, &client, &secret);
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
        let client = write_or_try(&db, self.dry_run, move |tx| {
            noted(tx, now, "client.revoke", &self.id)?;
            client::revoke(tx, now, &self.id)
        })?;
        if self.dry_run {
            print_unchanged(printer, "revoke", &client);
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

/// Prints the change that a dry run would make to the client. Its secret is not printed, because it is not stored.
fn print_unchanged(printer: &Printer, change: &str, client: &Record) {
    printer.answer(|| format!("{change} the client '{}'\n", client.name), || record(client));
}

fn print_secret(printer: &Printer, client: &Record, secret: &str) {
    printer.answer(
        || format!("id      {}\nsecret  {secret}\n", client.id),
        || {
            let mut record = record(client);
            record["secret"] = secret.into();
            record
        },
    );
    printer.done("store the secret now: the server keeps only its hash");
}

fn row(client: &Record) -> Vec<String> {
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
    let reach = reach::cell(&client.reach);
    vec![client.id.clone(), client.name.clone(), dialect, scopes, reach, created, state]
}

fn record(client: &Record) -> Value {
    let mut record = json!({
        "id": client.id,
        "name": client.name,
        "dialect": client.dialect.name(),
        "scopes": client.scopes.iter().map(Scope::name).collect::<Vec<_>>(),
        "origins": client.origins,
        "requestsPerSecond": client.requests_per_second,
        "created": client.created.to_string(),
        "revoked": client.revoked.map(|at| at.to_string()),
    });
    reach::add_members(&mut record, &client.reach);
    record
}
