//! Who needs help now: the rules of the bridge, with what lessons know.

use std::collections::HashMap;

use lyceum_bridge::need::{self, Need, RULES};
use lyceum_bridge::today::{self, StudentDay, SubjectDay};
use lyceum_bridge::zone::Zone;
use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;

use crate::repository::attempts;

/// What every active student has done on the day of `now`, failed lessons included.
pub fn students(tx: &mut Tx<'_>, now: Timestamp, zone: &Zone) -> Result<Vec<StudentDay>> {
    let mut days = today::of_all(tx, now, zone)?;
    let mut failed: HashMap<String, (String, i64)> = HashMap::new();
    for (student, lesson, count) in attempts::failed(tx, today::range(now, zone))? {
        let most = failed.entry(student).or_default();
        if count > most.1 {
            *most = (lesson, count);
        }
    }
    for day in &mut days {
        day.failed = failed.remove(&day.learner.id);
    }
    Ok(days)
}

/// One student's day with the reasons to look after them, and the same subject by subject.
/// Errors: `NotFound`.
pub fn student(
    tx: &mut Tx<'_>,
    now: Timestamp,
    zone: &Zone,
    user: &str,
) -> Result<(Need, Vec<SubjectDay>)> {
    let (mut day, subjects) = today::of_one(tx, now, zone, user)?;
    let failed = attempts::failed(tx, today::range(now, zone))?.into_iter();
    let own = failed.filter(|(student, ..)| student == user);
    day.failed = own.map(|(_, lesson, count)| (lesson, count)).max_by_key(|(_, count)| *count);
    let reasons = need::reasons(&day, RULES, now, zone);
    Ok((Need { day, reasons }, subjects))
}

/// Those of the students who need somebody now, in the order of their need.
pub fn needs(tx: &mut Tx<'_>, now: Timestamp, zone: &Zone) -> Result<Vec<Need>> {
    Ok(need::needs(students(tx, now, zone)?, RULES, now, zone))
}
