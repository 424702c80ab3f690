//! SVG: the credential is the element `credential` of the namespace of Open Badges, below the root: JSON
//! in a CDATA section, a compact JWS in the attribute `verify`.

use lyceum_core::message;
use lyceum_core::problem::Result;
use roxmltree::{Document, Node, ParsingOptions};

use super::{malformed, within_limit};
use crate::limits::BAKED_SVG_MAX_NODES;
use crate::open_badges_2;

const NAMESPACE: &str = "https://purl.imsglobal.org/ob/v3p0";
const PREFIX: &str = "openbadges";
/// The namespace of badges of Open Badges 2.0.
const OPEN_BADGES_2: &str = "http://openbadges.org";

/// The image with the credential, JSON or a compact JWS, in place of the one that it held. Errors:
/// the image is not an SVG, defines entities, or is larger than the limit.
pub fn bake(image: &str, credential: &str) -> Result<String> {
    within_limit(image.as_bytes())?;
    let document = parse(image)?;
    let root = document.root_element();
    let declared = match root.lookup_namespace_uri(Some(PREFIX)) {
        None => format!(" xmlns:{PREFIX}=\"{NAMESPACE}\""),
        Some(NAMESPACE) => String::new(),
        Some(other) => {
            return Err(malformed(message!("the SVG binds the prefix '{PREFIX}' to '{other}'")));
        }
    };
    let tag = start_tag(image, root);
    let open = tag.strip_suffix("/>").or(tag.strip_suffix('>')).unwrap_or(tag);
    let start = root.range().start;
    let mut baked = String::with_capacity(image.len() + credential.len() + 256);
    baked.push_str(&image[..start]);
    baked.extend([open, &declared, ">", &element(credential)]);
    let mut from = start + tag.len();
    for element in credential_elements(root) {
        baked.push_str(&image[from..element.range().start]);
        from = element.range().end;
    }
    if tag.ends_with("/>") {
        let name = open[1..].split(|c: char| c.is_whitespace()).next().unwrap_or_default();
        baked.extend(["</", name, ">"]);
    }
    baked.push_str(&image[from..]);
    Ok(baked)
}

fn element(credential: &str) -> String {
    match credential.trim_start().starts_with('{') {
        // The brackets stand in a string of the JSON, where the escape means the same.
        true => {
            let json = credential.replace("]]>", "]]\\u003e");
            format!("<{PREFIX}:credential><![CDATA[{json}]]></{PREFIX}:credential>")
        }
        // A compact JWS has no character that an attribute escapes.
        false => format!("<{PREFIX}:credential verify=\"{}\"/>", credential.trim()),
    }
}

pub(super) fn unbake(image: &str) -> Result<String> {
    let document = parse(image)?;
    let elements: Vec<Node<'_, '_>> = credential_elements(document.root_element()).collect();
    let is_open_badges_2 = |node: Node<'_, '_>| node.has_tag_name((OPEN_BADGES_2, "assertion"));
    if elements.is_empty() && document.descendants().any(is_open_badges_2) {
        return Err(malformed(open_badges_2::fault("the SVG holds an Open Badges 2.0 badge")));
    }
    let [element] = elements[..] else {
        return Err(malformed(message!(
            "the SVG holds {n} credentials; a badge has one element 'credential' of the namespace \
             {NAMESPACE}",
            n = elements.len()
        )));
    };
    Ok(match element.attribute("verify") {
        Some(token) => token.trim().to_owned(),
        None => element.children().filter_map(|child| child.text()).collect::<String>(),
    })
}

fn credential_elements<'a, 'input>(
    root: Node<'a, 'input>,
) -> impl Iterator<Item = Node<'a, 'input>> {
    root.descendants().filter(|node| node.has_tag_name((NAMESPACE, "credential")))
}

fn parse(image: &str) -> Result<Document<'_>> {
    if image.contains("<!ENTITY") {
        return Err(malformed("the SVG defines entities, which are not read"));
    }
    let options =
        ParsingOptions { allow_dtd: true, nodes_limit: BAKED_SVG_MAX_NODES, ..Default::default() };
    let document = Document::parse_with_options(image, options)
        .map_err(|fault| malformed(message!("the SVG cannot be read: {fault}")))?;
    match document.root_element().tag_name().name() == "svg" {
        true => Ok(document),
        false => Err(malformed("the root element is not 'svg'")),
    }
}

/// The root's start tag, whose attributes may hold the sign that ends it.
fn start_tag<'a>(image: &'a str, root: Node<'_, '_>) -> &'a str {
    let text = &image[root.range().start..];
    let mut quote = None;
    let end = text.find(|c: char| match (quote, c) {
        (None, '"' | '\'') => {
            quote = Some(c);
            false
        }
        (None, '>') => true,
        (Some(open), c) if open == c => {
            quote = None;
            false
        }
        _ => false,
    });
    &text[..=end.expect("the document was read, so its tags end")]
}
