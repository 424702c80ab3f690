//! The values of a row, as the members of a record. One object is reused for all rows, because a member that keeps
//! its place and its text's memory costs nothing.

use lyceum_core::message;
use serde_json::{Value, json};

use super::cell::{self, CellError, decode};
use super::fault::CsvError;
use super::files::COMMON;
use super::header::ColumnUse;
use super::layout::FileLayout;
use super::rows::CsvRow;
use crate::kind::{Field, FieldType};
use crate::record::Object;

/// The members of a row; null if the row has no value.
pub(super) struct RowMembers {
    pub(super) members: Object,
    /// The number of members with their own column. They come first, in the order of the columns.
    columns: usize,
    /// The number of members before a row adds others.
    known: usize,
}

impl RowMembers {
    /// Allocates the members for rows of the layout.
    pub(super) fn of(layout: &FileLayout) -> Self {
        let mut members = Object::new();
        for one in &layout.header.uses {
            if let Some(name) = column_name(one) {
                members.insert(name.into(), Value::Null);
            }
        }
        let columns = members.len();
        for (_, part, _) in &layout.parts {
            members.entry(part.field).or_insert(Value::Null);
        }
        for one in &layout.header.uses {
            match one {
                ColumnUse::Metadata(_) => drop(members.entry("metadata").or_insert(Value::Null)),
                ColumnUse::FormerRole => drop(members.entry("roles").or_insert(Value::Null)),
                _ => {}
            }
        }
        Self { known: members.len(), members, columns }
    }

    /// Reads a record that has only parts: the reference to their owner.
    pub(super) fn of_parts(&mut self, id: &str) {
        self.clear();
        self.members.insert(COMMON[0].into(), id.into());
    }

    fn clear(&mut self) {
        if self.members.len() > self.known {
            let known = self.known;
            let mut at = 0;
            self.members.retain(|_, _| {
                at += 1;
                at <= known
            });
        }
        self.members.values_mut().skip(self.columns).for_each(|value| *value = Value::Null);
    }

    /// Reads a row, which has as many fields as the header. Returns its errors.
    pub(super) fn read(&mut self, layout: &FileLayout, row: &CsvRow) -> Vec<CsvError> {
        self.clear();
        let mut faults = Vec::new();
        let mut fault = |at: usize, value: &str, unfit: CellError| {
            let fault = layout.fault(row.line, unfit.problem, unfit.remedy);
            faults.push(fault.at(&layout.header.names[at], value));
        };
        let mut slots = self.members.values_mut();
        let mut is_open = false;
        for (at, one) in layout.header.uses.iter().enumerate() {
            if matches!(one, ColumnUse::Nothing) {
                continue;
            }
            let text = row.text(at).unwrap_or_else(|readable| {
                let problem = "is not UTF-8".into();
                let remedy = "save the file with the encoding UTF-8".into();
                fault(at, &readable, CellError { problem, remedy });
                ""
            });
            if column_name(one).is_none() {
                is_open |= !text.is_empty();
                continue;
            }
            let slot = slots.next().expect("a column has its member");
            match one {
                ColumnUse::Field(field) => {
                    if let Err(unfit) = fill(slot, field, text) {
                        fault(at, text, unfit);
                    }
                }
                _ => fill_text(slot, text),
            }
        }
        if is_open {
            for (at, one) in layout.header.uses.iter().enumerate() {
                let text = row.text(at).unwrap_or_default();
                if let Err(unfit) = self.read_open(one, text) {
                    fault(at, text, unfit);
                }
            }
            self.former_roles(layout, row);
        }
        faults
    }

    /// Reads a cell whose column has no member of its own.
    fn read_open(&mut self, one: &ColumnUse, text: &str) -> Result<(), CellError> {
        match one {
            ColumnUse::Metadata(name) if !text.is_empty() => {
                metadata_of(&mut self.members).insert(name.clone(), cell::metadata(text)?);
            }
            ColumnUse::Extra if !text.is_empty() => match serde_json::from_str::<Object>(text) {
                Ok(mut more) => {
                    more.retain(|name, _| !COMMON.contains(&name.as_str()));
                    overlay(&mut self.members, more);
                }
                Err(error) => {
                    let problem = message!("is not a JSON object ({error})");
                    let remedy = "fix the JSON, or leave the cell empty".into();
                    return Err(CellError { problem, remedy });
                }
            },
            _ => {}
        }
        Ok(())
    }

    /// The roles of a user in OneRoster 1.1: one role at several organizations.
    fn former_roles(&mut self, layout: &FileLayout, row: &CsvRow) {
        let text = |place: Option<usize>| place.and_then(|at| row.text(at).ok());
        let role = text(layout.header.place(|one| matches!(one, ColumnUse::FormerRole)));
        let orgs = text(layout.header.place(|one| matches!(one, ColumnUse::FormerOrgs)));
        let (Some(role), Some(orgs)) = (role.filter(|role| !role.is_empty()), orgs) else { return };
        // OneRoster 1.2 split the administrator of 1.1 by what they administer.
        let role = if role == "administrator" { "siteAdministrator" } else { role };
        let roles: Vec<Value> = cell::list(orgs)
            .unwrap_or_default()
            .into_iter()
            .map(|org| json!({ "roleType": "primary", "role": role, "org": { "sourcedId": org } }))
            .collect();
        self.members.insert("roles".into(), roles.into());
    }

    /// The row's value of a member.
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.members.get(name).filter(|value| !value.is_null())
    }

    /// Whether the row deletes the record.
    pub(super) fn is_deletion(&self) -> bool {
        self.get(COMMON[1]).is_some_and(|status| status == "tobedeleted")
    }
}

/// The member that only this column sets.
fn column_name(one: &ColumnUse) -> Option<&'static str> {
    match one {
        ColumnUse::SourcedId => Some(COMMON[0]),
        ColumnUse::Status => Some(COMMON[1]),
        ColumnUse::Modified => Some(COMMON[2]),
        ColumnUse::Field(field) => Some(field.name),
        _ => None,
    }
}

fn fill_text(slot: &mut Value, text: &str) {
    match slot {
        _ if text.is_empty() => *slot = Value::Null,
        Value::String(former) => text.clone_into(former),
        _ => *slot = Value::String(text.to_owned()),
    }
}

/// Like [`decode`], but in place if that saves allocations.
fn fill(slot: &mut Value, field: &Field, text: &str) -> Result<(), CellError> {
    match field.ty {
        FieldType::Text
        | FieldType::Uri
        | FieldType::Word(_)
        | FieldType::Flag
        | FieldType::Date
        | FieldType::Instant => {
            fill_text(slot, text);
        }
        FieldType::Reference(_) if !text.is_empty() => match slot {
            Value::Object(reference) => {
                reference.values_mut().for_each(|id| fill_text(id, text));
            }
            _ => *slot = json!({ "sourcedId": text }),
        },
        _ => {
            *slot = Value::Null;
            *slot = decode(field, text)?.unwrap_or_default();
        }
    }
    Ok(())
}

fn metadata_of(object: &mut Object) -> &mut Object {
    let metadata = object.entry("metadata").or_insert(Value::Null);
    if !metadata.is_object() {
        *metadata = Value::Object(Object::new());
    }
    metadata.as_object_mut().expect("made an object above")
}

/// Overlays one object with another, metadata member by member.
pub(super) fn overlay(object: &mut Object, more: Object) {
    for (name, value) in more {
        match value {
            Value::Object(metadata) if name == "metadata" => {
                metadata_of(object).extend(metadata);
            }
            value => drop(object.insert(name, value)),
        }
    }
}
