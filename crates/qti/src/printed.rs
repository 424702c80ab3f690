//! Values as text for readers (`qti-printed-variable`). Numbers are formatted by the number formatting
//! rules of QTI, which are those of C's `printf` with two types more: `i` takes the element's base,
//! `r` is `g` that keeps its zeros.

use crate::limits::QTI_FORMAT_MAX_COUNT;
use crate::value::{Scalar, Value};
use crate::xml::{Element, escape};

/// The text of a value as an element asks for it, as XML; empty for NULL. `None` for files and
/// addresses, which are shown by a control and no text. `integer` reads a number that is written
/// down or held by a variable.
pub(crate) fn printed(
    element: Element<'_>,
    value: &Value,
    integer: impl Fn(&str) -> Option<i64>,
) -> Option<String> {
    let attribute = |name, default| element.attribute(name).unwrap_or(default);
    let number = |name| element.attribute(name).and_then(|text| integer(text.trim()));
    let print = PrintedNumber {
        format: element.attribute("format"),
        base: number("base").and_then(|base| u32::try_from(base).ok()).unwrap_or(10),
        power_form: matches!(element.attribute("power-form"), Some("true" | "1")),
    };
    let texts: Vec<String> = match (value, number("index")) {
        (Value::Null, _) => Vec::new(),
        (Value::Ordered(values), Some(index)) => {
            let at = usize::try_from(index).ok().and_then(|index| index.checked_sub(1));
            let one = at.and_then(|at| values.get(at));
            one.map(|scalar| print.scalar(scalar)).into_iter().collect::<Option<_>>()?
        }
        (Value::Record(fields), _) => {
            let wanted = element.attribute("field");
            let fields = fields.iter().filter(|(name, _)| wanted.is_none_or(|w| w == &**name));
            let text = |(name, value): &(Box<str>, Option<Scalar>)| {
                let value = value.as_ref().map_or(Some(String::new()), |one| print.scalar(one))?;
                let mut text = String::new();
                if wanted.is_none() {
                    escape(name, false, &mut text);
                    escape(attribute("mapping-indicator", "="), false, &mut text);
                }
                Some(text + &value)
            };
            fields.map(text).collect::<Option<_>>()?
        }
        (value, _) => value.scalars().iter().map(|one| print.scalar(one)).collect::<Option<_>>()?,
    };
    let mut delimiter = String::new();
    escape(attribute("delimiter", ";"), false, &mut delimiter);
    Some(texts.join(&delimiter))
}

struct PrintedNumber<'a> {
    format: Option<&'a str>,
    base: u32,
    power_form: bool,
}

impl PrintedNumber<'_> {
    fn scalar(&self, scalar: &Scalar) -> Option<String> {
        let format = self.format.and_then(PrintFormat::parse);
        let text = match (scalar, format) {
            (Scalar::File(_) | Scalar::Uri(_), _) => return None,
            (Scalar::Integer(number), Some(format)) => format.integer(*number, self.base),
            (Scalar::Integer(number), None) => Some(in_base(*number, self.base)),
            (Scalar::Float(number) | Scalar::Duration(number), Some(format)) => {
                format.float(*number)
            }
            _ => None,
        };
        let mut xml = String::new();
        escape(&text.unwrap_or_else(|| scalar.to_string()), false, &mut xml);
        if self.power_form
            && let Some((digits, exponent)) = xml.split_once(['e', 'E'])
            && let Ok(exponent) = exponent.trim().parse::<i32>()
        {
            xml = format!("{digits} × 10<sup>{exponent}</sup>");
        }
        Some(xml)
    }
}

/// `%`, flags, width, precision, type.
#[expect(clippy::struct_excessive_bools, reason = "printf has these flags")]
#[derive(Default)]
struct PrintFormat<'a> {
    before: &'a str,
    left: bool,
    plus: bool,
    blank: bool,
    zeros: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
    kind: char,
    after: &'a str,
}

impl<'a> PrintFormat<'a> {
    /// `None` if the text is not a format, or asks for more than the limit.
    fn parse(text: &'a str) -> Option<Self> {
        let (before, mut rest) = text.split_once('%')?;
        let mut format = Self { before, ..Self::default() };
        while let Some(flag) = rest.chars().next().filter(|c| "-+ 0#".contains(*c)) {
            match flag {
                '-' => format.left = true,
                '+' => format.plus = true,
                ' ' => format.blank = true,
                '0' => format.zeros = true,
                _ => format.alternate = true,
            }
            rest = &rest[1..];
        }
        (format.width, rest) = number(rest)?;
        if let Some(digits) = rest.strip_prefix('.') {
            let (precision, after) = number(digits)?;
            (format.precision, rest) = (Some(precision), after);
        }
        format.kind = rest.chars().next()?;
        format.after = &rest[format.kind.len_utf8()..];
        Some(format)
    }

