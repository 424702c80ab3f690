//! The parameters of a list: a page, an order, a search, a filter.

use lyceum_core::filter::{Expr, parse};
use lyceum_core::{Detail, Problem, ProblemKind, Result, limits};

use crate::Kind;
use crate::repository::check_filter;

/// The parameters as sent; empty ones are left out.
#[derive(Clone, Debug, Default)]
pub struct Parameters {
    /// The page, from 1.
    pub page: Option<String>,
    /// Documents on a page.
    pub limit: Option<String>,
    /// The field that orders the list.
    pub sort: Option<String>,
    /// `asc` or `desc`.
    pub order: Option<String>,
    /// A text to look for in identifiers, titles and bodies.
    pub query: Option<String>,
    /// A filter.
    pub filter: Option<String>,
}

/// The part of a list that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// Its number, from 1.
    pub number: u64,
    /// Entries on a page, at most [`limits::PAGE_MAX_RECORDS`].
    pub limit: u64,
    /// The field that orders the list, as clients name it.
    pub sort: &'static str,
    /// The largest first.
    pub descending: bool,
    /// What to look for.
    pub search: Option<String>,
}

/// A list of documents that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// Of which documents.
    pub kind: Kind,
    /// Which part of it.
    pub page: Page,
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

impl Page {
    /// Reads the parameters of a list that these fields can order, the first where none is named. A
    /// larger `limit` is served at the limit. Errors: `BadSelection` for what is no page, limit, order
    /// or search.
    pub fn read(given: &Parameters, sorts: &[&'static str]) -> Result<Self> {
        let sort = match given.sort.as_deref() {
            None => sorts[0],
            Some(name) => sorts.iter().find(|known| **known == name).ok_or_else(|| {
                bad("sort", format!("is '{name}'; it is one of {}", sorts.join(", ")))
            })?,
        };
        let descending = match given.order.as_deref().map(str::to_ascii_lowercase).as_deref() {
            None | Some("asc") => false,
            Some("desc") => true,
            Some(_) => return Err(bad("order", "is 'asc' or 'desc'")),
        };
        let search = given.query.clone();
        let most = limits::SEARCH_MAX_BYTES;
        if search.as_ref().is_some_and(|text| text.len() > most || text.contains('\0')) {
            return Err(bad("query", format!("has at most {most} bytes, without U+0000")));
        }
        let limit = whole("limit", given.limit.as_deref(), limits::PAGE_DEFAULT_RECORDS)?;
        let limit = limit.min(limits::PAGE_MAX_RECORDS);
        Ok(Self {
            number: whole("page", given.page.as_deref(), 1)?,
            limit,
            sort,
            descending,
            search,
        })
    }

    /// How many entries stand before it.
    pub fn skip(&self) -> u64 {
        (self.number - 1).saturating_mul(self.limit)
    }

    /// `asc` or `desc`.
    pub fn order(&self) -> &'static str {
        if self.descending { "desc" } else { "asc" }
    }

    /// How many pages that many entries fill.
    pub fn pages(&self, total: u64) -> u64 {
        total.div_ceil(self.limit)
    }
}

impl Query {
    /// Reads the parameters; without an order the list is in the order of creation. Errors: as
    /// [`Page::read`]; `BadFilter` for a filter that makes no sense.
    pub fn read(kind: Kind, given: &Parameters) -> Result<Self> {
        let filter = given.filter.as_deref().map(parse).transpose()?;
        if let Some(filter) = &filter {
            check_filter(filter)?;
        }
        Ok(Self { kind, page: Page::read(given, &SORTS.map(|(name, _)| name))?, filter })
    }

    /// Whether an index gives the page without a long way to it.
    pub fn is_cheap(&self) -> bool {
        let page = &self.page;
        let indexed = matches!(page.sort, "createdAt" | "updatedAt" | "identifier");
        let near = page.number.saturating_mul(page.limit) <= limits::PAGE_DEFAULT_RECORDS;
        indexed && near && self.filter.is_none() && page.search.is_none()
    }
}

fn whole(name: &str, given: Option<&str>, default: u64) -> Result<u64> {
    match given {
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
