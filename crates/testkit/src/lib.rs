//! Tools for tests that need no server. `testserver` has the rest.
//!
//! | what | where |
//! |---|---|
//! | a private PostgreSQL cluster, tests on both stores | `postgres` |
//! | roster records for tests of other crates | `records` |
//! | time that passes for jobs | `jobs` |
//! | which records lie within a reach, computed without SQL | `naive_reach` |
//! | random rosters, limited reaches, organizations that move | `random_roster` |
//! | an S3 bucket | `s3` |
//! | two writes at once | `race` |
//! | writes that stay open until the test ends them | `open_writes` |
//! | fuzzing for a limited time | `fuzz` |

pub mod fuzz;
pub mod jobs;
pub mod naive_reach;
pub mod open_writes;
pub mod postgres;
pub mod race;
pub mod random_roster;
pub mod records;
#[cfg(feature = "s3")]
pub mod s3;

pub use postgres::{both_stores, free_port, fresh_database, on_sqlite};

/// Whether the tests run with the full figures (`cargo xtask soak`) or small ones.
pub fn full_size() -> bool {
    #[expect(clippy::disallowed_methods, reason = "the size of tests is not a setting")]
    std::env::var("LYCEUM_TEST_SIZE").is_ok_and(|size| size == "full")
}
