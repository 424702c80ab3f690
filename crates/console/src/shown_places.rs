//! The rows of a list that a page shows, in their order.

use std::borrow::Cow;
use std::cmp::Ordering;

use lyceum_core::text::folded;
use serde_json::Value;

use crate::file::plain;
use crate::limits::CONSOLE_PAGE_ROWS_COUNT;
use crate::{Cell, Column, ListQuery, Row};

/// The places of the items that a page shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownPlaces {
    /// The places among all items, in the order of the page. A file shows all items that match the filter.
    pub places: Vec<usize>,
    /// The number of items that match the filter.
    pub total: usize,
}

impl ShownPlaces {
    /// Finds the places among items in their usual order. `cell` makes the cell of an item in the column with a key. An order
    /// needs the cells of its column, and words that are searched need all cells.
    pub fn of<T>(
        columns: &[Column],
        query: &ListQuery,
        items: &[T],
        cell: impl Fn(&T, &str) -> Cell,
    ) -> Self {
        let row =
            |item: &T| -> Row { columns.iter().map(|column| cell(item, column.key)).collect() };
        let mut places: Vec<usize> = (0..items.len()).collect();
        if !query.filter.is_empty() {
            places.retain(|place| query.finds_row(&row(&items[*place])));
        }
        let total = places.len();
        let value =
            |place: usize, at: usize| Cow::Owned(cell(&items[place], columns[at].key).value);
        Self { places: places_of_page(columns, query, places, value), total }
    }
}

/// Sorts places in the order that the query names, and keeps those of its page. `value` reads the value of a place in a
/// column.
pub(crate) fn places_of_page<'v>(
    columns: &[Column],
    query: &ListQuery,
    mut places: Vec<usize>,
    value: impl Fn(usize, usize) -> Cow<'v, Value>,
) -> Vec<usize> {
    let (key, is_reversed) = query.order();
    let column = columns.iter().position(|column| column.key == key && column.sorts);
    if let Some(at) = column {
        // The key of each row is computed once, because a list may have many thousand rows.
        let mut keyed: Vec<(SortKey, usize)> =
            places.iter().map(|place| (SortKey::of(&value(*place, at)), *place)).collect();
        keyed.sort_by(|(a, _), (b, _)| a.compare(b, is_reversed));
        places = keyed.into_iter().map(|(_, place)| place).collect();
    }
    if query.export.is_none() {
        places.drain(..query.skipped().min(places.len()));
        places.truncate(CONSOLE_PAGE_ROWS_COUNT);
    }
    places
}

/// A value by which rows are sorted: numbers by size, texts as people sort them. Missing values come last in both
/// directions.
enum SortKey {
    Number(f64),
    Text(String),
    Missing,
}

impl SortKey {
    fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Missing,
            Value::Number(number) => Self::Number(number.as_f64().unwrap_or_default()),
            value => Self::Text(folded(&plain(value))),
        }
    }

    fn compare(&self, other: &Self, is_reversed: bool) -> Ordering {
        let order = match (self, other) {
            (Self::Missing, Self::Missing) => return Ordering::Equal,
            (Self::Missing, _) => return Ordering::Greater,
            (_, Self::Missing) => return Ordering::Less,
            (Self::Number(a), Self::Number(b)) => a.total_cmp(b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Number(_), Self::Text(_)) => Ordering::Less,
            (Self::Text(_), Self::Number(_)) => Ordering::Greater,
        };
        if is_reversed { order.reverse() } else { order }
    }
}
