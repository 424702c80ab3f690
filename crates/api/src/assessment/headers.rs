//! Headers and parameters that several routes of assessment content have.

use lyceum_core::limits::{PAGE_DEFAULT_RECORDS, PAGE_MAX_RECORDS};
use lyceum_http::route::{AnswerHeader, ParamPlace};
use serde_json::json;

use crate::Route;

/// The headers of an answer with a document.
pub(super) const TAGGED: &[AnswerHeader] = &[AnswerHeader {
    name: "ETag",
    ty: "string",
    description: "The version, for If-Match and If-None-Match.",
}];
/// The headers of an answer with a new document.
pub(super) const CREATED: &[AnswerHeader] = &[
    AnswerHeader {
        name: "ETag",
        ty: "string",
        description: "The version, for If-Match and If-None-Match.",
    },
    AnswerHeader { name: "Location", ty: "string", description: "The address of the document." },
];

/// The parameters of a page.
pub(super) fn page_parameters(route: Route) -> Route {
    let page = json!({ "type": "integer", "minimum": 1 });
    route
        .param(ParamPlace::Query, "page", page, "The page, from 1.")
        .page_limit(PAGE_DEFAULT_RECORDS, PAGE_MAX_RECORDS)
}

/// The parameters of a list.
pub(super) fn list_parameters(route: Route) -> Route {
    let text = || json!({ "type": "string" });
    let one_of = |words: &[&str]| json!({ "type": "string", "enum": words });
    let sorts = ["createdAt", "updatedAt", "identifier", "title", "type"];
    page_parameters(route)
        .param(ParamPlace::Query, "sort", one_of(&sorts), "The field that orders the list.")
        .param(ParamPlace::Query, "order", one_of(&["asc", "desc"]), "Its direction.")
        .param(
            ParamPlace::Query,
            "query",
            text(),
            "A text to look for in identifiers, titles and bodies.",
        )
        .param(
            ParamPlace::Query,
            "filter",
            text(),
            "Clauses such as `type='choice' AND metadata.difficulty!='hard'`, with parentheses.",
        )
}
