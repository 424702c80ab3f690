//! `CFPackageWithGroups`: a framework's items in their tree, children by their type.

use std::collections::HashMap;
use std::fmt::Write as _;

use lyceum_core::Result;
use lyceum_store::Tx;
use serde_json::Value;

use crate::repository::{Reader, tree};

/// The framework's record, and its items by type: two JSON texts. Each item has its children by their
/// type under `childGroups`; items follow their sequence numbers. An item with several parents stands
/// below the first. Errors: `NotFound`.
pub fn groups(tx: &mut Tx<'_>, reader: &Reader, id: &str) -> Result<(String, String)> {
    let (document, mut nodes) = tree(tx, reader, id)?;
    nodes.sort_by_key(|node| node.place);
    let existing: HashMap<&str, usize> =
        nodes.iter().enumerate().map(|(at, node)| (node.id.as_str(), at)).collect();
    let mut below: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
    for (at, node) in nodes.iter().enumerate() {
        // A parent in another framework does not count.
        let parent = node.parent.as_deref().and_then(|parent| existing.get(parent).copied());
        below.entry(parent).or_default().push(at);
    }
    let texts: Vec<(&str, &str)> =
        nodes.iter().map(|node| (node.ty.as_str(), node.text.as_str())).collect();
    let mut out = String::new();
    nest(&texts, &below, None, &mut out);
    Ok((document, out))
}

/// Appends the children of a node: `{"Standard": […]}`.
fn nest(
    texts: &[(&str, &str)],
    below: &HashMap<Option<usize>, Vec<usize>>,
    of: Option<usize>,
    out: &mut String,
) {
    let mut types: Vec<(&str, Vec<usize>)> = Vec::new();
    for at in below.get(&of).into_iter().flatten() {
        match types.iter_mut().find(|(ty, _)| *ty == texts[*at].0) {
            Some((_, members)) => members.push(*at),
            None => types.push((texts[*at].0, vec![*at])),
        }
    }
    out.push('{');
    for (index, (ty, members)) in types.into_iter().enumerate() {
        let comma = if index > 0 { "," } else { "" };
        let _ = write!(out, "{comma}{}:[", Value::from(ty));
        for (index, at) in members.into_iter().enumerate() {
            out.push_str(if index > 0 { "," } else { "" });
            out.push_str(texts[at].1);
            if below.contains_key(&Some(at)) {
                out.push_str(",\"childGroups\":");
                nest(texts, below, Some(at), out);
            }
            out.push('}');
        }
        out.push(']');
    }
    out.push('}');
}
