//! The limits of this crate, each with its unit.

// # Credentials and standards

/// Items of one CASE package at most.
pub const CASE_ITEMS_MAX_RECORDS: usize = 100_000;
/// Associations of one CASE package at most.
pub const CASE_ASSOCIATIONS_MAX_RECORDS: usize = 400_000;
/// Alignments in one request at most, and CASE items that one record is aligned to.
pub const ALIGNMENT_MAX_RECORDS: usize = 10_000;

// # Internal

/// Definitions of one class in one CASE package at most.
pub const CASE_DEFINITIONS_MAX_RECORDS: usize = 20_000;
/// Levels of the tree of one CASE framework at most, the framework's own included.
pub const CASE_TREE_MAX_LEVELS: usize = 64;
/// Errors of one CASE package that are reported at most.
pub const CASE_REPORTED_MAX_FAULTS: usize = 100;
/// Bytes of a word that finds CASE items at most; only the beginning of a longer word counts.
pub const CASE_WORD_MAX_BYTES: usize = 60;
/// Words that one CASE item is found by at most.
pub const CASE_ITEM_MAX_ENTRIES: usize = 2000;
/// Words of one search for CASE items at most.
pub const CASE_SEARCH_MAX_ENTRIES: usize = 8;
/// Records that one answer about coverage names at most.
pub const COVERAGE_MAX_RECORDS: usize = 3000;
/// CASE items below one item whose coverage is looked for at most.
pub const COVERAGE_MAX_NODES: usize = 20_000;
