//! A policy: how lessons of a type are asked, scored and rewarded, as data.

use lyceum_core::{Detail, Problem, Result, limits};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ByDifficulty, Difficulty, LessonType};

/// How lessons of a type are asked, scored and rewarded. [`Policy::read`] checks what it holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Policy {
    /// The lessons that it is for.
    pub lesson_type: LessonType,
    /// What people call it.
    pub name: String,
    /// What answers do to the score.
    pub scoring: Scoring,
    /// Which question comes next.
    pub strategy: Strategy,
    /// The percentage of right answers from which a test counts as mastered; a lesson that goes by
    /// steps does when it is complete.
    pub mastery: u8,
    /// What a complete attempt earns: a row for the first attempt, one for the second, and so on; the
    /// last row is that of all later attempts, too. The gates of a row stand with the highest first.
    pub xp: Vec<Vec<Gate>>,
}

/// What answers do to the score, which is a whole number from 0 to 100.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Scoring {
    /// The percentage of right answers, cut to a whole number. An attempt is complete when every
    /// question was answered.
    Share,
    /// Points up and down. An attempt is complete when the score is 100.
    Steps {
        /// The points that a right answer adds, by the score before it.
        right: Vec<Step>,
        /// The points that a wrong answer takes, by the score before it.
        wrong: Vec<Step>,
    },
}

/// Points from a score on, up to where the next step begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The lowest score that it holds for.
    pub from: u8,
    /// How many points.
    pub points: u8,
}

/// Which question comes next. A strategy sees the bank with its calibration and the log with every
/// score, so that one that estimates an ability needs nothing further from its callers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Strategy {
    /// All questions, each once, in the order of the bank.
    InOrder,
    /// A difficulty by the score, by lot where the score allows several.
    Bands {
        /// What is asked from which score on.
        table: Vec<Band>,
        /// Where to look, in this order, when the wanted difficulty has no question as fresh.
        climb: ByDifficulty<[Difficulty; 2]>,
    },
}

/// The difficulties that are asked from a score on, up to where the next band begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Band {
    /// The lowest score that it holds for.
    pub from: u8,
    /// How often each difficulty is asked, in percent; 100 together.
    pub shares: ByDifficulty<u8>,
}

/// What an attempt earns from a percentage of right answers on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// The percentage of right answers that it takes.
    pub from: u8,
    /// The share of the lesson's XP that is earned; 1 is all of them.
    pub multiplier: f64,
}

/// The policies that are compiled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shipped {
    /// The platform's own: a second attempt earns 1.0 for 100 % and 0.5 from 80 % on.
    Standard,
    /// The same, but that a second attempt earns 0.5 of what the first would have, a third 0.25, later
    /// ones nothing.
    Diminishing,
}

