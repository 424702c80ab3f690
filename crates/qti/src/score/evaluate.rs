//! The value of an expression: which function computes which operator.

use super::arithmetic as arithmetic_of;
use super::containers as containers_of;
use super::logic as logic_of;
use super::machine::RuleMachine;
use super::variables::VariableKind;
use crate::model::{Expression, ExpressionKind as Kind, Operator};
use crate::value::{Scalar, Value};

impl RuleMachine<'_, '_> {
    /// The value of what an expression is. What is computed over a test is NULL in an item.
    pub(super) fn value(&mut self, kind: &Kind) -> Value {
        match kind {
            Kind::BaseValue(value) => self.copy(value),
            Kind::Variable { identifier, .. } => {
                let value = self.variables.get(identifier).map(|v| v.value.clone());
                value.map_or(Value::Null, |value| self.copy(&value))
            }
            Kind::Correct(name) => {
                let correct = self.variables.get(name).filter(|v| v.sort == VariableKind::Response);
                correct.map_or(Value::Null, |variable| variable.correct.clone().into_owned())
            }
            Kind::Default(name) => {
                let variable = self.variables.get(name);
                variable.map_or(Value::Null, |variable| variable.default.clone().into_owned())
            }
            Kind::MapResponse(name) => self.map_response(name),
            Kind::MapResponsePoint(name) => self.map_response_point(name),
            Kind::MathConstant(constant) => Value::float(*constant),
            Kind::RandomInteger { min, max, step } => {
                let bounds = (self.integer(min), self.integer(max), self.integer(step));
                let (Some(min), Some(max), Some(step)) = bounds else { return Value::Null };
                random_integer(self.random, min, max, step)
            }
            Kind::RandomFloat { min, max } => match (self.number(min), self.number(max)) {
                (Some(min), Some(max)) if min <= max && (max - min).is_finite() => {
                    Value::float(min + self.random.unit() * (max - min))
                }
                _ => Value::Null,
            },
            Kind::Null
            | Kind::Number(..)
            | Kind::OutcomeBound { .. }
            | Kind::TestVariables { .. } => Value::Null,
            Kind::Operator(Operator::Repeat(times), operands) => match self.integer(times) {
                Some(times) if times > 0 => self.repeat(times, operands),
                _ => Value::Null,
            },
            Kind::Operator(operator, operands) => self.operator(operator, operands),
        }
    }

    /// Counts the copying of a value.
    fn copy(&mut self, value: &Value) -> Value {
        match self.charge(value.scalars().len() / 8) {
            true => value.clone(),
            false => Value::Null,
        }
    }

    fn operator(&mut self, operator: &Operator, operands: &[Expression]) -> Value {
        let values: Vec<Value> = operands.iter().map(|operand| self.evaluate(operand)).collect();
        let work = |values: &[Value]| match values {
            [a, b] => a.scalars().len() * b.scalars().len() / 16,
            _ => 0,
        };
        if !self.charge(work(&values)) {
            return Value::Null;
        }
        match (operator, values.as_slice()) {
            (Operator::And, all) => logic_of::and(all),
            (Operator::Or, all) => logic_of::or(all),
            (Operator::Not, [one]) => logic_of::not(one),
            (Operator::AnyN { min, max }, all) => match (self.integer(min), self.integer(max)) {
                (Some(min), Some(max)) => logic_of::any_n(min, max, all),
                _ => Value::Null,
            },
            (Operator::IsNull, [one]) => Value::boolean(one.is_null()),
            (Operator::Match, [a, b]) => logic_of::matches(a, b),
            (Operator::Equal(tolerance), [a, b]) => self.equal(tolerance, a, b),
            (Operator::EqualRounded(rounding), [a, b]) => self.equal_rounded(rounding, a, b),
            (Operator::Lt, [a, b]) => logic_of::compare(a, b, |a, b| a < b),
            (Operator::Lte, [a, b]) => logic_of::compare(a, b, |a, b| a <= b),
            (Operator::Gt, [a, b]) => logic_of::compare(a, b, |a, b| a > b),
            (Operator::Gte, [a, b]) => logic_of::compare(a, b, |a, b| a >= b),
            (Operator::DurationLt, [a, b]) => logic_of::durations(a, b, |a, b| a < b),
            (Operator::DurationGte, [a, b]) => logic_of::durations(a, b, |a, b| a >= b),
            (Operator::StringMatch { case_sensitive, substring }, [a, b]) => {
                logic_of::strings(a, b, *case_sensitive, |a, b| match substring {
                    true => a.contains(b),
                    false => a == b,
                })
            }
            (Operator::Substring { case_sensitive }, [a, b]) => {
                logic_of::strings(a, b, *case_sensitive, |a, b| b.contains(a))
            }
            (Operator::PatternMatch(pattern), [one]) => self.pattern_match(pattern, one),
            (Operator::Inside(area), [one]) => logic_of::inside(area, one),
            (Operator::ContainerSize, [one]) => containers_of::size(one),
            (Operator::Contains, [a, b]) => containers_of::contains(a, b),
            (Operator::Member, [a, b]) => containers_of::member(a, b),
            (Operator::Delete, [a, b]) => containers_of::delete(a, b),
            (Operator::Index(n), [one]) => match self.integer(n) {
                Some(n) => containers_of::index(n, one),
                None => Value::Null,
            },
            (Operator::FieldValue(name), [one]) => containers_of::field(name, one),
            (Operator::Multiple, _) => containers_of::multiple(values),
            (Operator::Ordered, _) => containers_of::ordered(values),
            (Operator::Random, [one]) => match one.scalars() {
                [] => Value::Null,
                scalars => Value::Single(self.random.pick(scalars).clone()),
            },
            (Operator::RoundTo(rounding), [one]) => self.round_to(rounding, one),
            (operator, values) => arithmetic_of::arithmetic(operator, values),
        }
    }

    fn repeat(&mut self, times: i64, operands: &[Expression]) -> Value {
        let mut values = Vec::new();
        for _ in 0..times {
            for operand in operands {
                if !self.charge(1) {
                    return Value::Null;
                }
                values.push(self.evaluate(operand));
            }
            if values.len() > crate::limits::QTI_CONTAINER_MAX_VALUES {
                return Value::Null;
            }
        }
        containers_of::ordered(values)
    }
}

fn random_integer(
    random: &mut lyceum_core::random::RandomStream,
    min: i64,
    max: i64,
    step: i64,
) -> Value {
    let Some(span) = max.checked_sub(min).filter(|span| *span >= 0 && step > 0) else {
        return Value::Null;
    };
    let count = u64::try_from(span / step).expect("neither is negative") + 1;
    let drawn = i64::try_from(random.below(count)).expect("it is below an i64");
    Value::Single(Scalar::Integer(min + drawn * step))
}
