//! Renders records in their 1.1 form.

use lyceum_core::text::segment;
use lyceum_core::{Problem, Result};
use serde_json::{Map, Value};

use super::BASE;
use super::form::{FieldSource, FormField, RecordForm, WordMap};
use super::query::selected;
use crate::collections::{Collection, CollectionPart};
use crate::fields::id_in;
use crate::kinds;
use crate::record::Object;

/// How the records of a collection are rendered.
#[derive(Clone, Debug)]
pub struct FormView {
    form: &'static RecordForm,
    part: CollectionPart,
    /// The members to show; `None` for all.
    fields: Option<Vec<&'static str>>,
}

impl FormView {
    /// The view of a collection whose records have the form, with the `fields` parameter of the request. Errors:
    /// `BadSelection`.
    pub fn new(
        form: &'static RecordForm,
        collection: Collection,
        fields: Option<&str>,
    ) -> Result<Self> {
        let fields = fields.map(|text| selected(form, text)).transpose()?;
        Ok(Self { form, part: collection.part, fields })
    }

    /// Renders records, with commas between them, that are rendered in the standard dialect of version 1.2. The server
    /// is reached at `base_url`.
    pub fn render(&self, base_url: &str, records: &str) -> Result<String> {
        let records: Vec<Object> =
            serde_json::from_str(&format!("[{records}]")).map_err(Problem::internal)?;
        let render = |record| Value::Object(self.record(base_url, record)).to_string();
        Ok(records.into_iter().map(render).collect::<Vec<_>>().join(","))
    }

    fn record(&self, base_url: &str, mut stored: Object) -> Object {
        let mut record = Map::new();
        for name in ["sourcedId", "status", "dateLastModified"] {
            record.extend(stored.remove_entry(name));
        }
        for field in self.form.fields {
            let value = self.value(base_url, field, &stored).or_else(|| field.value_if_missing());
            record.extend(value.map(|value| (field.name.to_owned(), value)));
        }
        record.extend(stored.remove_entry("metadata"));
        if let Some(fields) = &self.fields {
            record.retain(|name, _| fields.contains(&name.as_str()));
        }
        record
    }

    fn value(&self, base_url: &str, field: &FormField, stored: &Object) -> Option<Value> {
        let value = stored.get(field.name).filter(|value| !value.is_null());
        match field.source {
            FieldSource::Same | FieldSource::TextOrEmpty | FieldSource::NumberOrZero => {
                value.map(|value| with_addresses(base_url, value))
            }
            FieldSource::Word(words) => value.and_then(|value| shown(words, value)),
            FieldSource::Role(words) => words.shown(self.role(stored)).map(Value::from),
            FieldSource::OrgsOfRoles => Some(self.orgs(base_url, stored)),
        }
    }

    /// The stored word of a user's role.
    fn role<'s>(&self, user: &'s Object) -> Option<&'s str> {
        match self.part {
            CollectionPart::WithRole(role) => Some(role),
            _ => roles(user).next()?.get("role")?.as_str(),
        }
    }

    /// The organizations of a user's roles, those of the shown role first.
    fn orgs(&self, base_url: &str, user: &Object) -> Value {
        let role = self.role(user);
        let mut roles: Vec<&Value> = roles(user).collect();
        roles.sort_by_key(|one| one.get("role").and_then(Value::as_str) != role);
        let mut orgs: Vec<Value> = Vec::new();
        for org in roles.iter().filter_map(|one| one.get("org")) {
            if orgs.iter().all(|known| id_in(known) != id_in(org)) {
                orgs.push(with_addresses(base_url, org));
            }
        }
        orgs.into()
    }
}

/// The value with the addresses that its references have in version 1.1.
fn with_addresses(base_url: &str, value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| with_addresses(base_url, item)).collect(),
        Value::Object(reference) if reference.contains_key("href") => {
            let kind = reference.get("type").and_then(Value::as_str).and_then(kinds::by_name);
            let mut reference = reference.clone();
            if let Some(kind) = kind {
                let id = segment(id_in(value));
                reference["href"] = format!("{base_url}{BASE}/{}/{id}", kind.path).into();
            }
            reference.into()
        }
        other => other.clone(),
    }
}

/// The roles of a user, primary ones first.
fn roles(user: &Object) -> impl Iterator<Item = &Value> {
    let all = || user.get("roles").and_then(Value::as_array).into_iter().flatten();
    let is_primary = |role: &&Value| role.get("roleType").is_some_and(|word| word == "primary");
    all().filter(is_primary).chain(all().filter(move |role| !is_primary(role)))
}

fn shown(words: &WordMap, value: &Value) -> Option<Value> {
    match value {
        Value::Array(items) => {
            let items = items.iter().filter_map(|item| words.shown(item.as_str()));
            Some(items.collect::<Vec<_>>().into())
        }
        word => words.shown(word.as_str()).map(Value::from),
    }
}
