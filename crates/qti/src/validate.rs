//! A document against the schema: elements, their order and number, attributes and their values,
//! identifiers that must be unique and those that must exist.

use std::collections::{HashMap, HashSet};

use crate::fault::{DocumentFault, DocumentPlace, Severity};
use crate::limits::QTI_MAX_FAULTS;
use crate::schema::{self, ElementId, ElementRule, Particle, Type};
use crate::xml::{Attribute, ChildNode, Element, ElementNamespace};

/// Collects faults; above the limit further ones are dropped.
#[derive(Default)]
pub(crate) struct FoundFaults(pub(crate) Vec<DocumentFault>);

impl FoundFaults {
    pub(crate) fn error(
        &mut self,
        element: Element<'_>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.at(element, Severity::Error, message, remedy);
    }

    pub(crate) fn warning(
        &mut self,
        element: Element<'_>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.at(element, Severity::Warning, message, remedy);
    }

    /// A warning at an attribute.
    pub(crate) fn warned(
        &mut self,
        element: Element<'_>,
        attribute: &Attribute<'_>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        if !self.is_full() {
            let place = element.document().place(attribute.start);
            let path = format!("{}/@{}", element.path(), attribute.name);
            self.push(place, path, Severity::Warning, message, remedy);
        }
    }

    /// Whether the limit of errors is reached, so that the check can stop.
    pub(crate) fn is_full(&self) -> bool {
        self.0.len() >= QTI_MAX_FAULTS
    }

    fn at(
        &mut self,
        element: Element<'_>,
        severity: Severity,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        if !self.is_full() {
            self.push(element.place(), element.path(), severity, message, remedy);
        }
    }

    fn attribute(
        &mut self,
        element: Element<'_>,
        attribute: &Attribute<'_>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        let place = element.document().place(attribute.start);
        let path = format!("{}/@{}", element.path(), attribute.name);
        self.push(place, path, Severity::Error, message, remedy);
    }

    fn push(
        &mut self,
        place: DocumentPlace,
        path: String,
        severity: Severity,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        if !self.is_full() {
            let (message, remedy) = (message.into(), remedy.into());
            self.0.push(DocumentFault { place, path, message, remedy, severity });
        }
    }
}

/// Checks an element and everything below it.
pub(crate) fn validate(root: Element<'_>, found: &mut FoundFaults) {
    let mut checker = Checker { found, ids: HashSet::new(), id_refs: Vec::new() };
    match root.id() {
        Some(id) => checker.element(root, id, None),
        None => checker.unknown(root),
    }
    let Checker { found, ids, id_refs } = checker;
    for (element, attribute) in id_refs {
        for name in attribute.value.split_whitespace().filter(|name| !ids.contains(*name)) {
            if found.is_full() {
                return;
            }
            let remedy = near(name, ids.iter().copied())
                .unwrap_or_else(|| "name the id of an element of this document".into());
            found.attribute(
                element,
                attribute,
                format!("there is no element with the id '{name}'"),
                remedy,
            );
        }
    }
}

/// Checks the content of an element, but not its attributes. `parent` is the element around it.
pub(crate) fn inside(root: Element<'_>, parent: Option<ElementId>, found: &mut FoundFaults) {
    let Some(id) = root.id() else { return };
    // References to ids may lead out of the markup; the whole document is checked for them.
    let mut checker = Checker { found, ids: HashSet::new(), id_refs: Vec::new() };
    checker.content(root, id, schema::rule(id, parent));
}

struct Checker<'d, 'f> {
    found: &'f mut FoundFaults,
    ids: HashSet<&'d str>,
    id_refs: Vec<(Element<'d>, &'d Attribute<'d>)>,
}

impl<'d> Checker<'d, '_> {
    fn element(&mut self, element: Element<'d>, id: ElementId, parent: Option<ElementId>) {
        if self.found.is_full() {
            return;
        }
        if schema::is_foreign(id) {
            return self.foreign(element);
        }
        let rule = schema::rule(id, parent);
        self.attributes(element, rule);
        if let Some(text) = rule.text {
            self.text(element, rule, text);
        } else {
            self.content(element, id, rule);
        }
    }

    /// Looks at the inside of another vocabulary only for what would run: a browser that shows it runs
    /// scripts, handlers of events and addresses that are scripts.
    fn foreign(&mut self, root: Element<'d>) {
        for element in root.descendants() {
            let name = element.name().to_ascii_lowercase();
            if name == "script" {
                self.found.error(element, "a script", "remove it");
            } else if name == "foreignobject" {
                self.found.error(element, "a page inside a drawing", "remove it");
            }
            for attribute in element.attributes() {
                let name = attribute.name.to_ascii_lowercase();
                let is_address = name == "src" || name == "href" || name.ends_with(":href");
                if name.starts_with("on") {
                    let what = format!("'{name}' would run a script");
                    self.found.attribute(element, attribute, what, "remove it");
                } else if is_address {
                    self.value(element, attribute, Type::Uri);
                }
            }
        }
    }

