//! Reads a structure that is described by one test, as published clients of the platform send it: `{url, title,
//! skillCode, lessonCode, unit, "lesson-title"}` is a course of one unit with one lesson.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::syllabus::{LINKS, PARTS};

/// Converts such a body to a tree. Other bodies are returned unchanged.
pub(super) fn spelled_out(body: &str) -> Cow<'_, str> {
    // Only short bodies can have this form, so large trees are not parsed here.
    const SHORT_BYTES: usize = 16 * 1024;
    let parsed = (body.len() <= SHORT_BYTES).then(|| serde_json::from_str::<Value>(body).ok());
    let Some(Some(mut parsed)) = parsed else { return Cow::Borrowed(body) };
    let Some(lesson) = parsed.get("courseStructure").filter(|one| is_test(one)) else {
        return Cow::Borrowed(body);
    };
    let text = |name: &str, or: &str| lesson[name].as_str().unwrap_or(or).to_owned();
    let title = text("title", "Test");
    let url = text("url", "");
    let resource = json!({
        "title": title,
        "vendorResourceId": text("lessonCode", &url),
        "metadata": {
            "type": "qti",
            "subType": "qti-test",
            "url": url,
            "skillCode": lesson["skillCode"],
            "lessonCode": lesson["lessonCode"],
        },
    });
    let link = json!({
        "title": text("lesson-title", &title),
        "sortOrder": 1,
        "lessonType": "quiz",
        "resource": resource,
    });
    let unit = json!({ "title": text("unit", &title), "sortOrder": 1, LINKS: [link] });
    parsed["courseStructure"] = json!({ PARTS: [unit] });
    Cow::Owned(parsed.to_string())
}

fn is_test(structure: &Value) -> bool {
    structure.get(PARTS).is_none() && structure.get("url").is_some_and(Value::is_string)
}
