//! The limits of this crate, each with its unit.

// # Questions and lessons

/// Bytes of a page of a list of QTI documents at most; for a longer page, the client must send a smaller `limit`.
pub const QTI_PAGE_MAX_BYTES: usize = 64 * 1024 * 1024;
/// Documents that one request to validate holds at most.
pub const QTI_BATCH_MAX_COUNT: usize = 1000;
/// Tests of one assessment bank at most.
pub const BANK_TESTS_MAX_COUNT: usize = 100;
/// Bytes of one file of an item or stimulus at most.
pub const ITEM_FILE_MAX_BYTES: usize = 16 * 1024 * 1024;
/// Files of one item or stimulus at most.
pub const ITEM_FILES_MAX_COUNT: usize = 100;

// # Internal

/// Characters of the identifier of a stored QTI document at most.
pub const QTI_IDENTIFIER_MAX_CHARS: usize = 255;
/// Bytes of XML of the items that a server keeps parsed for scoring.
pub const QTI_PARSED_CACHE_BYTES: u64 = 32 * 1024 * 1024;
/// Characters of one feedback on a lesson or question at most.
pub const FEEDBACK_MAX_CHARS: usize = 64 * 1024;
/// Feedback that one read of a lesson's feedback shows at most, the newest.
pub const FEEDBACK_SHOWN_COUNT: usize = 100;
/// Attempts of a user that an assessment bank counts at most.
pub const BANK_ATTEMPT_MAX_COUNT: i64 = 1_000_000;
/// Bytes of the path of a file of an item or stimulus at most.
pub const ITEM_FILE_PATH_MAX_BYTES: usize = 255;
