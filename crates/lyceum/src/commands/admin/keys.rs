//! `lyceum admin rotate-keys`

use clap::Args;
use lyceum_access::limits;
use lyceum_access::{Keyring, Realm};
use lyceum_core::time::{Clock, SystemClock};

use crate::failure::Result;
use crate::printer::Printer;
use crate::settings::{self, DataArgs, Missing, flag, write};

#[derive(Args)]
pub(crate) struct RotateKeys {
    /// Delete the former keys at once, which invalidates every token issued so far. Use it if a key leaked
    /// or the master key is lost
    #[arg(long)]
    discard: bool,
    /// Environment whose key is rotated [default: production]
    #[arg(long, value_name = "staging|production")]
    env: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

impl RotateKeys {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let loaded = self.data.load(flag("--env", "server.env", self.env).as_slice())?;
        let db = settings::open(&loaded.config, Missing::Refuse)?;
        let master = settings::master(&loaded)?;
        let realm = Realm::new(loaded.config.server.env, &loaded.config.public_url());
        let now = SystemClock.now();
        if self.discard {
            write(&db, move |tx| Keyring::replace(tx, now, &realm, &master))?;
            printer.done("created a new signing key; every token issued before is now refused");
        } else {
            write(&db, move |tx| Keyring::rotate(tx, now, &realm, &master))?;
            printer.done(&format!(
                "the new key signs tokens in {} s; the former key still verifies tokens for {} more hours",
                limits::KEY_PUBLISH_AHEAD_S,
                limits::KEY_OVERLAP_S / 3600
            ));
        }
        Ok(())
    }
}
