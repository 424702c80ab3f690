//! The reward of a complete attempt, at every gate.

use lyceum_adaptive::engine::{AnswerCounts, Credit, credit};
use lyceum_adaptive::{BuiltInPolicy, LessonType, Policy};
use proptest::prelude::*;

/// Right answers, answers, and the accuracy that is shown.
const COUNTS: [(u32, u32, f64); 8] = [
    (10_000, 10_000, 100.0),
    (9999, 10_000, 99.99),
    (8000, 10_000, 80.0),
    (7999, 10_000, 79.99),
    (0, 10_000, 0.0),
    (1, 1, 100.0),
    (11, 12, 91.66),
    (0, 0, 0.0),
];

/// The multipliers of an attempt for each of [`COUNTS`].
fn earned(policy: &Policy, attempt: u32) -> [f64; 8] {
    COUNTS.map(|(right, total, accuracy)| {
        let credit = credit(policy, 20.0, attempt, &AnswerCounts::of(right, total));
        assert_eq!(credit.accuracy.to_bits(), accuracy.to_bits(), "{right} of {total}");
        assert_eq!(credit.xp.to_bits(), (20.0 * credit.multiplier).to_bits());
        credit.multiplier
    })
}

#[test]
fn each_attempt_earns_the_xp_of_its_accuracy() {
    for lesson_type in LessonType::ALL {
        let policy = Policy::shipped(lesson_type);
        assert_eq!(earned(&policy, 1), [1.25, 1.0, 1.0, 0.0, 0.0, 1.25, 1.0, 0.0]);
        for attempt in [2, 3, 4, 100, u32::MAX] {
            assert_eq!(earned(&policy, attempt), [1.0, 0.5, 0.5, 0.0, 0.0, 1.0, 0.5, 0.0]);
        }
    }
}

#[test]
fn the_other_policy_pays_less_for_every_attempt() {
    let policy = Policy::of(LessonType::Quiz, BuiltInPolicy::Diminishing);
    assert_eq!(earned(&policy, 1), [1.25, 1.0, 1.0, 0.0, 0.0, 1.25, 1.0, 0.0]);
    assert_eq!(earned(&policy, 2), [0.625, 0.5, 0.5, 0.0, 0.0, 0.625, 0.5, 0.0]);
    assert_eq!(earned(&policy, 3), [0.3125, 0.25, 0.25, 0.0, 0.0, 0.3125, 0.25, 0.0]);
    for attempt in [4, 5, u32::MAX] {
        assert_eq!(earned(&policy, attempt), [0.0; 8]);
    }
}

#[test]
fn mastery_begins_exactly_at_its_gate() {
    let mastered = |lesson_type, right, total| {
        let Credit { mastered, .. } =
            credit(&Policy::shipped(lesson_type), 1.0, 1, &AnswerCounts::of(right, total));
        mastered
    };
    for lesson_type in [LessonType::Placement, LessonType::TestOut] {
        assert!(mastered(lesson_type, 9, 10));
        assert!(!mastered(lesson_type, 8999, 10_000));
    }
    for lesson_type in [LessonType::Quiz, LessonType::UnitTest, LessonType::Reading] {
        assert!(mastered(lesson_type, 4, 5));
        assert!(!mastered(lesson_type, 7999, 10_000));
    }
    for lesson_type in LessonType::ALL {
        assert!(!mastered(lesson_type, 0, 0), "nothing is mastered by a test without questions");
        assert!(mastered(lesson_type, u32::MAX, u32::MAX));
        let is_stepped = lesson_type == LessonType::Powerpath100;
        assert_eq!(mastered(lesson_type, 0, u32::MAX), is_stepped, "a score of 100 is mastery");
    }
}

proptest! {
    /// The accuracy is shown with two decimals, and never at a gate that was not reached.
    #[test]
    fn accuracy_is_never_rounded_up_to_a_gate(total in 1..=u32::MAX, part in 0.0..=1.0_f64) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within total")]
        let correct = ((f64::from(total) * part) as u32).min(total);
        let credit = credit(&Policy::shipped(LessonType::Quiz), 1.0, 1, &AnswerCounts::of(correct, total));
        prop_assert_eq!(credit.accuracy >= 80.0, credit.multiplier > 0.0);
        prop_assert_eq!(credit.accuracy >= 100.0, credit.multiplier > 1.0);
        prop_assert_eq!(credit.accuracy >= 80.0, credit.mastered);
        prop_assert_eq!(credit.accuracy.to_string().split('.').nth(1).map_or(0, str::len).max(2), 2);
    }
}
