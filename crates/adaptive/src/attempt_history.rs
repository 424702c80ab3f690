//! Loads past attempts for replays by the engine.

use lyceum_core::{ProblemKind, Result};
use lyceum_store::Tx;

use crate::attempt::Attempt;
use crate::engine::AttemptHistory;
use crate::{Policy, QuestionSetCache, lesson};

/// Everything that determined the attempt's current round, and the policy that was in force when it began.
pub fn of(
    tx: &mut Tx<'_>,
    banks: &QuestionSetCache,
    attempt: &Attempt,
) -> Result<(Policy, AttemptHistory)> {
    let bank = banks.get(tx, &attempt.bank)?;
    let past = AttemptHistory {
        seed: attempt.seed,
        attempt: attempt.number,
        base_xp: base_xp(tx, attempt)?,
        log: attempt.log(tx, &bank)?,
        bank: bank.questions.clone(),
    };
    Ok((attempt.policy(tx)?, past))
}

/// The lesson's XP when the attempt began, or its current XP if those were not stored.
fn base_xp(tx: &mut Tx<'_>, attempt: &Attempt) -> Result<f64> {
    if let Some(base_xp) = attempt.base_xp {
        return Ok(base_xp);
    }
    match lesson::find(tx, &attempt.lesson) {
        Ok(lesson) => Ok(lesson.base_xp),
        // The lesson no longer exists.
        Err(problem) if matches!(problem.kind, ProblemKind::NotFound | ProblemKind::Invalid) => {
            Ok(0.0)
        }
        Err(problem) => Err(problem),
    }
}
