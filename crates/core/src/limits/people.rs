//! Limits of people's accounts: passwords, sessions, guesses, codes of programs.

/// Bytes of a person's or API key's name at most.
pub const PERSON_NAME_MAX_BYTES: usize = 200;
/// Bytes of an e-mail address at most (RFC 5321, 4.5.3.1.3).
pub const EMAIL_MAX_BYTES: usize = 254;
/// Characters of a password at least.
pub const PASSWORD_MIN_CHARS: usize = 10;
/// Characters of a password at most.
pub const PASSWORD_MAX_CHARS: usize = 200;
/// Bytes of memory that hashing a password takes.
pub const PASSWORD_HASH_MEMORY_BYTES: u32 = 19 * 1024 * 1024;
/// Passes over that memory.
pub const PASSWORD_HASH_PASSES_COUNT: u32 = 2;
/// Passwords that a server hashes at once at most; others wait.
pub const PASSWORD_HASHES_MAX_COUNT: usize = 2;
/// Requests that wait for a password to be hashed at most; further ones are refused with 503.
pub const PASSWORD_HASHES_WAITING_MAX_COUNT: usize = 32;
/// Seconds that a browser's session lives.
pub const PAGE_SESSION_LIFETIME_S: i64 = 24 * 3600;
/// Seconds that a browser's session lives without being used.
pub const PAGE_SESSION_IDLE_S: i64 = 2 * 3600;
/// Seconds that the session of a program that a person let in lives (90 days).
pub const TOKEN_SESSION_LIFETIME_S: i64 = 90 * 86_400;
/// Seconds that the session of such a program lives without being used (30 days).
pub const TOKEN_SESSION_IDLE_S: i64 = 30 * 86_400;
/// Seconds to which it is known when a session or an API key was last used.
pub const LAST_USE_RESOLUTION_S: i64 = 60;
/// Seconds that a link for setting a password works (3 days).
pub const SIGN_IN_LINK_LIFETIME_S: i64 = 3 * 86_400;
/// Seconds in which guesses are counted together.
pub const GUESS_WINDOW_S: i64 = 15 * 60;
/// Wrong passwords for one account from one address within that time.
pub const GUESSES_ACCOUNT_AND_ADDRESS_COUNT: i64 = 10;
/// Wrong passwords for one account within that time, from wherever.
pub const GUESSES_ACCOUNT_COUNT: i64 = 100;
/// Wrong passwords from one address within that time, for whatever account.
pub const GUESSES_ADDRESS_COUNT: i64 = 100;
/// Wrong device codes of one person within that time.
pub const GUESSES_DEVICE_CODE_COUNT: i64 = 20;
/// Links that do not work from one address within that time.
pub const GUESSES_LINK_COUNT: i64 = 30;
/// Seconds in which a device code is to be approved.
pub const DEVICE_CODE_LIFETIME_S: i64 = 10 * 60;
/// Seconds that a program waits between two questions whether its code was approved.
pub const DEVICE_POLL_INTERVAL_S: i64 = 2;
/// Seconds that it waits longer after it asked too soon (RFC 8628, 3.5).
pub const DEVICE_SLOW_DOWN_S: i64 = 5;
/// Device codes that wait for approval at most.
pub const DEVICE_CODES_MAX_COUNT: i64 = 10_000;
/// Bytes of a body at most on a route that is open to everybody.
pub const PUBLIC_BODY_MAX_BYTES: usize = 16 * 1024;
/// Bytes of a form of the sign-in pages at most.
pub const SIGN_IN_FORM_MAX_BYTES: usize = 16 * 1024;
/// Seconds in which somebody comes back from the OpenID provider.
pub const OIDC_ATTEMPT_LIFETIME_S: i64 = 10 * 60;
/// Seconds that the provider's clock may differ from the server's.
pub const OIDC_CLOCK_SKEW_S: i64 = 60;
/// Seconds after which the provider's endpoints and keys are read again.
pub const OIDC_PROVIDER_MAX_AGE_S: i64 = 3600;
/// Seconds that at least lie between two looks for a key of the provider that is not known yet.
pub const OIDC_KEYS_MIN_AGE_S: i64 = 10;
/// Seconds that a game token is valid which a browser's page hands to the game that it shows:
/// the page gets the next one before.
pub const PLAY_TOKEN_LIFETIME_S: i64 = 600;
/// Days after the last visit in which a demo visitor and the visitor's scores are kept.
pub const DEMO_KEPT_DAYS: i64 = 7;
/// Seconds between two looks for demo visitors whose time is over.
pub const DEMO_PURGE_EVERY_S: u64 = 3600;
/// Demo visitors that are forgotten in one transaction at most.
pub const DEMO_PURGE_MAX_COUNT: i64 = 200;
/// New demo visitors from one address within 15 minutes at most.
pub const DEMO_VISITORS_MAX_COUNT: i64 = 120;
/// Requests a second that one demo visitor may send.
pub const DEMO_REQUESTS_PER_S: u32 = 5;
/// Scores that one demo visitor may write at most.
pub const DEMO_SCORES_MAX_COUNT: i64 = 500;
