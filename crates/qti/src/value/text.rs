//! Values as they are written in XML.

use std::fmt;

use super::{BaseType, Scalar, UploadedFile, Value};

/// Reads one value of a base type. `None` if the text is not one.
///
/// - float: XML's `double`, with `INF`, `-INF`; no hexadecimal
/// - pair, directedPair: two identifiers with blanks between; point: two integers
/// - duration: seconds as a number, or ISO 8601 (`PT1H30M`, days at most)
pub fn parse(base_type: BaseType, text: &str) -> Option<Scalar> {
    let trimmed = text.trim();
    Some(match base_type {
        BaseType::Boolean => Scalar::Boolean(match trimmed {
            "true" | "1" => true,
            "false" | "0" => false,
            _ => return None,
        }),
        BaseType::Integer => {
            Scalar::Integer(trimmed.strip_prefix('+').unwrap_or(trimmed).parse().ok()?)
        }
        BaseType::Float => Scalar::Float(float(trimmed).filter(|float| !float.is_nan())?),
        BaseType::String => Scalar::String(text.into()),
        BaseType::Identifier => match trimmed.is_empty() || trimmed.contains(char::is_whitespace) {
            true => return None,
            false => Scalar::Identifier(trimmed.into()),
        },
        BaseType::Uri => match trimmed.is_empty() {
            true => return None,
            false => Scalar::Uri(trimmed.into()),
        },
        BaseType::Pair => two(trimmed).map(|(a, b)| Scalar::Pair(a.into(), b.into()))?,
        BaseType::DirectedPair => {
            two(trimmed).map(|(a, b)| Scalar::DirectedPair(a.into(), b.into()))?
        }
        BaseType::Point => {
            let (x, y) = two(trimmed)?;
            Scalar::Point(x.parse().ok()?, y.parse().ok()?)
        }
        BaseType::Duration => Scalar::Duration(duration(trimmed)?),
        BaseType::File => Scalar::File(Box::new(UploadedFile {
            name: String::new(),
            media_type: String::new(),
            data: match text.is_empty() {
                true => return None,
                false => text.to_owned(),
            },
        })),
    })
}

fn two(text: &str) -> Option<(&str, &str)> {
    let mut words = text.split_whitespace();
    match (words.next(), words.next(), words.next()) {
        (Some(a), Some(b), None) => Some((a, b)),
        _ => None,
    }
}

/// A number as XML writes it (`xs:double`).
pub(crate) fn float(text: &str) -> Option<f64> {
    let text = text.trim();
    match text {
        "INF" | "+INF" => Some(f64::INFINITY),
        "-INF" => Some(f64::NEG_INFINITY),
        "NaN" => Some(f64::NAN),
        // Rust reads words such as "infinity" too.
        _ if text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')) => {
            text.parse().ok()
        }
        _ => None,
    }
}

fn duration(text: &str) -> Option<f64> {
    let Some(rest) = text.strip_prefix('P') else {
        return float(text).filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
    };
    let (days, time) = rest.split_once('T').map_or((rest, None), |(days, time)| (days, Some(time)));
    let mut seconds = parts(days, &[('D', 86400.0)])?;
    match time {
        Some("") => return None,
        Some(time) => seconds += parts(time, &[('H', 3600.0), ('M', 60.0), ('S', 1.0)])?,
        None if days.is_empty() => return None,
        None => {}
    }
    Some(seconds)
}

fn parts(mut text: &str, units: &[(char, f64)]) -> Option<f64> {
    let mut sum = 0.0;
    for (letter, seconds) in units {
        if let Some((number, rest)) = text.split_once(*letter) {
            sum += float(number).filter(|n| *n >= 0.0)? * seconds;
            text = rest;
        }
    }
    text.is_empty().then_some(sum)
}

/// As XML writes it.
impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean(value) => value.fmt(f),
            Self::Integer(value) => value.fmt(f),
            Self::Float(value) | Self::Duration(value) if value.is_infinite() => {
                f.write_str(if *value > 0.0 { "INF" } else { "-INF" })
            }
            Self::Float(value) | Self::Duration(value) => value.fmt(f),
            Self::String(text) | Self::Identifier(text) | Self::Uri(text) => f.write_str(text),
            Self::Pair(a, b) | Self::DirectedPair(a, b) => write!(f, "{a} {b}"),
            Self::Point(x, y) => write!(f, "{x} {y}"),
            Self::File(file) => f.write_str(&file.data),
        }
    }
}

/// As a trace shows it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, values: &[Scalar], open: &str, close: &str| {
            f.write_str(open)?;
            for (index, value) in values.iter().enumerate() {
                write!(f, "{}{value}", if index > 0 { ", " } else { "" })?;
            }
            f.write_str(close)
        };
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Single(Scalar::String(text)) => write!(f, "'{text}'"),
            // A float is told from an integer.
            Self::Single(Scalar::Float(float)) if float.is_finite() => write!(f, "{float:?}"),
            Self::Single(value) => value.fmt(f),
            Self::Multiple(values) => list(f, values, "{", "}"),
            Self::Ordered(values) => list(f, values, "[", "]"),
            Self::Record(fields) => {
                f.write_str("(")?;
                for (index, (name, value)) in fields.iter().enumerate() {
                    f.write_str(if index > 0 { ", " } else { "" })?;
                    match value {
                        Some(value) => write!(f, "{name}: {value}")?,
                        None => write!(f, "{name}: NULL")?,
                    }
                }
                f.write_str(")")
            }
        }
    }
}
