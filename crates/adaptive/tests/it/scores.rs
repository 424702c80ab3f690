//! Scores of powerpath-100 and of tests.

use lyceum_adaptive::engine::{Answer, WHOLE, counted, is_complete, score_after, score_of};
use lyceum_adaptive::{LessonType, Policy};
use proptest::prelude::*;

use crate::kit::{answer, attempt, bank, powerpath};

#[test]
fn steps_at_every_boundary() {
    // Score, after a right answer, after a wrong one.
    let golden = [
        (0, 14, 0),
        (1, 15, 0),
        (9, 23, 8),
        (10, 23, 9),
        (19, 32, 18),
        (20, 32, 18),
        (29, 41, 27),
        (30, 41, 27),
        (39, 50, 36),
        (40, 50, 36),
        (49, 59, 45),
        (50, 59, 45),
        (59, 68, 54),
        (60, 68, 55),
        (69, 77, 64),
        (70, 77, 64),
        (79, 86, 73),
        (80, 86, 73),
        (89, 95, 82),
        (90, 95, 82),
        (95, 100, 87),
        (99, 100, 91),
        (100, 100, 92),
    ];
    let policy = powerpath();
    for (score, right, wrong) in golden {
        assert_eq!(score_after(&policy, score, Some(WHOLE)), right, "right at {score}");
        assert_eq!(score_after(&policy, score, Some(0)), wrong, "wrong at {score}");
    }
}

/// Half right at 50: half of 9 up less half of 5 down is 2.
#[test]
fn a_partial_score_moves_by_its_share_of_the_steps() {
    let policy = powerpath();
    for (score, share, after) in [
        (50, WHOLE / 2, 52),
        (0, WHOLE / 2, 7),
        (0, 1, 0),
        (98, WHOLE - 1, 100),
        (90, WHOLE / 4, 85),
        (90, WHOLE / 3, 86),
    ] {
        assert_eq!(score_after(&policy, score, Some(share)), after, "{share} at {score}");
    }
    assert_eq!(score_after(&policy, 50, None), 50, "a person has not scored it yet");
}

#[test]
fn a_test_scores_partial_credit_and_leaves_out_pending_answers() {
    let policy = Policy::shipped(LessonType::Quiz);
    let with = |shares: &[Option<u32>]| -> Vec<Answer> {
        let all = (0..).zip(shares);
        all.map(|(place, share)| Answer { share: *share, ..answer(place, false) }).collect()
    };
    let half = Some(WHOLE / 2);
    let golden: [(&[Option<u32>], u8); 4] = [
        (&[Some(WHOLE), half], 75),
        (&[Some(WHOLE), half, None], 75),
        (&[None], 0),
        (&[half, half, Some(WHOLE - 1)], 66),
    ];
    for (shares, score) in golden {
        assert_eq!(score_of(&policy, &with(shares)), score, "{shares:?}");
    }
    let counts = counted(&policy, &with(&[Some(WHOLE), half, None]));
    assert_eq!((counts.correct, counts.total, counts.pending), (1, 2, 1));
}

#[test]
fn steps_follow_the_published_formula() {
    let policy = powerpath();
    for score in 0..100_u8 {
        let up = (14 - score / 10).max(4);
        assert_eq!(
            score_after(&policy, score, Some(WHOLE)),
            (score + up).min(100),
            "right at {score}"
        );
        let down = match score {
            90.. => 8,
            80.. => 7,
            70.. => 6,
            50.. => 5,
            40.. => 4,
            30.. => 3,
            20.. => 2,
            _ => 1,
        };
        let after = score.saturating_sub(down);
        assert_eq!(score_after(&policy, score, Some(0)), after, "wrong at {score}");
    }
}

#[test]
fn eleven_right_answers_from_zero_end_an_attempt() {
    let (policy, bank) = (powerpath(), bank(20, 20, 20));
    let (past, choices) = attempt(&policy, &bank, Vec::new(), 7, 1.0, 100);
    assert_eq!(choices.len(), 11);
    let course: Vec<u8> =
        (0..=11).map(|answers| score_of(&policy, &past.log.answers[..answers])).collect();
    assert_eq!(course, [0, 14, 27, 39, 50, 59, 68, 76, 83, 89, 95, 100]);
    assert!(is_complete(&policy, &bank, &past.log));
}

/// The expectations of the chain of scores, solved exactly: 13.49, 17.03 and 22.99 answers for students
/// who are right in 90, 80 and 70 of 100.
#[test]
fn attempts_have_the_length_that_follows_from_the_steps() {
    let (policy, bank) = (powerpath(), bank(60, 60, 60));
    for (chance, expected) in [(0.9, 13.49), (0.8, 17.03), (0.7, 22.99)] {
        let lengths = (0..1000).map(|seed| {
            let (past, _) = attempt(&policy, &bank, Vec::new(), seed, chance, 1000);
            u32::try_from(past.log.answers.len()).unwrap()
        });
        let mean = f64::from(lengths.sum::<u32>()) / 1000.0;
        assert!((mean - expected).abs() < 0.8, "{mean} questions at {chance}");
    }
}

#[test]
fn a_test_scores_the_share_of_right_answers() {
    let policy = Policy::shipped(LessonType::Quiz);
    let score = |right: u32, of: u32| {
        let answers: Vec<_> = (0..of).map(|place| answer(place, place < right)).collect();
        score_of(&policy, &answers)
    };
    let golden = [(0, 0, 0), (0, 5, 0), (11, 12, 91), (2, 3, 66), (99, 100, 99), (1999, 2000, 99)];
    for (right, of, expected) in golden {
        assert_eq!(score(right, of), expected, "{right} of {of}");
    }
    assert_eq!(score(2000, 2000), 100);
}

#[test]
fn a_test_is_complete_once_every_question_is_answered() {
    let (policy, bank) = (Policy::shipped(LessonType::UnitTest), bank(1, 1, 1));
    let mut log = lyceum_adaptive::engine::AnswerLog::default();
    for question in [2, 0, 0] {
        log.answers.push(answer(question, true));
        assert!(!is_complete(&policy, &bank, &log), "{:?}", log.answers);
    }
    log.answers.push(answer(1, false));
    assert!(is_complete(&policy, &bank, &log));
}

proptest! {
    #[test]
    fn a_score_stays_between_0_and_100(answers in prop::collection::vec(any::<bool>(), 0..200)) {
        let policy = powerpath();
        let mut score = 0;
        for right in &answers {
            let after = score_after(&policy, score, Some(u32::from(*right) * WHOLE));
            prop_assert!(after <= 100);
            let moved = if *right { after > score } else { after < score };
            let at_the_end = score == if *right { 100 } else { 0 };
            prop_assert!(moved || at_the_end && after == score);
            score = after;
        }
        let answers: Vec<_> = answers.iter().map(|right| answer(0, *right)).collect();
        prop_assert_eq!(score_of(&policy, &answers), score);
    }
}
