//! Operators that make containers, take from them or look into them.

use super::logic::holds_all;
use crate::limits::QTI_CONTAINER_MAX_VALUES;
use crate::value::{Cardinality, Scalar, Value};

/// The values of all in one container without an order; NULL ones are left out.
pub(super) fn multiple(values: Vec<Value>) -> Value {
    collected(Cardinality::Multiple, values)
}

/// The values of all in one container, in their order; NULL ones are left out.
pub(super) fn ordered(values: Vec<Value>) -> Value {
    collected(Cardinality::Ordered, values)
}

/// NULL when they are not of one base type, or too many.
fn collected(cardinality: Cardinality, values: Vec<Value>) -> Value {
    let mut all: Vec<Scalar> = Vec::new();
    for value in values {
        match value {
            Value::Null => {}
            Value::Single(scalar) => all.push(scalar),
            Value::Multiple(scalars) | Value::Ordered(scalars) => all.extend(scalars),
            Value::Record(_) => return Value::Null,
        }
        if all.len() > QTI_CONTAINER_MAX_VALUES {
            return Value::Null;
        }
    }
    let first = all.first().map(Scalar::base_type);
    match all.iter().all(|scalar| Some(scalar.base_type()) == first) {
        true => Value::container(cardinality, all),
        false => Value::Null,
    }
}

/// The number of values; 0 for NULL.
pub(super) fn size(value: &Value) -> Value {
    match value {
        Value::Null => Value::integer(0),
        Value::Multiple(all) | Value::Ordered(all) => {
            Value::integer(i64::try_from(all.len()).expect("a length is below an i64"))
        }
        Value::Single(_) | Value::Record(_) => Value::Null,
    }
}

/// Whether the first holds the second: every value as often; of ordered containers, in one piece.
pub(super) fn contains(a: &Value, b: &Value) -> Value {
    match (a, b) {
        (Value::Multiple(a), Value::Multiple(b)) => Value::boolean(holds_all(a, b)),
        (Value::Ordered(a), Value::Ordered(b)) => {
            Value::boolean(a.windows(b.len().max(1)).any(|piece| piece == b.as_slice()))
        }
        // Authors ask for one value so.
        (Value::Multiple(a) | Value::Ordered(a), Value::Single(b)) => Value::boolean(a.contains(b)),
        _ => Value::Null,
    }
}

/// Whether a value is in a container. Authors give a single too.
pub(super) fn member(value: &Value, container: &Value) -> Value {
    match (value, container) {
        (_, Value::Null | Value::Record(_)) => Value::Null,
        (Value::Single(value), container) => Value::boolean(container.scalars().contains(value)),
        _ => Value::Null,
    }
}

/// A container without any value equal to the first operand.
pub(super) fn delete(value: &Value, container: &Value) -> Value {
    let (Value::Single(value), Some(cardinality)) = (value, container.cardinality()) else {
        return Value::Null;
    };
    match container {
        Value::Multiple(all) | Value::Ordered(all) => {
            Value::container(cardinality, all.iter().filter(|own| *own != value).cloned().collect())
        }
        _ => Value::Null,
    }
}

/// The nth value of an ordered container, from 1.
pub(super) fn index(n: i64, container: &Value) -> Value {
    let Value::Ordered(all) = container else { return Value::Null };
    let at = usize::try_from(n).ok().and_then(|n| n.checked_sub(1));
    at.and_then(|at| all.get(at)).map_or(Value::Null, |scalar| Value::Single(scalar.clone()))
}

/// A field of a record.
pub(super) fn field(name: &str, record: &Value) -> Value {
    let Value::Record(fields) = record else { return Value::Null };
    let field = fields.iter().find(|(own, _)| &**own == name);
    field.and_then(|(_, value)| value.clone()).map_or(Value::Null, Value::Single)
}