    fn content(&mut self, element: Element<'d>, id: ElementId, rule: &'static ElementRule) {
        let mut sequence = ParticleSequence { particles: &rule.content, at: 0, count: 0 };
        let mut all_fit = true;
        for child in element.children() {
            match child {
                ChildNode::Text(text, start) => {
                    if !rule.mixed && !rule.any && !text.trim().is_empty() {
                        let (what, remedy) = (
                            format!("text directly inside '{}'", rule.name),
                            "put it into an element, a <p> for one",
                        );
                        let begins = text.len() - text.trim_start().len();
                        let skipped = u32::try_from(begins).expect("a text is below 4 GiB");
                        let place = element.document().place(start + skipped);
                        self.found.push(place, element.path(), Severity::Error, what, remedy);
                    }
                }
                ChildNode::Element(_) if self.found.is_full() => return,
                ChildNode::Element(inner) => match inner.id() {
                    Some(inner_id) if sequence.takes(inner_id) => {
                        self.element(inner, inner_id, Some(id));
                    }
                    Some(inner_id) if rule.any => self.element(inner, inner_id, Some(id)),
                    None if rule.any => {}
                    Some(inner_id) => {
                        all_fit = false;
                        self.unexpected(inner, rule, &sequence);
                        self.element(inner, inner_id, Some(id));
                    }
                    None => {
                        all_fit = false;
                        self.unknown(inner);
                    }
                },
            }
        }
        // The element in the place of a missing one was already reported.
        if let Some(missing) = sequence.missing().filter(|_| all_fit) {
            let names = list(missing.names.list());
            let what = match missing.max {
                2 => format!("'{}' needs two of {names}", rule.name),
                _ => format!("'{}' has no {names} where one must be", rule.name),
            };
            self.found.error(element, what, format!("add {names}"));
        }
    }

    fn unexpected(
        &mut self,
        inner: Element<'_>,
        rule: &ElementRule,
        sequence: &ParticleSequence<'_>,
    ) {
        let name = inner.name();
        let known = rule.content.iter().any(|p| inner.id().is_some_and(|id| p.names.has(id)));
        let allowed = sequence.allowed();
        match known {
            true => self.found.error(
                inner,
                format!("'{name}' is out of its order or once too often in '{}'", rule.name),
                match allowed.is_empty() {
                    true => "nothing may follow here; move or remove it".to_owned(),
                    false => format!("here may follow {}", list(allowed.into_iter())),
                },
            ),
            false => self.found.error(
                inner,
                format!("'{name}' is not allowed in '{}'", rule.name),
                match allowed.is_empty() {
                    true => "remove it".to_owned(),
                    false => format!("allowed is {}", list(allowed.into_iter())),
                },
            ),
        }
    }

    fn unknown(&mut self, element: Element<'_>) {
        let name = element.qname();
        let (what, remedy) = match element.space() {
            ElementNamespace::Qti3 => (
                format!("QTI 3 has no element '{name}'"),
                near(name, schema::names()).unwrap_or_else(|| "remove it".into()),
            ),
            _ => (
                format!("'{name}' is not in the namespace of QTI"),
                "write xmlns=\"http://www.imsglobal.org/xsd/imsqtiasi_v3p0\" or remove it".into(),
            ),
        };
        self.found.error(element, what, remedy);
    }

    fn text(&mut self, element: Element<'d>, rule: &ElementRule, wanted: Type) {
        if let Some(inner) = element.elements().next() {
            self.found.error(
                inner,
                format!("'{}' must contain text, not elements", rule.name),
                "write the value as plain text",
            );
        } else if !wanted.allows(&element.text()) {
            self.found.error(
                element,
                format!("'{}' must not contain '{}'", rule.name, element.text().trim()),
                format!("write {}", wanted.description()),
            );
        }
    }

    fn attributes(&mut self, element: Element<'d>, rule: &'static ElementRule) {
        for required in rule.attributes.iter().filter(|a| a.required) {
            if element.attribute(required.name).is_none() {
                self.found.error(
                    element,
                    format!("'{}' has no attribute '{}'", rule.name, required.name),
                    format!("add {}=\"…\": {}", required.name, required.value.description()),
                );
            }
        }
        for attribute in element.attributes() {
            let name = &*attribute.name;
            if let Some(known) = rule.attributes.iter().find(|a| a.name == name) {
                self.value(element, attribute, known.value);
            } else if name == "data-catalog-idref" {
                self.value(element, attribute, Type::IdRef);
            } else if !rule.allows_attribute(name) {
                let remedy = near(name, rule.attributes.iter().map(|a| a.name)).unwrap_or_else(
                    || match name == "style" {
                        true => "put the style into a stylesheet and name its class".into(),
                        false => format!("remove it, or call it data-{name}"),
                    },
                );
                let what = format!("'{}' has no attribute '{name}' in QTI 3", rule.name);
                self.found.attribute(element, attribute, what, remedy);
            }
        }
    }

