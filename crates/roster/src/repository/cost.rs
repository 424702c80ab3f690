//! Whether a list is short enough to run where it must not block.
//!
//! SQLite reads run on the caller's thread, without a deadline. Only a list whose records are few for
//! certain may: a page of a whole collection, a bare equality on an index that finds few records, what
//! belongs to one record. A filter of several comparisons is never certain, because the store may choose
//! the index of the wrong one.

use lyceum_core::Result;
use lyceum_core::filter::FilterOperator;
use lyceum_store::Tx;
use lyceum_store::filter::{BoundFilter, Clause, Operand, ValueLocation};

use super::belongs::PathScope;
use super::list::ListQuery;
use crate::collections::{CollectionPart, ScopePath};
use crate::kind::{Field, FieldType, RecordKind};

/// The cost of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListCost {
    /// A few look-ups.
    Low,
    /// Few look-ups if [`IndexProbe::finds_few`] says so.
    Counted(IndexProbe),
    /// Perhaps a whole table.
    High,
}

/// Counts the records of an index entry, up to a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexProbe {
    sql: String,
    value: String,
}

/// Records that are few: they are looked up, sorted and counted within about a millisecond.
const FEW: u64 = 500;

impl IndexProbe {
    /// Counts the rows of the table for which the expression has the value.
    fn new(table: &str, expression: &str, value: &str) -> Self {
        let sql = format!(
            "SELECT count(*) FROM \
             (SELECT 1 FROM {table} t WHERE {expression} = $1 LIMIT {}) few",
            FEW + 1
        );
        Self { sql, value: value.to_owned() }
    }

    /// Whether few records are found.
    pub fn finds_few(&self, tx: &mut Tx<'_>) -> Result<bool> {
        let count = tx.query_one(&self.sql, &[(&self.value).into()], |row| row.int(0))?;
        Ok(count.is_some_and(|count| count.unsigned_abs() <= FEW))
    }
}

/// The cost of the list.
pub fn cost(query: &ListQuery) -> ListCost {
    let is_searched = query.search.is_some() || query.people.is_some() || query.reach.is_limited();
    if query.limit > FEW || is_searched || !query.sort.is_cheap() {
        return ListCost::High;
    }
    match (&query.scope, &query.filter) {
        (None, None) => full_scan_cost(query),
        (None, Some(BoundFilter::Clause(clause))) => equality(query.collection.kind, clause),
        (Some(scope), None) if query.offset <= FEW => belonging(scope),
        _ => ListCost::High,
    }
}

/// A page of a whole collection: the counters lead to its first record.
fn full_scan_cost(query: &ListQuery) -> ListCost {
    let is_sought = query.sort.is_default() && !query.sort.descending;
    let is_near = is_sought || query.offset <= FEW;
    // In another order the records of a role are found by walking through those of every role.
    let is_dense =
        query.sort.is_default() || !matches!(query.collection.part, CollectionPart::WithRole(_));
    if is_near && is_dense && !query.with_deleted { ListCost::Low } else { ListCost::High }
}

fn equality(kind: &'static RecordKind, clause: &Clause) -> ListCost {
    let (
        ValueLocation::Column { name, indexed: true },
        FilterOperator::Equal,
        Operand::Text(value),
    ) = (&clause.location, clause.op, &clause.operand)
    else {
        return ListCost::High;
    };
    match name.as_str() {
        "sourced_id" => ListCost::Low,
        // A bulk load gives all its records one instant.
        "date_last_modified" => ListCost::High,
        name if is_of_person(kind, name) => ListCost::Low,
        name if clause.is_folded => {
            ListCost::Counted(IndexProbe::new(kind.table, &format!("lower(t.{name})"), value))
        }
        name => ListCost::Counted(IndexProbe::new(kind.table, &format!("t.{name}"), value)),
    }
}

/// Whether the column refers to a user: one person has few records of any kind.
fn is_of_person(kind: &'static RecordKind, name: &str) -> bool {
    kind.columns().any(|(field, column)| {
        column == name && matches!(field.ty, FieldType::Reference(to) if to == "user")
    })
}

fn belonging(scope: &PathScope) -> ListCost {
    let counted = |table: &str, column: &str| {
        ListCost::Counted(IndexProbe::new(table, &format!("t.{column}"), scope.last()))
    };
    match scope.scoped.belongs {
        ScopePath::ByField(name) if name != "school" => {
            let kind = crate::collections::at(scope.scoped.of).expect("declared").kind;
            let column = kind.field(name).and_then(Field::column_name);
            counted(kind.table, &column.expect("references have columns"))
        }
        ScopePath::Enrolled(_) => counted("enrollments", "class_id"),
        ScopePath::GradingPeriodOf => counted("academic_sessions", "parent_id"),
        ScopePath::ResultOfLineItemInClass => counted("results", "line_item_id"),
        ScopePath::ClassOf(_)
        | ScopePath::ResultOfStudentInClass
        | ScopePath::ResourceOf
        | ScopePath::AgentOf => ListCost::Low,
        _ => ListCost::High,
    }
}
