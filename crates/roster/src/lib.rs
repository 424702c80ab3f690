//! OneRoster 1.2: rostering, gradebook and resources.
//!
//! Each kind of record is declared once in [`kinds`]. One engine interprets the declarations: validation, filters, order,
//! storage, rendering and CSV. One function, `put` in [`repository`], writes a record's JSON, columns, links and counts
//! together. `href`s are inserted when a record is read.
//!
//! | what | where |
//! |---|---|
//! | what a declaration can contain; the declarations; other rules | `kind`, `kinds`, `rules` |
//! | a record; its stored JSON and columns | `record`, `canonical` |
//! | writes by clients: one, patched, many | `write`, `patch`, `bulk` |
//! | writes of callers who are limited to organizations | `reach` |
//! | answers: `href`s, payload dialects | `render`, `narrow` |
//! | which lists exist; their parameters, filters and order | `collections`, `query`, `filter`, `sort` |
//! | OneRoster 1.1 over the same records | `v1p1` |
//! | members of stored records; grades; when an enrollment counts | `fields`, `grade`, `membership` |
//! | SQL: put, read, list, delete, purge, check | `repository` |
//! | default classes, guardians, users' credentials | `default_class`, `agents`, `credentials` |
//! | line items and results that the server writes | `results` |
//! | course trees: read, create at once, syllabus, Common Cartridge | `course_tree`, `structure`, `syllabus`, `cartridge` |
//! | CSV import and export; imports started in the console | `csv`, `imports` |
//! | what the console shows of classes, courses and imports | `screens` |
//! | limits | `limits` |

pub mod agents;
pub mod bulk;
mod canonical;
pub mod cartridge;
pub mod collections;
pub mod course_tree;
pub mod credentials;
pub mod csv;
pub mod default_class;
pub mod fields;
pub mod filter;
pub mod grade;
pub mod imports;
pub mod kind;
pub mod kinds;
pub mod limits;
pub mod membership;
mod narrow;
mod patch;
pub mod query;
pub mod reach;
pub mod record;
pub mod render;
pub mod repository;
pub mod results;
pub mod rules;
pub mod screens;
pub mod sort;
pub mod structure;
pub mod syllabus;
pub mod v1p1;
pub mod write;

pub use patch::merge;

use lyceum_store::{Migration, migration};

/// The schema of this crate.
pub const MIGRATIONS: &[Migration] = &[
    migration!(3, "roster"),
    migration!(15, "imported_records"),
    migration!(17, "enrollment_courses"),
    migration!(19, "source_modified"),
    migration!(24, "reach_of_imports"),
];