    fn value(&mut self, element: Element<'d>, attribute: &'d Attribute<'d>, wanted: Type) {
        let value = &*attribute.value;
        let is_on = matches!(wanted, Type::Flag)
            && (value.trim().is_empty() || value.trim().eq_ignore_ascii_case(&attribute.name));
        if !is_on && !wanted.allows(value) {
            let what = format!("'{value}' is not a value of '{}'", attribute.name);
            self.found.attribute(
                element,
                attribute,
                what,
                format!("write {}", wanted.description()),
            );
        } else if matches!(wanted, Type::Id) && !self.ids.insert(value.trim()) {
            let what = format!("the id '{value}' appears twice in this document");
            self.found.attribute(element, attribute, what, "give each element its own id");
        } else if matches!(wanted, Type::IdRef) {
            self.id_refs.push((element, attribute));
        }
    }
}

impl ElementRule {
    fn allows_attribute(&self, name: &str) -> bool {
        let is_known = self.attributes.iter().any(|attribute| attribute.name == name);
        is_known || is_general(name) || self.any_attribute && name.contains(':')
    }
}

/// Whether an attribute has no meaning at the element, and no misspelled one either. Always false at elements that QTI 3
/// does not have.
pub(crate) fn is_meaningless(element: Element<'_>, attribute: &str) -> bool {
    let Some(id) = element.id() else { return false };
    let rule = schema::rule(id, element.parent().and_then(Element::id));
    !rule.allows_attribute(attribute)
        && nearest(attribute, rule.attributes.iter().map(|known| known.name)).is_none()
}

/// Whether every element may have the attribute: namespace declarations, `xml:…`, ARIA and data attributes.
fn is_general(name: &str) -> bool {
    ["xmlns", "xml:", "xsi:", "aria-", "data-"].iter().any(|prefix| name.starts_with(prefix))
}

/// Where a row of children stands in the particles of its parent.
struct ParticleSequence<'r> {
    particles: &'r [Particle],
    at: usize,
    count: u32,
}

impl ParticleSequence<'_> {
    /// Takes the next child if it may come here.
    fn takes(&mut self, id: ElementId) -> bool {
        let (mut at, mut count) = (self.at, self.count);
        while let Some(particle) = self.particles.get(at) {
            if particle.names.has(id) && count < particle.max {
                (self.at, self.count) = (at, count + 1);
                return true;
            }
            if count < particle.min {
                return false;
            }
            (at, count) = (at + 1, 0);
        }
        false
    }

    /// The children that are still required.
    fn missing(&self) -> Option<&Particle> {
        let current = self.particles.get(self.at).filter(|p| self.count < p.min);
        let after = self.particles.iter().skip(self.at + 1);
        current.or_else(|| after.into_iter().find(|p| p.min > 0))
    }

    /// The children that may come next.
    fn allowed(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        for (at, particle) in self.particles.iter().enumerate().skip(self.at) {
            let count = if at == self.at { self.count } else { 0 };
            if count < particle.max {
                names.extend(particle.names.list());
            }
            if count < particle.min {
                break;
            }
        }
        names
    }
}

/// A few names as a list in a message.
fn list(names: impl Iterator<Item = &'static str>) -> String {
    let names: Vec<_> = names.collect();
    match names.as_slice() {
        [one] => (*one).to_owned(),
        few if few.len() <= 8 => few.join(", "),
        many => format!("{}, … ({} names)", many[..6].join(", "), many.len()),
    }
}

/// The question whether the known name that is nearest to a misspelled one was meant.
pub(crate) fn near<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    nearest(name, known).map(|near| format!("did you mean '{near}'?"))
}

/// The known name that is nearest to a misspelled one.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut distances: HashMap<&str, usize> = HashMap::new();
    for candidate in known {
        distances.entry(candidate).or_insert_with(|| strsim::damerau_levenshtein(name, candidate));
    }
    let best = distances.into_iter().min_by_key(|(name, distance)| (*distance, *name))?;
    // Short names are near to everything.
    let is_near = best.1 <= 1 + name.len() / 4 && best.1 < name.len();
    (is_near || best.0.eq_ignore_ascii_case(name)).then_some(best.0)
}
