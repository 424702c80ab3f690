//! Lessons: which question comes next and why, and what answers score and earn (docs/decisions/023).
//!
//! [`engine`] and [`Policy`] are pure: they do no I/O and read no clock, and random numbers are arguments. The answer log
//! of an attempt therefore replays to the same bit.
//!
//! | what | where |
//! |---|---|
//! | types of lessons, policies as data, the version in force | `lesson_type`, `policy`, `policies` |
//! | choosing a question, scoring, XP, replaying an attempt | `engine`, `attempt_history` |
//! | a lesson, its questions, attempts; the context of work on them | `lesson`, `bank`, `attempt`, `attempt_summary`, `lesson_context` |
//! | the next question, an answer, finishing a test | `answer`, `finalize` |
//! | time limits, extra time for students, due days | `time_limit`, `due` |
//! | what students see: questions, progress | `question`, `progress` |
//! | XP and mastery of a complete attempt, gradebook records | `credit`, `gradebook` |
//! | new tests, external tests, test-out, placement, assigned tests | `new_test`, `external`, `test_out`, `placement`, `test_assignments`, `test_choice` |
//! | what guides do for students and classes; resetting progress | `teaching`, `progress_reset` |
//! | lesson plans, progress in courses and subjects | `lesson_plans`, `course_progress`, `subject_progress` |
//! | display settings of courses, screening | `render_config`, `screening` |
//! | what students see: their courses, their home | `student_lessons`, `screens` |
//! | who needs help today, noticing activity; what the console shows | `today`, `live`, `screens` |
//! | lists of lessons and results | `lesson_list` |
//! | the reply to a student's answer | `reply` |
//! | caches | `caches`, `logs`, `rendered_items`, `sized_cache` |
//! | SQL | `repository` |
//! | limits | `limits` |

pub mod answer;
pub mod attempt;
pub mod attempt_history;
mod attempt_summary;
mod bank;
mod caches;
pub mod course_progress;
mod credit;
pub mod due;
pub mod engine;
pub mod external;
pub mod finalize;
pub mod gradebook;
pub mod lesson;
mod lesson_context;
mod lesson_list;
pub mod lesson_plans;
mod lesson_type;
pub mod limits;
pub mod live;
pub mod logs;
pub mod new_test;
pub mod placement;
pub mod policies;
mod policy;
pub mod progress;
pub mod progress_reset;
pub mod question;
pub mod render_config;
mod rendered_items;
pub mod reply;
pub mod repository;
pub mod screening;
pub mod screens;
mod sized_cache;
pub mod student_lessons;
pub mod subject_progress;
pub mod teaching;
pub mod test_assignments;
mod test_choice;
pub mod test_out;
pub mod time_limit;
pub mod today;

use lyceum_store::{Migration, migration};

pub use attempt_summary::AttemptSummary;
pub use bank::QuestionSetCache;
pub use caches::LessonCaches;
pub use lesson_type::{ByDifficulty, Difficulty, LessonType};
pub use policy::{BuiltInPolicy, DifficultyBand, Policy, RewardGate, ScoreStep, Scoring, Strategy};

/// The tables of this crate.
pub const MIGRATIONS: &[Migration] = &[migration!(7, "adaptive")];
