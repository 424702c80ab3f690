//! Parses the parameters of a list's address: filter, order, page and export.

use std::borrow::Cow;
use std::fmt;

use form_urlencoded::Serializer;
use lyceum_core::text::folded;

use crate::Cell;
use crate::limits::CONSOLE_PAGE_ROWS_COUNT;

/// The parameters of a list, such as `?filter=ada&sort=-xp&page=2&export=csv`, and the screen's own parameters, which
/// links inside the list keep.
#[derive(Clone, Debug, Default)]
pub struct ListQuery {
    pub(crate) path: String,
    /// The words that rows must contain.
    pub filter: String,
    /// The key of the column to sort by. A leading `-` reverses the order.
    pub sort: String,
    /// The page number, from 1.
    pub page: usize,
    /// The format, if the whole list is requested as a file.
    pub export: Option<ExportFormat>,
    pub(crate) own: Vec<(String, String)>,
}

/// A file format for lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// Comma-separated values with a heading (RFC 4180).
    Csv,
    /// An array of objects whose members are named after the columns' keys.
    Json,
}

impl ListQuery {
    /// Parses the parameters of an address. Invalid page numbers and unknown formats are ignored.
    pub fn of<'q>(path: &str, pairs: impl Iterator<Item = (Cow<'q, str>, Cow<'q, str>)>) -> Self {
        let mut query = Self { path: path.to_owned(), page: 1, ..Self::default() };
        for (name, value) in pairs {
            match &*name {
                "filter" => value.trim().clone_into(&mut query.filter),
                "sort" => query.sort = value.into_owned(),
                "page" => query.page = value.parse().unwrap_or(1).max(1),
                "export" if value == "csv" => query.export = Some(ExportFormat::Csv),
                "export" if value == "json" => query.export = Some(ExportFormat::Json),
                "export" => {}
                _ => query.own.push((name.into_owned(), value.into_owned())),
            }
        }
        query
    }

    /// A parameter of the screen; empty if it was not sent.
    pub fn parameter(&self, name: &str) -> &str {
        let found = self.own.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    /// Whether the texts of a row contain every word of the filter. Case and accents do not matter.
    pub fn finds(&self, texts: &[&str]) -> bool {
        let texts: Vec<String> = texts.iter().map(|text| folded(text)).collect();
        let words = folded(&self.filter);
        words.split_whitespace().all(|word| texts.iter().any(|text| text.contains(word)))
    }

    /// The number of rows on the pages before this one.
    pub fn skipped(&self) -> usize {
        (self.page - 1).saturating_mul(CONSOLE_PAGE_ROWS_COUNT)
    }

    /// Whether the texts that a row shows contain every word of the filter.
    pub(crate) fn finds_row(&self, row: &[Cell]) -> bool {
        let shown: Vec<&str> = row.iter().map(|cell| cell.shown.as_str()).collect();
        self.finds(&shown)
    }

    /// Whether each row must be known completely before the page is: words are searched in all columns, and a file has all
    /// rows.
    pub fn needs_all_cells(&self) -> bool {
        !self.filter.is_empty() || self.export.is_some()
    }

    /// The key of the column to sort by, and whether the order is descending.
    pub fn order(&self) -> (&str, bool) {
        match self.sort.strip_prefix('-') {
            Some(key) => (key, true),
            None => (&self.sort, false),
        }
    }

    /// This address with some parameters changed. Empty values are left out.
    pub fn link(&self, changes: &[(&str, &str)]) -> String {
        let page = self.page.to_string();
        let page = if self.page == 1 { "" } else { &page };
        let own = self.own.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let known = [("filter", self.filter.as_str()), ("sort", &self.sort), ("page", page)];
        let mut pairs: Vec<(&str, &str)> = own.chain(known).collect();
        for (name, value) in changes {
            match pairs.iter_mut().find(|(known, _)| known == name) {
                Some(pair) => pair.1 = value,
                None => pairs.push((name, value)),
            }
        }
        pairs.retain(|(_, value)| !value.is_empty());
        if pairs.is_empty() {
            return self.path.clone();
        }
        let query = Serializer::new(String::new()).extend_pairs(pairs).finish();
        format!("{}?{query}", self.path)
    }
}

impl fmt::Display for ExportFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Csv => "csv",
            Self::Json => "json",
        })
    }
}
