//! Limits on guessing: how often something may be tried in a while.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_store::Tx;

use crate::caller_place::CallerPlace;
use crate::limits;
use crate::repository::guesses as repository;
use crate::secret;

/// A name of the attempts that are counted together, such as `account ada@example.org`, and how often they
/// may fail within [`limits::GUESS_WINDOW_S`].
pub type GuessedAccount = (String, i64);

/// Counts a try before it is made, so that many at once are no way around the limit.
/// Errors: too many of one of the subjects; `retry_after_s` says how long to wait.
pub fn count(tx: &mut Tx<'_>, now: Timestamp, subjects: &[GuessedAccount]) -> Result<()> {
    repository::delete_before(tx, now.plus_seconds(-limits::GUESS_WINDOW_S))?;
    for (subject, max) in subjects {
        let (count, since) = repository::count(tx, &secret::hash(subject), now)?;
        if count > *max {
            return Err(too_many(now, since));
        }
    }
    Ok(())
}

/// Refuses a caller who used up the tries of one of the subjects. This counts nothing, for tries that are counted only
/// when they were wrong. Errors: as [`count`].
pub fn check(tx: &mut Tx<'_>, now: Timestamp, subjects: &[GuessedAccount]) -> Result<()> {
    let oldest = now.plus_seconds(-limits::GUESS_WINDOW_S);
    for (subject, max) in subjects {
        match repository::find(tx, &secret::hash(subject))? {
            Some((count, since)) if count >= *max && since > oldest => {
                return Err(too_many(now, since));
            }
            _ => {}
        }
    }
    Ok(())
}

fn too_many(now: Timestamp, since: Timestamp) -> Problem {
    let ends = since.plus_seconds(limits::GUESS_WINDOW_S);
    let left = (ends.milliseconds() - now.milliseconds()).max(1000);
    let wait_s = left.unsigned_abs().div_ceil(1000);
    let mut problem = Problem::new(
        ProblemKind::TooManyRequests,
        message!("too many attempts; try again in {n} minutes", n = wait_s.div_ceil(60)),
    );
    problem.retry_after_s = u32::try_from(wait_s).ok();
    problem
}

/// Something that is limited for each place that it comes from, such as `device codes from 192.0.2.1`. Every limit
/// by place counts in this way.
pub fn from_place(what: &str, place: &CallerPlace, max: i64) -> GuessedAccount {
    (format!("{what} from {}", place.counted()), max)
}

/// Takes a try back: it was none, for it was right.
pub fn take_back(tx: &mut Tx<'_>, subjects: &[GuessedAccount]) -> Result<()> {
    subjects.iter().try_for_each(|(subject, _)| repository::uncount(tx, &secret::hash(subject)))
}
