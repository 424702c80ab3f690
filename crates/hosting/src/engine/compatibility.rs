//! Compatibility dates: the day whose behaviour of the runtime a backend expects.

use lyceum_core::{Problem, Result};

/// The first day that the runtime knows.
const FIRST: &str = "2021-11-02";

/// Errors: `Invalid` for what is no day, or one that no runtime knows. One that is too new for the
/// workerd in use is refused by workerd itself, with the newest that it knows.
pub(super) fn check(date: &str) -> Result<()> {
    let is_day = lyceum_core::time::parse_date(date).is_some();
    if !is_day {
        let message = format!("'{date}' is no date; write it as 2026-01-31");
        return Err(Problem::invalid("compatibilityDate", message));
    }
    // Dates of this form sort like text.
    if date < FIRST {
        let message = format!("{date} is before {FIRST}, the first date that the runtime knows");
        return Err(Problem::invalid("compatibilityDate", message));
    }
    Ok(())
}
