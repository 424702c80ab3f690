//! The features of the crate, as lists that tests count.

use crate::model::{InteractionKind, MathFunction, ResponseTemplate, Statistic};
use crate::value::{BaseType, Cardinality};

/// The expressions of QTI 3.0: all 64.
pub const EXPRESSIONS: [&str; 64] = [
    "qti-and",
    "qti-any-n",
    "qti-base-value",
    "qti-container-size",
    "qti-contains",
    "qti-correct",
    "qti-custom-operator",
    "qti-default",
    "qti-delete",
    "qti-divide",
    "qti-duration-gte",
    "qti-duration-lt",
    "qti-equal",
    "qti-equal-rounded",
    "qti-field-value",
    "qti-gcd",
    "qti-gt",
    "qti-gte",
    "qti-index",
    "qti-inside",
    "qti-integer-divide",
    "qti-integer-modulus",
    "qti-integer-to-float",
    "qti-is-null",
    "qti-lcm",
    "qti-lt",
    "qti-lte",
    "qti-map-response",
    "qti-map-response-point",
    "qti-match",
    "qti-math-constant",
    "qti-math-operator",
    "qti-max",
    "qti-member",
    "qti-min",
    "qti-multiple",
    "qti-not",
    "qti-null",
    "qti-number-correct",
    "qti-number-incorrect",
    "qti-number-presented",
    "qti-number-responded",
    "qti-number-selected",
    "qti-or",
    "qti-ordered",
    "qti-outcome-maximum",
    "qti-outcome-minimum",
    "qti-pattern-match",
    "qti-power",
    "qti-product",
    "qti-random",
    "qti-random-float",
    "qti-random-integer",
    "qti-repeat",
    "qti-round",
    "qti-round-to",
    "qti-stats-operator",
    "qti-string-match",
    "qti-substring",
    "qti-subtract",
    "qti-sum",
    "qti-test-variables",
    "qti-truncate",
    "qti-variable",
];

/// Expressions that are computed over the items of a test; they are read, and NULL in an item.
pub const TEST_EXPRESSIONS: [&str; 8] = [
    "qti-number-correct",
    "qti-number-incorrect",
    "qti-number-presented",
    "qti-number-responded",
    "qti-number-selected",
    "qti-outcome-maximum",
    "qti-outcome-minimum",
    "qti-test-variables",
];

/// Rules of response processing.
pub const RESPONSE_RULES: [&str; 5] = [
    "qti-response-condition",
    "qti-set-outcome-value",
    "qti-lookup-outcome-value",
    "qti-exit-response",
    "qti-response-processing-fragment",
];

/// Rules of template processing.
pub const TEMPLATE_RULES: [&str; 6] = [
    "qti-template-condition",
    "qti-set-template-value",
    "qti-set-correct-response",
    "qti-set-default-value",
    "qti-template-constraint",
    "qti-exit-template",
];

/// The number of supported members of a feature; `None` for a feature that is not counted.
pub fn count(feature: &str) -> Option<usize> {
    Some(match feature {
        "base types" => BaseType::ALL.len(),
        "cardinalities" => Cardinality::ALL.len(),
        "interactions" => InteractionKind::ALL.len(),
        "expressions read" => EXPRESSIONS.len(),
        "expressions computed in an item" => EXPRESSIONS.len() - TEST_EXPRESSIONS.len(),
        "functions of qti-math-operator" => MathFunction::ALL.len(),
        "functions of qti-stats-operator" => Statistic::ALL.len(),
        "response rules" => RESPONSE_RULES.len(),
        "template rules" => TEMPLATE_RULES.len(),
        "response processing templates" => ResponseTemplate::ALL.len(),
        "elements of the schema" => {
            crate::schema::names().filter(|n| n.starts_with("qti-")).count()
        }
        _ => return None,
    })
}
