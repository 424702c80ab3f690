//! A record: parsed and validated against its kind, written as canonical JSON with everything
//! that the store keeps beside it.
//!
//! The canonical text has the common members first, then the declared fields in the order of
//! their declaration, then `metadata`, without whitespace except one TAB behind the brace of
//! each reference: [`crate::render`] finds references by it. `href`s are not stored.

use lyceum_core::time::Timestamp;
use lyceum_core::{Detail, Message, PayloadDialect, Problem, Result, limits, message, messages};
use serde_json::{Map, Value, json};

use crate::canonical::{CanonicalWriter, ReadMode, check_json};
use crate::collections;
use crate::kind::{Presence, RecordKind, ReferenceTarget};
use crate::rules;

/// A JSON object, members in the order in which they came.
pub type Object = Map<String, Value>;

/// A record as the store holds it.
#[derive(Clone, Debug)]
pub struct StoredRecord {
    /// Its number in its table; lists without a sort follow it.
    pub seq: i64,
    /// Counts its changes; the `ETag` shows it.
    pub version: i64,
    /// Its canonical JSON.
    pub body: String,
    /// Its platform members.
    pub extra: Option<String>,
}

/// Whether a record is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// In use.
    Active,
    /// Deleted; kept so that others can follow (delta sync) until it is purged.
    ToBeDeleted,
}

impl Status {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::ToBeDeleted => "tobedeleted",
        }
    }
}

/// A member of a list field or a multi-valued reference, as `roster_link` keeps it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListLink {
    /// Kind and path, such as `user.roles.role`.
    pub field: String,
    /// The member: an id, a word, or a text with its ASCII letters in lower case.
    pub value: String,
}

/// A reference to another record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordReference {
    /// Where it stands, such as `course.org.sourcedId`.
    pub path: String,
    /// The kind that it points to.
    pub kind: &'static RecordKind,
    /// The sourcedId that it points to.
    pub sourced_id: String,
    /// The records that it may point to.
    pub target: ReferenceTarget,
}

/// A valid record.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its kind.
    pub kind: &'static RecordKind,
    /// Its id.
    pub sourced_id: String,
    /// Whether it is in use.
    pub status: Status,
    /// When it changed last. It becomes the stamp of the transaction that writes it.
    pub date_last_modified: Timestamp,
    /// When it changed in the system that it was imported from, as text; `None` if that is not known.
    pub source_modified: Option<String>,
    /// Its canonical JSON as far as the standard dialect shows it.
    pub body: String,
    /// The members that only the platform dialect shows, as one JSON object.
    pub extra: Option<String>,
    /// The values of its kind's columns, in the order of [`RecordKind::columns`].
    pub columns: Vec<Option<String>>,
    /// Its list members, sorted, each once.
    pub links: Vec<ListLink>,
    /// Its references, which must exist.
    pub references: Vec<RecordReference>,
}

/// The source of a record's `dateLastModified`.
#[derive(Clone, Copy, Debug)]
pub enum ModifiedTime {
    /// This instant, whatever the data says: the API's rule.
    Now(Timestamp),
    /// This instant. The time in the data is the one of its source: for imports.
    Source(Timestamp),
    /// The time in the data, which is a stored record.
    Stored,
}

impl Record {
    /// Reads a record of the kind from a JSON object. What a record that is deleted says of itself is not
    /// held against the rules of values, so that whatever was stored can be deleted.
    ///
    /// Errors: `Invalid` with every fault and its path.
    pub fn parse(
        kind: &'static RecordKind,
        object: &Object,
        dialect: PayloadDialect,
        stamp: ModifiedTime,
    ) -> Result<Self> {
        Self::read(kind, object, stamp, ReadMode { dialect, is_checked: true })
    }

    /// A record that the server itself writes, from its members.
    pub fn from_server(
        kind: &'static RecordKind,
        members: &Object,
        now: Timestamp,
    ) -> Result<Self> {
        Self::parse(kind, members, PayloadDialect::Platform, ModifiedTime::Now(now))
    }

