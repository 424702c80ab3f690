//! What is asked of a list by its address: filter, order, page, export.

use std::borrow::Cow;
use std::fmt;

use form_urlencoded::Serializer;
use lyceum_core::limits::CONSOLE_PAGE_ROWS_COUNT;
use lyceum_core::text::folded;

/// What a list's address asks: `?filter=ada&sort=-xp&page=2&export=csv`, and the screen's own
/// parameters, which links inside the list keep.
#[derive(Clone, Debug, Default)]
pub struct Query {
    pub(crate) path: String,
    /// Words that shown rows hold.
    pub filter: String,
    /// The key of the column that orders the rows; a leading `-` turns the order round.
    pub sort: String,
    /// The page, from 1.
    pub page: usize,
    /// The whole list as a file.
    pub export: Option<Export>,
    pub(crate) own: Vec<(String, String)>,
}

/// A file that a list is given as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Export {
    /// Comma-separated values with a heading (RFC 4180).
    Csv,
    /// An array of objects, by the columns' keys.
    Json,
}

impl Query {
    /// What the address of a path with these pairs asks. What is no number or no form is passed over.
    pub fn of<'q>(path: &str, pairs: impl Iterator<Item = (Cow<'q, str>, Cow<'q, str>)>) -> Self {
        let mut query = Self { path: path.to_owned(), page: 1, ..Self::default() };
        for (name, value) in pairs {
            match &*name {
                "filter" => value.trim().clone_into(&mut query.filter),
                "sort" => query.sort = value.into_owned(),
                "page" => query.page = value.parse().unwrap_or(1).max(1),
                "export" if value == "csv" => query.export = Some(Export::Csv),
                "export" if value == "json" => query.export = Some(Export::Json),
                "export" => {}
                _ => query.own.push((name.into_owned(), value.into_owned())),
            }
        }
        query
    }

    /// A parameter of the screen's own; empty where it was not sent.
    pub fn own(&self, name: &str) -> &str {
        let found = self.own.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    /// Whether the texts of a row hold every word of the filter, whatever their case and accents are.
    pub fn finds(&self, texts: &[&str]) -> bool {
        let texts: Vec<String> = texts.iter().map(|text| folded(text)).collect();
        let words = folded(&self.filter);
        words.split_whitespace().all(|word| texts.iter().any(|text| text.contains(word)))
    }

    /// How many rows stand on the pages before this one.
    pub fn skipped(&self) -> usize {
        (self.page - 1).saturating_mul(CONSOLE_PAGE_ROWS_COUNT)
    }

    /// The key of the column that orders the rows, and whether from the last to the first.
    pub fn order(&self) -> (&str, bool) {
        match self.sort.strip_prefix('-') {
            Some(key) => (key, true),
            None => (&self.sort, false),
        }
    }

    /// This address with other values; an empty one is left out.
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

impl fmt::Display for Export {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Csv => "csv",
            Self::Json => "json",
        })
    }
}
