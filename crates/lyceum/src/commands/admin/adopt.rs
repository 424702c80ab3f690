//! `lyceum admin adopt`

use clap::Args;
use lyceum_blob::EARLIER;
use lyceum_core::time::{Clock, SystemClock};
use lyceum_hosting::installations;
use lyceum_hosting::limits::INSTALLATION_RUNNING_S;
use lyceum_hosting::unowned;
use serde_json::json;

use crate::failure::{Code, Failure, Result};
use crate::printer::Printer;
use crate::settings::{self, DataArgs, Missing};

/// Run it after a restore or a move, once the servers of the original will never run again. The server then deletes what its
/// database does not need from the objects of that installation in the S3 bucket, and the replicas of the installation
/// `replica.keep_days` days after their last use. Servers may run meanwhile.
#[derive(Args)]
pub(crate) struct Adopt {
    /// The installation, as `lyceum doctor` prints it; `earlier` for objects whose keys contain no installation
    id: String,
    /// Adopt it although another installation uses the same bucket or replicas, and may then lose objects that it needs
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    data: DataArgs,
}

impl Adopt {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let (config, db) = self.data.open(Missing::Refuse)?;
        let now = SystemClock.now();
        let ids = db.read_blocking(installations::bucket_ids)?;
        if ids.present == self.id {
            let message = format!("'{}' is the present installation of this database", self.id);
            return Err(Failure::new(Code::Conflict, message));
        }
        let mut others = unowned::others(&config, &ids)?;
        let last = others.remove(&self.id);
        let is_known = [&ids.former, &ids.adopted].into_iter().flatten().any(|id| *id == self.id);
        if last.is_none() && !is_known && self.id != EARLIER {
            let message = format!("no installation has the id '{}'", self.id);
            return Err(Failure::new(Code::NotFound, message)
                .hint("`lyceum doctor` and `lyceum admin gc` print ids"));
        }
        if let Some(at) = last.filter(|at| now < at.plus_seconds(INSTALLATION_RUNNING_S)) {
            let message =
                format!("servers of the installation '{}' ran at {at} and may run", self.id);
            return Err(Failure::new(Code::Conflict, message)
                .hint("stop them and run this again after 15 minutes"));
        }
        if let Some((other, at)) = unowned::possible_owner(&others, now)
            && !self.force
        {
            let message = format!(
                "the installation '{other}' used the same place at {at} and may need objects of '{}'",
                self.id
            );
            return Err(Failure::new(Code::Conflict, message)
                .hint("add `--force` if it is not a copy of the same database, or may lose them"));
        }
        let id = self.id.clone();
        settings::write(&db, move |tx| {
            installations::adopt(tx, now, &id)?;
            settings::record_change(tx, now, "installation.adopt", &id)
        })?;
        printer.answer(String::new, || json!({ "installation": self.id }));
        printer.done(&format!("adopted the installation '{}'", self.id));
        printer.note("what nobody needs of it is deleted in the next days");
        Ok(())
    }
}
