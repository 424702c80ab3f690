//! `lyceum admin purge`

use clap::Args;
use lyceum_core::time::{Clock, SystemClock};
use lyceum_roster::kinds;
use serde_json::json;

use crate::failure::Result;
use crate::printer::{Printer, counted};
use crate::settings::{DataArgs, Missing, write};

/// Records removed in one transaction at most, so that other writers do not wait long.
const BATCH_RECORDS: i64 = 1000;

#[derive(Args)]
pub(crate) struct Purge {
    /// Minimum time since a record was deleted, such as 30d, 12h or 15m
    #[arg(long, value_name = "AGE", value_parser = seconds)]
    older_than: i64,
    #[command(flatten)]
    data: DataArgs,
}

impl Purge {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let (_, db) = self.data.open(Missing::Refuse)?;
        let now = SystemClock.now();
        let before = now.plus_seconds(-self.older_than);
        let (mut removed, mut kept) = (0, 0);
        let bar = printer.progress("purging records", 0);
        // A record stays while others refer to it, so referring records are removed first.
        for kind in kinds::ALL.iter().rev() {
            let mut after = Some(i64::MIN);
            while let Some(from) = after {
                let (purged, next) = write(&db, move |tx| {
                    let times = (before, now);
                    let purged =
                        lyceum_roster::repository::purge(tx, kind, times, from, BATCH_RECORDS)?;
                    lyceum_games::lms::forget_purged(tx, kind)?;
                    lyceum_bridge::school_hours::forget_purged(tx, kind)?;
                    Ok(purged)
                })?;
                removed += purged.removed;
                kept += purged.kept;
                bar.set_position(removed);
                after = next;
            }
        }
        write(&db, move |tx| lyceum_store::record_clock::forget_removed(tx, before))?;
        bar.finish_and_clear();
        printer.answer(String::new, || json!({ "removed": removed, "kept": kept }));
        let removed = counted(removed, "record");
        printer.done(&match kept {
            0 => format!("removed {removed}"),
            kept => format!("removed {removed}; kept {kept} because other records refer to them"),
        });
        Ok(())
    }
}

/// Parses an age: a whole number of days, hours or minutes.
fn seconds(text: &str) -> Result<i64, String> {
    let unit = |text: &str| match text {
        "d" => Some(86_400),
        "h" => Some(3600),
        "m" => Some(60),
        _ => None,
    };
    text.split_at_checked(text.len().saturating_sub(1))
        .and_then(|(number, last)| number.parse::<u32>().ok().zip(unit(last)))
        .map(|(number, unit)| i64::from(number) * unit)
        .ok_or_else(|| {
            "an age must be a whole number followed by d, h or m, such as 30d".to_owned()
        })
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn an_age_needs_a_unit() {
        assert_eq!(seconds("30d"), Ok(30 * 86_400));
        assert_eq!(seconds("12h"), Ok(12 * 3600));
        assert_eq!(seconds("0m"), Ok(0));
        for wrong in ["", "d", "30", "-1d", "1.5h", "30x", "3é"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
