//! Drawings inside an item (SVG). The HTML contains shapes and text only: no scripts, and no addresses of other files.

use std::collections::HashMap;

use super::{HtmlWriter, allowed};
use crate::limits::DRAWING_REPEATED_MAX_COUNT;
use crate::xml::{ChildNode, Element, ElementNamespace, is_svg_text};

/// Parts of a drawing that repeat parts, which repeat parts, are left out below this level.
const REPETITION_MAX_LEVELS: usize = 8;

/// The functions that may be in a value, because they load nothing.
const FUNCTIONS: [&str; 11] = [
    "hsl",
    "hsla",
    "matrix",
    "rgb",
    "rgba",
    "rotate",
    "scale",
    "skewx",
    "skewy",
    "translate",
    "calc",
];

/// The parts of a drawing that have an id.
pub(super) struct DrawingParts<'d> {
    /// `None` if several parts have the id.
    by_id: HashMap<&'d str, Option<Element<'d>>>,
    /// The number of elements that a browser draws for each part; `None` if the part repeats itself.
    costs: HashMap<&'d str, Option<usize>>,
}

impl<'d> DrawingParts<'d> {
    fn of(root: Element<'d>) -> Self {
        let mut by_id = HashMap::new();
        for element in root.descendants() {
            if let Some(id) = element.attribute("id") {
                by_id.entry(id).and_modify(|part| *part = None).or_insert(Some(element));
            }
        }
        Self { by_id, costs: HashMap::new() }
    }

    /// The number of elements that a browser draws for a part, with all that it repeats. `None` for a part that repeats
    /// itself, or has no id of its own.
    fn cost(&mut self, id: &'d str, level: usize) -> Option<usize> {
        if let Some(known) = self.costs.get(id) {
            return *known;
        }
        // Found again while it is computed, the part repeats itself.
        self.costs.insert(id, None);
        let part = self.by_id.get(id).copied().flatten().filter(|part| is_svg(*part))?;
        let mut cost = 0_usize;
        // A browser computes a gradient once.
        if !part.name().ends_with("Gradient") {
            for element in part.descendants() {
                cost = cost.saturating_add(1);
                for (inner, times) in references(element) {
                    let inner = match level < REPETITION_MAX_LEVELS {
                        true => self.cost(inner, level + 1)?,
                        false => return None,
                    };
                    cost = cost.saturating_add(inner.saturating_mul(times));
                }
            }
        }
        self.costs.insert(id, Some(cost));
        Some(cost)
    }
}

impl HtmlWriter<'_> {
    /// A drawing, from its root on.
    pub(super) fn drawing(&mut self, root: Element<'_>) {
        if root.name() != "svg" {
            return self.leave_out(root);
        }
        // Drawing programs use the same ids in each drawing.
        self.drawings += 1;
        let in_drawing = format!("{}{}-", self.id_prefix, self.drawings);
        let outside = std::mem::replace(&mut self.id_prefix, in_drawing);
        self.out.push_str("<svg");
        // A drawing with a title is one picture to a screen reader. Otherwise, its texts are read.
        let is_titled = root.elements().any(|inner| is_svg(inner) && inner.name() == "title");
        if is_titled || root.attribute("aria-label").is_some() {
            self.attribute("role", "img");
        }
        self.shape_inside(&mut DrawingParts::of(root), root);
        self.id_prefix = outside;
    }

    fn shape<'d>(&mut self, parts: &mut DrawingParts<'d>, element: Element<'d>) {
        let name = element.name();
        if !allowed::is_svg_element(name) {
            return self.leave_out(element);
        }
        let repeated = used_part(element);
        if name == "use" && !repeated.is_some_and(|id| self.may_repeat(parts, id, 1)) {
            return self.leave_out(element);
        }
        self.out.extend(["<", name]);
        self.shape_inside(parts, element);
    }

    /// The attributes and the content of an element whose tag was begun.
    fn shape_inside<'d>(&mut self, parts: &mut DrawingParts<'d>, element: Element<'d>) {
        let name = element.name();
        for (attribute, value) in drawn(element) {
            if let Some(id) = part_in(value) {
                if self.may_repeat(parts, id, times(element, attribute)) {
                    self.attribute(attribute, &format!("url(#{})", self.prefixed(id)));
                }
            } else if is_plain(value) {
                self.attribute(attribute, value);
            }
        }
        if let Some(id) = used_part(element) {
            self.attribute("href", &["#", &self.prefixed(id)].concat());
        }
        self.common(element, &[]);
        self.out.push('>');
        for child in element.children() {
            match child {
                ChildNode::Text(text, _) if is_svg_text(name) => self.text(text),
                ChildNode::Element(inner) if is_svg(inner) => self.shape(parts, inner),
                // HTML inside a drawing would leave its namespace.
                ChildNode::Element(inner) => self.leave_out(inner),
                ChildNode::Text(..) => {}
            }
        }
        self.out.extend(["</", name, ">"]);
    }

    /// Whether a part may be drawn again this many times. A small document could otherwise become a drawing that no browser
    /// can draw.
    fn may_repeat<'d>(&mut self, parts: &mut DrawingParts<'d>, id: &'d str, times: usize) -> bool {
        let Some(cost) = parts.cost(id, 0) else { return false };
        let repeated = self.repeated.saturating_add(cost.saturating_mul(times));
        let is_allowed = repeated <= DRAWING_REPEATED_MAX_COUNT;
        if is_allowed {
            self.repeated = repeated;
        }
        is_allowed
    }
}

