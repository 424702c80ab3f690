//! Operators over numbers. The result is NULL if an operand is NULL or if the result is not a number: after a division
//! by zero, out of range, or outside the domain of a function.

use super::machine::RuleMachine;
use super::variables::whole_number;
use crate::model::{MathFunction as Math, Operator, Rounding, Statistic};
use crate::value::{Scalar, Value};

/// The operators that are arithmetic; NULL for the wrong number of operands.
pub(super) fn arithmetic(operator: &Operator, values: &[Value]) -> Value {
    match (operator, values) {
        (Operator::Sum, all) => folded(all, 0, i64::checked_add, |a, b| a + b),
        (Operator::Product, all) => folded(all, 1, i64::checked_mul, |a, b| a * b),
        (Operator::Min, all) => extreme(all, |new, old| new < old),
        (Operator::Max, all) => extreme(all, |new, old| new > old),
        (Operator::Gcd, all) => {
            integers(all).map_or(Value::Null, |all| Value::integer(all.into_iter().fold(0, gcd)))
        }
        (Operator::Lcm, all) => integers(all).and_then(lcm).map_or(Value::Null, Value::integer),
        (Operator::Subtract, [a, b]) => match (integer(a), integer(b)) {
            (Some(a), Some(b)) => a.checked_sub(b).map_or(Value::Null, Value::integer),
            _ => floats(a, b, |a, b| a - b),
        },
        (Operator::Divide, [a, b]) => floats(a, b, |a, b| a / b),
        (Operator::Power, [a, b]) => floats(a, b, f64::powf),
        (Operator::IntegerDivide, [a, b]) => whole_division(a, b, i64::div_euclid_floor),
        (Operator::IntegerModulus, [a, b]) => whole_division(a, b, i64::modulus_floor),
        (Operator::IntegerToFloat, [one]) => {
            integer(one).and(one.as_number()).map_or(Value::Null, Value::float)
        }
        (Operator::Round, [one]) => to_integer(one, |x| (x + 0.5).floor()),
        (Operator::Truncate, [one]) => to_integer(one, f64::trunc),
        (Operator::Math(function), all) => math(*function, all),
        (Operator::Stats(statistic), [one]) => statistics(*statistic, one),
        // A custom operator that nobody registered, or operands that the schema refuses.
        _ => Value::Null,
    }
}

/// Division that rounds down, as the standard wants it (Rust rounds towards zero).
trait Floor: Sized {
    fn div_euclid_floor(self, by: Self) -> Option<Self>;
    fn modulus_floor(self, by: Self) -> Option<Self>;
}

impl Floor for i64 {
    fn div_euclid_floor(self, by: Self) -> Option<Self> {
        let quotient = self.checked_div(by)?;
        let inexact = self.checked_rem(by)? != 0;
        Some(if inexact && (self < 0) != (by < 0) { quotient - 1 } else { quotient })
    }

    fn modulus_floor(self, by: Self) -> Option<Self> {
        let quotient = self.div_euclid_floor(by)?;
        self.checked_sub(by.checked_mul(quotient)?)
    }
}

fn integer(value: &Value) -> Option<i64> {
    match value.single() {
        Some(Scalar::Integer(integer)) => Some(*integer),
        _ => None,
    }
}

fn whole_division(a: &Value, b: &Value, divide: fn(i64, i64) -> Option<i64>) -> Value {
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => divide(a, b).map_or(Value::Null, Value::integer),
        _ => Value::Null,
    }
}

fn floats(a: &Value, b: &Value, compute: fn(f64, f64) -> f64) -> Value {
    match (a.as_number(), b.as_number()) {
        (Some(a), Some(b)) => finite(compute(a, b)),
        _ => Value::Null,
    }
}

fn finite(number: f64) -> Value {
    match number.is_finite() {
        true => Value::float(number),
        false => Value::Null,
    }
}

