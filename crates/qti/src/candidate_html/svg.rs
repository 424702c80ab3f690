//! Drawings inside an item (SVG): shapes and text that load nothing and run nothing.

use super::{HtmlWriter, allowed, prefixed};
use crate::xml::{ChildNode, Element, ElementNamespace};

impl HtmlWriter<'_> {
    /// A drawing, from its root on.
    pub(super) fn drawing(&mut self, root: Element<'_>) {
        if root.name() != "svg" {
            return;
        }
        self.out.push_str("<svg");
        // A drawing with a title is one picture to a screen reader. Otherwise, its texts are read.
        let is_titled = root.elements().any(|inner| is_svg(inner) && inner.name() == "title");
        if is_titled || root.attribute("aria-label").is_some() {
            self.attribute("role", "img");
        }
        self.shape_inside(root, root);
    }

    fn shape(&mut self, root: Element<'_>, element: Element<'_>) {
        let name = element.name();
        if !allowed::is_svg_element(name) || name == "use" && !is_simple_use(root, element) {
            return;
        }
        self.out.extend(["<", name]);
        self.shape_inside(root, element);
    }

    /// The attributes and the content of an element whose tag was begun.
    fn shape_inside(&mut self, root: Element<'_>, element: Element<'_>) {
        let name = element.name();
        for attribute in element.attributes() {
            if allowed::is_svg_attribute(&attribute.name) {
                self.drawn(&attribute.name, &attribute.value);
            }
        }
        // A style attribute would need a policy that allows any style.
        for declaration in element.attribute("style").unwrap_or_default().split(';') {
            let Some((property, value)) = declaration.split_once(':') else { continue };
            let (property, value) = (property.trim(), value.trim());
            if allowed::is_svg_property(property) && element.attribute(property).is_none() {
                self.drawn(property, value);
            }
        }
        if name == "use"
            && let Some(id) = target(element)
        {
            self.attribute("href", &["#", &prefixed(id)].concat());
        }
        self.common(element, &[]);
        self.out.push('>');
        for child in element.children() {
            match child {
                ChildNode::Text(text, _) if allowed::is_svg_text(name) => self.text(text),
                ChildNode::Element(inner) if is_svg(inner) => self.shape(root, inner),
                // Text of HTML inside a drawing would leave its namespace.
                ChildNode::Text(..) | ChildNode::Element(_) => {}
            }
        }
        self.out.extend(["</", name, ">"]);
    }

    /// An attribute whose value draws something. The only reference in it may be to a part of the same document.
    fn drawn(&mut self, name: &str, value: &str) {
        let is_plain = |value: &str| {
            let plain = |c: char| c.is_alphanumeric() || " \n\t,.%#+-_'()".contains(c);
            value.chars().all(plain)
                && !["url", "image", "src", "var", "attr"]
                    .iter()
                    .any(|word| value.to_ascii_lowercase().contains(word))
        };
        let part = value.trim().strip_prefix("url(").and_then(|rest| rest.strip_suffix(')'));
        let part = part.map(|part| part.trim_matches(['"', '\'', ' ']));
        if let Some(id) = part.and_then(|part| part.strip_prefix('#')).filter(|id| is_plain(id)) {
            self.attribute(name, &format!("url(#{})", prefixed(id)));
        } else if is_plain(value) {
            self.attribute(name, value);
        }
    }
}

fn is_svg(element: Element<'_>) -> bool {
    element.space() == ElementNamespace::Svg
}

/// The id in the same document that a `use` repeats.
fn target(element: Element<'_>) -> Option<&str> {
    let href = element.attribute("href").or_else(|| element.attribute("xlink:href"))?;
    href.trim().strip_prefix('#').filter(|id| !id.is_empty())
}

/// Whether a `use` repeats a part of the same drawing that repeats nothing. Parts that repeat each other may become as large
/// as no browser can draw.
fn is_simple_use(root: Element<'_>, element: Element<'_>) -> bool {
    let Some(id) = target(element) else { return false };
    let part = root.descendants().find(|part| part.attribute("id") == Some(id));
    part.is_some_and(|part| is_svg(part) && part.descendants().all(|inner| inner.name() != "use"))
}
