//! Numbers, times and durations for people.

use lyceum_console::Cell;
use lyceum_console::words::{ago, brief, count, number, share, span, thousandths};
use lyceum_core::time::Timestamp;

#[test]
fn numbers_are_grouped_with_at_most_one_decimal() {
    for (value, text) in [
        (0.0, "0"),
        (0.04, "0"),
        (12.5, "12.5"),
        (999.95, "1,000"),
        (1_204.0, "1,204"),
        (1_234_567.89, "1,234,567.9"),
        (-1_204.5, "−1,204.5"),
        (-0.5, "−0.5"),
    ] {
        assert_eq!(number(value), text, "{value}");
    }
    assert_eq!((thousandths(60_500).as_str(), count(-1_000).as_str()), ("60.5", "−1,000"));
}

#[test]
fn durations_use_the_unit_that_fits() {
    for (seconds, text) in [
        (-1, "0 s"),
        (59, "59 s"),
        (60, "1 min"),
        (3_599, "59 min"),
        (7_500, "2 h 05 min"),
        (172_799, "47 h 59 min"),
        (172_800, "2 days"),
    ] {
        assert_eq!(span(seconds).replace('\u{a0}', " "), text, "{seconds}");
    }
    assert_eq!([999, 2_500].map(|ms| brief(ms).replace('\u{a0}', " ")), ["999 ms", "2.5 s"]);
    let at = |seconds: i64| Timestamp::from_milliseconds(seconds * 1000);
    assert_eq!(ago(at(100), at(104)), "now");
    assert_eq!(ago(at(100), at(105)).replace('\u{a0}', " "), "5 s ago");
    assert_eq!(ago(at(105), at(100)), "now", "clocks of servers differ");
}

#[test]
fn a_share_of_nothing_is_a_dash() {
    assert_eq!((share(0, 0).as_str(), share(1, 3).as_str()), ("–", "33%"));
    assert!(Cell::share(1, 0).value.is_null());
    assert_eq!(Cell::share(1, 4).value, 25.0);
}
