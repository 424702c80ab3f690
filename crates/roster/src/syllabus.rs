//! Renders a course's tree: `{…course, subComponents: [{…component, componentResources: [{…,
//! resource: {…}}], subComponents: […]}]}`.

use lyceum_core::Result;
use serde_json::Value;

use crate::course_tree::{CourseTree, PlacedComponent};
use crate::record::{Object, members};
use crate::render::RecordView;
use crate::repository::RecordTexts;

/// The member of a node that holds links, beside its record's members.
pub(crate) const LINKS: &str = "componentResources";
/// The member of a node and of the course itself that holds their parts, beside their records' members.
pub(crate) const PARTS: &str = "subComponents";

/// Appends the tree as one JSON object.
pub fn render(tree: &CourseTree, view: &RecordView<'_>, out: &mut String) -> Result<()> {
    open(object(&tree.course, view)?, out);
    let resources = tree.resources.iter().map(|resource| Ok(object(resource, view)?.into()));
    let resources = resources.collect::<Result<Vec<Value>>>()?;
    // How many lists of parts are open; the course's own is the first.
    let mut open_lists = 1;
    let mut first = true;
    for component in &tree.components {
        while open_lists > component.depth + 1 {
            out.push_str("]}");
            open_lists -= 1;
            first = false;
        }
        if !first {
            out.push(',');
        }
        node(component, &resources, view, out)?;
        open_lists += 1;
        first = true;
    }
    for _ in 0..open_lists {
        out.push_str("]}");
    }
    Ok(())
}

/// Appends a component up to the open list of its parts.
fn node(
    component: &PlacedComponent,
    resources: &[Value],
    view: &RecordView<'_>,
    out: &mut String,
) -> Result<()> {
    let mut shown = object(&component.record, view)?;
    let mut links = Vec::with_capacity(component.links.len());
    for link in &component.links {
        let mut shown = object(&link.record, view)?;
        shown.insert("resource".into(), resources[link.resource].clone());
        links.push(Value::Object(shown));
    }
    shown.insert(LINKS.into(), links.into());
    open(shown, out);
    Ok(())
}

/// Appends the object up to the open list of its parts.
fn open(mut shown: Object, out: &mut String) {
    // A client may have kept a member of its own under this name.
    shown.shift_remove(PARTS);
    let text = Value::Object(shown).to_string();
    out.push_str(&text[..text.len() - 1]);
    out.push_str(",\"");
    out.push_str(PARTS);
    out.push_str("\":[");
}

fn object((body, extra): &RecordTexts, view: &RecordView<'_>) -> Result<Object> {
    let mut text = String::with_capacity(body.len() + 256);
    view.render(body, extra.as_deref(), &mut text)?;
    members(&text, None)
}
