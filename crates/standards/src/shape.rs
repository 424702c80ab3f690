//! Writes a stored record in the shape that a client expects.

use std::fmt::Write as _;

use lyceum_core::Result;
use lyceum_core::problem::Problem;
use memchr::memmem;
use serde_json::{Map, Value, json};

use crate::class::{Class, RUBRIC, Type};

/// The shape of records in responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The closed schemas of CASE 1.0.
    V1p0,
    /// The closed schemas of CASE 1.1.
    V1p1,
    /// The platform's clients: `sourcedId` in place of `identifier`, members of any name.
    Platform,
}

/// A record as the store has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Texts<'a> {
    /// Its standard members.
    pub body: &'a str,
    /// Its `extensions`.
    pub extensions: Option<&'a str>,
    /// Members that no standard defines.
    pub beyond: Option<&'a str>,
}

/// A link to the framework of a record, with the name of its member.
#[derive(Clone, Debug)]
pub(crate) struct Owner<'a> {
    /// The member, such as `CFDocumentURI`.
    pub member: &'static str,
    /// Its title.
    pub title: &'a str,
    /// Its identifier.
    pub id: &'a str,
    /// Its address.
    pub uri: &'a str,
}

impl Shape {
    /// The name of the member for identifiers.
    pub fn id(self) -> &'static str {
        if self == Self::Platform { "sourcedId" } else { "identifier" }
    }

    /// Appends a record. Only version 1.0 and rubrics in the platform shape are parsed, because their
    /// identifiers are between extensions; other records are copied as text.
    pub(crate) fn write(
        self,
        class: &'static Class,
        texts: Texts<'_>,
        owner: Option<&Owner<'_>>,
        out: &mut String,
    ) -> Result<()> {
        match self {
            Self::V1p1 => out.push_str(texts.body),
            Self::Platform if !std::ptr::eq(class, &raw const RUBRIC) => renamed(texts.body, out),
            Self::V1p0 | Self::Platform => {
                let value = serde_json::from_str(texts.body).map_err(Problem::internal)?;
                out.push_str(&self.reshaped(class, value).to_string());
            }
        }
        out.pop(); // the brace, which comes back at the end
        if self == Self::Platform
            && class.name == "CFItem"
            && memmem::find(texts.body.as_bytes(), b"\"CFItemType\":").is_none()
        {
            out.push_str(",\"CFItemType\":\"\"");
        }
        if let Some(extensions) = texts.extensions.filter(|_| self != Self::V1p0) {
            out.push_str(",\"extensions\":");
            out.push_str(extensions);
        }
        if let Some(beyond) = texts.beyond.filter(|_| self == Self::Platform) {
            out.push(',');
            out.push_str(&beyond[1..beyond.len() - 1]);
        }
        if let Some(owner) = owner {
            let link = json!({ "title": owner.title, self.id(): owner.id, "uri": owner.uri });
            let _ = write!(out, ",\"{}\":{link}", owner.member);
        }
        out.push('}');
        Ok(())
    }

    /// The value without members that this shape lacks, and with its name for identifiers.
    fn reshaped(self, class: &'static Class, value: Value) -> Value {
        let Value::Object(members) = value else { return value };
        let mut reshaped = Map::new();
        for (name, value) in members {
            let Some(field) = class.field(&name) else { continue };
            if field.is_new && self == Self::V1p0 {
                continue;
            }
            let value = match (field.ty, value) {
                (Type::Object(class), value) => self.reshaped(class, value),
                (Type::Objects(class), Value::Array(members)) => {
                    members.into_iter().map(|member| self.reshaped(class, member)).collect()
                }
                (_, value) => value,
            };
            let name = if name == "identifier" { self.id().to_owned() } else { name };
            reshaped.insert(name, value);
        }
        reshaped.into()
    }
}

/// Appends compact JSON with each member `identifier` called `sourcedId`. In compact JSON the bytes
/// behind an opening brace or a comma are a member's name nowhere but there: inside a text a quote has
/// a backslash before it.
fn renamed(json: &str, out: &mut String) {
    const NAME: &str = "\"identifier\":";
    let mut done = 0;
    for at in memmem::find_iter(json.as_bytes(), NAME) {
        if json[..at].ends_with(['{', ',']) {
            out.push_str(&json[done..at]);
            out.push_str("\"sourcedId\":");
            done = at + NAME.len();
        }
    }
    out.push_str(&json[done..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_members_are_renamed() {
        let sent = json!({"identifier": "a", "t": "{\"identifier\":", "l": [{"identifier": "b"}],
            "x\"identifier": 1, "u": ",\"identifier\":"});
        let mut out = String::new();
        renamed(&sent.to_string(), &mut out);
        let got: Value = serde_json::from_str(&out).unwrap();
        let wanted = json!({"sourcedId": "a", "t": "{\"identifier\":", "l": [{"sourcedId": "b"}],
            "x\"identifier": 1, "u": ",\"identifier\":"});
        assert_eq!(got, wanted);
    }
}
