//! An item or stimulus as HTML for a student's browser. The HTML contains no scripts, no styles and no addresses of
//! other servers that a browser would load by itself.

mod allowed;
mod math;
mod media;
mod svg;

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::fault::DocumentFault;
use crate::model::InteractionKind;
use crate::validate::FoundFaults;
use crate::xml::{ChildNode, Document, Element, ElementNamespace};

/// The parts of a document that are shown.
const SHOWN: [&str; 4] =
    ["qti-item-body", "qti-stimulus-body", "qti-catalog-info", "qti-modal-feedback"];

/// Parts of a stimulus that are shown to some readers, or after some answers. A stimulus is sent alike to all students, so
/// these are left out.
const DEPENDENT: [&str; 5] = [
    "qti-feedback-block",
    "qti-feedback-inline",
    "qti-template-block",
    "qti-template-inline",
    "qti-rubric-block",
];

/// Writes the HTML of one document.
pub(crate) struct HtmlWriter<'a> {
    out: String,
    /// Name, cardinality and base type of each response variable.
    responses: Vec<[&'a str; 3]>,
    is_stimulus: bool,
    /// Put before each id, so that documents on one page do not take each other's ids, or an id of the page.
    id_prefix: String,
    /// The number of drawings so far.
    drawings: usize,
    /// The number of elements that are drawn again so far, because drawings refer to them.
    repeated: usize,
    /// The address on the page's own server for the address of a file as the document has it.
    address_of: &'a dyn Fn(&str) -> Option<String>,
    /// Warnings about markup that authors expect to be shown, and that is not.
    left_out: FoundFaults,
}

/// The HTML of a candidate view, or of a stimulus: an element of the class `qti-item`.
pub(crate) fn html(document: &Document<'_>, address_of: &dyn Fn(&str) -> Option<String>) -> String {
    written(document, address_of).out
}

/// Warnings about the markup of an item or stimulus that the HTML leaves out.
pub(crate) fn left_out(document: &Document<'_>) -> Vec<DocumentFault> {
    // Whether the server has the files of a document is not known here.
    let is_elsewhere = |address: &str| address.contains(':') || address.starts_with("//");
    let address_of = |address: &str| (!is_elsewhere(address)).then(String::new);
    written(document, &address_of).left_out.0
}

fn written<'a>(
    document: &'a Document<'_>,
    address_of: &'a dyn Fn(&str) -> Option<String>,
) -> HtmlWriter<'a> {
    let root = document.root();
    let declared = root.all("qti-response-declaration").map(|declaration| {
        let attribute = |name| declaration.attribute(name).unwrap_or_default().trim();
        [attribute("identifier"), attribute("cardinality"), attribute("base-type")]
    });
    let mut writer = HtmlWriter {
        out: String::new(),
        responses: declared.collect(),
        is_stimulus: root.is("qti-assessment-stimulus"),
        id_prefix: id_prefix(root),
        drawings: 0,
        repeated: 0,
        address_of,
        left_out: FoundFaults::default(),
    };
    writer.out.push_str("<div class=\"qti-item\"");
    writer.language(root);
    writer.out.push('>');
    for part in root.elements().filter(|part| SHOWN.iter().any(|name| part.is(name))) {
        writer.element(part);
    }
    writer.out.push_str("</div>");
    writer
}

