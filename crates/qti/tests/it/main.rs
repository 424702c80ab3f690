//! The QTI engine from outside.

#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    clippy::needless_pass_by_value,
    clippy::print_stdout,
    clippy::format_collect,
    clippy::format_push_string,
    clippy::too_many_lines,
    clippy::unreadable_literal,
    reason = "a test stops where it fails, and reads best with values"
)]

mod answers;
mod candidate;
mod candidate_html;
mod corpus;
mod documents;
mod drawings;
mod edit;
mod expressions;
mod faults;
mod features;
mod files;
mod fuzz;
mod html;
mod json;
mod kit;
mod manual;
mod printed;
mod rules;
mod scored;
mod short;
mod shuffled;
mod speed;
mod standards;
mod summary;
mod tidy;
mod words;
