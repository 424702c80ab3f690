//! The view of an item for candidates: never a correct response, a mapping, processing, hidden feedback, or a
//! text for other readers.

use std::cell::Cell;

use crate::limits::QTI_DOCUMENT_MAX_BYTES;
use crate::model::Item;
use crate::printed::printed;
use crate::score::{Outcomes, ScoringInput, Variant, initial};
use crate::value::{Scalar, Value};
use crate::xml::{Element, WriteMode, escape, write};

/// The state of the session that is rendered.
#[derive(Clone, Copy, Default)]
pub struct CandidateSession<'a> {
    /// The outcomes of the last attempt; `None` before the first one, when no modal feedback is
    /// shown.
    pub outcomes: Option<&'a Outcomes>,
    /// The values of template variables, where the item has such.
    pub variant: Option<&'a Variant>,
    /// The seed of shuffled choices. The same seed gives the same order.
    pub seed: u64,
}

/// Left out with all that is in them.
const SECRET: [&str; 8] = [
    "qti-correct-response",
    "qti-mapping",
    "qti-area-mapping",
    "qti-match-table",
    "qti-interpolation-table",
    "qti-response-processing",
    "qti-template-processing",
    "qti-outcome-processing",
];

/// The attributes of a declaration that stay.
const DECLARED: [&str; 3] = ["identifier", "cardinality", "base-type"];

/// An item as XML of QTI 3.0 for its candidate. Comments are left out. Of an outcome or a template
/// variable the value is told, as its default, only where something that is shown depends on it.
pub(crate) fn candidate(root: Element<'_>, item: &Item, view: CandidateSession<'_>) -> String {
    let start = initial(item, ScoringInput { variant: view.variant, ..ScoringInput::default() });
    let mut shown = CandidateRenderer {
        item,
        view,
        outcomes: view.outcomes.unwrap_or(&start),
        named: Vec::new(),
        printed: Cell::new(0),
    };
    shown.collect(root);
    write(root, &mut |element| shown.choose(element))
}

struct CandidateRenderer<'a> {
    item: &'a Item,
    view: CandidateSession<'a>,
    outcomes: &'a Outcomes,
    /// The variables that something shown depends on.
    named: Vec<Box<str>>,
    /// Bytes of values that were printed.
    printed: Cell<usize>,
}

