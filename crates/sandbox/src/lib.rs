//! The parts that turn a server into a sandbox: a demo user with data, a database file, a port, a list of running sandboxes.
//!
//! The server itself is the real one. Its `as_sandbox` accepts mock tokens as the demo user.
//!
//! | what | where |
//! |---|---|
//! | demo user, project as a game, demo data; earlier XP | `demo`, `history` |
//! | where the demo user learns: mock, local, remote, disabled | `mode` |
//! | one sandbox per database file | `database_file` |
//! | free ports, running sandboxes | `ports`, `registry` |

mod database_file;
mod demo;
mod history;
mod mode;
pub mod ports;
pub mod registry;

pub use database_file::DatabaseFile;
pub use demo::{Demo, DemoLearner, USER_ID, student};
pub use mode::{DemoOrganization, LearningMode, SchoolRole, Tracking};

use lyceum_access::{Keyring, NewPerson, Player, Realm, limits, person};
use lyceum_core::Result;
use lyceum_core::config::Environment;
use lyceum_core::time::Timestamp;
use lyceum_store::{Db, Migration, StoreOptions, Tx};

/// A sandbox that is ready to serve.
pub struct Sandbox {
    /// Its database file, which dropping this releases.
    pub database_file: DatabaseFile,
    /// The database.
    pub db: Db,
    /// The keys that sign game tokens.
    pub keyring: Keyring,
    /// The player whom mock tokens stand for.
    pub player: Player,
    /// The secret of a single-use link that signs the developer in to the console.
    pub link: String,
}

impl Sandbox {
    /// Opens the database, migrates it and writes the demo data. Blocks the thread.
    ///
    /// Errors: those of the database; `Invalid` if the roster refuses the demo data.
    pub fn open(
        database_file: DatabaseFile,
        migrations: &[Migration],
        now: Timestamp,
        base_url: &str,
        demo: &Demo,
    ) -> Result<Self> {
        let db = Db::open_with(&database_file.target(), migrations, StoreOptions::default())?;
        let realm = Realm::new(Environment::Staging, base_url);
        let master = database_file.master()?;
        let (keyring, player, link) = db.write_blocking(|tx| {
            let keyring = Keyring::open(tx, now, &realm, &master)?;
            Ok((keyring, demo.put(tx, now, base_url)?, link(tx, now)?))
        })?;
        Ok(Self { database_file, db, keyring, player, link })
    }
}

/// Creates a link that signs the developer in to the console. It replaces the link of an earlier start.
fn link(tx: &mut Tx<'_>, now: Timestamp) -> Result<String> {
    let new = NewPerson {
        email: "developer@example.org".to_owned(),
        name: "Sandbox Developer".to_owned(),
        role: person::Role::Administrator,
        password: None,
    };
    let owner = match person::by_email(tx, &new.email)? {
        Some(owner) => owner,
        None => person::create(tx, now, &new)?,
    };
    person::new_entry_link(tx, now, &owner, limits::SIGN_IN_LINK_LIFETIME_S)
}
