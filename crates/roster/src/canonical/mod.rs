//! Validates a record and writes its canonical JSON in one pass, field by field.

mod scalars;

pub(crate) use scalars::day;

use std::fmt::Write as _;

use lyceum_core::limits::JSON_MAX_DEPTH;
use lyceum_core::time::Timestamp;
use lyceum_core::{Detail, Message, PayloadDialect, message, messages};
use serde_json::Value;

use crate::grade;
use crate::kind::{Field, FieldType, Presence, RecordKind};
use crate::kinds;
use crate::limits;
use crate::narrow::standard_part;
use crate::record::{
    COMMON, ListLink, Object, RecordReference, Status, check_metadata, check_sourced_id,
    must_be_there,
};

/// The stored form of a record.
pub(crate) struct CanonicalRecord {
    pub(crate) body: String,
    pub(crate) extra: Option<String>,
    pub(crate) columns: Vec<Option<String>>,
    pub(crate) links: Vec<ListLink>,
    pub(crate) references: Vec<RecordReference>,
}

/// The state while an object is read.
#[derive(Clone, Copy)]
pub(crate) struct ReadMode {
    pub(crate) dialect: PayloadDialect,
    /// Whether to check rules that may be newer than stored records.
    pub(crate) is_checked: bool,
}

pub(crate) struct CanonicalWriter<'a> {
    kind: &'static RecordKind,
    dialect: PayloadDialect,
    is_checked: bool,
    faults: &'a mut Vec<Detail>,
    written: CanonicalRecord,
    /// Whether the next members belong to the text of the platform dialect.
    into_extra: bool,
    extra: String,
    /// Whether both texts contain the same member.
    overlaps: bool,
}

impl<'a> CanonicalWriter<'a> {
    pub(crate) fn new(
        kind: &'static RecordKind,
        reading: ReadMode,
        faults: &'a mut Vec<Detail>,
    ) -> Self {
        let written = CanonicalRecord {
            body: String::with_capacity(512),
            extra: None,
            columns: Vec::new(),
            links: Vec::new(),
            references: Vec::new(),
        };
        let extra = String::new();
        let ReadMode { dialect, is_checked } = reading;
        let (into_extra, overlaps) = (false, false);
        Self { kind, dialect, is_checked, faults, written, into_extra, extra, overlaps }
    }

    pub(crate) fn common(&mut self, sourced_id: &str, status: Status, modified: Timestamp) {
        self.written.body.push_str("{\"sourcedId\":");
        self.string(sourced_id);
        let _ = write!(
            self.written.body,
            ",\"status\":\"{}\",\"dateLastModified\":\"{modified}\"",
            status.as_str()
        );
    }

    pub(crate) fn fields(&mut self, object: &Object) {
        let mut path = format!("{}.", self.kind.one);
        let start = path.len();
        for field in self.kind.fields {
            path.truncate(start);
            path.push_str(field.name);
            let value = object.get(field.name).filter(|value| !value.is_null());
            if field.platform && self.dialect == PayloadDialect::Standard && value.is_some() {
                self.fault(path.clone(), "is not a field of the standard; remove it".into());
                continue;
            }
            self.into_extra = field.platform;
            let columns = self.written.columns.len();
            match value {
                Some(value) => self.whole(field, value, &path),
                None => self.missing(field, &path),
            }
            if field.has_column() {
                // A wrong value must not leave a column behind. The record is refused anyway.
                self.written.columns.resize(columns + 1, None);
            }
            self.into_extra = false;
        }
    }

    /// Writes a member. If a list has members that exist only in the platform dialect, they go to the platform's
    /// text.
    fn whole(&mut self, field: &Field, value: &Value, path: &str) {
        let is_wide = self.dialect == PayloadDialect::Platform && !field.platform;
        let Some(narrow) = is_wide.then(|| standard_part(field, value)).flatten() else {
            return self.member(field, value, path, true);
        };
        self.member(field, &narrow, path, true);
        self.into_extra = true;
        self.member(field, value, path, true);
        self.overlaps = true;
    }

    fn missing(&mut self, field: &Field, path: &str) {
        if must_be_there(field.presence, self.dialect) {
            return self.fault(path.into(), required(self.kind, field, self.dialect));
        }
        match field.presence {
            Presence::OrElse(value) => {
                self.member(field, &Value::String(value.into()), path, true);
            }
            Presence::Nullable => {
                self.key(field.name);
                self.out().push_str("null");
            }
            _ => {}
        }
    }

    /// Writes `metadata`, which comes last.
    pub(crate) fn metadata(&mut self, object: &Object) {
        let Some(value) = object.get("metadata").filter(|value| !value.is_null()) else { return };
        if let Err(message) = check_metadata(value) {
            return self.fault(format!("{one}.metadata", one = self.kind.one), message);
        }
        let _ = write!(self.written.body, ",\"metadata\":{value}");
    }

