//! The choice of the next question.

use lyceum_adaptive::engine::{AnswerLog, QuestionChoice, QuestionReason, next, remaining, stream};
use lyceum_adaptive::{ByDifficulty, Difficulty, DifficultyBand, LessonType, Policy, Strategy};
use proptest::prelude::*;

use crate::kit::{answer, attempt, bank, jump_to, powerpath};

use Difficulty::{Easy, Hard, Medium};

/// The two difficulties of a choice by bands: wanted and served.
fn difficulties(choice: &QuestionChoice) -> (Difficulty, Difficulty) {
    match choice.reason {
        QuestionReason::Bands { wanted, served, .. } => (wanted, served),
        QuestionReason::InOrder { .. } => panic!("{choice:?}"),
    }
}

/// The choices at a score, over many seeds; the log holds one answer to the first question.
fn at_score(score: u8, seeds: u64) -> Vec<QuestionChoice> {
    let (policy, bank) = (jump_to(score), bank(20, 20, 20));
    let log = AnswerLog { earlier: Vec::new(), answers: vec![answer(0, true)] };
    (0..seeds).filter_map(|seed| next(&policy, &bank, &log, &mut stream(seed, 1))).collect()
}

#[test]
fn each_score_draws_the_difficulties_of_its_band() {
    let golden: [(u8, &[Difficulty]); 6] = [
        (0, &[Easy]),
        (69, &[Easy]),
        (70, &[Medium, Hard]),
        (89, &[Medium, Hard]),
        (90, &[Hard]),
        (99, &[Hard]),
    ];
    for (score, expected) in golden {
        let mut seen: Vec<_> = at_score(score, 200).iter().map(|it| difficulties(it).0).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, expected, "at {score}");
    }
    assert_eq!(at_score(100, 200), []);
}

/// Whether counts agree with their expectations, up to what happens once in 1000 times.
fn agree(counts: &[f64], expected: &[f64], bound: f64) {
    let chi_square: f64 = counts.iter().zip(expected).map(|(n, of)| (n - of) * (n - of) / of).sum();
    assert!(chi_square < bound, "{chi_square}: {counts:?}, expected {expected:?}");
}

#[test]
fn many_draws_have_the_shares_of_their_band() {
    const DRAWS: u32 = 100_000;
    let bank = bank(4, 4, 4);
    let shares = [(0, 75, 25), (50, 30, 20), (1, 98, 1)];
    for (n, (easy, medium, hard)) in shares.into_iter().enumerate() {
        let mut policy = powerpath();
        let Strategy::Bands { table, .. } = &mut policy.strategy else { panic!("{policy:?}") };
        *table = vec![DifficultyBand { from: 0, shares: ByDifficulty { easy, medium, hard } }];
        let (mut counts, mut places) = ([0.0; 3], [0.0; 12]);
        for seed in 0..u64::from(DRAWS) {
            let seed = seed + 1_000_000 * n as u64;
            let choice = next(&policy, &bank, &AnswerLog::default(), &mut stream(seed, 0)).unwrap();
            counts[difficulties(&choice).1 as usize] += 1.0;
            places[choice.question as usize] += 1.0;
        }
        let share = |of: u8| f64::from(DRAWS) * f64::from(of) / 100.0;
        let expected = [easy, medium, hard].map(share);
        let drawn = |of: &[f64]| of.iter().copied().filter(|n| *n > 0.0).collect::<Vec<_>>();
        assert_eq!(drawn(&counts).len(), drawn(&expected).len(), "{counts:?}");
        agree(&drawn(&counts), &drawn(&expected), 13.8); // 2 degrees of freedom
        let each: Vec<f64> = (0..12).map(|place| expected[place % 3] / 4.0).collect();
        agree(&drawn(&places), &drawn(&each), 31.3); // 11 degrees of freedom
    }
}