/// All numbers of singles and containers; `None` when one operand is NULL or no number.
fn numbers(values: &[Value]) -> Option<Vec<&Scalar>> {
    let mut all = Vec::new();
    for value in values {
        let scalars = value.scalars();
        if scalars.is_empty() || scalars.iter().any(|scalar| scalar.number().is_none()) {
            return None;
        }
        all.extend(scalars);
    }
    Some(all)
}

fn integers(values: &[Value]) -> Option<Vec<i64>> {
    let integer = |scalar: &Scalar| match scalar {
        Scalar::Integer(integer) => Some(*integer),
        _ => None,
    };
    numbers(values)?.into_iter().map(integer).collect()
}

/// An integer when all are, else a float.
fn folded(
    values: &[Value],
    start: i64,
    whole: fn(i64, i64) -> Option<i64>,
    float: fn(f64, f64) -> f64,
) -> Value {
    if let Some(all) = integers(values) {
        let result = all.into_iter().try_fold(start, whole);
        return result.map_or(Value::Null, Value::integer);
    }
    let Some(all) = numbers(values) else { return Value::Null };
    let start = if start == 0 { 0.0 } else { 1.0 };
    finite(all.into_iter().filter_map(Scalar::number).fold(start, float))
}

/// The extreme of all: an integer when all are, else a float.
fn extreme(values: &[Value], better: fn(f64, f64) -> bool) -> Value {
    let Some(all) = numbers(values) else { return Value::Null };
    let all_integers = all.iter().all(|scalar| matches!(scalar, Scalar::Integer(_)));
    let best = all.into_iter().reduce(|best, scalar| match (scalar.number(), best.number()) {
        (Some(new), Some(old)) if better(new, old) => scalar,
        _ => best,
    });
    match best {
        Some(Scalar::Integer(integer)) if all_integers => Value::integer(*integer),
        Some(scalar) => scalar.number().map_or(Value::Null, Value::float),
        None => Value::Null,
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).unwrap_or(i64::MAX)
}

fn lcm(all: Vec<i64>) -> Option<i64> {
    all.into_iter().try_fold(1_i64, |lcm, next| match next {
        0 => Some(0),
        next => (lcm / gcd(lcm, next).max(1)).checked_mul(next)?.checked_abs(),
    })
}

/// Rounded to a whole number; an infinite one stays what it is.
fn to_integer(value: &Value, round: fn(f64) -> f64) -> Value {
    match value.single() {
        Some(Scalar::Integer(integer)) => Value::integer(*integer),
        Some(Scalar::Float(float)) if float.is_infinite() => Value::float(*float),
        Some(Scalar::Float(float)) => {
            whole_number(round(*float)).map_or(Value::Null, Value::integer)
        }
        _ => Value::Null,
    }
}

/// Half up, at decimal places or significant figures. `None` for figures that make no sense.
///
/// The product with the power of ten is nudged by its own rounding error, so that 1.005 becomes 1.01
/// as its author sees it and not 1.00 as its bits have it.
pub(super) fn rounded(number: f64, significant: bool, figures: i64) -> Option<f64> {
    if figures < i64::from(significant) || figures > 300 {
        return None;
    }
    if !number.is_finite() || number == 0.0 {
        return Some(number).filter(|number| !number.is_nan());
    }
    let figures = i32::try_from(figures).ok()?;
    #[expect(clippy::cast_possible_truncation, reason = "exponents are between -324 and 308")]
    let places = match significant {
        true => figures - 1 - number.abs().log10().floor() as i32,
        false => figures,
    };
    let (scale, scaled) = (10_f64.powi(places.abs()), number.abs());
    let scaled = if places < 0 { scaled / scale } else { scaled * scale };
    if !scaled.is_finite() {
        return Some(number);
    }
    let nudged = scaled + scaled * f64::EPSILON;
    let whole = match number < 0.0 {
        // Half up means towards zero below zero.
        true => (scaled - scaled * f64::EPSILON - 0.5).ceil(),
        false => (nudged + 0.5).floor(),
    };
    let result = if places < 0 { whole * scale } else { whole / scale };
    Some(result.copysign(number))
}

