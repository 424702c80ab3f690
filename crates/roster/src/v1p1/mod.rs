//! OneRoster 1.1 over the same records. Each kind that version 1.1 has is declared once in `forms`. Answers, filters,
//! orders and selections of fields follow from the declaration.
//!
//! Words that version 1.1 lacks become the nearest one, or are left out if they have none. Required fields are never
//! missing, but a value that would be wrong (`resultValueMax`) is left out. Scopes of 1.1 open 1.1 only.

mod form;
mod forms;
mod query;
mod render;

pub use form::{FieldSource, FormField, RecordForm, WordMap};
pub use query::query;
pub use render::FormView;

use crate::collections::{self, Collection, GRADEBOOK, RESOURCES, ROSTERING, ScopedCollection};
use crate::kind::RecordKind;

/// The path below which OneRoster 1.1 is served.
pub const BASE: &str = "/ims/oneroster/v1p1";

/// The 1.1 form of a kind; `None` for a kind that version 1.1 does not have.
pub fn form(kind: &RecordKind) -> Option<&'static RecordForm> {
    forms::ALL.iter().copied().find(|form| form.kind == kind)
}

/// The collections of version 1.1 with the forms of their records.
pub fn collections() -> impl Iterator<Item = (Collection, &'static RecordForm)> {
    collections::all().filter_map(|collection| Some((collection, form(collection.kind)?)))
}

/// The lists of version 1.1 that belong to a record, with the forms of their records.
pub fn scoped() -> impl Iterator<Item = (ScopedCollection, &'static RecordForm)> {
    let all = [ROSTERING, GRADEBOOK, RESOURCES].into_iter().flatten();
    all.filter(|scoped| scoped.standard && !NEW_IN_1_2.contains(&scoped.path)).filter_map(
        |scoped| {
            let collection = collections::at(scoped.of).expect("scoped collections are declared");
            Some((*scoped, form(collection.kind)?))
        },
    )
}

/// Lists of kinds that version 1.1 has, which came with version 1.2.
const NEW_IN_1_2: [&str; 2] =
    ["/classes/{classSourcedId}/categories", "/users/{userSourcedId}/resources"];
