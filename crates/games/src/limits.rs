//! The limits of this crate, each with its unit.

// # Games

/// Bytes of the metadata of a game, item or score, as JSON, at most.
pub const GAME_METADATA_MAX_BYTES: usize = 16 * 1024;
/// Bytes of the state that a game saves for a player, as JSON, at most.
pub const GAME_STATE_MAX_BYTES: usize = 1024 * 1024;
/// Records on a page of a list of the game platform at most.
pub const GAME_PAGE_MAX_RECORDS: i64 = 100;
/// How many of one item a player has at most.
pub const INVENTORY_MAX_COUNT: i64 = 1_000_000_000_000;
/// Greatest score, in either direction: whole numbers up to it are exact everywhere.
pub const SCORE_MAX_COUNT: i64 = 9_007_199_254_740_991;
/// Achievements of one game at most.
pub const ACHIEVEMENTS_MAX_COUNT: i64 = 1000;
/// Days in which a repeated request with a key gets the first answer again.
pub const REQUEST_KEPT_DAYS: i64 = 30;
/// Seconds that a device's clock may be ahead in the time of an activity.
pub const ACTIVITY_AHEAD_MAX_S: i64 = 300;

// # Internal

/// Characters of a text of the game platform that people read at most, such as a title.
pub const GAME_TEXT_MAX_CHARS: usize = 2000;
/// Levels that players can reach at most.
pub const LEVELS_MAX_COUNT: usize = 1000;
/// Characters at most of the key with which a request can be repeated.
pub const REQUEST_KEY_MAX_CHARS: usize = 200;
/// Courses that a game teaches at most.
pub const LMS_COURSES_MAX_COUNT: usize = 100;
/// Days of XP that one request shows at most.
pub const XP_HISTORY_MAX_DAYS: i32 = 400;
/// Days after the last visit in which a demo visitor and the visitor's scores are kept.
pub const DEMO_KEPT_DAYS: i64 = 7;
/// Demo visitors that are forgotten in one transaction at most.
pub const DEMO_PURGE_MAX_COUNT: i64 = 200;
/// Scores that one demo visitor may write at most.
pub const DEMO_SCORES_MAX_COUNT: i64 = 500;