impl RuleMachine<'_, '_> {
    pub(super) fn round_to(&self, rounding: &Rounding, value: &Value) -> Value {
        let figures = self.integer(&rounding.figures);
        let number = value.as_number();
        let rounded = number.zip(figures).and_then(|(n, f)| rounded(n, rounding.significant, f));
        rounded.map_or(Value::Null, Value::float)
    }
}

fn math(function: Math, values: &[Value]) -> Value {
    let (x, y) = match values {
        [x] => (x.as_number(), None),
        [x, y] => (x.as_number(), y.as_number()),
        _ => return Value::Null,
    };
    let Some(x) = x else { return Value::Null };
    let one = values.len() == 1;
    if (function == Math::Atan2) == one {
        return Value::Null;
    }
    match (function, integer(&values[0])) {
        (Math::Abs, Some(integer)) => integer.checked_abs().map_or(Value::Null, Value::integer),
        (Math::Signum, _) if !x.is_nan() => Value::integer(i64::from(x > 0.0) - i64::from(x < 0.0)),
        (Math::Floor, _) => whole_number(x.floor()).map_or(Value::Null, Value::integer),
        (Math::Ceil, _) => whole_number(x.ceil()).map_or(Value::Null, Value::integer),
        (Math::Atan2, _) => y.map_or(Value::Null, |y| Value::float(x.atan2(y))),
        _ => Value::float(function_of(function, x)),
    }
}

/// The functions of one number whose value is a float; NaN outside their domain.
fn function_of(function: Math, x: f64) -> f64 {
    match function {
        Math::Sin => x.sin(),
        Math::Cos => x.cos(),
        Math::Tan => x.tan(),
        Math::Sec => 1.0 / x.cos(),
        Math::Csc => 1.0 / x.sin(),
        Math::Cot => 1.0 / x.tan(),
        Math::Asin => x.asin(),
        Math::Acos => x.acos(),
        Math::Atan => x.atan(),
        Math::Asec => (1.0 / x).acos(),
        Math::Acsc => (1.0 / x).asin(),
        Math::Acot => std::f64::consts::FRAC_PI_2 - x.atan(),
        Math::Sinh => x.sinh(),
        Math::Cosh => x.cosh(),
        Math::Tanh => x.tanh(),
        Math::Sech => 1.0 / x.cosh(),
        Math::Csch => 1.0 / x.sinh(),
        Math::Coth => 1.0 / x.tanh(),
        Math::Log => x.log10(),
        Math::Ln => x.ln(),
        Math::Exp => x.exp(),
        Math::Abs => x.abs(),
        Math::ToDegrees => x.to_degrees(),
        Math::ToRadians => x.to_radians(),
        Math::Atan2 | Math::Signum | Math::Floor | Math::Ceil => f64::NAN,
    }
}

/// Over a container; a sample of one has no variance.
#[expect(clippy::cast_precision_loss, reason = "containers are small")]
fn statistics(statistic: Statistic, value: &Value) -> Value {
    let (Value::Multiple(_) | Value::Ordered(_)) = value else { return Value::Null };
    let Some(all) = numbers(std::slice::from_ref(value)) else { return Value::Null };
    let all: Vec<f64> = all.into_iter().filter_map(Scalar::number).collect();
    let count = all.len() as f64;
    let mean = all.iter().sum::<f64>() / count;
    let squares = all.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    finite(match statistic {
        Statistic::Mean => mean,
        Statistic::PopVariance => squares / count,
        Statistic::PopSd => (squares / count).sqrt(),
        Statistic::SampleVariance => squares / (count - 1.0),
        Statistic::SampleSd => (squares / (count - 1.0)).sqrt(),
    })
}
