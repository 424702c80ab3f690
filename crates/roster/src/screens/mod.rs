//! What the console's screens about the roster show: one query function for each page.

use std::ops::Range;

pub mod classes;
pub mod courses;
pub mod home;
pub mod imports;
pub mod search;

/// The items at these places, as far as there are so many; without places, all items.
pub fn at_places<T>(items: &mut [T], places: Option<Range<usize>>) -> &mut [T] {
    let places = places.unwrap_or(0..items.len());
    let end = places.end.min(items.len());
    &mut items[places.start.min(end)..end]
}
