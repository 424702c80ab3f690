//! Policies: how lessons of a type are asked, scored and rewarded, as data.

use lyceum_core::messages::MUST_BE_OBJECT;
use lyceum_core::{Detail, Message, Problem, Result, body, message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::limits;
use crate::{ByDifficulty, Difficulty, LessonType};

/// The rules by which lessons of a type ask, score and reward. [`Policy::read`] checks them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Policy {
    /// The type of lessons that it is for.
    pub lesson_type: LessonType,
    /// Its name for people.
    pub name: String,
    /// How answers change the score.
    pub scoring: Scoring,
    /// How the next question is chosen.
    pub strategy: Strategy,
    /// The percentage of correct answers at which a test counts as mastered. A lesson with scoring by steps is
    /// mastered when it is complete.
    pub mastery: u8,
    /// The rewards of a complete attempt: one row for the first attempt, one for the second, and so on. The last row
    /// also applies to all later attempts. The gates of a row are sorted from highest to lowest.
    pub xp: Vec<Vec<RewardGate>>,
}

/// How answers change the score, which is a whole number from 0 to 100.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Scoring {
    /// The score is the percentage of correct answers, cut to a whole number. An attempt is complete when every
    /// question is answered.
    Share,
    /// The score goes up and down by points. An attempt is complete when the score is 100.
    Steps {
        /// The points that a correct answer adds, by the score before it.
        right: Vec<ScoreStep>,
        /// The points that a wrong answer subtracts, by the score before it.
        wrong: Vec<ScoreStep>,
    },
}

/// The points for scores from `from` up to the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScoreStep {
    /// The lowest score that it applies to.
    pub from: u8,
    /// The number of points.
    pub points: u8,
}

/// How the next question is chosen. A strategy has access to the bank with its calibration and to the log with every
/// score, so that one that estimates abilities would need no further data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Strategy {
    /// All questions once, in the order of the bank.
    InOrder,
    /// The score determines the difficulty. If it allows several, a random draw decides.
    Bands {
        /// The difficulties by score.
        table: Vec<DifficultyBand>,
        /// The difficulties to try, in this order, if the wanted difficulty has no question as fresh.
        climb: ByDifficulty<[Difficulty; 2]>,
    },
}

/// The difficulties for scores from `from` up to the next band.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DifficultyBand {
    /// The lowest score that it applies to.
    pub from: u8,
    /// How often each difficulty is asked, in percent; they add up to 100.
    pub shares: ByDifficulty<u8>,
}

/// The reward for a percentage of correct answers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RewardGate {
    /// The lowest percentage of correct answers.
    pub from: u8,
    /// The share of the lesson's XP; 1 is all of them.
    pub multiplier: f64,
}

/// The built-in policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuiltInPolicy {
    /// The platform's default: a second attempt earns 1.0 for 100 % and 0.5 from 80 % on.
    Standard,
    /// The same, except that a second attempt earns 0.5 of what the first would have, a third 0.25, and later ones
    /// nothing.
    Diminishing,
}

impl BuiltInPolicy {
    /// All built-in policies.
    pub const ALL: [Self; 2] = [Self::Standard, Self::Diminishing];

    /// The name of its policies.
    pub fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Diminishing => "diminishing",
        }
    }

    /// The one with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|shipped| shipped.name() == name)
    }

    fn xp(self) -> Vec<Vec<RewardGate>> {
        let row = |full: f64, most: f64| {
            vec![
                RewardGate { from: 100, multiplier: full },
                RewardGate { from: 80, multiplier: most },
            ]
        };
        match self {
            Self::Standard => vec![row(1.25, 1.0), row(1.0, 0.5)],
            Self::Diminishing => {
                vec![row(1.25, 1.0), row(1.25 * 0.5, 0.5), row(1.25 * 0.25, 0.25), Vec::new()]
            }
        }
    }
}

impl Policy {
    /// The default policy for a type.
    pub fn shipped(lesson_type: LessonType) -> Self {
        Self::of(lesson_type, BuiltInPolicy::Standard)
    }

    /// A built-in policy.
    pub fn of(lesson_type: LessonType, shipped: BuiltInPolicy) -> Self {
        let is_stepped = lesson_type == LessonType::Powerpath100;
        Self {
            lesson_type,
            name: shipped.name().to_owned(),
            scoring: if is_stepped { steps() } else { Scoring::Share },
            strategy: if is_stepped { bands() } else { Strategy::InOrder },
            mastery: match lesson_type {
                LessonType::Placement | LessonType::TestOut => 90,
                _ => 80,
            },
            xp: shipped.xp(),
        }
    }

    /// Reads a policy. Errors: `Invalid`, with the path of each error.
    pub fn read(value: &Value) -> Result<Self> {
        if !value.is_object() {
            return Err(Problem::invalid("policy", MUST_BE_OBJECT));
        }
        let policy: Self = body::of(value.clone())?;
        let mut faults = Faults::default();
        policy.check(&mut faults);
        match faults.0.is_empty() {
            true => Ok(policy),
            false => Err(Problem::invalid_all(faults.0)),
        }
    }

