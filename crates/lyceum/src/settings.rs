//! Resolves flags, environment variables and the settings file to one typed value, and opens the database.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use lyceum_access::audit::{AuditChange, COMMAND_LINE};
use lyceum_access::{Keyring, MasterKey, Realm};
use lyceum_blob::Blobs;
use lyceum_core::config::{self, Config, FlagValue, LoadedConfig, Secret, SettingOrigin};
use lyceum_core::time::{Clock, SystemClock, Timestamp};
use lyceum_core::{Problem, ProblemKind};
use lyceum_hosting::installations;
use lyceum_store::{Db, StoreLocation, StoreOptions, Tx};

use crate::failure::{Code, Failure, Result};
use crate::in_use;

/// The file name of the SQLite database in the data folder.
const SQLITE_FILE: &str = "lyceum.db";

/// Where the data is. Every command on data has these options.
#[derive(Args, Clone)]
pub(crate) struct DataArgs {
    /// Folder of the SQLite database and master.key [default: lyceum-data]
    #[arg(long, value_name = "DIR", help_heading = "Data")]
    pub(crate) data: Option<PathBuf>,
    /// Use PostgreSQL instead of SQLite: `postgres://user:password@host/database`
    #[arg(long, value_name = "URL", help_heading = "Data")]
    pub(crate) database: Option<String>,
    /// Settings file; `lyceum config` prints all settings
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub(crate) config: Option<PathBuf>,
}

/// Whether a missing database is created.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    Make,
    Refuse,
}

impl DataArgs {
    /// The settings in force. `more` has the command's own flags.
    pub(crate) fn load(&self, more: &[FlagValue]) -> Result<LoadedConfig> {
        let path = |path: &PathBuf| path.to_string_lossy().into_owned();
        let mut flags = Vec::new();
        flags.extend(flag("--data", "store.data", self.data.as_ref().map(path)));
        flags.extend(flag("--database", "store.database", self.database.clone()));
        flags.extend_from_slice(more);
        Ok(config::load(self.config.as_deref(), config::environment()?, &flags)?)
    }

    /// The settings in force, and the opened database.
    pub(crate) fn open(&self, missing: Missing) -> Result<(Config, Db)> {
        let (loaded, db) = self.open_loaded(missing)?;
        Ok((loaded.config, db))
    }

    /// Like [`Self::open`], with the origin of each setting.
    pub(crate) fn open_loaded(&self, missing: Missing) -> Result<(LoadedConfig, Db)> {
        let loaded = self.load(&[])?;
        let db = open(&loaded.config, missing)?;
        Ok((loaded, db))
    }
}

/// Turns a flag into an override of a setting, if the flag is present.
pub(crate) fn flag(
    flag: &'static str,
    key: &'static str,
    value: Option<String>,
) -> Option<FlagValue> {
    value.map(|value| FlagValue { flag, key, value })
}

/// The database that the settings name.
pub(crate) fn target(config: &Config) -> StoreLocation {
    match &config.store.database {
        Some(url) => StoreLocation::Postgres(url.reveal().to_owned()),
        None => StoreLocation::Sqlite(config.store.data.join(SQLITE_FILE)),
    }
}

/// Opens the database and applies migrations. The data folder stays locked until the process ends.
pub(crate) fn open(config: &Config, missing: Missing) -> Result<Db> {
    if missing == Missing::Make {
        make_folder(config)?;
    }
    // A restore locks an existing folder, so a missing one needs no lock.
    if config.store.data.is_dir() {
        in_use::share(&config.store.data)?;
    }
    open_alone(config, missing)
}

/// Like [`open`], for a process that holds the data folder exclusively.
pub(crate) fn open_alone(config: &Config, missing: Missing) -> Result<Db> {
    let target = target(config);
    if let StoreLocation::Sqlite(file) = &target
        && !file.exists()
        && missing == Missing::Refuse
    {
        let message = format!("there is no database in '{}'", config.store.data.display());
        return Err(Failure::new(Code::NotFound, message).hint(
            "choose its folder with --data; `serve`, `import` and `client create` create a new one",
        ));
    }
    let options = StoreOptions {
        mmap_bytes: config.store.sqlite_mmap_bytes,
        connections: config.store.postgres_connections,
        is_replicated: config.has_replicas(),
        ..StoreOptions::default()
    };
    Db::open_with(&target, &lyceum_api::migrations(), options).map_err(|problem| {
        let is_unreachable = problem.kind == ProblemKind::Unavailable && config.store.database.is_some();
        let failure = Failure::from(problem);
        match is_unreachable {
            true => failure.hint(
                "check that PostgreSQL runs, and its address in --database or store.database; `lyceum doctor` \
                 tests the connection",
            ),
            false => failure,
        }
    })
}

