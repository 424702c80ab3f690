//! `lyceum events rejected` and `lyceum events replay`

use clap::Args;
use lyceum_core::time::{Clock, SystemClock};
use lyceum_events::repository;
use serde_json::{Value, json};

use crate::failure::{Code, Failure, Result};
use crate::printer::{Printer, counted, table};
use crate::settings::{DataArgs, Missing, write};

#[derive(Args)]
pub(crate) struct Rejected {
    /// Id of the envelope to show
    id: Option<i64>,
    /// Maximum number of envelopes to list, newest first
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: i64,
    #[command(flatten)]
    data: DataArgs,
}

#[derive(Args)]
pub(crate) struct Replay {
    /// Id of the envelope to replay
    #[arg(required_unless_present = "all")]
    id: Option<i64>,
    /// Replay all envelopes that have not been replayed yet
    #[arg(long, conflicts_with = "id")]
    all: bool,
    #[command(flatten)]
    data: DataArgs,
}

impl Rejected {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let (_, db) = self.data.open(Missing::Refuse)?;
        let Some(id) = self.id else {
            let refused = db.read_blocking(|tx| repository::refused(tx, self.limit))?;
            printer.answer(
                || {
                    let rows: Vec<_> = refused.iter().map(row).collect();
                    table(&["id", "received", "client", "replayed", "why"], &rows)
                },
                || refused.iter().map(record).collect(),
            );
            return Ok(());
        };
        let found = db.read_blocking(|tx| repository::refused_one(tx, id))?;
        let (found, body) = found.ok_or_else(|| unknown(id))?;
        printer.answer(
            || {
                let faults = found.faults.iter().map(|fault| format!("  {fault}\n"));
                format!("{}\n{}{}\n", found.message, faults.collect::<String>(), body)
            },
            || {
                let mut record = record(&found);
                record["body"] = body.as_str().into();
                record
            },
        );
        Ok(())
    }
}

impl Replay {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let (_, db) = self.data.open(Missing::Refuse)?;
        let ids = match self.id {
            Some(id) => vec![id],
            None => {
                let mut waiting = db.read_blocking(|tx| repository::refused(tx, i64::MAX))?;
                waiting.retain(|refusal| refusal.replayed.is_none());
                waiting.iter().rev().map(|refusal| refusal.id).collect()
            }
        };
        let (mut accepted, mut refused) = (0, Vec::new());
        for id in ids {
            let now = SystemClock.now();
            match write(&db, move |tx| repository::replay(tx, now, id)) {
                Ok(()) => accepted += 1,
                Err(failure) if self.all => refused.push(format!("{id}: {}", failure.message)),
                Err(failure) => return Err(failure),
            }
        }
        for line in &refused {
            printer.warn(line);
        }
        printer.answer(String::new, || json!({ "taken": accepted, "refused": refused.len() }));
        printer.done(&format!(
            "accepted {}, rejected {} again",
            counted(accepted, "envelope"),
            refused.len()
        ));
        Ok(())
    }
}

fn unknown(id: i64) -> Failure {
    Failure::new(Code::NotFound, format!("there is no rejected envelope {id}"))
        .hint("run `lyceum events rejected` to list them")
}

fn row(refusal: &repository::StoredRejection) -> Vec<String> {
    let replayed = refusal.replayed.map_or_else(|| "no".to_owned(), |at| at.to_string());
    let (client, why) = (refusal.client.clone(), refusal.message.to_string());
    vec![refusal.id.to_string(), refusal.received.to_string(), client, replayed, why]
}

fn record(refusal: &repository::StoredRejection) -> Value {
    json!({
        "id": refusal.id,
        "client": refusal.client,
        "received": refusal.received,
        "replayed": refusal.replayed,
        "message": refusal.message,
        "faults": refusal.faults,
    })
}
