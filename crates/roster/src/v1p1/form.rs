//! The parts of the declaration of a 1.1 form.

use serde_json::Value;

use crate::kind::{Field, Presence, RecordKind};

/// The form that OneRoster 1.1 gives to the records of a kind.
#[derive(Debug)]
pub struct RecordForm {
    /// The kind.
    pub kind: &'static RecordKind,
    /// The fields in their order; `sourcedId`, `status`, `dateLastModified` and `metadata` belong to all.
    pub fields: &'static [FormField],
}

/// A field of a 1.1 form.
#[derive(Clone, Copy, Debug)]
pub struct FormField {
    /// Its name in version 1.1.
    pub name: &'static str,
    /// Where its value comes from.
    pub source: FieldSource,
}

/// Where the value of a 1.1 field comes from.
#[derive(Clone, Copy, Debug)]
pub enum FieldSource {
    /// The field of the same name.
    Same,
    /// The text of the field of the same name; empty if it is missing, because version 1.1 requires the field.
    TextOrEmpty,
    /// The number in the field of the same name; zero if it is missing, because version 1.1 requires the field.
    NumberOrZero,
    /// The word in the field of the same name, or each word of its list, as version 1.1 calls it.
    Word(&'static WordMap),
    /// The role of a user: that of the list of students or teachers, else the first primary one of `roles`.
    Role(&'static WordMap),
    /// The organizations of a user's `roles`, that of the role first.
    OrgsOfRoles,
}

/// The closed vocabulary of a 1.1 field.
#[derive(Debug)]
pub struct WordMap {
    /// The words of version 1.1, each with the stored words that it stands for.
    pub words: &'static [(&'static str, &'static [&'static str])],
    /// The word of version 1.1 for all other stored words, such as extensions, and for a missing value. `None`: they
    /// are left out.
    pub other: Option<&'static str>,
}

impl WordMap {
    /// The word of version 1.1 for a stored word.
    pub fn shown(&self, stored: Option<&str>) -> Option<&'static str> {
        let stands_for =
            |(_, words): &&(&str, &[&str])| stored.is_some_and(|word| words.contains(&word));
        self.words.iter().find(stands_for).map(|(word, _)| *word).or(self.other)
    }
}

impl RecordForm {
    /// The field of that name.
    pub fn field(&self, name: &str) -> Option<&'static FormField> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl FormField {
    /// The declaration of the stored field with the same name; `None` for a field that only version 1.1 has.
    pub fn stored(&self, kind: &RecordKind) -> Option<&'static Field> {
        kind.field(self.name)
    }

    /// Whether each record has it.
    pub fn is_required(&self, kind: &RecordKind) -> bool {
        match self.source {
            FieldSource::Same => self.stored(kind).is_some_and(|field| {
                !matches!(field.presence, Presence::Optional | Presence::Nullable)
            }),
            FieldSource::Word(words) => words.other.is_some(),
            FieldSource::TextOrEmpty
            | FieldSource::NumberOrZero
            | FieldSource::Role(_)
            | FieldSource::OrgsOfRoles => true,
        }
    }

    /// The value for a record without one.
    pub(super) fn value_if_missing(&self) -> Option<Value> {
        match self.source {
            FieldSource::TextOrEmpty => Some("".into()),
            FieldSource::NumberOrZero => Some(0.into()),
            FieldSource::Word(words) => words.other.map(Value::from),
            FieldSource::Same | FieldSource::Role(_) | FieldSource::OrgsOfRoles => None,
        }
    }
}
