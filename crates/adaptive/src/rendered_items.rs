//! Items as learners see them, and their cache.

use schemars::JsonSchema;
use serde::Serialize;

use crate::limits;
use crate::sized_cache::SizedCache;

/// The visible part of a question. It does not reveal the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LessonQuestionContent {
    /// The type of its first interaction, such as `choice`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The item for learners, as QTI 3.0 XML.
    pub raw_xml: String,
}

/// A cache of rendered items by identifier and version, for items that look the same for everyone.
pub(crate) struct RenderedItems(pub(crate) SizedCache<(String, i64), LessonQuestionContent>);

impl Default for RenderedItems {
    fn default() -> Self {
        Self(SizedCache::new(limits::LESSON_VIEW_CACHE_BYTES, 4096))
    }
}
