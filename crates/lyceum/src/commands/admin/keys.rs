//! `lyceum admin rotate-keys`

use clap::Args;
use lyceum_access::{Keyring, Realm};
use lyceum_core::limits;
use lyceum_core::time::{Clock, SystemClock};

use crate::failure::Result;
use crate::printer::Printer;
use crate::settings::{self, DataArgs, Missing, flag, write};

#[derive(Args)]
pub(crate) struct RotateKeys {
    /// Drop the former keys at once, with every token that was given out: for a key that leaked
    /// or a master key that is lost
    #[arg(long)]
    discard: bool,
    /// Whose key [default: production]
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
            printer.done("there is one new signing key; every token that was given out is refused");
        } else {
            write(&db, move |tx| Keyring::rotate(tx, now, &realm, &master))?;
            printer.done(&format!(
                "the new signing key signs in {} s; the former one checks tokens for {} more hours",
                limits::KEY_PUBLISH_AHEAD_S,
                limits::KEY_OVERLAP_S / 3600
            ));
        }
        Ok(())
    }
}
