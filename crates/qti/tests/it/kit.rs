//! Items in a line, scored in a line.

use lyceum_core::random::RandomStream;
use lyceum_qti::model::Item;
use lyceum_qti::{Outcomes, Responses, ScoringInput, read_item, score};
use serde_json::Value as Json;

/// An item around its parts, in the order of the standard.
pub(crate) fn item_xml(parts: &str) -> String {
    format!(
        "<qti-assessment-item xmlns=\"http://www.imsglobal.org/xsd/imsqtiasi_v3p0\" \
         identifier=\"i\" title=\"t\" time-dependent=\"false\">{parts}</qti-assessment-item>"
    )
}

/// The item, which must be valid.
pub(crate) fn item(parts: &str) -> Item {
    let xml = item_xml(parts);
    read_item(&xml).unwrap_or_else(|faults| panic!("{faults}\n{xml}"))
}

/// Scores responses that must have the types of their declarations.
pub(crate) fn scored(item: &Item, responses: &Json) -> Outcomes {
    let responses = Responses::from_json(item, responses.as_object().unwrap()).unwrap();
    score(item, &responses, ScoringInput::default(), &mut RandomStream::seeded(1))
}