    fn read(
        kind: &'static RecordKind,
        object: &Object,
        stamp: ModifiedTime,
        mut reading: ReadMode,
    ) -> Result<Self> {
        let mut faults = Vec::new();
        let sourced_id = sourced_id(kind, object, &mut faults);
        let status = status(kind, object, &mut faults);
        let (date_last_modified, source_modified) = modified(kind, object, stamp, &mut faults);
        reading.is_checked &= status == Status::Active;
        let is_checked = reading.is_checked;
        if let Some(check_values) = kind.rules.check_values.filter(|_| is_checked) {
            check_values(kind, object, &mut faults);
        }
        let mut writer = CanonicalWriter::new(kind, reading, &mut faults);
        writer.common(&sourced_id, status, date_last_modified);
        writer.fields(object);
        writer.metadata(object);
        let mut written = writer.finish(object);
        written.links.extend(kind.rules.links.into_iter().flat_map(|links| links(object)));
        if is_checked {
            written.references.extend(rules::reference_by_id(kind, &sourced_id));
        }
        written.links.sort();
        written.links.dedup();
        if written.body.len() > limits::RECORD_MAX_BYTES {
            faults.push(Detail {
                path: kind.one.into(),
                message: message!(
                    "has {body} bytes; a record has at most {most} bytes",
                    body = written.body.len(),
                    most = limits::RECORD_MAX_BYTES
                ),
            });
        }
        if !faults.is_empty() {
            return Err(Problem::invalid_all(faults));
        }
        Ok(Self {
            kind,
            sourced_id,
            status,
            date_last_modified,
            source_modified,
            body: written.body,
            extra: written.extra,
            columns: written.columns,
            links: written.links,
            references: written.references,
        })
    }

    /// Parses a record from its stored texts. Its other columns are derived again. The record may be older than a
    /// rule.
    pub fn stored(kind: &'static RecordKind, body: &str, extra: Option<&str>) -> Result<Self> {
        Self::read_unchecked(kind, &members(body, extra)?, ModifiedTime::Stored)
    }

    fn read_unchecked(
        kind: &'static RecordKind,
        object: &Object,
        stamp: ModifiedTime,
    ) -> Result<Self> {
        let reading = ReadMode { dialect: PayloadDialect::Platform, is_checked: false };
        Self::read(kind, object, stamp, reading).map_err(Problem::internal)
    }

    /// The record with these single references, which follow from a stored record: field and sourcedId. They may point
    /// to deleted records.
    pub(crate) fn with_references(
        &self,
        references: &[(&str, &str)],
        stamp: ModifiedTime,
    ) -> Result<Self> {
        let mut object = members(&self.body, self.extra.as_deref())?;
        for (field, id) in references {
            object.insert((*field).to_owned(), json!({ "sourcedId": id }));
        }
        let mut record = Self::read_unchecked(self.kind, &object, stamp)?;
        record.source_modified.clone_from(&self.source_modified);
        for (field, _) in references {
            let path = format!("{}.{field}.sourcedId", self.kind.one);
            let pointers = record.references.iter_mut().filter(|pointer| pointer.path == path);
            pointers.for_each(|pointer| pointer.target = ReferenceTarget::Any);
        }
        Ok(record)
    }

    /// The value of a column: of a single-valued reference the sourcedId.
    pub(crate) fn column(&self, field: &str) -> Option<&str> {
        let at = self.kind.columns().position(|(known, _)| known.name == field);
        self.columns[at?].as_deref()
    }

    /// The stored record of the same kind.
    pub(crate) fn read_former(&self, stored: &StoredRecord) -> Result<Self> {
        Self::stored(self.kind, &stored.body, stored.extra.as_deref())
    }

    /// Whether the other record says the same, apart from when it was last modified.
    pub fn same_as(&self, body: &str, extra: Option<&str>) -> bool {
        let stamp = self.stamp_range();
        self.body.len() == body.len()
            && self.body.as_bytes()[..stamp.start] == body.as_bytes()[..stamp.start]
            && self.body.as_bytes()[stamp.end..] == body.as_bytes()[stamp.end..]
            && self.extra.as_deref() == extra
    }

    /// The record as it is when it changes at this instant.
    pub(crate) fn stamped(&self, at: Timestamp) -> Self {
        let mut record = Self { date_last_modified: at, ..self.clone() };
        record.body.replace_range(self.stamp_range(), &at.to_string());
        record
    }

    /// The text of `dateLastModified`, as the body has it.
    pub(crate) fn stamp(&self) -> &str {
        &self.body[self.stamp_range()]
    }