#[test]
fn an_exhausted_difficulty_is_replaced_by_the_next_one() {
    let (policy, bank) = (powerpath(), bank(1, 1, 2));
    let log = |asked: &[u32]| AnswerLog {
        earlier: Vec::new(),
        answers: asked.iter().map(|place| answer(*place, false)).collect(),
    };
    let choose = |asked: &[u32]| next(&policy, &bank, &log(asked), &mut stream(3, asked.len()));
    let served = |asked: &[u32]| difficulties(&choose(asked).unwrap());
    // Places: easy 0, medium 1, hard 2 and 3. Nothing but wrong answers: easy is wanted.
    assert_eq!(served(&[]), (Easy, Easy));
    assert_eq!(served(&[0]), (Easy, Medium));
    assert_eq!(served(&[0, 1]), (Easy, Hard));
    assert_eq!(served(&[0, 1, 2]), (Easy, Hard));
    // All were asked: the wanted difficulty again, then what was asked once.
    assert_eq!(served(&[0, 1, 2, 3]), (Easy, Easy));
    assert_eq!(served(&[0, 1, 2, 3, 0]), (Easy, Medium));
    let QuestionReason::Bands { repeated, .. } = choose(&[0, 1, 2, 3]).unwrap().reason else {
        panic!()
    };
    assert!(repeated);
}

#[test]
fn exhausted_hard_questions_are_replaced_by_medium_and_then_easy_ones() {
    let (policy, bank) = (jump_to(95), bank(2, 1, 1));
    // Places: easy 0 and 3, medium 1, hard 2. The first answer leads to 95, where hard is wanted.
    let mut log = AnswerLog { earlier: Vec::new(), answers: vec![answer(0, true)] };
    let mut served = Vec::new();
    for _ in 0..3 {
        let seed = log.answers.len();
        let choice = next(&policy, &bank, &log, &mut stream(5, seed)).unwrap();
        served.push(difficulties(&choice));
        // To the same score again: down to 0, and up.
        log.answers.extend([answer(choice.question, false), answer(choice.question, true)]);
    }
    assert_eq!(served, [(Hard, Hard), (Hard, Medium), (Hard, Easy)]);
}

#[test]
fn questions_of_former_attempts_wait_until_new_ones_are_used_up() {
    let (policy, bank) = (powerpath(), bank(3, 0, 1));
    // Places: easy 0, hard 1, easy 2 and 3.
    let choose = |earlier: &[u32], asked: &[u32]| {
        let answers = asked.iter().map(|place| answer(*place, false)).collect();
        let log = AnswerLog { earlier: earlier.to_vec(), answers };
        next(&policy, &bank, &log, &mut stream(11, asked.len())).unwrap().question
    };
    assert_eq!(choose(&[1, 1, 0, 2], &[]), 2, "the one that was never asked");
    assert_eq!(choose(&[1, 0, 1, 2], &[]), 1, "never asked comes before the right difficulty");
    assert_eq!(choose(&[2, 1, 1, 3], &[]), 2, "all were asked: easy, and the most seldom of them");
    assert_eq!(choose(&[2, 1, 1, 3], &[2]), 0, "in this attempt none twice");
    assert_eq!(choose(&[2, 1, 1, 3], &[2, 0]), 3);
    assert_eq!(choose(&[2, 1, 1, 3], &[2, 0, 3]), 1);
}

#[test]
fn approval_does_not_affect_the_choice() {
    let policy = powerpath();
    let mut bank = bank(10, 0, 0);
    let choose = |bank: &_| next(&policy, bank, &AnswerLog::default(), &mut stream(1, 0));
    let chosen = choose(&bank);
    for question in &mut bank.questions {
        question.approved = !question.approved;
    }
    assert_eq!(choose(&bank), chosen);
}

