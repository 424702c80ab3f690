//! Filters: `field op 'value'` clauses joined by AND and OR (docs/decisions/006, 007).
//!
//! [`parse`] reads the text, [`bind`] looks its fields up in a kind's declaration, [`compile()`]
//! writes the SQL of what was bound. AND binds tighter than OR; parentheses group.

mod bind;

mod parse;
mod sql;

pub(crate) use bind::names;
pub use bind::{Bound, Clause, Members, Operand, Place, bind};
pub use parse::{Expr, Literal, Op, parse};
pub(crate) use sql::compile;
pub use sql::condition;

use lyceum_core::{Problem, ProblemKind};

/// A refusal of a filter, with the code `invalid_filter_field`.
fn refused(message: impl Into<String>) -> Problem {
    Problem::new(ProblemKind::BadFilter, message)
}
