//! Lists of numbers for `IN (…)`, all of one length, so that they share one prepared statement.

use std::sync::LazyLock;

/// The length of a list.
const LENGTH: usize = 64;

/// The placeholders of a list: `$1, $2, …`.
pub static IN_LIST_MARKS: LazyLock<String> =
    LazyLock::new(|| (1..=LENGTH).map(|n| format!("${n}")).collect::<Vec<_>>().join(", "));

/// Splits items into lists for [`IN_LIST_MARKS`]. The last list is padded with its first item.
pub fn in_lists<T: Copy>(items: &[T]) -> impl Iterator<Item = Vec<T>> {
    items.chunks(LENGTH).map(|chunk| {
        let mut list = chunk.to_vec();
        list.resize(LENGTH, chunk[0]);
        list
    })
}