#[test]
fn tests_ask_every_question_once_in_its_order() {
    use LessonType::{Placement, Quiz, Reading, TestOut, UnitTest};
    let bank = bank(2, 2, 2);
    for lesson_type in [Quiz, UnitTest, TestOut, Placement, Reading] {
        let policy = Policy::shipped(lesson_type);
        let (past, choices) = attempt(&policy, &bank, vec![9; 6], 1, 0.5, 100);
        let asked: Vec<u32> = choices.iter().map(|choice| choice.question).collect();
        assert_eq!(asked, [0, 1, 2, 3, 4, 5]);
        let jumped = AnswerLog { earlier: Vec::new(), answers: past.log.answers[..2].to_vec() };
        let skipped = AnswerLog { answers: vec![answer(0, true), answer(4, false)], ..jumped };
        let choice = next(&policy, &bank, &skipped, &mut stream(1, 2)).unwrap();
        assert_eq!(choice.reason, QuestionReason::InOrder { place: 1 });
    }
}

#[test]
fn a_bank_without_questions_asks_nothing() {
    for lesson_type in LessonType::ALL {
        let policy = Policy::shipped(lesson_type);
        assert_eq!(next(&policy, &bank(0, 0, 0), &AnswerLog::default(), &mut stream(1, 0)), None);
    }
}

#[test]
fn remaining_questions_are_those_not_asked_in_this_attempt() {
    let log = AnswerLog { earlier: vec![1; 6], answers: vec![answer(0, true), answer(0, true)] };
    let left = remaining(&bank(3, 2, 1), &log);
    assert_eq!(left, ByDifficulty { easy: 2, medium: 2, hard: 1 });
}

proptest! {
    /// Properties that hold at every step of every attempt, on banks of any mixture.
    #[test]
    fn no_question_is_repeated_while_a_fresher_one_exists(
        (easy, medium, hard) in (0..6_usize, 0..6_usize, 0..6_usize),
        earlier in prop::collection::vec(0..3_u32, 0..20),
        seed in any::<u64>(),
        chance in 0.0..1.0_f64,
    ) {
        let (policy, bank) = (powerpath(), bank(easy, medium, hard));
        let Strategy::Bands { climb, .. } = &policy.strategy else { panic!("{policy:?}") };
        let (past, choices) = attempt(&policy, &bank, earlier.clone(), seed, chance, 40);
        let mut here = vec![0_u32; bank.questions.len()];
        for (choice, answer) in choices.iter().zip(&past.log.answers) {
            let before = |place: usize| earlier.get(place).copied().unwrap_or(0);
            // Worse is larger: asked in this attempt, how often; asked ever.
            let wear = |place: usize| (here[place], u32::from(here[place] == 0 && before(place) > 0));
            let chosen = choice.question as usize;
            let least = (0..here.len()).map(wear).min().unwrap();
            prop_assert_eq!(wear(chosen), least, "something fresher was there");
            let (wanted, served) = difficulties(choice);
            prop_assert_eq!(bank.questions[chosen].difficulty, served);
            let freshest = |of: Difficulty| {
                (0..here.len()).any(|at| bank.questions[at].difficulty == of && wear(at) == least)
            };
            let nearest = [wanted, climb[wanted][0], climb[wanted][1]].into_iter().find(|of| freshest(*of));
            prop_assert_eq!(Some(served), nearest, "a nearer difficulty was as fresh");
            let QuestionReason::Bands { unseen, repeated, earlier: times, draw, .. } = &choice.reason else {
                panic!("{choice:?}")
            };
            let never = |of| (0..here.len()).filter(|at| {
                bank.questions[*at].difficulty == of && wear(*at) == (0, 0)
            }).count();
            for of in Difficulty::ALL {
                prop_assert_eq!(unseen[of] as usize, never(of));
            }
            prop_assert_eq!(*repeated, here[chosen] > 0);
            prop_assert_eq!(*times, before(chosen));
            prop_assert!(draw.pick < draw.of && draw.share < 100);
            here[answer.question as usize] += 1;
        }
    }
}
