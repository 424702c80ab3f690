//! Logs of the past, under their own policy and under others.

use lyceum_adaptive::engine::{
    AnswerCounts, AnswerLog, AttemptHistory, Replay, credit, replay, score_of, simulate,
};
use lyceum_adaptive::{BuiltInPolicy, LessonType, Policy, Scoring};
use proptest::prelude::*;

use crate::kit::{answer, attempt, bank, powerpath};

/// The platform's policy with other points for right answers.
fn generous(factor: u8) -> Policy {
    let mut policy = powerpath();
    let Scoring::Steps { right, .. } = &mut policy.scoring else { panic!("{policy:?}") };
    for step in right {
        step.points = (step.points * factor).min(100);
    }
    policy
}

/// These draws are part of what is stored: a release that drew otherwise could not replay the logs of
/// the one before.
#[test]
fn a_seed_draws_the_same_questions_in_every_release() {
    let (past, choices) = attempt(&powerpath(), &bank(6, 6, 6), vec![0, 2, 1], 2026, 0.8, 100);
    let asked: Vec<u32> = choices.iter().map(|choice| choice.question).collect();
    assert_eq!(
        asked,
        [12, 15, 9, 3, 0, 6, 10, 13, 16, 4, 17, 7, 14, 5, 11, 8, 2, 1, 11, 10, 8, 17]
    );
    let json = serde_json::to_string(&choices[0]).unwrap();
    assert_eq!(
        json,
        "{\"question\":12,\"reason\":{\"strategy\":\"bands\",\"score\":0,\"wanted\":\"easy\",\
         \"served\":\"easy\",\"unseen\":{\"easy\":6,\"medium\":5,\"hard\":5},\
         \"draw\":{\"share\":60,\"pick\":4,\"of\":6},\"repeated\":false,\"earlier\":0}}"
    );
    assert_eq!(score_of(&powerpath(), &past.log.answers), 100);
}

#[test]
fn a_replay_of_a_stored_log_gives_exactly_the_same_result() {
    for seed in 0..50 {
        let policy = powerpath();
        let (past, choices) = attempt(&policy, &bank(5, 5, 5), vec![1, 0, 1], seed, 0.6, 60);
        let stored = serde_json::to_string(&(&past.bank, &past.log)).unwrap();
        let (bank, log) = serde_json::from_str(&stored).unwrap();
        let policy = Policy::read(&serde_json::to_value(&policy).unwrap()).unwrap();
        let again = replay(&policy, &AttemptHistory { bank, log, ..past.clone() });
        let replayed: Vec<_> =
            again.steps.iter().map(|step| step.choice.clone().unwrap()).collect();
        assert_eq!(replayed, choices);
        assert_eq!(
            serde_json::to_string(&replayed).unwrap(),
            serde_json::to_string(&choices).unwrap()
        );
        for (n, step) in again.steps.iter().enumerate() {
            assert_eq!(Some(step.answered), step.choice.as_ref().map(|choice| choice.question));
            assert_eq!(step.before, score_of(&policy, &past.log.answers[..n]));
            assert_eq!(step.after, score_of(&policy, &past.log.answers[..=n]));
        }
    }
}

#[test]
fn larger_steps_end_an_attempt_sooner() {
    let (past, _) = attempt(&powerpath(), &bank(20, 20, 20), Vec::new(), 1, 1.0, 100);
    let change = simulate(&powerpath(), &generous(2), &past);
    assert_eq!((change.old.questions, change.old.score), (11, 100.0));
    // 28, 52 (24), 70 (18), 84 (14), 96 (12), 106.
    assert_eq!((change.new.questions, change.new.correct, change.new.score), (6, 6, 100.0));
    assert_eq!(change.new.credit, Some(credit(&powerpath(), 10.0, 1, &AnswerCounts::of(6, 6))));
}

