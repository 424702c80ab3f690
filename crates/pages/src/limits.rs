//! The limits of this crate, each with its unit.

// # Questions and lessons

/// Bytes of a request with an answer to an item, with drawn and uploaded files, at most.
pub const ITEM_ANSWER_MAX_BYTES: usize = 8 * 1024 * 1024;

// # Internal

/// Seconds that a browser remembers the language that was chosen on a page without a session (a year).
pub const LANGUAGE_COOKIE_LIFETIME_S: i64 = 365 * 24 * 3600;
/// Bytes of a form of the console at most.
pub const CONSOLE_FORM_MAX_BYTES: usize = 1024 * 1024;
/// Unknown students that the console lists at most.
pub const UNKNOWN_STUDENTS_MAX_RECORDS: i64 = 10_000;
/// Milliseconds that the reads of a page of the console may take. A person waits for some seconds, as for all
/// students of a large network, rather than be refused.
pub const CONSOLE_READ_MAX_MS: u64 = 10_000;
/// Milliseconds that a search in the console may read.
pub const CONSOLE_SEARCH_MAX_MS: u64 = 3_000;
/// Records of each kind that a search in the console shows at most on its page.
pub const SEARCH_PAGE_MAX_RECORDS: usize = 50;
/// Records of each kind that a search in the console shows at most while a person types.
pub const SEARCH_LIST_MAX_RECORDS: usize = 6;
/// Students who need attention that the home page of a teacher names.
pub const HOME_NEEDS_COUNT: usize = 8;
/// Milliseconds that one export of a list without an end may read.
pub const CONSOLE_EXPORT_MAX_MS: u64 = 20_000;
/// Files and folders of a bucket that the console reads of one folder; it may be some hundreds more.
pub const CONSOLE_BUCKET_MAX_ROWS: usize = 5000;
/// Components, lessons and materials that the page of one course shows at most; its files have all.
pub const CONSOLE_TREE_MAX_ROWS: usize = 2000;
/// Wrong device codes of one person within `GUESS_WINDOW_S`.
pub const GUESSES_DEVICE_CODE_COUNT: i64 = 20;
/// Links that do not work from one address within `GUESS_WINDOW_S`.
pub const GUESSES_LINK_COUNT: i64 = 30;
/// Seconds that a person has to return from the OpenID provider.
pub const OIDC_ATTEMPT_LIFETIME_S: i64 = 10 * 60;
/// Badges that a student's home shows at most.
pub const STUDENT_BADGES_MAX_COUNT: usize = 100;
