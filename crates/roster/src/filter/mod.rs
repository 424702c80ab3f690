//! Filters: `field op 'value'` clauses joined by AND and OR (docs/decisions/006, 007).
//!
//! [`parse`] reads the text, [`bind`] looks its fields up in a kind's declaration, [`compile()`]
//! writes the SQL of what was bound. AND binds tighter than OR; parentheses group.

mod bind;
mod sql;

pub(crate) use bind::names;
pub use bind::{BoundFilter, Clause, ListComparison, Operand, ValueLocation, bind};
pub use lyceum_core::filter::{FilterExpression, FilterOperator, FilterValue, parse};
pub(crate) use sql::compile;
pub use sql::condition;
