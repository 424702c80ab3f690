//! Responses become outcomes.

mod arithmetic;
mod containers;
mod evaluate;
mod logic;
mod machine;
mod manual;
mod mapping;
mod outcomes;
mod templates;
mod trace;
mod variables;
mod variant;

use lyceum_core::random::RandomStream;

pub use manual::{Unscorable, is_scored_elsewhere, needs_manual_scoring, unscorable};
pub use outcomes::Outcomes;
pub use trace::{Trace, TraceStep};
pub use variant::{Variant, variant};

use crate::model::{Item, Rule};
use crate::response::Responses;
use machine::RuleMachine;
use variables::Variables;

/// The input of scoring.
#[derive(Clone, Copy, Default)]
pub struct ScoringInput<'a> {
    /// The number of the attempt, from 1; 0 if attempts are not counted.
    pub number: u32,
    /// Seconds that the candidate has taken.
    pub duration_s: f64,
    /// The outcomes of the attempt before, which an adaptive item goes on from.
    pub before: Option<&'a Outcomes>,
    /// The values of template variables, where the item has such.
    pub variant: Option<&'a Variant>,
}

/// Scores responses: what QTI 3.0 calls response processing. It never fails: what cannot be computed
/// is NULL. An item without response processing keeps the defaults of its outcomes.
pub fn score(
    item: &Item,
    responses: &Responses,
    attempt: ScoringInput<'_>,
    random: &mut RandomStream,
) -> Outcomes {
    process(item, responses, attempt, random, None).0
}

/// As [`score`], with each step that was taken.
pub fn explain(
    item: &Item,
    responses: &Responses,
    attempt: ScoringInput<'_>,
    random: &mut RandomStream,
) -> (Outcomes, Trace) {
    let (outcomes, trace) = process(item, responses, attempt, random, Some(Trace::default()));
    (outcomes, trace.unwrap_or_default())
}

/// The outcomes before the first attempt.
pub(crate) fn initial(item: &Item, attempt: ScoringInput<'_>) -> Outcomes {
    Variables::of_attempt(item, &Responses::default(), attempt).outcomes(item)
}

/// The rules that score an item: its own, or those of the template that it names.
fn rules(item: &Item) -> &[Rule] {
    let Some(processing) = &item.processing else { return &[] };
    match templates::of(processing) {
        Some(rules) if processing.rules.is_empty() => rules,
        _ => &processing.rules,
    }
}

fn process(
    item: &Item,
    responses: &Responses,
    attempt: ScoringInput<'_>,
    random: &mut RandomStream,
    trace: Option<Trace>,
) -> (Outcomes, Option<Trace>) {
    let variables = Variables::of_attempt(item, responses, attempt);
    let mut machine = RuleMachine::new(variables, random, trace);
    machine.run_all(rules(item));
    let (variables, trace) = machine.done();
    (variables.outcomes(item), trace)
}