#[test]
fn smaller_steps_leave_an_attempt_unfinished() {
    let mut slow = powerpath();
    let Scoring::Steps { right, .. } = &mut slow.scoring else { panic!("{slow:?}") };
    for step in right {
        step.points = 5;
    }
    let (past, _) = attempt(&powerpath(), &bank(20, 20, 20), Vec::new(), 1, 1.0, 100);
    let change = simulate(&powerpath(), &slow, &past);
    assert_eq!((change.new.questions, change.new.score, change.new.credit), (11, 55.0, None));
    assert!(replay(&slow, &past).next.is_some(), "it would go on");
}

#[test]
fn other_multipliers_change_only_the_xp() {
    let policy = Policy::shipped(LessonType::Quiz);
    let other = Policy::of(LessonType::Quiz, BuiltInPolicy::Diminishing);
    let (past, _) = attempt(&policy, &bank(5, 0, 0), Vec::new(), 1, 1.0, 100);
    let change = simulate(&policy, &other, &AttemptHistory { attempt: 2, ..past });
    let xp = |outcome: lyceum_adaptive::engine::ReplayedResult| outcome.credit.unwrap().xp;
    assert_eq!((xp(change.old), xp(change.new)), (10.0, 6.25));
    assert_eq!((change.old.questions, change.old.score), (change.new.questions, change.new.score));
}

/// A test is finished by its student, who may change answers until then: the last ones count.
#[test]
fn the_last_answer_to_a_question_of_a_test_counts() {
    let policy = Policy::shipped(LessonType::Quiz);
    let answers = [(2, true), (0, false), (1, true), (0, true), (2, false)];
    let answers = answers.map(|(question, right)| answer(question, right)).to_vec();
    let log = AnswerLog { earlier: Vec::new(), answers };
    let past = AttemptHistory { seed: 1, attempt: 1, base_xp: 10.0, bank: bank(3, 0, 0), log };
    let Replay { steps, next, outcome } = replay(&policy, &past);
    assert_eq!(steps.iter().map(|step| step.after).collect::<Vec<_>>(), [100, 50, 66, 100, 66]);
    assert_eq!((steps[2].choice.is_some(), steps[3].choice.is_some(), next), (true, false, None));
    assert_eq!((outcome.questions, outcome.correct, outcome.score), (3, 2, 66.66));
    assert_eq!(outcome.credit.unwrap().xp, 0.0);
}

#[test]
fn an_attempt_without_answers_replays_to_its_first_question() {
    let past = AttemptHistory {
        log: AnswerLog::default(),
        ..attempt(&powerpath(), &bank(2, 0, 0), Vec::new(), 4, 1.0, 1).0
    };
    let Replay { steps, next, outcome } = replay(&powerpath(), &past);
    assert!(steps.is_empty() && next.is_some());
    assert_eq!((outcome.questions, outcome.score, outcome.credit), (0, 0.0, None));
}

proptest! {
    /// A simulation is the replay of the same log, and answers are never made up.
    #[test]
    fn a_simulation_is_a_replay_of_the_same_log(
        seed in any::<u64>(),
        chance in 0.0..1.0_f64,
        factor in 1..6_u8,
        number in 1..5_u32,
    ) {
        let (old, new) = (powerpath(), generous(factor));
        let (past, _) = attempt(&old, &bank(8, 8, 8), Vec::new(), seed, chance, 50);
        let past = AttemptHistory { attempt: number, ..past };
        let change = simulate(&old, &new, &past);
        prop_assert_eq!(change.old, replay(&old, &past).outcome);
        let again = replay(&new, &past);
        prop_assert_eq!(change.new, again.outcome);
        prop_assert!(change.new.questions <= change.old.questions);
        for (step, answer) in again.steps.iter().zip(&past.log.answers) {
            prop_assert_eq!((step.answered, step.correct), (answer.question, answer.correct));
        }
        if factor == 1 {
            prop_assert_eq!(change.old, change.new);
        }
    }
}
