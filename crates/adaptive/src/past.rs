//! Attempts of the past, as the engine replays them.

use lyceum_core::{ProblemKind, Result};
use lyceum_store::Tx;

use crate::attempt::Attempt;
use crate::engine::Past;
use crate::{Banks, Policy, lesson};

/// What decided about an attempt's present round, and the policy that it began under.
pub fn of(tx: &mut Tx<'_>, banks: &Banks, attempt: &Attempt) -> Result<(Policy, Past)> {
    let bank = banks.get(tx, &attempt.bank)?;
    let past = Past {
        seed: attempt.seed,
        attempt: attempt.number,
        base_xp: base_xp(tx, attempt)?,
        log: attempt.log(tx, &bank)?,
        bank: bank.questions.clone(),
    };
    Ok((attempt.policy(tx)?, past))
}

/// What the lesson was worth when the attempt began. Where that was not kept yet, what it is worth now.
fn base_xp(tx: &mut Tx<'_>, attempt: &Attempt) -> Result<f64> {
    if let Some(kept) = attempt.base_xp {
        return Ok(kept);
    }
    match lesson::find(tx, &attempt.lesson) {
        Ok(lesson) => Ok(lesson.base_xp),
        // The lesson has gone meanwhile.
        Err(problem) if matches!(problem.kind, ProblemKind::NotFound | ProblemKind::Invalid) => {
            Ok(0.0)
        }
        Err(problem) => Err(problem),
    }
}