fn is_svg(element: Element<'_>) -> bool {
    element.space() == ElementNamespace::Svg
}

/// The attributes that draw something. A declaration of `style` becomes an attribute, because a style attribute would need a
/// policy that allows any style; it replaces the attribute of the same name.
fn drawn(element: Element<'_>) -> Vec<(&str, &str)> {
    let mut styled: Vec<(&str, &str)> = Vec::new();
    for declaration in element.attribute("style").unwrap_or_default().split(';') {
        let Some((property, value)) = declaration.split_once(':') else { continue };
        let (property, value) = (property.trim(), value.trim());
        let value = value.strip_suffix("!important").unwrap_or(value).trim_end();
        let is_shown = is_plain(value) || part_in(value).is_some();
        if allowed::is_svg_property(property) && is_shown {
            // The last declaration counts.
            styled.retain(|(known, _)| *known != property);
            styled.push((property, value));
        }
    }
    let attributes = element.attributes().iter().map(|one| (&*one.name, &*one.value));
    let mut drawn: Vec<(&str, &str)> = attributes
        .filter(|(name, _)| allowed::is_svg_attribute(name))
        .filter(|(name, _)| styled.iter().all(|(styled, _)| styled != name))
        .collect();
    drawn.extend(styled);
    drawn
}

/// The parts of the drawing to which an element refers, each with the number of times that it is drawn.
fn references(element: Element<'_>) -> impl Iterator<Item = (&str, usize)> {
    let named = drawn(element)
        .into_iter()
        .filter_map(move |(name, value)| Some((part_in(value)?, times(element, name))));
    named.chain(used_part(element).map(|id| (id, 1)))
}

/// How often a browser draws the part that an attribute names: a marker at each point of a path, everything else once.
fn times(element: Element<'_>, attribute: &str) -> usize {
    if attribute != "marker-mid" {
        return 1;
    }
    let points = element.attribute("d").or_else(|| element.attribute("points"));
    // A point has at least two characters.
    points.unwrap_or_default().len() / 2 + 1
}

/// The id in the same drawing that a `use` repeats.
fn used_part(element: Element<'_>) -> Option<&str> {
    if element.name() != "use" {
        return None;
    }
    let href = element.attribute("href").or_else(|| element.attribute("xlink:href"))?;
    href.trim().strip_prefix('#').filter(|id| !id.is_empty())
}

/// The id in a value such as `url(#shade)`.
fn part_in(value: &str) -> Option<&str> {
    let part = value.trim().strip_prefix("url(")?.strip_suffix(')')?;
    let id = part.trim_matches(['"', '\'', ' ']).strip_prefix('#')?;
    let is_name = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    (!id.is_empty() && id.chars().all(is_name)).then_some(id)
}

/// Whether a value refers to nothing.
fn is_plain(value: &str) -> bool {
    let is_usual = |c: char| c.is_alphanumeric() || " \n\t,.%#+-_'\"()/".contains(c);
    let mut before_brackets = value.split('(').rev().skip(1);
    value.chars().all(is_usual)
        && before_brackets.all(|text| {
            let name = text.trim_end().rsplit(|c: char| !c.is_alphanumeric() && c != '-').next();
            let name = name.unwrap_or_default().to_ascii_lowercase();
            FUNCTIONS.contains(&name.as_str())
        })
}
