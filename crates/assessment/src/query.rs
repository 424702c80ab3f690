//! The parameters of a list: page, order, search and filter.

use lyceum_core::filter::parse;
use lyceum_core::messages::must_be_one_of;
use lyceum_core::text::whole_number;
use lyceum_core::{Detail, Message, Problem, ProblemKind, Result, limits, message};
use lyceum_store::filter::BoundFilter;

use crate::ContentKind;
use crate::filter;

/// The parameters as they were sent, without empty ones.
#[derive(Clone, Debug, Default)]
pub struct Parameters {
    /// The page, from 1.
    pub page: Option<String>,
    /// Maximum number of documents on a page.
    pub limit: Option<String>,
    /// The field that orders the list.
    pub sort: Option<String>,
    /// `asc` or `desc`.
    pub order: Option<String>,
    /// A text to search for in identifiers, titles and bodies.
    pub query: Option<String>,
    /// A filter.
    pub filter: Option<String>,
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// Its number, from 1.
    pub number: u64,
    /// Entries on a page, at most [`limits::PAGE_MAX_RECORDS`].
    pub limit: u64,
    /// The field that orders the list, as clients name it.
    pub sort: &'static str,
    /// Whether the largest value comes first.
    pub descending: bool,
    /// A text to search for.
    pub search: Option<String>,
}

/// A request for a list of documents.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// The kind of the documents.
    pub kind: ContentKind,
    /// The page.
    pub page: Page,
    /// The filter.
    pub filter: Option<BoundFilter>,
}

/// The fields that order a list: the name for clients, and the column.
pub(crate) const SORTS: [(&str, &str); 5] = [
    ("createdAt", "created_at"),
    ("updatedAt", "updated_at"),
    ("identifier", "identifier"),
    ("title", "title"),
    ("type", "type"),
];

impl Page {
    /// Reads the parameters of a list. `sorts` are the fields that may order it, the default first. A `limit` above
    /// the maximum is lowered to it. Errors: `Invalid` for a wrong page or limit, `BadSelection` for a wrong order or search.
    pub fn read(parameters: &Parameters, sorts: &[&'static str]) -> Result<Self> {
        let sort = match parameters.sort.as_deref() {
            None => sorts[0],
            Some(name) => sorts
                .iter()
                .find(|known| **known == name)
                .ok_or_else(|| bad("sort", must_be_one_of(sorts, name)))?,
        };
        let descending = match parameters.order.as_deref().map(str::to_ascii_lowercase).as_deref() {
            None | Some("asc") => false,
            Some("desc") => true,
            Some(_) => return Err(bad("order", "must be asc or desc")),
        };
        let search = parameters.query.clone();
        let most = limits::SEARCH_MAX_BYTES;
        if search.as_ref().is_some_and(|text| text.len() > most || text.contains('\0')) {
            let rule = message!("must have at most {most} bytes, without the character U+0000");
            return Err(bad("query", rule));
        }
        let number = |name, text: &Option<String>, usual| {
            text.as_ref().map_or(Ok(usual), |text| whole_number(name, text, 1))
        };
        let limit = number("limit", &parameters.limit, limits::PAGE_DEFAULT_RECORDS)?;
        Ok(Self {
            number: number("page", &parameters.page, 1)?,
            limit: limit.min(limits::PAGE_MAX_RECORDS),
            sort,
            descending,
            search,
        })
    }

    /// The number of entries before the page.
    pub fn skip(&self) -> u64 {
        (self.number - 1).saturating_mul(self.limit)
    }

    /// `asc` or `desc`.
    pub fn order(&self) -> &'static str {
        if self.descending { "desc" } else { "asc" }
    }

    /// The number of pages for that many entries.
    pub fn pages(&self, total: u64) -> u64 {
        total.div_ceil(self.limit)
    }
}

impl Query {
    /// Reads the parameters. By default, the list is in order of creation. Errors: as [`Page::read`]; `BadFilter` for
    /// an invalid filter.
    pub fn read(kind: ContentKind, parameters: &Parameters) -> Result<Self> {
        let filter = parameters.filter.as_deref().map(parse).transpose()?;
        let filter = filter.as_ref().map(filter::bind).transpose()?;
        Ok(Self { kind, page: Page::read(parameters, &SORTS.map(|(name, _)| name))?, filter })
    }

    /// Whether an index leads directly to the page.
    pub fn is_cheap(&self) -> bool {
        let page = &self.page;
        let indexed = matches!(page.sort, "createdAt" | "updatedAt" | "identifier");
        let near = page.number.saturating_mul(page.limit) <= limits::PAGE_DEFAULT_RECORDS;
        indexed && near && self.filter.is_none() && page.search.is_none()
    }
}

fn bad(name: &str, rule: impl Into<Message>) -> Problem {
    let rule = rule.into();
    Problem {
        details: vec![Detail { path: name.to_owned(), message: rule.clone() }],
        ..Problem::new(ProblemKind::BadSelection, message!("the parameter '{name}' {rule}"))
    }
}