    fn check(&self, faults: &mut Faults) {
        if self.name.is_empty() || self.name.len() > limits::POLICY_NAME_MAX_BYTES {
            let most = limits::POLICY_NAME_MAX_BYTES;
            faults.add("name", message!("must have 1 to {most} bytes"));
        }
        let is_stepped = self.lesson_type == LessonType::Powerpath100;
        match &self.scoring {
            Scoring::Share if is_stepped => {
                faults.add(
                    "scoring",
                    "must be 'steps', because a powerpath-100 lesson ends at a score",
                );
            }
            Scoring::Steps { .. } if !is_stepped => {
                let kind = self.lesson_type;
                faults.add(
                    "scoring",
                    message!(
                        "must be 'share', because a {kind} lesson ends with its last \
                    question"
                    ),
                );
            }
            Scoring::Share => {}
            Scoring::Steps { right, wrong } => {
                check_steps(right, "scoring.steps.right", 1, faults);
                check_steps(wrong, "scoring.steps.wrong", 0, faults);
            }
        }
        match &self.strategy {
            Strategy::InOrder if is_stepped => {
                faults.add(
                    "strategy",
                    "must be 'bands', because the score of a powerpath-100 lesson selects \
                its questions",
                );
            }
            Strategy::Bands { .. } if !is_stepped => {
                let kind = self.lesson_type;
                faults.add(
                    "strategy",
                    message!(
                        "must be 'in-order', because a {kind} lesson is asked in the \
                    order of its test"
                    ),
                );
            }
            Strategy::InOrder => {}
            Strategy::Bands { table, climb } => check_bands(table, *climb, faults),
        }
        if self.mastery > 100 {
            faults.add("mastery", message!("must be at most 100 %: got {self.mastery}"));
        }
        check_xp(&self.xp, faults);
    }
}

#[derive(Default)]
struct Faults(Vec<Detail>);

impl Faults {
    fn add(&mut self, path: impl Into<String>, message: impl Into<Message>) {
        self.0.push(Detail { path: path.into(), message: message.into() });
    }

    /// Checks that scores from 0 to 99 are covered without a gap: the first begins at 0, and each one after the
    /// previous one.
    fn cover(&mut self, path: &str, from: impl Iterator<Item = u8>) {
        let mut before = None;
        for (place, from) in from.enumerate() {
            let path = format!("{path}[{place}].from");
            match before {
                None if from != 0 => {
                    self.add(path, "must begin with a row from 0, so that every score is covered");
                }
                Some(before) if from <= before => {
                    self.add(
                        path,
                        message!("must be in rising order: {from} comes after {before}"),
                    );
                }
                _ if from > 99 => {
                    self.add(path, "must begin at 99 or below, because an attempt ends at 100");
                }
                _ => {}
            }
            before = Some(from);
        }
        if before.is_none() {
            self.add(path, "must cover the scores from 0 to 99; add a row from 0");
        }
    }
}

fn check_steps(steps: &[ScoreStep], path: &str, least: u8, faults: &mut Faults) {
    faults.cover(path, steps.iter().map(|step| step.from));
    for (place, step) in steps.iter().enumerate() {
        if !(least..=100).contains(&step.points) {
            let message = message!("must be from {least} to 100 points: got {step.points}");
            faults.add(format!("{path}[{place}].points"), message);
        }
    }
}

fn check_bands(
    table: &[DifficultyBand],
    climb: ByDifficulty<[Difficulty; 2]>,
    faults: &mut Faults,
) {
    faults.cover("strategy.bands.table", table.iter().map(|band| band.from));
    for (place, band) in table.iter().enumerate() {
        let sum: u32 = Difficulty::ALL.iter().map(|of| u32::from(band.shares[*of])).sum();
        if sum != 100 {
            let message = message!("must add up to 100 %: got {sum} %");
            faults.add(format!("strategy.bands.table[{place}].shares"), message);
        }
    }
    for from in Difficulty::ALL {
        let [first, second] = climb[from];
        if first == from || second == from || first == second {
            let message = "must name the two other difficulties, the nearer one first";
            faults.add(format!("strategy.bands.climb.{from}"), message);
        }
    }
}

fn check_xp(rows: &[Vec<RewardGate>], faults: &mut Faults) {
    if rows.is_empty() || rows.len() > limits::POLICY_ATTEMPTS_MAX_COUNT {
        let most = limits::POLICY_ATTEMPTS_MAX_COUNT;
        faults.add("xp", message!("must have a row for 1 to {most} attempts"));
    }
    for (attempt, row) in rows.iter().enumerate().take(limits::POLICY_ATTEMPTS_MAX_COUNT) {
        let mut before = 101;
        for (place, gate) in row.iter().enumerate() {
            let path = format!("xp[{attempt}][{place}]");
            if gate.from >= before {
                let message = "must be in falling order, starting at 100 % or below";
                faults.add(format!("{path}.from"), message);
            }
            before = gate.from;
            let most = f64::from(limits::POLICY_MULTIPLIER_MAX_RATIO);
            if !(0.0..=most).contains(&gate.multiplier) {
                let message = message!("must be from 0 to {most}: got {gate.multiplier}");
                faults.add(format!("{path}.multiplier"), message);
            }
        }
    }
}

/// Correct answers: 14 points, less one for each ten points of the score. Wrong answers: 1 to 8 points, more as the
/// score rises.
fn steps() -> Scoring {
    let right = (0..10).map(|tens| ScoreStep { from: tens * 10, points: 14 - tens });
    let wrong = [(0, 1), (20, 2), (30, 3), (40, 4), (50, 5), (70, 6), (80, 7), (90, 8)];
    Scoring::Steps {
        right: right.collect(),
        wrong: wrong.map(|(from, points)| ScoreStep { from, points }).to_vec(),
    }
}

fn bands() -> Strategy {
    use Difficulty::{Easy, Hard, Medium};
    let band = |from, easy, medium, hard| DifficultyBand {
        from,
        shares: ByDifficulty { easy, medium, hard },
    };
    Strategy::Bands {
        table: vec![band(0, 100, 0, 0), band(70, 0, 75, 25), band(90, 0, 0, 100)],
        climb: ByDifficulty { easy: [Medium, Hard], medium: [Hard, Easy], hard: [Medium, Easy] },
    }
}
