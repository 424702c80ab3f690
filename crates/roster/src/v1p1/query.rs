//! Reads the parameters of a 1.1 list. The names and words of version 1.1 are translated into those of the stored
//! records, so that the same indexes answer.

use lyceum_core::filter::{self, FilterExpression, FilterOperator, FilterValue, refused};
use lyceum_core::{Problem, ProblemKind, Reach, Result, message};
use lyceum_store::SqlDialect;

use super::form::{FieldSource, FormField, RecordForm, WordMap};
use crate::collections::Collection;
use crate::query::{ListParameters, query as query_of_1_2, with_filter};
use crate::record::COMMON;
use crate::repository::{ListQuery, PathScope};

/// Understands the parameters of a 1.1 list.
///
/// Errors: `Invalid` for numbers out of range, `BadFilter`, `BadSelection`.
pub fn query(
    form: &'static RecordForm,
    collection: Collection,
    scope: Option<PathScope>,
    reach: Reach,
    parameters: &ListParameters<'_>,
    store: SqlDialect,
) -> Result<ListQuery> {
    let sort = parameters.sort.filter(|name| !name.is_empty());
    if let Some(name) = sort {
        check_sort(form, name)?;
    }
    let unfiltered = ListParameters { filter: None, ..*parameters };
    let query = query_of_1_2(collection, scope, reach, &unfiltered, store)?;
    match parameters.filter.filter(|text| !text.trim().is_empty()) {
        Some(text) => with_filter(query, &translated(form, filter::parse(text)?)?),
        None => Ok(query),
    }
}

/// Reads the `fields` parameter. The required fields are always shown. Errors: `BadSelection` naming a field that the
/// form lacks.
pub(super) fn selected(form: &'static RecordForm, text: &str) -> Result<Vec<&'static str>> {
    let known = || COMMON.iter().copied().chain(form.fields.iter().map(|field| field.name));
    let named = text.split(',').map(str::trim).map(|name| {
        known().find(|known| *known == name).ok_or_else(|| {
            let message = message!("{one} has no field '{name}' to select", one = form.kind.one);
            Problem::new(ProblemKind::BadSelection, message)
        })
    });
    let mut fields = named.collect::<Result<Vec<_>>>()?;
    fields.extend(["sourcedId", "status", "dateLastModified"]);
    let required = form.fields.iter().filter(|field| field.is_required(form.kind));
    fields.extend(required.map(|field| field.name));
    Ok(fields)
}

/// Errors: `BadSelection` for a field by which 1.1 records have no order.
fn check_sort(form: &RecordForm, name: &str) -> Result<()> {
    let is_sortable = match named(form, name) {
        Some(field) => !matches!(field.source, FieldSource::Role(_) | FieldSource::OrgsOfRoles),
        None => COMMON.contains(&name),
    };
    if is_sortable {
        return Ok(());
    }
    let message = message!(
        "{one} cannot be sorted by '{name}'; send one of their fields",
        one = form.kind.one
    );
    Err(Problem::new(ProblemKind::BadSelection, message))
}

/// The field that `name`, `name.sourcedId` or `nameSourcedId` means.
fn named(form: &RecordForm, name: &str) -> Option<&'static FormField> {
    let head = name.split('.').next().unwrap_or(name);
    form.field(head).or_else(|| form.field(head.strip_suffix("SourcedId")?))
}

fn translated(form: &'static RecordForm, filter: FilterExpression) -> Result<FilterExpression> {
    let all = |parts: Vec<FilterExpression>| {
        parts.into_iter().map(|part| translated(form, part)).collect::<Result<Vec<_>>>()
    };
    Ok(match filter {
        FilterExpression::And(parts) => FilterExpression::And(all(parts)?),
        FilterExpression::Or(parts) => FilterExpression::Or(all(parts)?),
        FilterExpression::Clause(name, op, value) => clause(form, name, op, value)?,
    })
}

