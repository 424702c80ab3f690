//! `lyceum events rebuild`

use clap::Args;
use lyceum_events::facts;
use lyceum_events::last_actor;
use serde_json::json;

use crate::failure::Result;
use crate::printer::{Printer, counted};
use crate::settings::{self, DataArgs, Missing};

#[derive(Args)]
pub(crate) struct Rebuild {
    #[command(flatten)]
    data: DataArgs,
}

impl Rebuild {
    /// Rebuilds one actor per transaction, so facts are correct at any moment. An interrupted rebuild
    /// can be run again.
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let (_, db) = self.data.open(Missing::Refuse)?;
        let actors = db.read_blocking(last_actor)?;
        let bar = printer.progress("rebuilding", u64::try_from(actors).unwrap_or_default());
        let mut after = 0;
        while let Some(last) = settings::write(&db, move |tx| facts::place(tx, after))? {
            after = last;
        }
        let (mut actors, mut events, mut after) = (0_u64, 0_u64, 0);
        while let Some(chunk) = settings::write(&db, move |tx| facts::rebuild(tx, after))? {
            after = chunk.last;
            actors += chunk.actors;
            events += chunk.events;
            bar.set_position(u64::try_from(after).unwrap_or_default());
        }
        bar.finish_and_clear();
        printer.answer(String::new, || json!({ "actors": actors, "events": events }));
        printer.done(&format!(
            "rebuilt the facts of {} from {}",
            counted(actors, "actor"),
            counted(events, "event")
        ));
        Ok(())
    }
}
