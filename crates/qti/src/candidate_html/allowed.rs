//! The elements and attributes that the HTML of an item may contain. Everything else is left out.

/// The name under which an element of HTML is shown; `None` if it is left out.
pub(super) fn html_element(name: &str) -> Option<&str> {
    match name {
        // The page has the only heading of the first level.
        "h1" => Some("h2"),
        "h2" => Some("h3"),
        "h3" => Some("h4"),
        "h4" => Some("h5"),
        "h5" | "h6" => Some("h6"),
        "acronym" => Some("abbr"),
        "big" | "label" | "rb" => Some("span"),
        "tt" => Some("code"),
        "abbr" | "address" | "article" | "aside" | "b" | "bdi" | "bdo" | "blockquote" | "br"
        | "caption" | "cite" | "code" | "col" | "colgroup" | "dd" | "details" | "dfn" | "div"
        | "dl" | "dt" | "em" | "figcaption" | "figure" | "footer" | "header" | "hr" | "i"
        | "kbd" | "li" | "nav" | "ol" | "p" | "pre" | "q" | "rp" | "rt" | "ruby" | "samp"
        | "section" | "small" | "span" | "strong" | "sub" | "summary" | "sup" | "table"
        | "tbody" | "td" | "tfoot" | "th" | "thead" | "tr" | "ul" | "var" => Some(name),
        _ => None,
    }
}

/// Whether an element of HTML has no end tag.
pub(super) fn is_void(name: &str) -> bool {
    matches!(name, "br" | "col" | "hr" | "img" | "source" | "track")
}

/// The elements of QTI that a browser receives under their own names, interactions besides.
const QTI_ELEMENTS: [&str; 28] = [
    "qti-associable-hotspot",
    "qti-card",
    "qti-card-entry",
    "qti-catalog",
    "qti-catalog-info",
    "qti-content-body",
    "qti-feedback-block",
    "qti-feedback-inline",
    "qti-file-href",
    "qti-gap",
    "qti-gap-img",
    "qti-gap-text",
    "qti-hotspot-choice",
    "qti-hottext",
    "qti-html-content",
    "qti-inline-choice",
    "qti-item-body",
    "qti-label",
    "qti-modal-feedback",
    "qti-position-object-stage",
    "qti-prompt",
    "qti-rubric-block",
    "qti-simple-associable-choice",
    "qti-simple-choice",
    "qti-simple-match-set",
    "qti-stimulus-body",
    "qti-template-block",
    "qti-template-inline",
];

/// Whether a browser receives an element of QTI under its own name.
pub(super) fn is_qti_element(name: &str) -> bool {
    QTI_ELEMENTS.contains(&name)
}

/// The attributes of QTI that a browser needs to show an interaction. They say nothing about the answer.
const INTERACTION: [&str; 35] = [
    "autostart",
    "base",
    "center-point",
    "coords",
    "expected-length",
    "expected-lines",
    "format",
    "hotspot-label",
    "identifier",
    "left",
    "loop",
    "lower-bound",
    "match-group",
    "match-max",
    "match-min",
    "max-associations",
    "max-choices",
    "max-plays",
    "max-strings",
    "min-associations",
    "min-choices",
    "min-plays",
    "min-strings",
    "object-label",
    "orientation",
    "pattern-mask",
    "placeholder-text",
    "required",
    "response-identifier",
    "reverse",
    "shape",
    "step",
    "step-label",
    "top",
    "upper-bound",
];

/// The `data-` attributes of the shared vocabulary (QTI 3.0, shared CSS vocabulary and data attributes).
const DATA: [&str; 8] = [
    "data-catalog-idref",
    "data-choices-container-width",
    "data-first-column-header",
    "data-item-source",
    "data-max-selections-message",
    "data-min-selections-message",
    "data-patternmask-message",
    "data-prompt",
];

/// Whether an attribute with the unchanged value may stand on the element of QTI.
pub(super) fn is_qti_attribute(element: &str, attribute: &str) -> bool {
    let is_feedback = element.starts_with("qti-feedback") || element.starts_with("qti-template");
    match attribute {
        "type" | "lower-bound" | "upper-bound" | "title" => {
            element.ends_with("-interaction") || element == "qti-modal-feedback"
        }
        // They would tell which answers have feedback.
        "identifier" => !is_feedback && element != "qti-modal-feedback",
        "support" => element == "qti-card",
        "default" => element == "qti-card-entry",
        "mime-type" => element == "qti-file-href",
        "use" => element == "qti-rubric-block",
        _ => INTERACTION.contains(&attribute),
    }
}

/// Whether an attribute with the unchanged value may stand on any element.
pub(super) fn is_common_attribute(attribute: &str) -> bool {
    matches!(attribute, "dir" | "aria-label" | "aria-hidden") || DATA.contains(&attribute)
}

