//! Renders stored records: `href`s put in, members of the other dialect left out.

use std::fmt::Write as _;

use lyceum_core::text::segment;
use lyceum_core::{PayloadDialect, Problem, ProblemKind, Result, message};
use serde_json::Value;

use crate::canonical::OVERLAPPING;
use crate::kind::{Field, FieldType, Presence, RecordKind};
use crate::kinds;
use crate::record::{COMMON, members};

/// The form in which records are rendered.
#[derive(Clone, Debug)]
pub struct RecordView<'a> {
    /// The address under which the server is reached, without a slash at its end.
    pub base_url: &'a str,
    /// The payload dialect.
    pub dialect: PayloadDialect,
    /// The members to show, in the record's own order; none given, all are shown.
    pub fields: Option<Vec<&'a str>>,
}

impl RecordView<'_> {
    /// Appends a stored record.
    pub fn render(&self, body: &str, extra: Option<&str>, out: &mut String) -> Result<()> {
        match &self.fields {
            Some(fields) => self.render_fields(fields, body, extra, out),
            None => self.render_whole(body, extra, out),
        }
    }

    fn render_whole(&self, body: &str, extra: Option<&str>, out: &mut String) -> Result<()> {
        match extra.filter(|_| self.dialect == PayloadDialect::Platform) {
            None => self.with_hrefs(body, out),
            Some(extra) if extra.starts_with(OVERLAPPING) => {
                let (mut standard, mut wide) = (String::new(), String::new());
                self.with_hrefs(body, &mut standard);
                self.with_hrefs(extra, &mut wide);
                let _ = write!(out, "{}", Value::Object(members(&standard, Some(&wide))?));
            }
            Some(extra) => {
                self.with_hrefs(&body[..body.len() - 1], out);
                out.push(',');
                self.with_hrefs(&extra[1..], out);
            }
        }
        Ok(())
    }

    /// Copies the text; behind each TAB, which marks a reference, its `href` goes in.
    fn with_hrefs(&self, text: &str, out: &mut String) {
        let mut from = 0;
        for tab in memchr::memchr_iter(b'\t', text.as_bytes()) {
            out.push_str(&text[from..tab]);
            from = tab + 1;
            self.href(&text[from..], out);
        }
        out.push_str(&text[from..]);
    }

    /// `reference` is `"sourcedId":"…","type":"…"}` and what follows.
    fn href(&self, reference: &str, out: &mut String) {
        const ID: usize = "\"sourcedId\":\"".len();
        let rest = &reference[ID..];
        let end = closing_quote(rest);
        let kind = &rest[end + "\",\"type\":\"".len()..];
        let kind = &kind[..memchr::memchr(b'"', kind.as_bytes()).unwrap_or(kind.len())];
        let Some(kind) = kinds::by_name(kind) else { return };
        out.push_str("\"href\":\"");
        self.address(kind, &rest[..end], out);
        out.push_str("\",");
    }

    fn address(&self, kind: &RecordKind, quoted_id: &str, out: &mut String) {
        out.push_str(self.base_url);
        out.push_str(kind.service.prefix());
        out.push('/');
        out.push_str(kind.path);
        out.push('/');
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~".contains(&b);
        if quoted_id.bytes().all(plain) {
            return out.push_str(quoted_id);
        }
        let id: String = serde_json::from_str(&format!("\"{quoted_id}\"")).unwrap_or_default();
        let _ = write!(out, "{}", segment(&id));
    }

    fn render_fields(
        &self,
        fields: &[&str],
        body: &str,
        extra: Option<&str>,
        out: &mut String,
    ) -> Result<()> {
        let extra = extra.filter(|_| self.dialect == PayloadDialect::Platform);
        let mut rendered = String::new();
        self.render_whole(body, extra, &mut rendered)?;
        let mut object = members(&rendered, None)?;
        object.retain(|name, _| fields.contains(&name.as_str()));
        let _ = write!(out, "{}", Value::Object(object));
        Ok(())
    }
}

/// Where the JSON string that `text` is inside of ends.
fn closing_quote(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut from = 0;
    while let Some(at) = memchr::memchr2(b'"', b'\\', &bytes[from..]) {
        if bytes[from + at] == b'"' {
            return from + at;
        }
        from += at + 2;
    }
    bytes.len()
}

/// Reads the `fields` parameter. What the schema of a record requires is always shown, so that a
/// selection is still a valid record. Errors: `BadSelection` naming a field that the kind lacks.
pub fn fields<'a>(
    kind: &'static RecordKind,
    text: &'a str,
    dialect: PayloadDialect,
) -> Result<Vec<&'a str>> {
    let known = |name: &str| {
        COMMON.contains(&name)
            || kind.fields.iter().any(|field| {
                field.name == name
                    && !matches!(field.ty, FieldType::Secret)
                    && (!field.platform || dialect == PayloadDialect::Platform)
            })
    };
    let named = text.split(',').map(str::trim).map(|name| {
        known(name).then_some(name).ok_or_else(|| {
            Problem::new(
                ProblemKind::BadSelection,
                message!("{one} has no field '{name}' to select", one = kind.one),
            )
        })
    });
    let mut fields = named.collect::<Result<Vec<&str>>>()?;
    fields.extend(["sourcedId", "status", "dateLastModified"]);
    let is_required =
        |field: &&Field| !matches!(field.presence, Presence::Optional | Presence::Nullable);
    fields.extend(kind.fields.iter().filter(is_required).map(|field| field.name));
    Ok(fields)
}
