//! The preview of an item: what a student sees, with an answer scored by the server.

use askama::Template;
use lyceum_console::{Frame, assets};

/// The page on which guides try an item.
#[derive(Template)]
#[template(path = "console/item/item.html")]
pub(crate) struct ItemPreviewPage {
    /// The frame.
    pub frame: Frame,
    /// The identifier of the item.
    pub identifier: String,
    /// The number of its version.
    pub version: i64,
    /// The seed that selects its variant and the order of its choices.
    pub seed: u64,
    /// The address of the page with the next seed; `None` if every seed shows the same.
    pub next: Option<String>,
    /// The references to files that students do not get, because they are not stored with the item or its stimuli.
    pub missing_files: Vec<String>,
    /// The titles and the HTML of its stimuli, which is safe.
    pub stimuli: Vec<(String, String)>,
    /// The HTML of the item, which is safe.
    pub html: String,
}

impl ItemPreviewPage {
    fn style() -> Option<String> {
        assets::address("item.css")
    }

    fn script() -> Option<String> {
        assets::address("item.js")
    }
}