    fn stamp_range(&self) -> std::ops::Range<usize> {
        let key = "\"dateLastModified\":\"";
        let start = self.body.find(key).expect("every body carries its stamp") + key.len();
        start..start + Timestamp::TEXT_BYTES
    }

    /// The names of the counts of its organization that include it, such as `users@org-1`.
    pub(crate) fn organization_counts(&self) -> Vec<String> {
        collections::counting_by_organization(self)
    }

    /// The names of the collections that count it, such as `users` and `students`.
    pub fn collections(&self) -> Vec<&'static str> {
        collections::counting(self)
    }
}

/// The members of a stored record as one object.
pub fn members(body: &str, extra: Option<&str>) -> Result<Object> {
    let mut object: Object = serde_json::from_str(body).map_err(Problem::internal)?;
    if let Some(extra) = extra {
        object.extend(serde_json::from_str::<Object>(extra).map_err(Problem::internal)?);
    }
    Ok(object)
}

fn sourced_id(kind: &RecordKind, object: &Object, faults: &mut Vec<Detail>) -> String {
    let mut fault = |message: Message| {
        faults.push(Detail { path: format!("{}.sourcedId", kind.one), message });
        String::new()
    };
    match object.get("sourcedId") {
        None | Some(Value::Null) => fault(messages::required("a sourcedId")),
        Some(Value::String(id)) => match check_sourced_id(id) {
            Ok(()) => id.clone(),
            Err(message) => fault(message),
        },
        Some(_) => fault(messages::MUST_BE_STRING.into()),
    }
}

/// Whether the text can be a `sourcedId`; if not, why.
pub fn check_sourced_id(id: &str) -> Result<(), Message> {
    if id.is_empty() {
        return Err(messages::MUST_NOT_BE_EMPTY.into());
    }
    if id.chars().count() > limits::SOURCED_ID_MAX_CHARS {
        return Err(messages::too_many(limits::SOURCED_ID_MAX_CHARS, "characters"));
    }
    if id.chars().any(char::is_control) {
        return Err("must not contain control characters".into());
    }
    Ok(())
}

fn status(kind: &RecordKind, object: &Object, faults: &mut Vec<Detail>) -> Status {
    match object.get("status") {
        None | Some(Value::Null) => Status::Active,
        Some(Value::String(word)) if word == "active" => Status::Active,
        Some(Value::String(word)) if word == "tobedeleted" => Status::ToBeDeleted,
        Some(other) => {
            faults.push(Detail {
                path: format!("{}.status", kind.one),
                message: message!("must be 'active' or 'tobedeleted' (got {other})"),
            });
            Status::Active
        }
    }
}

fn modified(
    kind: &RecordKind,
    object: &Object,
    stamp: ModifiedTime,
    faults: &mut Vec<Detail>,
) -> (Timestamp, Option<String>) {
    let sent: Option<Timestamp> = match object.get("dateLastModified") {
        None | Some(Value::Null) => None,
        Some(value) => match value.as_str().and_then(|text| text.parse().ok()) {
            Some(instant) => Some(instant),
            None => {
                faults.push(Detail {
                    path: format!("{}.dateLastModified", kind.one),
                    message: messages::MUST_BE_INSTANT.into(),
                });
                None
            }
        },
    };
    match stamp {
        ModifiedTime::Now(now) => (now, None),
        ModifiedTime::Source(now) => (now, sent.map(|sent| sent.to_string())),
        ModifiedTime::Stored => (sent.unwrap_or(Timestamp::from_milliseconds(0)), None),
    }
}

/// The fields that every record has beside its own.
pub const COMMON: &[&str] = &["sourcedId", "status", "dateLastModified", "metadata"];

/// Checks a `metadata` object, the one open place of the standard.
pub(crate) fn check_metadata(value: &Value) -> Result<(), Message> {
    if !value.is_object() {
        return Err(messages::MUST_BE_OBJECT.into());
    }
    check_json(value)
}

/// Whether the dialect requires a value of this presence.
pub(crate) fn must_be_there(presence: Presence, dialect: PayloadDialect) -> bool {
    match presence {
        Presence::Required | Presence::Derived => true,
        Presence::OrElse(_) => dialect == PayloadDialect::Standard,
        Presence::Optional | Presence::Nullable => false,
    }
}
