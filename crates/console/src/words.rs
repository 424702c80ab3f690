//! Formats numbers, times and durations for people.

use lyceum_core::time::Timestamp;

/// A number with at most one decimal: `1 204`, `12.5`.
pub fn number(value: f64) -> String {
    let tenths = (value * 10.0).round() / 10.0;
    grouped(tenths, usize::from(tenths.fract() != 0.0))
}

/// A number of thousandths in the format of [`number`].
#[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
pub fn thousandths(value: i64) -> String {
    number(value as f64 / 1000.0)
}

fn grouped(number: f64, decimals: usize) -> String {
    let digits = format!("{:.decimals$}", number.abs());
    let whole = digits.find('.').unwrap_or(digits.len());
    let mut text = String::from(if number < 0.0 { "−" } else { "" });
    for (at, digit) in digits.chars().enumerate() {
        if (1..whole).contains(&at) && (whole - at).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// A duration: `45 s`, `12 min`, `2 h 05 min`, `3 days`.
pub fn span(seconds: i64) -> String {
    match seconds {
        i64::MIN..60 => format!("{}\u{a0}s", seconds.max(0)),
        60..3600 => format!("{}\u{a0}min", seconds / 60),
        3600..172_800 => {
            format!("{}\u{a0}h\u{a0}{:02}\u{a0}min", seconds / 3600, seconds % 3600 / 60)
        }
        _ => format!("{}\u{a0}days", seconds / 86_400),
    }
}

/// The time since an instant, such as `12 min ago`.
pub fn ago(at: Timestamp, now: Timestamp) -> String {
    let seconds = (now.milliseconds() - at.milliseconds()) / 1000;
    if seconds < 5 { "now".to_owned() } else { format!("{}\u{a0}ago", span(seconds)) }
}

/// A share in percent, such as `83 %`; a dash if the whole is 0.
#[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
pub fn share(part: i64, whole: i64) -> String {
    match whole {
        0 => "–".to_owned(),
        _ => format!("{:.0} %", part as f64 * 100.0 / whole as f64),
    }
}

/// A count, such as `1 204`.
#[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
pub fn count(count: i64) -> String {
    grouped(count as f64, 0)
}

/// A short duration: `120 ms`, `2.5 s`. From a minute on, it has the format of [`span`].
#[expect(clippy::cast_precision_loss, reason = "seconds")]
pub fn brief(milliseconds: i64) -> String {
    match milliseconds {
        i64::MIN..1000 => format!("{milliseconds} ms"),
        1000..60_000 => format!("{} s", number(milliseconds as f64 / 1000.0)),
        _ => span(milliseconds / 1000),
    }
}
