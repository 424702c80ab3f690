//! Finds answers that only a person can score.

use crate::model::{
    Expression, ExpressionKind, InteractionKind as Kind, Item, Operator, Rule, RuleKind,
    VariableTarget,
};
use crate::response::Responses;
use crate::value::Value;

/// Whether an answer still needs a person (or a machine elsewhere) to score it: an outcome says so by
/// `external-scored`, or a text, a file or a drawing was sent that nothing in the item scores. An item
/// that was left without an answer needs nobody.
pub fn needs_manual_scoring(item: &Item, responses: &Responses) -> bool {
    let is_answered = |name: &str| responses.get(name).is_some_and(|value| !value.is_null());
    if item.outcomes.iter().any(|outcome| outcome.external_scored.is_some()) {
        return item.responses.iter().any(|own| is_answered(&own.declaration.identifier));
    }
    let is_free = |kind| matches!(kind, Kind::Drawing | Kind::ExtendedText | Kind::Upload);
    let mut free = item.interactions.iter().filter(|interaction| is_free(interaction.kind));
    free.any(|interaction| {
        is_answered(&interaction.response) && !is_scored(item, &interaction.response)
    })
}

/// Whether the item's own processing scores a response.
fn is_scored(item: &Item, name: &str) -> bool {
    let Some(processing) = &item.processing else { return false };
    let has_key = item.response(name).is_some_and(|response| {
        !matches!(response.correct, Value::Null)
            || response.mapping.is_some()
            || response.area_mapping.is_some()
    });
    has_key || processing.rules.iter().any(|rule| rule_judges(rule, name))
}

fn rule_judges(rule: &Rule, name: &str) -> bool {
    match &rule.kind {
        RuleKind::Condition { branches, otherwise } => {
            otherwise.iter().any(|rule| rule_judges(rule, name))
                || branches.iter().any(|(condition, rules)| {
                    judges(condition, name) || rules.iter().any(|rule| rule_judges(rule, name))
                })
        }
        // An outcome that repeats the answer judges nothing.
        RuleKind::Set { target: VariableTarget::Outcome, expression, .. } => {
            !matches!(expression.kind, ExpressionKind::Variable { .. }) && judges(expression, name)
        }
        RuleKind::Lookup { expression, .. } => judges(expression, name),
        RuleKind::Fragment(rules) => rules.iter().any(|rule| rule_judges(rule, name)),
        RuleKind::Set { .. } | RuleKind::Exit | RuleKind::Constraint(_) => false,
    }
}

/// Whether the value of an expression depends on the content of an answer. Tests for an empty answer and for the key,
/// which the item does not have, do not count.
fn judges(expression: &Expression, name: &str) -> bool {
    let is_key = |inner: &Expression| matches!(inner.kind, ExpressionKind::Correct(_));
    match &expression.kind {
        ExpressionKind::Variable { identifier, .. } => **identifier == *name,
        ExpressionKind::Operator(Operator::IsNull, _) => false,
        ExpressionKind::Operator(Operator::Match, inner) if inner.iter().any(is_key) => false,
        ExpressionKind::Operator(_, inner) => inner.iter().any(|inner| judges(inner, name)),
        _ => false,
    }
}
