//! Finds answers that only a person can score.

use crate::model::{
    Expression, ExpressionKind, InteractionKind as Kind, Item, Operator, Rule, RuleKind,
    VariableTarget,
};
use crate::response::Responses;
use crate::value::Value;

/// Whether an answer still needs a person (or a machine elsewhere) to score it: an outcome says so by
/// `external-scored`, the rules can score no answer ([`unscorable`]), or a text, a file or a drawing was sent that
/// nothing in the item scores. An item that was left without an answer needs nobody.
pub fn needs_manual_scoring(item: &Item, responses: &Responses) -> bool {
    let is_answered = |name: &str| responses.get(name).is_some_and(|value| !value.is_null());
    if is_scored_elsewhere(item) || unscorable(item).is_some() {
        return item.responses.iter().any(|own| is_answered(&own.declaration.identifier));
    }
    let is_free = |kind| matches!(kind, Kind::Drawing | Kind::ExtendedText | Kind::Upload);
    let mut free = item.interactions.iter().filter(|interaction| is_free(interaction.kind));
    free.any(|interaction| {
        is_answered(&interaction.response) && !is_scored(item, &interaction.response)
    })
}

/// Whether the author says by `external-scored` that a person or a machine elsewhere scores the item.
pub fn is_scored_elsewhere(item: &Item) -> bool {
    item.outcomes.iter().any(|outcome| outcome.external_scored.is_some())
}

/// A reason why an item's rules can score no answer, and how to change that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unscorable {
    /// The reason.
    pub message: String,
    /// How to change it.
    pub remedy: String,
}

/// The reason why the rules of an item can score no answer, not even the right one; `None` if they can, or if the item
/// has no response.
pub fn unscorable(item: &Item) -> Option<Unscorable> {
    let because = |message: String, remedy: &str| {
        Some(Unscorable {
            message: format!("a person must score the answers, because {message}"),
            remedy: remedy.to_owned(),
        })
    };
    let rules = super::rules(item);
    if item.responses.is_empty() {
        return None;
    }
    if rules.is_empty() {
        let remedy = "add qti-response-processing, or set external-scored=\"human\" on the outcome";
        return because("the item has no response processing".to_owned(), remedy);
    }
    if item.outcome("SCORE").is_none() {
        return because("the item has no outcome SCORE".to_owned(), "declare the outcome SCORE");
    }
    let mut used = RuleUses::default();
    used.rules(rules);
    if !used.sets_score {
        return because("no rule sets SCORE".to_owned(), "add a rule that sets SCORE");
    }
    if let Some((line, definition)) = used.custom {
        let message =
            format!("this server does not have the custom operator '{definition}' of line {line}");
        return because(message, "use operators of QTI");
    }
    let mut computed = RuleUses::default();
    computed.rules(&item.template_processing);
    let is_without_key = |name: &&str| {
        let response = item.response(name);
        response.is_none_or(|response| response.correct.is_null()) && !computed.keys.contains(name)
    };
    if let Some(name) = used.correct.into_iter().find(is_without_key) {
        let message =
            format!("the rules compare with the correct response of '{name}', which has none");
        return because(message, "add qti-correct-response to its declaration");
    }
    let mapped = used.mapped.into_iter().find(|(name, is_area)| {
        item.response(name).is_none_or(|response| match is_area {
            true => response.area_mapping.is_none(),
            false => response.mapping.as_ref().is_none_or(|mapping| mapping.entries.is_empty()),
        })
    });
    let (name, is_area) = mapped?;
    let element = if is_area { "qti-area-mapping" } else { "qti-mapping" };
    let message = format!("the rules use the {element} of '{name}', which has none");
    because(message, "add it to its declaration")
}

/// The parts of an item that rules use.
#[derive(Default)]
struct RuleUses<'i> {
    sets_score: bool,
    /// The first custom operator: its line, and its definition or class.
    custom: Option<(u32, &'i str)>,
    /// The responses with whose keys the rules compare.
    correct: Vec<&'i str>,
    /// The responses whose mappings the rules use, and whether those are area mappings.
    mapped: Vec<(&'i str, bool)>,
    /// The responses whose keys the rules set.
    keys: Vec<&'i str>,
}

impl<'i> RuleUses<'i> {
    fn rules(&mut self, rules: &'i [Rule]) {
        for rule in rules {
            match &rule.kind {
                RuleKind::Condition { branches, otherwise } => {
                    for (condition, rules) in branches {
                        self.expression(condition);
                        self.rules(rules);
                    }
                    self.rules(otherwise);
                }
                RuleKind::Set { target, identifier, expression } => {
                    match target {
                        VariableTarget::Outcome => self.sets_score |= &**identifier == "SCORE",
                        VariableTarget::Correct => self.keys.push(identifier),
                        VariableTarget::Template | VariableTarget::Default => {}
                    }
                    self.expression(expression);
                }
                RuleKind::Lookup { identifier, expression } => {
                    self.sets_score |= &**identifier == "SCORE";
                    self.expression(expression);
                }
                RuleKind::Fragment(rules) => self.rules(rules),
                RuleKind::Constraint(expression) => self.expression(expression),
                RuleKind::Exit => {}
            }
        }
    }

    fn expression(&mut self, expression: &'i Expression) {
        match &expression.kind {
            ExpressionKind::Correct(name) => self.correct.push(name),
            ExpressionKind::MapResponse(name) => self.mapped.push((name, false)),
            ExpressionKind::MapResponsePoint(name) => self.mapped.push((name, true)),
            ExpressionKind::Operator(operator, operands) => {
                if let Operator::Custom(class, definition) = operator {
                    let name = if definition.is_empty() { class } else { definition };
                    self.custom = self.custom.or(Some((expression.line, name)));
                }
                for operand in operands {
                    self.expression(operand);
                }
            }
            _ => {}
        }
    }
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
