//! The JSON form of documents, as the platform's clients send and read it (`timeback-qti` 0.4.0). Whatever the form cannot
//! express stays in the XML, which answers contain as `rawXml` and `qtiXml`.

mod content;
mod form;
mod interaction;
mod item_from;
mod item_to;
pub(crate) mod member;
mod test;
pub(crate) mod write;

pub use form::{ItemForm, StimulusForm, TestForm, TestPart, TestSection};
pub use item_from::item_xml;
pub use item_to::item_json;
pub use member::{member_json, members_json};
pub use test::{stimulus_json, stimulus_xml, test_json, test_xml};
pub use write::WrittenXml;