    fn integer(&self, number: i64, base: u32) -> Option<String> {
        let size = number.unsigned_abs();
        let (shown, prefix) = match self.kind {
            'd' => (digits(size, 10), ""),
            'i' => (digits(size, base), ""),
            'o' => (digits(size, 8), "0"),
            'x' => (digits(size, 16), "0x"),
            'X' => (digits(size, 16).to_uppercase(), "0X"),
            #[expect(clippy::cast_precision_loss, reason = "its types are those of floats")]
            _ => return self.float(number as f64),
        };
        let least = self.precision.unwrap_or(1);
        let prefix = if self.alternate && number != 0 { prefix } else { "" };
        Some(self.framed(number < 0, prefix, &format!("{shown:0>least$}")))
    }

    fn float(&self, number: f64) -> Option<String> {
        if !number.is_finite() {
            return None;
        }
        let (size, precision) = (number.abs(), self.precision.unwrap_or(6));
        let digits = match self.kind.to_ascii_lowercase() {
            'f' => format!("{size:.precision$}"),
            'e' => exponential(size, precision),
            'g' => general(size, precision.max(1), self.alternate),
            'r' => general(size, precision.max(1), true),
            _ => return None,
        };
        let digits = if self.kind.is_uppercase() { digits.to_uppercase() } else { digits };
        Some(self.framed(number.is_sign_negative(), "", &digits))
    }

    /// The digits with sign, filled up to the width.
    fn framed(&self, negative: bool, prefix: &str, digits: &str) -> String {
        let sign = match () {
            () if negative => "-",
            () if self.plus => "+",
            () if self.blank => " ",
            () => "",
        };
        let missing = self.width.saturating_sub(sign.len() + prefix.len() + digits.len());
        let (blanks, zeros) = (" ".repeat(missing), "0".repeat(missing));
        let framed = match (self.left, self.zeros) {
            (true, _) => [sign, prefix, digits, &blanks].concat(),
            (false, true) => [sign, prefix, &zeros, digits].concat(),
            (false, false) => [&blanks, sign, prefix, digits].concat(),
        };
        [self.before, &framed, &self.after.replace("%%", "%")].concat()
    }
}

/// The number that a text begins with, 0 where it begins with none, and the rest.
fn number(text: &str) -> Option<(usize, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number = if end == 0 { 0 } else { text[..end].parse().ok()? };
    (number <= QTI_FORMAT_MAX_COUNT).then_some((number, &text[end..]))
}

/// A number in a base; in base 10 if the base is unknown.
pub(crate) fn in_base(number: i64, base: u32) -> String {
    let sign = if number < 0 { "-" } else { "" };
    [sign, &digits(number.unsigned_abs(), base)].concat()
}

fn digits(mut number: u64, base: u32) -> String {
    let base = if (2..=36).contains(&base) { base } else { 10 };
    let mut digits = Vec::new();
    loop {
        let digit = u32::try_from(number % u64::from(base)).expect("it is below the base");
        digits.push(char::from_digit(digit, base).expect("it is below the base"));
        number /= u64::from(base);
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

/// `1.50e+03`
fn exponential(size: f64, precision: usize) -> String {
    let text = format!("{size:.precision$e}");
    let (digits, exponent) = text.split_once('e').expect("that is how Rust writes it");
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    format!("{digits}e{sign}{exponent:0>2}")
}

/// So many significant figures, with an exponent if it would be far from 0.
fn general(size: f64, figures: usize, keep_zeros: bool) -> String {
    let text = exponential(size, figures - 1);
    let (digits, exponent) = text.split_once('e').expect("it has an exponent");
    let power: i64 = exponent.parse().expect("it is a number");
    let wanted = i64::try_from(figures).expect("the limit is small");
    let trimmed = |text: &str| match text.contains('.') && !keep_zeros {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    match usize::try_from(wanted - 1 - power) {
        Ok(places) if power >= -4 => trimmed(&format!("{size:.places$}")),
        _ => format!("{}e{exponent}", trimmed(digits)),
    }
}
