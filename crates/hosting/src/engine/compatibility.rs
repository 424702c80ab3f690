//! Compatibility dates: a backend expects the runtime to behave as it did on that day.

use lyceum_core::{Problem, Result, message};

/// The first date that the runtime knows.
const FIRST: &str = "2021-11-02";

/// Errors: `Invalid` if the text is not a date, or is before the runtime's first one. workerd itself refuses a date
/// that is too new, and names the newest that it knows.
pub(super) fn check(date: &str) -> Result<()> {
    let is_day = lyceum_core::time::parse_date(date).is_some();
    if !is_day {
        let message = message!("'{date}' is not a date; write it as 2026-01-31");
        return Err(Problem::invalid("compatibilityDate", message));
    }
    // Dates in this form sort like text.
    if date < FIRST {
        let message = message!("{date} is before {FIRST}, the first date that the runtime knows");
        return Err(Problem::invalid("compatibilityDate", message));
    }
    Ok(())
}
