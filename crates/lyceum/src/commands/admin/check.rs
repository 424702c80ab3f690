//! `lyceum admin check`

use clap::Args;
use lyceum_store::Dialect;
use serde_json::json;

use crate::failure::{Failure, Result};
use crate::printer::{Printer, counted};
use crate::settings::{DataArgs, Missing};

#[derive(Args)]
pub(crate) struct Check {
    #[command(flatten)]
    data: DataArgs,
}

impl Check {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let (_, db) = self.data.open(Missing::Refuse)?;
        let mut faults = Vec::new();
        // PostgreSQL looks after its own pages.
        if db.dialect() == Dialect::Sqlite {
            printer.step("checking the pages of the file");
            faults.extend(db.check()?);
        }
        let bar = printer.progress("checking records", 0);
        let checked = db.read_blocking(|tx| {
            lyceum_roster::repository::check(tx, |_, records| bar.set_position(records))
        })?;
        bar.finish_and_clear();
        faults.extend(checked.faults);
        printer.answer(
            || faults.join("\n") + if faults.is_empty() { "" } else { "\n" },
            || json!({ "records": checked.records, "faults": faults }),
        );
        let records = counted(checked.records, "record");
        if faults.is_empty() {
            printer.done(&format!("checked {records}: no fault"));
            return Ok(());
        }
        let message = format!("{} in {records}", counted(faults.len(), "fault"));
        Err(Failure::failed(message).hint("restore the last good backup, or report the faults"))
    }
}
