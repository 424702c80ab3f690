//! Writes a record's canonical JSON while it validates, field by field, in one pass.

use std::fmt::Write as _;

use lyceum_core::time::{Timestamp, parse_date};
use lyceum_core::{Detail, limits};
use serde_json::Value;

use crate::dialect::Dialect;
use crate::grade;
use crate::kind::{Field, Kind, Presence, Type, Words};
use crate::kinds;
use crate::narrow::standard_part;
use crate::record::{
    COMMON, Link, Object, Pointer, Status, check_metadata, check_sourced_id, must_be_there,
};

/// What the store keeps of a record.
pub(crate) struct Written {
    pub(crate) body: String,
    pub(crate) extra: Option<String>,
    pub(crate) columns: Vec<Option<String>>,
    pub(crate) links: Vec<Link>,
    pub(crate) references: Vec<Pointer>,
}

pub(crate) struct Writer<'a> {
    kind: &'static Kind,
    dialect: Dialect,
    faults: &'a mut Vec<Detail>,
    written: Written,
    /// What is written now goes to the text of platform members.
    into_extra: bool,
    extra: String,
    /// A member stands in both texts.
    overlaps: bool,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(kind: &'static Kind, dialect: Dialect, faults: &'a mut Vec<Detail>) -> Self {
        let written = Written {
            body: String::with_capacity(512),
            extra: None,
            columns: Vec::new(),
            links: Vec::new(),
            references: Vec::new(),
        };
        let extra = String::new();
        Self { kind, dialect, faults, written, into_extra: false, extra, overlaps: false }
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
        for field in self.kind.fields {
            let path = format!("{}.{}", self.kind.one, field.name);
            let value = object.get(field.name).filter(|value| !value.is_null());
            if field.platform && self.dialect == Dialect::Standard && value.is_some() {
                self.fault(path, "is not a field of the standard; leave it out".into());
                continue;
            }
            self.into_extra = field.platform;
            let has_column = field.column_name().is_some();
            let columns = self.written.columns.len();
            match value {
                Some(value) => self.whole(field, value, &path),
                None => self.missing(field, &path),
            }
            if has_column {
                // A faulty value leaves no column behind; the record is refused anyway.
                self.written.columns.resize(columns + 1, None);
            }
            self.into_extra = false;
        }
    }

    /// Writes a member; what only the platform dialect has of a list goes to its text.
    fn whole(&mut self, field: &Field, value: &Value, path: &str) {
        let is_wide = self.dialect == Dialect::Platform && !field.platform;
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
            return self.fault(path.into(), "is required".into());
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

    /// Writes `metadata`, last of all.
    pub(crate) fn metadata(&mut self, object: &Object) {
        let Some(value) = object.get("metadata").filter(|value| !value.is_null()) else { return };
        if let Err(message) = check_metadata(value) {
            return self.fault(format!("{}.metadata", self.kind.one), message);
        }
        let _ = write!(self.written.body, ",\"metadata\":{value}");
    }

    /// Ends the body; members that no declaration names are kept in the platform dialect.
    pub(crate) fn finish(mut self, object: &Object) -> Written {
        self.written.body.push('}');
        self.into_extra = true;
        for (name, value) in object {
            if COMMON.contains(&name.as_str()) || self.kind.field(name).is_some() {
                continue;
            }
            let path = format!("{}.{name}", self.kind.one);
            if self.dialect == Dialect::Standard {
                self.fault(
                    path,
                    "is not a field of the standard; leave it out or put it into metadata".into(),
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

    /// Writes one member with its comma. `top` says that it is a field of the record itself, not
    /// of an object inside a list.
    fn member(&mut self, field: &Field, value: &Value, path: &str, top: bool) {
        if matches!(field.ty, Type::Secret) {
            return;
        }
        self.key(field.name);
        match (field.ty, value) {
            (Type::Reference(kind), Value::Object(reference)) => {
                if let Some(id) = self.reference(kind, reference, path) {
                    if top {
                        self.written.columns.push(Some(id));
                    } else {
                        self.link(path, id);
                    }
                }
            }
            (Type::References(kind), Value::Array(items)) => {
                self.list(field, items, path, |writer, item, item_path| match item {
                    Value::Object(reference) => {
                        if let Some(id) = writer.reference(kind, reference, item_path) {
                            writer.link(path, id);
                        }
                    }
                    _ => writer.fault(item_path.into(), OBJECT_REFERENCE.into()),
                });
            }
            (Type::Texts, Value::Array(items)) => {
                self.list(field, items, path, |writer, item, item_path| {
                    if let Some(text) = writer.text(item, item_path)
                        && field.is_indexed()
                    {
                        writer.link(path, text.to_ascii_lowercase());
                    }
                });
            }
            (Type::Grades, Value::Array(items)) => {
                self.list(field, items, path, |writer, item, item_path| {
                    if let Some(text) = writer.grade(item, item_path)
                        && field.is_indexed()
                    {
                        writer.link(path, grade::comparable(&text));
                    }
                });
            }
            (Type::WordList(words), Value::Array(items)) => {
                self.list(field, items, path, |writer, item, item_path| {
                    writer.word(words, item, item_path);
                });
            }
            (Type::Objects(fields), Value::Array(items)) => {
                self.list(field, items, path, |writer, item, item_path| match item {
                    Value::Object(object) => writer.object(fields, object, path, item_path),
                    _ => writer.fault(item_path.into(), "must be an object".into()),
                });
            }
            (Type::Reference(_), _) => self.fault(path.into(), OBJECT_REFERENCE.into()),
            (
                Type::References(_)
                | Type::Texts
                | Type::Grades
                | Type::WordList(_)
                | Type::Objects(_),
                _,
            ) => self.fault(path.into(), "must be an array".into()),
            _ => {
                let Some(text) = self.scalar(field.ty, value, path) else { return };
                if top && field.column_name().is_some() {
                    self.written.columns.push(Some(text));
                } else if !top && field.is_indexed() {
                    let is_text = matches!(field.ty, Type::Text);
                    self.link(path, if is_text { text.to_ascii_lowercase() } else { text });
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
            return self.fault(path.into(), format!("has more than {most} members"));
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

    /// Writes an object of a list. `list_path` names the list in links, `path` the place.
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
            if self.dialect == Dialect::Standard {
                self.fault(member_path, "is not a field of the standard; leave it out".into());
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

    fn reference(&mut self, kind: &str, object: &Object, path: &str) -> Option<String> {
        let target = kinds::named(kind).expect("declarations refer to declared kinds");
        let id_path = format!("{path}.sourcedId");
        let Some(Value::String(id)) = object.get("sourcedId") else {
            self.fault(id_path, format!("is required; send the sourcedId of the {kind}"));
            return None;
        };
        if let Err(message) = check_sourced_id(id) {
            self.fault(id_path, message);
            return None;
        }
        let given = object.get("type").filter(|value| !value.is_null());
        let fits = given
            .is_none_or(|ty| ty.as_str().and_then(kinds::named).is_some_and(|k| k.one == kind));
        if !fits {
            self.fault(format!("{path}.type"), format!("must be '{kind}'"));
            return None;
        }
        self.out().push_str("{\t\"sourcedId\":");
        self.string(id);
        let _ = write!(self.out(), ",\"type\":\"{kind}\"}}");
        self.written.references.push(Pointer {
            path: id_path,
            kind: target,
            sourced_id: id.clone(),
        });
        Some(id.clone())
    }

    /// Writes a scalar and answers the text that its column or link holds.
    fn scalar(&mut self, ty: Type, value: &Value, path: &str) -> Option<String> {
        match ty {
            Type::Text | Type::Uri => self.text(value, path),
            Type::Word(words) => self.word(words, value, path),
            Type::Flag => self.flag(value, path),
            Type::Date => self.date(value, path),
            Type::Instant => self.instant(value, path),
            Type::Integer | Type::Number => self.number(ty, value, path),
            Type::Json => {
                match check_json(value) {
                    Ok(()) => write!(self.out(), "{value}").expect("a string takes all text"),
                    Err(message) => self.fault(path.into(), message),
                }
                None
            }
            _ => unreachable!("`member` handles lists, references and secrets"),
        }
    }

    fn text(&mut self, value: &Value, path: &str) -> Option<String> {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) if self.dialect == Dialect::Platform => number.to_string(),
            Value::Bool(flag) if self.dialect == Dialect::Platform => flag.to_string(),
            _ => {
                self.fault(path.into(), "must be a string".into());
                return None;
            }
        };
        if text.contains('\0') {
            self.fault(path.into(), NUL.into());
            return None;
        }
        self.string(&text);
        Some(text)
    }

    fn grade(&mut self, value: &Value, path: &str) -> Option<String> {
        match value {
            Value::Number(number) if self.dialect == Dialect::Platform => {
                let text = grade::written(number);
                self.string(&text);
                Some(text)
            }
            _ => self.text(value, path),
        }
    }

    fn word(&mut self, words: Words, value: &Value, path: &str) -> Option<String> {
        match value.as_str() {
            Some(word) if words.allows(word) || self.into_extra && words.is_platforms(value) => {
                self.string(word);
                Some(word.to_owned())
            }
            _ => {
                let list = words.words.join("', '");
                let more = match words.open {
                    crate::kind::Open::Closed => "",
                    crate::kind::Open::Extensions => ", or 'ext:…'",
                    crate::kind::Open::Sources => ", or '/…'",
                };
                self.fault(path.into(), format!("must be one of '{list}'{more}"));
                None
            }
        }
    }

    fn flag(&mut self, value: &Value, path: &str) -> Option<String> {
        let text = match value {
            Value::Bool(true) => "true",
            Value::Bool(false) => "false",
            Value::String(text) if text == "true" => "true",
            Value::String(text) if text == "false" => "false",
            _ => {
                self.fault(path.into(), "must be \"true\" or \"false\"".into());
                return None;
            }
        };
        self.string(text);
        Some(text.to_owned())
    }

    fn date(&mut self, value: &Value, path: &str) -> Option<String> {
        let text = value.as_str().unwrap_or_default();
        let day = match text.split_once('T') {
            // Clients of the platform send instants where the standard has dates.
            Some((day, _)) if self.dialect == Dialect::Platform => {
                text.parse::<Timestamp>().ok().and(Some(day))
            }
            _ => Some(text),
        };
        match day.and_then(parse_date).filter(|date| date.year() >= 1) {
            Some(date) => {
                let text = date.to_string();
                self.string(&text);
                Some(text)
            }
            None => {
                self.fault(path.into(), "must be a date such as 2026-01-15".into());
                None
            }
        }
    }

    fn instant(&mut self, value: &Value, path: &str) -> Option<String> {
        let instant = value.as_str().and_then(|text| text.parse::<Timestamp>().ok());
        match instant.filter(|instant| instant.date().year() >= 1) {
            Some(instant) => {
                let text = instant.to_string();
                self.string(&text);
                Some(text)
            }
            None => {
                self.fault(path.into(), "must be an instant such as 2026-01-15T08:00:00Z".into());
                None
            }
        }
    }

    fn number(&mut self, ty: Type, value: &Value, path: &str) -> Option<String> {
        let fits = match ty {
            Type::Integer => value.as_i64().is_some(),
            _ => value.as_f64().is_some_and(f64::is_finite),
        };
        if !fits {
            let what = if matches!(ty, Type::Integer) { "a whole number" } else { "a number" };
            self.fault(path.into(), format!("must be {what}"));
            return None;
        }
        let text = value.to_string();
        self.out().push_str(&text);
        Some(text)
    }

    fn link(&mut self, path: &str, value: String) {
        self.written.links.push(Link { field: path.to_owned(), value });
    }

    fn key(&mut self, name: &str) {
        self.out().push(',');
        self.string(name);
        self.out().push(':');
    }

    fn string(&mut self, text: &str) {
        let quoted = serde_json::to_string(text).expect("text is JSON");
        self.out().push_str(&quoted);
    }

    fn out(&mut self) -> &mut String {
        if self.into_extra { &mut self.extra } else { &mut self.written.body }
    }

    fn fault(&mut self, path: String, message: String) {
        self.faults.push(Detail { path, message });
    }
}

/// How the platform's text begins when it holds members that the standard's holds in part.
pub(crate) const OVERLAPPING: &str = "{\r";

const OBJECT_REFERENCE: &str = "must be a reference such as {\"sourcedId\": \"…\"}";
const NUL: &str = "must not contain the character U+0000";

/// Checks free JSON: no NUL character (PostgreSQL cannot hold one) and bounded depth.
pub(crate) fn check_json(value: &Value) -> Result<(), String> {
    check_json_at(value, 0)
}

fn check_json_at(value: &Value, depth: usize) -> Result<(), String> {
    if depth > limits::JSON_MAX_DEPTH {
        return Err(format!("is nested deeper than {} levels", limits::JSON_MAX_DEPTH));
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

fn check_name(name: &str) -> Result<(), String> {
    if name.contains('\0') { Err(NUL.into()) } else { Ok(()) }
}