impl Shipped {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Standard, Self::Diminishing];

    /// The name of its policies.
    pub fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Diminishing => "diminishing",
        }
    }

    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|shipped| shipped.name() == name)
    }

    fn xp(self) -> Vec<Vec<Gate>> {
        let row = |full: f64, most: f64| {
            vec![Gate { from: 100, multiplier: full }, Gate { from: 80, multiplier: most }]
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
    /// The platform's own policy of a type.
    pub fn shipped(lesson_type: LessonType) -> Self {
        Self::of(lesson_type, Shipped::Standard)
    }

    /// A policy that is compiled in.
    pub fn of(lesson_type: LessonType, shipped: Shipped) -> Self {
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

    /// Reads a policy. Errors: `Invalid`, with the path of each fault.
    pub fn read(value: &Value) -> Result<Self> {
        let policy: Self = serde_path_to_error::deserialize(value).map_err(|error| {
            let path = error.path().to_string();
            Problem::invalid(
                if path == "." { "policy".to_owned() } else { path },
                error.inner().to_string(),
            )
        })?;
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
            faults.add("name", format!("a name has 1 to {most} bytes"));
        }
        let is_stepped = self.lesson_type == LessonType::Powerpath100;
        match &self.scoring {
            Scoring::Share if is_stepped => {
                faults.add("scoring", "a powerpath-100 ends at a score, which takes 'steps'");
            }
            Scoring::Steps { .. } if !is_stepped => {
                let kind = self.lesson_type;
                faults.add("scoring", format!("a {kind} ends with its questions; say 'share'"));
            }
            Scoring::Share => {}
            Scoring::Steps { right, wrong } => {
                check_steps(right, "scoring.steps.right", 1, faults);
                check_steps(wrong, "scoring.steps.wrong", 0, faults);
            }
        }
        match &self.strategy {
            Strategy::InOrder if is_stepped => {
                faults.add("strategy", "a powerpath-100 is asked by its score; say 'bands'");
            }
            Strategy::Bands { .. } if !is_stepped => {
                let kind = self.lesson_type;
                faults.add("strategy", format!("a {kind} is asked in its order; say 'in-order'"));
            }
            Strategy::InOrder => {}
            Strategy::Bands { table, climb } => check_bands(table, *climb, faults),
        }
        if self.mastery > 100 {
            faults.add("mastery", format!("{} is above 100 %", self.mastery));
        }
        check_xp(&self.xp, faults);
    }
}

#[derive(Default)]
struct Faults(Vec<Detail>);

impl Faults {
    fn add(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.0.push(Detail { path: path.into(), message: message.into() });
    }

    /// Whether scores from 0 to 99 are covered without a gap: the first begins at 0, each one after
    /// it later.
    fn cover(&mut self, path: &str, from: impl Iterator<Item = u8>) {
        let mut before = None;
        for (place, from) in from.enumerate() {
            let path = format!("{path}[{place}].from");
            match before {
                None if from != 0 => {
                    self.add(path, "the first begins at 0, so that every score is covered");
                }
                Some(before) if from <= before => {
                    self.add(
                        path,
                        format!("{from} does not come after {before}; put them in rising order"),
                    );
                }
                _ if from > 99 => self.add(path, "an attempt ends at 100; begin at 99 or below"),
                _ => {}
            }
            before = Some(from);
        }
        if before.is_none() {
            self.add(path, "scores from 0 to 99 are not covered; begin one at 0");
        }
    }
}

fn check_steps(steps: &[Step], path: &str, least: u8, faults: &mut Faults) {
    faults.cover(path, steps.iter().map(|step| step.from));
    for (place, step) in steps.iter().enumerate() {
        if !(least..=100).contains(&step.points) {
            let message = format!("{} is not within {least} to 100 points", step.points);
            faults.add(format!("{path}[{place}].points"), message);
        }
    }
}

fn check_bands(table: &[Band], climb: ByDifficulty<[Difficulty; 2]>, faults: &mut Faults) {
    faults.cover("strategy.bands.table", table.iter().map(|band| band.from));
    for (place, band) in table.iter().enumerate() {
        let sum: u32 = Difficulty::ALL.iter().map(|of| u32::from(band.shares[*of])).sum();
        if sum != 100 {
            let message = format!("the shares make {sum} % together; make them 100");
            faults.add(format!("strategy.bands.table[{place}].shares"), message);
        }
    }
    for from in Difficulty::ALL {
        let [first, second] = climb[from];
        if first == from || second == from || first == second {
            let message = "name the two other difficulties, the nearer one first";
            faults.add(format!("strategy.bands.climb.{from}"), message);
        }
    }
}

fn check_xp(rows: &[Vec<Gate>], faults: &mut Faults) {
    if rows.is_empty() || rows.len() > limits::POLICY_ATTEMPTS_MAX_COUNT {
        let most = limits::POLICY_ATTEMPTS_MAX_COUNT;
        faults.add("xp", format!("a policy has a row for 1 to {most} attempts"));
    }
    for (attempt, row) in rows.iter().enumerate().take(limits::POLICY_ATTEMPTS_MAX_COUNT) {
        let mut before = 101;
        for (place, gate) in row.iter().enumerate() {
            let path = format!("xp[{attempt}][{place}]");
            if gate.from >= before {
                let message = "gates stand in falling order, from 100 % at most";
                faults.add(format!("{path}.from"), message);
            }
            before = gate.from;
            let most = f64::from(limits::POLICY_MULTIPLIER_MAX_RATIO);
            if !(0.0..=most).contains(&gate.multiplier) {
                let message = format!("{} is not within 0 to {most}", gate.multiplier);
                faults.add(format!("{path}.multiplier"), message);
            }
        }
    }
}

/// Right: 14 points less one for each ten of the score. Wrong: 1 to 8 points, more as the score rises.
fn steps() -> Scoring {
    let right = (0..10).map(|tens| Step { from: tens * 10, points: 14 - tens });
    let wrong = [(0, 1), (20, 2), (30, 3), (40, 4), (50, 5), (70, 6), (80, 7), (90, 8)];
    Scoring::Steps {
        right: right.collect(),
        wrong: wrong.map(|(from, points)| Step { from, points }).to_vec(),
    }
}

fn bands() -> Strategy {
    use Difficulty::{Easy, Hard, Medium};
    let band =
        |from, easy, medium, hard| Band { from, shares: ByDifficulty { easy, medium, hard } };
    Strategy::Bands {
        table: vec![band(0, 100, 0, 0), band(70, 0, 75, 25), band(90, 0, 0, 100)],
        climb: ByDifficulty { easy: [Medium, Hard], medium: [Hard, Easy], hard: [Medium, Easy] },
    }
}
