//! The limits of this crate, each with its unit.

// # Questions and lessons

/// Attempts of a student of one lesson at most.
pub const LESSON_ATTEMPT_MAX_COUNT: u32 = 1000;
/// Answers in one attempt of a lesson that is shown whole at most, changed ones included.
pub const LESSON_ANSWERS_MAX_COUNT: i64 = 10_000;
/// Operations in the log of a lesson plan at most.
pub const LESSON_PLAN_OPERATIONS_MAX_COUNT: i64 = 10_000;
/// Test assignments that one request makes at most.
pub const TEST_ASSIGNMENTS_BULK_MAX_RECORDS: usize = 1000;
/// Students whom one teaching action for a class, or one reset of progress, can change.
pub const TEACHING_STUDENTS_MAX_COUNT: usize = 1000;
/// Milliseconds after the end of a test's time in which an answer that was sent before may arrive.
pub const LATE_ANSWER_MAX_MS: i64 = 15_000;

// # Internal

/// Bytes of the name of a lesson policy at most.
pub const POLICY_NAME_MAX_BYTES: usize = 200;
/// Attempts for which a lesson policy has a row of its own at most; later ones share the last.
pub const POLICY_ATTEMPTS_MAX_COUNT: usize = 20;
/// How many times a lesson's XP an attempt may earn at most.
pub const POLICY_MULTIPLIER_MAX_RATIO: u32 = 10;
/// Bytes of JSON of lesson banks that a server remembers at most.
pub const LESSON_BANK_CACHE_BYTES: u64 = 64 * 1024 * 1024;
/// Bytes of names of items in tests that a server remembers at most.
pub const LESSON_TEST_CACHE_BYTES: u64 = 16 * 1024 * 1024;
/// Lessons that a server remembers at most.
pub const LESSON_CACHE_ENTRIES: usize = 10_000;
/// Bytes of logs of running attempts that a server remembers at most.
pub const LESSON_LOG_CACHE_BYTES: u64 = 32 * 1024 * 1024;
/// Bytes of XML of questions as learners see them that a server remembers at most.
pub const LESSON_VIEW_CACHE_BYTES: u64 = 32 * 1024 * 1024;
/// Courses whose render configuration one request sets at most.
pub const RENDER_CONFIG_COURSES_MAX_COUNT: usize = 1000;
/// Courses of a subject whose progress one answer lists at most.
pub const SUBJECT_COURSES_MAX_COUNT: i64 = 1000;
/// Days of a student's streak that are counted at most.
pub const STREAK_MAX_DAYS: u32 = 366;
/// Characters of the id of a student's answer at most.
pub const ANSWER_ID_MAX_CHARS: usize = 100;
/// Extra time of a student in percent of a time limit at most.
pub const EXTRA_TIME_MAX_PERCENT: i64 = 1000;
/// Extra time of a student in minutes at most.
pub const EXTRA_TIME_MAX_MINUTES: i64 = 600;
/// Answers of a student whose text is read at most to search, sort or export them, the newest. A page reads its own.
pub const QUESTIONS_IN_WORDS_MAX_COUNT: usize = 500;
