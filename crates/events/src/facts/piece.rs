//! The facts that one event adds, with their times.

use std::collections::BTreeMap;
use std::ops::Range;

use lyceum_core::time::Timestamp;

use super::{BUCKET_MS, Measure, MeasureSums};
use crate::event::Event;
use crate::limits::{FACT_VALUE_MAX_COUNT, TIME_SPENT_REACH_MAX_H, TIME_SPENT_SPAN_MAX_H};
use crate::tree::Tree;

const HOUR_MS: i64 = 60 * 60 * 1000;
/// Milliseconds from the time of an event within which all that it adds lies.
pub const REACH_MS: i64 = TIME_SPENT_REACH_MAX_H * HOUR_MS;
const SPAN_MS: i64 = TIME_SPENT_SPAN_MAX_H * HOUR_MS;

/// An amount that an event adds.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Of what.
    pub measure: Measure,
    /// The amount: XP, questions, units or seconds.
    pub value: f64,
    /// When it began and ended; none: at the time of the event.
    pub span: Option<(Timestamp, Timestamp)>,
}

impl Metric {
    /// Reads an item of an event: `{type, value, startDate?, endDate?}`, the dates also as `start_date` and
    /// `end_date`; none where its measure is unknown or it has no number.
    fn read(item: &Tree<'_>) -> Option<Self> {
        let measure = Measure::from_name(item["type"].as_str()?)?;
        let value = &item["value"];
        let value = value.as_f64().or_else(|| value.as_str()?.parse().ok())?;
        let date = |names: [&str; 2]| {
            let text = names.into_iter().find_map(|name| item[name].as_str())?;
            text.parse::<Timestamp>().ok()
        };
        let span = date(["startDate", "start_date"]).zip(date(["endDate", "end_date"]));
        Some(Self { measure, value, span })
    }
}

/// The amounts that an event adds, at an instant or evenly over a time.
#[derive(Debug)]
pub struct FactPieces(Vec<FactPiece>);

#[derive(Debug)]
struct FactPiece {
    from: i64,
    /// The first instant behind; `from` for what counts at one instant.
    to: i64,
    /// `None` where the event has no item that counts.
    amount: Option<(Measure, i64)>,
}

impl FactPieces {
    /// The amounts of an event of the custom profile; `None` for another event.
    pub fn of(event: &Event) -> Option<Self> {
        Self::of_tree(&event.tree(), event.time)
    }

    /// The amounts of the event at that time.
    pub(super) fn of_tree(event: &Tree<'_>, time: Timestamp) -> Option<Self> {
        if !matches!(event["type"].as_str(), Some("ActivityEvent" | "TimeSpentEvent")) {
            return None;
        }
        let items = event["generated"]["items"].as_list().unwrap_or_default();
        let at = time.milliseconds();
        let metrics = items.iter().filter_map(Metric::read);
        let mut pieces: Vec<FactPiece> =
            metrics.filter_map(|metric| FactPiece::of_metric(at, &metric)).collect();
        if pieces.is_empty() {
            pieces.push(FactPiece { from: at, to: at, amount: None });
        }
        Some(Self(pieces))
    }

    /// The sums by bucket, which is the number of the quarter hour since 1970-01-01T00:00:00Z.
    pub(super) fn by_bucket(&self) -> Vec<(i64, MeasureSums)> {
        let mut buckets: BTreeMap<i64, MeasureSums> = BTreeMap::new();
        for piece in &self.0 {
            let last = piece.from.max(piece.to - 1).div_euclid(BUCKET_MS);
            for bucket in piece.from.div_euclid(BUCKET_MS)..=last {
                let sums = buckets.entry(bucket).or_default();
                sums.events = 1;
                piece.add_within(bucket * BUCKET_MS, (bucket + 1) * BUCKET_MS, sums);
            }
        }
        buckets.into_iter().collect()
    }

    /// The amounts within the range of milliseconds; `None` if no part of the event is in it.
    pub fn within(&self, Range { start: from, end: to }: Range<i64>) -> Option<MeasureSums> {
        let mut sums = MeasureSums::default();
        for piece in &self.0 {
            if piece.from < to && piece.from.max(piece.to - 1) >= from {
                sums.events = 1;
                piece.add_within(from, to, &mut sums);
            }
        }
        (sums.events > 0).then_some(sums)
    }

    /// The first and the last instant that the event has a part in.
    pub fn extent(&self) -> (Timestamp, Timestamp) {
        let first = self.0.iter().map(|piece| piece.from).min();
        let last = self.0.iter().map(|piece| piece.from.max(piece.to - 1)).max();
        let instant = |at: Option<i64>| {
            Timestamp::from_milliseconds(at.expect("an event has at least one piece"))
        };
        (instant(first), instant(last))
    }
}

impl FactPiece {
    /// A metric of an event at the instant. A span that lies too far from the event or is too long is
    /// ignored: the amount counts at the event. None for a value that is not finite.
    fn of_metric(at: i64, metric: &Metric) -> Option<Self> {
        let amount = thousandths(metric.value)?;
        let span = metric.span.map(|(from, to)| (from.milliseconds(), to.milliseconds()));
        let is_plausible = |&(from, to): &(i64, i64)| {
            from < to && to - from <= SPAN_MS && from >= at - REACH_MS && to <= at + REACH_MS
        };
        let (from, to) = span.filter(is_plausible).unwrap_or((at, at));
        Some(Self { from, to, amount: Some((metric.measure, amount)) })
    }

    /// Adds what falls between the instants. Parts of neighbouring times add up to the whole: each
    /// is the difference of two running totals that are rounded down.
    fn add_within(&self, from: i64, to: i64, sums: &mut MeasureSums) {
        let Some((measure, amount)) = self.amount else { return };
        let part = if self.from == self.to {
            if (from..to).contains(&self.from) { amount } else { 0 }
        } else {
            self.total_until(amount, to) - self.total_until(amount, from)
        };
        let sum = &mut sums.measures[measure as usize];
        // An event with many items must not bring the sum of many events beyond 64 bits.
        *sum = (*sum + part).clamp(-PART_MAX, PART_MAX);
    }

    fn total_until(&self, amount: i64, instant: i64) -> i64 {
        let passed = i128::from(instant.clamp(self.from, self.to) - self.from);
        let total = (i128::from(amount) * passed).div_euclid(i128::from(self.to - self.from));
        i64::try_from(total).expect("a part is at most the whole")
    }
}

/// The greatest amount of one measure that an event adds to a quarter hour, in thousandths.
const PART_MAX: i64 = FACT_VALUE_MAX_COUNT as i64 * 1000;

/// A number in thousandths, rounded half away from zero, held within the limit.
#[expect(clippy::cast_possible_truncation, reason = "held within the limit before")]
fn thousandths(number: f64) -> Option<i64> {
    let most = f64::from(FACT_VALUE_MAX_COUNT);
    number.is_finite().then(|| (number.clamp(-most, most) * 1000.0).round() as i64)
}
