//! The types of lessons, and the difficulties of questions.

use lyceum_core::phrase;
use std::fmt;
use std::ops::{Index, IndexMut};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The type of a lesson: how it serves, scores and finishes its questions.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum LessonType {
    /// Asks question by question, chosen by the score, until the score is 100.
    #[serde(rename = "powerpath-100")]
    Powerpath100,
    /// A test in its order, finished as a whole.
    #[serde(rename = "quiz")]
    Quiz,
    /// A test that lets a student skip a course or some of its units.
    #[serde(rename = "test-out")]
    TestOut,
    /// A test that finds the grade in which a student begins a subject.
    #[serde(rename = "placement")]
    Placement,
    /// The test of a unit.
    #[serde(rename = "unit-test")]
    UnitTest,
    /// A text with questions about it.
    #[serde(rename = "alpha-read-article")]
    Reading,
}

impl LessonType {
    /// All types.
    pub const ALL: [Self; 6] = [
        Self::Powerpath100,
        Self::Quiz,
        Self::TestOut,
        Self::Placement,
        Self::UnitTest,
        Self::Reading,
    ];

    /// Its name in JSON, such as `powerpath-100`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Powerpath100 => "powerpath-100",
            Self::Quiz => "quiz",
            Self::TestOut => "test-out",
            Self::Placement => "placement",
            Self::UnitTest => "unit-test",
            Self::Reading => "alpha-read-article",
        }
    }

    /// The type with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for LessonType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The difficulty of a question, as its author set it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Difficulty {
    /// For beginners.
    Easy,
    /// For intermediate learners.
    Medium,
    /// For advanced learners.
    Hard,
}

impl Difficulty {
    /// All difficulties, the easiest first.
    pub const ALL: [Self; 3] = [Self::Easy, Self::Medium, Self::Hard];

    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Easy => phrase!("easy"),
            Self::Medium => phrase!("medium"),
            Self::Hard => phrase!("hard"),
        }
    }

    /// The difficulty with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|difficulty| difficulty.name() == name)
    }
}

impl fmt::Display for Difficulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A value for each difficulty: `{"easy": …, "medium": …, "hard": …}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct ByDifficulty<T> {
    /// The value for easy questions.
    pub easy: T,
    /// The value for medium questions.
    pub medium: T,
    /// The value for hard questions.
    pub hard: T,
}

impl<T> Index<Difficulty> for ByDifficulty<T> {
    type Output = T;

    fn index(&self, difficulty: Difficulty) -> &T {
        match difficulty {
            Difficulty::Easy => &self.easy,
            Difficulty::Medium => &self.medium,
            Difficulty::Hard => &self.hard,
        }
    }
}

impl<T> IndexMut<Difficulty> for ByDifficulty<T> {
    fn index_mut(&mut self, difficulty: Difficulty) -> &mut T {
        match difficulty {
            Difficulty::Easy => &mut self.easy,
            Difficulty::Medium => &mut self.medium,
            Difficulty::Hard => &mut self.hard,
        }
    }
}
