//! The parameters of a list: a page, an order, a search, a filter.

use lyceum_core::filter::{Expr, parse};
use lyceum_core::{Detail, Problem, ProblemKind, Result, limits};

use crate::Kind;
use crate::repository::check_filter;

/// The parameters as sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parameters<'p> {
    /// The page, from 1.
    pub page: Option<&'p str>,
    /// Documents on a page.
    pub limit: Option<&'p str>,
    /// The field that orders the list.
    pub sort: Option<&'p str>,
    /// `asc` or `desc`.
    pub order: Option<&'p str>,
    /// A text to look for in identifiers, titles and bodies.
    pub query: Option<&'p str>,
    /// A filter.
    pub filter: Option<&'p str>,
}

/// A list that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// Of which documents.
    pub kind: Kind,
    /// The page, from 1.
    pub page: u64,
    /// Documents on a page, at most [`limits::PAGE_MAX_RECORDS`].
    pub limit: u64,
    /// The field that orders it, as clients name it.
    pub sort: &'static str,
    /// The largest first.
    pub descending: bool,
    /// What to look for, in small letters.
    pub search: Option<String>,
    /// The filter.
    pub filter: Option<Expr>,
}

/// What a list can be ordered by: the name that clients use, and the column.
pub(crate) const SORTS: [(&str, &str); 5] = [
    ("createdAt", "created_at"),
    ("updatedAt", "updated_at"),
    ("identifier", "identifier"),
    ("title", "title"),
    ("type", "type"),
];

impl Query {
    /// Reads the parameters. A larger `limit` is served at the limit; without an order the list is in
    /// the order of creation. Errors: `BadSelection` for a page, limit or order that is none,
    /// `BadFilter` for a filter that makes no sense.
    pub fn read(kind: Kind, given: &Parameters<'_>) -> Result<Self> {
        let some = |text: Option<&'_ str>| {
            text.map(str::trim).filter(|t| !t.is_empty()).map(str::to_owned)
        };
        let sort = match some(given.sort) {
            None => SORTS[0].0,
            Some(name) => match SORTS.iter().find(|(known, _)| *known == name) {
                Some((known, _)) => known,
                None => {
                    let known: Vec<&str> = SORTS.iter().map(|(known, _)| *known).collect();
                    return Err(bad(
                        "sort",
                        format!("is '{name}'; it is one of {}", known.join(", ")),
                    ));
                }
            },
        };
        let descending = match some(given.order).map(|order| order.to_ascii_lowercase()).as_deref()
        {
            None | Some("asc") => false,
            Some("desc") => true,
            Some(_) => return Err(bad("order", "is 'asc' or 'desc'")),
        };
        let search = some(given.query).map(|text| text.to_lowercase());
        if search
            .as_ref()
            .is_some_and(|text| text.len() > limits::SEARCH_MAX_BYTES || text.contains('\0'))
        {
            let most = limits::SEARCH_MAX_BYTES;
            return Err(bad("query", format!("has at most {most} bytes, without U+0000")));
        }
        let filter = some(given.filter).map(|text| parse(&text)).transpose()?;
        if let Some(filter) = &filter {
            check_filter(filter)?;
        }
        let limit = whole("limit", given.limit, limits::PAGE_DEFAULT_RECORDS)?;
        Ok(Self {
            kind,
            page: whole("page", given.page, 1)?,
            limit: limit.min(limits::PAGE_MAX_RECORDS),
            sort,
            descending,
            search,
            filter,
        })
    }

    /// Whether an index gives the page without a long way to it.
    pub fn is_cheap(&self) -> bool {
        let indexed = matches!(self.sort, "createdAt" | "updatedAt" | "identifier");
        let near = self.page.saturating_mul(self.limit) <= limits::PAGE_DEFAULT_RECORDS;
        indexed && near && self.filter.is_none() && self.search.is_none()
    }

    /// `asc` or `desc`.
    pub fn order(&self) -> &'static str {
        if self.descending { "desc" } else { "asc" }
    }

    /// How many pages that many documents fill.
    pub fn pages(&self, total: u64) -> u64 {
        total.div_ceil(self.limit)
    }
}

fn whole(name: &str, given: Option<&str>, default: u64) -> Result<u64> {
    match given.map(str::trim).filter(|text| !text.is_empty()) {
        None => Ok(default),
        Some(text) => match text.parse() {
            Ok(number @ 1..=0xffff_ffff) => Ok(number),
            _ => Err(bad(name, "is a whole number from 1")),
        },
    }
}

fn bad(name: &str, rule: impl Into<String>) -> Problem {
    let rule = rule.into();
    Problem {
        details: vec![Detail { path: name.to_owned(), message: rule.clone() }],
        ..Problem::new(ProblemKind::BadSelection, format!("the parameter '{name}' {rule}"))
    }
}
