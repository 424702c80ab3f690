//! `MathML` as browsers show it, by the specification `MathML` Core.

use super::{HtmlWriter, allowed};
use crate::xml::{ChildNode, Element, ElementNamespace};

impl HtmlWriter<'_> {
    pub(super) fn math(&mut self, element: Element<'_>) {
        let name = element.name();
        match name {
            "mfenced" => return self.fenced(element),
            // Formulas in another notation, which browsers would show a second time.
            "annotation" | "annotation-xml" => return,
            // Browsers show the first version of an action.
            "maction" => {
                let first = element.elements().next();
                if let Some(first) = first.filter(|first| is_math(*first)) {
                    self.math(first);
                }
                return;
            }
            _ if !allowed::is_math_element(name) => return self.leave_out(element),
            _ => {}
        }
        self.out.extend(["<", name]);
        for attribute in element.attributes() {
            if allowed::is_math_attribute(&attribute.name) {
                self.attribute(&attribute.name, &attribute.value);
            }
        }
        if name == "math" {
            self.common(element, &[]);
        }
        self.out.push('>');
        for child in element.children() {
            match child {
                ChildNode::Text(text, _) => self.text(text),
                ChildNode::Element(inner) if is_math(inner) => self.math(inner),
                // HTML inside a formula would leave its namespace.
                ChildNode::Element(inner) => self.leave_out(inner),
            }
        }
        self.out.extend(["</", name, ">"]);
    }

    /// Writes the brackets and separators of `mfenced`, which browsers no longer know.
    fn fenced(&mut self, element: Element<'_>) {
        let open = element.attribute("open").unwrap_or("(");
        let close = element.attribute("close").unwrap_or(")");
        let separators = element.attribute("separators").unwrap_or(",");
        let separators: Vec<char> = separators.chars().filter(|c| !c.is_whitespace()).collect();
        self.out.push_str("<mrow>");
        self.operator(open);
        for (at, inner) in element.elements().filter(|inner| is_math(*inner)).enumerate() {
            if let Some(before) = at.checked_sub(1)
                && let Some(separator) = separators.get(before).or(separators.last())
            {
                self.operator(&separator.to_string());
            }
            self.math(inner);
        }
        self.operator(close);
        self.out.push_str("</mrow>");
    }

    fn operator(&mut self, text: &str) {
        self.out.push_str("<mo>");
        self.text(text);
        self.out.push_str("</mo>");
    }
}

fn is_math(element: Element<'_>) -> bool {
    element.space() == ElementNamespace::MathMl
}
