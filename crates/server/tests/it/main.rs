//! What every request meets, whatever it asks for. All against a real server, most on both stores.
#![allow(clippy::unwrap_used, reason = "helpers of tests unwrap as tests do")]

mod analytics;
mod assessment;
mod assessment_lists;
mod assessment_writes;
mod assignments;
mod authorisation;
mod bodies;
mod compression;
mod cors;
mod enrolling;
mod events;
mod game_tokens;
mod games;
mod keys;
mod lesson_plans;
mod lessons;
mod limits;
mod new_tests;
mod oneroster;
mod openapi;
mod placement;
mod platform;
mod probe;
mod qti_banks;
mod qti_structure;
mod routing;
mod screening;
mod shutdown;
mod subject_tracks;
mod telemetry;
mod tls;
mod tokens;
