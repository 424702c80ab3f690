//! `lyceum keys`

use clap::{Args, Subcommand};
use lyceum_core::Problem;
use lyceum_core::time::{Clock, SystemClock};
use lyceum_credentials::issuer::{Issuer, SERVER};
use lyceum_credentials::key::PublicKey;
use lyceum_credentials::keys::{self, PublishedKey};
use lyceum_credentials::{did, key};
use serde_json::{Value, json};

use crate::failure::Result;
use crate::printer::{Printer, table};
use crate::settings::{self, DataArgs, Missing, flag, reached_at, write};

/// List, rotate and publish the keys that sign credentials. For keys that sign tokens, see `lyceum admin rotate-keys`
#[derive(Subcommand)]
pub(crate) enum Keys {
    /// List the current and former keys of all issuers
    List(List),
    /// Create a new key that signs from now on. Credentials signed with the former key stay valid
    Rotate(Rotate),
    /// Print an issuer's did:web document with all its public keys
    ExportPublic(ExportPublic),
}

#[derive(Args)]
pub(crate) struct List {
    #[command(flatten)]
    data: DataArgs,
}

#[derive(Args)]
pub(crate) struct Rotate {
    /// Issuer whose key is rotated; `lyceum keys list` shows the ids
    #[arg(long, value_name = "ID", default_value = SERVER)]
    issuer: String,
    #[command(flatten)]
    data: DataArgs,
}

#[derive(Args)]
pub(crate) struct ExportPublic {
    /// Issuer whose keys are printed; `lyceum keys list` shows the ids
    #[arg(long, value_name = "ID", default_value = SERVER)]
    issuer: String,
    /// Public address of the server, which its did:web contains
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

impl Keys {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        match self {
            Self::List(list) => list.run(printer),
            Self::Rotate(rotate) => rotate.run(printer),
            Self::ExportPublic(export) => export.run(printer),
        }
    }
}

impl List {
    fn run(self, printer: &Printer) -> Result {
        let (_, db) = self.data.open(Missing::Refuse)?;
        let keys = db.read_blocking(|tx| keys::published(tx, None))?;
        printer.answer(
            || {
                let rows: Vec<_> = keys.iter().map(row).collect();
                table(&["issuer", "algorithm", "key", "created", "state"], &rows)
            },
            || keys.iter().map(record).collect(),
        );
        Ok(())
    }
}

impl Rotate {
    fn run(self, printer: &Printer) -> Result {
        let loaded = self.data.load(&[])?;
        let db = settings::open(&loaded.config, Missing::Refuse)?;
        let master = settings::master(&loaded)?;
        let (base_url, now) = (reached_at(&loaded, &db)?, SystemClock.now());
        let key = write(&db, move |tx| {
            Issuer::find(tx, &base_url, &self.issuer)?;
            keys::rotate(tx, now, &master, &self.issuer)
        })?;
        printer.answer(|| format!("{}\n", key.kid), || record(&key));
        printer
            .done("the new key signs from now on; credentials signed with former keys stay valid");
        Ok(())
    }
}

impl ExportPublic {
    fn run(self, printer: &Printer) -> Result {
        let flags = flag("--public-url", "server.public_url", self.public_url);
        let loaded = self.data.load(flags.as_slice())?;
        let db = settings::open(&loaded.config, Missing::Refuse)?;
        let base_url = reached_at(&loaded, &db)?;
        let document =
            db.read_blocking(|tx| Issuer::find(tx, &base_url, &self.issuer)?.document(tx))?;
        let document = serde_json::to_value(document).map_err(Problem::internal)?;
        printer.text(&format!("{document:#}\n"));
        Ok(())
    }
}

fn row(key: &PublishedKey) -> Vec<String> {
    let state = match key.retired {
        Some(at) => format!("retired {at}"),
        None => "signs".to_owned(),
    };
    let created = key.created.to_string();
    vec![key.issuer.clone(), key.algorithm.clone(), key.kid.clone(), created, state]
}

fn record(published: &PublishedKey) -> Value {
    let mut record = json!({
        "issuer": published.issuer,
        "algorithm": published.algorithm,
        "kid": published.kid,
        "created": published.created,
        "retired": published.retired,
        "publicKeyJwk": published.key.to_jwk(),
    });
    if let PublicKey::Ed25519(key) = &published.key {
        record["didKey"] = did::key_of(key).into();
        record["publicKeyMultibase"] = key::multikey(key).into();
    }
    record
}