    /// Completes the body. In the platform dialect, undeclared members are stored.
    pub(crate) fn finish(mut self, object: &Object) -> CanonicalRecord {
        self.written.body.push('}');
        self.into_extra = true;
        for (name, value) in object {
            if COMMON.contains(&name.as_str()) || self.kind.field(name).is_some() {
                continue;
            }
            let path = format!("{}.{name}", self.kind.one);
            if self.dialect == PayloadDialect::Standard {
                self.fault(
                    path,
                    "is not a field of the standard; remove it or put it into metadata".into(),
                );
            } else if let Err(message) = check_json(value).and_then(|()| check_name(name)) {
                self.fault(path, message);
            } else {
                self.key(name);
                let _ = write!(self.extra, "{value}");
            }
        }
        if !self.extra.is_empty() {
            self.extra.replace_range(0..1, if self.overlaps { OVERLAPPING } else { "{" });
            self.extra.push('}');
            self.written.extra = Some(self.extra);
        }
        self.written
    }

    /// Writes a member with its comma. `top` says whether it is a field of the record itself, rather than of an
    /// object in a list.
    fn member(&mut self, field: &Field, value: &Value, path: &str, top: bool) {
        if matches!(field.ty, FieldType::Secret) {
            return;
        }
        if self.is_checked
            && let Some(message) = title_fault(field, value)
        {
            return self.fault(path.into(), message);
        }
        self.key(field.name);
        match (field.ty, value) {
            (FieldType::Reference(kind), Value::Object(reference)) => {
                if let Some(id) = self.reference(field, kind, reference, path) {
                    if top {
                        self.written.columns.push(Some(id.to_owned()));
                    } else {
                        self.link(path, id.to_owned());
                    }
                }
            }
            (FieldType::References(kind), Value::Array(items)) => {
                self.list(field, items, path, |writer, item, item_path| match item {
                    Value::Object(reference) => {
                        if let Some(id) = writer.reference(field, kind, reference, item_path) {
                            writer.link(path, id.to_owned());
                        }
                    }
                    _ => writer.fault(item_path.into(), OBJECT_REFERENCE.into()),
                });
            }
            (FieldType::Texts, Value::Array(items)) => {
                self.list(field, items, path, |writer, item, item_path| {
                    if let Some(text) = writer.text(item, item_path)
                        && field.is_indexed()
                    {
                        writer.link(path, text.to_ascii_lowercase());
                    }
                });
            }
            (FieldType::Grades, Value::Array(items)) => {
                self.list(field, items, path, |writer, item, item_path| {
                    if let Some(text) = writer.grade(item, item_path)
                        && field.is_indexed()
                    {
                        writer.link(path, grade::comparable(&text));
                    }
                });
            }
            (FieldType::WordList(words), Value::Array(items)) => {
                self.list(field, items, path, |writer, item, item_path| {
                    writer.word(words, item, item_path);
                });
            }
            (FieldType::Objects(fields), Value::Array(items)) => {
                self.list(field, items, path, |writer, item, item_path| match item {
                    Value::Object(object) => writer.object(fields, object, path, item_path),
                    _ => writer.fault(item_path.into(), messages::MUST_BE_OBJECT.into()),
                });
            }
            (FieldType::Reference(_), _) => self.fault(path.into(), OBJECT_REFERENCE.into()),
            (
                FieldType::References(_)
                | FieldType::Texts
                | FieldType::Grades
                | FieldType::WordList(_)
                | FieldType::Objects(_),
                _,
            ) => self.fault(path.into(), messages::MUST_BE_ARRAY.into()),
            _ => {
                let Some(text) = self.scalar(field.ty, value, path) else { return };
                if top && field.has_column() {
                    self.written.columns.push(Some(text.into_owned()));
                } else if !top && field.is_indexed() {
                    let is_text = matches!(field.ty, FieldType::Text);
                    let value = if is_text { text.to_ascii_lowercase() } else { text.into_owned() };
                    self.link(path, value);
                }
            }
        }
    }

