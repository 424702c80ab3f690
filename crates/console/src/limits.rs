//! The limits of this crate, each with its unit.

// # Internal

/// Rows on a page of a list of the console.
pub const CONSOLE_PAGE_ROWS_COUNT: usize = 50;
