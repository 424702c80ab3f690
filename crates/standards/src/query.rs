//! The parameters of lists.

use lyceum_core::filter::parse;
use lyceum_core::text::whole_number;
use lyceum_core::{Detail, Message, Problem, ProblemKind, Result, limits, message};
use lyceum_store::filter::BoundFilter;
use serde_json::Value;

use crate::class::{Class, ITEM};
use crate::filter::{self, case_name};
use crate::record::identifier;
use crate::words;

/// A list that is asked for.
#[derive(Clone, Debug)]
pub struct Query {
    /// Frameworks or items.
    pub class: &'static Class,
    /// Records on the page, at most [`limits::PAGE_MAX_RECORDS`].
    pub limit: u64,
    /// Records before it.
    pub offset: u64,
    /// The member that orders.
    pub sort: Option<String>,
    /// The largest first.
    pub descending: bool,
    /// The filter of records.
    pub filter: Option<BoundFilter>,
    /// The members that are shown.
    pub fields: Option<Vec<String>>,
    /// Beginnings of words that items must have.
    pub words: Vec<String>,
    /// The grade that items must have, as the index has it.
    pub grade: Option<String>,
    /// The framework that items must be of.
    pub framework: Option<String>,
}

impl Query {
    /// Reads the parameters of a list; empty ones are left out. `search`, `framework` and `grade` are
    /// for items. Errors: `BadSelection` for `limit`, `offset`, `sort`, `orderBy`, `fields`;
    /// `BadFilter` for `filter` and `search`; `BadId` for `framework`.
    pub fn read<'q>(
        class: &'static Class,
        pairs: impl Iterator<Item = (&'q str, &'q str)>,
    ) -> Result<Self> {
        let mut query = Self {
            class,
            limit: limits::PAGE_DEFAULT_RECORDS,
            offset: 0,
            sort: None,
            descending: false,
            filter: None,
            fields: None,
            words: Vec::new(),
            grade: None,
            framework: None,
        };
        let is_items = std::ptr::eq(class, &raw const ITEM);
        for (name, value) in pairs.filter(|(_, value)| !value.trim().is_empty()) {
            match name {
                "limit" => {
                    query.limit = whole_number(name, value, 1)?.min(limits::PAGE_MAX_RECORDS);
                }
                "offset" => query.offset = whole_number(name, value, 0)?,
                "sort" => {
                    let name = value.trim();
                    if class.field(case_name(name)).is_none() {
                        return Err(bad(
                            "sort",
                            message!("must name members of a {class.name} (got '{name}')"),
                        ));
                    }
                    query.sort = Some(name.to_owned());
                }
                "orderBy" => {
                    query.descending = match value {
                        "asc" => false,
                        "desc" => true,
                        _ => return Err(bad("orderBy", "must be 'asc' or 'desc'")),
                    }
                }
                "filter" => {
                    query.filter = Some(filter::bind(class, &parse(value)?)?);
                }
                "fields" => query.fields = Some(fields(class, value)?),
                "search" if is_items => query.words = search_words(value)?,
                "grade" if is_items => query.grade = Some(words::grade(&value.replace('\0', ""))),
                "framework" if is_items => query.framework = Some(identifier(value)?),
                _ => {}
            }
        }
        Ok(query)
    }

    /// Whether an index can answer the query.
    pub fn is_cheap(&self) -> bool {
        self.filter.is_none() && self.sort.is_none() && self.offset < limits::PAGE_MAX_RECORDS
    }

    /// Removes the members that were not selected from the record at the end of a text.
    pub(crate) fn select(&self, text: &mut String, from: usize) -> Result<()> {
        let Some(fields) = &self.fields else { return Ok(()) };
        let mut record: Value = serde_json::from_str(&text[from..]).map_err(Problem::internal)?;
        if let Some(members) = record.as_object_mut() {
            members
                .retain(|name, _| fields.iter().any(|field| case_name(field) == case_name(name)));
        }
        text.truncate(from);
        text.push_str(&record.to_string());
        Ok(())
    }
}

fn search_words(value: &str) -> Result<Vec<String>> {
    let most = limits::SEARCH_MAX_BYTES;
    if value.len() > most || value.contains('\0') {
        let message =
            message!("the search text has at most {most} bytes and must not contain U+0000");
        return Err(Problem::new(ProblemKind::BadFilter, message));
    }
    words::of_search(value)
}

fn fields(class: &Class, value: &str) -> Result<Vec<String>> {
    let names = value.split(',').map(str::trim).filter(|name| !name.is_empty());
    names
        .map(|name| match class.field(case_name(name)).is_some() || class.owner == Some(name) {
            true => Ok(name.to_owned()),
            false => {
                Err(bad("fields", message!("must name members of a {class.name} (got '{name}')")))
            }
        })
        .collect()
}

fn bad(name: &str, rule: impl Into<Message>) -> Problem {
    let rule = rule.into();
    Problem {
        details: vec![Detail { path: name.to_owned(), message: rule.clone() }],
        ..Problem::new(ProblemKind::BadSelection, message!("the parameter '{name}' {rule}"))
    }
}
