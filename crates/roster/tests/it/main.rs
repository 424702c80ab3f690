//! The roster engine from outside, on both stores.

mod filters;
mod kit;
mod lists;
mod naive;
mod records;
mod schema;
mod writes;
