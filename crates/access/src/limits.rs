//! The limits of this crate, each with its unit.

// # Accounts

/// Seconds that an access token is valid.
pub const TOKEN_LIFETIME_S: i64 = 3600;
/// Secrets of a client that are valid at once, while it rotates.
pub const CLIENT_SECRET_MAX_COUNT: usize = 2;
/// Seconds that the time stamp of a signed request may differ from the server's time.
pub const SIGNATURE_WINDOW_S: i64 = 300;
/// Origins of web pages that one client may list.
pub const CLIENT_MAX_ORIGINS: usize = 100;
/// Characters of a password at least.
pub const PASSWORD_MIN_CHARS: usize = 10;
/// Characters of a password at most.
pub const PASSWORD_MAX_CHARS: usize = 200;
/// Seconds that a browser's session lives.
pub const PAGE_SESSION_LIFETIME_S: i64 = 24 * 3600;
/// Seconds that a browser's session lives without being used.
pub const PAGE_SESSION_IDLE_S: i64 = 2 * 3600;
/// Seconds that the session of a program lives after a person approved it (90 days).
pub const TOKEN_SESSION_LIFETIME_S: i64 = 90 * 86_400;
/// Seconds that the session of such a program lives without being used (30 days).
pub const TOKEN_SESSION_IDLE_S: i64 = 30 * 86_400;
/// Seconds that a link for setting a password works (3 days).
pub const SIGN_IN_LINK_LIFETIME_S: i64 = 3 * 86_400;
/// Seconds in which guesses are counted together.
pub const GUESS_WINDOW_S: i64 = 15 * 60;
/// Minutes that a class can be open for sign-in.
pub const CLASS_SIGN_IN_MAX_MIN: i64 = 120;
/// Seconds that a session from sign-in in class lives.
pub const CLASS_SESSION_LIFETIME_S: i64 = 4 * 3600;
/// Seconds that such a session lives without being used, on a device that others use next.
pub const CLASS_SESSION_IDLE_S: i64 = 30 * 60;
/// Wrong codes of classes from one address within the window of guesses: all classes of a school may share an address.
pub const GUESSES_CLASS_CODE_COUNT: i64 = 300;
/// Wrong answers for one student in class within `GUESS_WINDOW_S`.
pub const GUESSES_CLASS_STUDENT_COUNT: i64 = 6;
/// Wrong answers in one class within `GUESS_WINDOW_S`, for all students together.
pub const GUESSES_CLASS_COUNT: i64 = 60;
/// Wrong answers in class from one address within `GUESS_WINDOW_S`, in all classes of a school together.
pub const GUESSES_CLASS_ADDRESS_COUNT: i64 = 600;
/// Seconds in which a device code is to be approved.
pub const DEVICE_CODE_LIFETIME_S: i64 = 10 * 60;

// # Internal

/// Bytes of an access token at most.
pub const TOKEN_MAX_BYTES: usize = 8 * 1024;
/// Days until a signing key is followed by a new one.
pub const KEY_ROTATION_DAYS: i64 = 90;
/// Seconds that a new signing key is published before it signs: `CLOCK_DIFFERENCE_MAX_S`, and a minute in which every
/// server reads it.
pub const KEY_PUBLISH_AHEAD_S: i64 = 120;
/// Seconds that a signing key verifies after its successor was made: longer than a token lives.
pub const KEY_OVERLAP_S: i64 = 7200;
/// Bytes of a client's name at most.
pub const CLIENT_NAME_MAX_BYTES: usize = 200;
/// Bytes of a client's id at most.
pub const CLIENT_ID_MAX_BYTES: usize = 255;
/// Bytes at least of a client's secret that the server did not draw itself.
pub const CLIENT_SECRET_MIN_BYTES: usize = 16;
/// Bytes of a client's secret at most.
pub const CLIENT_SECRET_MAX_BYTES: usize = 1024;
/// Bytes of the nonce of a signed request at most.
pub const NONCE_MAX_BYTES: usize = 255;
/// Jobs and backups that the console lists at most, the newest.
pub const CONSOLE_JOBS_COUNT: i64 = 1000;
/// Bytes of a person's or API key's name at most.
pub const PERSON_NAME_MAX_BYTES: usize = 200;
/// Bytes of an e-mail address at most (RFC 5321, 4.5.3.1.3).
pub const EMAIL_MAX_BYTES: usize = 254;
/// Bytes of memory that hashing a password takes.
pub const PASSWORD_HASH_MEMORY_BYTES: u32 = 19 * 1024 * 1024;
/// Passes over that memory.
pub const PASSWORD_HASH_PASSES_COUNT: u32 = 2;
/// Precision in seconds of the time when a session or an API key was last used.
pub const LAST_USE_RESOLUTION_S: i64 = 60;
/// Seconds that the link works which signs in the administrator of a demo.
pub const DEMO_LINK_LIFETIME_S: i64 = 10 * 60;
/// Seconds that a program waits between two requests that check whether its code was approved.
pub const DEVICE_POLL_INTERVAL_S: i64 = 2;
/// Seconds that it waits longer after it asked too soon (RFC 8628, 3.5).
pub const DEVICE_SLOW_DOWN_S: i64 = 5;
/// Device codes that wait for approval at most.
pub const DEVICE_CODES_MAX_COUNT: i64 = 10_000;
/// Bytes of the address of a sign-in service, or of a person's id there, at most.
pub const IDENTITY_MAX_BYTES: usize = 1024;
/// Seconds that the provider's clock may differ from the server's.
pub const OIDC_CLOCK_SKEW_S: i64 = 60;
/// Values that a rotation of the master key seals again in one transaction.
pub const RESEAL_MAX_ROWS: usize = 20_000;
