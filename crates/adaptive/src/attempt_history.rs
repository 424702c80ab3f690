//! Loads past attempts for replays by the engine.

use lyceum_core::Result;
use lyceum_store::Tx;

use crate::attempt::Attempt;
use crate::engine::AttemptHistory;
use crate::{Policy, QuestionSetCache};

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
        base_xp: attempt.base_xp,
        log: attempt.log(tx, &bank)?,
        bank: bank.questions.clone(),
    };
    Ok((attempt.policy(tx)?, past))
}