    fn list(
        &mut self,
        field: &Field,
        items: &[Value],
        path: &str,
        mut each: impl FnMut(&mut Self, &Value, &str),
    ) {
        if items.len() > limits::LIST_MAX_MEMBERS {
            let most = limits::LIST_MAX_MEMBERS;
            return self.fault(path.into(), messages::too_many(most, "members"));
        }
        if items.is_empty() && field.presence == Presence::Required {
            self.fault(path.into(), "must have at least one member".into());
        }
        self.out().push('[');
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.out().push(',');
            }
            each(self, item, &format!("{path}[{index}]"));
        }
        self.out().push(']');
    }

    /// Writes an object of a list. `list_path` names the list in links, and `path` is the object's place.
    fn object(&mut self, fields: &[Field], object: &Object, list_path: &str, path: &str) {
        let start = self.out().len();
        for field in fields {
            let member_path = format!("{path}.{}", field.name);
            match object.get(field.name).filter(|value| !value.is_null()) {
                Some(value) => {
                    let links = self.written.links.len();
                    self.member(field, value, &member_path, false);
                    for link in &mut self.written.links[links..] {
                        link.field = format!("{list_path}.{}", field.name);
                    }
                }
                None if field.presence == Presence::Required => {
                    self.fault(member_path, "is required".into());
                }
                None => {}
            }
        }
        let unknown = object.iter().filter(|(name, _)| !fields.iter().any(|f| f.name == **name));
        for (name, value) in unknown {
            let member_path = format!("{path}.{name}");
            if self.dialect == PayloadDialect::Standard {
                self.fault(member_path, "is not a field of the standard; remove it".into());
            } else if let Err(message) = check_json(value).and_then(|()| check_name(name)) {
                self.fault(member_path, message);
            } else if name != "href" {
                self.key(name);
                let _ = write!(self.out(), "{value}");
            }
        }
        if self.out().len() == start {
            self.out().push_str("{}");
        } else {
            self.out().replace_range(start..=start, "{");
            self.out().push('}');
        }
    }

    fn reference<'v>(
        &mut self,
        field: &Field,
        kind: &str,
        object: &'v Object,
        path: &str,
    ) -> Option<&'v str> {
        let target = kinds::by_name(kind).expect("declarations refer to declared kinds");
        let id_path = || format!("{path}.sourcedId");
        let Some(Value::String(id)) = object.get("sourcedId") else {
            self.fault(id_path(), message!("is required; send the sourcedId of the {kind}"));
            return None;
        };
        if let Err(message) = check_sourced_id(id) {
            self.fault(id_path(), message);
            return None;
        }
        let named_type = object.get("type").filter(|value| !value.is_null());
        let fits = named_type
            .is_none_or(|ty| ty.as_str().and_then(kinds::by_name).is_some_and(|k| k.one == kind));
        if !fits {
            self.fault(format!("{path}.type"), message!("must be '{kind}'"));
            return None;
        }
        self.out().push_str("{\t\"sourcedId\":");
        self.string(id);
        let _ = write!(self.out(), ",\"type\":\"{kind}\"}}");
        self.written.references.push(RecordReference {
            path: id_path(),
            kind: target,
            sourced_id: id.clone(),
            target: field.target,
        });
        Some(id)
    }

    fn link(&mut self, path: &str, value: String) {
        self.written.links.push(ListLink { field: path.to_owned(), value });
    }

    fn key(&mut self, name: &str) {
        self.out().push(',');
        self.string(name);
        self.out().push(':');
    }

    fn string(&mut self, text: &str) {
        let out = self.out();
        // Most texts need no escapes. Copying them is faster than escaping character by character.
        if text.bytes().any(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)) {
            out.push_str(&serde_json::to_string(text).expect("text is JSON"));
        } else {
            out.extend(["\"", text, "\""]);
        }
    }

    fn out(&mut self) -> &mut String {
        if self.into_extra { &mut self.extra } else { &mut self.written.body }
    }

    fn fault(&mut self, path: String, message: Message) {
        self.faults.push(Detail { path, message });
    }
}

/// The message for a missing field. An enrollment may name a course instead of a class, which its message says.
fn required(kind: &RecordKind, field: &Field, dialect: PayloadDialect) -> Message {
    match (kind.one, field.name, dialect) {
        ("enrollment", "class", PayloadDialect::Platform) => messages::required(
            "a reference to a class, or in 'course' a reference to a course to use its default class",
        ),
        _ => "is required".into(),
    }
}

/// Why a value cannot be the title of a record or a required text.
fn title_fault(field: &Field, value: &Value) -> Option<Message> {
    let is_needed = matches!((field.ty, field.presence), (FieldType::Text, Presence::Required));
    match value {
        Value::String(text) if text.trim().is_empty() && (field.is_title || is_needed) => {
            Some("must not be blank; send a string with at least one visible character".into())
        }
        Value::Number(_) | Value::Bool(_) if field.is_title => {
            Some(message!("must be a string (got {value})"))
        }
        _ => None,
    }
}

/// The beginning of the platform's text if it repeats members of the standard's text.
pub(crate) const OVERLAPPING: &str = "{\r";

const OBJECT_REFERENCE: &str = "must be a reference such as {\"sourcedId\": \"…\"}";
const NUL: &str = messages::MUST_NOT_CONTAIN_NUL;

/// Checks free JSON: no NUL character (PostgreSQL cannot hold one) and bounded depth.
pub(crate) fn check_json(value: &Value) -> Result<(), Message> {
    check_json_at(value, 0)
}

fn check_json_at(value: &Value, depth: usize) -> Result<(), Message> {
    if depth > JSON_MAX_DEPTH {
        return Err(message!("is nested deeper than {JSON_MAX_DEPTH} levels"));
    }
    match value {
        Value::String(text) if text.contains('\0') => Err(NUL.into()),
        Value::Array(items) => items.iter().try_for_each(|item| check_json_at(item, depth + 1)),
        Value::Object(object) => object.iter().try_for_each(|(name, item)| {
            check_name(name)?;
            check_json_at(item, depth + 1)
        }),
        _ => Ok(()),
    }
}

fn check_name(name: &str) -> Result<(), Message> {
    if name.contains('\0') { Err(NUL.into()) } else { Ok(()) }
}