impl CandidateRenderer<'_> {
    fn collect(&mut self, element: Element<'_>) {
        if self.is_hidden(element) {
            return;
        }
        let names = match element.name() {
            "qti-printed-variable" => element.attribute("identifier"),
            name if name.starts_with("qti-") => {
                let template = element.attribute("template-identifier");
                element.attribute("outcome-identifier").or(template)
            }
            _ => None,
        };
        self.named.extend(names.map(Into::into));
        element.elements().for_each(|inner| self.collect(inner));
    }

    fn choose(&self, element: Element<'_>) -> WriteMode {
        if self.is_hidden(element) {
            return WriteMode::Nothing;
        }
        match element.name() {
            "qti-response-declaration" => WriteMode::With(declared(element)),
            "qti-outcome-declaration" => {
                self.set_default(element, |name| self.outcomes.get(name).cloned())
            }
            "qti-template-declaration" => {
                self.set_default(element, |name| self.template(name).cloned())
            }
            "qti-printed-variable" => {
                self.printed(element).map_or(WriteMode::Whole, WriteMode::Instead)
            }
            _ => WriteMode::Whole,
        }
    }

    fn is_hidden(&self, element: Element<'_>) -> bool {
        let name = element.name();
        if SECRET.contains(&name) {
            return true;
        }
        match name {
            "qti-rubric-block" => {
                let views = element.attribute("view").unwrap_or_default();
                !views.split_whitespace().any(|view| view == "candidate")
            }
            "qti-modal-feedback" => self.view.outcomes.is_none() || !self.has_outcome(element),
            "qti-feedback-inline" | "qti-feedback-block" => !self.has_outcome(element),
            // It hands the variable to a module, and hides nothing.
            "qti-template-variable" => false,
            _ => !shows_template(element, self.item, self.view.variant),
        }
    }

    fn has_outcome(&self, element: Element<'_>) -> bool {
        let name = element.attribute("outcome-identifier").unwrap_or_default();
        has(element, self.outcomes.get(name))
    }

    fn template(&self, name: &str) -> Option<&Value> {
        template(self.item, self.view.variant, name)
    }

    /// The text in place of a printed variable. `None` for a value that has no text, for responses, which are not
    /// printed, and if all texts together would be longer than a document may be.
    fn printed(&self, element: Element<'_>) -> Option<String> {
        let value = |name: &str| {
            let context = self.item.contexts.iter().find(|c| &*c.identifier == name);
            self.outcomes
                .get(name)
                .or_else(|| self.template(name))
                .or(context.map(|context| &context.default))
        };
        let integer = |text: &str| match text.parse() {
            Ok(number) => Some(number),
            Err(_) => match value(text.trim_matches(['{', '}']))?.single()? {
                Scalar::Integer(number) => Some(*number),
                _ => None,
            },
        };
        if self.printed.get() > QTI_DOCUMENT_MAX_BYTES {
            return None;
        }
        let name = element.attribute("identifier").unwrap_or_default().trim();
        let text = printed(element, value(name)?, integer)?;
        self.printed.set(self.printed.get() + text.len());
        Some(text)
    }

    /// A declaration with its value as default, where something shown depends on it.
    fn set_default(
        &self,
        element: Element<'_>,
        value: impl Fn(&str) -> Option<Value>,
    ) -> WriteMode {
        let name = element.attribute("identifier").unwrap_or_default();
        let value = match self.named.iter().any(|named| &**named == name) {
            true => value(name).unwrap_or_default(),
            false => Value::Null,
        };
        let mut xml = format!("<{}", element.qname());
        for (name, value) in declared(element) {
            xml.push_str(&[" ", &name, "=\""].concat());
            escape(&value, true, &mut xml);
            xml.push('"');
        }
        if value.scalars().is_empty() {
            xml.push_str("/>");
            return WriteMode::Instead(xml);
        }
        let prefix = element.qname().strip_suffix(element.name()).unwrap_or_default();
        xml.push_str(&["><", prefix, "qti-default-value>"].concat());
        for scalar in value.scalars() {
            xml.push_str(&["<", prefix, "qti-value>"].concat());
            escape(&scalar.to_string(), false, &mut xml);
            xml.push_str(&["</", prefix, "qti-value>"].concat());
        }
        xml.push_str(&["</", prefix, "qti-default-value></", element.qname(), ">"].concat());
        WriteMode::Instead(xml)
    }
}

/// Whether the variant of an item shows an element.
pub(crate) fn shows_template(element: Element<'_>, item: &Item, variant: Option<&Variant>) -> bool {
    let name = element.attribute("template-identifier");
    name.is_none_or(|name| has(element, template(item, variant, name)))
}

/// The value of a template variable.
fn template<'i>(item: &'i Item, variant: Option<&'i Variant>, name: &str) -> Option<&'i Value> {
    let set = variant.and_then(|variant| variant.get(name));
    let declared = item.templates.iter().find(|t| &*t.declaration.identifier == name);
    set.or(declared.map(|template| &template.declaration.default))
}

/// Whether what an element says of showing and hiding shows it.
fn has(element: Element<'_>, value: Option<&Value>) -> bool {
    let identifier = element.attribute("identifier").unwrap_or_default();
    let scalars = value.map(Value::scalars).unwrap_or_default();
    let has = scalars.iter().any(|scalar| scalar.to_string() == identifier);
    has == (element.attribute("show-hide") != Some("hide"))
}

fn declared(element: Element<'_>) -> Vec<(String, String)> {
    let stays = |name: &str| DECLARED.contains(&name) || name.starts_with("xmlns");
    let attributes = element.attributes().iter().filter(|a| stays(&a.name));
    attributes.map(|a| (a.name.to_string(), a.value.to_string())).collect()
}
