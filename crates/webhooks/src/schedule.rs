//! When a failed delivery is repeated.

use lyceum_core::time::Timestamp;

/// Seconds until a delivery is repeated after each failure. After one failure more, it is dead.
pub const RETRY_DELAYS_S: [i64; 7] = [5, 30, 120, 600, 3600, 6 * 3600, 6 * 3600];

/// When to repeat a delivery that has failed `attempts` times; `None` if it is dead. `jitter` is a random number in
/// `0.0..1.0`, which spreads repetitions by a tenth in both directions.
pub fn next_attempt(now: Timestamp, attempts: i64, jitter: f64) -> Option<Timestamp> {
    let number = usize::try_from(attempts - 1).ok()?;
    let delay_s = *RETRY_DELAYS_S.get(number)?;
    #[expect(clippy::cast_possible_truncation, reason = "jitter is below 1")]
    let percent = 90 + (jitter * 21.0) as i64;
    Some(Timestamp::from_milliseconds(now.milliseconds() + delay_s * 10 * percent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pauses_between_attempts_grow_until_the_delivery_is_dead() {
        let now = Timestamp::from_milliseconds(1_000);
        let delay_ms = |attempts, jitter| {
            Some(next_attempt(now, attempts, jitter)?.milliseconds() - now.milliseconds())
        };
        assert_eq!(delay_ms(1, 0.0), Some(4_500));
        assert_eq!(delay_ms(1, 0.5), Some(5_000));
        assert_eq!(delay_ms(1, 0.999), Some(5_500));
        assert_eq!(delay_ms(3, 0.5), Some(120_000));
        assert_eq!(delay_ms(7, 0.5), Some(6 * 3_600_000));
        assert_eq!(delay_ms(8, 0.5), None);
    }
}
