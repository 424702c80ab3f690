//! Operators whose value is true, false or NULL.

use super::arithmetic::rounded;
use super::machine::RuleMachine;
use crate::model::{Area, Parameter, Rounding, Tolerance, Tolerances};
use crate::pattern::Pattern;
use crate::value::{BaseType, Scalar, Value};

/// True when all are, false when one is not, else NULL.
pub(super) fn and(values: &[Value]) -> Value {
    combined(values, false)
}

/// True when one is, false when none is, else NULL.
pub(super) fn or(values: &[Value]) -> Value {
    combined(values, true)
}

/// `decides` if any operand has this value; otherwise NULL if an operand is NULL; otherwise the opposite.
fn combined(values: &[Value], decides: bool) -> Value {
    let mut unknown = false;
    for value in values {
        match value.as_boolean() {
            Some(value) if value == decides => return Value::boolean(decides),
            Some(_) => {}
            None => unknown = true,
        }
    }
    match unknown {
        true => Value::Null,
        false => Value::boolean(!decides),
    }
}

pub(super) fn not(value: &Value) -> Value {
    value.as_boolean().map_or(Value::Null, |value| Value::boolean(!value))
}

/// True when the number of true ones lies between the bounds, whatever those that are NULL were;
/// false when it cannot.
pub(super) fn any_n(min: i64, max: i64, values: &[Value]) -> Value {
    let count = |wanted| values.iter().filter(|v| v.as_boolean() == wanted).count();
    let count = |wanted| i64::try_from(count(wanted)).expect("a count is below an i64");
    let (yes, unknown) = (count(Some(true)), count(None));
    if yes > max || yes + unknown < min {
        return Value::boolean(false);
    }
    match yes >= min && yes + unknown <= max {
        true => Value::boolean(true),
        false => Value::Null,
    }
}

/// `qti-match`: NULL when one is, else whether they are the same: without order for multiple, in
/// order for ordered, field by field for records. Different cardinalities are never the same.
pub(super) fn matches(a: &Value, b: &Value) -> Value {
    if a.is_null() || b.is_null() {
        return Value::Null;
    }
    Value::boolean(is_equal(a, b))
}

fn is_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Single(a), Value::Single(b)) => a == b,
        (Value::Ordered(a), Value::Ordered(b)) => a == b,
        (Value::Multiple(a), Value::Multiple(b)) => a.len() == b.len() && holds_all(a, b),
        (Value::Record(a), Value::Record(b)) => {
            a.len() == b.len() && a.iter().all(|field| b.contains(field))
        }
        _ => false,
    }
}

/// Whether a bag contains every value of another at least as often.
pub(super) fn holds_all(bag: &[Scalar], wanted: &[Scalar]) -> bool {
    let mut left: Vec<&Scalar> = bag.iter().collect();
    wanted.iter().all(|value| match left.iter().position(|own| *own == value) {
        Some(at) => {
            left.swap_remove(at);
            true
        }
        None => false,
    })
}

pub(super) fn compare(a: &Value, b: &Value, holds: fn(f64, f64) -> bool) -> Value {
    match (a.as_number(), b.as_number()) {
        (Some(a), Some(b)) => Value::boolean(holds(a, b)),
        _ => Value::Null,
    }
}

pub(super) fn durations(a: &Value, b: &Value, holds: fn(f64, f64) -> bool) -> Value {
    match (a.single(), b.single()) {
        (Some(Scalar::Duration(a)), Some(Scalar::Duration(b))) => Value::boolean(holds(*a, *b)),
        _ => Value::Null,
    }
}

/// Two strings compared, small and capital letters alike unless they differ on purpose.
pub(super) fn strings(
    a: &Value,
    b: &Value,
    case_sensitive: bool,
    holds: impl Fn(&str, &str) -> bool,
) -> Value {
    if a.is_null() || b.is_null() {
        return Value::Null;
    }
    match (a.single().and_then(Scalar::text), b.single().and_then(Scalar::text)) {
        (Some(a), Some(b)) if case_sensitive => Value::boolean(holds(a, b)),
        (Some(a), Some(b)) => Value::boolean(holds(&a.to_lowercase(), &b.to_lowercase())),
        _ => Value::Null,
    }
}

/// Whether the point, or one of the points, lies in the area.
#[expect(clippy::cast_precision_loss, reason = "pixels are far below 2^53")]
pub(super) fn inside(area: &Area, value: &Value) -> Value {
    let scalars = value.scalars();
    let points: Vec<(i64, i64)> = scalars
        .iter()
        .filter_map(|scalar| match scalar {
            Scalar::Point(x, y) => Some((*x, *y)),
            _ => None,
        })
        .collect();
    match points.is_empty() || points.len() < scalars.len() {
        true => Value::Null,
        false => Value::boolean(points.iter().any(|(x, y)| area.holds(*x as f64, *y as f64))),
    }
}

impl RuleMachine<'_, '_> {
    /// `qti-equal`. Numbers by the tolerance around the first; anything else as `qti-match`, as
    /// authors use it.
    #[expect(clippy::float_cmp, reason = "exact is exact")]
    pub(super) fn equal(&self, tolerance: &Tolerance, a: &Value, b: &Value) -> Value {
        let (Some(x), Some(y)) = (a.as_number(), b.as_number()) else { return matches(a, b) };
        match tolerance {
            Tolerance::Exact => Value::boolean(x == y),
            Tolerance::Absolute(sides) => self.within(sides, y, |by| x - by, |by| x + by),
            Tolerance::Relative(sides) => {
                // Percent of x; below zero the ends change places.
                let part = x.abs() / 100.0;
                self.within(sides, y, |by| x - part * by, |by| x + part * by)
            }
        }
    }

    fn within(
        &self,
        sides: &Tolerances,
        y: f64,
        down: impl Fn(f64) -> f64,
        up: impl Fn(f64) -> f64,
    ) -> Value {
        let (Some(lower), Some(upper)) = (self.number(&sides.lower), self.number(&sides.upper))
        else {
            return Value::Null;
        };
        let (lower, upper) = (down(lower), up(upper));
        let above = if sides.include_lower { y >= lower } else { y > lower };
        let below = if sides.include_upper { y <= upper } else { y < upper };
        Value::boolean(above && below)
    }

    /// Whether two numbers are the same when both are rounded.
    #[expect(clippy::float_cmp, reason = "both were rounded alike")]
    pub(super) fn equal_rounded(&self, rounding: &Rounding, a: &Value, b: &Value) -> Value {
        let figures = self.integer(&rounding.figures);
        let round = |value: &Value| rounded(value.as_number()?, rounding.significant, figures?);
        match (round(a), round(b)) {
            (Some(a), Some(b)) => Value::boolean(a == b),
            _ => Value::Null,
        }
    }

    pub(super) fn pattern_match(&self, pattern: &Parameter<Pattern>, value: &Value) -> Value {
        let Some(text) = value.single().filter(|_| !value.is_null()).and_then(Scalar::text) else {
            return Value::Null;
        };
        match pattern {
            Parameter::Literal(pattern) => Value::boolean(pattern.matches(text)),
            Parameter::Variable(name) => {
                let variable =
                    self.variables.get(name).filter(|v| v.base_type == Some(BaseType::String));
                let source = variable.and_then(|v| v.value.single()).and_then(Scalar::text);
                match source.and_then(|source| Pattern::new(source).ok()) {
                    Some(pattern) => Value::boolean(pattern.matches(text)),
                    None => Value::Null,
                }
            }
        }
    }
}
