//! Flags, variables and a file, resolved to one typed value; and the database that it names.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use lyceum_access::audit::{COMMAND_LINE, Change};
use lyceum_access::{Keyring, Master, Realm};
use lyceum_core::config::{self, Config, Flag, Loaded, Origin};
use lyceum_core::time::Timestamp;
use lyceum_store::{Db, Options, Target, Tx};

use crate::failure::{Code, Failure, Result};
use crate::in_use;

/// The SQLite database in the data folder.
const SQLITE_FILE: &str = "lyceum.db";

/// Where the data is: what every command on data takes.
#[derive(Args, Clone)]
pub(crate) struct DataArgs {
    /// Folder of the SQLite database and of master.key [default: lyceum-data]
    #[arg(long, value_name = "DIR", help_heading = "Data")]
    pub(crate) data: Option<PathBuf>,
    /// PostgreSQL in place of SQLite: `postgres://user:password@host/database`
    #[arg(long, value_name = "URL", help_heading = "Data")]
    pub(crate) database: Option<String>,
    /// File with settings; see `lyceum config` for all of them
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub(crate) config: Option<PathBuf>,
}

/// Whether a database that is not there is made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    Make,
    Refuse,
}

impl DataArgs {
    /// The settings in force; `more` are flags of the command itself.
    pub(crate) fn load(&self, more: &[Flag]) -> Result<Loaded> {
        let path = |path: &PathBuf| path.to_string_lossy().into_owned();
        let mut flags = Vec::new();
        flags.extend(flag("--data", "store.data", self.data.as_ref().map(path)));
        flags.extend(flag("--database", "store.database", self.database.clone()));
        flags.extend_from_slice(more);
        Ok(config::load(self.config.as_deref(), config::environment()?, &flags)?)
    }

    /// The settings in force and the database that they name.
    pub(crate) fn open(&self, missing: Missing) -> Result<(Config, Db)> {
        let (loaded, db) = self.open_loaded(missing)?;
        Ok((loaded.config, db))
    }

    /// As [`Self::open`], with where each setting came from.
    pub(crate) fn open_loaded(&self, missing: Missing) -> Result<(Loaded, Db)> {
        let loaded = self.load(&[])?;
        let db = open(&loaded.config, missing)?;
        Ok((loaded, db))
    }
}

/// A flag that was given, as a layer of the settings.
pub(crate) fn flag(flag: &'static str, key: &'static str, value: Option<String>) -> Option<Flag> {
    value.map(|value| Flag { flag, key, value })
}

/// Where the settings say that the data is.
pub(crate) fn target(config: &Config) -> Target {
    match &config.store.database {
        Some(url) => Target::Postgres(url.reveal().to_owned()),
        None => Target::Sqlite(config.store.data.join(SQLITE_FILE)),
    }
}

/// Opens the database and brings its schema forward. The data folder is in use until the process ends.
pub(crate) fn open(config: &Config, missing: Missing) -> Result<Db> {
    if missing == Missing::Make {
        make_folder(config)?;
    }
    // Without a folder there is nothing that a restore could replace.
    if config.store.data.is_dir() {
        in_use::share(&config.store.data)?;
    }
    open_alone(config, missing)
}

/// [`open`] for who holds the data folder alone.
pub(crate) fn open_alone(config: &Config, missing: Missing) -> Result<Db> {
    let target = target(config);
    if let Target::Sqlite(file) = &target
        && !file.exists()
        && missing == Missing::Refuse
    {
        let message = format!("there is no database in '{}'", config.store.data.display());
        return Err(Failure::new(Code::NotFound, message)
            .hint("name its folder with --data; `serve`, `import` and `client create` make one"));
    }
    let options = Options {
        mmap_bytes: config.store.sqlite_mmap_bytes,
        connections: config.store.postgres_connections,
        ..Options::default()
    };
    Ok(Db::open_with(&target, &lyceum_server::migrations(), options)?)
}

/// Makes the data folder where it is missing.
pub(crate) fn make_folder(config: &Config) -> Result {
    let folder = &config.store.data;
    fs::create_dir_all(folder).map_err(|error| {
        let message = format!("the folder '{}' cannot be made: {error}", folder.display());
        Failure::failed(message).hint("name another with --data")
    })
}

/// The address of the server of this data: what a setting of this command says, else what the server said when
/// it was last started on it, else what the usual settings make.
pub(crate) fn reached_at(loaded: &Loaded, db: &Db) -> Result<String> {
    let is_said = ["server.public_url", "server.listen"]
        .iter()
        .any(|key| !matches!(loaded.origin(key), Origin::Default));
    let known = if is_said { None } else { db.read_blocking(lyceum_access::server_address)? };
    Ok(known.unwrap_or_else(|| loaded.config.public_url()))
}

/// A write that is run again where another process changes the same rows.
pub(crate) fn write<T, F>(db: &Db, work: F) -> Result<T>
where
    T: Send + 'static,
    F: FnMut(&mut Tx<'_>) -> lyceum_core::Result<T> + Send + 'static,
{
    let waiting = tokio::runtime::Builder::new_current_thread().build();
    let waiting = waiting.map_err(|error| Failure::failed(error.to_string()))?;
    Ok(waiting.block_on(db.write(work))?)
}

/// Writes into the log of changes what the command does, in the transaction that does it.
pub(crate) fn noted(
    tx: &mut Tx<'_>,
    now: Timestamp,
    what: &'static str,
    subject: &str,
) -> lyceum_core::Result<()> {
    Change { who: COMMAND_LINE, what, subject }.note(tx, now, &serde_json::Value::Null)
}

/// The master key: the setting, or the file in the data folder, which is made at the first start.
pub(crate) fn master(loaded: &Loaded) -> Result<Master> {
    if let Some(text) = &loaded.config.keys.master {
        return Master::parse(text.reveal()).ok_or_else(|| {
            let origin = loaded.origin("keys.master");
            let message =
                format!("{origin}: 'keys.master' must be 64 hex digits or base64 of 32 bytes");
            Failure::new(Code::Usage, message).hint("make one with `openssl rand -hex 32`")
        });
    }
    make_folder(&loaded.config)?;
    Ok(Master::of_folder(&loaded.config.store.data)?)
}

/// The keys that sign and check tokens; the first is made here.
pub(crate) fn keyring(db: &Db, loaded: &Loaded, now: Timestamp) -> Result<Keyring> {
    let config = &loaded.config;
    let realm = Realm::new(config.server.env, &config.public_url());
    let master = master(loaded)?;
    write(db, move |tx| Keyring::open(tx, now, &realm, &master))
}
