//! OneRoster 1.2: rostering, gradebook and resources.
//!
//! Each kind of record is declared once ([`kinds`]); one engine interprets the declarations:
//! validation ([`record`]), filters ([`filter`]), order, storage ([`repository`]), rendering
//! ([`render`]), CSV ([`mod@csv`]). [`demo`] makes networks to try it on. This crate knows no HTTP and no async; it works on a store transaction.
//!
//! Invariants: only [`repository`] and the filter's `sql.rs` speak SQL; one function writes a
//! record's JSON, columns, links and counters together; `href`s are rendered at read.

pub mod agents;
pub mod bulk;
mod canonical;
pub mod cartridge;
pub mod collections;
pub mod course_tree;
pub mod credentials;
pub mod csv;
pub mod default_class;
pub mod demo;
pub mod fields;
pub mod filter;
pub mod grade;
pub mod imports;
pub mod kind;
pub mod kinds;
mod narrow;
mod patch;
pub mod query;
pub mod record;
pub mod render;
pub mod repository;
pub mod rules;
pub mod sort;
pub mod structure;
pub mod syllabus;
pub mod write;

pub use patch::merge;

use lyceum_store::Migration;

/// The schema of this crate.
pub const MIGRATIONS: &[Migration] = &[
    Migration { version: 3, name: "roster", sql: include_str!("../migrations/V3__roster.sql") },
    Migration { version: 37, name: "imports", sql: include_str!("../migrations/V37__imports.sql") },
    Migration {
        version: 50,
        name: "progress_of_imports",
        sql: include_str!("../migrations/V50__progress_of_imports.sql"),
    },
    Migration {
        version: 56,
        name: "sought_lessons",
        sql: include_str!("../migrations/V56__sought_lessons.sql"),
    },
    Migration {
        version: 77,
        name: "grades_with_names",
        sql: include_str!("../migrations/V77__grades_with_names.sql"),
    },
];
