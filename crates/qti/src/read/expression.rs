//! Expressions.

use super::declaration::example;
use super::{
    DocumentReader, area, boolean, identifier, integer_bound, line, name, number_bound, text,
    variable_name, words,
};
use crate::model::{
    Expression, ExpressionKind as Kind, ItemSubset, MathFunction, Operator, Parameter, Rounding,
    SessionNumber, Statistic, Tolerance, Tolerances,
};
use crate::pattern::Pattern;
use crate::value::{BaseType, Scalar, Value, parse};
use crate::xml::Element;

impl DocumentReader<'_> {
    /// The first child that is an expression.
    pub(super) fn expression_in(&mut self, parent: Element<'_>) -> Expression {
        match parent.elements().next() {
            Some(element) => self.expression(element),
            None => Expression { name: "qti-null", line: line(parent), kind: Kind::Null },
        }
    }

    /// An expression; NULL if it cannot be read, which the schema has reported.
    pub(super) fn expression(&mut self, element: Element<'_>) -> Expression {
        let kind = self.alone(element).or_else(|| {
            let operator = self.operator(element)?;
            Some(Kind::Operator(operator, element.elements().map(|e| self.expression(e)).collect()))
        });
        let kind = kind.unwrap_or(Kind::Null);
        Expression { name: name(element), line: line(element), kind }
    }

    /// Expressions that hold no others.
    fn alone(&mut self, element: Element<'_>) -> Option<Kind> {
        let named = || identifier(element, "identifier");
        let weight = || text(element, "weight-identifier");
        let number = |number| Some(Kind::Number(number, subset(element)));
        match element.name() {
            "qti-base-value" => Some(Kind::BaseValue(self.base_value(element))),
            "qti-variable" => Some(Kind::Variable { identifier: named(), weight: weight() }),
            "qti-correct" => Some(Kind::Correct(named())),
            "qti-default" => Some(Kind::Default(named())),
            "qti-map-response" => Some(Kind::MapResponse(named())),
            "qti-map-response-point" => Some(Kind::MapResponsePoint(named())),
            "qti-null" => Some(Kind::Null),
            "qti-math-constant" => match element.attribute("name")? {
                "pi" => Some(Kind::MathConstant(std::f64::consts::PI)),
                "e" => Some(Kind::MathConstant(std::f64::consts::E)),
                _ => None,
            },
            "qti-random-integer" => Some(Kind::RandomInteger {
                min: integer_bound(element, "min").unwrap_or(Parameter::Literal(0)),
                max: integer_bound(element, "max")?,
                step: integer_bound(element, "step").unwrap_or(Parameter::Literal(1)),
            }),
            "qti-random-float" => Some(Kind::RandomFloat {
                min: element.attribute("min").map_or(Parameter::Literal(0.0), number_bound),
                max: number_bound(element.attribute("max")?),
            }),
            "qti-number-correct" => number(SessionNumber::Correct),
            "qti-number-incorrect" => number(SessionNumber::Incorrect),
            "qti-number-presented" => number(SessionNumber::Presented),
            "qti-number-responded" => number(SessionNumber::Responded),
            "qti-number-selected" => number(SessionNumber::Selected),
            name @ ("qti-outcome-maximum" | "qti-outcome-minimum") => Some(Kind::OutcomeBound {
                maximum: name == "qti-outcome-maximum",
                outcome: identifier(element, "outcome-identifier"),
                weight: weight(),
                items: subset(element),
            }),
            "qti-test-variables" => Some(Kind::TestVariables {
                variable: identifier(element, "variable-identifier"),
                weight: weight(),
                base_type: element.attribute("base-type").and_then(BaseType::from_name),
                items: subset(element),
            }),
            _ => None,
        }
    }

    fn base_value(&mut self, element: Element<'_>) -> Value {
        let Some(base_type) = element.attribute("base-type").and_then(BaseType::from_name) else {
            return Value::Null;
        };
        let written = element.text();
        match parse(base_type, &written) {
            Some(Scalar::String(text)) if text.is_empty() => Value::Null,
            Some(scalar) => Value::Single(scalar),
            None if written.trim().is_empty() => Value::Null,
            None => {
                self.wrong(
                    element,
                    format!("'{}' is not of the type '{}'", written.trim(), base_type.name()),
                    format!("write {}", example(base_type)),
                );
                Value::Null
            }
        }
    }

    fn operator(&mut self, element: Element<'_>) -> Option<Operator> {
        let flag = |name: &str| boolean(element, name).unwrap_or(false);
        Some(match element.name() {
            "qti-and" => Operator::And,
            "qti-any-n" => Operator::AnyN {
                min: integer_bound(element, "min")?,
                max: integer_bound(element, "max")?,
            },
            "qti-container-size" => Operator::ContainerSize,
            "qti-contains" => Operator::Contains,
            "qti-custom-operator" => {
                Operator::Custom(identifier(element, "class"), identifier(element, "definition"))
            }
            "qti-delete" => Operator::Delete,
            "qti-divide" => Operator::Divide,
            "qti-duration-gte" => Operator::DurationGte,
            "qti-duration-lt" => Operator::DurationLt,
            "qti-equal" => Operator::Equal(self.tolerance(element)),
            "qti-equal-rounded" => Operator::EqualRounded(rounding(element)?),
            "qti-field-value" => Operator::FieldValue(identifier(element, "field-identifier")),
            "qti-gcd" => Operator::Gcd,
            "qti-gt" => Operator::Gt,
            "qti-gte" => Operator::Gte,
            "qti-index" => Operator::Index(integer_bound(element, "n")?),
            "qti-inside" => {
                self.check_area(element);
                Operator::Inside(area(element)?)
            }
            "qti-integer-divide" => Operator::IntegerDivide,
            "qti-integer-modulus" => Operator::IntegerModulus,
            "qti-integer-to-float" => Operator::IntegerToFloat,
            "qti-is-null" => Operator::IsNull,
            "qti-lcm" => Operator::Lcm,
            "qti-lt" => Operator::Lt,
            "qti-lte" => Operator::Lte,
            "qti-match" => Operator::Match,
            "qti-math-operator" => Operator::Math(self.math(element)?),
            "qti-max" => Operator::Max,
            "qti-member" => Operator::Member,
            "qti-min" => Operator::Min,
            "qti-multiple" => Operator::Multiple,
            "qti-not" => Operator::Not,
            "qti-or" => Operator::Or,
            "qti-ordered" => Operator::Ordered,
            "qti-pattern-match" => Operator::PatternMatch(self.pattern(element)?),
            "qti-power" => Operator::Power,
            "qti-product" => Operator::Product,
            "qti-random" => Operator::Random,
            "qti-repeat" => Operator::Repeat(integer_bound(element, "number-repeats")?),
            "qti-round" => Operator::Round,
            "qti-round-to" => Operator::RoundTo(rounding(element)?),
            "qti-stats-operator" => {
                Operator::Stats(Statistic::from_name(element.attribute("name")?)?)
            }
            "qti-string-match" => Operator::StringMatch {
                case_sensitive: flag("case-sensitive"),
                substring: flag("substring"),
            },
            "qti-substring" => Operator::Substring { case_sensitive: flag("case-sensitive") },
            "qti-subtract" => Operator::Subtract,
            "qti-sum" => Operator::Sum,
            "qti-truncate" => Operator::Truncate,
            _ => return None,
        })
    }

    fn math(&mut self, element: Element<'_>) -> Option<MathFunction> {
        let function = MathFunction::from_name(element.attribute("name")?)?;
        let (wanted, have) =
            (if function == MathFunction::Atan2 { 2 } else { 1 }, element.elements().count());
        if have != wanted {
            self.wrong(
                element,
                format!("the function has {have} arguments, but needs {wanted}"),
                format!("write {wanted}"),
            );
        }
        Some(function)
    }

    fn tolerance(&mut self, element: Element<'_>) -> Tolerance {
        let mode = element.attribute("tolerance-mode").unwrap_or("exact");
        let mut sides = element.attribute("tolerance").unwrap_or_default().split_whitespace();
        let Some(lower) = sides.next().map(number_bound).filter(|_| mode != "exact") else {
            if mode != "exact" {
                self.wrong(
                    element,
                    format!("the tolerance mode '{mode}' needs a tolerance"),
                    "add tolerance=\"…\": one number, or one down and one up",
                );
            }
            return Tolerance::Exact;
        };
        let tolerances = Tolerances {
            upper: sides.next().map_or_else(|| lower.clone(), number_bound),
            lower,
            include_lower: boolean(element, "include-lower-bound").unwrap_or(true),
            include_upper: boolean(element, "include-upper-bound").unwrap_or(true),
        };
        match mode {
            "relative" => Tolerance::Relative(tolerances),
            _ => Tolerance::Absolute(tolerances),
        }
    }

    fn pattern(&mut self, element: Element<'_>) -> Option<Parameter<Pattern>> {
        let written = element.attribute("pattern")?;
        let inner = written.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        if let Some(name) = inner.filter(|name| crate::schema::is_name(name)) {
            return Some(Parameter::Variable(variable_name(name)));
        }
        self.compiled(element, written).map(Parameter::Literal)
    }

    /// Reads a pattern. Adds an error if it is not a pattern.
    pub(super) fn compiled(&mut self, element: Element<'_>, written: &str) -> Option<Pattern> {
        match Pattern::new(written) {
            Ok(pattern) => Some(pattern),
            Err(why) => {
                self.wrong(element, why, "write a regular expression as XML Schema defines them");
                None
            }
        }
    }
}

fn rounding(element: Element<'_>) -> Option<Rounding> {
    Some(Rounding {
        significant: element.attribute("rounding-mode") != Some("decimalPlaces"),
        figures: integer_bound(element, "figures")?,
    })
}

fn subset(element: Element<'_>) -> ItemSubset {
    ItemSubset {
        section: text(element, "section-identifier"),
        include: words(element, "include-category"),
        exclude: words(element, "exclude-category"),
    }
}