impl HtmlWriter<'_> {
    fn children(&mut self, element: Element<'_>) {
        for child in element.children() {
            match child {
                ChildNode::Text(text, _) => self.text(text),
                ChildNode::Element(inner) => self.element(inner),
            }
        }
    }

    fn element(&mut self, element: Element<'_>) {
        match element.space() {
            ElementNamespace::Qti3 => self.qti(element),
            ElementNamespace::MathMl => self.math(element),
            ElementNamespace::Svg => self.drawing(element),
            ElementNamespace::Ssml => self.spoken(element),
            _ => self.leave_out(element),
        }
    }

    fn qti(&mut self, element: Element<'_>) {
        let name = element.name();
        match name {
            "img" | "picture" | "object" | "audio" | "video" | "track" | "source" => {
                self.media(element);
            }
            "a" => self.link(element),
            "qti-file-href" => self.file_reference(element),
            _ if self.is_stimulus && DEPENDENT.contains(&name) => {}
            _ if allowed::is_qti_element(name) || InteractionKind::of_element(name).is_some() => {
                self.qti_element(element);
            }
            // Modules, stylesheets, templates and parameters are not shown.
            _ => {
                if let Some(shown) = allowed::html_element(name) {
                    self.html_element(element, shown);
                } else if !name.starts_with("qti-") && name != "param" {
                    self.leave_out(element);
                }
            }
        }
    }

    /// Warns that an element is not shown.
    fn leave_out(&mut self, element: Element<'_>) {
        let message = format!("browsers of students do not get the element '{}'", element.name());
        self.left_out.warning(element, message, "remove it, or use elements of QTI, SVG or MathML");
    }

    fn qti_element(&mut self, element: Element<'_>) {
        let name = element.name();
        self.out.extend(["<", name]);
        for attribute in element.attributes() {
            if allowed::is_qti_attribute(name, &attribute.name) {
                self.attribute(&attribute.name, &attribute.value);
            }
        }
        match name {
            // Help from a catalog is shown only when a student asks for it.
            "qti-catalog-info" => self.out.push_str(" hidden"),
            // Elements refer to catalogs by their own ids.
            "qti-catalog" => self.attribute("name", element.attribute("id").unwrap_or_default()),
            _ => {}
        }
        let response = element.attribute("response-identifier").map(str::trim);
        let declared = self.responses.iter().find(|[own, ..]| Some(*own) == response).copied();
        if let Some([_, cardinality, base_type]) = declared {
            self.attribute("cardinality", cardinality);
            self.attribute("base-type", base_type);
        }
        self.common(element, &[]);
        self.out.push('>');
        // The markup of a portable custom interaction is for its module.
        if name != "qti-portable-custom-interaction" {
            self.children(element);
        }
        self.out.extend(["</", name, ">"]);
    }

    fn html_element(&mut self, element: Element<'_>, shown: &str) {
        self.out.extend(["<", shown]);
        let mut classes = Vec::new();
        for attribute in element.attributes() {
            if allowed::is_html_attribute(shown, &attribute.name) {
                self.attribute(&attribute.name, &attribute.value);
            }
            classes.extend(allowed::alignment_class(&attribute.name, &attribute.value));
        }
        self.common(element, &classes);
        self.out.push('>');
        if allowed::is_void(shown) {
            return;
        }
        if shown == "pre" {
            // A browser drops the first line break.
            self.out.push('\n');
        }
        self.children(element);
        self.out.extend(["</", shown, ">"]);
    }

    /// The attributes of every element.
    fn common(&mut self, element: Element<'_>, classes: &[String]) {
        let own = element.attribute("class").unwrap_or_default().split_whitespace();
        // Other classes belong to stylesheets of the item, which a page does not load, or are those of the page.
        let own = own.filter(|class| class.starts_with("qti-"));
        let classes: Vec<&str> = own.chain(classes.iter().map(String::as_str)).collect();
        if !classes.is_empty() {
            self.attribute("class", &classes.join(" "));
        }
        for attribute in element.attributes() {
            let name = &*attribute.name;
            if name == "id" && element.name() != "qti-catalog" {
                self.attribute("id", &self.prefixed(&attribute.value));
            } else if allowed::is_reference(name) {
                self.attribute(name, &self.prefixed(&attribute.value));
            } else if allowed::is_common_attribute(name) {
                self.attribute(name, &attribute.value);
            }
        }
        self.language(element);
    }

    fn language(&mut self, element: Element<'_>) {
        if let Some(language) = element.attribute("xml:lang").or(element.attribute("lang")) {
            self.attribute("lang", language);
        }
    }

    /// A link to another page, or to a place of the item.
    fn link(&mut self, element: Element<'_>) {
        let href = element.attribute("href").unwrap_or_default().trim();
        if let Some(place) = href.strip_prefix('#') {
            self.out.push_str("<a");
            self.attribute("href", &["#", &self.prefixed(place)].concat());
        } else if is_secure(href) {
            self.out.push_str("<a");
            self.outside(href);
        } else {
            let message = format!("browsers of students show '{href}' as text, not as a link");
            self.left_out.warning(element, message, "use an address that begins with https://");
            self.out.push_str("<span");
        }
        self.common(element, &[]);
        self.out.push('>');
        self.children(element);
        let is_link = href.starts_with('#') || is_secure(href);
        self.out.push_str(if is_link { "</a>" } else { "</span>" });
    }

    /// The attributes of a link that leads to another server, in a tab of its own.
    fn outside(&mut self, href: &str) {
        self.attribute("href", href);
        self.out.push_str(" target=\"_blank\" rel=\"noopener noreferrer\"");
    }

    /// A text with directions for speech (SSML): its text is shown, and a substitute is kept for reading aloud.
    fn spoken(&mut self, element: Element<'_>) {
        let alias = element.attribute("alias").filter(|_| element.name() == "sub");
        match alias {
            Some(alias) => {
                self.out.push_str("<span");
                self.attribute("data-say", alias);
                self.out.push('>');
                self.children(element);
                self.out.push_str("</span>");
            }
            None => self.children(element),
        }
    }

    /// Ids with the prefix of the document.
    fn prefixed(&self, ids: &str) -> String {
        let ids: Vec<String> =
            ids.split_whitespace().map(|id| [self.id_prefix.as_str(), id].concat()).collect();
        ids.join(" ")
    }

    fn attribute(&mut self, name: &str, value: &str) {
        self.out.extend([" ", name, "=\""]);
        self.text(value);
        self.out.push('"');
    }

    fn text(&mut self, text: &str) {
        for character in text.chars() {
            match character {
                '&' => self.out.push_str("&amp;"),
                '<' => self.out.push_str("&lt;"),
                '>' => self.out.push_str("&gt;"),
                '"' => self.out.push_str("&quot;"),
                '\u{a0}' => self.out.push_str("&nbsp;"),
                // A browser reads it as a line break.
                '\r' => self.out.push_str("&#13;"),
                other => self.out.push(other),
            }
        }
    }
}

/// The prefix of the ids of a document.
fn id_prefix(root: Element<'_>) -> String {
    let mut hash = DefaultHasher::new();
    (root.name(), root.attribute("identifier")).hash(&mut hash);
    format!("qti-{:08x}-", hash.finish() >> 32)
}

/// Whether an address leads to another page over an encrypted connection.
fn is_secure(href: &str) -> bool {
    href.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"))
}
