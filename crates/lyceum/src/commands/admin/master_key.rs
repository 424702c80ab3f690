//! `lyceum admin rotate-master-key`

use clap::Args;
use lyceum_access::{MasterKey, sealed};
use lyceum_core::time::{Clock, SystemClock};
use lyceum_hosting::nodes::report;
use lyceum_store::Db;
use serde_json::{Map, Value, json};

use crate::failure::{Code, Failure, Result};
use crate::printer::Printer;
use crate::settings::{self, DataArgs, Missing};

/// Servers may run meanwhile. They need both keys in their settings: `keys.master`, under which they encrypt, and
/// `keys.master_other`. The command can be interrupted and started again.
#[derive(Args)]
pub(crate) struct RotateMasterKey {
    #[command(flatten)]
    data: DataArgs,
}

impl RotateMasterKey {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let loaded = self.data.load(&[])?;
        if loaded.config.keys.master_other.is_none() {
            let message = "the former master key is missing; set 'keys.master_other' to it, and \
                           'keys.master' to the new one";
            return Err(Failure::new(Code::Usage, message)
                .hint("the operators' guide describes the rotation step by step"));
        }
        let db = settings::open(&loaded.config, Missing::Refuse)?;
        let now = SystemClock.now();
        let keyring = settings::keyring(&db, &loaded, now)?;
        check_servers(&db, keyring.master())?;
        let columns = lyceum_api::sealed_columns();
        let counts = sealed::rotate_master_key(&db, now, keyring.master(), &columns)?;
        let lines = || {
            let lines = counts.iter().map(|(table, count)| format!("{table}: {count}"));
            lines.collect::<Vec<_>>().join("\n") + "\n"
        };
        let values = counts.iter().map(|(table, count)| ((*table).to_owned(), json!(count)));
        printer.answer(lines, || Value::Object(values.collect::<Map<_, _>>()));
        printer.done(
            "everything is encrypted under 'keys.master'; remove 'keys.master_other' from the settings of all servers",
        );
        Ok(())
    }
}

/// Refuses the rotation while a server may encrypt under another key. Errors: `Conflict`.
fn check_servers(db: &Db, master: &MasterKey) -> Result {
    let nodes = db.read_blocking(report::list)?;
    let Some(node) = report::with_other_key(&nodes, &master.fingerprint()) else { return Ok(()) };
    let message = format!(
        "the server '{}', which last reported at {}, still encrypts under another master key than 'keys.master'",
        node.name, node.seen
    );
    Err(Failure::new(Code::Conflict, message).hint(
        "set 'keys.master' there and restart it; a server that crashed is treated as running for a minute",
    ))
}
