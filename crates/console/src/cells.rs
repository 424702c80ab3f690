//! Cells for kinds of values that appear in several lists.

use crate::language::ValueInText;
use crate::{Cell, words};

impl Cell {
    /// A whole number.
    pub fn count<N: Into<serde_json::Value> + ValueInText>(count: N) -> Self {
        let shown = count.text();
        Self::of(count, shown)
    }

    /// A number with at most one decimal, computed from thousandths.
    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
    pub fn thousandths(thousandths: i64) -> Self {
        Self::of(thousandths as f64 / 1000.0, words::thousandths(thousandths))
    }

    /// Minutes, computed from milliseconds.
    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
    pub fn minutes(milliseconds: i64) -> Self {
        let minutes = milliseconds as f64 / 60_000.0;
        Self::of(minutes, words::number(minutes))
    }

    /// A part of a whole in percent; a dash if the whole is 0.
    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
    pub fn share(part: i64, whole: i64) -> Self {
        match whole {
            0 => Self::none(),
            _ => Self::of(part as f64 * 100.0 / whole as f64, words::share(part, whole)),
        }
    }
}
