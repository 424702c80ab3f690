//! The roster engine from outside, on both stores.

#![allow(
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    clippy::cast_precision_loss,
    clippy::format_collect,
    clippy::format_push_string,
    clippy::match_same_arms,
    reason = "a test stops where it fails, and reads best with values"
)]

mod binding;
mod bulk;
mod cartridges;
mod courses;
mod csv_absent;
mod csv_faults;
mod csv_files;
mod csv_headers;
mod csv_reach;
mod csv_round_trip;
mod csv_strict;
mod csv_zips;
mod deep_pages;
mod enrollments;
mod filters;
mod fuzz;
mod kit;
mod lists;
mod naive;
mod names;
mod purging;
mod reach;
mod reach_speed;
mod reach_writes;
mod records;
mod rules;
mod schema;
mod screens;
mod sought;
mod uploads;
mod users;
mod v1p1;
mod values;
mod writes;
