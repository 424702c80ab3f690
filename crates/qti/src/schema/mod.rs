//! The schema of QTI 3.0 as a table with one row for each element.
//!
//! A row is `(name, content, attributes)`.
//! - Content: `~` text may stand between the elements; then particles in their order, each a name, a
//!   `|`-list of names or a `%group`, with `?`, `*`, `+` or `{2}`; `any` takes whatever comes;
//!   `=type` is text of that type and no element.
//! - Attributes: `name:type`, `name!:type` where required, `$group` for those of a group, `$any` for
//!   attributes of other namespaces. A type is a word of [`types`] or a `|`-list of the values.
//! - The name `parent/name` is the row for that name inside that parent.

mod elements;
mod groups;
mod html;
mod processing;
mod types;

use std::collections::HashMap;
use std::sync::LazyLock;

pub(crate) use types::{Type, is_name};

/// The row of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ElementId(u16);

/// The roots of other vocabularies, whose inside is not looked at.
pub(crate) const MATH: ElementId = ElementId(0);
pub(crate) const SSML: ElementId = ElementId(1);
pub(crate) const INCLUDE: ElementId = ElementId(2);
pub(crate) const DRAWING: ElementId = ElementId(3);
const FOREIGN: [&str; 4] = ["math", "ssml", "xi:include", "svg"];

/// A set of elements.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ElementSet([u64; 6]);

impl ElementSet {
    fn add(&mut self, id: ElementId) {
        self.0[usize::from(id.0 / 64)] |= 1 << (id.0 % 64);
    }

    pub(crate) fn has(self, id: ElementId) -> bool {
        self.0[usize::from(id.0 / 64)] & (1 << (id.0 % 64)) != 0
    }

    /// The names in it.
    pub(crate) fn list(self) -> impl Iterator<Item = &'static str> {
        let count = SCHEMA.elements.len();
        let ids = (0..u16::try_from(count).expect("there are some hundred rows")).map(ElementId);
        ids.filter(move |id| self.has(*id)).map(|id| SCHEMA.elements[usize::from(id.0)].name)
    }
}

/// A place in a sequence of children.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Particle {
    pub(crate) names: ElementSet,
    pub(crate) min: u32,
    pub(crate) max: u32,
}

pub(crate) struct AttributeRule {
    pub(crate) name: &'static str,
    pub(crate) required: bool,
    pub(crate) value: Type,
}

/// The rule of an element.
pub(crate) struct ElementRule {
    pub(crate) name: &'static str,
    /// Whether text is allowed between the elements.
    pub(crate) mixed: bool,
    /// Whether any element is allowed.
    pub(crate) any: bool,
    /// The type of the text, where there is text and no element.
    pub(crate) text: Option<Type>,
    pub(crate) content: Vec<Particle>,
    pub(crate) attributes: Vec<AttributeRule>,
    pub(crate) any_attribute: bool,
}

struct Schema {
    ids: HashMap<&'static str, ElementId>,
    elements: Vec<ElementRule>,
    /// Rows for a name inside one parent.
    inside: HashMap<(ElementId, ElementId), usize>,
}

static SCHEMA: LazyLock<Schema> = LazyLock::new(compile);

/// The element with that name of QTI 3.
pub(crate) fn id(name: &str) -> Option<ElementId> {
    SCHEMA.ids.get(name).copied().filter(|id| usize::from(id.0) >= FOREIGN.len())
}

/// The allowed children and attributes of an element.
pub(crate) fn rule(id: ElementId, parent: Option<ElementId>) -> &'static ElementRule {
    let schema = &*SCHEMA;
    let inside = parent.and_then(|parent| schema.inside.get(&(parent, id)));
    &schema.elements[inside.copied().unwrap_or(usize::from(id.0))]
}

/// Whether the element with the name `parent` may have a child with that name.
pub(crate) fn allows(parent: &str, child: &str) -> bool {
    let (Some(parent), Some(child)) = (id(parent), id(child)) else { return false };
    rule(parent, None).content.iter().any(|particle| particle.names.has(child))
}

/// Whether the inside of an element belongs to another vocabulary.
pub(crate) fn is_foreign(id: ElementId) -> bool {
    usize::from(id.0) < FOREIGN.len()
}

