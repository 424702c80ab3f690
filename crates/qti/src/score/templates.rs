//! The standard's response processing templates, as rules.

use std::sync::LazyLock;

use crate::model::{
    Expression, ExpressionKind as Kind, Operator, ResponseProcessing, ResponseTemplate, Rule,
    RuleKind, Tolerance, VariableTarget,
};
use crate::value::Value;

/// The rules of the template that an item names; `None` if it names none of the standard's.
pub(super) fn of(processing: &ResponseProcessing) -> Option<&'static [Rule]> {
    static RULES: LazyLock<[Vec<Rule>; 6]> =
        LazyLock::new(|| ResponseTemplate::ALL.map(|(_, template)| rules(template)));
    let template = ResponseTemplate::of(processing.template.as_ref()?)?;
    let at = ResponseTemplate::ALL.iter().position(|(_, own)| *own == template)?;
    Some(&RULES[at])
}

/// Template processing of QTI 3.0: `rptemplates/*.xml`.
fn rules(template: ResponseTemplate) -> Vec<Rule> {
    match template {
        ResponseTemplate::MatchCorrect | ResponseTemplate::Cc2Match => {
            vec![when(is_correct(), vec![set("SCORE", float(1.0))], vec![set("SCORE", float(0.0))])]
        }
        ResponseTemplate::MapResponse => {
            vec![mapped(expression("qti-map-response", Kind::MapResponse("RESPONSE".into())))]
        }
        ResponseTemplate::MapResponsePoint => vec![mapped(expression(
            "qti-map-response-point",
            Kind::MapResponsePoint("RESPONSE".into()),
        ))],
        ResponseTemplate::Cc2MatchBasic => vec![when(
            is_correct(),
            vec![set("SCORE", variable("MAXSCORE")), set("FEEDBACKBASIC", identifier("correct"))],
            vec![set("FEEDBACKBASIC", identifier("incorrect"))],
        )],
        ResponseTemplate::Cc2MapResponse => vec![
            mapped(expression("qti-map-response", Kind::MapResponse("RESPONSE".into()))),
            when(
                operator(
                    "qti-equal",
                    Operator::Equal(Tolerance::Exact),
                    vec![variable("MAXSCORE"), variable("SCORE")],
                ),
                vec![set("FEEDBACK", identifier("correct"))],
                vec![set("FEEDBACK", identifier("incorrect"))],
            ),
        ],
    }
}

/// 0 for no response, else what the mapping says.
fn mapped(mapping: Expression) -> Rule {
    when(
        operator("qti-is-null", Operator::IsNull, vec![variable("RESPONSE")]),
        vec![set("SCORE", float(0.0))],
        vec![set("SCORE", mapping)],
    )
}

fn is_correct() -> Expression {
    let correct = expression("qti-correct", Kind::Correct("RESPONSE".into()));
    operator("qti-match", Operator::Match, vec![variable("RESPONSE"), correct])
}

fn when(condition: Expression, then: Vec<Rule>, otherwise: Vec<Rule>) -> Rule {
    let kind = RuleKind::Condition { branches: vec![(condition, then)], otherwise };
    Rule { name: "qti-response-condition", line: 0, kind }
}

fn set(outcome: &str, expression: Expression) -> Rule {
    let kind =
        RuleKind::Set { target: VariableTarget::Outcome, identifier: outcome.into(), expression };
    Rule { name: "qti-set-outcome-value", line: 0, kind }
}

fn expression(name: &'static str, kind: Kind) -> Expression {
    Expression { name, line: 0, kind }
}

fn operator(name: &'static str, operator: Operator, operands: Vec<Expression>) -> Expression {
    expression(name, Kind::Operator(operator, operands))
}

fn variable(name: &str) -> Expression {
    expression("qti-variable", Kind::Variable { identifier: name.into(), weight: None })
}

fn float(value: f64) -> Expression {
    expression("qti-base-value", Kind::BaseValue(Value::float(value)))
}

fn identifier(value: &str) -> Expression {
    expression("qti-base-value", Kind::BaseValue(Value::identifier(value)))
}
