//! The binary from outside: what it prints, where, and how it exits; and what the published
//! clients, a strict consumer and generated requests get from the server that it starts.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on may panic, and says what it left out"
)]

mod accounts;
mod admin;
mod backups;
mod badges;
mod browser;
mod buckets;
mod bundles;
mod chaos;
mod classroom;
mod clients;
mod config;
mod consumer;
mod courses;
mod create;
mod credentials;
mod databases;
mod default_exports;
mod deletions;
mod deploy;
mod dev;
mod doctor;
mod dry_runs;
mod durability;
mod earlier_releases;
mod elsewhere;
mod events;
mod facts;
mod files;
mod first_steps;
mod frameworks;
mod full_disk;
mod generated_clients;
mod guides;
mod hosted;
mod hostile;
mod http;
mod imports;
mod init;
mod installations;
mod interrupted;
mod keyboard;
mod keys;
mod kv;
mod layouts;
mod lessons;
mod lms;
mod machines;
mod master_key;
mod mistakes;
mod node_failures;
mod official;
mod operators_day;
mod packages;
mod persons;
mod promises;
mod published_clients;
mod python;
mod qti;
mod qti_store;
mod redeploys;
mod rehearsals;
mod replicas;
mod rolling_upgrade;
mod sandbox;
mod schemas;
mod schemathesis;
mod serve;
mod served;
mod simulations;
mod standards;
mod student_speed;
mod telemetry;
mod transcript;
mod typing;
mod usage;
mod walkthrough;
mod webhooks;
mod whole_project;