/// All names of elements, those of QTI and those of HTML.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    SCHEMA.ids.keys().copied()
}

/// All names of attributes.
pub(crate) fn attribute_names() -> impl Iterator<Item = &'static str> {
    SCHEMA.elements.iter().flat_map(|element| element.attributes.iter().map(|a| a.name))
}

type SchemaRow = (&'static str, &'static str, &'static str);

fn compile() -> Schema {
    let tables = [elements::ELEMENTS, processing::ELEMENTS, html::ELEMENTS];
    let rows: Vec<&SchemaRow> = tables.into_iter().flatten().collect();
    let mut ids = HashMap::new();
    let plain = rows.iter().map(|row| row.0).filter(|name| !name.contains('/'));
    for (index, name) in FOREIGN.into_iter().chain(plain).enumerate() {
        let id = ElementId(u16::try_from(index).expect("there are some hundred rows"));
        assert!(ids.insert(name, id).is_none(), "two rows for {name}");
    }
    let foreign = FOREIGN.map(|name| element(&ids, name, "any", "$any"));
    let (plain, special): (Vec<&SchemaRow>, Vec<&SchemaRow>) =
        rows.iter().partition(|r| !r.0.contains('/'));
    let mut elements: Vec<ElementRule> = Vec::from(foreign);
    elements.extend(
        plain.iter().map(|(name, content, attributes)| element(&ids, name, content, attributes)),
    );
    let mut inside = HashMap::new();
    for (name, content, attributes) in special {
        let (parent, name) = name.split_once('/').expect("special rows name a parent");
        inside.insert((ids[parent], ids[name]), elements.len());
        elements.push(element(&ids, name, content, attributes));
    }
    Schema { ids, elements, inside }
}

fn element(
    ids: &HashMap<&'static str, ElementId>,
    name: &'static str,
    content: &'static str,
    attributes: &'static str,
) -> ElementRule {
    let mut rule = ElementRule {
        name,
        mixed: content.starts_with('~'),
        any: false,
        text: None,
        content: Vec::new(),
        attributes: Vec::new(),
        any_attribute: false,
    };
    for token in content.trim_start_matches('~').split_whitespace() {
        if let Some(text) = token.strip_prefix('=') {
            rule.text = Some(Type::from_name(text));
        } else if token == "any" {
            rule.any = true;
        } else {
            rule.content.push(particle(ids, token));
        }
    }
    add_attributes(&mut rule, attributes);
    rule
}

fn particle(ids: &HashMap<&'static str, ElementId>, token: &str) -> Particle {
    let (token, min, max) = match token.as_bytes().last() {
        Some(b'?') => (&token[..token.len() - 1], 0, 1),
        Some(b'*') => (&token[..token.len() - 1], 0, u32::MAX),
        Some(b'+') => (&token[..token.len() - 1], 1, u32::MAX),
        Some(b'}') => (token.trim_end_matches("{2}"), 2, 2),
        _ => (token, 1, 1),
    };
    let mut names = ElementSet::default();
    add_names(ids, token, &mut names);
    Particle { names, min, max }
}

fn add_names(ids: &HashMap<&'static str, ElementId>, tokens: &str, names: &mut ElementSet) {
    for name in tokens.split(['|', ' ', '\n']).filter(|name| !name.is_empty()) {
        match name.strip_prefix('%') {
            Some(group) => add_names(ids, groups::of_names(group), names),
            None => names.add(*ids.get(name).unwrap_or_else(|| panic!("no row for {name}"))),
        }
    }
}

fn add_attributes(rule: &mut ElementRule, attributes: &'static str) {
    for token in attributes.split_whitespace() {
        if token == "$any" {
            rule.any_attribute = true;
        } else if let Some(group) = token.strip_prefix('$') {
            add_attributes(rule, groups::of_attributes(group));
        } else {
            let (name, value) = token.split_once(':').expect("an attribute has a type");
            let required = name.ends_with('!');
            let name = name.trim_end_matches('!');
            rule.attributes.push(AttributeRule { name, required, value: Type::from_name(value) });
        }
    }
}