fn clause(
    form: &'static RecordForm,
    name: String,
    op: FilterOperator,
    value: FilterValue,
) -> Result<FilterExpression> {
    if COMMON.contains(&name.as_str()) || name.starts_with("metadata.") {
        return Ok(FilterExpression::Clause(name, op, value));
    }
    let Some(field) = named(form, &name) else { return Err(unknown(form, &name)) };
    match field.source {
        FieldSource::OrgsOfRoles => match name.as_str() {
            "orgs.sourcedId" => {
                Ok(FilterExpression::Clause("roles.org.sourcedId".into(), op, value))
            }
            _ => Err(refused(message!("'{name}' cannot be filtered; use 'orgs.sourcedId'"))),
        },
        FieldSource::Role(words) if name == field.name => {
            Ok(of_words("roles.role", words, op, &value.text))
        }
        FieldSource::Role(_) => Err(unknown(form, &name)),
        // A list is compared member by member, with the words that both versions have.
        FieldSource::Word(words) if words.other.is_some() => {
            Ok(of_words(&name, words, op, &value.text))
        }
        FieldSource::Same
        | FieldSource::TextOrEmpty
        | FieldSource::NumberOrZero
        | FieldSource::Word(_) => Ok(FilterExpression::Clause(name, op, value)),
    }
}

fn unknown(form: &RecordForm, name: &str) -> Problem {
    let known: Vec<&str> = ["sourcedId", "status", "dateLastModified", "metadata.…"]
        .into_iter()
        .chain(form.fields.iter().map(|field| field.name))
        .collect();
    let (one, known) = (form.kind.one, known.join(", "));
    refused(message!("in OneRoster 1.1, {one} has no field '{name}'; it has {known}"))
}

/// A comparison with a word of version 1.1: the stored words for which version 1.1 shows a word that compares so.
fn of_words(name: &str, words: &WordMap, op: FilterOperator, text: &str) -> FilterExpression {
    if op == FilterOperator::NotEqual {
        return complement(of_words(name, words, FilterOperator::Equal, text));
    }
    let holds = |word: &str| op.holds(word, text);
    let compare = |op, word: &str| {
        let value = FilterValue { text: word.to_owned(), quoted: true };
        FilterExpression::Clause(name.to_owned(), op, value)
    };
    let stored = || {
        words
            .words
            .iter()
            .flat_map(|(shown, stored)| stored.iter().map(move |word| (*shown, *word)))
    };
    let mut parts: Vec<_> = stored()
        .filter(|(shown, _)| holds(shown))
        .map(|(_, word)| compare(FilterOperator::Equal, word))
        .collect();
    if words.other.is_some_and(holds) {
        // Words of extensions are all words that the vocabulary lacks.
        let others = stored().map(|(_, word)| compare(FilterOperator::NotEqual, word));
        parts.push(FilterExpression::And(others.collect()));
    }
    match parts.len() {
        0 => nothing(),
        1 => parts.remove(0),
        _ => FilterExpression::Or(parts),
    }
}

/// A filter that no record passes, because each has a sourcedId.
fn nothing() -> FilterExpression {
    let value = FilterValue { text: String::new(), quoted: true };
    FilterExpression::Clause("sourcedId".to_owned(), FilterOperator::Equal, value)
}

/// The filter that exactly the other records pass. It has only the operators = and !=.
fn complement(filter: FilterExpression) -> FilterExpression {
    let all = |parts: Vec<FilterExpression>| parts.into_iter().map(complement).collect();
    match filter {
        FilterExpression::And(parts) => FilterExpression::Or(all(parts)),
        FilterExpression::Or(parts) => FilterExpression::And(all(parts)),
        FilterExpression::Clause(name, op, value) => {
            let op = match op {
                FilterOperator::Equal => FilterOperator::NotEqual,
                _ => FilterOperator::Equal,
            };
            FilterExpression::Clause(name, op, value)
        }
    }
}
