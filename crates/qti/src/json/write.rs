//! XML written piece by piece, and values taken out of JSON.

use lyceum_core::Problem;
use lyceum_core::problem::Detail;
use serde_json::{Map, Value as Json};

use crate::fault::{DocumentFault, Faults};
use crate::markup::xhtml;
use crate::xml::escape;

pub(crate) const NAMESPACE: &str = "http://www.imsglobal.org/xsd/imsqtiasi_v3p0";

/// XML that grows.
#[derive(Default)]
pub(crate) struct XmlWriter {
    pub(crate) xml: String,
    /// The names of the open elements.
    open: Vec<String>,
    /// The errors in the markup and the warnings about it, each with its path in the body.
    faults: Vec<DocumentFault>,
}

/// A document that was written from its JSON form.
#[derive(Clone, Debug)]
pub struct WrittenXml {
    /// The document.
    pub xml: String,
    /// Warnings about markup that QTI does not have and that was removed, each with its path in the JSON.
    pub removed: Faults,
}

/// Markup of an author and its place in the body.
#[derive(Clone, Debug, Default)]
pub(crate) struct Markup {
    pub(crate) text: String,
    path: String,
}

impl XmlWriter {
    /// Returns the XML. Errors: `Invalid` with `faults`, otherwise with the errors in the markup, with line and column.
    pub(crate) fn finish(self, faults: Vec<Detail>) -> Result<WrittenXml, Problem> {
        let found = Faults(self.faults);
        match (faults.is_empty(), found.refuse()) {
            (false, _) => Err(Problem::invalid_all(faults)),
            (true, true) => Err(found.into()),
            (true, false) => Ok(WrittenXml { xml: self.xml, removed: found }),
        }
    }

    /// A start tag; attributes without a value are left out.
    pub(crate) fn open(&mut self, name: &str, attributes: &[(&str, Option<String>)]) {
        self.tag(name, attributes);
        self.open.push(name.to_owned());
    }

    fn tag(&mut self, name: &str, attributes: &[(&str, Option<String>)]) {
        self.xml.push('<');
        self.xml.push_str(name);
        for (name, value) in attributes {
            if let Some(value) = value {
                self.xml.push_str(&[" ", name, "=\""].concat());
                escape(value, true, &mut self.xml);
                self.xml.push('"');
            }
        }
        self.xml.push('>');
    }

    pub(crate) fn close(&mut self, name: &str) {
        self.open.pop();
        self.xml.push_str(&["</", name, ">"].concat());
    }

    pub(crate) fn empty(&mut self, name: &str, attributes: &[(&str, Option<String>)]) {
        self.tag(name, attributes);
        self.xml.pop();
        self.xml.push_str("/>");
    }

    pub(crate) fn text(&mut self, name: &str, text: &str) {
        self.open(name, &[]);
        escape(text, false, &mut self.xml);
        self.close(name);
    }

    /// Markup that an author wrote, as HTML or XML, inside the innermost open element. What cannot
    /// stand there is a fault.
    pub(crate) fn markup(&mut self, markup: &Markup) {
        let mut around = self.open.iter().rev();
        let container = around.next().map_or("div", String::as_str);
        let path = &markup.path;
        match xhtml(&markup.text, container, around.next().map(String::as_str)) {
            Ok((xml, removed)) => {
                self.xml.push_str(&xml);
                let removed = removed.into_iter();
                self.faults
                    .extend(removed.map(|part| DocumentFault { path: path.clone(), ..part }));
            }
            // An error is shown as one sentence, which must say where it is.
            Err(faults) => self.faults.extend(faults.into_iter().map(|fault| DocumentFault {
                message: format!("{path}: {}", fault.message),
                path: path.clone(),
                ..fault
            })),
        }
    }

    /// An element around markup.
    pub(crate) fn around(
        &mut self,
        name: &str,
        attributes: &[(&str, Option<String>)],
        markup: &Markup,
    ) {
        self.open(name, attributes);
        self.markup(markup);
        self.close(name);
    }
}

/// A JSON object and its place in the body.
pub(crate) struct JsonObject<'j> {
    pub(crate) object: &'j Map<String, Json>,
    path: String,
}

impl<'j> JsonObject<'j> {
    pub(crate) fn new(object: &'j Map<String, Json>) -> Self {
        Self { object, path: String::new() }
    }

    pub(crate) fn path(&self, name: &str) -> String {
        match self.path.is_empty() {
            true => name.to_owned(),
            false => format!("{}.{name}", self.path),
        }
    }

    /// A text, or a number or boolean as text.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        match self.object.get(name)? {
            Json::String(text) => Some(text.clone()),
            json @ (Json::Number(_) | Json::Bool(_)) => Some(json.to_string()),
            _ => None,
        }
    }

    /// Markup; `None` if it is missing. Anything except a string is an error.
    pub(crate) fn markup(&self, name: &str, faults: &mut Vec<Detail>) -> Option<Markup> {
        let path = self.path(name);
        match self.object.get(name) {
            None | Some(Json::Null) => None,
            Some(Json::String(text)) => Some(Markup { text: text.clone(), path }),
            Some(_) => {
                let message = "must be a string with HTML".into();
                faults.push(Detail { path, message });
                None
            }
        }
    }

    /// A required text.
    pub(crate) fn required(&self, name: &str, faults: &mut Vec<Detail>) -> String {
        let text = self.text(name).filter(|text| !text.is_empty());
        text.unwrap_or_else(|| {
            let message = "is required; send a string".into();
            faults.push(Detail { path: self.path(name), message });
            String::new()
        })
    }

    pub(crate) fn object(&self, name: &str) -> Option<JsonObject<'j>> {
        let object = self.object.get(name)?.as_object()?;
        Some(JsonObject { object, path: self.path(name) })
    }

    /// The objects of an array; empty if it is missing.
    pub(crate) fn list(&self, name: &str) -> Vec<JsonObject<'j>> {
        let members = self.object.get(name).and_then(Json::as_array);
        let member = |(index, json): (usize, &'j Json)| {
            let path = self.path(&format!("{name}[{index}]"));
            json.as_object().map(|object| JsonObject { object, path })
        };
        members.into_iter().flatten().enumerate().filter_map(member).collect()
    }

    /// The objects of an array; `None` if it is missing. Any other value is an error.
    pub(crate) fn objects(
        &self,
        name: &str,
        faults: &mut Vec<Detail>,
    ) -> Option<Vec<JsonObject<'j>>> {
        let json = self.object.get(name).filter(|json| !json.is_null())?;
        let all = json.as_array().is_some_and(|members| members.iter().all(Json::is_object));
        if !all {
            let message = "must be an array of objects".into();
            faults.push(Detail { path: self.path(name), message });
        }
        Some(self.list(name))
    }

    /// The texts of an array, or the one text that stands in its place.
    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        let text = |json: &Json| match json {
            Json::String(text) => Some(text.clone()),
            Json::Number(_) | Json::Bool(_) => Some(json.to_string()),
            _ => None,
        };
        match self.object.get(name) {
            Some(Json::Array(members)) => members.iter().filter_map(text).collect(),
            Some(one) => text(one).into_iter().collect(),
            None => Vec::new(),
        }
    }
}