/// Creates the data folder if it is missing.
pub(crate) fn make_folder(config: &Config) -> Result {
    let folder = &config.store.data;
    fs::create_dir_all(folder).map_err(|error| {
        let message = format!("cannot create the folder '{}': {error}", folder.display());
        Failure::failed(message).hint("choose another folder with --data")
    })
}

/// The files of versions, items and imports.
pub(crate) fn blobs(config: &Config, db: &Db) -> lyceum_core::Result<Blobs> {
    let installations = installations::in_bucket(db, config, SystemClock.now())?;
    lyceum_hosting::blobs(&config.store.data, &config.s3, &installations)
}

/// The address of the server that uses this data: from this command's settings, or as the server stored it at
/// its last start, or from the default settings.
pub(crate) fn reached_at(loaded: &LoadedConfig, db: &Db) -> Result<String> {
    let is_said = ["server.public_url", "server.listen"]
        .iter()
        .any(|key| !matches!(loaded.origin(key), SettingOrigin::Default));
    let known = if is_said { None } else { db.read_blocking(lyceum_access::server_address)? };
    Ok(known.unwrap_or_else(|| loaded.config.public_url()))
}

/// Runs a write, again if another process changed the same rows.
pub(crate) fn write<T, F>(db: &Db, work: F) -> Result<T>
where
    T: Send + 'static,
    F: FnMut(&mut Tx<'_>) -> lyceum_core::Result<T> + Send + 'static,
{
    let waiting = tokio::runtime::Builder::new_current_thread().build();
    let waiting = waiting.map_err(|error| Failure::failed(error.to_string()))?;
    Ok(waiting.block_on(db.write(work))?)
}

/// Runs a write, or only tries it: a dry run rolls the transaction back.
pub(crate) fn write_or_try<T, F>(db: &Db, dry_run: bool, mut work: F) -> Result<T>
where
    T: Send + 'static,
    F: FnMut(&mut Tx<'_>) -> lyceum_core::Result<T> + Send + 'static,
{
    if !dry_run {
        return write(db, work);
    }
    let tried = Arc::new(Mutex::new(None));
    let outcome = Arc::clone(&tried);
    let ended: Result = write(db, move |tx| {
        *outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(work(tx));
        // An error rolls the transaction back.
        Err(Problem::internal("a dry run is rolled back"))
    });
    match (tried.lock().unwrap_or_else(PoisonError::into_inner).take(), ended) {
        (Some(outcome), _) => Ok(outcome?),
        (None, ended) => Err(ended.err().unwrap_or_else(|| Failure::failed("nothing was tried"))),
    }
}

/// Records the command's change in the audit log, in the same transaction.
pub(crate) fn record_change(
    tx: &mut Tx<'_>,
    now: Timestamp,
    what: &'static str,
    subject: &str,
) -> lyceum_core::Result<()> {
    AuditChange { who: COMMAND_LINE, what, subject }.note(tx, now, &serde_json::Value::Null)
}

/// The master key: from the settings, or from the file in the data folder, which the first start creates. It also opens
/// what the second key of a rotation sealed.
pub(crate) fn master(loaded: &LoadedConfig) -> Result<MasterKey> {
    let keys = &loaded.config.keys;
    let main = match &keys.master {
        Some(text) => parse_master(loaded, "keys.master", text)?,
        None => {
            make_folder(&loaded.config)?;
            MasterKey::of_folder(&loaded.config.store.data)?
        }
    };
    let Some(text) = &keys.master_other else { return Ok(main) };
    let other = parse_master(loaded, "keys.master_other", text)?;
    if other.is_same(&main) {
        let origin = loaded.origin("keys.master_other");
        let message = format!("{origin}: 'keys.master_other' is the master key itself");
        return Err(Failure::new(Code::Usage, message)
            .hint("remove it, or set the second key of the rotation"));
    }
    Ok(main.with_other(&other))
}

/// The master key with the key of this database from which others are derived.
pub(crate) fn master_of(db: &Db, loaded: &LoadedConfig) -> Result<MasterKey> {
    let master = master(loaded)?;
    write(db, move |tx| lyceum_access::master_of_database(tx, &master))
}

fn parse_master(loaded: &LoadedConfig, setting: &str, text: &Secret) -> Result<MasterKey> {
    MasterKey::parse(text.reveal()).ok_or_else(|| {
        let origin = loaded.origin(setting);
        let message = format!("{origin}: '{setting}' must be 64 hex digits or base64 of 32 bytes");
        Failure::new(Code::Usage, message).hint("create one with `openssl rand -hex 32`")
    })
}

/// The keys that sign and verify tokens. Creates the first one if there is none.
pub(crate) fn keyring(db: &Db, loaded: &LoadedConfig, now: Timestamp) -> Result<Keyring> {
    let config = &loaded.config;
    let realm = Realm::new(config.server.env, &config.public_url());
    let master = master(loaded)?;
    write(db, move |tx| Keyring::open(tx, now, &realm, &master))
}
