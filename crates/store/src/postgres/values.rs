//! The five kinds of value in PostgreSQL's binary protocol.

use std::error::Error;

use bytes::{BufMut as _, BytesMut};
use lyceum_core::{Problem, Result};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::Value;
use crate::problem::NulCharacter;

type ValueFailure = Box<dyn Error + Sync + Send>;

impl ToSql for Value<'_> {
    fn to_sql(&self, wanted: &Type, out: &mut BytesMut) -> Result<IsNull, ValueFailure> {
        match (*self, wanted) {
            (Value::Null, _) => return Ok(IsNull::Yes),
            (Value::Int(number), &Type::INT8) => out.put_i64(number),
            (Value::Int(number), &Type::INT4) => out.put_i32(number.try_into()?),
            (Value::Int(number), &Type::INT2) => out.put_i16(number.try_into()?),
            (Value::Int(number), &Type::BOOL) => out.put_u8(u8::from(number != 0)),
            #[expect(clippy::cast_precision_loss, reason = "the statement wants floating point")]
            (Value::Int(number), &Type::FLOAT8) => out.put_f64(number as f64),
            (Value::Real(number), &Type::FLOAT8) => out.put_f64(number),
            (Value::Text(text), _) if memchr::memchr(0, text.as_bytes()).is_some() => {
                return Err(NulCharacter.into());
            }
            (Value::Text(text), wanted) if is_text(wanted) => out.put_slice(text.as_bytes()),
            (Value::Blob(bytes), &Type::BYTEA) => out.put_slice(bytes),
            (value, wanted) => {
                let value = format!("{value:?}");
                return Err(format!("a parameter of type {wanted} cannot take {value:.80}").into());
            }
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A parameter as the server reads it, which lives as long as its statement is under way.
#[derive(Debug)]
pub(super) struct EncodedParameter(Option<BytesMut>);

impl EncodedParameter {
    pub(super) fn of(param: &(dyn ToSql + Sync), kind: &Type) -> Result<Self, ValueFailure> {
        let mut bytes = BytesMut::new();
        Ok(match param.to_sql_checked(kind, &mut bytes)? {
            IsNull::Yes => Self(None),
            IsNull::No => Self(Some(bytes)),
        })
    }

    /// Its size in bytes.
    pub(super) fn size(&self) -> usize {
        self.0.as_ref().map_or(0, BytesMut::len)
    }
}

impl ToSql for EncodedParameter {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, ValueFailure> {
        let Some(bytes) = &self.0 else { return Ok(IsNull::Yes) };
        out.put_slice(bytes);
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

fn is_text(kind: &Type) -> bool {
    [Type::TEXT, Type::VARCHAR, Type::BPCHAR, Type::NAME, Type::UNKNOWN, Type::JSON].contains(kind)
}

/// The SQL type of the members of an array that holds the values; `None` when all are NULL.
pub(super) fn array_type(values: &[Value<'_>]) -> Option<&'static str> {
    values.iter().find_map(|value| match value {
        Value::Null => None,
        Value::Real(_) => Some("double precision"),
        Value::Int(_) if values.iter().any(|value| matches!(value, Value::Real(_))) => {
            Some("double precision")
        }
        Value::Int(_) => Some("bigint"),
        Value::Text(_) => Some("text"),
        Value::Blob(_) => Some("bytea"),
    })
}

pub(crate) fn cell(row: &tokio_postgres::Row, column: usize) -> Result<Value<'_>> {
    row.try_get(column).map_err(Problem::internal)
}

impl<'a> FromSql<'a> for Value<'a> {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<Self, ValueFailure> {
        Ok(match *kind {
            Type::INT8 => Value::Int(i64::from_sql(kind, raw)?),
            Type::INT4 => Value::Int(i32::from_sql(kind, raw)?.into()),
            Type::INT2 => Value::Int(i16::from_sql(kind, raw)?.into()),
            Type::BOOL => Value::Int(bool::from_sql(kind, raw)?.into()),
            Type::FLOAT8 => Value::Real(f64::from_sql(kind, raw)?),
            Type::FLOAT4 => Value::Real(f32::from_sql(kind, raw)?.into()),
            Type::NUMERIC => numeric(raw)?,
            Type::BYTEA => Value::Blob(raw),
            _ => Value::Text(std::str::from_utf8(raw)?),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Self, ValueFailure> {
        Ok(Value::Null)
    }

    fn accepts(kind: &Type) -> bool {
        let numbers = [Type::INT8, Type::INT4, Type::INT2, Type::BOOL, Type::FLOAT8, Type::FLOAT4];
        numbers.contains(kind) || [Type::NUMERIC, Type::BYTEA].contains(kind) || is_text(kind)
    }
}

/// The type of `SUM` over whole numbers and of `AVG`: a whole number if it is one.
///
/// The wire has four 16-bit words (number of digits, weight of the first, sign, decimals shown)
/// and the digits to base 10 000.
fn numeric(raw: &[u8]) -> Result<Value<'static>, ValueFailure> {
    let word = |at: usize| -> Result<i16, ValueFailure> {
        let bytes = raw.get(at * 2..at * 2 + 2).ok_or("a number is cut short")?;
        Ok(i16::from_be_bytes([bytes[0], bytes[1]]))
    };
    let (count, weight, negative) = (word(0)?, word(1)?, word(2)? == 0x4000);
    let mut whole = Some(0_i64);
    let mut real = 0.0;
    for at in 0..count {
        let (digit, place) = (word(4 + usize::try_from(at)?)?, i32::from(weight - at));
        real += f64::from(digit) * 10_000_f64.powi(place);
        let worth = u32::try_from(place).ok().and_then(|place| 10_000_i64.checked_pow(place));
        let part = worth.and_then(|worth| worth.checked_mul(digit.into()));
        whole = whole.zip(part).and_then(|(sum, part)| sum.checked_add(part));
    }
    Ok(match whole {
        Some(whole) => Value::Int(if negative { -whole } else { whole }),
        None => Value::Real(if negative { -real } else { real }),
    })
}
