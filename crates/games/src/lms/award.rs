//! Computes the XP of an activity: one per minute of active time, multiplied by factors for accuracy and attempt.

use crate::levels::Xp;

/// The factor if all answers are correct, and the factor if at least this share is.
const PERFECT: f64 = 1.25;
const GOOD: f64 = 1.0;
const GOOD_FROM: f64 = 0.8;
/// The factors of the first, second and third attempt. Later ones earn nothing.
const ATTEMPTS: [f64; 3] = [1.0, 0.5, 0.25];

/// The outcome of an activity.
#[derive(Clone, Copy, Debug)]
pub(super) struct ActivityResult {
    pub(super) active_s: f64,
    pub(super) correct: u32,
    pub(super) total: u32,
    /// The number of the attempt, from 1.
    pub(super) attempt: i64,
}

/// The product of the factors for accuracy and attempt. An activity without questions counts as accurate.
pub(super) fn multiplier(result: ActivityResult) -> f64 {
    let of_accuracy = match (result.correct, result.total) {
        (_, 0) => GOOD,
        (correct, total) if correct >= total => PERFECT,
        (correct, total) if f64::from(correct) / f64::from(total) >= GOOD_FROM => GOOD,
        _ => 0.0,
    };
    let index = usize::try_from(result.attempt - 1).unwrap_or_default();
    of_accuracy * ATTEMPTS.get(index).copied().unwrap_or_default()
}

/// The XP, rounded to tenths.
pub(super) fn xp(result: ActivityResult) -> Xp {
    let xp = result.active_s / 60.0 * multiplier(result);
    #[expect(clippy::cast_possible_truncation, reason = "times are bounded")]
    let tenths = (xp * 10.0).round() as i64;
    Xp(tenths * 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xp_depend_on_time_accuracy_and_attempt() {
        let earned = |active_s: f64, correct, total, attempt| {
            xp(ActivityResult { active_s, correct, total, attempt }).0
        };
        assert_eq!(earned(600.0, 10, 10, 1), 12_500);
        assert_eq!(earned(600.0, 9, 10, 1), 10_000);
        assert_eq!(earned(600.0, 8, 10, 1), 10_000, "80 % is enough");
        assert_eq!(earned(600.0, 79, 100, 1), 0);
        assert_eq!(earned(600.0, 10, 10, 2), 6_300, "6.25, rounded to tenths");
        assert_eq!(earned(600.0, 10, 10, 3), 3_100);
        assert_eq!(earned(600.0, 10, 10, 4), 0);
        assert_eq!(earned(90.0, 0, 0, 1), 1_500, "no questions");
        assert_eq!(earned(0.0, 10, 10, 1), 0);
    }
}