/// Whether an attribute with the unchanged value may stand on the element of HTML.
pub(super) fn is_html_attribute(element: &str, attribute: &str) -> bool {
    match attribute {
        "abbr" | "colspan" | "rowspan" | "scope" => matches!(element, "td" | "th"),
        "open" => element == "details",
        "span" => matches!(element, "col" | "colgroup"),
        "title" => matches!(element, "abbr" | "bdo" | "dfn"),
        _ => false,
    }
}

/// Whether the attribute contains the ids of other elements.
pub(super) fn is_reference(attribute: &str) -> bool {
    matches!(attribute, "aria-describedby" | "aria-labelledby" | "headers")
}

/// The class of the shared vocabulary for a value of `align` or `valign`.
pub(super) fn alignment_class(attribute: &str, value: &str) -> Option<String> {
    let prefix = match (attribute, value) {
        ("align", "left" | "center" | "right" | "justify") => "qti-align-",
        ("valign", "top" | "middle" | "bottom" | "baseline") => "qti-valign-",
        _ => return None,
    };
    Some([prefix, value].concat())
}

/// The elements of `MathML` that are shown.
pub(super) fn is_math_element(name: &str) -> bool {
    const NAMES: [&str; 29] = [
        "math",
        "menclose",
        "merror",
        "mfrac",
        "mi",
        "mmultiscripts",
        "mn",
        "mo",
        "mover",
        "mpadded",
        "mphantom",
        "mprescripts",
        "mroot",
        "mrow",
        "ms",
        "mspace",
        "msqrt",
        "mstyle",
        "msub",
        "msubsup",
        "msup",
        "mtable",
        "mtd",
        "mtext",
        "mtr",
        "munder",
        "munderover",
        "none",
        "semantics",
    ];
    NAMES.contains(&name)
}

/// The attributes of `MathML` that are kept.
pub(super) fn is_math_attribute(name: &str) -> bool {
    const NAMES: [&str; 26] = [
        "accent",
        "accentunder",
        "alttext",
        "columnalign",
        "columnlines",
        "columnspacing",
        "columnspan",
        "depth",
        "dir",
        "display",
        "displaystyle",
        "fence",
        "form",
        "height",
        "linethickness",
        "lspace",
        "mathvariant",
        "notation",
        "rowlines",
        "rowspacing",
        "rowspan",
        "rspace",
        "scriptlevel",
        "separator",
        "stretchy",
        "width",
    ];
    NAMES.contains(&name)
}

/// The elements of SVG that are shown inside a drawing.
pub(super) fn is_svg_element(name: &str) -> bool {
    const NAMES: [&str; 23] = [
        "circle",
        "clipPath",
        "defs",
        "desc",
        "ellipse",
        "g",
        "line",
        "linearGradient",
        "marker",
        "mask",
        "path",
        "pattern",
        "polygon",
        "polyline",
        "radialGradient",
        "rect",
        "stop",
        "svg",
        "symbol",
        "text",
        "title",
        "tspan",
        "use",
    ];
    NAMES.contains(&name)
}

/// The properties of SVG that are kept, as attributes or in `style`.
pub(super) fn is_svg_property(name: &str) -> bool {
    const NAMES: [&str; 39] = [
        "alignment-baseline",
        "baseline-shift",
        "clip-path",
        "clip-rule",
        "color",
        "display",
        "dominant-baseline",
        "fill",
        "fill-opacity",
        "fill-rule",
        "font-family",
        "font-size",
        "font-style",
        "font-variant",
        "font-weight",
        "letter-spacing",
        "marker-end",
        "marker-mid",
        "marker-start",
        "mask",
        "opacity",
        "overflow",
        "paint-order",
        "shape-rendering",
        "stop-color",
        "stop-opacity",
        "stroke",
        "stroke-dasharray",
        "stroke-dashoffset",
        "stroke-linecap",
        "stroke-linejoin",
        "stroke-miterlimit",
        "stroke-opacity",
        "stroke-width",
        "text-anchor",
        "text-decoration",
        "vector-effect",
        "visibility",
        "word-spacing",
    ];
    NAMES.contains(&name)
}

/// The attributes of SVG that are kept.
pub(super) fn is_svg_attribute(name: &str) -> bool {
    const NAMES: [&str; 43] = [
        "clipPathUnits",
        "cx",
        "cy",
        "d",
        "dx",
        "dy",
        "fr",
        "fx",
        "fy",
        "gradientTransform",
        "gradientUnits",
        "height",
        "lengthAdjust",
        "markerHeight",
        "markerUnits",
        "markerWidth",
        "maskContentUnits",
        "maskUnits",
        "offset",
        "orient",
        "pathLength",
        "patternContentUnits",
        "patternTransform",
        "patternUnits",
        "points",
        "preserveAspectRatio",
        "r",
        "refX",
        "refY",
        "rotate",
        "rx",
        "ry",
        "spreadMethod",
        "textLength",
        "transform",
        "viewBox",
        "width",
        "x",
        "x1",
        "x2",
        "y",
        "y1",
        "y2",
    ];
    NAMES.contains(&name) || is_svg_property(name)
}
